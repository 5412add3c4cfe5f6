// Socket options: what was asked for, and what the system made of it.
#ifndef WIRETOLL_PLATFORM_OPTIONS_H_
#define WIRETOLL_PLATFORM_OPTIONS_H_

#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "platform/socket.h"

namespace wiretoll {

// Each is a plain integer; a switch is 0 or 1.
enum class SocketOption {
  kNagle,     // 1 leaves Nagle's algorithm on; 0 sets TCP_NODELAY.
  kRcvbuf,    // SO_RCVBUF, bytes, as set and as read back.
  kSndbuf,    // SO_SNDBUF, bytes, as set and as read back.
  kQuickack,  // TCP_QUICKACK; not permanent on Linux.
  kCork,      // TCP_CORK.
  kMss,       // TCP_MAXSEG, bytes.
  // 1: the DF bit (RFC 791 3.1), and a datagram over the path's MTU is refused
  // with message_size. 0: it is sent in fragments, without the bit. Unset it is
  // 0 as far as one's own host goes; Linux sets the bit on what fits its MTU.
  kDontFragment,
};

// Errors: operation_not_supported where this system has no such option;
// otherwise what the system said. A value that the system clamps or rounds is
// no error: read it back.
Result<Done> SetOption(const Socket& socket, SocketOption option,
                       std::int64_t value);

// The value in force, exactly as the system reports it (Linux doubles
// buffers and says so; Wine reports them un-doubled).
Result<std::int64_t> GetOption(const Socket& socket, SocketOption option);

// The congestion control by its name on this system: "cubic", "bbr", ...
Result<Done> SetCongestion(const Socket& socket, const std::string& name);
Result<std::string> GetCongestion(const Socket& socket);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_OPTIONS_H_
