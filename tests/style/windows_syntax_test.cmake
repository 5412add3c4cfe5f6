# Shows that windows-syntax catches what is planted.
#   cmake -DSCRIPT=<windows-syntax> -DWORK=<folder> -P windows_syntax_test.cmake
cmake_minimum_required(VERSION 3.25)

# The script must fail over `text`, saying `rule`.
function(expect_caught text rule)
  file(WRITE ${WORK}/planted.cc "${text}\n")
  execute_process(COMMAND ${SCRIPT} ${WORK}/planted.cc
    RESULT_VARIABLE code ERROR_VARIABLE said OUTPUT_VARIABLE told)
  string(FIND "${said}${told}" "${rule}" says_rule)
  if(code EQUAL 0 OR says_rule EQUAL -1)
    message(SEND_ERROR "windows-syntax should catch ${text} with \"${rule}\"; "
      "exit code ${code}, it said: ${said}${told}")
  endif()
endfunction()

set(native "#include \"platform/win32/native.h\"\n")
expect_caught(
  "${native}int F(wiretoll::Socket::Handle h) { return wiretoll::Native(h)\;}"
  "-Wshorten-64-to-32")
expect_caught("#include <cstdint>\nlong F(std::int64_t v) { return v\; }"
  "-Wshorten-64-to-32")
expect_caught("int F(int n) { char a[n]\; return sizeof a > 3\; }" "-Wvla")
expect_caught("__attribute__((noinline)) int F() { return 1\; }"
  "MSVC has none of these")

file(WRITE ${WORK}/planted.cc "${native}int F() { return 1; }\n")
execute_process(COMMAND ${SCRIPT} ${WORK}/planted.cc RESULT_VARIABLE code
  ERROR_VARIABLE said OUTPUT_VARIABLE told)
if(NOT code EQUAL 0)
  message(SEND_ERROR "windows-syntax objects to a clean file: ${said}${told}")
endif()
file(REMOVE_RECURSE ${WORK})
