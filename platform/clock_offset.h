// A clock against the monotonic one.
#ifndef WIRETOLL_PLATFORM_CLOCK_OFFSET_H_
#define WIRETOLL_PLATFORM_CLOCK_OFFSET_H_

#include <chrono>

#include "platform/clock.h"

namespace wiretoll {

// What `wall` gives (nanoseconds since any moment) minus the monotonic clock.
// The two cannot be read at one instant: the tightest of a few brackets is off
// by far less than a step that would matter.
template <typename Wall>
Nanoseconds TightestOffset(Wall wall) {
  constexpr int kLooks = 5;
  Nanoseconds tightest = Nanoseconds::max();
  Nanoseconds offset{0};
  for (int look = 0; look < kLooks; ++look) {
    const SteadyTime before = MonotonicNow();
    const Nanoseconds seen = wall();
    const Nanoseconds bracket = MonotonicNow() - before;
    if (bracket >= tightest) continue;
    tightest = bracket;
    offset = seen - (before.time_since_epoch() + bracket / 2);
  }
  return offset;
}

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_CLOCK_OFFSET_H_
