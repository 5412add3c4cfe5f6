// Nagle's rule, replayed over what a program wrote and what was acknowledged:
// which rule a sender followed shows in its own packets.
#ifndef WIRETOLL_HARNESS_THEORY_NAGLE_REPLAY_H_
#define WIRETOLL_HARNESS_THEORY_NAGLE_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/units.h"

namespace wiretoll {

enum class SendRule {
  kAtOnce,    // TCP_NODELAY: what is written leaves.
  kClassic,   // RFC 9293 3.7.4: a partial segment waits while anything is
              // unacknowledged.
  kMinshall,  // As Linux has it: it waits only for an earlier partial segment.
};
std::string SendRuleName(SendRule rule);

// In one clock. A write hands over bytes when it begins; an ACK says how many
// bytes of the stream from its start are acknowledged.
struct ReplayWrite {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
};
struct ReplayAck {
  std::int64_t time_ns = 0;
  std::int64_t acknowledged = 0;
  std::int64_t window_bytes = 0;  // From `acknowledged` on.
};
struct ReplaySegment {
  std::int64_t time_ns = 0;  // When the rule lets it go.
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool operator==(const ReplaySegment&) const = default;
};

// Bytes of the stream that had left the sender's device by then.
struct ReplayDeparture {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
};

struct ReplayInput {
  std::vector<ReplayWrite> writes;  // By rising time.
  std::vector<ReplayAck> acks;      // By rising time.
  std::int64_t mss_bytes = 0;
  // The FIN's: Nagle lets the tail go with it. 0: it was not seen.
  std::int64_t closed_ns = 0;
  // Segments that may be in flight at first, and by as many more as were
  // acknowledged since: slow start (RFC 5681 3.1; 10 by RFC 6928). 0: no
  // congestion window.
  std::int64_t initial_window = 0;
  // By rising time and bytes. Where they are given no more than two segments
  // wait at the device at a time (Linux's small queues), and what is written
  // meanwhile joins what did not leave TCP. Empty: no queue.
  std::vector<ReplayDeparture> departures;
  // How far the times of ACKs and segments may be beside those of the sender's
  // TCP, either way; for FollowedRule only.
  std::int64_t slack_ns = 50'000;
};

// What leaves by `rule`, ideal otherwise: no queue, no pacing, no loss. A
// segment that does not fit into the advertised window waits, and from the
// largest window seen it takes at most half (RFC 9293 3.8.6.2.1; Linux takes
// all of one up to 536). What the peer acknowledges beyond that, or beyond the
// congestion window, leaves when that ACK comes: it went by the override timer
// of that section, or the window was larger. Before the first ACK there is no
// advertised window. Requires mss_bytes >= 1.
std::vector<ReplaySegment> Replay(const ReplayInput& input, SendRule rule);

// The same where each segment's ACK comes `rtt_ns` after it, with a window that
// never stands in the way: no ACK is delayed, none covers two segments. The
// input's own ACKs and departures are not used. Requires mss_bytes >= 1, rtt_ns
// >= 0.
std::vector<ReplaySegment> SimulateRoundTrips(const ReplayInput& input,
                                              std::int64_t rtt_ns,
                                              SendRule rule);

struct RuleFit {
  SendRule rule = SendRule::kAtOnce;
  std::int64_t segments = 0;   // By the rule.
  std::int64_t same_cuts = 0;  // Of its segments' ends, those also seen.
  double agreement = 0;        // same_cuts over the larger number of both.
  // Partial segments, of those seen, that left although the rule holds them,
  // or were held although it does not: each judged by what had been sent and
  // acknowledged when it left, so that one does not put the next in the wrong.
  std::int64_t contradicted = 0;
  std::int64_t left_early = 0;  // The first kind, of these.
};

struct RuleVerdict {
  std::vector<RuleFit> fits;  // Best first.
  std::int64_t seen = 0;      // Segments that were seen.
  // The rule the sender followed; empty where two explain it equally well, or
  // none does. `why` says which and why, in words.
  std::string followed;
  std::string why;
};

// Holds each rule against what was seen: `seen` by rising offset, without
// retransmissions. A rule is out with more than a tenth of the segments
// against it, then those are whose number of segments is off by more than a
// tenth, unless all are. Of what is left the followed one has less than half as
// many segments against it as the next, and that is a difference of 3 and 2 %
// of what was seen in segments that left although the rule holds them, or of 20
// and a tenth in segments that were held: other things hold those too. Nothing
// is held against a rule while the advertised window, ten segments in flight
// (RFC 6928's initial window) or the FIN may have decided.
RuleVerdict FollowedRule(const ReplayInput& input,
                         const std::vector<ReplaySegment>& seen);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_NAGLE_REPLAY_H_
