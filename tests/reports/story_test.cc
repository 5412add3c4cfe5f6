// What explains a trial: its pictures, page, text and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/flags.h"
#include "reports/ladder.h"
#include "reports/slides.h"
#include "reports/story_data.h"
#include "reports/story_pictures.h"
#include "reports/story_report.h"
#include "tests/reports/fixture.h"
#include "tests/reports/made_story.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

StoryRun RunOfStory() {
  StoryRun run;
  run.record = SyntheticRecord({});
  run.folder = "here";
  return run;
}

const Picture& PictureOfKind(const std::vector<Picture>& pictures,
                             const std::string& kind) {
  const auto found = std::find_if(
      pictures.begin(), pictures.end(),
      [&kind](const Picture& picture) { return picture.kind == kind; });
  EXPECT_NE(found, pictures.end()) << kind;
  return found == pictures.end() ? pictures.front() : *found;
}

const Chart& ChartOfKind(const std::vector<Picture>& pictures,
                         const std::string& kind) {
  return PictureOfKind(pictures, kind).panels.at(0).request.chart;
}

// --- Data -------------------------------------------------------------------

TEST(StoryDataTest, StepsFollowWhatWasWrittenSentAndAcknowledged) {
  StoryMaker maker;
  maker.Write(kMsNs, 1000).Data(2 * kMsNs, 600).Data(3 * kMsNs, 400);
  maker.Ack(4 * kMsNs, 600, 5000).Ack(5 * kMsNs, 1000, 4000);
  const StoryData data = DataOf(maker.Take());
  ASSERT_EQ(data.written.size(), 2U);
  EXPECT_EQ(data.written[1].at_ns, kMsNs);
  EXPECT_EQ(data.written[1].value, 1000);
  EXPECT_EQ(data.bytes, 1000);
  // 600 + 5000, 1000 + 4000.
  EXPECT_EQ(data.edge[data.edge.size() - 2].value, 5600);
  EXPECT_EQ(data.edge.back().value, 5000);
  // 600 out, then all 1000, less what is acknowledged.
  std::vector<double> in_flight;
  for (const Reached& step : data.in_flight) in_flight.push_back(step.value);
  EXPECT_THAT(in_flight, ElementsAre(0, 600, 1000, 400, 0));
}

TEST(StoryDataTest, ALateOlderAckTakesNothingBack) {
  StoryMaker maker;
  maker.Data(kMsNs, 100).Ack(2 * kMsNs, 100).Ack(3 * kMsNs, 40);
  const StoryData data = DataOf(maker.Take());
  EXPECT_EQ(data.acknowledged.back().value, 100);
  EXPECT_EQ(data.acknowledged.back().at_ns, 2 * kMsNs);
}

TEST(StoryDataTest, TheWindowOfTheHandshakeIsNoneOfTheTrial) {
  StoryMaker maker;  // Whose SYN-ACK announces 64000.
  maker.Ack(kMsNs, 0, 1152).Data(2 * kMsNs, 1152);
  const StoryData data = DataOf(maker.Take());
  ASSERT_EQ(data.window.size(), 1U);
  EXPECT_EQ(data.window[0].value, 1152);
}

// 1460 announced less 12 of timestamps.
TEST(StoryDataTest, AFullSegmentLeavesRoomForTimestamps) {
  StoryMaker maker;
  maker.Data(kMsNs, 1448);
  EXPECT_EQ(DataOf(maker.Take()).mss, 1448);
}

TEST(StoryDataTest, TheRoundTripIsTheHandshakesAndElseTheKernels) {
  StoryMaker maker("stream", 300 * kUs);
  EXPECT_EQ(DataOf(maker.story()).rtt_ns, 300 * kUs);
  // A SYN that was sent again: nobody knows which was answered.
  StoryMaker again("stream", 300 * kUs);
  Story story = again.Take();
  story.timeline.segments.insert(story.timeline.segments.begin(),
                                 story.timeline.segments.front());
  EXPECT_FALSE(DataOf(story).rtt_ns.has_value());
  story.sample.sender->counters.min_rtt_ns = 123;
  EXPECT_EQ(DataOf(story).rtt_ns, 123);
}

TEST(StoryDataTest, CallsOnAnotherClockAreLeftOutAndSaid) {
  StoryMaker maker;
  maker.Write(kMsNs, 10).Data(2 * kMsNs, 10);
  maker.story().sender_calls_on_clock = false;
  const Story story = maker.Take();
  const StoryData data = DataOf(story);
  EXPECT_TRUE(data.written.empty());
  EXPECT_THAT(data.write_sizes, ElementsAre(10));
  EXPECT_THAT(SequencePicture(story, data).drawn,
              HasSubstr("What the program wrote is left out: the sender's "
                        "program logged its calls by another machine's clock"));
  // And nowhere else do they appear as events.
  const Ladder ladder = MakeLadder(story, data);
  for (const LadderRow& row : ladder.rows) {
    EXPECT_NE(row.kind, LadderKind::kSenderCall);
  }
  EXPECT_THAT(ladder.left_out, HasSubstr("sender's program (logged by another "
                                         "machine's clock)"));
}

TEST(StoryDataTest, CallsThatNobodyLoggedAreSaidToBeMissing) {
  StoryMaker maker;
  maker.Data(kMsNs, 10);
  const Story story = maker.Take();
  EXPECT_THAT(SequencePicture(story, DataOf(story)).drawn,
              HasSubstr("no call of the sender's program was logged"));
}

// --- What a pixel cannot show
// -------------------------------------------------

// 886 pixels wide, 354 high inside the margins.
Chart PlainChart() {
  Chart chart;
  chart.x = SpanAxis("x", 0, 1000);
  chart.y = SpanAxis("y", 0, 1000);
  return chart;
}

TEST(ThinTest, StepsKeepTheirExtremes) {
  Steps steps;
  for (int i = 0; i < 100'000; ++i) {
    // One spike in the middle of a column that nothing else marks.
    const double value = i == 54'321 ? 999 : i == 67'890 ? 1 : 500 + i % 3;
    steps.push_back({i * std::int64_t{10'000}, value});
  }
  const auto kept = ThinSteps(steps, PlainChart(), {1e-6, 1});
  EXPECT_LT(kept.size(), 6'000U);
  double low = 1e9, high = 0;
  for (const ChartPoint& point : kept) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 999);
  EXPECT_TRUE(std::is_sorted(
      kept.begin(), kept.end(),
      [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; }));
}

TEST(ThinTest, StepsBeforeThePictureGiveItsFirstValue) {
  const auto kept = ThinSteps({{-5, 7}, {200, 9}}, PlainChart(), {1, 1});
  ASSERT_GE(kept.size(), 4U);
  EXPECT_EQ(kept.front().x, 0);
  EXPECT_EQ(kept.front().y, 7);
  EXPECT_EQ(kept.back().x, 1000);
  EXPECT_EQ(kept.back().y, 9);
}

TEST(ThinTest, StrokesOfAColumnBecomeOneOnlyWhereTheyTouch) {
  const auto kept = ThinStrokes({{100, 0, 100, 50},
                                 {100.1, 50, 100.1, 90},
                                 {100.2, 400, 100.2, 450},
                                 {300, 0, 300, 10}},
                                PlainChart());
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].from_y, 0);
  EXPECT_EQ(kept[0].to_y, 90);
  EXPECT_EQ(kept[1].from_y, 400);
  EXPECT_EQ(kept[2].from_x, 300);
}

TEST(ThinTest, DotsKeepLowestAndHighest) {
  std::vector<Stroke> dots;
  for (int i = 0; i < 50'000; ++i) {
    const double x = 500 + (i % 10) * 0.01;
    dots.push_back({x, 500, x, 500});
  }
  dots.push_back({500, 500.4, 500, 500.4});
  dots.push_back({500, 499.6, 500, 499.6});
  const auto kept = ThinDots(dots, PlainChart(), 3);
  EXPECT_LT(kept.size(), 10U);
  const auto has = [&kept](double y) {
    return std::any_of(kept.begin(), kept.end(),
                       [y](const Stroke& dot) { return dot.from_y == y; });
  };
  EXPECT_TRUE(has(500.4));
  EXPECT_TRUE(has(499.6));
}

TEST(ThinTest, ShadesAreCutAtThePictureAndJoined) {
  const auto kept =
      ThinShades({{-50, 100}, {100.2, 200}, {400, 5000}}, PlainChart());
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].from, 0);
  EXPECT_EQ(kept[0].to, 200);
  EXPECT_EQ(kept[1].to, 1000);
}

TEST(ThinTest, AHundredThousandSegmentsMakeASmallPageAndSayHowMany) {
  const TemporaryFolder folder;
  const auto written =
      WriteStory(BulkStory(100'000), RunOfStory(), folder.path() / "out");
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_LT(fs::file_size(written.value().files.front()), 1'000'000U);
  const std::string page = ReadFile(written.value().files.front());
  EXPECT_THAT(page, HasSubstr("100000 segments are drawn as "));
}

// --- Flags
// --------------------------------------------------------------------

// The texts of flags, with the chart's own idea of their width.
std::vector<Box> TextsOf(const Chart& chart) {
  std::vector<Box> boxes;
  for (const Flag& flag : chart.flags) {
    boxes.push_back({flag.label.x, flag.label.y - 8,
                     flag.label.x + TextWidth(chart, flag.label.text) - 4,
                     flag.label.y + 8});
  }
  return boxes;
}

TEST(FlagsTest, NeitherTextNorLineTouchesAnother) {
  std::vector<FlagWish> wishes;
  for (const double x : {500.0, 505.0, 300.0, 980.0, 20.0, 700.0, 710.0}) {
    wishes.push_back({x, "Nagle waits 43.7 ms for the delayed ACK"});
  }
  Chart chart = PlainChart();
  const int top = chart.top;
  const auto placed = PlaceFlags(wishes, chart);
  ASSERT_GE(placed.size(), 4U);
  EXPECT_LE(placed.size(), kMostFlags);
  EXPECT_EQ(chart.flags.size(), placed.size());
  EXPECT_GT(chart.top, top);
  const std::vector<Box> texts = TextsOf(chart);
  for (std::size_t a = 0; a < texts.size(); ++a) {
    EXPECT_GE(texts[a].left, 0);
    EXPECT_LE(texts[a].right, chart.width);
    EXPECT_GE(texts[a].top, 0);
    for (std::size_t b = 0; b < texts.size(); ++b) {
      if (a == b) continue;
      EXPECT_FALSE(Overlap(texts[a], texts[b])) << a << " and " << b;
      // The line of a goes down from its text.
      const double line = chart.flags[a].line_x;
      const bool through = texts[b].top > texts[a].top &&
                           line > texts[b].left && line < texts[b].right;
      EXPECT_FALSE(through) << "line of " << a << " through " << b;
    }
  }
}

TEST(FlagsTest, TheFirstWishesArePreferred) {
  std::vector<FlagWish> wishes;
  wishes.reserve(20);
  for (int i = 0; i < 20; ++i) {
    wishes.push_back({500 + i * 0.1, "all at nearly the same place"});
  }
  Chart chart = PlainChart();
  EXPECT_THAT(PlaceFlags(wishes, chart), ElementsAre(0));
}

TEST(FlagsTest, WithoutWishesTheChartStaysAsItIs) {
  Chart chart = PlainChart();
  const int height = chart.height;
  EXPECT_TRUE(PlaceFlags({}, chart).empty());
  EXPECT_EQ(chart.height, height);
}

// --- Pictures
// -----------------------------------------------------------------

TEST(StoryPicturesTest, TheSequenceShowsSegmentsWritesAcksAndStalls) {
  StoryMaker maker;
  maker.Ack(kMsNs / 2, 0, 900);
  maker.Write(kMsNs, 1000).Data(2 * kMsNs, 600).Ack(3 * kMsNs, 600, 900);
  maker.Data(50 * kMsNs, 400).Ack(51 * kMsNs, 1000, 900);
  maker.Again(60 * kMsNs, 600, 400);
  maker.Stalled(2 * kMsNs, 48 * kMsNs, Mechanism::kNagleAwaitsAck,
                "Nagle waits 48 ms");
  const std::vector<Picture> pictures = StoryPictures(maker.Take());
  const Chart& chart = ChartOfKind(pictures, "sequence");
  // In ms and B.
  ASSERT_EQ(chart.strokes.size(), 2U);
  ASSERT_EQ(chart.strokes[0].lines.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.strokes[0].lines[0].from_x, 2);
  EXPECT_DOUBLE_EQ(chart.strokes[0].lines[0].to_y, 600);
  EXPECT_DOUBLE_EQ(chart.strokes[0].lines[1].from_y, 600);
  ASSERT_EQ(chart.strokes[1].lines.size(), 1U);
  EXPECT_DOUBLE_EQ(chart.strokes[1].lines[0].from_x, 60);
  ASSERT_EQ(chart.shades.size(), 1U);
  EXPECT_DOUBLE_EQ(chart.shades[0].from, 2);
  EXPECT_DOUBLE_EQ(chart.shades[0].to, 50);
  ASSERT_EQ(chart.flags.size(), 1U);
  EXPECT_EQ(chart.flags[0].label.text, "Nagle waits 48 ms");
  // Written, acknowledged and, 900 above it, the window's edge.
  ASSERT_EQ(chart.curves.size(), 3U);
  EXPECT_DOUBLE_EQ(chart.curves[0].points.back().y, 1000);
  EXPECT_DOUBLE_EQ(chart.curves[1].points.back().y, 1000);
  EXPECT_DOUBLE_EQ(chart.curves[2].points.back().y, 1900);
}

TEST(StoryPicturesTest, AFarEdgeIsLeftOutAndSaid) {
  StoryMaker maker;
  maker.Data(kMsNs, 100).Ack(2 * kMsNs, 100, 65'536);
  const Story story = maker.Take();
  const Picture picture = SequencePicture(story, DataOf(story));
  EXPECT_EQ(picture.panels[0].request.chart.curves.size(), 1U);
  EXPECT_THAT(picture.drawn, HasSubstr("The window's edge lies above"));
}

TEST(StoryPicturesTest, TheSentenceAddsUpTheStalls) {
  StoryMaker maker;
  maker.Data(kMsNs, 10).Data(100 * kMsNs, 10);
  maker.Stalled(kMsNs, 40 * kMsNs, Mechanism::kDelayedAck, "a");
  maker.Stalled(50 * kMsNs, 10 * kMsNs, Mechanism::kWindowClosed, "b");
  const Story story = maker.Take();
  const std::string sentence = StallsSentence(story, DataOf(story));
  EXPECT_THAT(sentence, HasSubstr("2 stalls make up 50.0 ms of 100 ms"));
  EXPECT_THAT(sentence, HasSubstr("(50.0 %)"));
  EXPECT_THAT(
      sentence,
      HasSubstr(MechanismName(Mechanism::kDelayedAck) + " in 1 (40.0 ms), " +
                MechanismName(Mechanism::kWindowClosed) + " in 1 (10.0 ms)."));
}

TEST(StoryPicturesTest, WhereNothingStalledTheSentenceSaysSo) {
  const Story story = BulkStory(10);
  EXPECT_THAT(StallsSentence(story, DataOf(story)),
              HasSubstr("Nothing stalled: 14480 B left in 10 segments"));
}

TEST(StoryPicturesTest, ManyAlikeStallsAreNamedOnce) {
  const Story story = WriteWriteReadStory(50);
  const Chart chart =
      SequencePicture(story, DataOf(story)).panels[0].request.chart;
  ASSERT_EQ(chart.flags.size(), 1U);
  EXPECT_EQ(chart.flags[0].label.text,
            "Nagle waits 43.7 ms for the delayed ACK (the longest of 50)");
}

// 310 us to 44020 us, and as much and a quarter more on each side; nothing is
// before the first event.
TEST(StoryPicturesTest, TheCloserLookIsAtTheLongestWaitOfTheStacks) {
  StoryMaker maker;
  maker.Data(310 * kUs, 10).Data(44'020 * kUs, 10).Data(900 * kMsNs, 10);
  maker.Stalled(310 * kUs, 43'710 * kUs, Mechanism::kDelayedAck, "an ACK");
  maker.Stalled(44'020 * kUs, 800 * kMsNs, Mechanism::kSenderProgram, "idle");
  const Story story = maker.Take();
  const StoryData data = DataOf(story);
  const StorySpan span = CloserSpan(story, data);
  EXPECT_EQ(span.from_ns, 0);
  EXPECT_EQ(span.to_ns, 44'020 * kUs + 43'710 * kUs + 43'710 * kUs / 4);
  EXPECT_THAT(CloserPicture(story, data).sentence, HasSubstr("an ACK"));
}

// Left at 5 ms, again at 25 ms: a quarter of the 20 ms before, all of it after.
TEST(StoryPicturesTest, WithoutAStallTheCloserLookIsAtWhatWasSentAgain) {
  StoryMaker maker;
  maker.Data(4 * kMsNs, 100).Data(5 * kMsNs, 100).Data(6 * kMsNs, 100);
  maker.Again(25 * kMsNs, 100, 100).Data(900 * kMsNs, 100);
  const Story story = maker.Take();
  const StoryData data = DataOf(story);
  const StorySpan span = CloserSpan(story, data);
  EXPECT_EQ(span.from_ns, 0);
  EXPECT_EQ(span.to_ns, 45 * kMsNs);
  EXPECT_THAT(CloserPicture(story, data).sentence,
              HasSubstr("byte 100 of the stream: it left at 5.0 ms and again "
                        "20.0 ms later"));
  EXPECT_THAT(StallsSentence(story, data),
              HasSubstr("in 5 segments, 1 of them sent again, within"));
}

TEST(StoryPicturesTest, AClosedWindowIsTimed) {
  // 0.1 to 59.95 ms of each turn, for three turns.
  const Story story = SmallWindowStory(3);
  const Picture picture = WindowPicture(story, DataOf(story));
  EXPECT_THAT(picture.sentence,
              HasSubstr("The window was closed 3 times, for 180 ms"));
}

TEST(StoryPicturesTest, AWindowThatWasNoLimitIsSaidToBeNone) {
  StoryMaker maker;
  maker.Data(kMsNs, 100).Ack(2 * kMsNs, 100, 65'536);
  const Story story = maker.Take();
  const Picture picture = WindowPicture(story, DataOf(story));
  EXPECT_THAT(picture.sentence, HasSubstr("never stood in the way: at most "
                                          "100 B were in flight"));
  EXPECT_THAT(picture.drawn, HasSubstr("The window lies above the picture"));
}

TEST(StoryPicturesTest, SizesCountFirstSendingsAndMarkTheMss) {
  StoryMaker maker;
  maker.Write(kMsNs, 3000);
  maker.Data(2 * kMsNs, 1448).Data(3 * kMsNs, 1448).Data(4 * kMsNs, 104);
  maker.Again(5 * kMsNs, 0, 1448);
  const Story story = maker.Take();
  const Picture picture = SizesPicture(story, DataOf(story));
  // 2 of 3: what was sent again is left out.
  EXPECT_THAT(picture.sentence, HasSubstr("2 of 3 segments are full, 1448 B "
                                          "(66.7 %)"));
  EXPECT_THAT(picture.sentence, HasSubstr("mostly wrote 3000 B"));
  const Chart& chart = picture.panels[0].request.chart;
  std::vector<std::string> rows;
  for (const Tick& tick : chart.y.ticks) rows.push_back(tick.label);
  EXPECT_THAT(rows,
              ElementsAre("104 B", "1448 B, the MSS", "3000 B, over the MSS"));
  ASSERT_EQ(chart.bars.size(), 3U);
  EXPECT_DOUBLE_EQ(chart.bars[1].to, 200.0 / 3);
}

TEST(StoryPicturesTest, ManySizesBecomeRangesThatCountAll) {
  StoryMaker maker;
  for (std::int64_t i = 1; i <= 40; ++i)
    maker.Data(i * kMsNs, i * 37);  // Up to 1480.
  const Story story = maker.Take();
  const Chart chart =
      SizesPicture(story, DataOf(story)).panels[0].request.chart;
  double sum = 0;
  for (const Bar& bar : chart.bars) sum += bar.to - bar.from;
  EXPECT_NEAR(sum, 100, 1e-6);
  EXPECT_LE(chart.y.ticks.size(), 14U);
}

TEST(StoryPicturesTest, GapsAreMarkedAtTheRoundTripAndAt40Ms) {
  StoryMaker maker("stream", 500 * kUs);
  maker.Data(kMsNs, 1).Data(2 * kMsNs, 1).Data(46 * kMsNs, 1);
  const Story story = maker.Take();
  const Picture picture = DeparturesPicture(story, DataOf(story));
  EXPECT_THAT(picture.sentence,
              HasSubstr("Half of 2 gaps last 1.00 ms or less, the longest "
                        "44.0 ms; 1 last 40 ms or more"));
  const Chart& chart = picture.panels[0].request.chart;
  EXPECT_TRUE(chart.y.log);
  EXPECT_THAT(chart.y.title, HasSubstr("log scale"));
  ASSERT_EQ(chart.guides.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.guides[0].at, 40);
  EXPECT_DOUBLE_EQ(chart.guides[1].at, 0.5);
  ASSERT_EQ(chart.strokes[0].lines.size(), 2U);
  EXPECT_DOUBLE_EQ(chart.strokes[0].lines[1].from_y, 44);
}

TEST(StoryPicturesTest, ACaptureWithoutPayloadMakesSentencesAndNoPicture) {
  StoryMaker maker;
  const std::vector<Picture> pictures = StoryPictures(maker.Take());
  EXPECT_EQ(pictures.size(), 5U);  // No closer look.
  for (const char* kind : {"sequence", "sizes", "departures"}) {
    const Picture& picture = PictureOfKind(pictures, kind);
    EXPECT_TRUE(picture.panels.empty()) << kind;
    EXPECT_FALSE(picture.missing.empty()) << kind;
    EXPECT_TRUE(picture.sentence.ends_with(".")) << kind;
  }
}

// --- Ladder
// -------------------------------------------------------------------

TEST(LadderTest, EventsComeInOrderWithTheWaitBetweenThem) {
  const Story story = WriteWriteReadStory(3);
  const Ladder ladder = MakeLadder(story, DataOf(story), 7);
  EXPECT_EQ(ladder.events, 7U);
  std::vector<std::string> texts;
  for (const LadderRow& row : ladder.rows) texts.push_back(row.text);
  EXPECT_THAT(texts, ElementsAre("SYN, win 64000", "SYN, ack 0, win 64000",
                                 "ack 0, win 64000", "write 9 + 4 B",
                                 "seq 0, len 9, ack 0",
                                 "Nagle waits 43.7 ms for the delayed ACK",
                                 "ack 9, win 64000", "seq 9, len 4, ack 0"));
}

TEST(LadderTest, ManyCallsInARowAreOneEventThatCountsThem) {
  StoryMaker maker;
  for (int i = 0; i < 500; ++i) maker.Write(kMsNs + i, 32);
  maker.Data(2 * kMsNs, 1448);
  const Story story = maker.Take();
  const Ladder ladder = MakeLadder(story, DataOf(story));
  // Handshake, the calls, the segment.
  ASSERT_EQ(ladder.rows.size(), 5U);
  EXPECT_EQ(ladder.rows[3].text, "500 writes, 16000 B");
  EXPECT_EQ(ladder.rows[3].calls, 500);
  EXPECT_THAT(LadderPicture(story, DataOf(story)).sentence,
              HasSubstr("calls 500 times"));
}

TEST(LadderTest, ReadsStandWhereTheyReturnAndTheEndIsToldApart) {
  StoryMaker maker;
  maker.Data(kMsNs, 8).Read(2 * kMsNs, 8).Read(3 * kMsNs, 0);
  const Story story = maker.Take();
  const Ladder ladder = MakeLadder(story, DataOf(story));
  ASSERT_EQ(ladder.rows.size(), 6U);
  EXPECT_EQ(ladder.rows[4].text, "read 8 B");
  EXPECT_EQ(ladder.rows[5].text, "read: end of stream");
}

TEST(LadderTest, ItIsOneSvgWithATitleAndAllItsTexts) {
  const Story story = WriteWriteReadStory(3);
  const Ladder ladder = MakeLadder(story, DataOf(story));
  const std::string svg = LadderSvg(ladder, story, "x-");
  EXPECT_EQ(CountOf(svg, "<svg "), 1);
  EXPECT_EQ(CountOf(svg, "</svg>"), 1);
  EXPECT_THAT(svg, HasSubstr("<title id=\"x-title\">"));
  EXPECT_THAT(svg, HasSubstr(">seq 0, len 9, ack 0</text>"));
  EXPECT_EQ(CountOf(svg, "<text"), CountOf(svg, "</text>"));
}

// A page forgives what a file of its own must not have. Empty if it is XML.
std::string WhyNoXml(const std::string& text) {
  std::istringstream in(text);
  boost::property_tree::ptree tree;
  try {
    boost::property_tree::read_xml(in, tree);
  } catch (const boost::property_tree::xml_parser_error& error) {
    return error.what();
  }
  return {};
}

// --- Page, slides, text, JSON
// --------------------------------------------------

class StoryPageTest : public testing::Test {
 protected:
  std::string Write(const Story& story) {
    const auto written =
        WriteStory(story, RunOfStory(), folder_.path() / "out");
    EXPECT_TRUE(written.has_value());
    if (!written.has_value()) return {};
    written_ = written.value();
    return ReadFile(written_.files.front());
  }
  TemporaryFolder folder_;
  WrittenReport written_;
};

TEST_F(StoryPageTest, ThePageHasStoryPicturesStallsAndHowToRepeat) {
  const std::string page = Write(WriteWriteReadStory(20));
  EXPECT_THAT(page,
              HasSubstr("<li dir=\"auto\">At 0.305 ms it writes 4 more."));
  EXPECT_EQ(CountOf(page, "<figure class=\"picture\">"), 6);
  EXPECT_GE(CountOf(page, "<svg role=\"img\""), 6);
  EXPECT_THAT(page, HasSubstr("Each stall has a mechanism"));
  EXPECT_THAT(page, HasSubstr("<pre>wiretoll explain here "
                              "made/request-response/linux-1:linux-2/0</pre>"));
  for (const char* part : {"<script", "://", "<link", "<img", "src="}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST_F(StoryPageTest, EachPictureIsASlideBesideThePage) {
  Write(WriteWriteReadStory(20));
  std::vector<std::string> names;
  for (const fs::path& file : written_.files) {
    names.push_back(file.filename().string());
  }
  const std::string stem = "made_request-response";
  EXPECT_THAT(names, ElementsAre(stem + ".html", stem + "-sequence.svg",
                                 stem + "-closer.svg", stem + "-ladder.svg",
                                 stem + "-window.svg", stem + "-sizes.svg",
                                 stem + "-departures.svg"));
  for (std::size_t i = 1; i < written_.files.size(); ++i) {
    const std::string svg = ReadFile(written_.files[i]);
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    // Light ground, whatever the viewer's theme.
    EXPECT_THAT(svg, HasSubstr("fill=\"#fff\""));
    EXPECT_EQ(CountOf(svg, "<svg"), 2) << names[i];
    EXPECT_EQ(WhyNoXml(svg), "") << names[i];
  }
}

TEST_F(StoryPageTest, WithoutGnuplotPageAndLadderAreStillWritten) {
  const TemporaryFolder empty;
  const PathSetting path(empty.path().string());
  const std::string page = Write(WriteWriteReadStory(5));
  ASSERT_EQ(written_.warnings.size(), 1U);
  EXPECT_THAT(written_.warnings[0], HasSubstr("gnuplot was not found"));
  EXPECT_THAT(page, HasSubstr("No picture: gnuplot was not found on PATH"));
  EXPECT_EQ(CountOf(page, "<svg role=\"img\""), 1);
  ASSERT_EQ(written_.files.size(), 2U);
  EXPECT_THAT(written_.files[1].string(), HasSubstr("-ladder.svg"));
}

TEST_F(StoryPageTest, UnexplainedStallsAreCountedAndMarked) {
  StoryMaker maker;
  maker.Data(kMsNs, 1).Data(90 * kMsNs, 1).Data(200 * kMsNs, 1);
  maker.Stalled(kMsNs, 89 * kMsNs, Mechanism::kUnexplained, "nobody knows");
  maker.Stalled(90 * kMsNs, 110 * kMsNs, Mechanism::kSenderProgram, "idle");
  const std::string page = Write(maker.Take());
  EXPECT_THAT(page, HasSubstr("1 of 2 stalls are unexplained."));
  EXPECT_EQ(CountOf(page, "<tr class=\"m\">"), 1);
}

TEST_F(StoryPageTest, AFolderThatCannotBeMadeIsSaid) {
  std::ofstream(folder_.path() / "out") << "a file";
  const auto written =
      WriteStory(WriteWriteReadStory(1), RunOfStory(), folder_.path() / "out");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(written.error().message, HasSubstr("cannot be written"));
}

// Everything that some program down the line might run or interpret.
Story HostileStory(const std::string& file) {
  const std::string evil = "<script>x</script> `touch " + file + "` $(touch " +
                           file + ") \"; system \"touch " + file +
                           "\" ' \x1b[31m \xFF";
  Story story = WriteWriteReadStory(3);
  story.sender = story.receiver = story.captured_at = evil;
  story.sample.trial = "../../" + evil;
  story.sample.case_id = story.sample.link = evil;
  story.sample.sender->host = evil;
  story.sample.capture->file = "captures/../../" + evil + ".pcapng";
  story.sample.capture->partial = evil;
  story.sample.factors.emplace_back(evil, evil);
  story.words = story.notes = {evil};
  for (Stall& stall : story.stalls) stall.words = evil;
  story.rule->why = story.rule->followed = evil;
  return story;
}

TEST_F(StoryPageTest, HostileTextsAreShownAndNothingElse) {
  const fs::path file = folder_.path() / "pwned";
  const std::string page = Write(HostileStory(file.string()));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(CountOf(page, "<script"), 0);
  EXPECT_GT(CountOf(page, "&lt;script&gt;x"), 8);
  for (const fs::path& written : written_.files) {
    EXPECT_EQ(written.parent_path(), folder_.path() / "out");
    EXPECT_EQ(CountOf(ReadFile(written), "<script"), 0) << written;
    if (written.extension() == ".svg") {
      EXPECT_EQ(WhyNoXml(ReadFile(written)), "") << written;
    }
  }
}

TEST(StoryTextTest, NothingOfAStrangerReachesTheTerminalRaw) {
  const std::string text = StoryText(HostileStory("/tmp/x"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xFF'), std::string::npos);
}

TEST(StoryTextTest, TellsWordsStallsRuleAndNotesIn80Columns) {
  const std::string text = StoryText(WriteWriteReadStory(60));
  for (const char* part :
       {"trial made/request-response/linux-1:linux-2/0", "What happened",
        "At 0.305 ms it writes 4 more.", "Stalls",
        "Nagle waits 43.7 ms for the delayed ACK", "20 more; --format json",
        "none that can be told: two rules explain it equally well", "Notes"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 84U) << line;  // An arrow takes three bytes.
  }
}

TEST(StoryTextTest, WithoutARuleItSaysWhy) {
  EXPECT_THAT(StoryText(BulkStory(4)),
              HasSubstr("not known: every segment is full"));
}

TEST(StoryJsonTest, HoldsEveryEventWithItsTime) {
  const Story story = WriteWriteReadStory(2);
  std::ostringstream out;
  WriteStoryJson(story, out);
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["v"], kStoryVersion);
  EXPECT_EQ(json["sample"]["trial"], story.sample.trial);
  EXPECT_EQ(json["segments"].size(), story.timeline.segments.size());
  EXPECT_EQ(json["segments"][3]["at_ns"], 310 * kUs);
  EXPECT_EQ(json["segments"][3]["payload_bytes"], 9);
  EXPECT_EQ(json["sender_calls"].size(), 4U);
  EXPECT_EQ(json["sender_calls"][0]["began_ns"], 300 * kUs);
  EXPECT_EQ(json["stalls"].size(), 2U);
  EXPECT_EQ(json["stalls"][0]["lasted_ns"], 43'710 * kUs);
  EXPECT_TRUE(json["rule"]["followed"].is_null());
  EXPECT_EQ(json["rule"]["why_null"], "two rules explain it equally well");
  // The SYN acknowledges nothing, and says why there is no figure.
  EXPECT_TRUE(json["segments"][0]["acknowledged"].is_null());
  EXPECT_FALSE(json["segments"][0]["why_null"].get<std::string>().empty());
}

TEST(StoryJsonTest, HostileTextsDoNotBreakIt) {
  std::ostringstream out;
  WriteStoryJson(HostileStory("/tmp/x"), out);
  EXPECT_TRUE(nlohmann::json::accept(out.str()));
}

TEST(StoryFileStemTest, IsTheCapturesAndNeverAPath) {
  Sample sample;
  sample.trial = "a/b/c:d/0";
  EXPECT_EQ(StoryFileStem(sample), "a_b_c_d_0");
  sample.capture.emplace();
  sample.capture->file = "captures/a_b.pcapng";
  EXPECT_EQ(StoryFileStem(sample), "a_b");
  sample.capture->file = "../..";
  EXPECT_EQ(StoryFileStem(sample).find('/'), std::string::npos);
  EXPECT_NE(StoryFileStem(sample).front(), '.');
}

TEST(TrialListTest, NamesTheCapturedAndWhyOthersAreNot) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.pairs = {{"linux-1", "linux-2"}};
  run.blocks = 1;
  WriteSyntheticRun(folder.path() / "run", run);
  const auto list = ListCapturedTrials(folder.path() / "run");
  ASSERT_TRUE(list.has_value()) << list.error().message;
  EXPECT_EQ(list.value().trials, 6);  // 3 writes, Nagle on and off.
  EXPECT_TRUE(list.value().captured.empty());
  EXPECT_EQ(list.value().missing.at("no capture was asked for"), 6);
  const std::string text = TrialListText(list.value(), "run");
  EXPECT_THAT(text, HasSubstr("6 trials: no capture was asked for"));
  EXPECT_THAT(text, HasSubstr("wiretoll run --capture"));
}

TEST(TrialListTest, SuggestsACommandThatAShellTakesAsItIs) {
  TrialList list;
  list.captured.push_back({"s/c/a:b/0", "c", "a → b", "ok", 19, 4000, ""});
  list.captured.push_back({"s/d/a:b/0", "d", "a → b", "ok", {}, 12, "torn"});
  const std::string text = TrialListText(list, "my run");
  EXPECT_THAT(text, HasSubstr("wiretoll explain 'my run' s/c/a:b/0"));
  EXPECT_THAT(text, HasSubstr("not whole: torn"));
  const auto json = nlohmann::json::parse(TrialListJson(list));
  EXPECT_EQ(json["captured"][0]["stalled_rounds"], 19);
  EXPECT_TRUE(json["captured"][1]["stalled_rounds"].is_null());
}

TEST(WrapWordsTest, BreaksBetweenWordsOnly) {
  EXPECT_THAT(WrapWords("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("averyverylongword x", 5),
              ElementsAre("averyverylongword", "x"));
  EXPECT_TRUE(WrapWords("", 5).empty());
}

}  // namespace
}  // namespace wiretoll
