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

NativeOption ToNative(SocketOption option) {
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
  }
  return {-1, -1};  // A cast made this: the system will say it has none.
}

// TCP_NODELAY switches Nagle's algorithm off: the same answer, negated.
bool IsNegated(SocketOption option) { return option == SocketOption::kNagle; }

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
  const int native_value = IsNegated(option) ? static_cast<int>(value == 0)
                                             : static_cast<int>(value);
  const NativeOption native = ToNative(option);
  if (::setsockopt(Fd(socket.handle()), native.level, native.name,
                   &native_value, sizeof native_value) < 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::int64_t> GetOption(const Socket& socket, SocketOption option) {
  int value = 0;
  socklen_t length = sizeof value;
  const NativeOption native = ToNative(option);
  if (::getsockopt(Fd(socket.handle()), native.level, native.name, &value,
                   &length) < 0) {
    return OptionError();
  }
  return std::int64_t{IsNegated(option) ? static_cast<int>(value == 0) : value};
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
