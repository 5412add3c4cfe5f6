# Who may include whom (docs/design.md, "Folders").
#   cmake -DROOT=<source folder> -P dependency_guard.cmake
# Of each folder: what it may include of ours, beside itself; a folder, or one
# header of it. What a folder may include, its headers bring along, so that
# reports see analysis's own samples, study, theory and base.
cmake_minimum_required(VERSION 3.25)

set(harness_base "")
set(platform harness/base)
set(harness_study harness/base)
set(harness_samples harness/base)
set(harness_plan harness/study harness/base)
set(harness_theory harness/base harness/study)
set(harness_agent platform harness/study harness/samples harness/capture
  harness/base)
set(harness_lab platform harness/base harness/samples)
set(harness_capture harness/base)
set(harness_run harness/plan harness/study harness/agent/protocol.h
  harness/lab harness/capture harness/samples harness/theory harness/base)
set(harness_check harness/run harness/study harness/agent/protocol.h
  harness/samples harness/base)
set(harness_advise harness/run harness/analysis harness/theory harness/study
  harness/agent/protocol.h harness/samples harness/base)
set(harness_sink harness/agent platform harness/samples harness/base)
set(harness_export harness/samples harness/study harness/base)
set(harness_ns3 harness/agent harness/study harness/samples harness/base
  platform)
set(harness_analysis harness/samples harness/theory harness/study
  harness/capture harness/base)
set(reports harness/analysis ${harness_analysis})
# harness/programs sees everything.

# Whoever includes a library of one folder only: the library and the folder.
set(only_in_reports "<gnuplot-iostream[.]h>")

file(GLOB folders RELATIVE ${ROOT} ${ROOT}/harness/*)
set(looked_at 0)
foreach(folder IN LISTS folders ITEMS platform reports)
  if(NOT IS_DIRECTORY ${ROOT}/${folder})
    continue()
  endif()
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.h
       ${ROOT}/${folder}/*.cc)
  string(REPLACE "/" "_" rule ${folder})
  if(files AND NOT folder STREQUAL "harness/programs" AND NOT DEFINED ${rule})
    message(SEND_ERROR "${folder}: no rule says what it may include; write "
      "one into tests/style/dependency_guard.cmake")
    continue()
  endif()
  foreach(file IN LISTS files)
    math(EXPR looked_at "${looked_at} + 1")
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS lines)
      if(line MATCHES "${only_in_reports}" AND NOT folder STREQUAL "reports")
        message(SEND_ERROR "${file}: \"${line}\": only reports/ draws")
      endif()
      if(folder STREQUAL "harness/programs"
         OR NOT line MATCHES "\"((harness/[^/\"]+|platform|reports)/[^\"]*)\"")
        continue()
      endif()
      set(header ${CMAKE_MATCH_1})
      set(target ${CMAKE_MATCH_2})
      if(NOT target STREQUAL folder AND NOT target IN_LIST ${rule}
         AND NOT header IN_LIST ${rule})
        string(REPLACE ";" ", " may "${${rule}}")
        message(SEND_ERROR "${file}: includes ${header}; ${folder} may "
          "include of ours: ${may}")
      endif()
    endforeach()
  endforeach()
endforeach()
if(looked_at EQUAL 0)
  message(FATAL_ERROR "${ROOT}: nothing to look at; is ROOT the source folder?")
endif()
