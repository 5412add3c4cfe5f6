// Studies of windows: throughput against them, what held, and how they went on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/samples/series.h"
#include "reports/document.h"
#include "reports/pictures.h"
#include "reports/window_pictures.h"
#include "reports/window_view.h"
#include "reports/window_words.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kWindowsStudy[] = R"(title = "Windows"
question = "Which window fills the path?"
[factors]
write = ["64KiB"]
rcvbuf = [16384, 32768, 65536, 131072, 262144, "unset"]
[stop]
bytes = 10000000
)";

constexpr char kControlsStudy[] = R"(title = "Controls"
question = "Which one keeps the line full?"
[factors]
write = ["64KiB"]
congestion = ["reno", "cubic"]
[stop]
bytes = 10000000
)";

constexpr char kSendBuffersStudy[] = R"(title = "Send buffers"
question = "Which one fills the path?"
[factors]
write = ["64KiB"]
warmup = ["250ms"]
sndbuf = [16384, 65536, 262144, "unset"]
[stop]
bytes = 10000000
)";

const FactorValue* Factor(const Sample& sample, const std::string& name) {
  for (const auto& [factor, value] : sample.factors) {
    if (factor == name) return &value;
  }
  return nullptr;
}

// A round trip of 10 ms; the window is what was asked for, or 1 MB; full
// segments get 12.5 MB/s x 1448 / 1538 of the line.
void MakeFar(Sample& sample) {
  const FactorValue* asked = Factor(sample, "rcvbuf");
  const std::int64_t* bytes =
      asked == nullptr ? nullptr : std::get_if<std::int64_t>(asked);
  const std::int64_t window = bytes == nullptr ? 1'000'000 : *bytes;
  EndReport& sender = *sample.sender;
  sender.counters.peer_window_peak_bytes = window;
  sender.counters.min_rtt_ns = 10'000'000;
  sender.rtt_min_ns = 10'000'000;
  const double line = 12.5e6 * 1448 / 1538;
  const double rate = std::min(static_cast<double>(window) * 100, line);
  sender.counters.busy_ns = 1'000'000'000;
  sender.counters.window_limited_ns = rate < line ? 970'000'000 : 10'000'000;
  sender.counters.sndbuf_limited_ns = 0;
  EndReport& receiver = *sample.receiver;
  receiver.steady_bytes = static_cast<std::int64_t>(rate);
  receiver.steady_elapsed_ns = 1'000'000'000;
}

// As Linux has it: twice what was asked for, half of which is data. Left to the
// system, the line is full.
void LimitBySendBuffer(Sample& sample) {
  const auto* asked = std::get_if<std::int64_t>(Factor(sample, "sndbuf"));
  const double line = 12.5e6 * 1448 / 1538;
  const double rate = asked == nullptr
                          ? line
                          : std::min(static_cast<double>(*asked) * 100, line);
  EndReport& sender = *sample.sender;
  sender.options["sndbuf"] = {};
  sender.options["sndbuf"].effective =
      asked == nullptr ? std::int64_t{16'384} : 2 * *asked;
  if (asked != nullptr) sender.options["sndbuf"].requested = *asked;
  sender.counters.window_limited_ns = 0;
  sender.counters.sndbuf_limited_ns = rate < line ? 970'000'000 : 0;
  sample.receiver->steady_bytes = static_cast<std::int64_t>(rate);
}

SeriesMoment MomentAt(std::int64_t ms, std::int64_t cwnd) {
  SeriesMoment moment;
  moment.at_ns = 1'000'000'000 + ms * 1'000'000;
  moment.tcp.cwnd_bytes = cwnd;
  moment.tcp.in_flight_bytes = cwnd / 2;
  moment.tcp.peer_window_bytes = 65'536;
  moment.tcp.loss_state = ms == 20 ? LossState::kRecovery : LossState::kOpen;
  return moment;
}

class WindowReportTest : public testing::Test {
 protected:
  WindowReportTest() {
    run_.study_name = "windows";
    run_.study_text = kWindowsStudy;
    run_.pairs = {{"linux-1", "linux-2"}};
    run_.blocks = 3;
    run_.rate_bits_per_second = 100e6;
    run_.adjust = [this](Sample& sample) {
      MakeFar(sample);
      if (change_) change_(sample);
    };
  }

  [[nodiscard]] Analysis Analysed() const {
    const std::filesystem::path run = folder_.path() / "run";
    WriteSyntheticRun(run, run_);
    std::filesystem::create_directories(run / "series");
    TimeSeries series;
    series.sender = {MomentAt(0, 14'480), MomentAt(10, 28'960),
                     MomentAt(20, 57'920), MomentAt(30, 28'960)};
    std::ofstream(run / "series/one.csv") << SeriesText(series);
    return Analyse({run}).value();
  }

  SyntheticRun run_;
  TemporaryFolder folder_;
  std::function<void(Sample&)> change_;
};

TEST_F(WindowReportTest, ACurveIsOfCellsThatDifferInTheBufferAlone) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  ASSERT_TRUE(IsWindowStudy(view));
  const std::vector<WindowCurve> curves = WindowCurves(view);
  ASSERT_THAT(curves, SizeIs(1));
  EXPECT_THAT(curves[0].points, SizeIs(6));
  EXPECT_EQ(curves[0].label, "100 Mbit/s, RTT 10.0 ms");
  // 100 Mbit/s x 10 ms.
  EXPECT_NEAR(*curves[0].product, 125'000, 1e-6);
  EXPECT_EQ(AskedText(curves[0].points.front()), "16 KiB");
  EXPECT_EQ(AskedText(curves[0].points.back()), "unset");
  // 65,536 bytes each 10 ms are 6.55 MB/s; 131,072 would be more than the
  // line's 11.77.
  ASSERT_TRUE(curves[0].knee.has_value());
  EXPECT_EQ(curves[0].knee->size, 131'072);
}

TEST_F(WindowReportTest, NearHostsHaveNoCurve) {
  change_ = [](Sample& sample) { sample.sender->rtt_min_ns = 900'000; };
  const Analysis analysis = Analysed();
  EXPECT_FALSE(IsWindowStudy(ViewStudy(analysis, 0)));
}

TEST_F(WindowReportTest, TheSentenceNamesTheLimitOnBothSidesOfTheKnee) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const std::vector<WindowCurve> curves = WindowCurves(view);
  EXPECT_THAT(WindowSentence(view, curves),
              AllOf(HasSubstr("6 of 6 windows carry what window / RTT or the "
                              "line allows"),
                    HasSubstr("from 131,072 B on more brings no more; rate × "
                              "RTT is 125,000 B")));
  EXPECT_EQ(HeldBy(curves[0]),
            "16 KiB to 64 KiB the receiver's window, 128 KiB to unset the "
            "line");
}

TEST_F(WindowReportTest, AWindowThatCarriesLessIsToldByHowMuch) {
  change_ = [](Sample& sample) {
    const FactorValue* asked = Factor(sample, "rcvbuf");
    if (*asked == FactorValue(std::int64_t{32'768}))
      sample.receiver->steady_bytes = 1'638'400;  // Half.
  };
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(WindowSentence(view, WindowCurves(view)),
              AllOf(HasSubstr("5 of 6 windows"),
                    HasSubstr("the farthest, 32 KiB, 50 % less")));
}

TEST_F(WindowReportTest, TheTableHasARowAWindowWithBothLimits) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const Table table = WindowsTable(view, WindowCurves(view));
  ASSERT_THAT(table.rows, SizeIs(6));
  // 16,384 bytes each 10 ms: 1.64 MB/s, of which all; the line's 11.8 beside.
  EXPECT_THAT(table.rows[0], Contains("1.64"));
  EXPECT_THAT(table.rows[0], Contains("11.8"));
  EXPECT_THAT(table.rows[0].back(), HasSubstr("receiver's window"));
}

TEST_F(WindowReportTest, ThePictureHasBothLinesOfTheory) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const Picture picture = WindowPictures(view).at(0);
  EXPECT_EQ(picture.kind, "throughput");
  const Chart& chart = picture.panels.at(0).request.chart;
  ASSERT_THAT(chart.curves, SizeIs(2));
  EXPECT_TRUE(chart.curves[0].points.back().hollow);  // The system's own.
  EXPECT_FALSE(chart.curves[0].points.front().hollow);
  const std::vector<ChartPoint>& theory = chart.curves[1].points;
  ASSERT_THAT(theory, SizeIs(3));
  EXPECT_NEAR(theory[0].y, 1.6384, 1e-9);
  EXPECT_NEAR(theory[1].x, 12.5e6 * 1448 / 1538 / 100, 1);
  EXPECT_NEAR(theory[2].y, 11.7685, 1e-3);
  EXPECT_THAT(chart.guides, SizeIs(1));
}

TEST_F(WindowReportTest, SendBuffersHaveACurveOfTheirOwn) {
  run_.study_text = kSendBuffersStudy;
  change_ = LimitBySendBuffer;
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(WindowCurves(view, Buffer::kReceive), IsEmpty());
  const std::vector<WindowCurve> curves = WindowCurves(view, Buffer::kSend);
  ASSERT_THAT(curves, SizeIs(1));
  ASSERT_THAT(curves[0].points, SizeIs(4));
  // Nobody can tell how large the system's own became; it is in no picture.
  EXPECT_FALSE(curves[0].points[3].asked.has_value());
  EXPECT_EQ(curves[0].points[3].window, 0);
  EXPECT_EQ(curves[0].points[0].window, 32'768);  // Twice 16 KiB.
  const Picture picture = WindowPictures(view).at(0);
  EXPECT_EQ(picture.title, "Throughput against the send buffer");
  EXPECT_THAT(picture.panels.at(0).request.chart.curves.at(0).points,
              SizeIs(3));
  // 16 KiB and 64 KiB a round trip of 10 ms, out of twice as much; 256 KiB are
  // more than the path holds.
  EXPECT_THAT(
      picture.sentence,
      AllOf(HasSubstr("where the send buffer is the limit, 50.0 % of it are "
                      "data in flight"),
            HasSubstr("16 KiB to 64 KiB the send buffer, 256 KiB to "
                      "unset the line")));
  const Table table = WindowsTable(view, curves);
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_EQ(table.rows[0][1], "send 16 KiB");
}

TEST_F(WindowReportTest, WhereSteadyStateBeginsIsSaid) {
  EXPECT_EQ(SteadyText(ViewStudy(Analysed(), 0)),
            "the first tenth of the bytes is left out");
  std::filesystem::remove_all(folder_.path() / "run");
  run_.study_text = kSendBuffersStudy;
  change_ = LimitBySendBuffer;
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_EQ(
      SteadyText(view),
      "what came in the first 250 ms is left out, and slow start with it");
  EXPECT_THAT(WindowPictures(view).at(0).drawn, HasSubstr(SteadyText(view)));
}

TEST_F(WindowReportTest, WhereSteadyStateIsNotToldApartThatIsSaid) {
  change_ = [](Sample& sample) {
    sample.receiver->steady_bytes.reset();
    sample.receiver->steady_elapsed_ns.reset();
  };
  const Analysis analysis = Analysed();
  EXPECT_EQ(SteadyText(ViewStudy(analysis, 0)),
            "not told from the start, so that all that came counts");
}

// The system's own window is as good as the best that was set: 1 MB and 128
// KiB are both more than the path holds.
TEST_F(WindowReportTest, BeforeAndAfterAreComparedBlockByBlock) {
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const std::vector<WindowCurve> curves = WindowCurves(view);
  const std::vector<BeforeAfter> pairs = PairsOf(view, curves);
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_NEAR(pairs[0].ratio->median, 1, 1e-9);
  EXPECT_THAT(BeforeAfterSentence(pairs),
              AllOf(HasSubstr("no difference can be told"),
                    HasSubstr("Left to the system the limit is the line")));
}

TEST_F(WindowReportTest, WithoutATimeSeriesThereIsNoCourse) {
  const Analysis analysis = Analysed();
  EXPECT_THAT(CoursePictures(ViewStudy(analysis, 0)), IsEmpty());
}

TEST_F(WindowReportTest, ACourseIsDrawnForFewCellsAndSaysWhatHeld) {
  change_ = [](Sample& sample) {
    sample.series.emplace();
    sample.series->file = "series/one.csv";
  };
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  const std::vector<Picture> pictures = CoursePictures(view);
  ASSERT_THAT(pictures, SizeIs(1));
  // The smallest, the one nearest the product (128 KiB), the system's own.
  EXPECT_THAT(pictures[0].panels, SizeIs(3));
  EXPECT_THAT(pictures[0].sentence,
              AllOf(HasSubstr("Buffer 16 KiB: 29.0 kB in flight of a window of "
                              "65.5 kB and a congestion window of 57.9 kB; the "
                              "receiver's window limits."),
                    HasSubstr("buffer 128 KiB"), HasSubstr("buffer unset"),
                    Not(HasSubstr("buffer 32 KiB"))));
  const Chart& chart = pictures[0].panels[0].request.chart;
  EXPECT_THAT(chart.curves, SizeIs(3));
  EXPECT_THAT(chart.strokes, SizeIs(1));  // One repair.
}

TEST_F(WindowReportTest, CongestionControlsStandSideBySideOnTheSameAxes) {
  run_.study_text = kControlsStudy;
  change_ = [](Sample& sample) {
    sample.series.emplace();
    sample.series->file = "series/one.csv";
  };
  const Analysis analysis = Analysed();
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_FALSE(IsWindowStudy(view));
  const std::vector<Picture> pictures = CoursePictures(view);
  ASSERT_THAT(pictures, SizeIs(1));
  EXPECT_EQ(pictures[0].kind, "congestion");
  ASSERT_THAT(pictures[0].panels, SizeIs(2));
  EXPECT_EQ(pictures[0].panels[0].request.chart.y.high,
            pictures[0].panels[1].request.chart.y.high);
  EXPECT_THAT(pictures[0].sentence,
              AllOf(HasSubstr("Reno: "), HasSubstr("cubic: "),
                    HasSubstr("1 repair of losses")));
  // And nothing against the size of the one write.
  ASSERT_TRUE(IsControlStudy(view));
  EXPECT_EQ(StudyPictures(view).at(0).title,
            "Throughput by congestion control");
}

TEST_F(WindowReportTest, AReportOfWindowsLeadsWithThemAndHasTheirTable) {
  const Analysis analysis = Analysed();
  const Document document = MakeDocument(analysis);
  EXPECT_EQ(document.parts.at(0).pictures.at(0).title,
            "Throughput against the window");
  EXPECT_EQ(document.parts.at(0).tables.at(0).title, "Windows");
  EXPECT_EQ(document.cards.at(0).figure, "131,072 B");
  EXPECT_EQ(document.cards.at(2).figure, "the line");
}

}  // namespace
}  // namespace wiretoll
