#include "harness/analysis/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Throughputs are set to what a test says, by case and sender.
using Speed = std::function<double(const Sample&)>;

std::int64_t WriteOf(const Sample& sample) {
  return std::get<std::int64_t>(*FindFactor(sample.factors, "write"));
}

bool Has(const Sample& sample, const std::string& factor,
         const std::string& value) {
  return SpellFactor(*FindFactor(sample.factors, factor)) == value;
}

std::string StudyWith(const std::string& claim) {
  return R"(title = "Claims"
question = "What is claimed?"

[factors]
write = [1, 32, 1024, 16384]
rcvbuf = [2, 65536]

[stop]
bytes = 65536

[[claim]]
id = "c"
text = "A sentence."
)" + claim;
}

struct Asked {
  std::string claim;
  Speed speed;
  std::vector<SyntheticHost> hosts = {{"linux-1"}, {"linux-2"}};
  int blocks = 5;
};

ClaimResult Ask(const Asked& asked) {
  const TemporaryFolder temporary;
  SyntheticRun run;
  run.study_text = StudyWith(asked.claim);
  run.hosts = asked.hosts;
  run.blocks = asked.blocks;
  run.adjust = [&](Sample& sample) {
    // One part in a thousand, up and down from block to block.
    const double wobble = 1 + 0.001 * (sample.repeat % 3 - 1);
    sample.receiver->first_read_bytes = 0;
    sample.receiver->elapsed_ns =
        std::llround(1e9 * static_cast<double>(sample.receiver->bytes) /
                     (asked.speed(sample) * wobble));
  };
  WriteSyntheticRun(temporary.path() / "run", run);
  const Outcome<Analysis> analysis = Analyse({temporary.path() / "run"});
  EXPECT_TRUE(analysis.has_value()) << analysis.error().message;
  if (!analysis.has_value()) return {};
  EXPECT_EQ(analysis.value().claims.size(), 1U);
  return analysis.value().claims.front();
}

double Flat(const Sample&) { return 1e6; }

const std::vector<SyntheticHost> kLinuxAndWindows{
    {"linux-1"}, {"win", "windows", "Windows 11 26100"}};

// --- Ratios -----------------------------------------------------------------

constexpr char kLinuxFiveTimes[] = R"(kind = "ratio"
metric = "throughput"
a = { "sender.os" = "linux", write = 32, rcvbuf = 2 }
b = { "sender.os" = "windows", write = 32, rcvbuf = 2 }
ratio = 5
)";

double LinuxTimes(const Sample& sample, double factor) {
  return sample.sender->os == "linux" ? factor * 1e6 : 1e6;
}

TEST(ClaimTest, AFactorOfFiveIsSupportedWhereItIsFive) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) { return LinuxTimes(sample, 5); },
           kLinuxAndWindows});
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_NEAR(*result.figure, 5, 0.02);
  EXPECT_EQ(result.blocks, 5);
  EXPECT_THAT(result.why, HasSubstr("claimed 5"));
  // With two hosts the receivers cannot be the same.
  EXPECT_THAT(result.why, HasSubstr("not the same host"));
}

TEST(ClaimTest, AFactorOfFiveIsRefutedWhereItIsTwo) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) { return LinuxTimes(sample, 2); },
           kLinuxAndWindows});
  EXPECT_EQ(result.answer, ClaimAnswer::kRefuted) << result.why;
}

// 5 claimed to within 10 % goes to 5.5; 5.49, 5.5 and 5.51 straddle it.
TEST(ClaimTest, AnIntervalAcrossTheEdgeIsNotDistinguishable) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) {
             const double turn = sample.repeat % 3 - 1;
             return LinuxTimes(sample, 5.5 + 0.01 * turn);
           },
           kLinuxAndWindows});
  EXPECT_EQ(result.answer, ClaimAnswer::kNotDistinguishable) << result.why;
}

TEST(ClaimTest, WithoutAWindowsHostItIsNotTestedAndSaysSo) {
  const ClaimResult result = Ask({kLinuxFiveTimes, Flat});
  EXPECT_EQ(result.answer, ClaimAnswer::kNotTested);
  EXPECT_EQ(result.why, "no Windows host in this run");
  EXPECT_FALSE(result.figure.has_value());
}

TEST(ClaimTest, WineNeverAnswersAClaimAboutWindows) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) { return LinuxTimes(sample, 5); },
           {{"linux-1"}, {"wine", "wine", "Wine 8.0"}}});
  EXPECT_EQ(result.answer, ClaimAnswer::kNotTested);
  EXPECT_EQ(result.why,
            "Wine is not Windows: no Windows host in this run, but Wine 8.0");
}

TEST(ClaimTest, AnAnsweredClaimNamesTheSystemsItSpeaksOf) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) { return LinuxTimes(sample, 5); },
           {{"linux-1", "linux", "Linux 6.18.44", "Debian 12, Linux 6.18.44"},
            {"win", "windows", "Windows 11 23H2 (22631.3447)"}}});
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_THAT(result.why,
              HasSubstr("; Linux is Debian 12, Linux 6.18.44; Windows is "
                        "Windows 11 23H2 (22631.3447)"));
  // The model made it up, and the answer does not hide that.
  EXPECT_THAT(result.why,
              HasSubstr("synthetic data: nothing here was measured"));
}

TEST(ClaimTest, TwoBlocksAnswerNothing) {
  const ClaimResult result =
      Ask({kLinuxFiveTimes,
           [](const Sample& sample) { return LinuxTimes(sample, 5); },
           kLinuxAndWindows, 2});
  EXPECT_EQ(result.answer, ClaimAnswer::kNotTested);
  EXPECT_THAT(result.why, HasSubstr("needs 3"));
}

// Both Linux hosts send to the same Windows host and to each other: the sender
// stays the same, so receivers are compared, not senders. A sender twice as
// fast as the other must not show.
TEST(ClaimTest, HostsThatNoSelectionNamesStayTheSame) {
  const ClaimResult result =
      Ask({R"(kind = "ratio"
metric = "throughput"
a = { "receiver.os" = "windows", rcvbuf = 2 }
b = { "receiver.os" = "linux", rcvbuf = 2 }
ratio = 0.5
)",
           [](const Sample& sample) {
             const double own = sample.sender->host == "linux-1" ? 2e6 : 1e6;
             return sample.receiver->os == "windows" ? own / 2 : own;
           },
           {{"linux-1"}, {"linux-2"}, {"win", "windows", "Windows 11"}}});
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_THAT(result.why, Not(HasSubstr("not the same host")));
}

// A larger buffer doubles, whatever the write; writes differ a hundredfold, so
// only like writes may be compared.
TEST(ClaimTest, FactorsThatBothSidesShareAreHeldEqual) {
  const ClaimResult result =
      Ask({R"(kind = "ratio"
metric = "throughput"
a = { rcvbuf = 65536 }
b = { rcvbuf = 2 }
at_least = 1.9
at_most = 2.1
)",
           [](const Sample& sample) {
             const double base = 100.0 * static_cast<double>(WriteOf(sample));
             return Has(sample, "rcvbuf", "65536") ? 2 * base : base;
           }});
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_THAT(result.why, HasSubstr("8 pairs"));  // 4 writes, 2 host pairs.
}

// --- Values -----------------------------------------------------------------

constexpr char kTheNetworksOwn[] = R"(kind = "value"
metric = "throughput"
a = { write = 16384, rcvbuf = 65536 }
value = "11MB/s"
)";

TEST(ClaimTest, AValueIsSupportedRefutedOrBetween) {
  const auto answer = [](double speed) {
    return Ask({kTheNetworksOwn, [=](const Sample&) { return speed; }}).answer;
  };
  EXPECT_EQ(answer(11.2e6), ClaimAnswer::kSupported);
  EXPECT_EQ(answer(5e6), ClaimAnswer::kRefuted);
  EXPECT_EQ(answer(12.1e6), ClaimAnswer::kNotDistinguishable);
}

// Seven of eight cells are at 11 MB/s, and so is their median; one is not.
double AllButOne(const Sample& sample, double other) {
  const bool odd = WriteOf(sample) == 1 && sample.sender->host == "linux-1";
  return odd ? other : 11e6;
}

TEST(ClaimTest, EveryCellHasToHoldWhereTheClaimSaysEvery) {
  const auto ask = [](const std::string& every, double other) {
    return Ask(
        {"metric = \"throughput\"\na = { rcvbuf = 65536 }\n"
         "value = \"11MB/s\"\n" +
             every,
         [=](const Sample& sample) { return AllButOne(sample, other); }});
  };
  EXPECT_EQ(ask("", 5e6).answer, ClaimAnswer::kSupported);
  const ClaimResult one = ask("every = true", 5e6);
  EXPECT_EQ(one.answer, ClaimAnswer::kRefuted) << one.why;
  EXPECT_NEAR(*one.figure, 5e6, 0.02e6);  // Of the cell that decided.
  EXPECT_THAT(one.why, HasSubstr("write-1-"));
  EXPECT_THAT(one.why, HasSubstr("each of 8 cells by itself"));
  EXPECT_EQ(ask("every = true", 12.1e6).answer,
            ClaimAnswer::kNotDistinguishable);
  EXPECT_EQ(ask("every = true", 11e6).answer, ClaimAnswer::kSupported);
}

// --- Levels -----------------------------------------------------------------

constexpr char kLevelsAt11[] = R"(kind = "levels-off"
metric = "throughput"
a = { rcvbuf = 65536 }
across = "write"
value = "11MB/s"
)";

// 5000 bytes/s a byte of the write: 5 kB/s, 160 kB/s, 5.12 MB/s, then 11.
double RisesTo11(const Sample& sample) {
  return std::min(11e6, 5e3 * static_cast<double>(WriteOf(sample)));
}

TEST(ClaimTest, ARiseInProportionToALevelIsSupported) {
  const ClaimResult result = Ask({kLevelsAt11, RisesTo11});
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_THAT(result.why, HasSubstr("2 curves"));
}

TEST(ClaimTest, AnotherLevelIsRefuted) {
  const ClaimResult result = Ask({kLevelsAt11, [](const Sample& sample) {
                                    return std::min(6e6, RisesTo11(sample));
                                  }});
  EXPECT_EQ(result.answer, ClaimAnswer::kRefuted) << result.why;
}

// By the square root: 1, 5.7, 32 times; slopes fall.
TEST(ClaimTest, ARiseOutOfProportionIsRefuted) {
  const ClaimResult result =
      Ask({kLevelsAt11, [](const Sample& sample) {
             const auto write = static_cast<double>(WriteOf(sample));
             return write > 2000 ? 11e6 : 1e5 * std::sqrt(write);
           }});
  EXPECT_EQ(result.answer, ClaimAnswer::kRefuted) << result.why;
}

TEST(ClaimTest, AFlatCurveShowsNoRise) {
  const ClaimResult result =
      Ask({kLevelsAt11, [](const Sample&) { return 11e6; }});
  EXPECT_EQ(result.answer, ClaimAnswer::kNotDistinguishable) << result.why;
}

// --- Links ------------------------------------------------------------------

// The synthetic runs' link is of 100 Mbit/s, without delay or loss.
// Nagle is a factor of TCP's cells and not of UDP's.
TEST(ClaimTest, TcpAndUdpAreSetAgainstEachOtherWhateverOnlyOneOfThemHas) {
  const TemporaryFolder temporary;
  SyntheticRun run;
  run.rate_bits_per_second.reset();
  run.study_text = R"(title = "Both"
question = "Which is faster?"
[factors]
transport = ["tcp", "udp"]
write = [64, 1024]
[stop]
bytes = 65536
[[claim]]
id = "c"
text = "TCP is twice as fast."
metric = "throughput"
a = { transport = "tcp" }
b = { transport = "udp" }
ratio = 2
)";
  // At 64 bytes 10 and 5 MB/s, at 1024 bytes 100 and 50 MB/s: crossed pairs of
  // sizes would give 20 and 0.2.
  run.adjust = [](Sample& sample) {
    sample.receiver->bytes = WriteOf(sample) == 64 ? 10'000'000 : 100'000'000;
    sample.receiver->first_read_bytes = 0;
    sample.receiver->elapsed_ns =
        Has(sample, "transport", "tcp") ? 1'000'000'000 : 2'000'000'000;
  };
  WriteSyntheticRun(temporary.path() / "run", run);
  const Outcome<Analysis> analysis = Analyse({temporary.path() / "run"});
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  const ClaimResult& result = analysis.value().claims.at(0);
  EXPECT_EQ(result.answer, ClaimAnswer::kSupported) << result.why;
  EXPECT_THAT(result.why, HasSubstr("4 pairs of cells"));
}

TEST(ClaimTest, AClaimAboutALinkIsAnsweredFromARunWithThatLinkOnly) {
  const auto asked = [](const std::string& link) {
    return Ask(
        {"metric = \"throughput\"\na = { " + link + " }\nvalue = 1e6\n", Flat});
  };
  for (const char* link :
       {"link.rate = \"100mbit\"", "\"link.rate\" = \"0.1gbit\"",
        R"(link.delay = "none", link.loss = "none", link.router = "none")",
        "link.delay = \"0us\"", "link.delay = [\"5ms\", \"none\"]",
        "link.mtu = 1500", "link.mtu = [9000, \"1500\"]"}) {
    EXPECT_EQ(asked(link).answer, ClaimAnswer::kSupported)
        << link << ": " << asked(link).why;
    EXPECT_THAT(asked(link).why, HasSubstr("; on "));
  }
  EXPECT_THAT(asked("write = 32").why, Not(HasSubstr("; on ")));
  const ClaimResult other = asked("link.rate = \"1gbit\"");
  EXPECT_EQ(other.answer, ClaimAnswer::kNotTested);
  EXPECT_THAT(other.why, HasSubstr("no run with link.rate=1000mbit"));
  EXPECT_EQ(asked("link.loss = \"some\"").answer, ClaimAnswer::kNotTested);
  EXPECT_THAT(asked("link.delay = \"5000us\"").why,
              HasSubstr("no run with link.delay=5ms"));
  EXPECT_THAT(asked("link.mtu = 9000").why,
              HasSubstr("no run with link.mtu=9000"));
}

// --- Knees ------------------------------------------------------------------

std::string KneeAt(const std::string& check) {
  return R"(kind = "knee"
metric = "throughput"
a = { rcvbuf = 65536 }
across = "write"
)" + check;
}

// Levels off at the third of four sizes.
double LevelFrom1024(const Sample& sample) {
  return 1e3 *
         static_cast<double>(std::min<std::int64_t>(1024, WriteOf(sample)));
}

TEST(ClaimTest, AKneeWhereItIsIsSupportedAndElsewhereRefuted) {
  const ClaimResult there = Ask({KneeAt("value = 1024"), LevelFrom1024});
  EXPECT_EQ(there.answer, ClaimAnswer::kSupported) << there.why;
  EXPECT_EQ(there.figure, 1024);
  EXPECT_THAT(there.why, HasSubstr("its knee is 1,024 bytes"));
  EXPECT_EQ(Ask({KneeAt("value = 32"), LevelFrom1024}).answer,
            ClaimAnswer::kRefuted);
  EXPECT_EQ(Ask({KneeAt("at_most = \"1KiB\""), LevelFrom1024}).answer,
            ClaimAnswer::kSupported);
}

// The knee is the largest size or beyond: no upper bound can be supported.
TEST(ClaimTest, WhatStillGrowsSupportsNoKneeAtTheLargestSize) {
  const auto grows = [](const Sample& sample) {
    return 500.0 * static_cast<double>(WriteOf(sample));
  };
  EXPECT_EQ(Ask({KneeAt("value = 1024"), grows}).answer, ClaimAnswer::kRefuted);
  EXPECT_EQ(Ask({KneeAt("value = 16384"), grows}).answer,
            ClaimAnswer::kNotDistinguishable);
}

// --- Effects ----------------------------------------------------------------

constexpr char kWriteMatters[] = R"(kind = "effect-larger"
metric = "throughput"
a = {}
across = "write"
against = "rcvbuf"
at_least = 1
)";

// The write changes 16 times or twice, the buffer 4 times.
double Effects(const Sample& sample, double of_write) {
  const double write = WriteOf(sample) == 16'384 ? of_write : 1;
  return 1e5 * write * (Has(sample, "rcvbuf", "65536") ? 4 : 1);
}

TEST(ClaimTest, TheLargerEffectIsFoundEitherWay) {
  const ClaimResult more = Ask({kWriteMatters, [](const Sample& sample) {
                                  return Effects(sample, 16);
                                }});
  EXPECT_EQ(more.answer, ClaimAnswer::kSupported) << more.why;
  EXPECT_NEAR(*more.figure, 4, 0.02);
  const ClaimResult less = Ask(
      {kWriteMatters, [](const Sample& sample) { return Effects(sample, 2); }});
  EXPECT_EQ(less.answer, ClaimAnswer::kRefuted) << less.why;
  const ClaimResult same = Ask(
      {kWriteMatters, [](const Sample& sample) { return Effects(sample, 4); }});
  EXPECT_EQ(same.answer, ClaimAnswer::kNotDistinguishable) << same.why;
}

}  // namespace
}  // namespace wiretoll
