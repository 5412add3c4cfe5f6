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

struct ReplayInput {
  std::vector<ReplayWrite> writes;  // By rising time.
  std::vector<ReplayAck> acks;      // By rising time.
  std::int64_t mss_bytes = 0;
  // The FIN's: Nagle lets the tail go then (RFC 9293 3.7.4).
  std::int64_t closed_ns = 0;
};

// What leaves by `rule`, ideal otherwise: no congestion window, no queue, no
// loss. Requires mss_bytes >= 1.
std::vector<ReplaySegment> Replay(const ReplayInput& input, SendRule rule);

struct RuleFit {
  SendRule rule = SendRule::kAtOnce;
  std::int64_t segments = 0;   // By the rule.
  std::int64_t same_cuts = 0;  // Of its segments' ends, those also seen.
  double agreement = 0;        // same_cuts over the larger number of both.
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
// retransmissions.
RuleVerdict FollowedRule(const ReplayInput& input,
                         const std::vector<ReplaySegment>& seen);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_NAGLE_REPLAY_H_
