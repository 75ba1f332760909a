# What `cmake --install` puts in place: programs, service files, and the client library with its CMake package.
include(CMakePackageConfigHelpers)

set(SKEP_PRIVATE_LIBDIR "${CMAKE_INSTALL_LIBDIR}/skep")
set(SKEP_CONFIG_DESTINATION "${CMAKE_INSTALL_SYSCONFDIR}/skep")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(SKEP_CONFIG_DESTINATION "/etc/skep")  # GNUInstallDirs' rule for this prefix
endif()

# ---- programs ----
install(TARGETS skepd RUNTIME DESTINATION "${CMAKE_INSTALL_SBINDIR}" COMPONENT daemon)
install(TARGETS skepctl RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
set_target_properties(skepd skepctl PROPERTIES INSTALL_RPATH "$ORIGIN/../${SKEP_PRIVATE_LIBDIR}")

# ---- service ----
set(SKEP_UNIT_SOURCE "${CMAKE_SOURCE_DIR}/deploy/systemd/skepd.service")
set(SKEP_UNIT_TARGET "${CMAKE_BINARY_DIR}/deploy/skepd.service")
set(SKEP_UNIT_SBINDIR "${CMAKE_INSTALL_SBINDIR}")
set(SKEP_UNIT_CONFDIR "${SKEP_CONFIG_DESTINATION}")
set(SKEP_UNIT_DOCDIR "${CMAKE_INSTALL_DOCDIR}")
include(SkepUnit)
foreach(name SOURCE TARGET SBINDIR CONFDIR DOCDIR)
  install(CODE "set(SKEP_UNIT_${name} \"${SKEP_UNIT_${name}}\")" COMPONENT daemon)
endforeach()
install(SCRIPT deploy/cmake/SkepUnit.cmake COMPONENT daemon)
install(FILES "${CMAKE_BINARY_DIR}/deploy/skepd.service" DESTINATION lib/systemd/system COMPONENT daemon)
install(FILES deploy/systemd/skep.sysusers DESTINATION lib/sysusers.d RENAME skep.conf COMPONENT daemon)
install(FILES deploy/systemd/skep.tmpfiles DESTINATION lib/tmpfiles.d RENAME skep.conf COMPONENT daemon)
install(FILES deploy/systemd/warehouse.conf DESTINATION "${CMAKE_INSTALL_DATADIR}/skep" COMPONENT daemon)
install(FILES deploy/skepd.toml DESTINATION "${SKEP_CONFIG_DESTINATION}" COMPONENT daemon)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools FILES_MATCHING PATTERN "*.md")

# ---- Arrow from the wheel, private to Skep ----
if(SKEP_ARROW_FROM_WHEEL)
  install(FILES "${ArrowWheel_arrow_LIBRARY}" DESTINATION "${SKEP_PRIVATE_LIBDIR}" COMPONENT tools)
  install(DIRECTORY "${ArrowWheel_INCLUDE_DIR}/arrow" DESTINATION "${SKEP_PRIVATE_LIBDIR}/include" COMPONENT dev)
  file(GLOB skep_arrow_notices "${ARROW_WHEEL_DIR}/../pyarrow-*.dist-info/licenses/*"
       "${ARROW_WHEEL_DIR}/../pyarrow-*.dist-info/LICENSE*" "${ARROW_WHEEL_DIR}/../pyarrow-*.dist-info/NOTICE*")
  install(FILES ${skep_arrow_notices} DESTINATION "${SKEP_PRIVATE_LIBDIR}/arrow-notices" COMPONENT tools)
endif()

# ---- client library: static archives of the rooms below the public headers ----
set(SKEP_CLIENT_ROOMS
  skep_arrow skep_storage_base skep_storage_model skep_storage_fs skep_storage_acid skep_storage_format
  skep_storage_table skep_orc_proto skep_proto skep_proto_wire skep_client_ddl skep_client_session
  skep_client_table)
install(TARGETS ${SKEP_CLIENT_ROOMS} EXPORT SkepTargets ARCHIVE DESTINATION "${SKEP_PRIVATE_LIBDIR}" COMPONENT dev)
install(EXPORT SkepTargets NAMESPACE Skep:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Skep" COMPONENT dev)
install(DIRECTORY client/include/skep DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev FILES_MATCHING PATTERN "*.h")
# Public headers say "storage/model/ids.h", as the sources do; the package adds include/skep to the search path.
install(FILES storage/model/errors.h storage/model/ids.h storage/model/names.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/skep/storage/model" COMPONENT dev)
configure_package_config_file(deploy/cmake/SkepConfig.cmake.in "${CMAKE_BINARY_DIR}/deploy/SkepConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Skep" PATH_VARS SKEP_PRIVATE_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/deploy/SkepConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/deploy/SkepConfig.cmake" "${CMAKE_BINARY_DIR}/deploy/SkepConfigVersion.cmake"
              deploy/cmake/FindArrowWheel.cmake
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Skep" COMPONENT dev)
