// What every kind of socket has in common: addresses, and a port to bind to.
// Included by platform/posix/ and platform/lwip/ only, which answers the
// functions about sockets by another stack.
#ifndef WIRETOLL_PLATFORM_POSIX_ADDRESS_H_
#define WIRETOLL_PLATFORM_POSIX_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "platform/posix/native.h"

namespace wiretoll {

// A sockaddr of either family, and how much of it is used.
struct NativeAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

// Nothing where `address` is no numeric address.
std::optional<NativeAddress> ToNative(const std::string& address,
                                      std::uint16_t port);
Result<Endpoint> FromNative(const NativeAddress& native);

// What the socket is bound to.
Result<NativeAddress> BoundTo(int fd);

Result<Done> SetReuseAddress(int fd, bool reuse);

// A socket of `type`, SOCK_STREAM or SOCK_DGRAM, bound to `address` and the
// first free port of `ports`. Errors as OpenTcp().
Result<Socket> OpenBound(int type, const std::string& address, PortRange ports);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_ADDRESS_H_
