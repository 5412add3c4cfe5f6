// Datagrams over a Socket: what a stream has no need of.
#ifndef WIRETOLL_PLATFORM_DATAGRAM_H_
#define WIRETOLL_PLATFORM_DATAGRAM_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "platform/socket.h"

namespace wiretoll {

// What one datagram can carry over IPv4: 65,535 - 20 - 8 (RFC 791, RFC 768).
inline constexpr std::int64_t kMostDatagramBytes = 65'507;

// A UDP socket bound to `address` and the first free port of `ports`. Once
// Connect()ed, which sends nothing, Socket::Send is one datagram and one call
// (write(2), send()), and only datagrams from that peer are received.
// Errors as OpenTcp().
Result<Socket> OpenUdp(const std::string& address, PortRange ports);

struct Datagram {
  Bytes kept;  // Bytes put into the buffer.
  // Bytes it had on arrival: more than `kept` if it was cut. Where it was cut
  // and the system does not tell its length: empty.
  std::optional<Bytes> length;
  bool cut = false;
};

// One datagram by one call (recv), which Interrupt() ends. Errors:
// operation_would_block once SetReceiveTimeout()'s time is over (on every
// system), connection_refused (an ICMP port unreachable came for what was sent
// here; WSAECONNRESET on Windows is told as this).
Result<Datagram> ReceiveDatagram(Socket& socket, std::span<std::byte> buffer);

// How long a receiving call blocks. At least 1 ms; systems round up.
Result<Done> SetReceiveTimeout(const Socket& socket,
                               std::chrono::milliseconds timeout);

// Has the system tell the sender, with no_buffer_space, of a datagram that its
// own queue dropped (Linux: IP_RECVERR; without it such a call succeeds).
// Errors: operation_not_supported where it never tells.
Result<Done> TellOfLocalDrops(const Socket& socket);

// --- Several datagrams in one call: sendmmsg(2), recvmmsg(2)

// Whether this system has them.
bool HasDatagramBatches();

// One call that sends the `count` datagrams of `size` bytes that stand one
// behind another in `data`; gives how many were sent, at least 1. Requires
// data.size() == count * size and count <= kMostInBatch. Errors as Send(), and
// operation_not_supported.
inline constexpr int kMostInBatch = 1024;
Result<int> SendDatagrams(Socket& socket, std::span<const std::byte> data,
                          Bytes size, int count);

// One call that receives at least one datagram and as many more as are there
// (MSG_WAITFORONE), each into its own `room` bytes of `buffer`: the k-th from
// k * room on. The result's size is how many came, at most got.size(). Errors
// as ReceiveDatagram(), and operation_not_supported.
Result<int> ReceiveDatagrams(Socket& socket, std::span<std::byte> buffer,
                             Bytes room, std::span<Datagram> got);

// --- What the system counted

struct UdpCounters {
  // Datagrams for this socket that did not fit its receive buffer, since it
  // was opened (Linux: the count behind SO_RXQ_OVFL). Empty: not told.
  std::optional<std::int64_t> receive_buffer_drops;
  std::string reason;  // Why it is empty.
};
UdpCounters ReadUdpCounters(const Socket& socket);

// Payload bytes that this connected socket's path takes in one unfragmented
// datagram: path MTU - IP header - 8. Errors: operation_not_supported.
Result<std::int64_t> ReadPathMtu(const Socket& socket);

// Datagrams to the port of a connected socket that come from somebody else.
// The system keeps them from that socket; here they are caught and counted.
class StrangerTrap {
 public:
  // Requires a bound and connected UDP socket, which must outlive the trap.
  // Errors: operation_not_supported where two sockets cannot share a port this
  // way.
  static Result<StrangerTrap> Set(Socket& socket);

  // How many came, those that did not fit the trap's own buffer included.
  [[nodiscard]] std::int64_t Count();
  // Who sent the last one that was kept.
  [[nodiscard]] const std::optional<Endpoint>& last() const { return last_; }

 private:
  explicit StrangerTrap(Socket trap) : trap_(std::move(trap)) {}
  Socket trap_;
  std::int64_t kept_ = 0;
  std::optional<Endpoint> last_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_DATAGRAM_H_
