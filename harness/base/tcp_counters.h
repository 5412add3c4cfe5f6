// What a kernel counted for one TCP connection, as plain values.
#ifndef WIRETOLL_HARNESS_BASE_TCP_COUNTERS_H_
#define WIRETOLL_HARNESS_BASE_TCP_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wiretoll {

// Counts of one end of a connection since its handshake. A count that this
// system does not keep is empty, and `reason` says why. SYN, FIN, pure ACKs
// and window probes are in no data count. Source on Linux: TCP_INFO.
struct TcpCounters {
  using Count = std::optional<std::int64_t>;

  Count data_segments_out;  // With payload, retransmissions included.
  Count data_segments_in;   // With payload, duplicates included.
  Count segments_out;       // All, pure ACKs included.
  Count segments_in;
  Count retransmitted_segments;
  Count bytes_acked;     // Of ours, by the peer.
  Count bytes_received;  // In order, from the peer.
  Count bytes_retransmitted;
  Count dsack_duplicates;       // Retransmissions the peer had already.
  Count out_of_order_segments;  // Received out of order.
  Count rtt_ns;                 // Smoothed (RFC 6298).
  Count rtt_variation_ns;
  Count min_rtt_ns;
  Count cwnd_segments;
  Count mss_bytes;           // Payload of a full segment we may send.
  Count received_mss_bytes;  // Kernel's estimate of the peer's segments.
  Count path_mtu_bytes;
  Count peer_window_bytes;          // Window the peer advertises now, scaled.
  Count peer_window_initial_bytes;  // As the handshake left it.
  Count peer_window_peak_bytes;     // Largest seen by the trial's sampler.
  Count peer_window_scale;          // Shift count, RFC 7323 2.
  Count busy_ns;                    // With data unacknowledged or to send.
  Count window_limited_ns;          // Of busy: peer's window stood in the way.
  Count sndbuf_limited_ns;          // Of busy: the send buffer did.
  Count timestamps;                 // 1 if RFC 7323 timestamps are in use.
  Count sack;                       // 1 if RFC 2018 SACK is in use.

  std::string reason;  // Why whatever is empty is empty.

  bool operator==(const TcpCounters&) const = default;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_TCP_COUNTERS_H_
