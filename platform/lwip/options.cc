#include "platform/options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <limits>
#include <optional>

#include "platform/lwip/core.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

struct NativeOption {
  int level;
  int name;
};

// What lwIP lacks is not asked for: it has numbers of its own for some of
// these, and would take TCP_MAXSEG for another option. Its receive buffer holds
// back datagrams alone: the window of a connection is fixed when lwIP is built.
std::optional<NativeOption> ToNative(SocketOption option) {
  if (option == SocketOption::kNagle)
    return NativeOption{IPPROTO_TCP, TCP_NODELAY};
  if (option == SocketOption::kRcvbuf)
    return NativeOption{SOL_SOCKET, SO_RCVBUF};
  return std::nullopt;
}

// TCP_NODELAY switches Nagle's algorithm off: the same answer, negated.
int Negated(SocketOption option, int value) {
  if (option == SocketOption::kNagle) return value == 0 ? 1 : 0;
  return value;
}

Error OptionError() {
  return errno == ENOPROTOOPT ? ErrorFrom(EOPNOTSUPP) : LastError();
}

}  // namespace

Result<Done> SetOption(const Socket& socket, SocketOption option,
                       std::int64_t value) {
  if (value < std::numeric_limits<int>::min() ||
      value > std::numeric_limits<int>::max()) {
    return ErrorFrom(EINVAL);
  }
  const auto native = ToNative(option);
  if (!native) return ErrorFrom(EOPNOTSUPP);
  const int wanted = Negated(option, static_cast<int>(value));
  if (::lwip_setsockopt(Fd(socket.handle()), native->level, native->name,
                        &wanted, sizeof wanted) < 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::int64_t> GetOption(const Socket& socket, SocketOption option) {
  const auto native = ToNative(option);
  if (!native) return ErrorFrom(EOPNOTSUPP);
  int value = 0;
  socklen_t length = sizeof value;
  if (::lwip_getsockopt(Fd(socket.handle()), native->level, native->name,
                        &value, &length) < 0) {
    return OptionError();
  }
  return std::int64_t{Negated(option, value)};
}

// It has one, NewReno (RFC 6582's ancestor, RFC 2582), and no switch.
Result<Done> SetCongestion(const Socket& /*socket*/,
                           const std::string& /*name*/) {
  return ErrorFrom(EOPNOTSUPP);
}

Result<std::string> GetCongestion(const Socket& /*socket*/) {
  return ErrorFrom(EOPNOTSUPP);
}

}  // namespace wiretoll
