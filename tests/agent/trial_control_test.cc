// Who looks at the peer's window, and what ends a loop.
#include "harness/agent/trial_control.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "platform/clock.h"
#include "platform/tcp_counters.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr const char* kNoWindow =
    "this system does not tell the peer's window: Linux does, and Windows to "
    "an "
    "administrator; run it there";

class TrialControlOfSocketTest : public testing::Test {
 protected:
  TrialControlOfSocketTest() : window_(WindowNow()) {}

  std::optional<std::int64_t> WindowNow() {
    return ReadTcpCounters(pair_.near).peer_window_bytes;
  }

  // Samples while `spend` spends some looks' time, until something was seen.
  std::optional<std::int64_t> SeenWhile(
      const std::function<void(SteadyTime until)>& spend) {
    const SocketGuard guard(control_, pair_.near);
    const SteadyTime patience = MonotonicNow() + kPatience;
    std::optional<std::int64_t> seen;
    while (!seen && MonotonicNow() < patience) {
      control_.BeginSampling();
      spend(MonotonicNow() + milliseconds(30));
      seen = control_.EndSampling();
    }
    return seen;
  }

  SocketPair pair_ = ConnectedPair();
  TrialControl control_{hours{1}};
  const std::optional<std::int64_t> window_;
};

TEST_F(TrialControlOfSocketTest, TimeToStopEndsWhatGoesOn) {
  const SteadyTime due = MonotonicNow() + milliseconds(1);
  control_.StopAt(due);
  while (control_.GoesOn(pair_.near)) std::this_thread::yield();
  EXPECT_TRUE(control_.stop());
  EXPECT_GE(MonotonicNow(), due);
  EXPECT_FALSE(control_.GoesOn(pair_.near));
}

TEST_F(TrialControlOfSocketTest, AnAbortEndsWhatGoesOn) {
  control_.Abort();
  EXPECT_FALSE(control_.GoesOn(pair_.near));
  EXPECT_EQ(control_.cut(), Cut::kAborted);
}

// No socket is guarded, so that nobody else can.
TEST_F(TrialControlOfSocketTest, NobodyLooksWithoutASocketThatIsGuarded) {
  control_.BeginSampling();
  const SteadyTime until = MonotonicNow() + milliseconds(30);
  while (MonotonicNow() < until) EXPECT_TRUE(control_.GoesOn(pair_.near));
  EXPECT_EQ(control_.EndSampling(), std::nullopt);
}

TEST_F(TrialControlOfSocketTest, ALoopThatAsksTakesTheLook) {
  if (!window_) GTEST_SKIP() << kNoWindow;
  EXPECT_EQ(SeenWhile([&](SteadyTime until) {
              while (MonotonicNow() < until)
                EXPECT_TRUE(control_.GoesOn(pair_.near));
            }),
            window_);
}

// A loop that is held up in a call asks nothing.
TEST_F(TrialControlOfSocketTest, TheWatchdogLooksWhereNobodyAsks) {
  if (!window_) GTEST_SKIP() << kNoWindow;
  EXPECT_EQ(
      SeenWhile([](SteadyTime until) { std::this_thread::sleep_until(until); }),
      window_);
}

}  // namespace
}  // namespace wiretoll
