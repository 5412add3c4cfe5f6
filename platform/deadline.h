// Timeouts as moments.
#ifndef WIRETOLL_PLATFORM_DEADLINE_H_
#define WIRETOLL_PLATFORM_DEADLINE_H_

#include <algorithm>
#include <chrono>

#include "harness/base/units.h"
#include "platform/clock.h"

namespace wiretoll {

// A caller's "forever" must not overflow the clock: a year at most.
inline SteadyTime DeadlineAfter(std::chrono::milliseconds timeout) {
  return MonotonicNow() + std::clamp<std::chrono::milliseconds>(
                              timeout, std::chrono::milliseconds{0},
                              std::chrono::hours{24 * 365});
}

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_DEADLINE_H_
