#include "harness/analysis/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/analysis/timelines.h"

namespace wiretoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes of 1448 + 1 bytes each 100 ms, as a Linux sender lets them go: the
// tail 15 us behind the full segment, both acknowledged 40 ms later.
TimelineMaker TailsAtOnce(int writes) {
  TimelineMaker maker;
  for (int i = 0; i < writes; ++i) {
    const std::int64_t at = (1 + 100 * i) * kMilli;
    const std::int64_t sent = std::int64_t{1449} * i;
    maker.Write(at, 1449)
        .Data(at + 10 * kMicro, 1448)
        .Data(at + 25 * kMicro, 1)
        .Ack(at + 40 * kMilli, sent + 1448)
        .Ack(at + 41 * kMilli, sent + 1449);
  }
  return maker;
}

TEST(ReplayTest, TheMssOptionLosesTheTimestampsRoom) {
  TimelineMaker maker;
  EXPECT_EQ(FullSegmentOf(maker.timeline()).value, 1448);
  maker.timeline().timestamps = false;
  EXPECT_EQ(FullSegmentOf(maker.timeline()).value, 1460);
  maker.timeline().client_mss = 536;
  EXPECT_EQ(FullSegmentOf(maker.timeline()).value, 536);
}

TEST(ReplayTest, WithoutSynsTheLargestFrameIsTheFullSegment) {
  TimelineMaker maker;
  maker.timeline().client_mss.reset();
  EXPECT_THAT(FullSegmentOf(maker.timeline()).reason, HasSubstr("no size"));
  maker.Data(kMilli, 700).Data(2 * kMilli, 5000);
  maker.last().frames = 8;  // Joined by an offload.
  EXPECT_EQ(FullSegmentOf(maker.timeline()).value, 700);
}

// SYN-ACK to ACK: 40 ms at the server's side, 20 us at the client's.
TEST(ReplayTest, TheHandshakeTellsHowFarTheClientIs) {
  EXPECT_EQ(WayToClientNs(TimelineMaker(20 * kMicro, 40 * kMicro).timeline()),
            0);
  EXPECT_EQ(WayToClientNs(TimelineMaker(kMilli, 41 * kMilli).timeline()),
            20 * kMilli);
}

TEST(ReplayTest, ACaptureAtTheServerIsTakenToTheClientsTimes) {
  TimelineMaker maker(kMilli, 41 * kMilli);
  maker.Write(50 * kMilli, 10).Data(70 * kMilli, 10).Ack(71 * kMilli, 10);
  const auto send = CapturedSendOf(maker.timeline(), maker.calls());
  ASSERT_TRUE(send.value.has_value()) << send.reason;
  EXPECT_THAT(send.value->seen,
              ElementsAre(ReplaySegment{kEpoch + 50 * kMilli, 0, 10}));
  EXPECT_EQ(send.value->input.acks.back().time_ns, kEpoch + 91 * kMilli);
  // 50 us, and a quarter of the 20 ms that half a measured time may be off.
  EXPECT_EQ(send.value->input.slack_ns, 5'050 * kMicro);
}

TEST(ReplayTest, JoinedPacketsAreSplitByTheMssAndRepeatsLeftOut) {
  TimelineMaker maker;
  maker.Write(kMilli, 3000).Data(2 * kMilli, 3000);
  maker.last().frames = 3;
  TimelineSegment again = maker.last();
  again.retransmission = true;
  maker.timeline().segments.push_back(again);
  const auto send = CapturedSendOf(maker.timeline(), maker.calls());
  ASSERT_TRUE(send.value.has_value()) << send.reason;
  const std::int64_t at = kEpoch + 2 * kMilli;
  EXPECT_THAT(send.value->seen, ElementsAre(ReplaySegment{at, 0, 1448},
                                            ReplaySegment{at, 1448, 1448},
                                            ReplaySegment{at, 2896, 104}));
}

// 3 ms in a small write are a wait for room, which ended when its byte was seen
// at the latest; a larger write went in piece by piece, from its begin on.
TEST(ReplayTest, ASmallWriteThatWaitedForRoomCountsWhenItGotIt) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Write(2 * kMilli, 5000).Write(6 * kMilli, 10);
  maker.Data(5 * kMilli, 5010).Data(8 * kMilli, 10);
  for (ProgramCall& call : maker.calls().sender.calls) {
    call.returned_ns = call.began_ns + 3 * kMilli;
  }
  const auto send = CapturedSendOf(maker.timeline(), maker.calls());
  ASSERT_TRUE(send.value.has_value()) << send.reason;
  EXPECT_EQ(send.value->input.writes[0].time_ns, kEpoch + 4 * kMilli);
  EXPECT_EQ(send.value->input.writes[1].time_ns, kEpoch + 2 * kMilli);
  EXPECT_EQ(send.value->input.writes[2].time_ns, kEpoch + 8 * kMilli);
}

TEST(ReplayTest, WhatWasSeenLeavingIsTheDevicesQueue) {
  TimelineMaker maker;
  maker.Write(kMilli, 20).Data(2 * kMilli, 10).Data(3 * kMilli, 10);
  const auto send = CapturedSendOf(maker.timeline(), maker.calls());
  ASSERT_TRUE(send.value.has_value()) << send.reason;
  ASSERT_EQ(send.value->input.departures.size(), 2U);
  EXPECT_EQ(send.value->input.departures[1].bytes, 20);
  EXPECT_EQ(send.value->input.departures[1].time_ns, kEpoch + 3 * kMilli);
  EXPECT_EQ(send.value->input.initial_window, 10);
}

// Four segments of 1448 and four tails by every rule; by the classic one each
// tail would have waited 40 ms.
TEST(ReplayTest, LinuxTailsAreTakenForMinshalls) {
  TimelineMaker maker = TailsAtOnce(20);
  CaptureRecord record;
  FillReplay(maker.timeline(), maker.calls(), record);
  EXPECT_EQ(record.replay_minshall, 40);
  EXPECT_EQ(record.replay_classic, 40);
  EXPECT_EQ(record.replay_at_once, 40);
  // Nagle off would do the same: the next write comes after every ACK.
  EXPECT_EQ(record.followed_rule, "");
  EXPECT_THAT(record.reason, HasSubstr("at once and Minshall"));
}

// 400 writes of 32 bytes each 200 us, as a sender by `rule` would have sent
// them over a round trip of 10.2 ms, captured 10 us behind its TCP.
TimelineMaker SentBy(SendRule rule) {
  ReplayInput input;
  input.mss_bytes = 1448;
  input.initial_window = 10;
  TimelineMaker maker;
  for (int i = 0; i < 400; ++i) {
    input.writes.push_back({200 * kMicro * (5 + i), 32});
    maker.Write(input.writes.back().time_ns, 32);
  }
  input.closed_ns = input.writes.back().time_ns + 20 * kMicro;
  const std::int64_t rtt = 10'200 * kMicro;
  // When, and what: a segment's bytes, or an ACK's offset as negative.
  std::vector<std::pair<std::int64_t, std::int64_t>> events;
  for (const ReplaySegment& segment : SimulateRoundTrips(input, rtt, rule)) {
    events.emplace_back(segment.time_ns + 10 * kMicro, segment.bytes);
    events.emplace_back(segment.time_ns + rtt,
                        -(segment.offset + segment.bytes));
  }
  std::stable_sort(
      events.begin(), events.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [at, what] : events) {
    if (what > 0) maker.Data(at, what);
    if (what < 0) maker.Ack(at, -what);
    if (what > 0 && at > input.closed_ns) maker.last().fin = true;
  }
  return maker;
}

TEST(ReplayTest, EachRuleIsToldByTheSegmentsThatItMakes) {
  for (const SendRule rule :
       {SendRule::kAtOnce, SendRule::kClassic, SendRule::kMinshall}) {
    TimelineMaker maker = SentBy(rule);
    CaptureRecord record;
    FillReplay(maker.timeline(), maker.calls(), record);
    EXPECT_EQ(record.followed_rule, SendRuleName(rule)) << record.reason;
    EXPECT_EQ(record.reason, "");
    const auto by_rule = rule == SendRule::kAtOnce    ? record.replay_at_once
                         : rule == SendRule::kClassic ? record.replay_classic
                                                      : record.replay_minshall;
    std::int64_t seen = 0;
    for (const TimelineSegment& segment : maker.timeline().segments) {
      if (segment.data()) ++seen;
    }
    EXPECT_EQ(by_rule, seen) << SendRuleName(rule);
  }
}

TEST(ReplayTest, WithoutTheSendersCallsThereIsNoReplayAndAReason) {
  TimelineMaker maker;
  maker.Data(kMilli, 10);
  CaptureRecord record;
  FillReplay(maker.timeline(), maker.calls(), record);
  EXPECT_EQ(record.replay_minshall, std::nullopt);
  EXPECT_EQ(record.reason, "no replay: the sender's calls were not logged");
  maker.Write(0, 10);
  maker.calls().sender.left_out = 3;
  EXPECT_THAT(CapturedSendOf(maker.timeline(), maker.calls()).reason,
              HasSubstr("3 of the sender's calls were left out"));
}

TEST(ReplayTest, APartialCaptureIsNotReplayed) {
  TimelineMaker maker = TailsAtOnce(2);
  maker.timeline().partial = "12 frames dropped by the kernel";
  EXPECT_THAT(CapturedSendOf(maker.timeline(), maker.calls()).reason,
              HasSubstr("12 frames dropped"));
}

TEST(ReplayTest, CallsByAnotherClockAreNotReplayed) {
  TimelineMaker maker = TailsAtOnce(2);
  for (ProgramCall& call : maker.calls().sender.calls) {
    call.began_ns += 5 * kMilli;
  }
  EXPECT_THAT(CapturedSendOf(maker.timeline(), maker.calls()).reason,
              HasSubstr("4.99 ms before it was written"));
  for (ProgramCall& call : maker.calls().sender.calls) {
    call.began_ns -= 3000 * kMilli;
  }
  EXPECT_THAT(CapturedSendOf(maker.timeline(), maker.calls()).reason,
              HasSubstr("after the first write"));
}

TEST(ReplayTest, MoreOnTheWireThanWasWrittenIsNotReplayed) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(2 * kMilli, 11);
  EXPECT_THAT(CapturedSendOf(maker.timeline(), maker.calls()).reason,
              HasSubstr("more than the calls wrote"));
}

}  // namespace
}  // namespace wiretoll
