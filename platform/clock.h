// Clocks, and waiting for a moment as exactly as this system can.
#ifndef WIRETOLL_PLATFORM_CLOCK_H_
#define WIRETOLL_PLATFORM_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "harness/base/units.h"

namespace wiretoll {

// Monotonic; steps of the wall clock do not touch it.
inline SteadyTime MonotonicNow() { return std::chrono::steady_clock::now(); }

// Wall clock minus monotonic clock: constant as long as nobody steps or slews
// the wall clock, so a change over a trial is a clock step.
Nanoseconds WallMinusMonotonic();

// Names the monotonic clock that this process reads: two processes with the
// same name read the same clock, on whatever hosts they believe to be (Linux:
// the boot's id and the time namespace, time_namespaces(7)). Empty where the
// system does not tell.
std::string ClockIdentity();

// Returns at `due` or as soon after as the system allows: sleeps while it is
// far away, spins through the last stretch. Returns at once if `due` is past.
void WaitUntil(SteadyTime due);

// While it lives, timers of this process (Windows) or thread (Linux timer
// slack) are as fine as the system can make them. Destroy it on the thread
// that made it.
class FineTimers {
 public:
  FineTimers();
  ~FineTimers();
  FineTimers(const FineTimers&) = delete;
  FineTimers& operator=(const FineTimers&) = delete;

 private:
  std::int64_t previous_ns_;  // To be restored; not above 0: nothing to do.
};

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_CLOCK_H_
