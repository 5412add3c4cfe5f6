#include "harness/theory/nagle_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kMs = 1000 * kUs;
constexpr std::int64_t kMss = 1448;
constexpr std::int64_t kWide = 1'000'000;  // A window that is never in the way.

// Closed right after its last write, as wiretoll's sender does.
ReplayInput Writes(std::int64_t count, std::int64_t bytes, std::int64_t gap) {
  ReplayInput input;
  input.mss_bytes = kMss;
  for (std::int64_t i = 0; i < count; ++i) {
    input.writes.push_back({kMs + i * gap, bytes});
  }
  input.closed_ns = input.writes.back().time_ns + kUs;
  return input;
}

std::size_t Simulated(std::int64_t bytes, std::int64_t gap, std::int64_t rtt,
                      SendRule rule) {
  return SimulateRoundTrips(Writes(2000, bytes, gap), rtt, rule).size();
}

// The segments as a capture would see them, and the ACKs that made them so.
ReplayInput Captured(ReplayInput input, std::int64_t rtt, SendRule rule,
                     std::vector<ReplaySegment>& seen) {
  seen = SimulateRoundTrips(input, rtt, rule);
  for (const ReplaySegment& segment : seen) {
    input.acks.push_back(
        {segment.time_ns + rtt, segment.offset + segment.bytes, kWide});
  }
  return input;
}

// --- One write ---------------------------------------------------------------

// 1448 leave, 1 is left over. Nothing partial is unacknowledged, so Minshall
// lets it go at once; classic waits for the ACK, 40 ms later.
TEST(NagleReplayTest, TheTailOf1449BytesWaitsByTheClassicRuleOnly) {
  ReplayInput input = Writes(1, 1449, 0);
  input.closed_ns = 0;
  const ReplaySegment full{kMs, 0, 1448};
  EXPECT_THAT(SimulateRoundTrips(input, 40 * kMs, SendRule::kMinshall),
              ElementsAre(full, ReplaySegment{kMs, 1448, 1}));
  EXPECT_THAT(SimulateRoundTrips(input, 40 * kMs, SendRule::kAtOnce),
              ElementsAre(full, ReplaySegment{kMs, 1448, 1}));
  EXPECT_THAT(SimulateRoundTrips(input, 40 * kMs, SendRule::kClassic),
              ElementsAre(full, ReplaySegment{41 * kMs, 1448, 1}));
}

TEST(NagleReplayTest, TheTailGoesWithTheFin) {
  ReplayInput input = Writes(1, 1449, 0);
  input.closed_ns = 2 * kMs;
  EXPECT_EQ(SimulateRoundTrips(input, 40 * kMs, SendRule::kClassic).back(),
            (ReplaySegment{2 * kMs, 1448, 1}));
}

TEST(NagleReplayTest, WithoutAckOrFinAPartialSegmentWaitsForGood) {
  ReplayInput input = Writes(2, 10, kMs);
  input.closed_ns = 0;
  EXPECT_THAT(Replay(input, SendRule::kMinshall),
              ElementsAre(ReplaySegment{kMs, 0, 10}));
  EXPECT_THAT(
      Replay(input, SendRule::kAtOnce),
      ElementsAre(ReplaySegment{kMs, 0, 10}, ReplaySegment{2 * kMs, 10, 10}));
}

TEST(NagleReplayTest, NothingWrittenIsNothingSent) {
  ReplayInput input;
  input.mss_bytes = kMss;
  input.acks = {{kMs, 0, kWide}};
  EXPECT_THAT(Replay(input, SendRule::kClassic), IsEmpty());
  EXPECT_THAT(SimulateRoundTrips(input, kMs, SendRule::kClassic), IsEmpty());
}

// --- Streams, by closed form -------------------------------------------------

// Written within a round trip: one write leaves, then full segments as they
// fill, then the rest with the FIN: 1 + ceil((n - 1) x write / 1448).
TEST(NagleReplayTest, WithinARoundTripItIsOnePartialThenFullSegments) {
  for (const std::int64_t bytes : {1, 2, 7, 32, 100, 256, 1000, 1447}) {
    const std::int64_t expected = 1 + (1999 * bytes + kMss - 1) / kMss;
    EXPECT_EQ(Simulated(bytes, 0, 40 * kMs, SendRule::kMinshall), expected)
        << bytes;
    EXPECT_EQ(Simulated(bytes, 10 * kUs, 40 * kMs, SendRule::kClassic),
              expected)
        << bytes;
  }
}

// A write each ms, an ACK after 40: segments leave at 0, 40, ... 1960 ms with
// what was written since, 50 of them; the rest goes with the FIN.
TEST(NagleReplayTest, BeyondARoundTripItIsASegmentARoundTrip) {
  const auto segments =
      SimulateRoundTrips(Writes(2000, 1, kMs), 40 * kMs, SendRule::kMinshall);
  ASSERT_EQ(segments.size(), 51U);
  EXPECT_EQ(segments[0], (ReplaySegment{kMs, 0, 1}));
  // An ACK goes before the write of the same time: bytes 1 to 39.
  EXPECT_EQ(segments[1], (ReplaySegment{41 * kMs, 1, 39}));
  EXPECT_EQ(segments[2], (ReplaySegment{81 * kMs, 40, 40}));
  EXPECT_EQ(segments.back(), (ReplaySegment{2000 * kMs + kUs, 1960, 40}));
}

TEST(NagleReplayTest, AtOnceIsASegmentAWriteSplitAboveTheMss) {
  EXPECT_EQ(Simulated(1, 0, 40 * kMs, SendRule::kAtOnce), 2000U);
  EXPECT_EQ(Simulated(1448, 0, 40 * kMs, SendRule::kAtOnce), 2000U);
  EXPECT_EQ(Simulated(1449, 0, 40 * kMs, SendRule::kAtOnce), 4000U);
}

// --- The table of 2000 writes, Nagle on, measured on Linux 6.18 --------------
// Simulated by two rules with the round trip of each trial: the nominal one and
// 0.2 to 0.5 ms more, that of the relay. A value for the gaps of 0, 20, 50,
// 100, 200, 500, 1000 us.

std::vector<std::size_t> Row(std::int64_t bytes, std::int64_t rtt,
                             SendRule rule) {
  std::vector<std::size_t> row;
  for (const std::int64_t gap : {0, 20, 50, 100, 200, 500, 1000}) {
    row.push_back(Simulated(bytes, gap * kUs, rtt, rule));
  }
  return row;
}

TEST(NagleReplayTest, SingleBytesAt40MsComeOutAsTabled) {
  const std::int64_t rtt = 40'500 * kUs;
  EXPECT_THAT(Row(1, rtt, SendRule::kMinshall),
              ElementsAre(3, 3, 4, 6, 11, 26, 51));
  EXPECT_EQ(Simulated(1, 5 * kMs, rtt, SendRule::kMinshall), 248U);
}

// A gap of 5 ms took longest and had the slowest relay: 950 round trips of
// 10.52 ms in 9995 ms, a segment at each begin, and the tail.
TEST(NagleReplayTest, SingleBytesAt10MsComeOutAsTabled) {
  EXPECT_THAT(Row(1, 10'270 * kUs, SendRule::kMinshall),
              ElementsAre(3, 5, 11, 21, 40, 99, 196));
  EXPECT_EQ(Simulated(1, 5 * kMs, 10'520 * kUs, SendRule::kMinshall), 952U);
}

// Where a round trip fills a segment and more, Minshall lets the rest after
// the full segments go, and classic does not: 46 full ones are 64,000 bytes.
TEST(NagleReplayTest, WritesOf32At10MsComeOutAsTabledByBothRules) {
  const std::int64_t rtt = 10'450 * kUs;
  EXPECT_THAT(Row(32, rtt, SendRule::kMinshall),
              ElementsAre(46, 47, 49, 59, 78, 97, 193));
  EXPECT_THAT(Row(32, rtt, SendRule::kClassic),
              ElementsAre(46, 46, 46, 46, 46, 97, 193));
  EXPECT_EQ(Simulated(32, 5 * kMs, rtt, SendRule::kMinshall), 958U);
  EXPECT_EQ(Simulated(32, 5 * kMs, rtt, SendRule::kClassic), 958U);
}

// 9995 / 40.65 = 245.9: 246 segments at begins of round trips, and the tail.
TEST(NagleReplayTest, WritesOf32At40MsComeOutAsTabledByBothRules) {
  const std::int64_t rtt = 40'450 * kUs;
  EXPECT_THAT(Row(32, rtt, SendRule::kMinshall),
              ElementsAre(46, 46, 46, 46, 50, 51, 51));
  EXPECT_THAT(Row(32, rtt, SendRule::kClassic),
              ElementsAre(46, 46, 46, 46, 46, 46, 51));
  EXPECT_EQ(Simulated(32, 5 * kMs, 40'650 * kUs, SendRule::kMinshall), 247U);
}

// --- The window --------------------------------------------------------------

// A window of 1152 makes segments of 576 (RFC 9293 3.8.6.2.1), two of them
// fill it, and the third waits for room.
TEST(NagleReplayTest, ASegmentTakesHalfTheWindowAndWaitsWhereItDoesNotFit) {
  ReplayInput input = Writes(1, 2000, 0);
  input.acks = {{0, 0, 1152}, {5 * kMs, 576, 576}, {6 * kMs, 1152, 1152}};
  EXPECT_THAT(
      Replay(input, SendRule::kMinshall),
      ElementsAre(ReplaySegment{kMs, 0, 576}, ReplaySegment{kMs, 576, 576},
                  ReplaySegment{6 * kMs, 1152, 576},
                  ReplaySegment{6 * kMs, 1728, 272}));
}

// Up to 536 a segment takes the whole window: 1000 = 500 + 500.
TEST(NagleReplayTest, ASegmentTakesAllOfAVerySmallWindow) {
  ReplayInput input = Writes(1, 1000, 0);
  input.acks = {{0, 0, 500}, {2 * kMs, 500, 500}};
  EXPECT_THAT(Replay(input, SendRule::kAtOnce),
              ElementsAre(ReplaySegment{kMs, 0, 500},
                          ReplaySegment{2 * kMs, 500, 500}));
}

// 544 bytes of room are less than the next 576: the sender waits for its
// override timer, and the peer's ACK of just those 544 shows that it went off.
TEST(NagleReplayTest, WhatWasAcknowledgedBeyondTheWindowWentByTheTimer) {
  ReplayInput input = Writes(1, 2000, 0);
  input.acks = {{0, 0, 1152}, {5 * kMs, 1152, 544}, {210 * kMs, 1696, 1152}};
  EXPECT_THAT(
      Replay(input, SendRule::kMinshall),
      ElementsAre(ReplaySegment{kMs, 0, 576}, ReplaySegment{kMs, 576, 576},
                  ReplaySegment{210 * kMs, 1152, 544},
                  ReplaySegment{210 * kMs, 1696, 304}));
}

TEST(NagleReplayTest, AnOvertakenAckTakesNothingBack) {
  ReplayInput input = Writes(2, 100, 10 * kMs);
  input.acks = {{0, 0, kWide}, {2 * kMs, 100, kWide}, {3 * kMs, 0, 10}};
  EXPECT_THAT(Replay(input, SendRule::kClassic),
              ElementsAre(ReplaySegment{kMs, 0, 100},
                          ReplaySegment{11 * kMs, 100, 100}));
}

// --- The congestion window and the device's queue
// -----------------------------

// Nagle off, 2000 bytes in 2 ms, a round trip of 40: ten segments of a byte
// leave, and at the first ACK there is room for two more of all that waited:
// 1448 and 542. 12 were counted on Linux 6.18.
TEST(NagleReplayTest, AnInitialWindowLetsTenGoAndMergesTheRest) {
  ReplayInput input = Writes(2000, 1, kUs);
  input.initial_window = 10;
  const auto segments = SimulateRoundTrips(input, 40 * kMs, SendRule::kAtOnce);
  ASSERT_EQ(segments.size(), 12U);
  EXPECT_EQ(segments[10], (ReplaySegment{41 * kMs, 10, 1448}));
  EXPECT_EQ(segments[11], (ReplaySegment{41 * kMs, 1458, 542}));
}

// Slow start: each ACK of a segment makes room for two. A full segment a write:
// 10 at first, 20 in the next round trip.
TEST(NagleReplayTest, TheCongestionWindowGrowsByWhatIsAcknowledged) {
  ReplayInput input = Writes(60, 1448, 0);
  input.initial_window = 10;
  const auto segments =
      SimulateRoundTrips(input, 40 * kMs, SendRule::kMinshall);
  const auto in_round = [&](std::int64_t round) {
    return std::count_if(segments.begin(), segments.end(),
                         [&](const ReplaySegment& segment) {
                           return segment.time_ns == kMs + round * 40 * kMs;
                         });
  };
  EXPECT_EQ(in_round(0), 10);
  EXPECT_EQ(in_round(1), 20);
  EXPECT_EQ(in_round(2), 30);
}

// Two segments are at the device and stay there: what is written meanwhile
// waits within TCP, joins, and leaves with the next departure.
TEST(NagleReplayTest, AtMostTwoSegmentsWaitAtTheDevice) {
  ReplayInput input = Writes(3, 1448, 0);
  input.writes.push_back({2 * kMs, 100});
  input.writes.push_back({3 * kMs, 100});
  input.closed_ns = 0;
  input.departures = {{5 * kMs, 1448}, {6 * kMs, 2896}, {7 * kMs, 4344}};
  EXPECT_THAT(
      Replay(input, SendRule::kAtOnce),
      ElementsAre(ReplaySegment{kMs, 0, 1448}, ReplaySegment{kMs, 1448, 1448},
                  ReplaySegment{5 * kMs, 2896, 1448},
                  ReplaySegment{6 * kMs, 4344, 200}));
}

// --- Which rule was followed -------------------------------------------------

const RuleFit& Fit(const RuleVerdict& verdict, SendRule rule) {
  return *std::find_if(verdict.fits.begin(), verdict.fits.end(),
                       [&](const RuleFit& fit) { return fit.rule == rule; });
}

// Of its own segments each rule's replay makes the same again.
TEST(NagleReplayTest, ARuleExplainsItsOwnSegmentsWhole) {
  for (const SendRule rule :
       {SendRule::kAtOnce, SendRule::kClassic, SendRule::kMinshall}) {
    std::vector<ReplaySegment> seen;
    const ReplayInput input =
        Captured(Writes(2000, 32, 200 * kUs), 10 * kMs, rule, seen);
    EXPECT_EQ(Replay(input, rule), seen) << SendRuleName(rule);
    const RuleVerdict verdict = FollowedRule(input, seen);
    EXPECT_EQ(verdict.followed, SendRuleName(rule)) << verdict.why;
    EXPECT_EQ(verdict.seen, static_cast<std::int64_t>(seen.size()));
    const RuleFit& fit = Fit(verdict, rule);
    EXPECT_EQ(fit.same_cuts, fit.segments);
    EXPECT_DOUBLE_EQ(fit.agreement, 1);
    EXPECT_EQ(fit.contradicted, 0);
  }
}

// Single bytes each ms never fill a segment at 40 ms: nothing tells classic
// from Minshall, but a segment a write it was not.
TEST(NagleReplayTest, SingleBytesDoNotTellClassicFromMinshall) {
  std::vector<ReplaySegment> seen;
  const ReplayInput input =
      Captured(Writes(2000, 1, kMs), 40 * kMs, SendRule::kMinshall, seen);
  const RuleVerdict verdict = FollowedRule(input, seen);
  EXPECT_EQ(verdict.followed, "");
  EXPECT_THAT(verdict.why,
              AllOf(HasSubstr("classic and Minshall explain it equally well"),
                    HasSubstr("\"at once\", which makes 2000")));
}

// The ACK is back before the next write: no rule ever holds anything.
TEST(NagleReplayTest, WritesThatNothingHoldsTellNoRule) {
  std::vector<ReplaySegment> seen;
  const ReplayInput input =
      Captured(Writes(100, 32, 5 * kMs), kMs, SendRule::kAtOnce, seen);
  const RuleVerdict verdict = FollowedRule(input, seen);
  EXPECT_EQ(verdict.followed, "");
  EXPECT_THAT(verdict.why,
              HasSubstr("at once, classic and Minshall explain it equally"));
}

// The cuts are the same by both rules; that the single byte left 15 us behind
// the full segment, and not at its ACK 40 ms later, is Minshall's.
TEST(NagleReplayTest, TheTimeOfOneTailTellsMinshallFromClassic) {
  ReplayInput input = Writes(1, 1449, 0);
  input.closed_ns = 0;
  input.acks = {
      {0, 0, kWide}, {41 * kMs, 1448, kWide}, {42 * kMs, 1449, kWide}};
  std::vector<ReplaySegment> seen = {{kMs + 20 * kUs, 0, 1448},
                                     {kMs + 35 * kUs, 1448, 1}};
  EXPECT_EQ(Fit(FollowedRule(input, seen), SendRule::kClassic).contradicted, 1);
  EXPECT_EQ(Fit(FollowedRule(input, seen), SendRule::kMinshall).contradicted,
            0);
  seen[1].time_ns = 41 * kMs + 15 * kUs;
  EXPECT_EQ(Fit(FollowedRule(input, seen), SendRule::kClassic).contradicted, 0);
  EXPECT_EQ(Fit(FollowedRule(input, seen), SendRule::kMinshall).contradicted,
            1);
  EXPECT_EQ(FollowedRule(input, seen).followed, "classic");
}

// Nagle off, a round trip of 40 ms and 10 segments in flight: the eleventh
// waits for the congestion window and has the other 1990 writes in it, in two
// segments. Nine partial ones behind a partial one rule Nagle out.
TEST(NagleReplayTest, AFullCongestionWindowIsNotHeldAgainstAtOnce) {
  ReplayInput input = Writes(2000, 1, kUs);
  input.acks = {{0, 0, kWide}};
  std::vector<ReplaySegment> seen;
  for (std::int64_t i = 0; i < 10; ++i) {
    seen.push_back({kMs + i * kUs, i, 1});
    input.acks.push_back({41 * kMs + i * kUs, i + 1, kWide});
  }
  seen.push_back({41 * kMs, 10, 1448});
  seen.push_back({41 * kMs, 1458, 542});
  const RuleVerdict verdict = FollowedRule(input, seen);
  EXPECT_EQ(verdict.followed, "at once") << verdict.why;
  EXPECT_EQ(Fit(verdict, SendRule::kMinshall).contradicted, 9);
}

// Each left half a second after it could: no rule says so.
TEST(NagleReplayTest, WhatNoRuleExplainsIsCalledSo) {
  ReplayInput input = Writes(20, 32, 1000 * kMs);
  std::vector<ReplaySegment> seen;
  for (std::int64_t i = 0; i < 20; ++i) {
    seen.push_back(
        {input.writes[static_cast<std::size_t>(i)].time_ns + 500 * kMs, i * 32,
         32});
    input.acks.push_back({seen.back().time_ns + kMs, (i + 1) * 32, kWide});
  }
  const RuleVerdict verdict = FollowedRule(input, seen);
  EXPECT_EQ(verdict.followed, "");
  EXPECT_THAT(verdict.why, HasSubstr("none of the rules explains it"));
}

TEST(NagleReplayTest, WithoutASegmentThereIsNoVerdict) {
  const RuleVerdict verdict = FollowedRule(Writes(1, 1, 0), {});
  EXPECT_EQ(verdict.followed, "");
  EXPECT_EQ(verdict.why, "no segment was seen");
}

// A million writes, an ACK for each hundred: all bytes come out again.
TEST(NagleReplayTest, AMillionWritesAreReplayed) {
  ReplayInput input = Writes(1'000'000, 100, kUs);
  std::vector<ReplaySegment> seen;
  input = Captured(input, 100 * kUs, SendRule::kMinshall, seen);
  const auto began = std::chrono::steady_clock::now();
  const RuleVerdict verdict = FollowedRule(input, seen);
  RecordProperty(
      "milliseconds",
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::steady_clock::now() - began)
                           .count()));
  EXPECT_EQ(verdict.followed, "Minshall") << verdict.why;
  EXPECT_EQ(seen.back().offset + seen.back().bytes, 100'000'000);
}

}  // namespace
}  // namespace wiretoll
