#include "platform/posix/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

namespace wiretoll {
namespace {

bool InUse(const Error& error) {
  return error == boost::system::errc::address_in_use;
}

// Linux lets two sockets with SO_REUSEADDR share a port until one of them
// listens, so that a bound socket of ours never has it: a port that another
// trial just took stays taken. Only the bind itself needs it, to get past what
// remains of a closed connection (TIME_WAIT).
Result<Done> BindPastRemains(int fd, NativeAddress local) {
  const Result<Done> shared = SetReuseAddress(fd, true);
  if (!shared.has_value()) return shared.error();
  if (::bind(fd, local.get(), local.length) < 0) return LastError();
  return SetReuseAddress(fd, false);
}

// Datagrams leave no remains: of them a port that is taken is somebody's.
Result<Socket> Bind(int type, NativeAddress local) {
  const int fd = ::socket(local.family(), type | SOCK_CLOEXEC, 0);
  if (fd < 0) return LastError();
  Socket socket{static_cast<Socket::Handle>(fd)};
  if (::bind(fd, local.get(), local.length) == 0) return socket;
  const Error plain = LastError();
  if (!InUse(plain) || type != SOCK_STREAM) return plain;
  const Result<Done> bound = BindPastRemains(fd, local);
  if (!bound.has_value()) return bound.error();
  return socket;
}

}  // namespace

std::optional<NativeAddress> ToNative(const std::string& address,
                                      std::uint16_t port) {
  NativeAddress native;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&native.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    native.length = sizeof(sockaddr_in);
    return native;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&native.storage);
  if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    native.length = sizeof(sockaddr_in6);
    return native;
  }
  return std::nullopt;
}

Result<Endpoint> FromNative(const NativeAddress& native) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&native.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&native.storage);
  const bool is_v4 = native.family() == AF_INET;
  const void* bits = is_v4 ? static_cast<const void*>(&v4->sin_addr)
                           : static_cast<const void*>(&v6->sin6_addr);
  if (::inet_ntop(native.family(), bits, text.data(), text.size()) == nullptr) {
    return LastError();
  }
  return Endpoint{text.data(), ntohs(is_v4 ? v4->sin_port : v6->sin6_port)};
}

Result<NativeAddress> BoundTo(int fd) {
  NativeAddress local;
  local.length = sizeof local.storage;
  if (::getsockname(fd, local.get(), &local.length) < 0) return LastError();
  return local;
}

Result<Done> SetReuseAddress(int fd, bool reuse) {
  const int on = reuse ? 1 : 0;
  if (::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) {
    return LastError();
  }
  return Done{};
}

Result<Socket> OpenBound(int type, const std::string& address,
                         PortRange ports) {
  const bool ephemeral = ports.first == 0 && ports.last == 0;
  const bool ordered = ports.first != 0 && ports.first <= ports.last;
  if (!ephemeral && !ordered) return ErrorFrom(EINVAL);
  for (int port = ports.first; port <= ports.last; ++port) {
    const auto native = ToNative(address, static_cast<std::uint16_t>(port));
    if (!native) return ErrorFrom(EINVAL);
    Result<Socket> bound = Bind(type, *native);
    if (bound.has_value() || !InUse(bound.error())) return bound;
  }
  return ErrorFrom(EADDRINUSE);
}

}  // namespace wiretoll
