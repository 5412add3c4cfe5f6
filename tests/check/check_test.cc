// A check on loopback with the real agent, and with agents that misbehave: a
// bad host costs its own answers and nobody else's.
#include "harness/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/version.h"
#include "platform/process.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = CheckProblem::Kind;

Host RealHost(const std::string& name, const std::string& address) {
  return {name, address, {WIRETOLL_AGENT}};
}

Host FakeHost(const std::string& mode) {
  return {"bad", "127.0.0.3", {FAKE_AGENT, mode}};
}

class CheckTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }

  // Tests run beside each other; and no system gives these to who asks for
  // any port.
  static PortRange OwnPorts() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const auto place = std::hash<std::string>{}(test->name()) % 40;
    const auto first = static_cast<std::uint16_t>(22000 + 100 * place);
    return {first, static_cast<std::uint16_t>(first + 99)};
  }

  CheckReport Check(std::vector<Host> hosts) {
    CheckSpec spec;
    spec.file = "hosts.toml";
    spec.hosts = std::move(hosts);
    const PortRange ports = OwnPorts();
    spec.first_port = ports.first;
    spec.last_port = ports.last;
    if (last_port_ != 0) spec.first_port = spec.last_port = last_port_;
    spec.declared_mtu = declared_mtu_;
    spec.guard = KeepFromChildren;
    Progress progress({quiet_, false}, [this](const std::string& text) {
      said_ += text;
      if (on_progress_) on_progress_();
    });
    return CheckHosts(spec, progress);
  }

  // a and b are well, and so are the two pairs of them.
  static void ExpectTheOthersAreWell(const CheckReport& report) {
    for (const char* good : {"a", "b"}) {
      const HostCheck& host = Find(report, good);
      EXPECT_TRUE(host.usable);
      EXPECT_TRUE(host.problems.empty());
      EXPECT_TRUE(host.sends.tried);
      EXPECT_TRUE(host.receives.tried);
    }
    EXPECT_EQ(Find(report, "a", "b").full_segments, true);
    EXPECT_EQ(Find(report, "b", "a").full_segments, true);
  }

  // The one problem that a bad third host has.
  CheckProblem ProblemOfBad(const std::string& mode) {
    return ProblemOfBad(FakeHost(mode));
  }
  CheckProblem ProblemOfBad(const Host& bad) {
    const CheckReport report =
        Check({RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2"), bad});
    ExpectTheOthersAreWell(report);
    EXPECT_EQ(CodeOf(report), ExitCode::kSomeTrialsFailed);
    EXPECT_FALSE(Find(report, "bad").usable);
    for (const auto& [from, to] :
         {std::pair{"a", "bad"}, {"bad", "a"}, {"b", "bad"}, {"bad", "b"}}) {
      EXPECT_FALSE(Find(report, from, to).reaches.has_value());
      EXPECT_THAT(Find(report, from, to).not_tried, HasSubstr("bad"));
    }
    const auto problems = ProblemsOf(report);
    if (problems.size() != 1) {
      ADD_FAILURE() << problems.size() << " problems";
      return {};
    }
    EXPECT_THAT(problems.front().what, HasSubstr("host bad: "));
    return problems.front();
  }

  static const HostCheck& Find(const CheckReport& report,
                               const std::string& name) {
    for (const HostCheck& host : report.hosts) {
      if (host.host.name == name) return host;
    }
    throw std::runtime_error("no host " + name);
  }

  static const PairCheck& Find(const CheckReport& report,
                               const std::string& sender,
                               const std::string& receiver) {
    for (const PairCheck& pair : report.pairs) {
      if (pair.sender == sender && pair.receiver == receiver) return pair;
    }
    throw std::runtime_error("no pair");
  }

  std::string said_;
  std::function<void()> on_progress_;
  bool quiet_ = true;
  std::uint16_t last_port_ = 0;
  std::optional<std::int64_t> declared_mtu_;
};

TEST_F(CheckTest, TwoGoodHostsAreWellInBothDirections) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2")});
  EXPECT_EQ(CodeOf(report), ExitCode::kDone);
  EXPECT_TRUE(ProblemsOf(report).empty());
  ASSERT_EQ(report.pairs.size(), 2U);
  for (const PairCheck& pair : report.pairs) {
    EXPECT_EQ(pair.reaches, true);
    EXPECT_EQ(pair.full_segments, true);
    ASSERT_TRUE(pair.round_trip.value) << pair.round_trip.reason;
    EXPECT_GT(pair.round_trip.value->count, 0);
    EXPECT_GT(pair.round_trip.value->p50_ns, 0);
    // Neither sees less than the other where both ends are one kernel.
    EXPECT_EQ(pair.sender_counts, pair.receiver_counts);
  }
  for (const HostCheck& host : report.hosts) {
    ASSERT_TRUE(host.hello);
    EXPECT_EQ(host.hello->version, kVersion);
    EXPECT_EQ(host.sends.seen.size(), 5U);
    EXPECT_EQ(host.receives.seen.size(), 2U);
  }
}

// One clock, so the truth is 0, which must lie within the bound; what the
// agent's own two looks add is a fraction of it.
TEST_F(CheckTest, ClocksOfOneMachineAreTheSameWithinTheBound) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2")});
  for (const HostCheck& host : report.hosts) {
    ASSERT_TRUE(host.clock.value) << host.clock.reason;
    const auto [ahead, within] = *host.clock.value;
    EXPECT_GT(within.count(), 0);
    EXPECT_LE(std::abs(ahead.count()), 2 * within.count());
  }
}

TEST_F(CheckTest, AClockThatIsAnHourAheadIsTold) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("an-hour-ahead")});
  const auto& ahead = Find(report, "bad").clock.value;
  ASSERT_TRUE(ahead) << Find(report, "bad").clock.reason;
  const Nanoseconds hour = 1h;
  EXPECT_LE(std::abs((ahead->ahead - hour).count()), 2 * ahead->within.count());
  ASSERT_EQ(Find(report, "bad").notes.size(), 1U);
  EXPECT_THAT(Find(report, "bad").notes.front(),
              HasSubstr("ahead of this machine's"));
}

TEST_F(CheckTest, MtuOfThePathIsHeldAgainstTheFile) {
  declared_mtu_ = 1400;  // Loopback's is no such thing.
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2")});
  const PairCheck& pair = Find(report, "a", "b");
  if (!pair.path_mtu_bytes.value) {
    GTEST_SKIP() << "the path's MTU is not told here: "
                 << pair.path_mtu_bytes.reason
                 << "; Linux tells it: run it there";
  }
  // Loopback's may be 65536, which IPv4's length field cannot say (RFC
  // 791 3.1).
  const auto mtu = Find(report, "a").mtu_bytes.value;
  ASSERT_TRUE(mtu);
  EXPECT_EQ(pair.path_mtu_bytes.value, std::min<std::int64_t>(*mtu, 65535));
  ASSERT_EQ(pair.notes.size(), 1U);
  EXPECT_THAT(pair.notes.front(), HasSubstr("hosts.toml says 1400"));
  EXPECT_EQ(CodeOf(report), ExitCode::kDone);  // Good to know, no problem.
}

TEST_F(CheckTest, AgentOfAnotherVersionIsNamed) {
  const CheckProblem problem = ProblemOfBad("other-version");
  EXPECT_EQ(problem.kind, Kind::kVersion);
  EXPECT_THAT(problem.what, HasSubstr("0.0.1"));
  EXPECT_THAT(problem.what, HasSubstr("copy the wiretoll-agent"));
}

TEST_F(CheckTest, AgentOfAnotherProtocolIsNamed) {
  const CheckProblem problem = ProblemOfBad("other-protocol");
  EXPECT_EQ(problem.kind, Kind::kAgent);
  EXPECT_THAT(problem.what, HasSubstr("protocol version 9"));
}

TEST_F(CheckTest, WhatIsNoAgentIsTold) {
  const CheckProblem problem = ProblemOfBad(Host{"bad", "127.0.0.3", {"cat"}});
  EXPECT_EQ(problem.kind, Kind::kAgent);
  EXPECT_THAT(problem.what, HasSubstr("it repeats what it is told"));
}

TEST_F(CheckTest, ProgramThatIsNotThereIsTold) {
  const CheckProblem problem =
      ProblemOfBad(Host{"bad", "127.0.0.3", {"/no/such/agent"}});
  EXPECT_THAT(problem.what, HasSubstr("/no/such/agent"));
}

TEST_F(CheckTest, AgentThatDiesIsTold) {
  EXPECT_THAT(ProblemOfBad("dies").what, HasSubstr("out of luck"));
}

TEST_F(CheckTest, AgentThatDiesInATrialOfAPairIsTold) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), RealHost("b", "127.0.0.2"),
             FakeHost("dies-later")});
  ExpectTheOthersAreWell(report);
  const auto problems = ProblemsOf(report);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().kind, Kind::kAgent);
  EXPECT_THAT(problems.front().what, HasSubstr("host bad: in a trial from a"));
  // It is not tried again with the other.
  EXPECT_THAT(Find(report, "b", "bad").not_tried, HasSubstr("bad"));
}

// A refusal is no problem: what is lost is a capture, and the reason is told.
TEST_F(CheckTest, SaysWhereARunMayCapture) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("an-hour-ahead")});
  const HostCheck& fake = report.hosts[1];
  EXPECT_EQ(fake.captures, false);
  EXPECT_EQ(fake.why_no_captures, "this host has no eyes");
  // The real one may with the right to, and else says what would give it.
  const HostCheck& real = report.hosts[0];
  ASSERT_TRUE(real.captures.has_value());
  const std::string may_not =
      "no right to capture; run the agent as root, or once, on that host: "
      "setcap cap_net_raw+ep PATH/OF/wiretoll-agent";
  EXPECT_EQ(real.why_no_captures, *real.captures ? "" : may_not);
}

TEST_F(CheckTest, StoppedAgentIsTold) {
  const CheckProblem problem = ProblemOfBad("stops");
  EXPECT_EQ(problem.kind, Kind::kAgent);
  EXPECT_THAT(problem.what, HasSubstr("no answer within"));
}

TEST_F(CheckTest, AgentThatDiesWhenAskedForTheTimeIsTold) {
  EXPECT_THAT(ProblemOfBad("dies-at-clock").what, HasSubstr("agent ended"));
}

// What cannot be observed has a reason, and is no problem.
TEST_F(CheckTest, AnAgentWithoutAClockHasTheReason) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("no-clock")});
  const auto& clock = Find(report, "bad").clock;
  EXPECT_FALSE(clock.value);
  EXPECT_EQ(clock.reason, "this host has no clock");
}

TEST_F(CheckTest, AgentThatPrintsGarbageIsTold) {
  EXPECT_THAT(ProblemOfBad("garbage").what, HasSubstr("Segmentation fault"));
}

TEST_F(CheckTest, AnAddressThatIsNotTheHostsIsTold) {
  // RFC 5737: nobody's.
  const CheckProblem problem = ProblemOfBad(RealHost("bad", "192.0.2.77"));
  EXPECT_EQ(problem.kind, Kind::kAddress);
  EXPECT_THAT(problem.what, HasSubstr("no address 192.0.2.77"));
  ASSERT_EQ(problem.remedies.size(), 1U);
  EXPECT_THAT(problem.remedies.front().words, HasSubstr("hosts.toml"));
}

TEST_F(CheckTest, DataPortsThatAreTakenAreTold) {
  // One that a and b have free, whatever other tests do.
  auto holder = OpenTcp("127.0.0.3", OwnPorts());
  ASSERT_TRUE(holder.has_value());
  ASSERT_TRUE(holder.value().Listen().has_value());
  last_port_ = holder.value().LocalEndpoint().value().port;
  const CheckProblem problem = ProblemOfBad(RealHost("bad", "127.0.0.3"));
  EXPECT_EQ(problem.kind, Kind::kAddress);
  EXPECT_THAT(problem.what, HasSubstr(std::to_string(last_port_)));
  EXPECT_THAT(problem.what, HasSubstr("in use"));
}

TEST_F(CheckTest, Ipv4AndIpv6DoNotMeet) {
  if (!OpenTcp("::1", {}).has_value()) {
    GTEST_SKIP() << "no IPv6 here: sysctl net.ipv6.conf.lo.disable_ipv6=0";
  }
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), RealHost("b", "::1")});
  EXPECT_EQ(CodeOf(report), ExitCode::kSomeTrialsFailed);
  for (const PairCheck& pair : report.pairs) {
    EXPECT_EQ(pair.reaches, false);
    ASSERT_TRUE(pair.problem);
    EXPECT_EQ(pair.problem->kind, Kind::kReach);
    EXPECT_THAT(pair.problem->remedies.front().words,
                HasSubstr("a has an IPv4 address and b an IPv6 one"));
  }
}

TEST_F(CheckTest, WithoutAnyAgentNothingIsChecked) {
  const CheckReport report = Check({{"a", "127.0.0.1", {"/no/such/agent"}},
                                    {"b", "127.0.0.2", {"/no/such/agent"}}});
  EXPECT_EQ(CodeOf(report), ExitCode::kNothingRan);
  EXPECT_EQ(ProblemsOf(report).size(), 2U);
}

TEST_F(CheckTest, ATrialThatIsRefusedIsThePairsProblem) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("an-hour-ahead")});
  const PairCheck& pair = Find(report, "a", "bad");
  EXPECT_EQ(pair.reaches, false);
  ASSERT_TRUE(pair.problem);
  EXPECT_EQ(pair.problem->kind, Kind::kTrial);
  EXPECT_THAT(pair.problem->what, HasSubstr("receiver bad: no more trials"));
  EXPECT_TRUE(pair.problem->remedies.empty());  // No firewall, no route.
}

TEST_F(CheckTest, WineIsSaidNotToBeWindows) {
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("wine")});
  ASSERT_FALSE(Find(report, "bad").notes.empty());
  EXPECT_THAT(Find(report, "bad").notes.front(),
              HasSubstr("Wine is not Windows"));
}

// Whoever is waited for is told within two seconds; then we are interrupted.
TEST_F(CheckTest, AnInterruptKeepsWhatWasFound) {
  quiet_ = false;
  on_progress_ = [] { std::raise(SIGINT); };
  const CheckReport report =
      Check({RealHost("a", "127.0.0.1"), FakeHost("never-greets")});
  EXPECT_THAT(said_, HasSubstr("waiting for the agent of host bad"));
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(CodeOf(report), ExitCode::kSomeTrialsFailed);
  EXPECT_TRUE(Find(report, "a").usable);
  EXPECT_TRUE(ProblemsOf(report).empty());  // Nobody's fault.
  EXPECT_EQ(Find(report, "a", "bad").not_tried, "stopped");
}

}  // namespace
}  // namespace wiretoll
