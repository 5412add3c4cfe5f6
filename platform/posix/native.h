// What the POSIX files share: the descriptor behind a handle, and errno as an
// Error. Included by platform/posix/ only.
#ifndef WIRETOLL_PLATFORM_POSIX_NATIVE_H_
#define WIRETOLL_PLATFORM_POSIX_NATIVE_H_

#include <cerrno>

#include "harness/base/result.h"
#include "platform/socket.h"

namespace wiretoll {

inline int Fd(Socket::Handle handle) noexcept {
  return static_cast<int>(handle);
}

inline Error ErrorFrom(int number) noexcept {
  return {number, boost::system::system_category()};
}

// Of the system call that failed just now.
inline Error LastError() noexcept { return ErrorFrom(errno); }

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_NATIVE_H_
