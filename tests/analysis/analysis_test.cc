#include "harness/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Analysis AnalyseRuns(const std::vector<SyntheticRun>& runs) {
  const TemporaryFolder temporary;
  std::vector<std::filesystem::path> folders;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    folders.push_back(temporary.path() / std::to_string(i));
    WriteSyntheticRun(folders.back(), runs[i]);
  }
  Outcome<Analysis> analysis = Analyse(folders);
  EXPECT_TRUE(analysis.has_value()) << analysis.error().message;
  return analysis.has_value() ? std::move(analysis).value() : Analysis();
}

const Cell& CellOf(const Analysis& analysis, std::int64_t write,
                   const std::string& nagle) {
  const auto found = std::find_if(
      analysis.cells.begin(), analysis.cells.end(), [&](const Cell& cell) {
        return *FindFactor(cell.factors, "write") == FactorValue(write) &&
               *FindFactor(cell.factors, "nagle") == FactorValue(nagle);
      });
  return *found;
}

double MedianOf(const Cell& cell, Metric metric) {
  return cell.figure(metric).value().median;
}

// Without noise the model's figures come back: single bytes without Nagle are
// 91 bytes of line each, 12.5 MB/s / 91; with Nagle full segments.
TEST(AnalysisTest, FiguresOfASyntheticRunAreItsModels) {
  const Analysis analysis = AnalyseRuns({{.noise = 0}});
  ASSERT_EQ(analysis.cells.size(), 12U);  // 3 x 2 cases, 2 pairs.
  EXPECT_EQ(analysis.ok, 60);
  EXPECT_EQ(analysis.blocks, 5);
  EXPECT_THAT(analysis.notes, testing::IsEmpty());
  const Cell& off = CellOf(analysis, 1, "off");
  EXPECT_NEAR(MedianOf(off, Metric::kThroughput), 12.5e6 / 91, 1);
  EXPECT_NEAR(MedianOf(off, Metric::kEfficiency), 1.0 / 91, 1e-12);
  EXPECT_DOUBLE_EQ(MedianOf(off, Metric::kBytesPerSegment), 1);
  EXPECT_EQ(off.figure(Metric::kThroughput)->blocks, 5);
  EXPECT_EQ(off.sender_os, "linux");
  EXPECT_EQ(off.ok, 5);
  const Cell& on = CellOf(analysis, 1, "on");
  // ceil(100,000 / 1448) = 70 segments of 90 bytes more than their payload.
  EXPECT_DOUBLE_EQ(MedianOf(on, Metric::kDataSegments), 70);
  EXPECT_NEAR(MedianOf(on, Metric::kEfficiency), 100'000.0 / 106'300, 1e-12);
  EXPECT_EQ(analysis.agreement.equal, 60);
}

TEST(AnalysisTest, CellsHaveTheoryAndCapacityOfWhatWasNegotiated) {
  const Analysis analysis = AnalyseRuns({{.noise = 0}});
  const Cell& cell = CellOf(analysis, 1, "off");
  ASSERT_TRUE(cell.theory.has_value()) << cell.why_no_theory;
  EXPECT_EQ(cell.theory->mss, 1448);
  EXPECT_EQ(cell.theory->worst_segments, 100'000);
  ASSERT_TRUE(cell.capacity.has_value()) << cell.why_no_capacity;
  // Floats hold seven digits.
  EXPECT_NEAR(cell.capacity->payload + cell.capacity->headers +
                  cell.capacity->framing + cell.capacity->retransmission +
                  cell.capacity->window_wait + cell.capacity->ack_wait +
                  cell.capacity->program_wait,
              1, 1e-6);
  EXPECT_NEAR(cell.capacity->payload, 1.0 / 91, 1e-4);
}

TEST(AnalysisTest, MissingFiguresSayWhyEachOnItsOwn) {
  const Analysis analysis =
      AnalyseRuns({{.rate_bits_per_second = std::nullopt}});
  const Cell& cell = analysis.cells.front();
  EXPECT_FALSE(cell.figure(Metric::kLineShare).has_value());
  EXPECT_THAT(cell.why_missing.at(Metric::kLineShare), HasSubstr("rate"));
  EXPECT_THAT(cell.why_missing.at(Metric::kLatencyP50),
              HasSubstr("no round trips"));
  EXPECT_FALSE(cell.why_missing.contains(Metric::kThroughput));
  EXPECT_FALSE(cell.capacity.has_value());
  EXPECT_THAT(cell.why_no_capacity, HasSubstr("rate"));
  EXPECT_FALSE(cell.theory->best_throughput.has_value());
}

// Switching Nagle on over single bytes: 91 bytes of line a byte become 1538 for
// 1448; 70 segments instead of 100,000. Over full segments: nothing.
TEST(AnalysisTest, EffectsCompareCellsThatDifferInOneFactor) {
  const Analysis analysis = AnalyseRuns({{.noise = 0.001}});
  int found = 0;
  for (const Effect& effect : analysis.effects) {
    const Cell& base = analysis.cells[effect.base_cell];
    const Cell& other = analysis.cells[effect.other_cell];
    if (effect.factor == "pair") continue;
    EXPECT_EQ(base.sender, other.sender);
    if (effect.factor != "nagle" || effect.metric != Metric::kEfficiency) {
      continue;
    }
    ++found;
    EXPECT_EQ(effect.base, FactorValue("off"));
    EXPECT_EQ(effect.other, FactorValue("on"));
    const auto write = *FindFactor(base.factors, "write");
    EXPECT_EQ(write, *FindFactor(other.factors, "write"));
    if (write == FactorValue(1)) {
      EXPECT_NEAR(effect.ratio.median, 91 * 100'000.0 / 106'300, 1e-6);
      EXPECT_EQ(effect.ratio.verdict, Verdict::kHigher);
    }
    if (write == FactorValue(1448)) {
      EXPECT_EQ(effect.ratio.verdict, Verdict::kNotDistinguishable);
    }
  }
  EXPECT_EQ(found, 6);  // 3 writes, 2 pairs.
}

TEST(AnalysisTest, WritesAreComparedWithTheNextSmaller) {
  const Analysis analysis = AnalyseRuns({{}});
  std::vector<std::pair<FactorValue, FactorValue>> steps;
  for (const Effect& effect : analysis.effects) {
    if (effect.factor == "write") steps.emplace_back(effect.base, effect.other);
  }
  EXPECT_THAT(steps, Contains(std::pair(FactorValue(1), FactorValue(32))));
  EXPECT_THAT(steps, Contains(std::pair(FactorValue(32), FactorValue(1448))));
  EXPECT_THAT(steps,
              Not(Contains(std::pair(FactorValue(1), FactorValue(1448)))));
}

TEST(AnalysisTest, BuffersAndReadersHaveTheirNaturalBase) {
  const Analysis analysis = AnalyseRuns({{.study_text = R"(title = "B"
question = "Which base?"
[factors]
rcvbuf = [2, "unset", 65536]
read = [1, 65536]
[stop]
bytes = 100000
)"}});
  for (const Effect& effect : analysis.effects) {
    if (effect.factor == "rcvbuf") {
      EXPECT_EQ(effect.base, FactorValue("unset"));
    }
    if (effect.factor == "read") {
      EXPECT_EQ(effect.base, FactorValue(65536));
      EXPECT_EQ(effect.other, FactorValue(1));
    }
  }
}

// Two hosts alike: the ratio of the pairs must not be called different.
TEST(AnalysisTest, PairsAreComparedBlockByBlock) {
  const Analysis analysis =
      AnalyseRuns({{.blocks = 7, .adjust = [](Sample& sample) {
                      if (sample.sender->host == "linux-2") {
                        sample.receiver->elapsed_ns =
                            *sample.receiver->elapsed_ns * 2;
                      }
                    }}});
  int pairs = 0;
  for (const Effect& effect : analysis.effects) {
    if (effect.factor != "pair" || effect.metric != Metric::kThroughput) {
      continue;
    }
    ++pairs;
    EXPECT_EQ(effect.base, FactorValue("linux-1:linux-2"));
    EXPECT_EQ(effect.ratio.verdict, Verdict::kLower);
    EXPECT_NEAR(effect.ratio.median, 0.5, 0.05);
  }
  EXPECT_EQ(pairs, 6);
}

// 40 writes and Nagle make no difference here: all cells of one size are
// alike. 200 A/A comparisons at 5 %: 10, deviation 3.08; 10 + 3.3 x 3.08 = 20.
TEST(AnalysisTest, AnAaRunComesOutAsNoDifference) {
  std::string writes;
  for (int i = 0; i < 40; ++i) {
    writes += (i > 0 ? ", " : "") + std::to_string(1448 * (i + 1));
  }
  int compared = 0;
  int different = 0;
  for (std::uint64_t seed = 1; compared < 200; ++seed) {
    const Analysis analysis = AnalyseRuns(
        {{.study_text = "title = \"A/A\"\nquestion = \"None?\"\n[factors]\n"
                        "nagle = [\"on\", \"off\"]\nwrite = [" +
                        writes + "]\n[stop]\nbytes = 1000000\n",
          .noise = 0.05,
          .seed = seed}});
    for (const Effect& effect : analysis.effects) {
      if (effect.factor != "nagle" || effect.metric != Metric::kThroughput) {
        continue;
      }
      ++compared;
      if (effect.ratio.verdict != Verdict::kNotDistinguishable) ++different;
    }
  }
  EXPECT_LE(different, 20) << "of " << compared;
}

TEST(AnalysisTest, RunsAreNeitherPooledNorPaired) {
  SyntheticRun twice{.seed = 2};
  const Analysis analysis = AnalyseRuns({{}, twice});
  EXPECT_EQ(analysis.studies.size(), 1U);  // The same text.
  EXPECT_EQ(analysis.cells.size(), 24U);
  EXPECT_EQ(analysis.blocks, 10);
  const auto index = static_cast<std::size_t>(Metric::kThroughput);
  const BlockValues& first = analysis.cells[0].by_block[index];
  const BlockValues& second = analysis.cells[12].by_block[index];
  EXPECT_EQ(analysis.cells[12].run, 1U);
  EXPECT_EQ(analysis.cells[12].case_id, analysis.cells[0].case_id);
  EXPECT_FALSE(PairedRatio(first, second, 1).has_value());
}

// 0.9, 0.5 and 0.99 of layer 1: Student's interval of three would go far
// over 1.
TEST(AnalysisTest, AnIntervalStaysWithinWhatIsPossible) {
  const Analysis analysis =
      AnalyseRuns({{.blocks = 3, .adjust = [](Sample& sample) {
                      constexpr std::array kShares{0.9, 0.5, 0.99};
                      sample.wire->l1_bytes = static_cast<std::int64_t>(
                          static_cast<double>(sample.receiver->bytes) /
                          kShares[static_cast<std::size_t>(sample.repeat)]);
                    }}});
  const Estimate& estimate =
      *analysis.cells.front().figure(Metric::kEfficiency);
  EXPECT_NEAR(estimate.median, 0.9, 1e-4);
  EXPECT_EQ(estimate.interval->high, 1);
}

// --- Bad days ---------------------------------------------------------------

TEST(AnalysisTest, FailedSkippedAndDisturbedTrialsAreCountedAndGrouped) {
  const Analysis analysis = AnalyseRuns({{.adjust = [](Sample& sample) {
    if (sample.repeat == 1) {
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = "connect 10.0.0.2:70" +
                      std::to_string(sample.trial.size()) + ": refused";
      sample.sender.reset();
      sample.receiver.reset();
      sample.wire.reset();
    }
    if (sample.repeat == 2) {
      sample.sender->disturbance.disturbed = true;
      sample.sender->disturbance.reason = "3 ms of CPU stolen";
      sample.receiver->disturbance = sample.sender->disturbance;
    }
    if (sample.repeat == 3) {
      sample.outcome = TrialOutcome::kSkipped;
      sample.reason = "no quickack here";
    }
  }}});
  EXPECT_EQ(analysis.cells.size(), 12U);  // Their pair is in the trial's id.
  EXPECT_EQ(analysis.ok, 36);
  EXPECT_EQ(analysis.failed, 12);
  EXPECT_EQ(analysis.skipped, 12);
  EXPECT_EQ(analysis.disturbed, 12);
  const Cell& cell = analysis.cells.front();
  EXPECT_EQ(cell.failed, 1);
  EXPECT_EQ(cell.figure(Metric::kThroughput)->blocks, 3);  // Disturbed is in.
  ASSERT_EQ(analysis.problems.size(), 3U);
  EXPECT_EQ(analysis.problems[0].outcome, TrialOutcome::kFailed);
  EXPECT_EQ(analysis.problems[0].trials, 12);  // Ports differ, the kind not.
  EXPECT_THAT(analysis.problems[0].example, HasSubstr("synthetic/"));
  EXPECT_EQ(analysis.problems[1].outcome, TrialOutcome::kSkipped);
  EXPECT_TRUE(analysis.problems[2].disturbed);
  EXPECT_EQ(analysis.problems[2].trials, 12);
}

TEST(AnalysisTest, ACellWithoutAnOkTrialSaysWhy) {
  const Analysis analysis = AnalyseRuns({{.adjust = [](Sample& sample) {
    sample.outcome = TrialOutcome::kSkipped;
    sample.reason = "no such option";
  }}});
  const Cell& cell = analysis.cells.front();
  EXPECT_EQ(cell.reason, "every trial was skipped");
  EXPECT_FALSE(cell.figure(Metric::kThroughput).has_value());
  EXPECT_FALSE(cell.theory.has_value());
}

TEST(AnalysisTest, DifferingCountsAreGroupedByCauseWithoutNumbers) {
  const Analysis analysis = AnalyseRuns({{.adjust = [](Sample& sample) {
    if (sample.repeat == 0) {
      sample.wire->agreement =
          "different: " + std::to_string(sample.trial.size()) +
          " lost on the way";
    }
    if (sample.repeat == 1) sample.wire->agreement = "one observer";
  }}});
  EXPECT_EQ(analysis.agreement.equal, 36);
  EXPECT_EQ(analysis.agreement.different, 12);
  EXPECT_EQ(analysis.agreement.one_observer, 12);
  ASSERT_EQ(analysis.agreement.causes.size(), 1U);
  EXPECT_EQ(analysis.agreement.causes.at("# lost on the way"), 12);
}

TEST(AnalysisTest, TheBufferTableHasRequestedReadBackAndWindow) {
  const Analysis analysis = AnalyseRuns({{.study_text = R"(title = "B"
question = "What is read back?"
[factors]
rcvbuf = [2, "unset", 65536]
[stop]
bytes = 100000
)"}});
  const auto row = [&](const std::string& requested) {
    return *std::find_if(analysis.buffers.begin(), analysis.buffers.end(),
                         [&](const BufferRow& one) {
                           return one.host == "linux-1" &&
                                  one.buffer == "rcvbuf" &&
                                  one.requested == requested;
                         });
  };
  EXPECT_EQ(row("2").effective_low, 2304);
  EXPECT_EQ(row("2").effective_high, 2304);
  EXPECT_EQ(row("2").initial_window, 1152);
  EXPECT_THAT(row("2").note, HasSubstr("raised"));
  EXPECT_EQ(row("65536").effective_low, 131'072);
  EXPECT_EQ(row("unset").effective_low, 131'072);
}

TEST(AnalysisTest, AnIncompleteBlockAndATornLineAreSaid) {
  const TemporaryFolder temporary;
  const auto folder = temporary.path() / "run";
  WriteSyntheticRun(folder, {});
  const auto file = folder / "samples.jsonl";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 10);
  const Outcome<Analysis> analysis = Analyse({folder});
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  EXPECT_EQ(analysis.value().blocks, 4);
  EXPECT_THAT(analysis.value().notes, Contains(HasSubstr("torn")));
  EXPECT_THAT(analysis.value().notes, Contains(HasSubstr("11 of 12")));
}

// Two programs writing into one folder, or a file copied onto itself.
TEST(AnalysisTest, ATrialThatStandsTwiceCountsOnceAndIsSaid) {
  const TemporaryFolder temporary;
  const auto folder = temporary.path() / "run";
  WriteSyntheticRun(folder, {});
  const auto file = folder / "samples.jsonl";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::ofstream(file, std::ios::app) << text.str();
  const auto analysis = Analyse({folder});
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  EXPECT_EQ(analysis.value().ok, 60);  // 3 x 2 cases, 2 pairs, 5 blocks.
  EXPECT_EQ(analysis.value().agreement.equal, 60);
  EXPECT_THAT(analysis.value().notes, Contains(HasSubstr("60 samples are of")));
}

// 100 Mbit/s carry 12.5 MB/s; a stream of 100,000 bytes read within 1 ms came
// out of buffers.
TEST(AnalysisTest, WhatSeemsFasterThanTheLineHasNoThroughput) {
  const Analysis analysis = AnalyseRuns({{.adjust = [](Sample& sample) {
    sample.receiver->elapsed_ns = 1'000'000;
  }}});
  for (const Cell& cell : analysis.cells) {
    EXPECT_FALSE(cell.figure(Metric::kThroughput).has_value());
    EXPECT_THAT(cell.why_missing.at(Metric::kThroughput),
                HasSubstr("faster than the line"));
    EXPECT_EQ(cell.ok, 5);  // The trial counts; its rate is not known.
  }
}

// 90,000 bytes in 1 ms are 90 MB/s.
TEST(AnalysisTest, WhatSeemsSteadyFasterThanTheLineIsNoFigureEither) {
  const Analysis analysis = AnalyseRuns({{.adjust = [](Sample& sample) {
    sample.receiver->steady_bytes = 90'000;
    sample.receiver->steady_elapsed_ns = 1'000'000;
  }}});
  for (const Cell& cell : analysis.cells) {
    EXPECT_TRUE(cell.figure(Metric::kThroughput).has_value());
    EXPECT_FALSE(cell.figure(Metric::kSteadyThroughput).has_value());
    EXPECT_THAT(cell.why_missing.at(Metric::kSteadyThroughput),
                HasSubstr("faster than the line"));
  }
}

TEST(AnalysisTest, WhatIsNoRunFolderIsAUsageErrorThatNamesIt) {
  const Outcome<Analysis> nothing = Analyse({});
  EXPECT_EQ(nothing.error().code, ExitCode::kUsage);
  const Outcome<Analysis> missing = Analyse({"/nowhere/at/all"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ExitCode::kUsage);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace wiretoll
