// What every kind of socket has in common: a port to bind to.
#include "platform/posix/address.h"

#include <netinet/in.h>

#include <memory>

#include "platform/lwip/core.h"
#include "platform/lwip/stack.h"

namespace wiretoll {
namespace {

bool InUse(const Error& error) {
  return error == boost::system::errc::address_in_use;
}

// As Linux: only the bind itself needs to be let past what remains of a closed
// connection (TIME_WAIT).
Result<Done> BindPastRemains(int fd, NativeAddress local) {
  const Result<Done> shared = SetReuseAddress(fd, true);
  if (!shared.has_value()) return shared.error();
  if (::lwip_bind(fd, local.get(), local.length) < 0) return LastError();
  return SetReuseAddress(fd, false);
}

Result<Socket> Bind(int type, NativeAddress local) {
  const int fd = ::lwip_socket(local.family(), type, 0);
  if (fd < 0) return LastError();
  Socket socket{static_cast<Socket::Handle>(fd)};
  SetInterrupted(socket.handle(), false);
  if (::lwip_bind(fd, local.get(), local.length) == 0) return socket;
  const Error plain = LastError();
  if (!InUse(plain) || type != SOCK_STREAM) return plain;
  const Result<Done> bound = BindPastRemains(fd, local);
  if (!bound.has_value()) return bound.error();
  return socket;
}

}  // namespace

Result<NativeAddress> BoundTo(int fd) {
  NativeAddress local;
  local.length = sizeof local.storage;
  if (::lwip_getsockname(fd, local.get(), &local.length) < 0) {
    return LastError();
  }
  return local;
}

Result<Done> SetReuseAddress(int fd, bool reuse) {
  const int on = reuse ? 1 : 0;
  if (::lwip_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) {
    return LastError();
  }
  return Done{};
}

Result<Socket> OpenBound(int type, const std::string& address,
                         PortRange ports) {
  EnsureStack();
  const bool ephemeral = ports.first == 0 && ports.last == 0;
  const bool ordered = ports.first != 0 && ports.first <= ports.last;
  if (!ephemeral && !ordered) return ErrorFrom(EINVAL);
  if (!ToNative(address, 0)) return ErrorFrom(EINVAL);
  // lwIP binds to any address, and then nothing comes.
  if (!IsStackAddress(address)) return ErrorFrom(EADDRNOTAVAIL);
  for (int port = ports.first; port <= ports.last; ++port) {
    const auto native = ToNative(address, static_cast<std::uint16_t>(port));
    Result<Socket> bound = Bind(type, *native);
    if (bound.has_value() || !InUse(bound.error())) return bound;
  }
  return ErrorFrom(EADDRINUSE);
}

}  // namespace wiretoll
