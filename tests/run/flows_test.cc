// Flows at once on loopback with the real agent: every one a sample, whatever
// becomes of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/run/run.h"
#include "harness/run/trial.h"
#include "harness/run/trial_time.h"
#include "platform/process.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// --- How much they were together

TrialResult UnderWay(std::chrono::milliseconds begin,
                     std::chrono::milliseconds end) {
  TrialResult result;
  result.under_way = TimeSpan{SteadyTime{} + begin, SteadyTime{} + end};
  return result;
}

// All three run from 20 to 100 ms: 80 of 100, of 80 and of 160 ms.
TEST(OverlapTest, IsTheShareOfAFlowsTimeThatAllWereUnderWay) {
  const auto shares = Overlaps(
      {UnderWay(0ms, 100ms), UnderWay(20ms, 100ms), UnderWay(10ms, 170ms)});
  EXPECT_DOUBLE_EQ(shares.at(0).value(), 0.8);
  EXPECT_DOUBLE_EQ(shares.at(1).value(), 1);
  EXPECT_DOUBLE_EQ(shares.at(2).value(), 0.5);
}

TEST(OverlapTest, FlowsOneAfterTheOtherHaveNone) {
  const auto shares = Overlaps({UnderWay(0ms, 10ms), UnderWay(20ms, 30ms)});
  EXPECT_EQ(shares.at(0), 0);
  EXPECT_EQ(shares.at(1), 0);
}

TEST(OverlapTest, IsNotKnownIfOneGaveNoTime) {
  const auto shares = Overlaps({UnderWay(0ms, 10ms), TrialResult{}});
  EXPECT_EQ(shares.at(0), std::nullopt);
  EXPECT_EQ(shares.at(1), std::nullopt);
}

// 10 MB at 20 kB/s are 500 s, of eight flows 4000 s and more, which is the
// most.
TEST(FlowTimeTest, FlowsThatShareALineGetLonger) {
  Workload workload;
  workload.stop_bytes = Bytes{1'000'000};
  RecordedLink link;
  const auto alone = DeadlineFor(workload, link);
  // 1 MB at 20 kB/s: 50 s for each flow more.
  EXPECT_EQ(DeadlineFor(workload, link, 4) - alone, 150s);
  workload.stop_bytes = Bytes{10'000'000};
  EXPECT_EQ(DeadlineFor(workload, link, 64), 4000s);
  link.rate_bits_per_second = 8e6;  // 1 MB/s: ten seconds, or forty.
  const auto grown =
      ExpectedTime(workload, link, 4) - ExpectedTime(workload, link);
  EXPECT_NEAR(static_cast<double>(grown.count()), 30e9, 1e6);
}

// --- Runs

constexpr char kFlows[] = R"(
title = "Flows"
question = "Do they run at once?"
[factors]
write = [1000]
topology = [TOPOLOGY]
streams = [STREAMS]
[stop]
STOP
)";

class FlowRunTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }

  RunSpec Spec(const std::string& topology, int streams,
               const std::string& stop = "bytes = 1000000", int blocks = 2) {
    std::string text = kFlows;
    text.replace(text.find("TOPOLOGY"), 8, topology);
    text.replace(text.find("STREAMS"), 7, std::to_string(streams));
    text.replace(text.find("STOP"), 4, stop);
    RunSpec spec;
    auto study = ParseStudy(text, "flows.toml");
    EXPECT_TRUE(study.has_value()) << study.error().message;
    spec.studies.push_back(study.value());
    std::vector<std::string> names;
    for (const char* name : {"a", "b", "c"}) {
      const std::string number = std::to_string(names.size() + 1);
      spec.hosts.push_back({name, "127.0.0." + number, {WIRETOLL_AGENT}});
      names.emplace_back(name);
    }
    spec.pairs = AllPairs(names);
    spec.blocks = blocks;
    spec.seed = 7;
    spec.first_port = 22'000;
    spec.last_port = 22'399;
    spec.folder = folder_.path() / "run";
    spec.record.studies = {{"flows", "flows.toml", text}};
    spec.record.seed = spec.seed;
    for (const Pair& pair : spec.pairs) {
      spec.record.pairs.emplace_back(pair.sender, pair.receiver);
    }
    spec.record.link.kind = "loopback";
    spec.record.link.description = "loopback";
    return spec;
  }

  Outcome<RunSummary> Go(RunSpec spec) {
    RunHooks hooks;
    hooks.guard = KeepFromChildren;
    hooks.account = [](const std::filesystem::path&, int, Sample& sample) {
      sample.wire.emplace();
    };
    hooks.seen = [this](const Sample& sample) {
      if (on_sample_) on_sample_(sample);
    };
    hooks.enough = [] { return false; };
    Progress progress({true, false}, [](const std::string&) {});
    return wiretoll::Run(std::move(spec), hooks, progress);
  }

  std::vector<Sample> OnDisk() {
    std::vector<Sample> samples;
    const auto read = ForEachSample(
        folder_.path() / "run",
        [&](Sample&& sample) { samples.push_back(std::move(sample)); });
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return samples;
  }

  // Group -> its flows' trials.
  std::map<std::string, std::set<std::string>> Groups() {
    std::map<std::string, std::set<std::string>> groups;
    for (const Sample& sample : OnDisk()) {
      EXPECT_TRUE(sample.flow.has_value()) << sample.trial;
      if (sample.flow) groups[sample.flow->group].insert(sample.trial);
    }
    return groups;
  }

  TemporaryFolder folder_;
  std::function<void(const Sample&)> on_sample_;
};

TEST_F(FlowRunTest, EveryFlowOfEveryTopologyIsASampleOfItsGroup) {
  const auto summary =
      Go(Spec("\"all-to-all\", \"one-to-many\", \"ring\", \"pair\"", 2));
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  // Two streams each of 6 + 6 + 3 + 6 pairs, in two blocks.
  EXPECT_EQ(summary.value().ok, 2 * 21 * 2);
  EXPECT_EQ(summary.value().left, 0);
  std::map<std::string, int> groups;
  for (const auto& [group, trials] : Groups()) {
    ++groups[std::to_string(trials.size())];
  }
  // 12 flows; 3 groups of 4; 6 flows; 6 groups of 2.
  const std::map<std::string, int> expected{
      {"12", 2}, {"4", 6}, {"6", 2}, {"2", 12}};
  EXPECT_EQ(groups, expected);
  for (const Sample& sample : OnDisk()) {
    EXPECT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
    EXPECT_EQ(sample.sender->bytes, 1'000'000);
    EXPECT_EQ(sample.receiver->bytes, 1'000'000);
    ASSERT_TRUE(sample.flow->overlap.has_value());
    EXPECT_GE(*sample.flow->overlap, 0);
    EXPECT_LE(*sample.flow->overlap, 1);
  }
}

TEST_F(FlowRunTest, FlowsThatLastAreUnderWayTogether) {
  const auto summary = Go(Spec("\"all-to-all\"", 1, "seconds = \"400ms\"", 1));
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  const auto samples = OnDisk();
  ASSERT_EQ(samples.size(), 6U);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
    EXPECT_GT(sample.flow->overlap.value_or(0), 0) << sample.trial;
    EXPECT_EQ(sample.sender->bytes, sample.receiver->bytes);
  }
}

TEST_F(FlowRunTest, OverUdpEveryDatagramOfEveryFlowIsAccountedFor) {
  RunSpec spec = Spec("\"ring\"", 2, "messages = 200", 1);
  spec.studies[0].cases[0].workload.transport = Transport::kUdp;
  spec.studies[0].cases[0].workload.gap = 100us;
  const auto summary = Go(spec);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  const auto samples = OnDisk();
  ASSERT_EQ(samples.size(), 6U);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
    ASSERT_TRUE(sample.datagrams.has_value());
    EXPECT_EQ(sample.datagrams->sent + sample.datagrams->not_sent, 200);
    EXPECT_EQ(sample.datagrams->sent,
              sample.datagrams->received -
                  sample.datagrams->duplicated.value_or(0) +
                  sample.datagrams->lost);
  }
}

TEST_F(FlowRunTest, CapturesAreNotMadeAndTheSampleSaysSo) {
  RunSpec spec = Spec("\"ring\"", 1, "messages = 10", 1);
  spec.capture = true;
  ASSERT_TRUE(Go(spec).has_value());
  const auto samples = OnDisk();
  ASSERT_EQ(samples.size(), 3U);
  for (const Sample& sample : samples) {
    ASSERT_TRUE(sample.capture.has_value());
    EXPECT_THAT(sample.capture->reason, HasSubstr("flows at once"));
  }
}

TEST_F(FlowRunTest, AHostThatCannotBeHadCostsItsFlowsOnly) {
  RunSpec spec = Spec("\"all-to-all\"", 1, "bytes = 1000000", 1);
  spec.hosts[2].agent = {"/no/such/program"};
  const auto summary = Go(spec);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  // a to b and back; four flows have an end at c.
  EXPECT_EQ(summary.value().ok, 2);
  EXPECT_EQ(summary.value().failed, 4);
  for (const Sample& sample : OnDisk()) {
    EXPECT_EQ(sample.flow->flows, 6);
    if (sample.outcome == TrialOutcome::kOk) continue;
    EXPECT_THAT(sample.reason, HasSubstr("/no/such/program"));
    EXPECT_EQ(sample.flow->overlap, std::nullopt);
  }
}

// Kills the process whose id stands in `pid`, half a second after `begun` is
// there.
void KillSoonAfter(const std::filesystem::path& begun,
                   const std::filesystem::path& pid) {
  for (int tries = 0; tries < 600 && !std::filesystem::exists(begun); ++tries) {
    std::this_thread::sleep_for(50ms);
  }
  std::this_thread::sleep_for(500ms);
  int id = 0;
  std::ifstream(pid) >> id;
  if (id > 0) ::kill(id, SIGKILL);
}

TEST_F(FlowRunTest, AnAgentKilledInTheMiddleCostsItsFlowsOnly) {
  RunSpec spec = Spec("\"all-to-all\"", 1, "seconds = 2", 2);
  const auto pid = folder_.path() / "pid";
  // The first of c's agents only: the next lives.
  spec.hosts[2].agent = {"/bin/sh", "-c",
                         "[ -e \"$1\" ] || echo $$ >\"$1\"; exec \"$0\"",
                         WIRETOLL_AGENT, pid.string()};
  std::thread killer(KillSoonAfter, spec.folder / "samples.jsonl", pid);
  const auto summary = Go(spec);
  killer.join();
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  // In the first block c's four flows; a to b and back go on to their end.
  EXPECT_EQ(summary.value().failed, 4);
  EXPECT_EQ(summary.value().ok, 2 + 6);
  for (const Sample& sample : OnDisk()) {
    if (sample.outcome == TrialOutcome::kOk) continue;
    EXPECT_EQ(sample.repeat, 0);
    EXPECT_THAT(sample.reason, HasSubstr(" c: the agent ended"));
  }
}

// As kills would leave the file: the last group cut at every kind of place.
TEST_F(FlowRunTest, ResumeDoesATornGroupAgainAndDoublesNothing) {
  RunSpec spec = Spec("\"all-to-all\"", 1, "messages = 20", 2);
  ASSERT_TRUE(Go(spec).has_value());
  const auto file = spec.folder / "samples.jsonl";
  std::vector<std::string> lines;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  in.close();
  ASSERT_EQ(lines.size(), 12U);
  spec.resume = true;
  for (const std::size_t kept : {0U, 1U, 5U, 6U, 7U, 11U, 12U}) {
    std::string text;
    for (std::size_t i = 0; i < kept; ++i) text += lines[i];
    if (kept < 12) text += lines[kept].substr(0, 40);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    const auto summary = Go(spec);
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    // Whole groups of six stay.
    EXPECT_EQ(summary.value().before, static_cast<int>(kept / 6 * 6));
    EXPECT_EQ(summary.value().ok, 12);
    EXPECT_EQ(summary.value().left, 0);
    EXPECT_EQ(OnDisk().size(), 12U);
    const auto groups = Groups();
    ASSERT_EQ(groups.size(), 2U);
    for (const auto& [group, trials] : groups) EXPECT_EQ(trials.size(), 6U);
  }
}

TEST_F(FlowRunTest, AnInterruptLeavesNoHalfGroup) {
  RunSpec spec = Spec("\"ring\"", 1, "messages = 20", 1000);
  int seen = 0;
  on_sample_ = [&](const Sample&) {
    if (++seen == 6) std::raise(SIGINT);
  };
  const auto summary = Go(spec);
  ASSERT_TRUE(summary.has_value());
  EXPECT_TRUE(summary.value().interrupted);
  EXPECT_EQ(OnDisk().size() % 3, 0U);
  for (const auto& [group, trials] : Groups()) EXPECT_EQ(trials.size(), 3U);
}

}  // namespace
}  // namespace wiretoll
