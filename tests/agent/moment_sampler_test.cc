#include "harness/agent/moment_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "platform/clock.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(MomentSamplerTest, SwitchedOffLooksAtNothing) {
  const SocketPair pair = ConnectedPair();
  MomentSampler sampler(std::nullopt, 1min);
  sampler.Begin(pair.near);
  sampler.End();
  EXPECT_FALSE(sampler.on());
  EXPECT_TRUE(sampler.Moments(0ns).empty());
  EXPECT_FALSE(sampler.Summary());
}

// However short the trial: as it began, and as it ended.
TEST(MomentSamplerTest, LooksAtBothEndsOfATrial) {
  const SocketPair pair = ConnectedPair();
  MomentSampler sampler(1min, 1min);
  const SteadyTime before = MonotonicNow();
  { const Sampling sampling(sampler, pair.near); }
  sampler.End();  // Once more is once.
  const auto moments = sampler.Moments(7ns);
  ASSERT_EQ(moments.size(), 2);
  EXPECT_GE(moments.front().at_ns,
            Nanoseconds{before.time_since_epoch()}.count() + 7);
  EXPECT_LE(moments.front().at_ns, moments.back().at_ns);
  EXPECT_EQ(sampler.Summary()->moments, 2);
  EXPECT_EQ(sampler.Summary()->period_median_ns,
            moments.back().at_ns - moments.front().at_ns);
}

// Room for a trial of no time is that for its two ends.
TEST(MomentSamplerTest, SaysWhatThereWasNoRoomFor) {
  const SocketPair pair = ConnectedPair();
  MomentSampler sampler(1min, 0ns);
  for (int i = 0; i < 2; ++i) {
    const Sampling sampling(sampler, pair.near);
  }
  const auto summary = sampler.Summary();
  EXPECT_EQ(summary->moments, 2);
  EXPECT_EQ(summary->left_out, 2);
  EXPECT_THAT(summary->reason, HasSubstr("room for 2 moments only"));
}

// A day of a look each 100 us would be 864 million moments: no host has the
// memory.
TEST(MomentSamplerTest, IsBoundedHoweverLongATrialMayBe) {
  EXPECT_NO_THROW(MomentSampler(100us, 24h));
}

// Nothing is in flight, so that a round trip is none under load.
TEST(MomentSamplerTest, RoundTripsAreThoseUnderLoad) {
  SocketPair pair = ConnectedPair();
  const std::array<std::byte, 100> data{};
  ASSERT_TRUE(pair.near.Send(data).has_value());
  if (!AllAcknowledged(pair.near)) {
    GTEST_SKIP() << "this system does not tell what is unacknowledged; run it "
                    "on Linux";
  }
  MomentSampler sampler(1min, 1min);
  { const Sampling sampling(sampler, pair.near); }
  EXPECT_TRUE(sampler.RoundTrips(0ns).empty());
  ASSERT_TRUE(sampler.PeakWindow());
  EXPECT_GT(*sampler.PeakWindow(), 0);
}

}  // namespace
}  // namespace wiretoll
