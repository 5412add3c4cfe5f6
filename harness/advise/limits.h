// Which limit holds: a pure function of the evidence.
#ifndef WIRETOLL_HARNESS_ADVISE_LIMITS_H_
#define WIRETOLL_HARNESS_ADVISE_LIMITS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/advise/evidence.h"

namespace wiretoll {

// In the order in which they are asked for: what an earlier one explains, a
// later one does not get to.
enum class Limit {
  kPathMtu,          // Full segments vanish: a black hole (RFC 2923).
  kNagleDelayedAck,  // RFC 1122 4.2.3.4 against 4.2.3.2.
  kRoundTrip,        // A request waits for its answer, and for nothing else.
  kSlowWriter,       // The program has nothing to send.
  kQueue,            // The line is full, and so is the queue before it.
  kLine,
  kSlowReader,     // The program does not read what is there.
  kWindowScaling,  // RFC 7323 2 is not in use: 65,535 bytes.
  kReceiveWindow,
  kSendBuffer,
  kCpu,
  kLoss,
  kSlowStart,  // Over before the congestion window has opened.
  kUnknown,
};
inline constexpr std::array<std::string_view, 14> kLimitNames = {
    "path-mtu",
    "nagle-delayed-ack",
    "round-trip",
    "slow-writer",
    "queue",
    "line",
    "slow-reader",
    "window-scaling",
    "receive-window",
    "send-buffer",
    "cpu",
    "loss",
    "slow-start",
    "unknown"};

// How much speaks for a finding: figures that agree with its theory; some of
// them; or no more than that nothing else was found.
enum class Confidence { kCertain, kLikely, kPossible };
inline constexpr std::array<std::string_view, 3> kConfidenceNames = {
    "certain", "likely", "possible"};

struct Finding {
  Limit limit = Limit::kUnknown;
  Confidence confidence = Confidence::kPossible;
  std::string headline;               // "the receive window of b".
  std::vector<std::string> evidence;  // Sentences, figures in them.
  // Payload bytes/s that theory gives for the limit; where it is a rate.
  std::optional<double> theory_bytes_per_second;
};

// At least one, the limit that holds first; kUnknown alone, with what was
// looked at. More than one where they hold together or cannot be told apart.
//
// The rules, of a stream that moves g bytes/s, with base round trip R, peak
// window W, and the line's payload capacity C where it is known and no mere
// lower bound:
//   path-mtu           of the packets tried, larger ones did not arrive
//   slow-writer        pauses asked for, or nothing to send, half of the time;
//                      g < 0.9 C
//   line, queue        g >= 0.9 C; queue if the round trip beside a stream is
//                      3 R and 20 ms longer, or more
//   slow-reader        half of busy time the window was in the way, though
//                      W / R >= 2 g; reads under a segment's size
//   receive-window     half of busy time the window was in the way,
//   window-scaling     with no scaling agreed and a host that has it off
//   send-buffer        half of busy time the send buffer was; or a quarter,
//   with
//                      W / R and the congestion window / R >= 1.5 g
//   cpu                a loop used 80 % of a CPU and W / R >= 1.5 g; or none of
//                      the others, no line known, and room in both windows
//   loss               2 in 1000 segments were sent again
//   slow-start         g bytes took no more round trips than opening the
//                      congestion window does (RFC 6928, RFC 9406)
// And of a request-response with median m: nagle-delayed-ack where one round
// in ten took 30 ms longer than R though a message is several writes with Nagle
// on; else round-trip.
std::vector<Finding> FindLimits(const Evidence& evidence);

// Round trips in which slow start sends `bytes` (RFC 5681 3.1 from RFC 6928's
// ten segments, twice as many each time). At least 1. Requires mss >= 1.
int SlowStartRounds(std::int64_t bytes, Bytes mss);

// M. Mathis and others, 1997: payload bytes/s of a connection that loses the
// share `p` of its segments: MSS / R x sqrt(3/2) / sqrt(p). Requires rtt > 0,
// p > 0.
double MathisLimit(Bytes mss, Nanoseconds rtt, double p);

std::string_view NameOf(Limit limit);
std::string_view NameOf(Confidence confidence);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ADVISE_LIMITS_H_
