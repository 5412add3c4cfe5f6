#include "platform/socket.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "platform/datagram.h"
#include "platform/deadline.h"
#include "platform/lwip/core.h"
#include "platform/posix/address.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often a wait looks whether it was interrupted: nothing wakes lwip_poll.
constexpr milliseconds kLook{20};

Result<Done> SetNonBlocking(int fd, bool on) {
  const int flags = ::lwip_fcntl(fd, F_GETFL, 0);
  if (flags < 0) return LastError();
  const int wanted = on ? (flags | O_NONBLOCK) : (flags & ~O_NONBLOCK);
  if (::lwip_fcntl(fd, F_SETFL, wanted) < 0) return LastError();
  return Done{};
}

// A connection as it is handed out: blocking, and so that what remains of it
// does not keep the port from the next trial.
Result<Done> Ready(int fd) {
  const Result<Done> blocking = SetNonBlocking(fd, false);
  return blocking.has_value() ? SetReuseAddress(fd, true) : blocking;
}

// Rounded up: poll must not return a fraction of a millisecond early.
int NextLook(SteadyTime deadline) {
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  return static_cast<int>(std::clamp(left, milliseconds{0}, kLook).count());
}

Result<Done> WaitFor(Socket::Handle handle, short events, SteadyTime deadline) {
  pollfd waiting{Fd(handle), events, 0};
  do {
    if (WasInterrupted(handle)) return ErrorFrom(EINVAL);
    const int ready = ::lwip_poll(&waiting, 1, NextLook(deadline));
    if (ready > 0) return Done{};
    if (ready < 0 && errno != EINTR) return LastError();
  } while (steady_clock::now() < deadline);
  return ErrorFrom(ETIMEDOUT);
}

// A reset is all that lwIP tells of a peer who refuses.
Error ConnectError(int failure) {
  return ErrorFrom(failure == ECONNRESET ? ECONNREFUSED : failure);
}

Result<Done> FinishConnect(Socket::Handle handle, SteadyTime deadline) {
  const Result<Done> waited = WaitFor(handle, POLLOUT, deadline);
  if (!waited.has_value()) return waited.error();
  int failure = 0;
  socklen_t length = sizeof failure;
  if (::lwip_getsockopt(Fd(handle), SOL_SOCKET, SO_ERROR, &failure, &length) <
      0) {
    return LastError();
  }
  if (failure != 0) return ConnectError(failure);
  return Done{};
}

// A datagram larger than any is no lack of buffers, as lwIP says it is.
Error SendError(Socket::Handle handle, std::size_t size, const Error& error) {
  const netconn* connection = ConnectionOf(handle);
  const bool datagram =
      connection != nullptr && connection->type != NETCONN_TCP;
  const bool too_large = size > static_cast<std::size_t>(kMostDatagramBytes);
  return datagram && too_large ? ErrorFrom(EMSGSIZE) : error;
}

// An empty datagram of our own making, which wakes who waits for one.
void WakeReceiver(netconn& connection) {
  netbuf* empty = ::netbuf_new();
  if (empty == nullptr) return;
  ::netbuf_alloc(empty, 0);
  if (::sys_mbox_trypost(&connection.recvmbox, empty) != ERR_OK) {
    ::netbuf_delete(empty);
  }
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
  if (handle_ != Handle::kNone) ::lwip_close(Fd(handle_));
}

Result<Bytes> Socket::Send(std::span<const std::byte> data) {
  if (WasInterrupted(handle_)) return ErrorFrom(EPIPE);
  const ssize_t sent = ::lwip_write(Fd(handle_), data.data(), data.size());
  if (sent < 0) return SendError(handle_, data.size(), LastError());
  return Bytes{sent};
}

Result<Bytes> Socket::Receive(std::span<std::byte> buffer) {
  if (WasInterrupted(handle_)) return Bytes{0};
  const ssize_t received =
      ::lwip_read(Fd(handle_), buffer.data(), buffer.size());
  if (received >= 0) return Bytes{received};
  const Error error = LastError();
  if (WasInterrupted(handle_)) return Bytes{0};
  return error;
}

Result<Done> Socket::ShutdownSend() {
  if (::lwip_shutdown(Fd(handle_), SHUT_WR) < 0) return LastError();
  return Done{};
}

// What is queued takes room in the send buffer until it is acknowledged; a FIN
// takes none. A connection that has ended in order is no longer there.
Result<Bytes> Socket::UnacknowledgedBytes() const {
  const CoreLock lock;
  const netconn* connection = ConnectionOf(handle_);
  if (connection == nullptr) return ErrorFrom(EBADF);
  if (const tcp_pcb* block = TcpBlockOf(handle_)) {
    return Bytes{std::int64_t{TCP_SND_BUF} - tcp_sndbuf(block)};
  }
  const err_t ended = connection->pending_err;
  if (ended != ERR_OK && ended != ERR_CLSD) {
    return ErrorFrom(::err_to_errno(ended));
  }
  return Bytes{0};
}

Result<Done> Socket::Connect(const Endpoint& peer, milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  std::optional<NativeAddress> native = ToNative(peer.address, peer.port);
  if (!native) return ErrorFrom(EINVAL);
  const int fd = Fd(handle_);
  const Result<Done> prepared = SetNonBlocking(fd, true);
  if (!prepared.has_value()) return prepared.error();

  Result<Done> connected = Done{};
  if (::lwip_connect(fd, native->get(), native->length) < 0) {
    connected = errno == EINPROGRESS ? FinishConnect(handle_, deadline)
                                     : Result<Done>{ConnectError(errno)};
  }
  const Result<Done> restored = SetNonBlocking(fd, false);
  return connected.has_value() ? restored : connected;
}

// Without SO_REUSEADDR: with it lwIP would let others bind to the port too.
Result<Done> Socket::Listen() {
  constexpr int kBacklog = 16;
  const int fd = Fd(handle_);
  if (::lwip_listen(fd, kBacklog) < 0) return LastError();
  // A connection may be gone between poll and accept: never block in accept.
  return SetNonBlocking(fd, true);
}

Result<AcceptedSocket> Socket::Accept(milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  for (;;) {
    const Result<Done> waited = WaitFor(handle_, POLLIN, deadline);
    if (!waited.has_value()) return waited.error();
    NativeAddress peer;
    peer.length = sizeof peer.storage;
    const int fd = ::lwip_accept(Fd(handle_), peer.get(), &peer.length);
    if (fd >= 0) {
      Socket accepted{static_cast<Handle>(fd)};
      SetInterrupted(accepted.handle(), false);
      const Result<Done> ready = Ready(fd);
      if (!ready.has_value()) return ready.error();
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

// A connection is woken out of a blocked write by ending it alone; its peer
// sees a reset.
void Socket::Interrupt() noexcept {
  SetInterrupted(handle_, true);
  const CoreLock lock;
  if (tcp_pcb* block = TcpBlockOf(handle_)) return ::tcp_abort(block);
  netconn* connection = ConnectionOf(handle_);
  if (connection != nullptr && connection->type != NETCONN_TCP) {
    WakeReceiver(*connection);
  }
}

Result<Socket> OpenTcp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_STREAM, address, ports);
}

}  // namespace wiretoll
