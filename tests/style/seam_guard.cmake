# The seam: no header and no conditional of an operating system outside
# platform/posix and platform/win32; the contracts in platform/*.h neither.
#   cmake -DROOT=<source folder> -P seam_guard.cmake
# harness/lab and harness/capture are of Linux only, but by the build file's
# choice, and reach Linux through platform/ like everybody else.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/harness/*.h ${ROOT}/harness/*.cc
  ${ROOT}/reports/*.h ${ROOT}/reports/*.cc
  ${ROOT}/bench/*.h ${ROOT}/bench/*.cc)
file(GLOB contracts RELATIVE ${ROOT} ${ROOT}/platform/*.h)
list(APPEND files ${contracts})
if(NOT files)
  message(FATAL_ERROR "${ROOT}: nothing to look at; is ROOT the source folder?")
endif()

# Headers of POSIX, Linux and Windows that ISO C++ does not have.
string(CONCAT os_header
  "<(sys|net|netinet|netpacket|arpa|linux|asm)/"
  "|<(unistd|fcntl|poll|sched|pthread|dirent|dlfcn|ifaddrs|netdb|pwd|grp|spawn"
  "|termios|syslog|ucontext|pcap|windows|winsock|winsock2|ws2tcpip|mswsock"
  "|mstcpip|iphlpapi|tcpestats|winternl|io|process|direct)[.]h>")
string(CONCAT os_macro
  "(_WIN32|_WIN64|WIN32|__linux|__linux__|linux|__MINGW32__|__MINGW64__"
  "|__CYGWIN__|__unix|__unix__|unix|__APPLE__|__FreeBSD__|__ANDROID__"
  "|BOOST_OS_[A-Z]+|BOOST_WINDOWS|BOOST_POSIX_API|BOOST_WINDOWS_API)")

foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#")
  foreach(line IN LISTS lines)
    if(line MATCHES "(include|__has_include)" AND line MATCHES "${os_header}")
      message(SEND_ERROR "${file}: \"${line}\": a header of an operating "
        "system; declare what is needed in platform/ and fulfil it in "
        "platform/posix")
    elseif(line MATCHES "^[ \t]*#[ \t]*(if|elif|ifdef|ifndef)"
           AND " ${line} " MATCHES "[^A-Za-z0-9_]${os_macro}[^A-Za-z0-9_]")
      message(SEND_ERROR "${file}: \"${line}\": an operating system's "
        "conditional; the build file chooses the system, by the file")
    endif()
  endforeach()
endforeach()
