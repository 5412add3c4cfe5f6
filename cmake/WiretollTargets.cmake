# Every target of ours is made by one of these, so that warnings, include
# root and sanitizers are said once.

function(wiretoll_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /permissive- /utf-8 /EHsc
                           /Zc:__cplusplus)
  else()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion)
  endif()
  if(WIN32)
    # What the headers show is Windows 10 2004's; what an older one lacks is
    # looked up at run time. Messages of errors are UTF-8, as all our text.
    target_compile_definitions(${target} PRIVATE NOMINMAX WIN32_LEAN_AND_MEAN
                               _WIN32_WINNT=0x0A00 NTDDI_VERSION=0x0A000008
                               BOOST_SYSTEM_USE_UTF8)
  endif()
  # GCC 12 warns of overlapping copies in its own std::string operator+ when it
  # inlines it (GCC bug 105651, mended in 13).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
     AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  if(WIRETOLL_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${WIRETOLL_SANITIZE}
                           -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${WIRETOLL_SANITIZE})
  endif()
endfunction()

# wiretoll_library(NAME SOURCES a.cc b.cc [LINK public...] [PRIVATE_LINK ...])
function(wiretoll_library target)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${target} STATIC ${arg_SOURCES})
  wiretoll_settings(${target})
  target_link_libraries(${target} PUBLIC ${arg_LINK}
                        PRIVATE ${arg_PRIVATE_LINK})
endfunction()

# wiretoll_program(NAME SOURCES ... [LINK ...])
function(wiretoll_program target)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  wiretoll_settings(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
endfunction()

# wiretoll_test(NAME SOURCES ... [LINK ...] [TIMEOUT seconds] [PREFIX text]
#               [SERIAL] [FIRST])
# One ctest entry a test. PREFIX: of their names, for sources that two targets
# have. SERIAL: measures or makes namespaces, runs alone.
# FIRST: some wait long, and others can run beside them.
function(wiretoll_test target)
  cmake_parse_arguments(arg "SERIAL;FIRST" "TIMEOUT;PREFIX" "SOURCES;LINK" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${target} ${arg_SOURCES})
  wiretoll_settings(${target})
  # A quarter of the time to compile; what they test is built as people use it.
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gmock_main)
  set(properties TIMEOUT ${arg_TIMEOUT} LABELS ${target})
  if(arg_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(arg_FIRST)
    list(APPEND properties COST 10)
  endif()
  # What this system cannot run is asked for its tests when they are run.
  set(mode POST_BUILD)
  if(CMAKE_CROSSCOMPILING)
    set(mode PRE_TEST)
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE ${mode}
                       TEST_PREFIX "${arg_PREFIX}"
                       PROPERTIES ${properties})
endfunction()
