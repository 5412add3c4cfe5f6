# Shows that a guard lets a clean tree pass and catches what is planted.
#   cmake -DGUARD=<script> -DWORK=<folder> -P guard_test.cmake
cmake_minimum_required(VERSION 3.25)

get_filename_component(guard_name ${GUARD} NAME_WE)

function(make_clean_tree)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/harness/base/units.h "#include <chrono>\n")
  file(WRITE ${WORK}/harness/study/study.h
       "#include \"harness/base/units.h\"\n")
  file(WRITE ${WORK}/harness/agent/protocol.h
       "#include \"harness/study/study.h\"\n")
  file(WRITE ${WORK}/harness/run/run.cc
       "// _WIN32 and <unistd.h> in a comment are no harm.\n"
       "#include \"harness/agent/protocol.h\"\n"
       "#ifdef __SANITIZE_ADDRESS__\n#endif\n")
  file(WRITE ${WORK}/harness/programs/main.cc
       "#include \"harness/run/run.h\"\n#include \"platform/process.h\"\n")
  file(WRITE ${WORK}/platform/socket.h "#include \"harness/base/units.h\"\n")
  file(WRITE ${WORK}/platform/posix/socket.cc
       "#include <unistd.h>\n#ifdef __linux__\n#endif\n"
       "#include \"platform/socket.h\"\n")
  file(WRITE ${WORK}/reports/plots.cc
       "#include <gnuplot-iostream.h>\n"
       "#include \"harness/analysis/analysis.h\"\n")
endfunction()

function(run_guard result output)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK} -P ${GUARD}
    RESULT_VARIABLE code ERROR_VARIABLE said OUTPUT_VARIABLE ignored)
  # CMake breaks its messages into lines.
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${said}" PARENT_SCOPE)
endfunction()

# The guard must fail over `line` in `file`, naming the file and saying `rule`.
function(expect_caught file line rule)
  make_clean_tree()
  file(WRITE ${WORK}/${file} "${line}\n")
  run_guard(code said)
  string(FIND "${said}" "${file}: " names_file)
  string(FIND "${said}" "${rule}" names_rule)
  if(code EQUAL 0 OR names_file EQUAL -1 OR names_rule EQUAL -1)
    message(SEND_ERROR "${guard_name} should catch ${line} in ${file} with "
      "\"${rule}\"; exit code ${code}, it said: ${said}")
  endif()
endfunction()

make_clean_tree()
run_guard(code said)
if(NOT code EQUAL 0)
  message(SEND_ERROR "${guard_name} objects to a clean tree: ${said}")
endif()

if(guard_name STREQUAL "seam_guard")
  set(header "a header of an operating system")
  set(conditional "an operating system's conditional")
  expect_caught(harness/run/run.cc "#include <unistd.h>" "${header}")
  expect_caught(harness/lab/lab.cc "#include <sys/socket.h>" "${header}")
  expect_caught(harness/agent/a.h "# include <winsock2.h>" "${header}")
  expect_caught(platform/clock.h "#include <linux/tcp.h>" "${header}")
  expect_caught(reports/x.cc "#if __has_include(<windows.h>)" "${header}")
  expect_caught(harness/run/run.cc "#ifdef _WIN32" "${conditional}")
  expect_caught(reports/x.h "#if defined(__linux__)" "${conditional}")
  expect_caught(harness/base/b.cc "  #elif __MINGW32__ + 0" "${conditional}")
  expect_caught(platform/clock.h "#ifndef __APPLE__" "${conditional}")
elseif(guard_name STREQUAL "dependency_guard")
  set(p "#include \"platform/socket.h\"")
  expect_caught(harness/base/x.h "${p}" "includes platform/socket.h")
  expect_caught(harness/theory/x.cc "${p}" "harness/theory may include")
  expect_caught(harness/analysis/x.cc "${p}" "harness/analysis may include")
  expect_caught(reports/x.cc "${p}" "reports may include")
  expect_caught(harness/run/x.cc "${p}" "harness/run may include")
  expect_caught(harness/run/x.cc "#include \"harness/agent/agent.h\""
    "includes harness/agent/agent.h")
  expect_caught(harness/check/x.cc "${p}" "harness/check may include")
  expect_caught(harness/study/x.h "#include \"harness/plan/plan.h\""
    "includes harness/plan/plan.h")
  expect_caught(harness/samples/x.h "#include \"reports/report.h\""
    "includes reports/report.h")
  expect_caught(platform/posix/x.cc "#include \"harness/samples/sample.h\""
    "platform may include of ours: harness/base")
  expect_caught(harness/analysis/x.cc "#include <gnuplot-iostream.h>"
    "only reports/ draws")
  expect_caught(harness/programs/x.cc "#include <gnuplot-iostream.h>"
    "only reports/ draws")
  # A folder that nobody wrote a rule for is not free of rules.
  make_clean_tree()
  file(WRITE ${WORK}/harness/misc/x.cc "\n")
  run_guard(code said)
  if(code EQUAL 0 OR NOT said MATCHES "harness/misc: no rule")
    message(SEND_ERROR "a folder without a rule should be named: ${said}")
  endif()
else()
  message(FATAL_ERROR "${GUARD}: nothing is planted for this guard")
endif()
file(REMOVE_RECURSE ${WORK})
