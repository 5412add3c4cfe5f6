#include "harness/analysis/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "harness/analysis/run_changes.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

std::optional<UnpairedRatio> RatioOf(const std::vector<double>& next,
                                     const std::vector<double>& base) {
  return UnpairedIntervals().Of(next, base);
}

// --- The interval ----------------------------------------------------------

// 4 against 4: 70 orders, so that 1 of them is 1.4 %, and 2 (the sums of ranks
// 10 and 11) are 2.9 %, over 2.5 %. No ratio is left out: from 8 / 4 to
// 11 / 1. Medians 9.5 and 2.5.
TEST(UnpairedTest, FourAgainstFourSpanAllRatios) {
  const auto ratio = RatioOf({8, 9, 10, 11}, {1, 2, 3, 4});
  ASSERT_TRUE(ratio->interval.has_value());
  EXPECT_DOUBLE_EQ(ratio->median, 3.8);
  EXPECT_NEAR(ratio->interval->low, 2, 1e-12);
  EXPECT_NEAR(ratio->interval->high, 11, 1e-12);
  EXPECT_EQ(ratio->verdict, Verdict::kHigher);
}

// 5 against 5: 252 orders; U of 0, 1, 2 have 1, 1, 2 of them, 4 / 252 = 1.6 %,
// with the 3 of U = 3 it were 2.8 %. So two ratios are left out at each end.
// Values 2^(10 i) above 2^j: exponents 10 i - j, i and j from 1 to 5, are
// 5, 6, 7 ... and ... 47, 48, 49.
TEST(UnpairedTest, FiveAgainstFiveLeaveTwoRatiosOutAtEachEnd) {
  std::vector<double> next;
  std::vector<double> base;
  for (int i = 1; i <= 5; ++i) {
    next.push_back(std::exp2(10 * i));
    base.push_back(std::exp2(i));
  }
  const auto ratio = RatioOf(next, base);
  ASSERT_TRUE(ratio->interval.has_value());
  EXPECT_NEAR(std::log2(ratio->interval->low), 7, 1e-9);
  EXPECT_NEAR(std::log2(ratio->interval->high), 47, 1e-9);
}

// Logarithms 1, 2, 3 against 0, 1, 2: means 1 apart, variance 1 in each, so
// that the deviation of the difference is sqrt(2 / 3); Student's t with 4
// degrees is 2.776: 1 +- 2.2666. All ratios lie in e^-1 to e^3, which is less.
TEST(UnpairedTest, ThreeAgainstThreeHaveStudentsInterval) {
  const double e = std::exp(1.0);
  const auto ratio = RatioOf({e, e * e, e * e * e}, {1, e, e * e});
  ASSERT_TRUE(ratio->interval.has_value());
  EXPECT_NEAR(std::log(ratio->interval->low), 1 - 2.2666, 1e-3);
  EXPECT_NEAR(std::log(ratio->interval->high), 1 + 2.2666, 1e-3);
  EXPECT_EQ(ratio->verdict, Verdict::kNotDistinguishable);
}

TEST(UnpairedTest, TwoBlocksHaveARatioAndNoInterval) {
  const auto ratio = RatioOf({2, 2}, {1, 1, 1, 1, 1});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->median, 2);
  EXPECT_FALSE(ratio->interval.has_value());
  EXPECT_EQ(ratio->verdict, Verdict::kNotDistinguishable);
}

TEST(UnpairedTest, ZeroAndNothingHaveNoRatio) {
  EXPECT_FALSE(RatioOf({1, 2, 3}, {0, 1, 2}).has_value());
  EXPECT_FALSE(RatioOf({0, 2, 3}, {1, 1, 2}).has_value());
  EXPECT_FALSE(RatioOf({}, {1}).has_value());
}

TEST(UnpairedTest, EqualValuesAreNotDistinguishableFromThemselves) {
  const auto ratio = RatioOf({7, 7, 7, 7, 7}, {7, 7, 7, 7, 7});
  EXPECT_EQ(ratio->interval->low, 1);
  EXPECT_EQ(ratio->interval->high, 1);
  EXPECT_EQ(ratio->verdict, Verdict::kNotDistinguishable);
}

// 300 against 300 are 90,000 ratios, which are bounded instead of sorted. The
// tail is floor(45,000 - 1.96 x sqrt(90,000 x 601 / 12) - 0.5) + 1 = 40,839 of
// the normal approximation: here counted the long way.
TEST(UnpairedTest, ManyBlocksGiveTheIntervalThatSortingAllRatiosGives) {
  std::mt19937_64 engine(4);
  std::lognormal_distribution<> draw(0, 0.3);
  std::vector<double> next(300);
  std::vector<double> base(300);
  std::vector<double> ratios;
  for (double& value : next) value = 1.1 * draw(engine);
  for (double& value : base) value = draw(engine);
  for (const double a : next) {
    for (const double b : base) ratios.push_back(a / b);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto tail = static_cast<std::size_t>(
      std::floor(45'000 - 1.96 * std::sqrt(90'000 * 601 / 12.0) - 0.5) + 1);
  const auto ratio = RatioOf(next, base);
  EXPECT_NEAR(ratio->interval->low, ratios[tail - 1], 1e-9);
  EXPECT_NEAR(ratio->interval->high, ratios[ratios.size() - tail], 1e-9);
}

struct RunNoise {
  const char* name;
  std::function<double(std::mt19937_64&)> draw;
};

std::vector<RunNoise> RunNoises() {
  return {
      {"log-normal",
       [](std::mt19937_64& engine) {
         return std::lognormal_distribution<>(0, 0.05)(engine);
       }},
      {"one-sided with outliers",
       [](std::mt19937_64& engine) {
         return 1 + std::exponential_distribution<>(20)(engine);
       }},
      {"of two modes",
       [](std::mt19937_64& engine) {
         const double mode = std::bernoulli_distribution(0.5)(engine) ? 2 : 1;
         return mode * std::exp(std::normal_distribution<>(0, 0.01)(engine));
       }},
      {"of whole numbers",
       [](std::mt19937_64& engine) {
         return 5.0 + std::poisson_distribution<>(2)(engine);
       }},
  };
}

double FalseShareOfRuns(const RunNoise& noise, int base_blocks,
                        int next_blocks) {
  constexpr int kRepeats = 200, kCells = 50;
  std::mt19937_64 engine(static_cast<std::uint64_t>(base_blocks));
  UnpairedIntervals intervals;
  int told = 0;
  for (int i = 0; i < kRepeats * kCells; ++i) {
    std::vector<double> base(static_cast<std::size_t>(base_blocks));
    std::vector<double> next(static_cast<std::size_t>(next_blocks));
    for (double& value : base) value = noise.draw(engine);
    for (double& value : next) value = noise.draw(engine);
    const auto ratio = intervals.Of(next, base);
    if (ratio->verdict != Verdict::kNotDistinguishable) ++told;
  }
  return static_cast<double>(told) / (kRepeats * kCells);
}

// 200 repeats of 50 cells: 10,000 comparisons, at 5 % with a deviation of 0.22
// %; 3.3 of those are 0.72 %.
TEST(UnpairedAaTest, TwoAlikeAreCalledDifferentInAtMostOneOfTwenty) {
  const std::vector<std::pair<int, int>> sizes{
      {3, 3}, {3, 4}, {3, 5}, {4, 4}, {5, 5}, {5, 10}, {8, 8}, {15, 15}};
  for (const RunNoise& noise : RunNoises()) {
    for (const auto& [base, next] : sizes) {
      EXPECT_LE(FalseShareOfRuns(noise, base, next), 0.05 + 0.0072)
          << noise.name << ", " << base << " against " << next;
    }
  }
}

// With 5 % of noise five values lie within some 15 % of their median: far from
// a factor of 2.
TEST(UnpairedAaTest, AFactorOfTwoIsFoundWithFiveBlocksAndNotWithTwo) {
  std::mt19937_64 engine(9);
  std::normal_distribution<> noise(0, 0.05);
  UnpairedIntervals intervals;
  for (int run = 0; run < 1000; ++run) {
    std::vector<double> base(5);
    std::vector<double> next(5);
    for (double& value : base) value = std::exp(noise(engine));
    for (double& value : next) value = 2 * std::exp(noise(engine));
    ASSERT_EQ(intervals.Of(next, base)->verdict, Verdict::kHigher) << run;
    next.resize(2);
    ASSERT_EQ(intervals.Of(next, base)->verdict, Verdict::kNotDistinguishable);
  }
}

// 2000 runs: 0.49 % is the deviation of 95 %.
TEST(UnpairedAaTest, TheIntervalHoldsTheTrueRatio) {
  for (const int blocks : {3, 4, 5, 10, 30}) {
    std::mt19937_64 engine(11);
    std::lognormal_distribution<> draw(0, 0.3);
    UnpairedIntervals intervals;
    int holds = 0;
    constexpr int kRuns = 2000;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> base(static_cast<std::size_t>(blocks));
      std::vector<double> next(base.size());
      for (double& value : base) value = draw(engine);
      for (double& value : next) value = 1.5 * draw(engine);
      const auto ratio = intervals.Of(next, base);
      if (ratio->interval->low <= 1.5 && ratio->interval->high >= 1.5) ++holds;
    }
    EXPECT_GE(static_cast<double>(holds) / kRuns, 0.95 - 3.3 * 0.0049)
        << blocks;
  }
}

// --- Run folders -----------------------------------------------------------

class CompareTest : public testing::Test {
 protected:
  // Writes both under names of their own.
  Outcome<Comparison> Compared(const SyntheticRun& base,
                               const SyntheticRun& next) {
    const auto number = std::to_string(++runs_);
    const auto base_folder = folder_.path() / ("base-" + number);
    const auto next_folder = folder_.path() / ("new-" + number);
    WriteSyntheticRun(base_folder, base);
    WriteSyntheticRun(next_folder, next);
    return CompareRuns(base_folder, next_folder);
  }

  TemporaryFolder folder_;
  int runs_ = 0;
};

SyntheticRun After() {
  SyntheticRun run;
  run.seed = 2;
  return run;
}

// Receivers' times times `factor` where `writes` bytes are written.
void Slow(Sample& sample, std::int64_t writes, double factor) {
  if (FactorValue(writes) != *FindFactor(sample.factors, "write")) return;
  sample.receiver->elapsed_ns =
      std::llround(static_cast<double>(*sample.receiver->elapsed_ns) * factor);
}

const ComparedCell& CellOf(const Comparison& comparison,
                           const std::string& case_id,
                           const std::string& sender) {
  for (const ComparedCell& cell : comparison.cells) {
    const auto some = cell.base ? *cell.base : *cell.next;
    if (cell.case_id == case_id &&
        comparison.analysis.cells[some].sender == sender) {
      return cell;
    }
  }
  ADD_FAILURE() << "no cell " << case_id << " of " << sender;
  return comparison.cells.front();
}

bool Says(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

const ChangedFact* FactOf(const Comparison& comparison,
                          const std::string& name) {
  for (const ChangedFact& fact : comparison.changed) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

// Six cells a run, two runs of 5 blocks, 200 times over another seed: 1200
// comparisons at up to 5 %, deviation 0.63 %; 3.3 of those are 2.1 %.
TEST_F(CompareTest, AnAaComparisonComesOutAsNoDifference) {
  constexpr int kRepeats = 200;
  int told = 0;
  int compared = 0;
  for (std::uint64_t repeat = 0; repeat < kRepeats; ++repeat) {
    SyntheticRun base;
    base.pairs = {{"linux-1", "linux-2"}};
    SyntheticRun next = base;
    base.seed = 2 * repeat + 1;
    next.seed = 2 * repeat + 2;
    const auto comparison = Compared(base, next);
    ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
    told += comparison.value().CountOf(Change::kFaster) +
            comparison.value().CountOf(Change::kSlower);
    compared += static_cast<int>(comparison.value().cells.size());
  }
  EXPECT_EQ(compared, kRepeats * 6);
  EXPECT_LE(static_cast<double>(told) / compared, 0.05 + 0.021);
}

// 1.5 times the time: 1 / 1.5 of the throughput, at 2 % of noise.
TEST_F(CompareTest, WhatTakesLongerIsSlowerAndStandsFirst) {
  SyntheticRun next = After();
  next.adjust = [](Sample& sample) { Slow(sample, 32, 1.5); };
  const auto comparison = Compared({}, next);
  ASSERT_TRUE(comparison.has_value());
  const auto& cells = comparison.value().cells;
  ASSERT_EQ(cells.size(), 12U);  // Six cases, two directions.
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cells[i].change, Change::kSlower) << i;
    EXPECT_NEAR(SpeedOf(cells[i])->median, 1 / 1.5, 0.05) << i;
    EXPECT_NE(cells[i].case_id.find("write-32"), std::string::npos);
  }
  EXPECT_TRUE(SlowerBy(cells[0], 0.1));
  EXPECT_FALSE(SlowerBy(cells[0], 0.5));
  EXPECT_FALSE(SlowerBy(cells[11], 0));
}

// 0.88 is beyond 10 %, the end of its interval is not.
TEST_F(CompareTest, AMedianBeyondIsNotEnoughWhereTheIntervalIsNot) {
  ComparedCell cell;
  cell.change = Change::kSlower;
  cell.figures[0].ratio =
      UnpairedRatio{0.88, Interval{0.85, 0.91}, 5, 5, Verdict::kLower};
  EXPECT_FALSE(SlowerBy(cell, 0.1));
  cell.figures[0].ratio->interval->high = 0.899;
  EXPECT_TRUE(SlowerBy(cell, 0.1));
  cell.figures[0].ratio->interval.reset();
  EXPECT_FALSE(SlowerBy(cell, 0.1));
}

TEST_F(CompareTest, RoundTripsAreFasterWhereTheyAreShorter) {
  SyntheticRun base;
  base.study_text = R"(title = "Rounds"
question = "?"
[factors]
pattern = ["request-response"]
request = ["1"]
reply = ["1"]
[stop]
messages = 50
)";
  SyntheticRun next = base;
  next.seed = 2;
  next.adjust = [](Sample& sample) { sample.sender->latency->p50_ns /= 2; };
  const auto comparison = Compared(base, next);
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  const ComparedCell& cell = comparison.value().cells.front();
  EXPECT_EQ(cell.judged_by, wiretoll::Compared::kRoundTrip);
  EXPECT_EQ(cell.change, Change::kFaster);
  EXPECT_NEAR(cell.figure(wiretoll::Compared::kRoundTrip).ratio->median, 0.5,
              0.05);
  EXPECT_NEAR(SpeedOf(cell)->median, 2, 0.2);
}

// 100,000 bytes in writes of 32: 3125 writes; with Nagle ceil(100,000 / 1448)
// = 70 segments, 70 / 3125 = 0.0224 a write. CPU 1 ms and 0.5 ms a 100,000
// bytes: 10 and 5 ns a byte; three times that in NEW.
TEST_F(CompareTest, CpuAndSegmentsStandBeside) {
  SyntheticRun next = After();
  next.adjust = [](Sample& sample) { *sample.receiver->cpu_ns *= 3; };
  const auto comparison = Compared({}, next);
  ASSERT_TRUE(comparison.has_value());
  const ComparedCell& cell =
      CellOf(comparison.value(), "write-32-nagle-on", "linux-1");
  using Which = wiretoll::Compared;
  EXPECT_NEAR(*cell.figure(Which::kSegmentsPerWrite).base, 0.0224, 1e-9);
  EXPECT_DOUBLE_EQ(*cell.figure(Which::kSenderCpu).base, 10);
  EXPECT_DOUBLE_EQ(cell.figure(Which::kSenderCpu).ratio->median, 1);
  EXPECT_DOUBLE_EQ(cell.figure(Which::kReceiverCpu).ratio->median, 3);
  EXPECT_FALSE(cell.figure(Which::kRoundTrip).ratio.has_value());
  EXPECT_FALSE(cell.figure(Which::kRoundTrip).why.empty());
}

TEST_F(CompareTest, WhatFailedInOneIsMissingThereWithItsReason) {
  SyntheticRun next = After();
  next.adjust = [](Sample& sample) {
    if (sample.case_id != "write-1-nagle-off") return;
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "the peer reset the connection";
  };
  const auto comparison = Compared({}, next);
  ASSERT_TRUE(comparison.has_value());
  const ComparedCell& cell = comparison.value().cells.back();
  EXPECT_EQ(cell.case_id, "write-1-nagle-off");
  EXPECT_EQ(cell.change, Change::kMissing);
  EXPECT_EQ(cell.missing_in, "NEW");
  EXPECT_EQ(cell.why, "every trial failed: the peer reset the connection");
  EXPECT_TRUE(cell.figures[0].base.has_value());
  EXPECT_EQ(comparison.value().CountOf(Change::kMissing), 2);
}

TEST_F(CompareTest, APairThatOnlyOneRunHasIsMissingInTheOther) {
  SyntheticRun base;
  base.pairs = {{"linux-1", "linux-2"}};
  const auto comparison = Compared(base, After());
  ASSERT_TRUE(comparison.has_value());
  const ComparedCell& cell =
      CellOf(comparison.value(), "write-1-nagle-on", "linux-2");
  EXPECT_EQ(cell.change, Change::kMissing);
  EXPECT_EQ(cell.missing_in, "BASE");
  EXPECT_EQ(cell.why, "that run holds no trial of it");
}

TEST_F(CompareTest, TooFewBlocksGiveNoVerdictAndSayWhy) {
  SyntheticRun base;
  base.blocks = 2;
  const auto comparison = Compared(base, After());
  ASSERT_TRUE(comparison.has_value());
  for (const ComparedCell& cell : comparison.value().cells) {
    EXPECT_EQ(cell.change, Change::kNotDistinguishable);
    EXPECT_EQ(cell.why, "fewer than three blocks give no interval");
  }
}

TEST_F(CompareTest, DifferentStudiesAreRefusedByName) {
  SyntheticRun next;
  next.study_name = "another";
  const auto comparison = Compared({}, next);
  ASSERT_FALSE(comparison.has_value());
  EXPECT_EQ(comparison.error().code, ExitCode::kUsage);
  for (const char* part : {"synthetic", "another", "base-1", "new-1"}) {
    EXPECT_NE(comparison.error().message.find(part), std::string::npos) << part;
  }
}

TEST_F(CompareTest, AFolderThatIsNoRunIsAnsweredAsByReport) {
  const auto nothing = folder_.path() / "nothing";
  WriteSyntheticRun(folder_.path() / "run", {});
  const auto report = Analyse({nothing});
  const auto comparison = CompareRuns(folder_.path() / "run", nothing);
  ASSERT_FALSE(comparison.has_value());
  EXPECT_EQ(comparison.error().message, report.error().message);
  EXPECT_EQ(comparison.error().code, report.error().code);
}

// The same name, but twice the bytes: no case is the same.
TEST_F(CompareTest, ACaseThatStopsElsewhereIsNotTheSameCase) {
  SyntheticRun next = After();
  next.study_text = SyntheticStudyText();
  const std::size_t at = next.study_text.find("100000");
  next.study_text.replace(at, 6, "200000");
  const auto comparison = Compared({}, next);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison.value().CountOf(Change::kMissing), 12);
  EXPECT_TRUE(Says(comparison.value().notes, "text of study synthetic"));
  EXPECT_FALSE(comparison.value().cells[0].figures[0].ratio.has_value());
}

TEST_F(CompareTest, VersionsSeedsAndLinksAreTold) {
  SyntheticRun next = After();
  next.rate_bits_per_second = 10e6;
  const auto comparison = Compared({}, next);
  ASSERT_TRUE(comparison.has_value());
  const ChangedFact* seed = FactOf(comparison.value(), "seed");
  ASSERT_NE(seed, nullptr);
  EXPECT_EQ(seed->base.value, "1");
  EXPECT_EQ(seed->next.value, "2");
  EXPECT_TRUE(Says(comparison.value().notes, "link differs"));
  EXPECT_EQ(FactOf(comparison.value(), "wiretoll"), nullptr);
}

TEST_F(CompareTest, ADifferentWiretollIsANote) {
  WriteSyntheticRun(folder_.path() / "base", {});
  RunRecord record = SyntheticRecord(After());
  record.wiretoll_version = "9.9.9";
  ASSERT_TRUE(CreateRunFolder(folder_.path() / "new", record).has_value());
  const auto comparison =
      CompareRuns(folder_.path() / "base", folder_.path() / "new");
  ASSERT_TRUE(comparison.has_value());
  EXPECT_TRUE(Says(comparison.value().notes, "0.1.0 and 9.9.9"));
  EXPECT_EQ(FactOf(comparison.value(), "wiretoll")->next.value, "9.9.9");
}

TEST_F(CompareTest, TheSameRunTwiceIsTold) {
  WriteSyntheticRun(folder_.path() / "run", {});
  const auto comparison =
      CompareRuns(folder_.path() / "run", folder_.path() / "run");
  ASSERT_TRUE(comparison.has_value());
  EXPECT_TRUE(Says(comparison.value().notes, "same run"));
  EXPECT_EQ(comparison.value().CountOf(Change::kNotDistinguishable), 12);
}

// --- Hosts and facts -------------------------------------------------------

RunRecord RecordOf(std::vector<SyntheticHost> hosts) {
  SyntheticRun run;
  run.hosts = std::move(hosts);
  return SyntheticRecord(run);
}

TEST(MatchHostsTest, TheSameNamesAreTheSameHosts) {
  const HostMatch match =
      MatchHosts(RecordOf({{"a"}, {"b"}}), RecordOf({{"b"}, {"a"}}));
  EXPECT_TRUE(match.by_name);
  EXPECT_EQ(match.hosts.at("a"), "a");
  EXPECT_EQ(match.hosts.at("b"), "b");
}

TEST(MatchHostsTest, OtherNamesAreMatchedBySystemWhereThatIsTheOnlyWay) {
  const HostMatch match =
      MatchHosts(RecordOf({{"a"}, {"b", "windows", "Windows 11"}}),
                 RecordOf({{"x", "windows", "Windows 11"}, {"y"}}));
  EXPECT_FALSE(match.by_name);
  EXPECT_EQ(match.hosts.at("a"), "y");
  EXPECT_EQ(match.hosts.at("b"), "x");
  EXPECT_NE(match.how.find("a = y, b = x"), std::string::npos) << match.how;
  EXPECT_NE(match.how.find("only way that keeps systems"), std::string::npos);
}

TEST(MatchHostsTest, OneHostUnderAnotherNameIsTheOneThatIsLeft) {
  const HostMatch match =
      MatchHosts(RecordOf({{"client"}, {"server"}}),
                 RecordOf({{"client"}, {"server-2", "windows", "Windows"}}));
  EXPECT_EQ(match.hosts.at("client"), "client");
  EXPECT_EQ(match.hosts.at("server"), "server-2");
}

// Both ways keep systems and directions; the listed order is taken, and said.
TEST(MatchHostsTest, EqualHostsAreMatchedInTheOrderListedAndThatIsSaid) {
  const HostMatch match =
      MatchHosts(RecordOf({{"a"}, {"b"}}), RecordOf({{"x"}, {"y"}}));
  EXPECT_EQ(match.hosts.at("a"), "x");
  EXPECT_EQ(match.hosts.at("b"), "y");
  EXPECT_NE(match.how.find("order in which the runs list them"),
            std::string::npos)
      << match.how;
}

TEST(MatchHostsTest, AnotherNumberOfHostsIsNotMatchedAndThatIsSaid) {
  const HostMatch match =
      MatchHosts(RecordOf({{"a"}, {"b"}}), RecordOf({{"a"}, {"x"}, {"y"}}));
  EXPECT_EQ(match.hosts.size(), 1U);
  EXPECT_EQ(match.hosts.at("a"), "a");
  EXPECT_NE(match.how.find("of BASE b, of NEW x, y"), std::string::npos)
      << match.how;
}

TEST(MatchHostsTest, ADirectionIsKept) {
  RunRecord base = RecordOf({{"a"}, {"b"}});
  RunRecord next = RecordOf({{"x"}, {"y"}});
  base.pairs = {{"a", "b"}};
  next.pairs = {{"y", "x"}};
  const HostMatch match = MatchHosts(base, next);
  EXPECT_EQ(match.hosts.at("a"), "y");
  EXPECT_EQ(match.hosts.at("b"), "x");
}

TEST(ChangedFactsTest, WhatAllHostsShareIsOneEntryAndTwoReasonsAreNone) {
  RunRecord base = RecordOf({{"a"}, {"b"}});
  RunRecord next = base;
  for (RecordedHost& host : base.hosts) {
    host.facts = {{"kernel", std::string("6.1"), {}, {}},
                  {"governor", {}, {}, "no file one"},
                  {"speed_mbit", {}, {}, "no line"}};
  }
  for (RecordedHost& host : next.hosts) {
    host.facts = {{"kernel", std::string("6.12"), {}, {}},
                  {"governor", {}, {}, "no file two"},
                  {"speed_mbit", std::int64_t{1000}, {}, {}}};
  }
  const auto changes = ChangedFacts(base, next, MatchHosts(base, next));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].name, "kernel");
  EXPECT_EQ(changes[0].where, "a, b");
  EXPECT_EQ(changes[0].base.value, "6.1");
  EXPECT_EQ(changes[0].next.value, "6.12");
  EXPECT_EQ(changes[1].name, "speed_mbit");
  EXPECT_EQ(changes[1].base.value, std::nullopt);
  EXPECT_EQ(changes[1].base.why, "no line");
  EXPECT_EQ(changes[1].next.value, "1000");
}

// Commands spell their seed out, so that every two would differ.
TEST(ChangedFactsTest, ASeedAloneMakesNoOtherCommand) {
  RunRecord base = RecordOf({{"a"}, {"b"}});
  base.command = {"wiretoll", "run", "quick", "--seed", "1"};
  RunRecord next = base;
  next.seed = 5;
  next.command.back() = "5";
  const auto changes = ChangedFacts(base, next, MatchHosts(base, next));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].name, "seed");
}

}  // namespace
}  // namespace wiretoll
