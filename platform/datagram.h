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

// One datagram by one call (recv). Interrupt() ends it: what had arrived may
// still be read, and then each call gives a datagram of length 0 at once (the
// peer's own empty datagram looks the same; we send none). Errors:
// operation_would_block once SetReceiveTimeout()'s time is over (on every
// system), connection_refused (an ICMP port unreachable came for what was sent
// here; WSAECONNRESET on Windows is told as this), interrupted.
Result<Datagram> ReceiveDatagram(Socket& socket, std::span<std::byte> buffer);

// The same on a bound socket that is not connected, by one call (recvfrom)
// that also tells who sent it.
struct DatagramFrom {
  Datagram datagram;
  Endpoint sender;
};
Result<DatagramFrom> ReceiveDatagramFrom(Socket& socket,
                                         std::span<std::byte> buffer);

// How long a receiving call blocks. Systems round up. Errors: invalid_argument
// below 1 ms.
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
// behind another in `data`; gives how many were sent, at least 1. Where that is
// fewer than `count`, the next one met an error: it was not sent, and says so
// when it is tried again, if the reason is still there. Errors as Send(), of
// the first datagram; invalid_argument unless data.size() == count * size and
// 1 <= count <= kMostInBatch; operation_not_supported.
inline constexpr int kMostInBatch = 1024;
Result<int> SendDatagrams(Socket& socket, std::span<const std::byte> data,
                          Bytes size, int count);

// One call that receives at least one datagram and as many more as are there
// (MSG_WAITFORONE), each into its own `room` bytes of `buffer`: the k-th from
// k * room on. Gives how many came, at most got.size() or kMostInBatch; after
// Interrupt() one of length 0. Errors as ReceiveDatagram(); invalid_argument
// where there is no room for one; operation_not_supported.
Result<int> ReceiveDatagrams(Socket& socket, std::span<std::byte> buffer,
                             Bytes room, std::span<Datagram> got);

// --- What the system counted

struct UdpCounters {
  // Datagrams for this socket that did not fit its receive buffer, since it
  // was opened (Linux: the count behind SO_RXQ_OVFL, which bad checksums and
  // the host's limit for all of UDP, udp_mem, add to as well). Empty: not told.
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
  // Requires a bound and connected UDP socket, which must outlive the trap, and
  // a peer that has not begun to send: what came before Connect() waits in that
  // socket, is taken from it here, and counts unless it is the peer's. Sharing
  // the port lasts for this call only, so that nobody binds to it later.
  // Errors: operation_not_supported where two sockets cannot share a port this
  // way, not_connected.
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
