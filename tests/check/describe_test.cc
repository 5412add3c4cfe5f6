// Tables and JSON, from a report made by hand: a Windows host without an
// administrator, and a Linux one.
#include "harness/check/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "harness/check/remedies.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kAdministrator[] =
    "segments: Windows counts segments for an administrator only: run the "
    "agent as administrator";

HostCheck HostOf(const std::string& name, const std::string& os,
                 const std::string& description) {
  HostCheck host;
  host.host = {name, "10.0.0.1", {"wiretoll-agent"}};
  host.hello = Hello{"0.1.0", os, "stack", description};
  host.usable = true;
  host.interface = "eth0";
  host.mtu_bytes = Observed<std::int64_t>::Of(1500);
  host.offloads = {{"tso", Observed<bool>::Of(true)},
                   {"gro", Observed<bool>::Of(false)},
                   {"rsc", Observed<bool>::Not("not told")}};
  host.clock = Observed<ClockOffset>::Of({3ms, 40us});
  host.sends = {true,
                {{"segments", "segments", true},
                 {"data_segments", "data segments", true}},
                ""};
  host.receives = host.sends;
  return host;
}

CheckReport Report() {
  CheckReport report;
  report.file = "hosts.toml";
  report.first_port = 7001;
  report.last_port = 7099;
  HostCheck windows =
      HostOf("win11", "windows", "Windows 11 23H2 (22631.3447)");
  for (Sights* sights : {&windows.sends, &windows.receives}) {
    for (Sight& sight : sights->seen) sight.seen = false;
    sights->reason = kAdministrator;
  }
  report.hosts = {windows, HostOf("deb", "linux", "Debian 12, Linux 6.1.0")};
  PairCheck pair;
  pair.sender = "win11";
  pair.receiver = "deb";
  pair.reaches = pair.full_segments = true;
  LatencySummary rounds;
  rounds.count = 40;
  rounds.p50_ns = 250'000;
  pair.round_trip = Observed<LatencySummary>::Of(rounds);
  pair.path_mtu_bytes = Observed<std::int64_t>::Not("Windows tells no MTU");
  pair.sender_counts = false;
  pair.receiver_counts = true;
  report.pairs = {pair};
  return report;
}

std::size_t WidestLine(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

// The line of a table that begins with `name`, spaces squeezed.
std::string Line(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string squeezed;
    for (std::string word; words >> word;) squeezed += word + " ";
    if (squeezed.starts_with(begin)) return squeezed;
  }
  return "no line " + begin;
}

TEST(CheckTextTest, PairIsALineWithItsFigures) {
  EXPECT_EQ(Line(CheckText(Report()), "win11 deb"),
            "win11 deb yes 250 us yes ? receiver ");
}

TEST(CheckTextTest, HostIsALineWithItsFigures) {
  const std::string text = CheckText(Report());
  EXPECT_THAT(Line(text, "deb 0.1.0"),
              HasSubstr("Debian 12, Linux 6.1.0 10.0.0.1 1500 3.00 ms ahead"));
}

TEST(CheckTextTest, OffloadsThatAreOnAreNamedAndUnknownOnesMarked) {
  const std::string text = CheckText(Report());
  EXPECT_THAT(Line(text, "deb segments"), HasSubstr("tso, rsc?"));
  EXPECT_THAT(text, HasSubstr("deb, offloads: not told"));
}

TEST(CheckTextTest, WhatIsNotSeenHasItsReasonOnceAndACapture) {
  const std::string text = CheckText(Report());
  EXPECT_THAT(text, HasSubstr("not: segments"));
  EXPECT_THAT(text, HasSubstr("- win11 as sender; win11 as receiver: "));
  EXPECT_THAT(text, HasSubstr("dumpcap -i \"eth0\" -f \"tcp portrange"));
  EXPECT_THAT(text, Not(HasSubstr("tcpdump")));  // deb sees all.
  EXPECT_THAT(text, HasSubstr("path MTU: Windows tells no MTU"));
}

TEST(CheckTextTest, EightyColumnsHoldWhateverIsSaid) {
  CheckReport report = Report();
  report.hosts[0].host.name = std::string(100, 'n');
  report.hosts[0].hello->description = std::string(300, 'd') + " windows";
  report.hosts[0].host.address = "2001:db8:1111:2222:3333:4444:5555:6666";
  report.pairs[0].sender = std::string(100, 'n');
  report.pairs[0].notes = {std::string(200, 'x')};
  report.pairs[0].problem = CheckProblem{
      CheckProblem::Kind::kReach, std::string(500, 'y'),
      ReachRemedies({"a", "10.0.0.1", "linux"}, {"b", "10.0.0.2", "linux"},
                    {"hosts.toml", {}, {}, 60001, 60099, {}}, "firewall")};
  EXPECT_LE(WidestLine(CheckText(report)), 80U);
}

TEST(CheckTextTest, WhatAnAgentSaysDoesNotSteerTheTerminal) {
  CheckReport report = Report();
  report.hosts[0].hello->description = "Windows\x1b[2J\x07\xc2\x9b";
  report.hosts[0].notes = {"a\x1b]0;b"};
  report.hosts[0].problems = {{CheckProblem::Kind::kAgent, "c\x1b[1md\r", {}}};
  const std::string text = CheckText(report);
  for (const char* bad : {"\x1b", "\x07", "\r", "\x9b"})
    EXPECT_THAT(text, Not(HasSubstr(bad)));
}

TEST(CheckTextTest, NamesInOtherLettersStandInLine) {
  CheckReport report = Report();
  report.hosts[1].host.name = "h\xc3\xb6st";  // Four columns, five bytes.
  const std::string text = CheckText(report);
  std::istringstream lines(text);
  std::size_t ascii = 0;
  std::size_t other = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("win11") && ascii == 0) ascii = line.find("0.1.0");
    if (line.starts_with("h\xc3") && other == 0) other = line.find("0.1.0");
  }
  EXPECT_EQ(other, ascii + 1);
}

TEST(CheckTextTest, ASystemIsNamedWhateverItsDescriptionSays) {
  CheckReport report = Report();
  report.hosts[1].hello = Hello{"0.1.0", "wine", "s", "Windows 10"};
  EXPECT_THAT(Line(CheckText(report), "deb 0.1.0"),
              HasSubstr("wine: Windows 10"));
}

TEST(CheckTextTest, PairsOfAHostThatCannotBeUsedAreToldInOneLine) {
  CheckReport report = Report();
  report.hosts[0].problems = {{CheckProblem::Kind::kAgent, "why", {}}};
  report.pairs[0].reaches.reset();
  report.pairs[0].not_tried = "host win11 cannot be used";
  const std::string text = CheckText(report);
  EXPECT_THAT(text, Not(HasSubstr("FROM")));  // No table without a pair.
  EXPECT_THAT(text, HasSubstr("win11: no pair with it could be tried"));
  EXPECT_THAT(text, Not(HasSubstr("cannot be used")));
}

TEST(CheckTextTest, OneRemedyIsToldOnce) {
  CheckReport report = Report();
  const Remedy remedy{"open the door", {"sesame"}};
  report.hosts[0].problems = {{CheckProblem::Kind::kAddress, "one", {remedy}},
                              {CheckProblem::Kind::kAddress, "two", {remedy}}};
  const std::string text = CheckText(report);
  EXPECT_EQ(text.find("sesame"), text.rfind("sesame"));
  EXPECT_THAT(text, HasSubstr("see what is under 1"));
  EXPECT_THAT(text, HasSubstr("2 problems"));
}

TEST(CheckTextTest, VerdictIsTheLastLine) {
  EXPECT_TRUE(CheckText(Report()).ends_with(
      "all is well; to measure: wiretoll run --hosts hosts.toml\n"));
  CheckReport stopped = Report();
  stopped.interrupted = true;
  EXPECT_TRUE(
      CheckText(stopped).ends_with("stopped before everything was checked\n"));
}

TEST(CheckJsonTest, HasEveryFigureOrItsReason) {
  const json out = json::parse(CheckJson(Report()));
  EXPECT_EQ(out["v"], 1);
  EXPECT_EQ(out["ok"], true);
  EXPECT_EQ(out["hosts"][0]["os"], "windows");
  EXPECT_EQ(out["hosts"][0]["mtu_bytes"], 1500);
  EXPECT_EQ(out["hosts"][0]["offloads"]["tso"], true);
  EXPECT_EQ(out["hosts"][0]["offloads"]["gro"], false);
  EXPECT_TRUE(out["hosts"][0]["offloads"]["rsc"].is_null());
  EXPECT_EQ(out["hosts"][0]["offloads"]["rsc_reason"], "not told");
  EXPECT_EQ(out["hosts"][0]["clock_ahead_ns"], 3'000'000);
  EXPECT_EQ(out["hosts"][0]["clock_within_ns"], 40'000);
  EXPECT_EQ(out["hosts"][0]["sends"]["seen"]["data_segments"], false);
  EXPECT_EQ(out["hosts"][0]["sends"]["reason"], kAdministrator);
  EXPECT_TRUE(out["hosts"][1]["sends"]["reason"].is_null());
  EXPECT_EQ(out["pairs"][0]["round_trip"]["median_ns"], 250'000);
  EXPECT_TRUE(out["pairs"][0]["path_mtu_bytes"].is_null());
  EXPECT_EQ(out["pairs"][0]["path_mtu_bytes_reason"], "Windows tells no MTU");
  EXPECT_EQ(out["pairs"][0]["receiver_counts_data_segments"], true);
  EXPECT_TRUE(out["pairs"][0]["problem"].is_null());
}

TEST(CheckJsonTest, ProblemsCarryKindAndCommands) {
  CheckReport report = Report();
  report.pairs[0].problem = CheckProblem{
      CheckProblem::Kind::kReach, "why \xff", {{"words", {"command"}}}};
  const json out = json::parse(CheckJson(report));
  EXPECT_EQ(out["ok"], false);
  const json& problem = out["pairs"][0]["problem"];
  EXPECT_EQ(problem["kind"], "reach");
  EXPECT_EQ(problem["remedies"][0]["words"], "words");
  EXPECT_EQ(problem["remedies"][0]["commands"][0], "command");
}

}  // namespace
}  // namespace wiretoll
