// The connections and UDP flows of a capture, with what each direction sent.
//
// Figures are of the point where the capture was made: a time there is not one
// at an end, and a packet lost before that point was not seen.
#ifndef WIRETOLL_HARNESS_CAPTURE_FLOWS_H_
#define WIRETOLL_HARNESS_CAPTURE_FLOWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/capture/capture_reader.h"
#include "harness/capture/dissect.h"
#include "harness/capture/timeline.h"

namespace wiretoll {

// A gap between two data segments of a direction that counts as a stall: more
// than queues and schedulers take, less than delayed ACKs (40 ms and more).
inline constexpr std::int64_t kStallNs = 30'000'000;

// Flows that are told apart. Some 2 KB each; what belongs to further ones is
// counted as a whole.
inline constexpr std::size_t kMostFlows = 50'000;

// Payload sizes of segments and datagrams.
class SizeDistribution {
 public:
  struct Bin {
    std::int64_t low = 0, high = 0;  // Bytes, both included.
    std::int64_t count = 0;
    bool operator==(const Bin&) const = default;
  };
  void Add(std::int64_t bytes, std::int64_t count);
  // By size. Each size by itself (low == high) up to kExact different ones;
  // else by powers of two, 2^k to 2^(k+1) - 1. Empty bins are left out.
  [[nodiscard]] std::vector<Bin> Bins() const;

  static constexpr std::size_t kExact = 16;

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> exact_;
  bool too_many_ = false;
  std::array<std::int64_t, 33> by_power_{};  // [0]: 0 bytes; [k]: from 2^(k-1).
};

struct RoundTrips {
  std::int64_t samples = 0;
  std::int64_t min_ns = 0, max_ns = 0, sum_ns = 0;  // Where samples > 0.
  void Add(std::int64_t ns);
};

struct Stalls {
  std::int64_t count = 0, total_ns = 0, longest_ns = 0;
  std::int64_t longest_at_ns = 0;  // When the longest began.
};

// What one end sent. "On the wire" counts a packet that an offload had not
// split yet as the segments that the MSS makes of it.
struct DirectionFigures {
  std::int64_t frames = 0;          // As captured.
  std::int64_t segments = 0;        // On the wire; UDP: packets.
  std::int64_t data_segments = 0;   // Of these, with payload; probes left out.
                                    // UDP: datagrams.
  std::int64_t super_frames = 0;    // Frames that were longer than the MSS,
  std::int64_t super_segments = 0;  // and the segments they became.
  std::int64_t payload_bytes = 0;   // With what was sent again.
  std::int64_t unique_bytes = 0;    // Each byte of the stream once. UDP: as
                                    // payload_bytes.
  std::int64_t missing_bytes = 0;   // Of the stream; sent, but not captured.
  SizeDistribution sizes;           // Of data segments, on the wire.

  std::int64_t pure_acks = 0;  // ACK alone: no payload, SYN, FIN, RST, probe.
  std::int64_t duplicate_acks = 0;   // RFC 5681 2, of pure_acks.
  std::int64_t window_updates = 0;   // Same ACK, other window; of pure_acks.
  std::int64_t retransmissions = 0;  // Data segments, on the wire, with bytes
                                     // that were seen before,
  std::int64_t retransmitted_bytes = 0;       // and those bytes;
  std::int64_t spurious_retransmissions = 0;  // all acknowledged already.
  // Data segments that fill a gap, on the wire: overtaken by later ones, or
  // lost before this point and sent again. `late_fills` of them came a round
  // trip (3 ms, where it is not known) or more after the gap had opened; before
  // that a sender cannot have heard of a loss.
  std::int64_t out_of_order = 0, late_fills = 0;
  std::int64_t resent = 0;  // Retransmissions and late fills, each once: sent
                            // again as far as this point can tell.
  std::int64_t probes = 0;  // Keep-alives and window probes.
  std::int64_t zero_windows = 0;  // Segments that closed the window or kept it
                                  // closed; without SYN, FIN, RST.
  // Advertised, in bytes: by the first segment (a SYN's is never scaled), and
  // the extremes of all but SYN and RST.
  std::optional<std::int64_t> window_initial, window_min, window_max;
  std::int64_t syns = 0, fins = 0, resets = 0;
  std::optional<std::uint16_t> mss;   // Its SYN's option, bytes.
  std::optional<std::uint8_t> scale;  // Its SYN's window scale, up to 14.
  bool syn_options_seen = false;      // Or both are not known.

  // From a data segment at this point to the ACK that covers it: the far part
  // of the round trip, and what the receiver waited. One at a time, none that
  // was sent again (Karn, RFC 6298 3).
  RoundTrips data_to_ack;
  Stalls stalls;
  std::optional<std::int64_t> first_data_ns, last_data_ns;

  std::int64_t fragments = 0;  // IP fragments, first ones and later ones.
  // IP packets. With Ethernet header, padding and check sequence. With
  // preamble and gap. The last two where `framing_known`.
  std::int64_t layer3_bytes = 0, layer2_bytes = 0, layer1_bytes = 0;
  bool framing_known = true;
};

struct IpEndpoint {
  IpAddress address;
  std::uint16_t port = 0;
  auto operator<=>(const IpEndpoint&) const = default;
};
ConnectionEnd ToConnectionEnd(const IpEndpoint& end);
// "10.0.0.1:80", "[2001:db8::1]:80".
std::string EndpointText(const IpEndpoint& end);

struct Flow {
  std::size_t order = 0;  // From 0, by first appearance in the capture.
  bool tcp = true;        // Else UDP.
  // TCP: who opened it; where no SYN was seen, who has the higher port. UDP:
  // who sent first.
  IpEndpoint client, server;
  std::int64_t first_ns = 0, last_ns = 0;  // Of its frames.
  DirectionFigures from_client, from_server;

  // TCP only.
  bool begin_seen = false;   // A SYN of it, or a SYN-ACK.
  bool scale_known = false;  // Else windows are as they stand in the header.
  bool timestamps = false;   // RFC 7323, in any segment.
  bool mss_assumed = false;  // Super-frames were split by Ethernet's usual
                             // MSS: no SYN told one.
  // From the capture to the server and back (SYN to SYN-ACK), and to the
  // client and back (SYN-ACK to the ACK). Empty: not seen, or sent again.
  std::optional<std::int64_t> server_round_trip_ns, client_round_trip_ns;

  [[nodiscard]] std::int64_t payload_bytes() const {
    return from_client.payload_bytes + from_server.payload_bytes;
  }
};

// Of all frames of a capture.
struct CaptureTotals {
  std::int64_t frames = 0;
  std::int64_t tcp = 0, udp = 0, other_ip = 0, not_ip = 0;
  std::int64_t later_fragments = 0;
  std::int64_t stray_fragments = 0;  // Of these, without a first one before.
  std::int64_t cut = 0, malformed = 0;
  std::int64_t first_malformed = 0;  // Its number, and what was wrong with it.
  std::string first_trouble;
  std::map<std::uint16_t, std::int64_t> other_links;  // Frames by link type.
  std::int64_t options_cut = 0;        // TCP segments with SYN, cut in options.
  std::int64_t length_from_frame = 0;  // IP packets that said length 0.
  std::int64_t loopback = 0;           // Ethernet frames of no address.
  // Of flows beyond kMostFlows.
  std::int64_t untracked_frames = 0, untracked_payload_bytes = 0;
  std::optional<std::int64_t> first_ns, last_ns;
};

// What a TCP segment was to its connection.
struct SegmentSeen {
  std::size_t flow = 0;  // Flow::order.
  TimelineSegment segment;
};

class TcpConnection;

// Takes a capture's packets in their order. Threads: one at a time.
class FlowTable {
 public:
  explicit FlowTable(std::size_t most_flows = kMostFlows);
  ~FlowTable();
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  // A segment of a connection that is tracked; else nothing. Valid until the
  // next call.
  const SegmentSeen* Add(const CapturedFrame& frame, const Packet& packet);

  [[nodiscard]] const CaptureTotals& totals() const { return totals_; }
  // All flows, most payload first; of those with the same, the earlier one.
  // Call it last.
  std::vector<Flow> Finish();

 private:
  // Both directions have the same.
  struct Key {
    IpEndpoint low, high;
    bool tcp = true;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Tracked {
    Flow flow;
    std::unique_ptr<TcpConnection> connection;  // TCP only.
  };
  struct FragmentOwner {
    std::uint64_t packet = 0;  // A hash of what its fragments share; 0: none.
    std::size_t flow = 0;
    bool from_client = false;
  };

  void CountKind(const CapturedFrame& frame, const Packet& packet);
  Tracked* Find(const Packet& packet, std::int64_t time_ns);
  Tracked* Begin(const Key& key, const Packet& packet, std::int64_t time_ns);
  void AddDatagram(const Packet& packet, std::int64_t time_ns,
                   DirectionFigures& from);
  void AddFragment(const Packet& packet, std::int64_t time_ns);
  void Remember(const Packet& packet, const Tracked& tracked);

  std::size_t most_flows_;
  std::deque<Tracked> flows_;
  std::unordered_map<Key, std::size_t, KeyHash> by_key_;  // The latest.
  Key last_key_;
  Tracked* last_ = nullptr;  // Of last_key_: frames of a flow come in rows.
  std::vector<FragmentOwner> fragments_;
  CaptureTotals totals_;
  SegmentSeen seen_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_FLOWS_H_
