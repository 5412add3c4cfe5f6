// Two hosts and a link, simulated by ns-3: what to simulate, and what came out.
//
// Plain values and callbacks only: ns-3's own headers are C++17 and g++ 12
// rejects them in C++20, so that they stay behind this one. ns-3 is under the
// GPL, version 2: it is linked into a program of its own, wiretoll-agent-ns3,
// and into nothing else here.
//
// All times are simulated and in nanoseconds since the simulation began; no
// other clock is read, and the same spec gives the same figures on any machine,
// in a process of its own: ns-3 gives each simulation of a process other random
// streams than the one before it. One at a time in a process, on one thread.
#ifndef WIRETOLL_HARNESS_NS3_WORLD_H_
#define WIRETOLL_HARNESS_NS3_WORLD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wiretoll::sim {

enum class LinkKind { kCsma, kPointToPoint };

// The only link between the two. kCsma: half duplex, with ARP and collisions,
// as the Ethernet of ns-3 is; kPointToPoint: full duplex, no ARP.
struct LinkSpec {
  LinkKind kind = LinkKind::kCsma;
  double bits_per_second = 1e9;
  std::int64_t delay_ns = 2'000;  // Each way.
  std::int64_t mtu_bytes = 1500;
  double loss = 0;  // Share of frames that do not come, each way.
};

// Where it is empty, ns-3's own default holds.
struct WorldSpec {
  LinkSpec link;
  std::uint64_t rng_run = 1;               // From 1; of ns-3's random numbers.
  std::optional<std::uint32_t> arp_queue;  // Packets that wait for one answer.
  // IPv4, of one network.
  std::string sender_address = "10.1.1.1";
  std::string receiver_address = "10.1.1.2";
  // When it is broken off, after the traffic began.
  std::int64_t limit_ns = 60'000'000'000;
};

// What ns-3's FlowMonitor saw of the packets from the sender to the receiver:
// IP packets with their headers, from one IP layer to the other.
struct FlowFigures {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t received_bytes = 0;
  // Empty: nothing came. Jitter, the mean difference in delay from one packet
  // to the next, takes two.
  std::optional<double> delay_mean_ns;
  std::optional<double> jitter_mean_ns;
  // Bits received over the time from the first sent to the last received.
  std::optional<double> bits_per_second;

  [[nodiscard]] std::int64_t lost() const { return sent - received; }
};

// --- TCP

// Empty: ns-3's own default.
struct TcpSpec {
  std::optional<bool> no_delay;  // Both ends. ns-3's default: true.
  std::optional<std::int64_t> segment_bytes;  // Sender.
  std::optional<std::int64_t> sndbuf_bytes;   // Sender.
  std::optional<std::int64_t> rcvbuf_bytes;   // Receiver.
  // Receiver: an ACK for each so many segments.
  std::optional<std::int64_t> delayed_ack_count;
  std::string congestion;  // One of CongestionNames(); empty: the default.
  std::int64_t sender_read_bytes = 65536;  // Room handed to one read.
  std::int64_t receiver_read_bytes = 65536;
  bool carry_bytes = false;  // Payload travels; otherwise its length does.
};

// What a program does next. Calls block: a write returns once all of it is in
// the send buffer, a read once something has come or the peer has closed.
struct Action {
  enum class Kind { kWrite, kRead, kShut };
  Kind kind = Kind::kShut;
  std::int64_t due_ns = 0;  // kWrite, kShut: not before.
  std::int64_t bytes = 0;   // kWrite.
};

// A program at one end of a connection, asked and told as it goes.
class TcpProgram {
 public:
  virtual ~TcpProgram() = default;
  // Asked when the connection stands, and after each action but the last.
  // kShut: it closes its sending side, and is asked no more.
  virtual Action Next(std::int64_t now_ns) = 0;
  // The payload of a write from byte `offset` of it on; asked only with
  // carry_bytes. It stays readable until the next call.
  virtual const unsigned char* Payload(std::int64_t offset) = 0;
  // A write of so many bytes returned.
  virtual void Wrote(std::int64_t now_ns, std::int64_t bytes) = 0;
  // A read returned; `data` is nullptr without carry_bytes.
  virtual void Read(std::int64_t now_ns, std::int64_t bytes,
                    const unsigned char* data) = 0;
  // A read returned the end of the stream.
  virtual void End(std::int64_t now_ns) = 0;
};

// One end's view, from its socket's trace sources. Empty: ns-3 had nothing to
// tell of.
struct TcpEndFigures {
  using Count = std::optional<std::int64_t>;
  std::int64_t data_segments_out = 0;  // Retransmissions included.
  std::int64_t data_segments_in = 0;   // Duplicates included.
  std::int64_t segments_out = 0;       // All, SYN and FIN included.
  std::int64_t segments_in = 0;
  std::int64_t retransmitted_segments = 0;
  std::int64_t bytes_retransmitted = 0;
  std::int64_t out_of_order_segments = 0;
  std::int64_t bytes_received = 0;  // In order; read by the program.
  Count bytes_acked;
  Count rtt_last_ns, rtt_least_ns;  // From a segment to its ACK.
  Count rtt_handshake_ns;
  Count cwnd_bytes;
  Count peer_window_bytes, peer_window_first_bytes, peer_window_peak_bytes;
  Count peer_window_scale;
  std::optional<bool> timestamps, sack;  // In use, from the SYNs.

  // As the socket says, at the end.
  bool no_delay = false;
  std::int64_t segment_bytes = 0;
  std::int64_t sndbuf_bytes = 0;
  std::int64_t rcvbuf_bytes = 0;
  std::int64_t delayed_ack_count = 0;
  std::string congestion;
};

struct TcpResult {
  std::string error;  // Not empty: it did not come to its end, and why.
  std::optional<std::int64_t> connect_ns;  // From the call to its return.
  TcpEndFigures sender;
  TcpEndFigures receiver;
  FlowFigures flow;
};

// Names as studies have them ("cubic", "reno", ...), sorted.
std::vector<std::string> CongestionNames();

// Connects the sender to the receiver, lets both programs run, and ends once
// both have shut and seen the other's end.
TcpResult SimulateTcp(const WorldSpec& world, const TcpSpec& tcp,
                      TcpProgram& sender, TcpProgram& receiver);

// --- UDP

struct UdpSpec {
  std::optional<std::int64_t> rcvbuf_bytes;  // Receiver.
  std::int64_t kept_bytes =
      16;  // Of each datagram, what the receiver is shown.
};

// kWrite: a datagram of so many bytes; kShut: no more. Never kRead.
class UdpSender {
 public:
  virtual ~UdpSender() = default;
  virtual Action Next(std::int64_t now_ns) = 0;
  // Front of the datagram that is sent now; the rest of it is zeros.
  virtual std::pair<const unsigned char*, std::int64_t> Front(
      std::int64_t now_ns, std::int64_t bytes) = 0;
  // The call returned; `error` is empty or what ns-3 said.
  virtual void Sent(std::int64_t now_ns, std::int64_t bytes,
                    const std::string& error) = 0;
};

class UdpReceiver {
 public:
  virtual ~UdpReceiver() = default;
  // `kept`: how many bytes there are at `data`.
  virtual void Came(std::int64_t now_ns, std::int64_t bytes, std::int64_t kept,
                    const unsigned char* data) = 0;
  // Asked now and then once the sender has shut, which was at `shut_ns`.
  virtual bool Over(std::int64_t now_ns, std::int64_t shut_ns) = 0;
};

struct UdpResult {
  std::string error;  // As TcpResult's.
  std::int64_t receive_buffer_drops = 0;
  std::int64_t sender_rcvbuf_bytes = 0;
  std::int64_t receiver_rcvbuf_bytes = 0;
  FlowFigures flow;
};

UdpResult SimulateUdp(const WorldSpec& world, const UdpSpec& udp,
                      UdpSender& sender, UdpReceiver& receiver);

// --- The published experiment

// ns-3's own BulkSend and PacketSink, or UdpClient and UdpServer: `packets`
// of 1472 bytes over TCP, or as many datagrams of 1472 bytes, one every 2 us.
// The program starts a second after the hosts did.
struct PublishedSpec {
  bool tcp = true;
  std::int64_t packets = 10;
  std::optional<std::int64_t> segment_bytes;  // TCP; ns-3's default: 536.
  std::optional<std::int64_t> buffer_bytes;   // TCP, both; default: 131072.
};

FlowFigures SimulatePublished(const WorldSpec& world,
                              const PublishedSpec& published);

// --- What holds where nothing is set

struct Default {
  std::string name;   // "tcp_segment_bytes": lower_snake, its unit at the end.
  std::string value;  // As ns-3 spells it.
  bool number = false;
};

std::vector<Default> Defaults();

// "3.37"
std::string Version();

}  // namespace wiretoll::sim

#endif  // WIRETOLL_HARNESS_NS3_WORLD_H_
