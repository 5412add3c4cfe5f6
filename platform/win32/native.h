// What the Win32 files share: Windows' headers in the one order that works,
// the SOCKET behind a handle, and WSAGetLastError() as an Error. Included by
// platform/win32/ and its tests only.
#ifndef WIRETOLL_PLATFORM_WIN32_NATIVE_H_
#define WIRETOLL_PLATFORM_WIN32_NATIVE_H_

// The build file says these too; Boost and others may have as well.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif

// winsock2.h must come before windows.h.
// clang-format off
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
// clang-format on

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

#include "harness/base/result.h"
#include "platform/socket.h"

namespace wiretoll {

// A SOCKET is as wide as a pointer: never an int, never below 0.
inline SOCKET Native(Socket::Handle handle) noexcept {
  return static_cast<SOCKET>(handle);
}

inline Error ErrorFrom(DWORD number) noexcept {
  return {static_cast<int>(number), boost::system::system_category()};
}

// Of the Winsock call that failed just now; the next call overwrites it, and
// closesocket() too.
inline Error LastError() noexcept {
  return {::WSAGetLastError(), boost::system::system_category()};
}

// Winsock's lengths are int. A longer span becomes a partial send, which every
// caller handles already.
constexpr int WinsockLength(std::size_t size) noexcept {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

// A function that not every Windows has, or nullptr. `library` is one that is
// loaded already, or a system DLL. `Function` is a pointer to it.
template <class Function>
Function LookUp(const wchar_t* library, const char* name) {
  const HMODULE module =
      ::LoadLibraryExW(library, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (module == nullptr) return nullptr;
  const FARPROC found = ::GetProcAddress(module, name);
  Function function = nullptr;
  static_assert(sizeof function == sizeof found);
  std::memcpy(&function, &found, sizeof function);
  return function;
}

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_NATIVE_H_
