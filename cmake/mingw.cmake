# Toolchain: the agent and its tests for Windows (x86-64), built on Debian 12
# with MinGW-w64 and run under Wine. `cmake --preset windows` takes it.
#   apt-get install --no-install-recommends g++-mingw-w64-x86-64-posix wine wine64
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

# The posix variant is the one whose standard library has threads.
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# Nothing of this host's own may be found: its headers are of another system.
# What is headers only and of no system comes by WiretollCrossHeaders.cmake.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# One file that needs no DLL but Windows' own.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

# Wine, but never on this machine's own network: see the script.
set(CMAKE_CROSSCOMPILING_EMULATOR
    ${CMAKE_CURRENT_LIST_DIR}/../tests/wine/run-in-guard --one)
