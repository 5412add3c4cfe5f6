// Texts of a run may come from anybody: they are shown, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class HostileTest : public testing::Test {
 protected:
  // Everything that some program down the line might run or interpret.
  [[nodiscard]] std::string Hostile(const std::string& name) const {
    const std::string file = (folder_.path() / ("pwned-" + name)).string();
    return "<script>alert('" + name + "')</script> `touch " + file +
           "` $(touch " + file + ") \"; system \"touch " + file +
           "\" ' |\n= хост 主机";
  }

  void SetUp() override {
    SyntheticRun run;
    analysis_ = AnalysisOf(folder_.path(), run);
    analysis_.studies[0].title = Hostile("title");
    analysis_.studies[0].question = Hostile("question");
    analysis_.studies[0].source = Hostile("source");
    RecordedLink& link = analysis_.runs[0].link;
    link.description = Hostile("link");
    link.settings[Hostile("setting")] = Hostile("value");
    RecordedHost& host = analysis_.runs[0].hosts[0];
    host.name = Hostile("host");
    host.stack = Hostile("stack");
    host.facts.push_back({Hostile("fact"), Hostile("known"), {}, ""});
    analysis_.runs[0].command = {"wiretoll", Hostile("command")};
    analysis_.notes.push_back(Hostile("note"));
    analysis_.problems.push_back({TrialOutcome::kFailed, false,
                                  Hostile("reason"), 1, Hostile("example")});
    analysis_.claims.push_back({});
    analysis_.claims.back().claim.text = Hostile("claim");
    analysis_.claims.back().why = Hostile("why");
    PoisonCells();
    ReportOf(analysis_, folder_.path());
  }

  // As series, as panels and as rows of pictures.
  void PoisonCells() {
    const std::vector<Cell> cells = analysis_.cells;
    for (Cell& cell : analysis_.cells) {
      SetFactor(cell.factors, "congestion", std::string("cubic"));
    }
    for (Cell cell : cells) {
      SetFactor(cell.factors, "congestion", Hostile("factor"));
      cell.sender_os = Hostile("os");
      cell.sender_stack = Hostile("sender-stack");
      cell.link = Hostile("cell-link");
      cell.case_id = Hostile("case");
      cell.sender = Hostile("sender");
      analysis_.cells.push_back(std::move(cell));
    }
  }

  [[nodiscard]] std::string Report(const char* file) const {
    return ReadFile(folder_.path() / "report" / file);
  }

  TemporaryFolder folder_;
  Analysis analysis_;
};

TEST_F(HostileTest, NothingIsExecuted) {
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("pwned")));
  }
}

TEST_F(HostileTest, ThePageShowsThemAsText) {
  const std::string page = Report("report.html");
  EXPECT_EQ(CountOf(page, "<script"), 0);
  for (const char* name :
       {"title", "question", "source", "link", "setting", "value", "host",
        "stack", "fact", "known", "note", "reason", "example", "claim", "why",
        "factor", "case", "sender"}) {
    EXPECT_THAT(page, HasSubstr(std::string("&lt;script&gt;alert(&#39;") +
                                name + "&#39;)"));
  }
  // A shell would take the command as two words, the second all in quotes.
  EXPECT_THAT(page, HasSubstr("<pre>wiretoll &#39;&lt;script&gt;alert(&#39;"
                              "\\&#39;&#39;command&#39;\\&#39;&#39;)"));
  EXPECT_THAT(page, HasSubstr("хост 主机"));
}

TEST_F(HostileTest, PicturesCarryThemAsTextToo) {
  const std::string page = Report("report.html");
  EXPECT_GT(CountOf(page, "<svg role=\"img\""), 4);
  // Rows of the capacity picture name the case by its factors.
  std::size_t inside = 0;
  for (std::size_t at = page.find("<text>"); at != std::string::npos;
       at = page.find("<text>", at + 1)) {
    const std::size_t end = page.find("</text>", at);
    inside +=
        page.substr(at, end - at).find("&lt;script&gt;") != std::string::npos;
  }
  EXPECT_GT(inside, 0U);
}

TEST_F(HostileTest, MarkdownShowsThemAsText) {
  const std::string text = Report("report.md");
  // Only in the fenced command, where nothing is markup.
  const std::size_t repeat = text.find("## How to repeat it");
  ASSERT_NE(repeat, std::string::npos);
  EXPECT_EQ(CountOf(text.substr(0, repeat), "<script"), 0);
  EXPECT_THAT(text, HasSubstr("# &lt;script&gt;alert('title')"));
  EXPECT_THAT(text, HasSubstr("\\`touch"));
}

TEST_F(HostileTest, JsonGivesThemBackUnchanged) {
  const auto json = nlohmann::json::parse(Report("report.json"));
  EXPECT_EQ(json["studies"][0]["title"], Hostile("title"));
  EXPECT_EQ(json["runs"][0]["hosts"][0]["name"], Hostile("host"));
  EXPECT_EQ(json["cells"].back()["factors"]["congestion"], Hostile("factor"));
}

TEST(HostileJsonTest, BrokenUtf8DoesNotBreakTheFile) {
  const TemporaryFolder folder;
  Analysis analysis = AnalysisOf(folder.path(), {});
  analysis.studies[0].title = "bad \xFF byte";
  ReportOf(analysis, folder.path());
  const auto json =
      nlohmann::json::parse(ReadFile(folder.path() / "report" / "report.json"));
  EXPECT_EQ(json["studies"][0]["title"], "bad \xEF\xBF\xBD byte");
}

}  // namespace
}  // namespace wiretoll
