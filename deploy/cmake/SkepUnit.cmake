# Fills the absolute paths of skepd.service: when the build is configured, for the tests, and again at the
# installation, whose --prefix may be another one. In: SKEP_UNIT_{SOURCE,TARGET}; SKEP_UNIT_{SBINDIR,CONFDIR,DOCDIR},
# absolute or below CMAKE_INSTALL_PREFIX.
foreach(dir SBINDIR CONFDIR DOCDIR)
  cmake_path(ABSOLUTE_PATH SKEP_UNIT_${dir} BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE
             OUTPUT_VARIABLE SKEP_${dir})
endforeach()
configure_file("${SKEP_UNIT_SOURCE}" "${SKEP_UNIT_TARGET}" @ONLY)
