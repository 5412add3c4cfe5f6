#include "platform/options.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "platform/win32/address.h"
// Last: it lacks what the headers above bring.
#include <mstcpip.h>

// Numbers that a header may lack; they are Windows' own.
#ifndef TCP_MAXSEG
#define TCP_MAXSEG 4
#endif
#ifndef TCP_CONGESTION_ALGORITHM
#define TCP_CONGESTION_ALGORITHM 12
#endif
#ifndef IP_DONTFRAGMENT
#define IP_DONTFRAGMENT 14
#endif
#ifndef IPV6_DONTFRAG
#define IPV6_DONTFRAG 14
#endif
#ifndef SIO_TCP_SET_ACK_FREQUENCY
#define SIO_TCP_SET_ACK_FREQUENCY _WSAIOW(IOC_VENDOR, 23)
#endif

namespace wiretoll {
namespace {

struct NativeOption {
  int level;
  int name;
};

// Of which family a socket is: a few options have a level for each.
bool IsIpv6(const Socket& socket) {
  const Result<NativeAddress> local = BoundTo(Native(socket.handle()));
  return local.has_value() && local.value().family() == AF_INET6;
}

// Nothing where Windows has no such option of a socket.
std::optional<NativeOption> ToNative(const Socket& socket,
                                     SocketOption option) {
  switch (option) {
    case SocketOption::kNagle:
      return NativeOption{IPPROTO_TCP, TCP_NODELAY};
    case SocketOption::kRcvbuf:
      return NativeOption{SOL_SOCKET, SO_RCVBUF};
    case SocketOption::kSndbuf:
      return NativeOption{SOL_SOCKET, SO_SNDBUF};
    case SocketOption::kMss:
      return NativeOption{IPPROTO_TCP, TCP_MAXSEG};
    case SocketOption::kDontFragment:
      return IsIpv6(socket) ? NativeOption{IPPROTO_IPV6, IPV6_DONTFRAG}
                            : NativeOption{IPPROTO_IP, IP_DONTFRAGMENT};
    case SocketOption::kQuickack:  // Set by a control code, and never read.
    case SocketOption::kCork:
      break;
  }
  return std::nullopt;
}

// TCP_NODELAY switches Nagle's algorithm off: the same answer, negated.
bool IsNegated(SocketOption option) { return option == SocketOption::kNagle; }

// "No such option" is the number; the contract has a plainer word for it.
Error OptionError() {
  const Error error = LastError();
  return error == ErrorFrom(WSAENOPROTOOPT) ? ErrorFrom(WSAEOPNOTSUPP) : error;
}

// The nearest that Windows has to TCP_QUICKACK: after how many segments an ACK
// goes out at once. 1 delays none, 2 is the default (RFC 9293 3.8.6.3). It
// stays as set, and cannot be read.
Result<Done> SetAckFrequency(const Socket& socket, bool each) {
  DWORD frequency = each ? 1 : 2;
  DWORD ignored = 0;
  if (::WSAIoctl(Native(socket.handle()), SIO_TCP_SET_ACK_FREQUENCY, &frequency,
                 sizeof frequency, nullptr, 0, &ignored, nullptr,
                 nullptr) != 0) {
    return OptionError();
  }
  return Done{};
}

// Windows has a number for each congestion control and publishes no names for
// them, so that the number is the name here.
constexpr std::string_view kAlgorithm = "algorithm-";

std::optional<DWORD> AlgorithmOf(std::string_view name) {
  if (!name.starts_with(kAlgorithm)) return std::nullopt;
  name.remove_prefix(kAlgorithm.size());
  DWORD number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

Result<Done> SetOption(const Socket& socket, SocketOption option,
                       std::int64_t value) {
  if (value < std::numeric_limits<int>::min() ||
      value > std::numeric_limits<int>::max()) {
    return ErrorFrom(WSAEINVAL);
  }
  if (option == SocketOption::kQuickack) {
    return SetAckFrequency(socket, value != 0);
  }
  const std::optional<NativeOption> native = ToNative(socket, option);
  if (!native) return ErrorFrom(WSAEOPNOTSUPP);
  const int native_value = IsNegated(option) ? static_cast<int>(value == 0)
                                             : static_cast<int>(value);
  if (::setsockopt(Native(socket.handle()), native->level, native->name,
                   reinterpret_cast<const char*>(&native_value),
                   sizeof native_value) != 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::int64_t> GetOption(const Socket& socket, SocketOption option) {
  const std::optional<NativeOption> native = ToNative(socket, option);
  if (!native) return ErrorFrom(WSAEOPNOTSUPP);
  // A switch may come as one byte: the others must be 0 before.
  int value = 0;
  int length = sizeof value;
  if (::getsockopt(Native(socket.handle()), native->level, native->name,
                   reinterpret_cast<char*>(&value), &length) != 0) {
    return OptionError();
  }
  return std::int64_t{IsNegated(option) ? static_cast<int>(value == 0) : value};
}

Result<Done> SetCongestion(const Socket& socket, const std::string& name) {
  const std::optional<DWORD> algorithm = AlgorithmOf(name);
  if (!algorithm) return ErrorFrom(WSAEOPNOTSUPP);
  if (::setsockopt(
          Native(socket.handle()), IPPROTO_TCP, TCP_CONGESTION_ALGORITHM,
          reinterpret_cast<const char*>(&*algorithm), sizeof *algorithm) != 0) {
    return OptionError();
  }
  return Done{};
}

Result<std::string> GetCongestion(const Socket& socket) {
  DWORD algorithm = 0;
  int length = sizeof algorithm;
  if (::getsockopt(Native(socket.handle()), IPPROTO_TCP,
                   TCP_CONGESTION_ALGORITHM,
                   reinterpret_cast<char*>(&algorithm), &length) != 0) {
    return OptionError();
  }
  return std::string{kAlgorithm} + std::to_string(algorithm);
}

}  // namespace wiretoll
