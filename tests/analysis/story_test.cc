#include "harness/analysis/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/analysis/stalls.h"
#include "tests/analysis/timelines.h"

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

Story StoryOf(TimelineMaker& maker, const StoryLimits& limits = {}) {
  StoryMaterial material;
  material.sender = "a (Linux)";
  material.receiver = "b (Linux)";
  material.captured_at = "a";
  material.timeline = maker.timeline();
  material.calls = maker.calls();
  return MakeStory(std::move(material), limits);
}

// One stall only, and it is the named mechanism's.
Stall TheStall(TimelineMaker& maker) {
  const Story story = StoryOf(maker);
  EXPECT_THAT(story.stalls, SizeIs(1));
  return story.stalls.empty() ? Stall() : story.stalls.front();
}

// Rounds of two writes of a byte and a reply. In the first the server
// acknowledges at once; later it waits 43 ms and 0.1 ms more each round, and
// only then the second byte leaves.
TimelineMaker WriteWriteRead(int rounds) {
  TimelineMaker maker;
  std::int64_t at = kMilli;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t held =
        i == 0 ? 60 * kMicro : 43 * kMilli + 100 * kMicro * i;
    const std::int64_t sent = 2 * std::int64_t{i};
    maker.Write(at, 1).Data(at + 10 * kMicro, 1).Write(at + 15 * kMicro, 1);
    maker.Ack(at + 10 * kMicro + held, sent + 1);
    maker.Data(at + 20 * kMicro + held, 1);
    maker.ServerCall(at + 50 * kMicro + held, 1);
    maker.Ack(at + 60 * kMicro + held, sent + 2, 1);
    at += held + 100 * kMicro;
  }
  maker.Fin(at);
  return maker;
}

TEST(StoryTest, WriteWriteReadStallsForTheDelayedAckInEveryRoundButTheFirst) {
  TimelineMaker maker = WriteWriteRead(4);
  const Story story = StoryOf(maker);
  ASSERT_THAT(story.stalls, SizeIs(3));
  EXPECT_THAT(story.stalls,
              Each(Field(&Stall::mechanism, Mechanism::kDelayedAck)));
  // From the first byte of round 2, 10 us behind its write, to the second: 43.1
  // ms until the ACK, and 10 us.
  EXPECT_EQ(story.stalls[0].lasted_ns, 43'110 * kMicro);
  EXPECT_EQ(story.stalls[0].words, "Nagle waits 43.1 ms for the delayed ACK");
  // Round 1 is from 1 ms on and takes 160 us.
  EXPECT_EQ(story.stalls[0].began_ns, kMilli + 170 * kMicro);
}

TEST(StoryTest, RoundsThatAreAlikeAreFolded) {
  TimelineMaker maker = WriteWriteRead(201);
  const Story story = StoryOf(maker);
  EXPECT_THAT(story.stalls, SizeIs(200));
  EXPECT_THAT(story.words, SizeIs(testing::Lt(15)));
  // Of the 200 the first, of 43.11 ms, is told, and the last is another: no
  // round follows it. Between them 43.21 to 43 + 19.9 + 0.01 ms.
  EXPECT_THAT(story.words,
              Contains("then 198 more alike, each 43.2 to 62.9 ms."));
  EXPECT_THAT(story.words.front(),
              AllOf(HasSubstr("a (Linux) opens a connection to b (Linux)"),
                    HasSubstr("MSS 1460")));
}

TEST(StoryTest, TheSumSaysHowLongItStoodStillAndWhy) {
  TimelineMaker maker = WriteWriteRead(4);
  // 43.11 + 43.21 + 43.31 = 129.63 ms.
  EXPECT_THAT(StoryOf(maker).words,
              Contains(AllOf(StartsWith("In all"), HasSubstr("still 130 ms"),
                             HasSubstr("3 x delayed ACK (130 ms)"))));
}

// The ACK comes with the 20 ms of a round trip, and no later: Nagle's wait is
// the network's, not a delayed ACK's.
TEST(StoryTest, AnAckThatTakesARoundTripIsNotCalledDelayed) {
  TimelineMaker maker(20 * kMilli, 20 * kMilli + 10 * kMicro);
  const std::int64_t at = 30 * kMilli;
  maker.Write(at, 10).Data(at, 10).Write(at + kMilli, 10);
  maker.Ack(at + 45 * kMilli, 10).Data(at + 45 * kMilli + 20 * kMicro, 10);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kNagleAwaitsAck);
  EXPECT_EQ(stall.words, "Nagle waits 45 ms for the ACK");
}

// With Nagle off the same picture is another mechanism's, and not that of a
// congestion window either: one small segment fills none.
TEST(StoryTest, WhereNagleIsOffItIsNotBlamed) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(kMilli, 10).Write(2 * kMilli, 10);
  maker.Ack(44 * kMilli, 10).Data(44 * kMilli + 20 * kMicro, 10);
  StoryMaterial material;
  material.timeline = maker.timeline();
  material.calls = maker.calls();
  material.sample.sender.emplace();
  material.sample.sender->options["nagle"].effective = false;
  const Story story = MakeStory(std::move(material));
  ASSERT_THAT(story.stalls, SizeIs(1));
  EXPECT_EQ(story.stalls[0].mechanism, Mechanism::kUnexplained);
}

// The second write is made 95 ms after the first segment and leaves at once.
TEST(StoryTest, APauseOfTheProgramIsCalledSo) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(kMilli + 10 * kMicro, 10);
  maker.Ack(kMilli + 100 * kMicro, 10);
  maker.Write(96 * kMilli, 10).Data(96 * kMilli + 10 * kMicro, 10);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kSenderProgram);
  EXPECT_EQ(stall.words, "the sender's program writes nothing for 95 ms");
}

TEST(StoryTest, ALateReplyIsTheServersProgram) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(kMilli, 10);
  maker.ServerCall(31 * kMilli, 1).Ack(31 * kMilli + 5 * kMicro, 10, 1);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kReceiverProgram);
  EXPECT_EQ(stall.words, "the server's program has no reply for 30 ms");
}

// 1152 bytes of window are full of two segments; 100 ms later there is room.
TimelineMaker ClosedWindow() {
  TimelineMaker maker;
  maker.timeline().segments[1].window_bytes = 1152;
  maker.Write(kMilli, 5000).Data(kMilli, 576).Data(kMilli + kMicro, 576);
  maker.Window(0).Ack(2 * kMilli, 1152);
  return maker;
}

TEST(StoryTest, AClosedWindowIsCalledSo) {
  TimelineMaker maker = ClosedWindow();
  maker.Window(1152).Ack(100 * kMilli, 1152);
  maker.Data(100 * kMilli + 10 * kMicro, 576);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kWindowClosed);
  // Full from 1.001 ms on, open at 100 ms.
  EXPECT_EQ(stall.words,
            "the window is closed for 99 ms, until the reader has made room, "
            "and opens to 1152 bytes");
}

TEST(StoryTest, ProbesOfAClosedWindowAreThePersistTimers) {
  TimelineMaker maker = ClosedWindow();
  maker.Fin(214 * kMilli);
  maker.last().fin = false;
  maker.last().probe = true;
  maker.last().offset = 1151;
  maker.Window(1152).Ack(215 * kMilli, 1152);
  maker.Data(215 * kMilli + 10 * kMicro, 576);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kPersistTimer);
  EXPECT_THAT(stall.words, HasSubstr("sends 1 probe to ask for it"));
}

// 544 bytes of window and a segment of 576: the timer lets just these go. The
// gap is counted from the last segment, 1 ms before the window was told.
TEST(StoryTest, AWindowTooSmallForASegmentIsASillyWindow) {
  TimelineMaker maker = ClosedWindow();
  maker.last().window_bytes = 544;
  maker.Window(1152).Data(208 * kMilli, 544);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kSillyWindow);
  EXPECT_EQ(stall.words,
            "544 bytes of window are less than the next segment: the sender "
            "waits 207 ms for its timer, and sends just these");
}

TEST(StoryTest, AWindowThatOpensInTimeEndsASillyWindowWithoutTheTimer) {
  TimelineMaker maker = ClosedWindow();
  maker.last().window_bytes = 544;
  maker.Window(1152).Ack(20 * kMilli, 1152);
  maker.Data(20 * kMilli + 10 * kMicro, 576);
  EXPECT_EQ(TheStall(maker).words,
            "544 bytes of window are less than the next segment: the sender "
            "waits 19 ms for more room");
}

TEST(StoryTest, ARetransmissionIsTheTimersOrTheDuplicateAcks) {
  TimelineMaker maker;
  maker.Write(kMilli, 3000).Data(kMilli, 1448).Data(kMilli + kMicro, 1448);
  maker.Data(210 * kMilli, 1448);
  maker.last().offset = 0;
  maker.last().retransmission = true;
  const Stall by_timer = TheStall(maker);
  EXPECT_EQ(by_timer.mechanism, Mechanism::kRetransmission);
  EXPECT_THAT(by_timer.words, HasSubstr("timer went off"));
  auto& segments = maker.timeline().segments;
  for (int i = 0; i < 3; ++i) {
    TimelineSegment ack = segments[1];
    ack.syn = false;
    ack.time_ns = kEpoch + (2 + i) * kMilli;
    segments.insert(segments.end() - 1, ack);
  }
  EXPECT_THAT(TheStall(maker).words, HasSubstr("3 duplicate ACKs"));
}

// Ten full segments are out; the eleventh leaves as their ACK comes.
TEST(StoryTest, SegmentsThatWaitForAnAckOfFullOnesWaitForTheCongestionWindow) {
  TimelineMaker maker;
  maker.Write(kMilli, std::int64_t{11} * 1448);
  for (int i = 0; i < 10; ++i) maker.Data(kMilli + i * kMicro, 1448);
  maker.Ack(41 * kMilli, 1448).Data(41 * kMilli + 5 * kMicro, 1448);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kCongestionWindow);
  EXPECT_EQ(stall.words,
            "10 segments are in flight; the next waits 40 ms for an ACK");
}

// The same picture, but a write that took most of the gap, and a kernel that
// counts time in which the send buffer was in the way.
TEST(StoryTest, AWriteThatWaitsForRoomIsTheSendBuffers) {
  TimelineMaker maker;
  maker.Write(kMilli, 1448).Data(kMilli, 1448).Write(2 * kMilli, 1448);
  maker.calls().sender.calls.back().returned_ns = kEpoch + 41 * kMilli;
  maker.Ack(41 * kMilli, 1448).Data(41 * kMilli + 5 * kMicro, 1448);
  EXPECT_EQ(TheStall(maker).mechanism, Mechanism::kUnexplained);
  StoryMaterial material;
  material.timeline = maker.timeline();
  material.calls = maker.calls();
  material.sample.sender.emplace();
  material.sample.sender->counters.sndbuf_limited_ns = 40 * kMilli;
  const Story story = MakeStory(std::move(material));
  ASSERT_THAT(story.stalls, SizeIs(1));
  EXPECT_EQ(story.stalls[0].mechanism, Mechanism::kSendBuffer);
  EXPECT_EQ(story.stalls[0].words,
            "a write waits 40 ms for room in the send buffer");
}

TEST(StoryTest, WhatNothingExplainsIsCalledUnexplained) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(kMilli, 10).Ack(2 * kMilli, 10);
  maker.Write(3 * kMilli, 10).Data(90 * kMilli, 10);
  const Stall stall = TheStall(maker);
  EXPECT_EQ(stall.mechanism, Mechanism::kUnexplained);
  EXPECT_EQ(stall.words,
            "89 ms without data, and nothing that was seen says why");
  maker.calls().sender.calls.clear();
  EXPECT_THAT(TheStall(maker).words, HasSubstr("were written is not known"));
}

TEST(StoryTest, TheMedianOfAFewGapsIsNoPace) {
  TimelineMaker maker;
  maker.Data(kMilli, 10).Data(30 * kMilli, 10).Data(60 * kMilli, 10);
  EXPECT_EQ(StallThresholdNs(maker.timeline(), {}), 5 * kMilli);
}

// A segment a round trip of 40 ms is the pace, not a stall: 4 x 40 ms and 2 x
// 40 ms are the limits, and 5 ms where all is fast.
TEST(StoryTest, AStallIsLongerThanFourUsualGapsTwoRoundTripsAndFiveMs) {
  TimelineMaker slow(40 * kMilli, 40 * kMilli + kMicro);
  for (int i = 1; i < 20; ++i) slow.Data((50 + 40 * i) * kMilli, 10);
  EXPECT_EQ(StallThresholdNs(slow.timeline(), {}), 160 * kMilli);
  EXPECT_THAT(StoryOf(slow).stalls, IsEmpty());
  TimelineMaker fast;
  fast.Data(kMilli, 10).Data(2 * kMilli, 10).Data(3 * kMilli, 10);
  EXPECT_EQ(StallThresholdNs(fast.timeline(), {}), 5 * kMilli);
}

TEST(StoryTest, WhatIsMissingIsNoted) {
  TimelineMaker maker;
  maker.Data(kMilli, 10);
  maker.timeline().partial = "2 frames dropped";
  const Story story = StoryOf(maker);
  EXPECT_THAT(story.notes,
              ElementsAre("the capture is not whole: 2 frames dropped",
                          "the calls of a (Linux) were not logged",
                          "the calls of b (Linux) were not logged"));
  EXPECT_EQ(story.rule, std::nullopt);
  EXPECT_THAT(story.why_no_rule, HasSubstr("not logged"));
}

TEST(StoryTest, CallsByAnotherClockAreNotPutBesideTheSegments) {
  TimelineMaker maker;
  maker.Write(kMilli, 10).Data(kMilli, 10);
  StoryMaterial material;
  material.sender = "a";
  material.receiver = "b";
  material.timeline = maker.timeline();
  material.calls = maker.calls();
  material.sender_calls_on_clock = false;
  const Story story = MakeStory(std::move(material));
  EXPECT_FALSE(story.sender_calls_on_clock);
  EXPECT_EQ(story.rule, std::nullopt);
  EXPECT_THAT(story.notes, Contains(HasSubstr("by another clock")));
  EXPECT_THAT(story.words, Each(Not(HasSubstr("write"))));
}

TEST(StoryTest, WhatIsTooLongIsLeftOutAndSaid) {
  TimelineMaker maker;
  std::int64_t sent = 0;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t at = (1 + 100 * i) * kMilli;
    // Sizes differ, so that nothing folds.
    maker.Write(at, i + 1).Data(at + kMicro, i + 1);
    sent += i + 1;
    maker.Ack(at + 2 * kMicro, sent);
    maker.Write(at + 3 * kMicro, 1).Data(at + 4 * kMicro, 1);
    maker.Ack(at + 5 * kMicro, ++sent);
  }
  StoryLimits limits;
  limits.lines = 20;
  const Story story = StoryOf(maker, limits);
  EXPECT_THAT(story.stalls, SizeIs(39));
  EXPECT_THAT(story.words, Contains(HasSubstr("which are left out here")));
}

TEST(StoryTest, AnEmptyCaptureHasNoStory) {
  TimelineMaker maker;
  maker.timeline().segments.clear();
  const Story story = StoryOf(maker);
  EXPECT_THAT(story.words, IsEmpty());
  EXPECT_THAT(story.stalls, IsEmpty());
}

TEST(StoryTest, TimesAreInMillisecondsWithSensibleDigits) {
  EXPECT_EQ(Milliseconds(52'000), "0.052 ms");
  EXPECT_EQ(Milliseconds(43'712'000), "43.7 ms");
  EXPECT_EQ(Milliseconds(205'400'000), "205 ms");
  EXPECT_EQ(Milliseconds(1'696'300'000), "1696 ms");
}

}  // namespace
}  // namespace wiretoll
