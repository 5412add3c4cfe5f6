#include "platform/socket.h"

#include <algorithm>
#include <optional>

#include "platform/deadline.h"
#include "platform/win32/address.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Waiting is done in slices of this, since Windows has no shutdown() that
// wakes who waits for a connection: each slice looks whether it was called.
constexpr milliseconds kSlice{20};

Result<Done> SetNonBlocking(SOCKET socket, bool on) {
  u_long wanted = on ? 1 : 0;
  if (::ioctlsocket(socket, static_cast<long>(FIONBIO), &wanted) != 0) {
    return LastError();
  }
  return Done{};
}

// Up to the next slice's end, rounded up: not a fraction early.
timeval SliceUntil(SteadyTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::microseconds>(
      deadline - steady_clock::now());
  const auto slice =
      std::clamp<std::chrono::microseconds>(left, milliseconds{0}, kSlice);
  timeval native{};
  native.tv_usec = static_cast<decltype(native.tv_usec)>(slice.count());
  return native;
}

enum class Event { kConnected, kConnection };

// select(), not WSAPoll(): before Windows 10 2004 that one never tells of a
// connect that failed. A failed connect is an exception to select().
Result<bool> Happened(SOCKET socket, Event event, SteadyTime deadline) {
  fd_set waited;
  fd_set failed;
  FD_ZERO(&waited);
  FD_ZERO(&failed);
  FD_SET(socket, &waited);
  FD_SET(socket, &failed);
  timeval slice = SliceUntil(deadline);
  constexpr int kIgnored = 0;
  fd_set* readable = event == Event::kConnection ? &waited : nullptr;
  fd_set* writable = event == Event::kConnected ? &waited : nullptr;
  const int ready = ::select(kIgnored, readable, writable, &failed, &slice);
  if (ready == SOCKET_ERROR) return LastError();
  return ready > 0;
}

Result<Done> WaitFor(SOCKET socket, Event event, SteadyTime deadline,
                     const std::atomic<bool>& interrupted) {
  for (;;) {
    if (interrupted) return ErrorFrom(WSAESHUTDOWN);
    const Result<bool> happened = Happened(socket, event, deadline);
    if (!happened.has_value()) return happened.error();
    if (happened.value()) return Done{};
    if (steady_clock::now() >= deadline) return ErrorFrom(WSAETIMEDOUT);
  }
}

Result<Done> FinishConnect(SOCKET socket) {
  DWORD failure = 0;
  int length = sizeof failure;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR,
                   reinterpret_cast<char*>(&failure), &length) != 0) {
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
  if (handle_ != Handle::kNone) ::closesocket(Native(handle_));
}

Result<Bytes> Socket::Send(std::span<const std::byte> data) {
  constexpr int kNoFlags = 0;
  const int sent =
      ::send(Native(handle_), reinterpret_cast<const char*>(data.data()),
             WinsockLength(data.size()), kNoFlags);
  if (sent == SOCKET_ERROR) return LastError();
  return Bytes{sent};
}

Result<Bytes> Socket::Receive(std::span<std::byte> buffer) {
  constexpr int kNoFlags = 0;
  const int received =
      ::recv(Native(handle_), reinterpret_cast<char*>(buffer.data()),
             WinsockLength(buffer.size()), kNoFlags);
  if (received != SOCKET_ERROR) return Bytes{received};
  const Error error = LastError();
  if (interrupted_ && WasInterrupted(error)) return Bytes{0};
  return error;
}

Result<Done> Socket::ShutdownSend() {
  if (::shutdown(Native(handle_), SD_SEND) != 0) return LastError();
  return Done{};
}

// Windows tells what is in flight (SIO_TCP_INFO), not what still waits in the
// send buffer, so that its 0 would not mean that all has arrived.
Result<Bytes> Socket::UnacknowledgedBytes() const {
  return ErrorFrom(WSAEOPNOTSUPP);
}

Result<Done> Socket::Connect(const Endpoint& peer, milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  std::optional<NativeAddress> native = ToNative(peer.address, peer.port);
  if (!native) return ErrorFrom(WSAEINVAL);
  const SOCKET socket = Native(handle_);
  const Result<Done> prepared = SetNonBlocking(socket, true);
  if (!prepared.has_value()) return prepared.error();

  Result<Done> connected = Done{};
  if (::connect(socket, native->get(), native->length) != 0) {
    connected = LastError();
    if (connected.error() == ErrorFrom(WSAEWOULDBLOCK)) {
      connected = WaitFor(socket, Event::kConnected, deadline, interrupted_);
      if (connected.has_value()) connected = FinishConnect(socket);
    }
  }
  const Result<Done> restored = SetNonBlocking(socket, false);
  return connected.has_value() ? restored : connected;
}

Result<Done> Socket::Listen() {
  const SOCKET socket = Native(handle_);
  if (::listen(socket, SOMAXCONN) != 0) return LastError();
  // A connection may be gone between select and accept: never block in accept.
  return SetNonBlocking(socket, true);
}

Result<AcceptedSocket> Socket::Accept(milliseconds timeout) {
  const SteadyTime deadline = DeadlineAfter(timeout);
  for (;;) {
    const Result<Done> waited =
        WaitFor(Native(handle_), Event::kConnection, deadline, interrupted_);
    if (!waited.has_value()) return waited.error();
    NativeAddress peer;
    peer.length = sizeof peer.storage;
    const SOCKET native = ::accept(Native(handle_), peer.get(), &peer.length);
    if (native == INVALID_SOCKET) {
      const Error error = LastError();
      const bool gone = error == ErrorFrom(WSAEWOULDBLOCK) ||
                        error == ErrorFrom(WSAECONNRESET);
      if (!gone) return error;
      continue;
    }
    Socket accepted{static_cast<Handle>(native)};
    // Windows passes on that the listener does not block, and to children.
    const Result<Done> blocking = SetNonBlocking(native, false);
    if (!blocking.has_value()) return blocking.error();
    ::SetHandleInformation(reinterpret_cast<HANDLE>(native),
                           HANDLE_FLAG_INHERIT, 0);
    Result<Endpoint> from = FromNative(peer);
    if (!from.has_value()) return from.error();
    return AcceptedSocket{std::move(accepted), std::move(from).value()};
  }
}

Result<Endpoint> Socket::LocalEndpoint() const {
  const Result<NativeAddress> local = BoundTo(Native(handle_));
  if (!local.has_value()) return local.error();
  return FromNative(local.value());
}

// shutdown() ends what comes later and says so to the peer; a call that waits
// already is woken by cancelling it, and who waits for a connection sees the
// mark at the end of a slice.
void Socket::Interrupt() noexcept {
  interrupted_ = true;
  ::shutdown(Native(handle_), SD_BOTH);
  ::CancelIoEx(reinterpret_cast<HANDLE>(Native(handle_)), nullptr);
}

Result<Socket> OpenTcp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_STREAM, address, ports);
}

}  // namespace wiretoll
