#include "platform/options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <limits>

#include "platform/posix/native.h"

namespace wiretoll {
namespace {

struct NativeOption {
  int level;
  int name;
};

// Of which family a socket is: a few options have a level for each.
bool IsIpv6(int fd) {
  int family = AF_INET;
  socklen_t length = sizeof family;
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length);
  return family == AF_INET6;
}

NativeOption ToNative(int fd, SocketOption option) {
  switch (option) {
    case SocketOption::kNagle:
      return {IPPROTO_TCP, TCP_NODELAY};
    case SocketOption::kRcvbuf:
      return {SOL_SOCKET, SO_RCVBUF};
    case SocketOption::kSndbuf:
      return {SOL_SOCKET, SO_SNDBUF};
    case SocketOption::kQuickack:
      return {IPPROTO_TCP, TCP_QUICKACK};
    case SocketOption::kCork:
      return {IPPROTO_TCP, TCP_CORK};
    case SocketOption::kMss:
      return {IPPROTO_TCP, TCP_MAXSEG};
    case SocketOption::kDontFragment:
      return IsIpv6(fd) ? NativeOption{IPPROTO_IPV6, IPV6_MTU_DISCOVER}
                        : NativeOption{IPPROTO_IP, IP_MTU_DISCOVER};
  }
  return {-1, -1};  // A cast made this: the system will say it has none.
}

// TCP_NODELAY switches Nagle's algorithm off: the same answer, negated. What
// to do about an MTU has more answers than two: a fresh socket's is that its
// own host may fragment and no other.
int ValueTo(SocketOption option, int value) {
  if (option == SocketOption::kNagle) return value == 0 ? 1 : 0;
  if (option != SocketOption::kDontFragment) return value;
  return value == 0 ? IP_PMTUDISC_DONT : IP_PMTUDISC_DO;
}

int ValueFrom(SocketOption option, int native) {
  if (option == SocketOption::kNagle) return native == 0 ? 1 : 0;
  if (option != SocketOption::kDontFragment) return native;
  return native == IP_PMTUDISC_DO || native == IP_PMTUDISC_PROBE ? 1 : 0;
}
static_assert(IPV6_PMTUDISC_DONT == IP_PMTUDISC_DONT &&
              IPV6_PMTUDISC_DO == IP_PMTUDISC_DO);

// "No such option" is the errno; the contract has a plainer word for it.
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
  const int fd = Fd(socket.handle());
  const int native_value = ValueTo(option, static_cast<int>(value));
  const NativeOption native = ToNative(fd, option);
  if (::setsockopt(fd, native.level, native.name, &native_value,
                   sizeof native_value) < 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::int64_t> GetOption(const Socket& socket, SocketOption option) {
  int value = 0;
  socklen_t length = sizeof value;
  const int fd = Fd(socket.handle());
  const NativeOption native = ToNative(fd, option);
  if (::getsockopt(fd, native.level, native.name, &value, &length) < 0) {
    return OptionError();
  }
  return std::int64_t{ValueFrom(option, value)};
}

Result<Done> SetCongestion(const Socket& socket, const std::string& name) {
  if (::setsockopt(Fd(socket.handle()), IPPROTO_TCP, TCP_CONGESTION,
                   name.data(), static_cast<socklen_t>(name.size())) < 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::string> GetCongestion(const Socket& socket) {
  std::array<char, 64> name{};
  socklen_t length = name.size() - 1;  // Leaves a terminator for sure.
  if (::getsockopt(Fd(socket.handle()), IPPROTO_TCP, TCP_CONGESTION,
                   name.data(), &length) < 0) {
    return OptionError();
  }
  return std::string{name.data()};
}

}  // namespace wiretoll
