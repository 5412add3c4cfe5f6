#include <gtest/gtest.h>

#include "platform/clock.h"

namespace wiretoll {
namespace {

using std::chrono::microseconds;

TEST(ClockContractTest, TimeNeverGoesBack) {
  SteadyTime before = MonotonicNow();
  for (int i = 0; i < 100'000; ++i) {
    const SteadyTime now = MonotonicNow();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(ClockContractTest, WaitUntilNeverReturnsEarly) {
  for (const int wait_us : {0, 1, 20, 149, 151, 200, 1'000, 5'000}) {
    for (int i = 0; i < 10; ++i) {
      const SteadyTime due = MonotonicNow() + microseconds{wait_us};
      WaitUntil(due);
      ASSERT_GE(MonotonicNow(), due) << wait_us << " us";
    }
  }
}

TEST(ClockContractTest, WaitUntilThePastReturns) {
  WaitUntil(MonotonicNow() - std::chrono::hours{1});
  WaitUntil(SteadyTime::min());
}

TEST(ClockContractTest, WaitUntilKeepsItsWordWithFineTimersToo) {
  const FineTimers fine;
  for (int i = 0; i < 50; ++i) {
    const SteadyTime due = MonotonicNow() + microseconds{300};
    WaitUntil(due);
    ASSERT_GE(MonotonicNow(), due);
  }
}

// A second is far more than any slewing, and less than a step worth a name.
TEST(ClockContractTest, WallAndMonotonicClockKeepTheirDistance) {
  const Nanoseconds before = WallMinusMonotonic();
  WaitUntil(MonotonicNow() + std::chrono::milliseconds{20});
  const Nanoseconds drift = WallMinusMonotonic() - before;
  EXPECT_LT(std::chrono::abs(drift), std::chrono::seconds{1});
}

}  // namespace
}  // namespace wiretoll
