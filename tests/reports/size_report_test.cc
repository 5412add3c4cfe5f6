// Studies of sizes: TCP and UDP together, knees, and what became of datagrams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/pictures.h"
#include "reports/size_pictures.h"
#include "reports/size_tables.h"
#include "reports/size_words.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kSizesStudy[] = R"(title = "Sizes"
question = "What do larger pieces bring?"
[factors]
transport = ["tcp", "udp"]
write = [64, 512, 1472, 1473, 8192]
[stop]
bytes = 100000
)";

constexpr char kBlocksStudy[] = R"(title = "Blocks"
question = "Does the pause make it?"
[factors]
transport = ["tcp", "udp"]
block = [100, 1000, 10000, 100000, 1000000]
write = [65507]
gap = ["0us", "15.6ms"]
[stop]
blocks = 100
)";

std::int64_t FactorOf(const Sample& sample, const std::string& name) {
  for (const auto& [factor, value] : sample.factors) {
    if (factor == name) return std::get<std::int64_t>(value);
  }
  return 0;
}

bool Has(const Sample& sample, const std::string& name,
         const std::string& text) {
  for (const auto& [factor, value] : sample.factors) {
    if (factor != name) continue;
    const auto* spelled = std::get_if<std::string>(&value);
    return spelled != nullptr && *spelled == text;
  }
  return false;
}

// So many bytes a second, in one second.
void SetRate(Sample& sample, double bytes_per_second) {
  EndReport& receiver = *sample.receiver;
  receiver.bytes = static_cast<std::int64_t>(bytes_per_second);
  receiver.first_read_bytes = 0;
  receiver.elapsed_ns = 1'000'000'000;
  receiver.steady_bytes.reset();
  receiver.steady_elapsed_ns.reset();
  sample.sender->bytes = receiver.bytes;
}

// As tests/analysis/datagram_totals_test: 900 of 1050 handed over arrive.
void MakeUdp(Sample& sample) {
  sample.sender->counters = {};
  sample.receiver->counters = {};
  NotSent& not_sent = sample.sender->datagrams.emplace().not_sent.emplace();
  not_sent.no_buffers = 30;
  not_sent.other = 20;
  DatagramReport& report = sample.receiver->datagrams.emplace();
  report.jitter_mean_ns = 5000;
  report.jitter_rfc3550_ns = 7000;
  report.delay = DelaySummary{900, 1, 200'000, 3, 2'000'000, 5, 6, 7.0};
  report.delay_error_ns = 0;
  Datagrams& datagrams = sample.datagrams.emplace();
  datagrams.sent = 1000;
  datagrams.received = 905;
  datagrams.lost = 100;
  datagrams.duplicated = 5;
  datagrams.reordered = 2;
  datagrams.late = 1;
  datagrams.not_sent = 50;
  datagrams.lost_at_receiver = 60;
  datagrams.lost_on_path = 40;
  datagrams.fragments_each = 1;
  datagrams.mtu_bytes = 1500;
}

class SizeReportTest : public testing::Test {
 protected:
  SizeReportTest() {
    run_.study_name = "sizes";
    run_.study_text = kSizesStudy;
    run_.pairs = {{"linux-1", "linux-2"}};
    run_.blocks = 3;
    run_.rate_bits_per_second = 100e6;
    run_.adjust = [this](Sample& sample) { Adjust(sample); };
  }

  // TCP is as fast from 512 bytes on; UDP grows to the end.
  void Adjust(Sample& sample) const {
    const auto size = static_cast<double>(FactorOf(sample, "write"));
    if (Has(sample, "transport", "udp")) {
      MakeUdp(sample);
      SetRate(sample, 1'000'000 + 1000 * size);
    } else {
      SetRate(sample, size < 512 ? 5'000'000 : 11'000'000);
    }
    if (change_) change_(sample);
  }

  [[nodiscard]] Analysis Analysed() const {
    return AnalysisOf(folder_.path(), run_);
  }

  SyntheticRun run_;
  TemporaryFolder folder_;
  std::function<void(Sample&)> change_;
};

std::vector<std::string> KindsOf(const std::vector<Picture>& pictures) {
  std::vector<std::string> kinds;
  kinds.reserve(pictures.size());
  for (const Picture& picture : pictures) kinds.push_back(picture.kind);
  return kinds;
}

const Chart& FirstChart(const Picture& picture) {
  return picture.panels.at(0).request.chart;
}

const Curve& CurveOf(const Chart& chart, const std::string& label) {
  const auto found = std::ranges::find(chart.curves, label, &Curve::label);
  EXPECT_NE(found, chart.curves.end()) << label;
  return *found;
}

TEST_F(SizeReportTest, TcpAndUdpStandInOnePicture) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const std::vector<Picture> pictures = StudyPictures(view);
  EXPECT_THAT(KindsOf(pictures),
              ElementsAre("throughput", "received", "losses", "delay",
                          "efficiency", "capacity"));
  const Chart& chart = FirstChart(pictures[0]);
  EXPECT_THAT(CurveOf(chart, "TCP").points, SizeIs(5));
  EXPECT_THAT(CurveOf(chart, "UDP").points, SizeIs(5));
  EXPECT_NE(CurveOf(chart, "TCP").colour, CurveOf(chart, "UDP").colour);
}

// 100 Mbit/s are 12.5 MB/s. 1472 + 8 + 20 + 38 = 1538 bytes on the line; one
// byte more has a second fragment, a minimum frame of 84: 1538 + 84 = 1622.
TEST_F(SizeReportTest, TheLimitOfTheLineStepsDownWhereAFragmentIsAdded) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const auto pictures = SizePictures(view);
  const Curve& limit =
      CurveOf(FirstChart(pictures[0]), "limit of the line, UDP");
  const auto at = [&limit](double size) {
    const auto found = std::ranges::find(limit.points, size, &ChartPoint::x);
    return found == limit.points.end() ? 0 : found->y;
  };
  EXPECT_NEAR(at(1472), 12.5 * 1472 / 1538, 1e-9);
  EXPECT_NEAR(at(1473), 12.5 * 1473 / 1622, 1e-9);
}

TEST_F(SizeReportTest, KneesAreDrawnAndTold) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const auto pictures = SizePictures(view);
  EXPECT_THAT(pictures[0].sentence,
              HasSubstr("TCP at 512 bytes (more than 64, at most 512); UDP: no "
                        "knee in the range: it still grows at 8,192 bytes"));
  std::vector<std::string> labels;
  for (const Guide& guide : FirstChart(pictures[0]).guides) {
    if (guide.vertical) labels.push_back(guide.label);
  }
  EXPECT_THAT(labels, ElementsAre("knee 512 B, TCP", "1,472 B in one frame"));
  // UDP's is one too: it lies at the largest size or beyond.
  const auto& intervals = FirstChart(pictures[0]).strokes;
  ASSERT_THAT(intervals, SizeIs(2));
  EXPECT_EQ(intervals[0].lines[0].from_x, 64);
  EXPECT_EQ(intervals[0].lines[0].to_x, 512);
  const Table table = KneesTable(view);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0][0], "TCP");
  EXPECT_EQ(table.rows[0][1], "512 B");
  EXPECT_EQ(table.rows[1][1], "–");
}

// 900 of the 1000 sent.
TEST_F(SizeReportTest, TheShareReceivedIsInPercentOfWhatWasSent) {
  const Analysis analysis = Analysed();
  const auto pictures = SizePictures(ViewStudy(analysis, 0));
  const Chart& chart = FirstChart(pictures[1]);
  for (const ChartPoint& point : CurveOf(chart, "TCP").points) {
    EXPECT_EQ(point.y, 100);
  }
  for (const ChartPoint& point : CurveOf(chart, "UDP").points) {
    EXPECT_DOUBLE_EQ(point.y, 90);
  }
  EXPECT_EQ(chart.y.low, 0);
  EXPECT_LT(chart.y.high, 110);
  EXPECT_THAT(pictures[1].sentence,
              HasSubstr("TCP delivers 100 % at every size"));
}

// Of 1050 handed over: 900, 40, 60, 30, 20.
TEST_F(SizeReportTest, LossIsStackedByItsCause) {
  const Analysis analysis = Analysed();
  const auto pictures = SizePictures(ViewStudy(analysis, 0));
  std::vector<double> ends;
  for (const Bar& bar : FirstChart(pictures[2]).bars) {
    if (bar.row == 0) ends.push_back(bar.to);
  }
  ASSERT_THAT(ends, SizeIs(5));
  const std::vector<double> sums{900, 940, 1000, 1030, 1050};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_NEAR(ends[i], 100 * sums[i] / 1050, 1e-9);
  }
  EXPECT_THAT(pictures[2].sentence, HasSubstr("85.7 %"));
  EXPECT_THAT(pictures[2].drawn, HasSubstr("Duplicates, 75 of 13575 received"));
}

TEST_F(SizeReportTest, WhereNobodyKnowsTheBarSaysSo) {
  change_ = [](Sample& sample) {
    if (!sample.datagrams) return;
    sample.datagrams->lost_at_receiver.reset();
    sample.datagrams->lost_on_path.reset();
    sample.datagrams->reason = "Wine does not tell";
  };
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const Picture picture = SizePictures(view)[2];
  const auto keyed = [&picture](const std::string& text) {
    return std::ranges::count(picture.keys, text, &Key::text);
  };
  EXPECT_EQ(keyed("lost, where is not known"), 1);
  EXPECT_EQ(keyed("lost on the path"), 0);
  EXPECT_THAT(DatagramsTable(view).note, HasSubstr("Wine does not tell"));
}

TEST_F(SizeReportTest, DelayThatIsNotGivenHasItsReason) {
  change_ = [](Sample& sample) {
    if (!sample.datagrams) return;
    sample.receiver->datagrams->delay.reset();
    sample.receiver->datagrams->jitter_mean_ns.reset();
    sample.receiver->why_null["datagrams.delay"] = "two clocks";
    sample.receiver->why_null["datagrams.jitter_mean_ns"] = "too small";
  };
  const Analysis analysis = Analysed();
  const Picture picture = SizePictures(ViewStudy(analysis, 0))[3];
  EXPECT_THAT(picture.panels, IsEmpty());
  EXPECT_THAT(picture.missing, Not(IsEmpty()));
  EXPECT_EQ(picture.sentence,
            "One-way delay is not given: two clocks. Nor is jitter: too "
            "small.");
}

TEST_F(SizeReportTest, EveryFormatHasDatagramsAndKnees) {
  ReportOf(Analysed(), folder_.path());
  const auto report = folder_.path() / "report";
  for (const char* heading : {"Datagrams", "Knees"}) {
    EXPECT_THAT(PageOf(folder_.path()),
                HasSubstr(std::string("<h3>") + heading + "</h3>"));
    EXPECT_THAT(ReadFile(report / "report.md"), HasSubstr(heading));
  }
  const auto json = nlohmann::json::parse(ReadFile(report / "report.json"));
  EXPECT_THAT(json.at("knees"), SizeIs(2));
  for (const auto& cell : json.at("cells")) {
    if (cell.at("factors").at("transport") == "tcp") {
      EXPECT_FALSE(cell.contains("datagrams"));
      continue;
    }
    // Three blocks.
    EXPECT_EQ(cell.at("datagrams").at("sent"), 3000);
    EXPECT_EQ(cell.at("datagrams").at("lost_at_receiver"), 180);
  }
  const auto knees = ParseCsv(ReadFile(report / "knees.csv"));
  ASSERT_THAT(knees, SizeIs(3));
  const auto samples = ParseCsv(ReadFile(report / "samples.csv"));
  EXPECT_THAT(samples.at(0), Contains("datagrams_lost_on_path"));
}

TEST_F(SizeReportTest, TheAnswerStandsFirst) {
  const Analysis analysis = Analysed();
  const Document document = MakeDocument(analysis);
  ASSERT_THAT(document.cards, SizeIs(4));
  EXPECT_EQ(document.cards[0].figure, "512 B");
  EXPECT_EQ(document.cards[1].figure, "no knee");
  EXPECT_EQ(document.cards[2].figure, "90.0 %");
}

TEST_F(SizeReportTest, NoRuleOfTcpJudgesUdp) {
  for (const Cell& cell : Analysed().cells) {
    if (!IsUdp(cell)) continue;
    EXPECT_THAT(cell.verdicts, IsEmpty()) << cell.case_id;
  }
}

TEST_F(SizeReportTest, WithoutGnuplotTheFiguresAreThere) {
  const PathSetting nowhere("/nonexistent");
  const Analysis analysis = Analysed();
  const WrittenReport written = ReportOf(analysis, folder_.path());
  EXPECT_THAT(written.warnings, SizeIs(1));
  const std::string page = PageOf(folder_.path());
  EXPECT_THAT(page, HasSubstr("TCP at 512 bytes"));
  EXPECT_THAT(page, HasSubstr("<h3>Datagrams</h3>"));
}

TEST_F(SizeReportTest, HostileReasonsAndNamesAreText) {
  const std::string hostile = "<script>alert(1)</script>\x1b[31m' \"; system";
  run_.hosts = {{"linux-1"}, {"linux-2", "linux", hostile}};
  change_ = [&hostile](Sample& sample) {
    if (!sample.datagrams) return;
    sample.datagrams->late.reset();
    sample.datagrams->reason = hostile;
    sample.receiver->datagrams->delay.reset();
    sample.receiver->why_null["datagrams.delay"] = hostile;
  };
  ReportOf(Analysed(), folder_.path());
  const std::string page = PageOf(folder_.path());
  EXPECT_EQ(CountOf(page, "<script"), 0);
  EXPECT_EQ(CountOf(page, "\x1b"), 0);
  EXPECT_GT(CountOf(page, "&lt;script&gt;"), 1);
}

TEST_F(SizeReportTest, AReportOfTcpAloneHasNothingOfThis) {
  run_.study_text = {};
  run_.adjust = nullptr;
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(KneesTable(view).rows, IsEmpty());
  EXPECT_THAT(DatagramsTable(view).rows, IsEmpty());
  EXPECT_THAT(KindsOf(StudyPictures(view)), Not(Contains("received")));
  ReportOf(analysis, folder_.path());
  const auto report = folder_.path() / "report";
  EXPECT_THAT(PageOf(folder_.path()), Not(HasSubstr("Knee")));
  EXPECT_THAT(PageOf(folder_.path()), Not(HasSubstr("atagram")));
  EXPECT_FALSE(std::filesystem::exists(report / "knees.csv"));
  const auto json = nlohmann::json::parse(ReadFile(report / "report.json"));
  EXPECT_FALSE(json.contains("knees"));
}

// A block every 15.6 ms is block / 15.6 ms, until the line is full.
TEST_F(SizeReportTest, ThePauseIsNamedWhereItMakesTheCurve) {
  run_.study_text = kBlocksStudy;
  run_.adjust = [](Sample& sample) {
    const auto block = static_cast<double>(FactorOf(sample, "block"));
    if (Has(sample, "transport", "udp")) MakeUdp(sample);
    SetRate(sample, Has(sample, "gap", "0us")
                        ? 11'000'000
                        : std::min(11'000'000.0, block / 0.0156));
  };
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  ASSERT_THAT(view.facets, SizeIs(2));
  const Picture picture = SizePictures(view)[0];
  EXPECT_THAT(picture.sentence,
              HasSubstr("With the pause of 15.6 ms a block takes the same "
                        "time whatever its size, 15.6 ms to 15.6 ms up to "
                        "100,000 B (TCP), 15.6 ms to 15.6 ms up to 100,000 B "
                        "(UDP): there the pause makes the curve"));
  ASSERT_THAT(picture.panels, SizeIs(2));
  EXPECT_EQ(picture.panels[1].label, "gap 15.6 ms");
  const Curve& pause = CurveOf(picture.panels[1].request.chart, "size / pause");
  // 100 bytes each 15.6 ms, in MB/s.
  EXPECT_NEAR(pause.points.front().y, 100 / 0.0156 / 1e6, 1e-9);
}

}  // namespace
}  // namespace wiretoll
