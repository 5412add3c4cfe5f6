// What a kernel says of one TCP connection at one moment, as plain values.
#ifndef WIRETOLL_HARNESS_BASE_TCP_MOMENT_H_
#define WIRETOLL_HARNESS_BASE_TCP_MOMENT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wiretoll {

// RFC 9293 3.3.2.
enum class TcpState : std::uint8_t {
  kUnknown,
  kClosed,
  kListen,
  kSynSent,
  kSynReceived,
  kEstablished,
  kFinWait1,
  kFinWait2,
  kCloseWait,
  kClosing,
  kLastAck,
  kTimeWait,
};
// In the order of TcpState; unknown is no text.
inline constexpr std::array<std::string_view, 12> kTcpStateNames{
    "",           "closed",      "listen",     "syn-sent",
    "syn-rcvd",   "established", "fin-wait-1", "fin-wait-2",
    "close-wait", "closing",     "last-ack",   "time-wait"};

// What the sender does about loss (Linux: tcpi_ca_state).
enum class LossState : std::uint8_t {
  kUnknown,
  kOpen,      // Nothing is amiss.
  kDisorder,  // Duplicate ACKs or SACKs came; the window stays.
  kReduced,   // Told of congestion by ECN or its own queue.
  kRecovery,  // Repeats what was lost (RFC 6675).
  kLoss,      // The retransmission timer ran out (RFC 6298 5.4).
};
// In the order of LossState; unknown is no text.
inline constexpr std::array<std::string_view, 6> kLossStateNames{
    "", "open", "disorder", "reduced", "recovery", "loss"};

// Of the end that was asked. What its system does not tell is empty. Payload
// counts leave SYN and FIN out.
struct TcpMoment {
  using Figure = std::optional<std::int64_t>;

  TcpState state = TcpState::kUnknown;
  LossState loss_state = LossState::kUnknown;

  // --- What may be under way.
  Figure cwnd_segments;   // Congestion window.
  Figure cwnd_bytes;      // Linux: segments x MSS.
  Figure ssthresh_bytes;  // Empty as long as none was set (slow start has not
                          // ended yet).
  Figure peer_window_bytes;  // Advertised by the peer, scaled.
  Figure own_window_bytes;   // Advertised to the peer, scaled.
  // --- What is.
  Figure in_flight_bytes;  // Sent and not acknowledged, each byte once. Linux:
                           // sent - repeated - acknowledged, from one look.
  Figure not_sent_bytes;   // In the send buffer behind those.

  Figure rtt_ns;  // Smoothed (RFC 6298). An end that only receives has the
                  // handshake's.
  Figure rtt_variation_ns;
  Figure min_rtt_ns;
  Figure receiver_rtt_ns;  // As a receiver guesses it from what comes.

  // --- Since the handshake.
  Figure sent_bytes;   // Repeated ones included.
  Figure acked_bytes;  // Of ours, by the peer.
  Figure received_bytes;
  Figure retransmitted_bytes;
  Figure retransmitted_segments;
  Figure busy_ns;            // With data unacknowledged or to send.
  Figure window_limited_ns;  // Of busy: the peer's window stood in the way.
  Figure sndbuf_limited_ns;  // Of busy: the send buffer did.

  Figure pacing_bytes_per_s;    // Empty where nothing paces.
  Figure delivery_bytes_per_s;  // The kernel's latest estimate.
  Figure mss_bytes;
  Figure path_mtu_bytes;

  bool operator==(const TcpMoment&) const = default;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_TCP_MOMENT_H_
