# One library per room, one test binary per room.
#
#   skep_room(storage_acid SOURCES a.cc b.cc PUBLIC skep::storage_model PRIVATE absl::strings)
#   skep_test(storage_acid_test SOURCES a_test.cc DEPS skep::storage_acid LABELS unit)
#
# PUBLIC lists what the room's headers include, PRIVATE what only its .cc files include.
include(CMakeParseArguments)

add_library(skep_options INTERFACE)
target_include_directories(skep_options INTERFACE "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>")
# Options structs are filled with designated initialisers: what is not named keeps its default.
target_compile_options(skep_options INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(skep_options INTERFACE -Wthread-safety)
endif()
if(SKEP_SANITIZE)
  # -O1: instrumented code compiles a third faster than at -O2 and finds the same. The standard library's own checks
  # catch what stays inside an allocation: an index past size(), an empty optional. GCC takes instrumented code of
  # optionals for uninitialised memory: that warning is the other presets'.
  add_compile_options("-fsanitize=${SKEP_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all -O1
                      -Wno-maybe-uninitialized)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  # For every test and the programs it starts. What ThreadSanitizer sees inside libraries that are not instrumented
  # (gRPC, Arrow) says nothing.
  set(SKEP_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")
  add_link_options("-fsanitize=${SKEP_SANITIZE}")
  if(SKEP_SANITIZE MATCHES "thread")
    include(SkepThreadSanitizer)
  endif()
endif()

# Generated code is not ours to check, and instrumented it takes twice as long to compile.
function(skep_generated target)
  if(SKEP_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
endfunction()

function(skep_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_SOURCES)
    add_library(skep_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(skep_${name} PUBLIC ${ARG_PUBLIC}
                          PRIVATE "$<BUILD_INTERFACE:skep_options>" ${ARG_PRIVATE})
    target_include_directories(skep_${name} PUBLIC "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>")
  else()
    add_library(skep_${name} INTERFACE)
    target_link_libraries(skep_${name} INTERFACE ${ARG_PUBLIC})
    target_include_directories(skep_${name} INTERFACE "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>")
  endif()
  add_library(skep::${name} ALIAS skep_${name})
endfunction()

# Test code is built at -O1: its own speed matters to nobody, its compile time to everybody. GoogleTest's headers
# are parsed once, in the precompiled header of skep_testing.
# LABELS default to "unit". Tests run from the source root, so relative fixture paths work.
function(skep_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE skep_options skep::testing ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O1)
  target_precompile_headers(${name} REUSE_FROM skep_testing)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  if(SKEP_SANITIZE)
    math(EXPR ARG_TIMEOUT "4 * ${ARG_TIMEOUT}")  # instrumented code takes two to ten times as long
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${SKEP_TEST_ENVIRONMENT}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
