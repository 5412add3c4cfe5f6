// One socket: the only place where the two OS APIs meet.
#ifndef WIRETOLL_PLATFORM_SOCKET_H_
#define WIRETOLL_PLATFORM_SOCKET_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// A numeric IPv4 or IPv6 address (no names: nothing is looked up) and a port.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

// Inclusive. {0, 0} lets the system choose.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

struct AcceptedSocket;

// posix/socket.cc moves bytes with write(2) and read(2), win32/socket.cc with
// send() and recv(). That difference is what we measure, so one call of Send
// or Receive here is exactly one call into the OS: no retry, no loop, no
// buffering.
//
// Errors     raw errno or WSAGetLastError() in Boost's system_category;
//            compare with boost::system::errc, never with a number.
// Ownership  closes its handle exactly once. Move-only.
// Threads    one at a time per Socket, save Interrupt() and ReadTcpCounters().
class Socket {
 public:
  // A POSIX int or a Winsock SOCKET; all bits set is "none" to both.
  enum class Handle : std::uintptr_t { kNone = ~std::uintptr_t{0} };

  explicit Socket(Handle owned) noexcept : handle_(owned) {}
  Socket(Socket&& other) noexcept
      : handle_(std::exchange(other.handle_, Handle::kNone)),
        interrupted_(other.interrupted_.load()) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // Returns the bytes the kernel accepted, possibly fewer than data.size().
  // Blocks while the kernel has no room for the first byte.
  // Errors: connection_reset, broken_pipe, operation_would_block, interrupted.
  Result<Bytes> Send(std::span<const std::byte> data);

  // Fills the front of `buffer`, blocks while there is nothing. Zero bytes:
  // the peer closed its side (TCP), or Interrupt() was called.
  Result<Bytes> Receive(std::span<std::byte> buffer);

  // Sends what is queued, then FIN; Receive stays possible.
  Result<Done> ShutdownSend();

  // Bytes sent and not yet acknowledged by the peer.
  // Errors: operation_not_supported where the system does not tell.
  Result<Bytes> UnacknowledgedBytes() const;

  // Connects within `timeout`, or fails with timed_out. Leaves the socket
  // blocking. Errors: connection_refused, network_unreachable, ...
  Result<Done> Connect(const Endpoint& peer, std::chrono::milliseconds timeout);

  Result<Done> Listen();

  // Waits at most `timeout` for one connection; timed_out if none came. The
  // accepted socket is blocking. Requires Listen().
  Result<AcceptedSocket> Accept(std::chrono::milliseconds timeout);

  Result<Endpoint> LocalEndpoint() const;

  // Makes every blocked and every later call on this connected or listening
  // socket return. May be called from any thread while another is inside a
  // call; the socket must outlive it.
  void Interrupt() noexcept;

  Handle handle() const noexcept { return handle_; }

 private:
  Handle handle_;
  // Interrupt() was called: for a system that does not remember it itself.
  std::atomic<bool> interrupted_{false};
};

struct AcceptedSocket {
  Socket socket;
  Endpoint peer;
};

// A TCP socket bound to `address` and the first free port of `ports`, not yet
// listening or connected, so that options can be set first.
// Errors: address_in_use (the whole range is taken), address_not_available,
// invalid_argument (not a numeric address), permission_denied.
Result<Socket> OpenTcp(const std::string& address, PortRange ports);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_SOCKET_H_
