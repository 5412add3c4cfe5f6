#include "platform/posix/address.h"

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
