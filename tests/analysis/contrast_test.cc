#include "harness/analysis/contrast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/synthetic_pair.h"

namespace wiretoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::size_t kLinuxToLinux = 0;
constexpr std::size_t kLinuxToOther = 1;
constexpr std::size_t kOtherToLinux = 2;
constexpr std::size_t kOtherToOther = 3;

Analysis AnalysisOf(const SyntheticRun& run) {
  const TemporaryFolder temporary;
  WriteSyntheticRun(temporary.path() / "run", run);
  Outcome<Analysis> analysis = Analyse({temporary.path() / "run"});
  EXPECT_TRUE(analysis.has_value()) << analysis.error().message;
  return std::move(analysis).value();
}

Contrast ContrastOf(const SyntheticPair& pair) {
  const Analysis analysis = AnalysisOf(SyntheticPairRun(pair));
  EXPECT_EQ(analysis.contrasts.size(), 1U);
  return analysis.contrasts.empty() ? Contrast{} : analysis.contrasts.front();
}

SyntheticPair SlowReceiver(double by) {
  SyntheticPair pair;
  pair.slowness = [by](bool, bool other_receives, const Sample&) {
    return other_receives ? by : 1.0;
  };
  return pair;
}

double MedianOf(const EndSwitch& one) {
  return one.ratio ? one.ratio->median : NAN;
}

TEST(ContrastTest, OneSystemAloneMakesNone) {
  EXPECT_THAT(AnalysisOf({}).contrasts, IsEmpty());
}

TEST(ContrastTest, SystemsGoByTheirHostsNamesAndLinuxIsTheFirst) {
  const Contrast contrast = ContrastOf({});
  EXPECT_EQ(contrast.systems[0].name, kLinuxName);
  EXPECT_EQ(contrast.systems[1].name, kWindowsName);
  EXPECT_EQ(contrast.systems[1].os, "windows");
  EXPECT_EQ(contrast.systems[1].brief, "Windows");
}

TEST(ContrastTest, TwoKernelsOfOneFamilyAreTwoSystemsAndGoByTheirStacks) {
  SyntheticRun run;
  run.hosts = {{"old", "linux", "Linux 6.1.0"}, {"new", "linux", "Linux 6.18"}};
  const Analysis analysis = AnalysisOf(run);
  ASSERT_EQ(analysis.contrasts.size(), 1U);
  EXPECT_EQ(analysis.contrasts[0].systems[0].brief, "Linux 6.1.0");
  EXPECT_EQ(analysis.contrasts[0].systems[1].brief, "Linux 6.18");
}

// Half as fast with either sender; both senders alike.
TEST(ContrastTest, AReceiverThatHalvesTheRateIsFoundToBeTheOne) {
  const Contrast contrast = ContrastOf(SlowReceiver(2));
  EXPECT_EQ(contrast.answer, EndAnswer::kReceiver);
  for (const EndSwitch& one : contrast.switches) {
    ASSERT_TRUE(one.ratio.has_value());
    EXPECT_NEAR(MedianOf(one), one.receiver ? 0.5 : 1, 0.02);
    EXPECT_THAT(one.missing, IsEmpty());
  }
  EXPECT_EQ(contrast.base, kLinuxToLinux);
  EXPECT_FALSE(contrast.directions[kLinuxToLinux].ratio.has_value());
  EXPECT_NEAR(contrast.directions[kLinuxToOther].ratio->median, 0.5, 0.01);
  EXPECT_EQ(contrast.directions[kLinuxToOther].ratio->verdict, Verdict::kLower);
}

TEST(ContrastTest, ASenderThatIsSlowerIsFoundToBeTheOne) {
  SyntheticPair pair;
  pair.slowness = [](bool other_sends, bool, const Sample&) {
    return other_sends ? 1.5 : 1.0;
  };
  const Contrast contrast = ContrastOf(pair);
  EXPECT_EQ(contrast.answer, EndAnswer::kSender);
  EXPECT_NEAR(MedianOf(contrast.switches[2]), 1 / 1.5, 0.02);
}

TEST(ContrastTest, BothEndsCanMakeADifference) {
  SyntheticPair pair;
  pair.slowness = [](bool other_sends, bool other_receives, const Sample&) {
    return (other_sends ? 1.2 : 1.0) * (other_receives ? 2.0 : 1.0);
  };
  EXPECT_EQ(ContrastOf(pair).answer, EndAnswer::kBoth);
}

// Every trial takes what the model says, to the nanosecond.
TEST(ContrastTest, EqualSystemsAreNotDistinguishable) {
  SyntheticPair pair;
  pair.noise = 0;
  const Contrast contrast = ContrastOf(pair);
  EXPECT_EQ(contrast.answer, EndAnswer::kNeither);
  for (const EndSwitch& one : contrast.switches) {
    EXPECT_EQ(one.ratio->verdict, Verdict::kNotDistinguishable);
    EXPECT_EQ(one.higher + one.lower, 0);
    EXPECT_EQ(one.cases, 6);  // Three writes, Nagle on and off.
  }
}

// With a host each, no end can be changed while the other stays.
TEST(ContrastTest, TwoHostsCannotTellWhichEndAndSayWhatIsMissing) {
  SyntheticPair pair = SlowReceiver(2);
  pair.linux_hosts = pair.other_hosts = 1;
  const Contrast contrast = ContrastOf(pair);
  EXPECT_EQ(contrast.answer, EndAnswer::kNotKnown);
  for (const EndSwitch& one : contrast.switches) {
    EXPECT_FALSE(one.ratio.has_value());
    EXPECT_EQ(one.missing.size(), 1U);
  }
  EXPECT_THAT(contrast.switches[0].missing, ElementsAre(kLinuxToLinux));
  EXPECT_THAT(contrast.switches[1].missing, ElementsAre(kOtherToOther));
  EXPECT_EQ(contrast.base, kLinuxToOther);
  // What can be said: back is twice as fast as there.
  EXPECT_NEAR(contrast.directions[kOtherToLinux].ratio->median, 2, 0.05);
  EXPECT_FALSE(contrast.directions[kOtherToOther].ran());
}

TEST(ContrastTest, ThreeHostsTellEachEndWithOneSystemHeldFixed) {
  SyntheticPair pair = SlowReceiver(2);
  pair.other_hosts = 1;
  const Contrast contrast = ContrastOf(pair);
  EXPECT_EQ(contrast.answer, EndAnswer::kReceiver);
  EXPECT_TRUE(contrast.switches[0].ratio.has_value());   // Linux sends.
  EXPECT_FALSE(contrast.switches[1].ratio.has_value());  // Windows sends.
  EXPECT_TRUE(contrast.switches[2].ratio.has_value());   // Linux receives.
  EXPECT_THAT(contrast.switches[3].missing, ElementsAre(kOtherToOther));
}

// One case twice as slow, one twice as fast: sqrt(0.5 x 2) = 1, and each told.
TEST(ContrastTest, ARatioOverCasesIsTheirGeometricMean) {
  SyntheticPair pair;
  pair.noise = 0;
  pair.study_text = R"(title = "Two"
question = "q"
[factors]
write = [32, 1448]
[stop]
bytes = 1000000
)";
  pair.slowness = [](bool, bool other_receives, const Sample& sample) {
    // Half the line's rate, so that twice as fast still is not beyond it.
    if (!other_receives) return 2.0;
    const FactorValue* write = FindFactor(sample.factors, "write");
    return std::get<std::int64_t>(*write) == 32 ? 4.0 : 1.0;
  };
  const Contrast contrast = ContrastOf(pair);
  EXPECT_NEAR(MedianOf(contrast.switches[0]), 1, 1e-6);
  EXPECT_EQ(contrast.switches[0].higher, 1);
  EXPECT_EQ(contrast.switches[0].lower, 1);
  ASSERT_EQ(contrast.by_write.size(), 2U);
  EXPECT_EQ(contrast.by_write[0].write, 32);
  EXPECT_NEAR(contrast.by_write[0].ratios[kLinuxToOther]->median, 0.5, 1e-6);
  EXPECT_NEAR(contrast.by_write[1].ratios[kLinuxToOther]->median, 2, 1e-6);
}

// 100,000 bytes in writes of 724 are 139, in segments of 1448 they are 70.
TEST(ContrastTest, SegmentsAWriteAreCountedByWhicheverEndCounts) {
  SyntheticPair pair;
  pair.study_text = R"(title = "One"
question = "q"
[factors]
write = [724]
[stop]
bytes = 100000
)";
  const Contrast contrast = ContrastOf(pair);
  const auto segments = static_cast<std::size_t>(SideFigure::kSegmentsPerWrite);
  for (const std::size_t d : {kLinuxToLinux, kLinuxToOther, kOtherToLinux}) {
    ASSERT_TRUE(contrast.directions[d].figures[segments].has_value()) << d;
    EXPECT_NEAR(contrast.directions[d].figures[segments]->median, 70.0 / 139,
                1e-9);
  }
  // Both at Windows, without an administrator: nobody counted.
  EXPECT_FALSE(
      contrast.directions[kOtherToOther].figures[segments].has_value());
  EXPECT_THAT(contrast.directions[kOtherToOther].why_missing[segments],
              HasSubstr("administrator"));
  // 5 blocks of 4, 4 and 2 pairs of hosts.
  EXPECT_THAT(contrast.directions[kOtherToLinux].observers,
              ElementsAre(Pair("receiver-counters", 20)));
  EXPECT_THAT(contrast.directions[kLinuxToOther].observers,
              ElementsAre(Pair("sender-counters", 20)));
  EXPECT_THAT(contrast.directions[kOtherToOther].observers,
              ElementsAre(Pair("none", 10)));
}

TEST(ContrastTest, RoundTripsAreComparedByTheirMedianAndStallsCounted) {
  SyntheticPair pair;
  pair.study_text = R"(title = "wwr"
question = "q"
[factors]
pattern = ["request-response"]
request = ["1+1"]
reply = ["1"]
[stop]
messages = 100
)";
  pair.slowness = [](bool other_sends, bool, const Sample&) {
    return other_sends ? 3.0 : 1.0;
  };
  const Contrast contrast = ContrastOf(pair);
  EXPECT_TRUE(contrast.rounds);
  EXPECT_EQ(contrast.answer, EndAnswer::kSender);
  EXPECT_NEAR(MedianOf(contrast.switches[2]), 3, 0.1);
  EXPECT_THAT(contrast.by_write, IsEmpty());
  // Write-write-read with Nagle stalls in every round but the first.
  const auto stalls = static_cast<std::size_t>(SideFigure::kStalls);
  EXPECT_EQ(contrast.directions[kLinuxToLinux].figures[stalls]->median, 99);
}

TEST(ContrastTest, WineIsASystemOfItsOwnAndNoWindows) {
  SyntheticPair pair;
  pair.other_os = "wine";
  pair.other_stack = "Wine 8.0 on Linux 6.18";
  pair.other_description = "Wine 8.0 on Linux 6.18, playing Windows 10.0.19043";
  const Contrast contrast = ContrastOf(pair);
  EXPECT_EQ(contrast.systems[1].name, "Wine 8.0 on Linux 6.18");
  EXPECT_EQ(contrast.systems[1].brief, "Wine");
}

// --- Cells hold one system ---------------------------------------------------

TEST(ContrastTest, AHostThatCameBackAsAnotherSystemIsNotPooledWithItself) {
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    if (sample.repeat < 3) return;
    for (EndReport* end : {&*sample.sender, &*sample.receiver}) {
      if (end->host == "linux-2") end->stack = "Linux 6.19";
    }
  };
  const Analysis analysis = AnalysisOf(run);
  // 6 cases and 2 pairs, each of 3 blocks with the one and 2 with the other.
  ASSERT_EQ(analysis.cells.size(), 24U);
  for (const Cell& cell : analysis.cells) {
    const bool later = cell.sender_stack == "Linux 6.19" ||
                       cell.receiver_stack == "Linux 6.19";
    EXPECT_EQ(cell.ok, later ? 2 : 3);
  }
}

// run.json may call a host what its samples do not.
TEST(ContrastTest, WhatRanIsToldByTheSamplesThatRan) {
  SyntheticRun run;
  run.hosts = {{"linux-1"}, {"win", "windows", kWindowsName}};
  run.adjust = [](Sample& sample) {
    if (sample.repeat == 0) {
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = "no agent";
      sample.sender.reset();
      sample.receiver.reset();
      sample.wire.reset();
      return;
    }
    for (EndReport* end : {&*sample.sender, &*sample.receiver}) {
      if (end->host == "win") end->os = "wine";
    }
  };
  for (const Cell& cell : AnalysisOf(run).cells) {
    EXPECT_EQ(cell.ok, 4);
    EXPECT_NE(cell.sender_os, "windows");
    EXPECT_NE(cell.receiver_os, "windows");
  }
}

}  // namespace
}  // namespace wiretoll
