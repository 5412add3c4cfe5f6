// A run on loopback with the real agent, and with agents that misbehave: what
// fails costs its own trials and nothing else.
#include "harness/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/process.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr char kStudy[] = R"(
title = "Two cases"
question = "Do two cases run?"
[factors]
write = [100]
nagle = ["on", "off"]
[stop]
messages = 20
)";
constexpr int kCases = 2;

constexpr char kUdpStudy[] = R"(
title = "Datagrams"
question = "Do they add up?"
[factors]
transport = ["udp"]
write = [1, 100]
gap = ["20us"]
[stop]
messages = 50
)";

Host RealHost(const std::string& name, const std::string& address) {
  return {name, address, {WIRETOLL_AGENT}};
}

Host FakeHost(const std::string& name, const std::string& mode) {
  return {name, "127.0.0.3", {FAKE_AGENT, mode}};
}

class RunTest : public testing::Test {
 protected:
  // As in main(): an agent that is gone is an error and not a signal.
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }

  RunSpec Spec(std::vector<Host> hosts, int blocks = 2) {
    RunSpec spec;
    auto study = ParseStudy(study_, "two.toml");
    EXPECT_TRUE(study.has_value()) << study.error().message;
    spec.studies.push_back(study.value());
    std::vector<std::string> names;
    names.reserve(hosts.size());
    for (const Host& host : hosts) names.push_back(host.name);
    spec.hosts = std::move(hosts);
    spec.pairs = AllPairs(names);
    spec.blocks = blocks;
    spec.seed = 7;
    // Ports of its own: tests run beside each other.
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const auto place = std::hash<std::string>{}(test->name()) % 40;
    spec.first_port = static_cast<std::uint16_t>(17000 + 100 * place);
    spec.last_port = static_cast<std::uint16_t>(spec.first_port + 99);
    spec.trial_deadline = 1500ms;
    spec.folder = folder_.path() / "run";
    spec.record.studies = {{"two", "two.toml", study_}};
    spec.record.seed = spec.seed;
    for (const Pair& pair : spec.pairs)
      spec.record.pairs.emplace_back(pair.sender, pair.receiver);
    spec.record.link.kind = "loopback";
    spec.record.link.description = "loopback";
    return spec;
  }

  std::vector<Host> TwoRealHosts() {
    return {RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2")};
  }

  Outcome<RunSummary> Go(RunSpec spec) {
    RunHooks hooks;
    hooks.guard = KeepFromChildren;
    hooks.account = [](const std::filesystem::path&, int, Sample& sample) {
      sample.wire.emplace();
    };
    hooks.seen = [this](const Sample& sample) { seen_.push_back(sample); };
    hooks.enough = [this] { return enough_; };
    Progress progress({true, false},
                      [this](const std::string& text) { said_ += text; });
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

  // With two good hosts and one bad: the good pair's trials are fine in both
  // directions, the four pairs with the bad host failed.
  void ExpectOnlyHost(const std::string& bad, const std::string& words,
                      int cases = kCases) {
    int good = 0;
    for (const Sample& sample : OnDisk()) {
      const bool concerned = sample.trial.find(bad) != std::string::npos;
      if (concerned) {
        EXPECT_EQ(sample.outcome, TrialOutcome::kFailed) << sample.trial;
        EXPECT_THAT(sample.reason, HasSubstr(words)) << sample.trial;
        EXPECT_THAT(sample.reason, HasSubstr(bad)) << sample.trial;
      } else {
        EXPECT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
        ++good;
      }
    }
    EXPECT_EQ(good, cases * 2);  // One block, two directions.
  }

  // A trial with a silent host takes seconds: one case may do.
  void RunWithBadHost(const std::string& mode, const std::string& words,
                      int cases = kCases) {
    auto hosts = TwoRealHosts();
    hosts.push_back(FakeHost("bad", mode));
    RunSpec spec = Spec(hosts, 1);
    spec.studies[0].cases.resize(static_cast<std::size_t>(cases));
    const auto summary = Go(spec);
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_EQ(summary.value().ok, cases * 2);
    EXPECT_EQ(summary.value().failed, cases * 4);
    EXPECT_EQ(summary.value().left, 0);
    ExpectOnlyHost("bad", words, cases);
  }

  std::string SaidOf(const std::vector<std::string>& command);

  TemporaryFolder folder_;
  std::vector<Sample> seen_;
  std::string said_;
  std::string study_ = kStudy;
  bool enough_ = false;
};

TEST_F(RunTest, EveryCellOfEveryBlockIsOnDiskOnce) {
  const auto summary = Go(Spec(TwoRealHosts(), 3));
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  const auto samples = OnDisk();
  // 2 cases x 2 directions x 3 blocks.
  ASSERT_EQ(samples.size(), 12U);
  std::set<std::string> ids;
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
    EXPECT_EQ(sample.sender->bytes, 20 * 100);
    EXPECT_EQ(sample.receiver->bytes, 20 * 100);
    EXPECT_EQ(sample.link, "loopback");
    ids.insert(sample.trial);
  }
  EXPECT_EQ(ids.size(), samples.size());
  EXPECT_EQ(summary.value().ok, 12);
  EXPECT_EQ(summary.value().blocks, 3);
  EXPECT_EQ(seen_.size(), 12U);
}

TEST_F(RunTest, OrderIsThatOfThePlanAndIsWrittenDown) {
  const RunSpec spec = Spec(TwoRealHosts(), 2);
  std::vector<std::string> planned;
  for (int block = 0; block < 2; ++block) {
    for (const auto& trial :
         MakeBlock(spec.studies, {{"a", "b"}, spec.pairs}, block, spec.seed))
      planned.push_back(trial.id);
  }
  ASSERT_TRUE(Go(spec).has_value());
  std::vector<std::string> ran;
  std::int64_t order = 0;
  for (const Sample& sample : OnDisk()) {
    ran.push_back(sample.trial);
    EXPECT_EQ(sample.order, order++);
  }
  EXPECT_EQ(ran, planned);
}

TEST_F(RunTest, EnoughEndsTheRunAfterABlock) {
  enough_ = true;
  const auto summary = Go(Spec(TwoRealHosts(), 50));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary.value().blocks, 1);
  EXPECT_EQ(OnDisk().size(), 4U);
}

TEST_F(RunTest, ResumeDoesOnlyWhatIsMissing) {
  RunSpec spec = Spec(TwoRealHosts(), 2);
  ASSERT_TRUE(Go(spec).has_value());
  // As a kill would leave it: three whole lines and half of the fourth.
  const auto file = spec.folder / "samples.jsonl";
  std::ifstream in(file, std::ios::binary);
  std::string kept;
  std::string line;
  for (int i = 0; i < 3 && std::getline(in, line); ++i) kept += line + "\n";
  std::getline(in, line);
  in.close();
  std::ofstream(file, std::ios::binary) << kept << line.substr(0, 40);

  spec.resume = true;
  const auto summary = Go(spec);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary.value().before, 3);
  EXPECT_EQ(summary.value().ok, 8);
  std::map<std::string, int> times;
  for (const Sample& sample : OnDisk()) ++times[sample.trial];
  EXPECT_EQ(times.size(), 8U);
  for (const auto& [id, count] : times) EXPECT_EQ(count, 1) << id;
}

TEST_F(RunTest, ResumeRefusesAnotherRun) {
  RunSpec spec = Spec(TwoRealHosts(), 1);
  ASSERT_TRUE(Go(spec).has_value());
  spec.resume = true;
  spec.record.seed = spec.seed + 1;
  const auto summary = Go(spec);
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ExitCode::kUsage);
  EXPECT_THAT(summary.error().message, HasSubstr("another seed"));
}

TEST_F(RunTest, NewRunRefusesAFolderThatHoldsOne) {
  ASSERT_TRUE(Go(Spec(TwoRealHosts(), 1)).has_value());
  const auto again = Go(Spec(TwoRealHosts(), 1));
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message, HasSubstr("run"));
}

TEST_F(RunTest, AgentThatDiesCostsItsTrialsOnly) {
  RunWithBadHost("dies", "the agent ended; it said: out of luck");
}

TEST_F(RunTest, AgentThatHangsCostsItsTrialsOnly) {
  RunWithBadHost("hangs", "no answer", 1);
}

TEST_F(RunTest, StoppedAgentCostsItsTrialsOnly) {
  RunWithBadHost("stops", "no answer", 1);
}

// On loopback nothing is lost that is sent slowly enough; the sum has to come
// out all the same, and both agents read one clock.
TEST_F(RunTest, DatagramsAddUpInEverySample) {
  study_ = kUdpStudy;
  ASSERT_TRUE(Go(Spec(TwoRealHosts(), 1)).has_value());
  const auto samples = OnDisk();
  ASSERT_EQ(samples.size(), 4U);
  for (const Sample& sample : samples) {
    ASSERT_EQ(sample.outcome, TrialOutcome::kOk) << sample.reason;
    const Datagrams& datagrams = sample.datagrams.value();
    EXPECT_EQ(datagrams.sent, 50);
    EXPECT_EQ(
        datagrams.sent,
        datagrams.received - datagrams.duplicated.value_or(0) + datagrams.lost);
    // No interface has b's address itself: loopback's is 127.0.0.1.
    const bool known = sample.sender->host == "a";
    EXPECT_EQ(datagrams.fragments_each.has_value(), known);
    if (!known) {
      EXPECT_THAT(datagrams.reason, HasSubstr("MTU"));
    }
    if (sample.case_id != "write-100") continue;
    ASSERT_TRUE(sample.receiver->datagrams->delay.has_value())
        << sample.receiver->why_null.at("datagrams.delay");
    EXPECT_EQ(sample.receiver->datagrams->delay_error_ns, 0);
  }
}

TEST_F(RunTest, AgentThatDiesInAUdpTrialCostsItsTrialsOnly) {
  study_ = kUdpStudy;
  RunWithBadHost("dies", "the agent ended; it said: out of luck");
}

TEST_F(RunTest, StoppedAgentOfAUdpTrialCostsItsTrialsOnly) {
  study_ = kUdpStudy;
  RunWithBadHost("stops", "no answer", 1);
}

// A trial is not the worse for it: only one-way delays are not given.
TEST_F(RunTest, AnAgentThatCannotTellItsClockIsAskedForTheTrialAllTheSame) {
  study_ = kUdpStudy;
  auto hosts = TwoRealHosts();
  hosts[1] = FakeHost("bad", "no-clock");
  ASSERT_TRUE(Go(Spec(hosts, 1)).has_value());
  for (const Sample& sample : OnDisk()) {
    EXPECT_EQ(sample.outcome, TrialOutcome::kFailed);
    EXPECT_THAT(sample.reason, HasSubstr("bad"));
    EXPECT_THAT(sample.reason, testing::Not(HasSubstr("clock")));
  }
}

TEST_F(RunTest, AgentThatPrintsGarbageCostsItsTrialsOnly) {
  RunWithBadHost(
      "garbage",
      "said what is no answer: \"Segmentation fault (core dumped)\"");
}

TEST_F(RunTest, AgentWithALineThatDoesNotEndCostsItsTrialsOnly) {
  RunWithBadHost("endless-line", "line that does not end");
}

TEST_F(RunTest, AgentWithWrongTypesCostsItsTrialsOnly) {
  RunWithBadHost("wrong-types", "port");
}

TEST_F(RunTest, AgentWithAnAbsurdPortCostsItsTrialsOnly) {
  RunWithBadHost("absurd-port", "port");
}

TEST_F(RunTest, APortThatIsNoDataPortIsNotConnectedTo) {
  auto hosts = TwoRealHosts();
  hosts.pop_back();
  hosts.push_back(FakeHost("bad", "other-port"));
  RunSpec spec = Spec(hosts, 1);
  spec.pairs = {{hosts[0].name, "bad"}};
  spec.record.pairs = {{hosts[0].name, "bad"}};
  const auto summary = Go(spec);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary.value().failed, kCases);
  for (const Sample& sample : OnDisk()) {
    EXPECT_THAT(sample.reason, HasSubstr("port 22, which is none of"));
  }
}

TEST_F(RunTest, AgentWithHalfAReportCostsItsTrialsOnly) {
  RunWithBadHost("half-report", "bad");
}

TEST_F(RunTest, AnswerToAnotherRequestIsNotTaken) {
  RunWithBadHost("other-id", "no");
}

TEST_F(RunTest, AgentOfAnotherVersionIsNamed) {
  RunWithBadHost("other-version", "version 0.0.1");
  EXPECT_THAT(said_, HasSubstr("copy the wiretoll-agent of this version"));
}

TEST_F(RunTest, AgentOfAnotherProtocolIsNamed) {
  RunWithBadHost("other-protocol", "9");
}

TEST_F(RunTest, HostThatCannotBeReachedCostsItsTrialsOnly) {
  auto hosts = TwoRealHosts();
  hosts.push_back({"bad", "127.0.0.3", {"/no/such/program"}});
  const auto summary = Go(Spec(hosts, 1));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary.value().failed, kCases * 4);
  ExpectOnlyHost("bad", "/no/such/program");
}

TEST_F(RunTest, ProgramThatIsNotOnThePathIsNamed) {
  auto hosts = TwoRealHosts();
  hosts.push_back({"bad", "127.0.0.3", {"no-such-program-anywhere"}});
  ASSERT_TRUE(Go(Spec(hosts, 1)).has_value());
  ExpectOnlyHost("bad", "no program \"no-such-program-anywhere\"");
}

// Sends what is no agent in place of one, and gives what was said of it.
std::string RunTest::SaidOf(const std::vector<std::string>& command) {
  auto hosts = TwoRealHosts();
  hosts[1] = {"bad", "127.0.0.2", command};
  const auto summary = Go(Spec(hosts, 1));
  EXPECT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ExitCode::kNothingRan);
  EXPECT_EQ(said_.rfind("wiretoll: host bad: ", 0), 0U) << said_;
  EXPECT_THAT(said_, HasSubstr("must start wiretoll-agent"));
  return said_;
}

TEST_F(RunTest, AProgramThatIsNoAgentIsQuotedSafely) {
  EXPECT_THAT(
      SaidOf({"printf", "\\033[2Jhello \"you\"\\n"}),
      HasSubstr(R"(no wiretoll-agent: it said "\x1b[2Jhello \"you\"")"));
  EXPECT_EQ(said_.find('\x1b'), std::string::npos);
}

TEST_F(RunTest, AProgramThatFloodsIsNoAgentEither) {
  EXPECT_THAT(SaidOf({"yes"}), HasSubstr("no wiretoll-agent: it said \"y\""));
}

TEST_F(RunTest, AnEchoIsNoAgent) {
  EXPECT_THAT(SaidOf({"cat"}),
              HasSubstr("no wiretoll-agent: it repeats what it is told"));
}

TEST_F(RunTest, AProgramThatEndsWithoutAWordIsNoAgent) {
  EXPECT_THAT(SaidOf({"true"}), HasSubstr("the agent ended"));
  EXPECT_THAT(said_, HasSubstr("true --version"));
}

TEST_F(RunTest, WithoutAnyPairNothingRuns) {
  const auto summary = Go(
      Spec({RealHost("a", "127.0.0.1"), FakeHost("bad", "other-version")}, 1));
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ExitCode::kNothingRan);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run"));
}

TEST_F(RunTest, WhatAHostCannotDoIsSkippedWithTheReason) {
  auto hosts = TwoRealHosts();
  hosts.push_back(FakeHost("bad", "skips"));
  const auto summary = Go(Spec(hosts, 1));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary.value().skipped, kCases * 4);
  EXPECT_EQ(summary.value().failed, 0);
  for (const Sample& sample : OnDisk()) {
    if (sample.outcome != TrialOutcome::kSkipped) continue;
    EXPECT_THAT(sample.reason, HasSubstr("no such option here"));
    EXPECT_THAT(sample.reason, HasSubstr("bad"));
  }
}

TEST_F(RunTest, AgentThatWasKilledIsStartedAgainForTheNextTrial) {
  // Kills itself in each of its trials; every one of them says so, though
  // it was started anew each time.
  auto hosts = TwoRealHosts();
  hosts[1] = FakeHost("bad", "dies");
  const auto summary = Go(Spec(hosts, 3));
  ASSERT_TRUE(summary.has_value());
  // 2 cases x 2 directions x 3 blocks.
  EXPECT_EQ(summary.value().failed, 12);
  for (const Sample& sample : OnDisk())
    EXPECT_THAT(sample.reason, HasSubstr("the agent ended"));
}

TEST_F(RunTest, AnAddressThatIsNotThisHostsIsSaid) {
  auto hosts = TwoRealHosts();
  hosts[1].address = "192.0.2.77";
  const auto summary = Go(Spec(hosts, 1));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary.value().failed, 4);
  for (const Sample& sample : OnDisk())
    EXPECT_THAT(sample.reason, HasSubstr("192.0.2.77"));
}

TEST_F(RunTest, HostNamesAreTextEverywhere) {
  const std::string odd = "хост `touch /tmp/wt-odd` $(id) \"q\" <script>";
  auto hosts = TwoRealHosts();
  hosts[0].name = odd;
  const auto summary = Go(Spec(hosts, 1));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary.value().ok, 4);
  for (const Sample& sample : OnDisk()) {
    EXPECT_TRUE(sample.sender->host == odd || sample.receiver->host == odd);
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/wt-odd"));
}

TEST_F(RunTest, InterruptKeepsWhatWasMeasured) {
  RunSpec spec = Spec(TwoRealHosts(), 1000);
  int seen = 0;
  RunHooks hooks;
  hooks.guard = KeepFromChildren;
  hooks.account = [](const std::filesystem::path&, int, Sample& sample) {
    sample.wire.emplace();
  };
  hooks.seen = [&](const Sample&) {
    if (++seen == 5) std::raise(SIGINT);
  };
  hooks.enough = [] { return false; };
  Progress progress({true, false}, [](const std::string&) {});
  const auto summary = wiretoll::Run(spec, hooks, progress);
  ASSERT_TRUE(summary.has_value());
  EXPECT_TRUE(summary.value().interrupted);
  EXPECT_EQ(summary.value().ok, 5);
  EXPECT_EQ(summary.value().left, 4000 - 5);
  EXPECT_EQ(OnDisk().size(), 5U);
}

}  // namespace
}  // namespace wiretoll
