// Advice on loopback with real agents: it is measured, and what cannot be is
// said. Which limit holds there is nobody's to say.
#include "harness/advise/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "platform/process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class AdviseTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }

  // On loopback nobody gives these ports by chance.
  static AdviseSpec Spec(std::uint16_t first_port) {
    AdviseSpec spec;
    spec.sender = {"a", "127.0.0.1", {WIRETOLL_AGENT}};
    spec.receiver = {"b", "127.0.0.2", {WIRETOLL_AGENT}};
    spec.subject = BulkStream(100ms);
    spec.time = 100ms;
    spec.repeats = 3;
    spec.first_port = first_port;
    spec.last_port = static_cast<std::uint16_t>(first_port + 40);
    spec.guard = KeepFromChildren;
    return spec;
  }

  Outcome<Advice> Run(const AdviseSpec& spec) {
    Progress progress({true, false},
                      [this](const std::string& text) { said_ += text; });
    return Advise(spec, progress);
  }

  std::string said_;
};

TEST_F(AdviseTest, MeasuresRoundTripStreamAndLine) {
  const auto advice = Run(Spec(21100));
  ASSERT_TRUE(advice.has_value()) << advice.error().message;
  const Evidence& e = advice.value().evidence;
  EXPECT_TRUE(e.first_rtt.has_value());
  EXPECT_TRUE(e.last_rtt.has_value());
  EXPECT_TRUE(e.loaded_rtt.has_value());
  EXPECT_TRUE(e.streams_bytes_per_second.has_value()) << e.why_no_streams;
  ASSERT_TRUE(e.subject.bytes_per_second.has_value());
  EXPECT_EQ(e.subject.bytes_per_second->repeats, 3);
  EXPECT_EQ(e.subject.failed, 0);
  EXPECT_TRUE(e.line.has_value()) << e.why_no_line;
  EXPECT_FALSE(e.sender.facts.empty());
  EXPECT_FALSE(advice.value().findings.empty());
  EXPECT_EQ(CodeOf(advice.value()), ExitCode::kDone);
}

TEST_F(AdviseTest, DiagnosesACaseOfRequestsAlone) {
  AdviseSpec spec = Spec(21200);
  spec.subject = Workload{};
  spec.subject.pattern = Pattern::kRequestResponse;
  spec.subject.request = {Bytes{1}};
  spec.subject.reply = {Bytes{1}};
  spec.subject.stop_messages = 50;
  const auto advice = Run(spec);
  ASSERT_TRUE(advice.has_value()) << advice.error().message;
  EXPECT_TRUE(advice.value().evidence.subject.latency.has_value());
  EXPECT_FALSE(advice.value().evidence.loaded_rtt.has_value());
}

TEST_F(AdviseTest, WithoutAnAgentNothingIsMeasured) {
  AdviseSpec spec = Spec(21300);
  spec.receiver.agent = {"/nonexistent/wiretoll-agent"};
  const auto advice = Run(spec);
  ASSERT_FALSE(advice.has_value());
  EXPECT_EQ(advice.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(advice.error().message, HasSubstr("host b"));
  EXPECT_THAT(advice.error().message, HasSubstr("/nonexistent/wiretoll-agent"));
}

TEST_F(AdviseTest, AddressOfNobodyIsSaidWithTheRemedy) {
  AdviseSpec spec = Spec(21400);
  spec.receiver.address = "192.0.2.1";
  const auto advice = Run(spec);
  ASSERT_FALSE(advice.has_value());
  EXPECT_EQ(advice.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(advice.error().message, HasSubstr("192.0.2.1"));
  EXPECT_THAT(advice.error().message, HasSubstr("wiretoll check"));
}

TEST_F(AdviseTest, VerificationTriesTheProgramsChangeBlockByBlock) {
  AdviseSpec spec = Spec(21500);
  // Every round but the first stalls on whatever Linux; the writer's program is
  // changed, which takes no command.
  spec.subject = Workload{};
  spec.subject.pattern = Pattern::kRequestResponse;
  spec.subject.request = {Bytes{1}, Bytes{1}};
  spec.subject.reply = {Bytes{1}};
  spec.subject.stop_messages = 10;
  std::vector<std::string> commands;
  spec.verify = [&](const std::string& host, const std::string& command) {
    commands.push_back(host + ": " + command);
    return Outcome<Done>(Done{});
  };
  const auto advice = Run(spec);
  ASSERT_TRUE(advice.has_value()) << advice.error().message;
  ASSERT_EQ(advice.value().findings.front().limit, Limit::kNagleDelayedAck);
  const auto& verification = advice.value().verification;
  ASSERT_TRUE(verification.has_value());
  EXPECT_EQ(verification->not_done, "");
  ASSERT_TRUE(verification->ratio.has_value());
  EXPECT_EQ(verification->ratio->repeats, 3);
  EXPECT_TRUE(commands.empty());
}

}  // namespace
}  // namespace wiretoll
