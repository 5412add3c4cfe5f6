// Advice as people and programs get it.
#include "harness/advise/describe_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "evidence_makers.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::Not;

Advice SmallBuffer() {
  Evidence e = WindowLimited(Bytes{131072});
  SetFact(e.receiver, TextOf("tcp_rmem", "4096 131072 262144"));
  return Diagnose(e);
}

TEST(DescribeAdviceTest, TextNamesLimitCommandFileAndUndo) {
  const std::string text = AdviceText(SmallBuffer());
  EXPECT_THAT(text, HasSubstr("THE LIMIT: the receive window of b "
                              "(receive-window, certain)"));
  EXPECT_THAT(text, HasSubstr("\n     sysctl -w net.ipv4.tcp_rmem=\"4096 "
                              "131072 1048576\"\n"));
  EXPECT_THAT(text, HasSubstr("/etc/sysctl.d/90-wiretoll.conf"));
  EXPECT_THAT(text, HasSubstr("\n     sysctl -w net.ipv4.tcp_rmem=\"4096 "
                              "131072 262144\"\n"));
  EXPECT_THAT(text, HasSubstr("250,000 B"));
}

TEST(DescribeAdviceTest, TextSaysWhenNothingIsWrong) {
  EXPECT_THAT(AdviceText(Diagnose(HealthyEvidence())),
              HasSubstr("NOTHING IS WRONG: the line is the limit"));
}

TEST(DescribeAdviceTest, LinesEndBefore80ColumnsExceptCommands) {
  std::istringstream lines(AdviceText(SmallBuffer()));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("sysctl -w") != std::string::npos) continue;
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(DescribeAdviceTest, CommandsOfWindowsAreMarkedAsNotRun) {
  Evidence e = WindowLimited(Bytes{131072});
  e.receiver = WindowsHost("b", "10.0.0.2");
  EXPECT_THAT(AdviceText(Diagnose(e)),
              HasSubstr("on b, as administrator (not run by wiretoll)"));
}

TEST(DescribeAdviceTest, SettingThatCouldNotBeReadIsSaidAndTheRestGoesOn) {
  Evidence e = WindowLimited(Bytes{131072});
  for (RecordedFact& fact : e.receiver.facts) {
    if (fact.name == "rmem_max")
      fact = {"rmem_max", OptionValue{}, {}, "/proc/x: permission denied"};
  }
  const std::string text = AdviceText(Diagnose(e));
  EXPECT_THAT(text, HasSubstr("b, rmem_max: /proc/x: permission denied"));
  EXPECT_THAT(text, HasSubstr("THE LIMIT: the receive window"));
}

TEST(DescribeAdviceTest, TerminalIsNotObeyedToWhatHostsSay) {
  Evidence e = HealthyEvidence();
  SetFact(e.sender, TextOf("qdisc", "evil\x1b[2J"));
  e.notes.emplace_back("note\x1b[31m");
  EXPECT_THAT(AdviceText(Diagnose(e)), Not(HasSubstr("\x1b")));
}

TEST(DescribeAdviceTest, JsonHasLimitEvidenceAndChanges) {
  const auto json = nlohmann::json::parse(AdviceJson(SmallBuffer()));
  EXPECT_EQ(json["limit"], "receive-window");
  EXPECT_EQ(json["findings"][0]["confidence"], "certain");
  EXPECT_EQ(json["findings"][0]["changes"][0]["host"], "b");
  EXPECT_EQ(json["findings"][0]["changes"][0]["undo"][0],
            "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 262144\"");
  EXPECT_EQ(json["line"]["bdp_bytes"], 250'000);
  EXPECT_EQ(json["subject"]["window_limited_share"], 0.93);
  EXPECT_TRUE(json["verification"].is_null());
}

TEST(DescribeAdviceTest, VerificationShowsBeforeAfterAndTheirRatio) {
  Advice advice = SmallBuffer();
  Verification verification;
  verification.changes = {advice.changes.front().front()};
  verification.before = RepeatedOf({6.3e6, 6.4e6, 6.5e6});
  verification.after = RepeatedOf({11.6e6, 11.7e6, 11.8e6});
  verification.ratio = RepeatedOf({1.8, 1.83, 1.84});
  advice.verification = verification;
  const std::string text = AdviceText(advice);
  EXPECT_THAT(text, HasSubstr("6.40 MB/s ["));
  EXPECT_THAT(text, HasSubstr("11.7 MB/s ["));
  EXPECT_THAT(text, HasSubstr("1.83 ["));
  EXPECT_THAT(text, HasSubstr("theory gave 11.8 MB/s"));
}

TEST(DescribeAdviceTest, RecordedCellsAreARowEach) {
  const std::vector<RecordedCell> cells{
      {"s", "write-1", {}, SmallBuffer()},
      {"s", "write-2", {}, Diagnose(HealthyEvidence())}};
  const std::string text = RecordedText(cells);
  EXPECT_THAT(text, HasSubstr("write-1"));
  EXPECT_THAT(text, HasSubstr("receive-window"));
  EXPECT_THAT(text, HasSubstr("line"));
}

}  // namespace
}  // namespace wiretoll
