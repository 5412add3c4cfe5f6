#include "harness/lab/delay_line.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace wiretoll {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr int kFrames = 20'000;

LinkSpec Line(Nanoseconds delay) {
  LinkSpec link;
  link.delay = delay;
  return link;
}

std::vector<FrameFate> FatesOf(const LinkSpec& link, std::uint64_t seed,
                               std::uint64_t stream = 0) {
  FrameFates fates(link, seed, stream);
  std::vector<FrameFate> drawn;
  drawn.reserve(kFrames);
  for (int frame = 0; frame < kFrames; ++frame) drawn.push_back(fates.Next());
  return drawn;
}

template <class Is>
int CountOf(const std::vector<FrameFate>& fates, Is is) {
  return static_cast<int>(std::count_if(fates.begin(), fates.end(), is));
}

bool IsLost(const FrameFate& fate) { return fate.lost; }
bool IsDuplicated(const FrameFate& fate) { return fate.duplicated; }
bool IsAhead(const FrameFate& fate) { return fate.ahead; }

// n p frames of n, with a standard deviation of sqrt(n p (1 - p)); 99 % of a
// normal distribution lie within 2.576 of them, which for n p = 200 and more
// is the binomial's interval to a frame.
void ExpectShare(int count, double share) {
  const double mean = kFrames * share;
  const double reach = 2.576 * std::sqrt(mean * (1 - share)) + 1;
  EXPECT_GE(count, mean - reach);
  EXPECT_LE(count, mean + reach);
}

// The seeds are fixed, so that this is the same each time.
TEST(FrameFatesTest, SharesAreWithinTheBinomial99PercentInterval) {
  LinkSpec link = Line(milliseconds(5));
  link.loss = 0.05;
  link.duplicate = 0.01;
  link.reorder = 0.02;
  for (const std::uint64_t stream : {0u, 1u}) {
    const auto fates = FatesOf(link, 1, stream);
    ExpectShare(CountOf(fates, IsLost), 0.05);
    ExpectShare(CountOf(fates, IsDuplicated), 0.01);
    ExpectShare(CountOf(fates, IsAhead), 0.02);
  }
}

TEST(FrameFatesTest, TheSameSeedDoesTheSameToTheSameFrames) {
  LinkSpec link = Line(milliseconds(5));
  link.loss = 0.05;
  link.jitter = milliseconds(2);
  const auto first = FatesOf(link, 7);
  const auto again = FatesOf(link, 7);
  for (int frame = 0; frame < kFrames; ++frame) {
    const auto at = static_cast<std::size_t>(frame);
    ASSERT_EQ(first[at].lost, again[at].lost) << frame;
    ASSERT_EQ(first[at].delay, again[at].delay) << frame;
  }
}

// Two independent draws with p = 0.5 agree in half of 20,000 frames; all of
// them agree once in 2^20000 runs.
TEST(FrameFatesTest, OtherSeedsAndDirectionsDoOtherThings) {
  LinkSpec link;
  link.loss = 0.5;
  const auto differ = [](const std::vector<FrameFate>& a,
                         const std::vector<FrameFate>& b) {
    int count = 0;
    for (std::size_t frame = 0; frame < a.size(); ++frame)
      count += a[frame].lost != b[frame].lost ? 1 : 0;
    return count;
  };
  ExpectShare(differ(FatesOf(link, 1, 0), FatesOf(link, 1, 1)), 0.5);
  ExpectShare(differ(FatesOf(link, 1, 0), FatesOf(link, 2, 0)), 0.5);
}

TEST(FrameFatesTest, ALineThatAlsoDuplicatesLosesTheSameFrames) {
  LinkSpec plain = Line(milliseconds(1));
  plain.loss = 0.1;
  LinkSpec more = plain;
  more.duplicate = 0.3;
  more.reorder = 0.3;
  more.jitter = milliseconds(1);
  const auto a = FatesOf(plain, 3);
  const auto b = FatesOf(more, 3);
  for (std::size_t frame = 0; frame < a.size(); ++frame)
    ASSERT_EQ(a[frame].lost, b[frame].lost) << frame;
}

// Uniform on 5 ms +- 2 ms: mean 5 ms with a standard error of 4 ms / sqrt(12)
// / sqrt(20000) = 8.2 us, of which 2.576 are 21 us; 20,000 draws come within
// 1 % of each end, since 0.99^20000 is nothing.
TEST(FrameFatesTest, JitterIsUniformEitherWayAboutTheDelay) {
  LinkSpec link = Line(milliseconds(5));
  link.jitter = milliseconds(2);
  Nanoseconds sum{0};
  Nanoseconds least = std::chrono::seconds(1);
  Nanoseconds most{0};
  for (const FrameFate& fate : FatesOf(link, 1)) {
    sum += fate.delay;
    least = std::min(least, fate.delay);
    most = std::max(most, fate.delay);
  }
  EXPECT_THAT(sum / kFrames,
              AllOf(Ge(microseconds(4979)), Le(microseconds(5021))));
  EXPECT_THAT(least, AllOf(Ge(milliseconds(3)), Le(microseconds(3040))));
  EXPECT_THAT(most, AllOf(Ge(microseconds(6960)), Le(milliseconds(7))));
}

TEST(FrameFatesTest, AFrameSentAheadDoesNotWait) {
  LinkSpec link = Line(milliseconds(5));
  link.jitter = milliseconds(2);
  link.reorder = 0.5;
  for (const FrameFate& fate : FatesOf(link, 1)) {
    if (fate.ahead) {
      ASSERT_EQ(fate.delay, Nanoseconds{0});
    } else {
      ASSERT_GE(fate.delay, milliseconds(3));
    }
  }
}

TEST(FrameFatesTest, APlainDelayDoesNothingElse) {
  for (const FrameFate& fate : FatesOf(Line(milliseconds(5)), 1)) {
    ASSERT_FALSE(fate.lost || fate.duplicated || fate.ahead);
    ASSERT_EQ(fate.delay, milliseconds(5));
  }
}

TEST(NetemTest, IsAskedForWhatTheLineShouldDoAndNoMore) {
  EXPECT_THAT(NetemWords(Line(milliseconds(5))),
              ElementsAre("netem", "limit", "1000000", "delay", "5000.000us"));
  LinkSpec link = Line(milliseconds(2));
  link.jitter = microseconds(500);
  link.loss = 0.05;
  link.duplicate = 0.01;
  link.reorder = 0.25;
  EXPECT_THAT(NetemWords(link),
              ElementsAre("netem", "limit", "1000000", "delay", "2000.000us",
                          "500.000us", "loss", "5.000000%", "duplicate",
                          "1.000000%", "reorder", "25.000000%"));
}

// Nothing comes of a frame that was not duplicated (0.5) and is lost (0.4):
// 0.2. Twice comes one that was (0.5) and neither copy of which is lost
// (0.6 * 0.6): 0.18, of the 0.8 that come.
TEST(SharesTest, NetemDecidesOverEachCopyAndOursOverTheFrame) {
  LinkSpec link;
  link.loss = 0.4;
  link.duplicate = 0.5;
  EXPECT_DOUBLE_EQ(SharesOf(link, true).lost, 0.2);
  EXPECT_DOUBLE_EQ(SharesOf(link, true).duplicated, 0.18 / 0.8);
  EXPECT_DOUBLE_EQ(SharesOf(link, false).lost, 0.4);
  EXPECT_DOUBLE_EQ(SharesOf(link, false).duplicated, 0.5);
  link = {};
  link.loss = 1;
  EXPECT_DOUBLE_EQ(SharesOf(link, true).duplicated, 0);
}

void ExpectRefused(const LinkSpec& link, const char* option,
                   const char* remedy) {
  const auto checked = CheckDelayLine(link, 2);
  ASSERT_FALSE(checked.has_value()) << option;
  EXPECT_EQ(checked.error().code, ExitCode::kUsage);
  EXPECT_THAT(checked.error().message,
              AllOf(HasSubstr(option), HasSubstr(remedy)));
}

TEST(CheckDelayLineTest, WhatCannotBeNamesTheOptionAndTheRemedy) {
  LinkSpec link = Line(milliseconds(5));
  link.jitter = milliseconds(6);
  ExpectRefused(link, "--jitter 6ms", "say --delay 6ms");
  link = {};
  link.jitter = milliseconds(1);
  ExpectRefused(link, "--jitter 1ms", "say --delay 1ms");
  link = {};
  link.reorder = 0.1;
  ExpectRefused(link, "--reorder 10%", "say --delay");
  link = {};
  link.duplicate = 1.5;
  ExpectRefused(link, "--duplicate 150%", "0 to 100 %");
  link = {};
  link.loss = -0.1;
  ExpectRefused(link, "--loss -10%", "0 to 100 %");
  ExpectRefused(Line(std::chrono::seconds(11)), "--delay 11s", "0 to 10 s");
}

TEST(CheckDelayLineTest, TheBoundsThemselvesAreAllowed) {
  LinkSpec link = Line(std::chrono::seconds(10));
  link.jitter = link.delay;
  link.loss = link.duplicate = link.reorder = 1;
  EXPECT_TRUE(CheckDelayLine(link, 2).has_value());
  const auto three = CheckDelayLine(link, 3);
  ASSERT_FALSE(three.has_value());
  EXPECT_THAT(three.error().message, HasSubstr("--lab linux,linux"));
}

TEST(SpellDelayLineTest, CaptionsNameEveryMishap) {
  LinkSpec link = Line(milliseconds(2));
  link.jitter = microseconds(500);
  link.loss = 0.05;
  link.duplicate = 0.01;
  link.reorder = 0.02;
  EXPECT_EQ(SpellDelayLine(link),
            ", 2ms +-500us each way, 5 % loss, 1 % duplicated, 2 % sent "
            "ahead");
  EXPECT_EQ(SpellDelayLine({}), "");
}

}  // namespace
}  // namespace wiretoll
