// What trials' reports and hosts' facts come to.
#include "harness/advise/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_makers.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;

EndPair Trial(std::int64_t bytes, std::int64_t elapsed_ns) {
  EndPair trial;
  trial.sender.bytes = trial.receiver.bytes = bytes;
  trial.sender.elapsed_ns = trial.receiver.elapsed_ns = elapsed_ns;
  return trial;
}

TEST(EvidenceTest, SpeedIsTheMedianOfWhatReceiversGot) {
  // 1, 2 and 4 MB in a second.
  const auto figures = FiguresOf(
      "x", Workload{},
      {Trial(1'000'000, 1'000'000'000), Trial(4'000'000, 1'000'000'000),
       Trial(2'000'000, 1'000'000'000)});
  ASSERT_TRUE(figures.bytes_per_second.has_value());
  EXPECT_EQ(figures.bytes_per_second->median, 2e6);
  EXPECT_EQ(figures.bytes_per_second->repeats, 3);
  EXPECT_TRUE(figures.bytes_per_second->low.has_value());
}

TEST(EvidenceTest, WaitsAreSharesOfBusyTime) {
  EndPair trial = Trial(1'000'000, 1'000'000'000);
  trial.sender.counters.busy_ns = 800'000'000;
  trial.sender.counters.window_limited_ns = 600'000'000;
  trial.sender.counters.sndbuf_limited_ns = 80'000'000;
  const auto figures = FiguresOf("x", Workload{}, {trial});
  EXPECT_DOUBLE_EQ(figures.busy_share.value_or(0), 0.8);
  EXPECT_DOUBLE_EQ(figures.window_share.value_or(0), 0.75);
  EXPECT_DOUBLE_EQ(figures.sndbuf_share.value_or(0), 0.1);
}

TEST(EvidenceTest, WhatIsNotCountedStaysEmptyWithItsReason) {
  EndPair trial = Trial(1'000'000, 1'000'000'000);
  trial.sender.counters.reason = "needs an administrator";
  const auto figures = FiguresOf("x", Workload{}, {trial});
  EXPECT_FALSE(figures.window_share.has_value());
  EXPECT_FALSE(figures.retransmitted.has_value());
  EXPECT_EQ(figures.why_no_counters, "needs an administrator");
}

TEST(EvidenceTest, PausesStandBetweenBlocks) {
  // 11 writes, ten pauses of 50 ms: half of a second.
  Workload work;
  work.gap = milliseconds(50);
  EndPair trial = Trial(11, 1'000'000'000);
  trial.sender.calls = 11;
  trial.sender.gap_mean_ns = 50e6;
  EXPECT_DOUBLE_EQ(FiguresOf("x", work, {trial}).gap_share.value_or(0), 0.5);
}

TEST(EvidenceTest, CpuShareIsOfTheLoopsOwnTime) {
  EndPair trial = Trial(1, 200);
  trial.sender.cpu_ns = 100;
  trial.receiver.cpu_ns = 250;  // Rounded up to a tick: all of it, no more.
  const auto figures = FiguresOf("x", Workload{}, {trial});
  EXPECT_DOUBLE_EQ(figures.sender_cpu.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(figures.receiver_cpu.value_or(0), 1);
}

TEST(EvidenceTest, LineCarriesTheShareThatIsPayload) {
  // 12.5 MB/s x 1448 / (1500 + 38).
  EXPECT_NEAR(LineCapacity(HealthyEvidence()).value_or(0), 11'768'530, 1);
}

TEST(EvidenceTest, BandwidthDelayProductIsOfTheShorterRoundTrip) {
  // 12.5 MB/s x 20 ms.
  Evidence e = HealthyEvidence();
  e.first_rtt = Rounds(milliseconds(30));
  EXPECT_EQ(BdpOf(e), Bytes{250'000});
}

TEST(EvidenceTest, WithoutRoundsTheKernelsLeastRoundTripServes) {
  Evidence e = HealthyEvidence();
  e.first_rtt.reset();
  e.last_rtt.reset();
  EXPECT_FALSE(BaseRtt(e).has_value());
  e.subject.min_rtt = milliseconds(7);
  EXPECT_EQ(BaseRtt(e), Nanoseconds{milliseconds(7)});
}

TEST(EvidenceTest, LoadedRoundTripIsTheLongerOfTheTwoThatWereSeen) {
  Evidence e = HealthyEvidence();
  EXPECT_EQ(LoadedRtt(e), Nanoseconds{milliseconds(24)});
  e.subject.srtt = milliseconds(90);
  EXPECT_EQ(LoadedRtt(e), Nanoseconds{milliseconds(90)});
}

TEST(EvidenceTest, SegmentIsTheMtuWithoutHeadersWhereNoneWasSeen) {
  Evidence e = HealthyEvidence();
  e.subject.mss.reset();
  EXPECT_EQ(SegmentOf(e), Bytes{1448});  // 1500 - 20 - 20 - 12.
  SetFact(e.sender, NumberOf("tcp_timestamps", 0));
  EXPECT_EQ(SegmentOf(e), Bytes{1460});
}

TEST(EvidenceTest, RoundTripThatChangedIsSaid) {
  Evidence e = HealthyEvidence();
  e.last_rtt = Rounds(milliseconds(24));  // Under a quarter more.
  EXPECT_FALSE(RttChange(e).has_value());
  e.last_rtt = Rounds(milliseconds(40));
  EXPECT_THAT(RttChange(e).value_or(""),
              HasSubstr("20.0 ms at first, 40.0 ms at last"));
}

TEST(EvidenceTest, RoundTripThatWandersByMicrosecondsDidNotChange) {
  Evidence e = HealthyEvidence();
  e.first_rtt = Rounds(Nanoseconds{50'000});
  e.last_rtt = Rounds(Nanoseconds{500'000});
  EXPECT_FALSE(RttChange(e).has_value());
}

TEST(EvidenceTest, FactsAreReadHoweverTheyAreSpelled) {
  PairHost host{"a",
                "",
                "linux",
                {TextOf("as_text", "1"),
                 NumberOf("as_number", 0),
                 {"as_switch", true, {}, {}},
                 TextOf("three", "1\t2 \t3"),
                 {"unread", OptionValue{}, {}, "permission denied"}},
                ""};
  EXPECT_EQ(OnOffFact(host, "as_text"), true);
  EXPECT_EQ(OnOffFact(host, "as_number"), false);
  EXPECT_EQ(OnOffFact(host, "as_switch"), true);
  EXPECT_EQ(OnOffFact(host, "unread"), std::nullopt);
  EXPECT_EQ(OnOffFact(host, "missing"), std::nullopt);
  EXPECT_EQ(TextFact(host, "three"), "1 2 3");
  EXPECT_EQ(LargestOf(host, "three"), 3);
}

TEST(EvidenceTest, WorkloadsAreSpelledForPeople) {
  Workload work;
  work.write = Bytes{65536};
  EXPECT_EQ(SpellWorkload(work), "a stream of 64 KiB writes");
  work.rcvbuf = Bytes{16384};
  work.read = Bytes{1};
  work.gap = milliseconds(5);
  EXPECT_EQ(
      SpellWorkload(work),
      "a stream of 64 KiB writes, a pause of 5.00 ms between, read 1 B at "
      "a time, SO_RCVBUF 16 KiB");
}

}  // namespace
}  // namespace wiretoll
