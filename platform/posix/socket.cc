#include "platform/socket.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "platform/deadline.h"
#include "platform/posix/address.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Result<Done> SetNonBlocking(int fd, bool on) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return LastError();
  const int wanted = on ? (flags | O_NONBLOCK) : (flags & ~O_NONBLOCK);
  if (::fcntl(fd, F_SETFL, wanted) < 0) return LastError();
  return Done{};
}

// Rounded up: poll must not return a fraction of a millisecond early.
int MillisecondsUntil(SteadyTime deadline) {
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(
      std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

Result<Done> WaitFor(int fd, short events, SteadyTime deadline) {
  pollfd waiting{fd, events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, MillisecondsUntil(deadline));
    if (ready > 0) return Done{};
    if (ready == 0) return ErrorFrom(ETIMEDOUT);
    if (errno != EINTR) return LastError();
  }
}

Result<Done> FinishConnect(int fd, SteadyTime deadline) {
  const Result<Done> waited = WaitFor(fd, POLLOUT, deadline);
  if (!waited.has_value()) return waited.error();
  int failure = 0;
  socklen_t length = sizeof failure;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length) < 0) {
    return LastError();
  }
  if (failure != 0) return ErrorFrom(failure);
  return Done{};
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    const Socket closed = std::move(*this);
    handle_ = std::exchange(other.handle_, Handle::kNone);
    interrupted_ = other.interrupted_.load();
  }
  return *this;
}

Socket::~Socket() {
  if (handle_ != Handle::kNone) ::close(Fd(handle_));
}

Result<Bytes> Socket::Send(std::span<const std::byte> data) {
  // write(2) takes no flags, so MSG_NOSIGNAL is not to be had: SIGPIPE is
  // ignored instead, see PrepareProcess().
  const ssize_t sent = ::write(Fd(handle_), data.data(), data.size());
  if (sent < 0) return LastError();
  return Bytes{sent};
}

Result<Bytes> Socket::Receive(std::span<std::byte> buffer) {
  const ssize_t received = ::read(Fd(handle_), buffer.data(), buffer.size());
  if (received < 0) return LastError();
  return Bytes{received};
}

Result<Done> Socket::ShutdownSend() {
  if (::shutdown(Fd(handle_), SHUT_WR) < 0) return LastError();
  return Done{};
}

// Linux counts a FIN that is under way as one byte: 0 is 0 all the same.
Result<Bytes> Socket::UnacknowledgedBytes() const {
  int queued = 0;
  if (::ioctl(Fd(handle_), SIOCOUTQ, &queued) < 0) {
    return errno == ENOTTY ? ErrorFrom(EOPNOTSUPP) : LastError();
  }
  return Bytes{queued};
}

Result<Done> Socket::Connect(const Endpoint& peer, milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  std::optional<NativeAddress> native = ToNative(peer.address, peer.port);
  if (!native) return ErrorFrom(EINVAL);
  const int fd = Fd(handle_);
  const Result<Done> prepared = SetNonBlocking(fd, true);
  if (!prepared.has_value()) return prepared.error();

  Result<Done> connected = Done{};
  if (::connect(fd, native->get(), native->length) < 0) {
    connected = errno == EINPROGRESS ? FinishConnect(fd, deadline)
                                     : Result<Done>{LastError()};
  }
  const Result<Done> restored = SetNonBlocking(fd, false);
  return connected.has_value() ? restored : connected;
}

Result<Done> Socket::Listen() {
  const int fd = Fd(handle_);
  // Accepted sockets inherit it, so that what remains of them does not keep
  // the port from the next trial.
  const Result<Done> reusable = SetReuseAddress(fd, true);
  if (!reusable.has_value()) return reusable.error();
  if (::listen(fd, SOMAXCONN) < 0) return LastError();
  // A connection may be gone between poll and accept: never block in accept.
  return SetNonBlocking(fd, true);
}

Result<AcceptedSocket> Socket::Accept(milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  for (;;) {
    const Result<Done> waited = WaitFor(Fd(handle_), POLLIN, deadline);
    if (!waited.has_value()) return waited.error();
    NativeAddress peer;
    peer.length = sizeof peer.storage;
    const int fd =
        ::accept4(Fd(handle_), peer.get(), &peer.length, SOCK_CLOEXEC);
    if (fd >= 0) {
      Socket accepted{static_cast<Handle>(fd)};
      Result<Endpoint> from = FromNative(peer);
      if (!from.has_value()) return from.error();
      return AcceptedSocket{std::move(accepted), std::move(from).value()};
    }
    const bool gone = errno == EAGAIN || errno == ECONNABORTED;
    if (!gone && errno != EINTR) return LastError();
  }
}

Result<Endpoint> Socket::LocalEndpoint() const {
  const Result<NativeAddress> local = BoundTo(Fd(handle_));
  if (!local.has_value()) return local.error();
  return FromNative(local.value());
}

void Socket::Interrupt() noexcept { ::shutdown(Fd(handle_), SHUT_RDWR); }

Result<Socket> OpenTcp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_STREAM, address, ports);
}

}  // namespace wiretoll
