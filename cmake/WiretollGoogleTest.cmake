# GTest::gmock_main: the system's; for another system, built from its source.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest REQUIRED)
  return()
endif()

set(WIRETOLL_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH
    "Source of GoogleTest, for a cross build")
if(NOT EXISTS ${WIRETOLL_GOOGLETEST_SOURCE}/CMakeLists.txt)
  message(FATAL_ERROR "${WIRETOLL_GOOGLETEST_SOURCE}: no source of GoogleTest; "
          "apt-get install googletest, or set WIRETOLL_GOOGLETEST_SOURCE, or "
          "WIRETOLL_BUILD_TESTS=OFF")
endif()
set(INSTALL_GTEST OFF)
add_subdirectory(${WIRETOLL_GOOGLETEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest
                 EXCLUDE_FROM_ALL)
if(NOT TARGET GTest::gmock_main)
  add_library(GTest::gmock_main ALIAS gmock_main)
endif()
