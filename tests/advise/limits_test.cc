// Each limit, from figures of which the theory is worked out by hand.
#include "harness/advise/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_makers.h"

namespace wiretoll {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

Finding TopFinding(const Evidence& evidence) {
  return FindLimits(evidence).front();
}

TEST(LimitsTest, StreamThatFillsTheLineIsLimitedByItAndNothingElse) {
  // 0.9 x 11.77 MB/s = 10.59 MB/s is full; a round trip of 24 ms beside the
  // stream is neither three times 20 ms nor 20 ms more.
  const auto findings = FindLimits(HealthyEvidence());
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].limit, Limit::kLine);
  EXPECT_EQ(findings[0].confidence, Confidence::kCertain);
  EXPECT_THAT(findings[0].evidence,
              Contains(HasSubstr("11.7 MB/s of the 11.8 MB/s")));
  // 12.5 MB/s x 1448 / 1538.
  EXPECT_NEAR(findings[0].theory_bytes_per_second.value_or(0), 11'768'530, 1);
}

TEST(LimitsTest, FullLineWithALongRoundTripBesideItHasALongQueue) {
  // 62 ms are over three times 20 ms; 42 ms x 11.76853 MB/s = 494,278 B wait.
  Evidence e = HealthyEvidence();
  e.loaded_rtt = Rounds(milliseconds(62));
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kQueue);
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("42.0 ms behind about 494,278 B")));
}

TEST(LimitsTest, QueueIsToldBeforeTheLineThatItStandsAt) {
  Evidence e = HealthyEvidence();
  e.loaded_rtt = Rounds(milliseconds(500));
  const auto findings = FindLimits(e);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].limit, Limit::kQueue);
  EXPECT_EQ(findings[1].limit, Limit::kLine);
}

TEST(LimitsTest, ShortRoundTripMayTripleWithoutBeingAQueue) {
  // 0.1 ms to 0.5 ms: five times, but no 20 ms.
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(Nanoseconds{100'000});
  e.loaded_rtt = Rounds(Nanoseconds{500'000});
  EXPECT_EQ(TopFinding(e).limit, Limit::kLine);
}

TEST(LimitsTest, WindowOverRoundTripIsTheReceiveWindowsLimit) {
  // 131,072 B / 20 ms = 6.55 MB/s.
  const Finding finding = TopFinding(WindowLimited(Bytes{131072}));
  EXPECT_EQ(finding.limit, Limit::kReceiveWindow);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_EQ(finding.headline, "the receive window of b");
  EXPECT_NEAR(finding.theory_bytes_per_second.value_or(0), 6'553'600, 1);
  EXPECT_THAT(finding.evidence,
              Contains("a was held by the peer's window for 93 % of its busy "
                       "time"));
  EXPECT_THAT(finding.evidence,
              Contains("peak window 131,072 B, RTT 20.0 ms: W/RTT = 6.55 MB/s, "
                       "measured 6.40 MB/s"));
}

TEST(LimitsTest, WindowThatTheProgramAskedForIsSaidToBeIts) {
  Evidence e = WindowLimited(Bytes{16384});
  e.subject.rcvbuf =
      OptionReading{std::int64_t{16384}, std::int64_t{32768}, ""};
  EXPECT_THAT(TopFinding(e).evidence,
              Contains("the program at b asked for SO_RCVBUF = 16,384 and has "
                       "32,768"));
}

TEST(LimitsTest, WindowThatTheSystemBoundsNamesTheSetting) {
  EXPECT_THAT(TopFinding(WindowLimited(Bytes{131072})).evidence,
              Contains(HasSubstr("tcp_rmem of b bounds it, 4096 131072 "
                                 "6291456")));
}

TEST(LimitsTest, WindowWithoutScalingIsNamedWithTheHostThatHasItOff) {
  // 65,535 B / 20 ms = 3.277 MB/s.
  Evidence e = WindowLimited(Bytes{65535});
  e.subject.window_scale = 0;
  SetFact(e.receiver, NumberOf("tcp_window_scaling", 0));
  const auto findings = FindLimits(e);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].limit, Limit::kWindowScaling);
  EXPECT_EQ(findings[0].confidence, Confidence::kCertain);
  EXPECT_EQ(findings[0].headline, "window scaling, off at b");
  EXPECT_NEAR(findings[0].theory_bytes_per_second.value_or(0), 3'276'750, 1);
}

TEST(LimitsTest, SmallBufferNeedsNoScalingAndIsAReceiveWindow) {
  Evidence e = WindowLimited(Bytes{16384});
  e.subject.window_scale = 0;
  e.subject.rcvbuf =
      OptionReading{std::int64_t{16384}, std::int64_t{32768}, ""};
  EXPECT_EQ(TopFinding(e).limit, Limit::kReceiveWindow);
}

TEST(LimitsTest, WindowThatFillsTheLineIsNoLimit) {
  Evidence e = WindowLimited(Bytes{262144});
  SetSpeed(e, 11.7e6);
  EXPECT_EQ(TopFinding(e).limit, Limit::kLine);
}

TEST(LimitsTest, SendBufferThatIsAllOnTheWayIsTheLimit) {
  // 2.5 MB/s x 20 ms = 50,000 B a round trip.
  Evidence e = HealthyEvidence();
  e.subject.sndbuf_share = 0.88;
  SetSpeed(e, 2.5e6);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kSendBuffer);
  EXPECT_EQ(finding.headline, "the send buffer of a");
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("50,000 B a round trip of 20.0 ms")));
}

TEST(LimitsTest, SendBufferThatHeldForAThirdIsTheLimitWhereWindowsHaveRoom) {
  // 1,448,000 B / 20 ms = 72.4 MB/s, far over 2.5.
  Evidence e = HealthyEvidence();
  e.subject.sndbuf_share = 0.33;
  e.subject.flight = Bytes{1'448'000};
  SetSpeed(e, 2.5e6);
  EXPECT_EQ(TopFinding(e).limit, Limit::kSendBuffer);
  e.subject.flight =
      Bytes{50'000};  // 2.5 MB/s: the congestion window holds it.
  EXPECT_EQ(TopFinding(e).limit, Limit::kUnknown);
}

TEST(LimitsTest, WhereNothingOnThePathIsInTheWayTheHostsAre) {
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(Nanoseconds{50'000});
  e.line.reset();
  e.subject.flight = Bytes{1'448'000};
  e.subject.sender_cpu = 0.4;
  SetSpeed(e, 0.3e9);
  EXPECT_EQ(TopFinding(e).limit, Limit::kCpu);
  EXPECT_EQ(TopFinding(e).confidence, Confidence::kLikely);
}

TEST(LimitsTest, SegmentsSentAgainAreLossAsMathisHasIt) {
  // 1448 / 0.020 x sqrt(1.5 / 0.01) = 72,400 x 12.247 = 886.7 kB/s.
  Evidence e = HealthyEvidence();
  e.subject.retransmitted = 0.01;
  e.subject.retransmitted_segments = 100;
  e.subject.data_segments = 10000;
  SetSpeed(e, 1.0e6);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kLoss);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_NEAR(finding.theory_bytes_per_second.value_or(0), 886'715, 50);
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("100 of 10,000 data segments")));
}

TEST(LimitsTest, LossOfALineThatIsFullIsNotTheLimit) {
  Evidence e = HealthyEvidence();
  e.subject.retransmitted = 0.01;
  e.subject.retransmitted_segments = 100;
  EXPECT_EQ(TopFinding(e).limit, Limit::kLine);
}

TEST(LimitsTest, TwoRepeatedSegmentsAreNoLossToSpeakOf) {
  Evidence e = HealthyEvidence();
  e.subject.retransmitted = 0.01;
  e.subject.retransmitted_segments = 2;
  SetSpeed(e, 1.0e6);
  EXPECT_EQ(TopFinding(e).limit, Limit::kUnknown);
}

TEST(LimitsTest, WriterThatPausesForHalfOfItsTimeIsSlow) {
  Evidence e = HealthyEvidence();
  e.subject.workload.gap = milliseconds(5);
  e.subject.gap_share = 0.97;
  SetSpeed(e, 0.29e6);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kSlowWriter);
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("97 % of its time in pauses")));
}

TEST(LimitsTest, WriterThatIsPacedAndKeepsItsPaceIsSlow) {
  // 1 Mbit/s = 125 kB/s.
  Evidence e = HealthyEvidence();
  e.subject.workload.rate = BitsPerSecond{1e6};
  SetSpeed(e, 124e3);
  EXPECT_EQ(TopFinding(e).limit, Limit::kSlowWriter);
}

TEST(LimitsTest, PauseBesideWhichTheLineIsFullIsNoLimit) {
  Evidence e = HealthyEvidence();
  e.subject.gap_share = 0.6;
  EXPECT_EQ(TopFinding(e).limit, Limit::kLine);
}

TEST(LimitsTest, WindowThatCouldCarryMoreIsClosedByAReaderOfSingleBytes) {
  // 3,145,728 B / 20 ms = 157 MB/s, of which 0.5 came.
  Evidence e = HealthyEvidence();
  e.subject.workload.read = Bytes{1};
  e.subject.bytes_a_read = 1;
  e.subject.receiver_cpu = 0.99;
  e.subject.window_share = 0.95;
  SetSpeed(e, 0.5e6);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kSlowReader);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("1 B a read where a segment brings 1,448 B")));
}

TEST(LimitsTest, SlowReaderIsNotToldAsAReceiveWindowOrACpuToo) {
  Evidence e = HealthyEvidence();
  e.subject.workload.read = Bytes{1};
  e.subject.bytes_a_read = 1;
  e.subject.receiver_cpu = 0.9;
  e.subject.window_share = 0.95;
  SetSpeed(e, 0.5e6);
  EXPECT_THAT(FindLimits(e), SizeIs(1));
}

TEST(LimitsTest, LoopThatIsOnACpuAllTheTimeIsTheLimit) {
  // 0.95 x 1e9 ns / 1e9 B = 0.95 ns a byte.
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(Nanoseconds{50'000});
  e.line.reset();
  e.subject.sender_cpu = 0.95;
  SetSpeed(e, 1e9);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kCpu);
  EXPECT_EQ(finding.headline, "the CPU of a");
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("0.95 ns of that CPU")));
}

TEST(LimitsTest, ShortTransferIsOverBeforeTheWindowOpens) {
  // 14,480 B at first, then twice as many: 14,480 + 28,960 + 57,920 + 115,840 =
  // 217,200 B in four round trips, 80 ms; the receiver has it in three.
  Evidence e = HealthyEvidence();
  e.subject.bytes = 200'000;
  e.subject.elapsed = milliseconds(61);
  SetSpeed(e, 200'000 / 0.061);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kSlowStart);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("in 4 round trips")));
  // The line takes 12.5 MB/s x 20 ms = 250,000 B: one round trip more.
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("takes 5 round trips")));
}

TEST(LimitsTest, LongTransferIsNotSlowStarts) {
  Evidence e = HealthyEvidence();
  SetSpeed(e, 3e6);
  e.subject.bytes = 3'000'000;             // Eight round trips of slow start,
  e.subject.elapsed = milliseconds(1000);  // but 50 were taken.
  EXPECT_EQ(TopFinding(e).limit, Limit::kUnknown);
}

TEST(LimitsTest, RoundsOfTwoWritesThatTake44MsWaitForADelayedAck) {
  const Finding finding = TopFinding(Stalling());
  EXPECT_EQ(finding.limit, Limit::kNagleDelayedAck);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("49 of 50 rounds")));
}

TEST(LimitsTest, OverALongPathAStallIsTheMedianBeyondTheRoundTrip) {
  // 50 ms and 44 ms: every round is over 30 ms, stalled or not.
  Evidence e = Stalling();
  e.first_rtt = e.last_rtt = Rounds(milliseconds(50));
  e.subject.latency = Rounds(milliseconds(94));
  e.subject.latency->over_30ms = 50;
  EXPECT_EQ(TopFinding(e).limit, Limit::kNagleDelayedAck);
  e.subject.latency = Rounds(milliseconds(51));
  e.subject.latency->over_30ms = 50;
  EXPECT_EQ(TopFinding(e).limit, Limit::kRoundTrip);
}

TEST(LimitsTest, RoundsThatTakeARoundTripAreLimitedByIt) {
  Evidence e = Stalling();
  e.subject.latency = Rounds(Nanoseconds{1'100'000});
  EXPECT_EQ(TopFinding(e).limit, Limit::kRoundTrip);
}

TEST(LimitsTest, PacketsThatVanishUntoldAreABlackHole) {
  const Finding finding = TopFinding(BlackHole());
  EXPECT_EQ(finding.limit, Limit::kPathMtu);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("packets of 1,400 bytes pass, packets of "
                                 "1,401 do not")));
}

TEST(LimitsTest, WithoutCountersTheLimitIsFoundByWhatHelps) {
  Evidence e = HealthyEvidence();
  e.subject.window_share.reset();
  e.subject.sndbuf_share.reset();
  e.subject.why_no_counters = "not an administrator";
  e.large_buffers = Bytes{4'194'304};
  e.large_bytes_per_second = 9e6;
  SetSpeed(e, 3e6);
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kReceiveWindow);
  EXPECT_EQ(finding.confidence, Confidence::kPossible);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("not an administrator")));
}

TEST(LimitsTest, NothingObservedIsUnknownAndSaysWhy) {
  Evidence e;
  e.subject.trials = e.subject.failed = 2;
  e.subject.failure = "connect 10.0.0.2:7001: timed out";
  const Finding finding = TopFinding(e);
  EXPECT_EQ(finding.limit, Limit::kUnknown);
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("timed out")));
}

TEST(LimitsTest, LineThatIsALowerBoundIsNeverFull) {
  Evidence e = HealthyEvidence();
  e.line->at_least = true;
  EXPECT_EQ(TopFinding(e).limit, Limit::kUnknown);
}

TEST(LimitsTest, SlowStartSendsTwiceAsManySegmentsEachRoundTrip) {
  const Bytes mss{1448};
  EXPECT_EQ(SlowStartRounds(1, mss), 1);
  EXPECT_EQ(SlowStartRounds(14'480, mss), 1);
  EXPECT_EQ(SlowStartRounds(14'481, mss), 2);
  EXPECT_EQ(SlowStartRounds(43'440, mss), 2);  // 14,480 + 28,960
  EXPECT_EQ(SlowStartRounds(43'441, mss), 3);
}

TEST(LimitsTest, NamesAreThoseOfTheEnumInItsOrder) {
  EXPECT_EQ(NameOf(Limit::kPathMtu), "path-mtu");
  EXPECT_EQ(NameOf(Limit::kLine), "line");
  EXPECT_EQ(NameOf(Limit::kSlowStart), "slow-start");
  EXPECT_EQ(NameOf(Limit::kUnknown), "unknown");
  EXPECT_EQ(NameOf(Confidence::kPossible), "possible");
}

}  // namespace
}  // namespace wiretoll
