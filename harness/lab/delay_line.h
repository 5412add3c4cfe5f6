// What stands between two hosts and delays, loses, duplicates and reorders
// their frames: what it is to do, frame by frame, and the words that have the
// kernel do it. Arithmetic and strings; nothing here touches the system.
#ifndef WIRETOLL_HARNESS_LAB_DELAY_LINE_H_
#define WIRETOLL_HARNESS_LAB_DELAY_LINE_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// kUsage: a delay, jitter or share that cannot be had, or hosts between which
// there is no one line; names option and remedy.
Outcome<Done> CheckDelayLine(const LinkSpec& link, std::size_t hosts);

// False for a link that is veth and shaper alone.
bool NeedsDelayLine(const LinkSpec& link);

// What is asked of a delay line, for captions: ", 5ms each way, 1 % loss".
std::string SpellDelayLine(const LinkSpec& link);

// What stands after `tc qdisc replace dev IF root`. Only what was asked for:
// an old tc need not know the rest.
std::vector<std::string> NetemWords(const LinkSpec& link);

struct FrameFate {
  bool lost = false;        // Then nothing else matters.
  bool duplicated = false;  // Passes twice, both after `delay`.
  bool ahead = false;       // Sent at once, past those that wait.
  Nanoseconds delay{0};     // 0 if `ahead`.
};

// Decides over the frames of one direction, one after another. The same seed
// and link decide the same everywhere, and each kind of mishap has a sequence
// of its own: a link that also duplicates loses the same frames.
class FrameFates {
 public:
  // `stream` tells the directions of a line apart: 0 or 1.
  FrameFates(const LinkSpec& link, std::uint64_t seed, std::uint64_t stream);
  FrameFate Next();

 private:
  LinkSpec link_;
  std::mt19937_64 loss_, duplicate_, reorder_, jitter_;
};

// What a delay line should be seen to do.
struct ExpectedShares {
  double lost = 0;        // Of the frames sent: that none came of.
  double duplicated = 0;  // Of the frames that came: that came twice.
};
// netem duplicates first and then decides over each copy, the first of which
// takes the second's place where it is lost (sch_netem.c, netem_enqueue());
// our relay duplicates what it has not lost.
ExpectedShares SharesOf(const LinkSpec& link, bool netem);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_DELAY_LINE_H_
