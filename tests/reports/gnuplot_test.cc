#include "reports/gnuplot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "reports/plots.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPlenty{30'000};

PlotRequest SmallRequest() {
  PlotRequest request;
  request.title = "Title";
  request.description = "Description";
  request.chart.x = BinaryAxis("bytes", 1, 4);
  request.chart.y = LinearAxis("MB/s", 10);
  request.chart.curves.emplace_back();
  Curve& curve = request.chart.curves.back();
  curve.label = "a curve";
  curve.colour = colour::kBlue;
  curve.points = {{1, 2, Interval{1, 3}, false}, {4, 8, std::nullopt, true}};
  return request;
}

// A program called gnuplot that does as the script says.
void PutFakeGnuplot(const fs::path& folder, const std::string& script) {
  std::ofstream(folder / "gnuplot") << "#!/bin/sh\n" << script;
  fs::permissions(folder / "gnuplot", fs::perms::owner_all);
}

TEST(GnuplotTest, EveryRequestBecomesAPictureWithItsTitle) {
  const auto drawn = DrawPlots({SmallRequest(), SmallRequest()}, kPlenty);
  ASSERT_TRUE(drawn.has_value()) << drawn.error().message;
  ASSERT_EQ(drawn.value().size(), 2U);
  for (const std::string& svg : drawn.value()) {
    EXPECT_NE(svg.find(">Title</title>"), std::string::npos);
    EXPECT_NE(svg.find(">Description</desc>"), std::string::npos);
    EXPECT_NE(svg.find("a curve"), std::string::npos);
    EXPECT_NE(svg.find("rgb(  0, 114, 178)"), std::string::npos);
  }
  EXPECT_EQ(drawn.value()[0].find("id=\"p1-"), std::string::npos);
}

TEST(GnuplotTest, ACurveWithoutPointsAndAnEmptyChartDraw) {
  PlotRequest request = SmallRequest();
  request.chart.curves.front().points.clear();
  PlotRequest empty = SmallRequest();
  empty.chart.curves.clear();
  const auto drawn = DrawPlots({request, empty}, kPlenty);
  EXPECT_TRUE(drawn.has_value()) << drawn.error().message;
}

// Each in a colour of its own, which gnuplot spells so.
TEST(GnuplotTest, StrokesDotsShadesFlagsAndTextsAreDrawn) {
  PlotRequest request = SmallRequest();
  request.chart.strokes = {
      {colour::kVermilion, 4, {{1, 2, 1, 8}, {2, 2, 2, 8}}},
      {colour::kPink, 4, {{3, 5, 3, 5}}}};  // No length: a dot.
  request.chart.shades = {{1.5, 2.5}};
  request.chart.flags = {{{"a flag", 100, 8, false}, 90}};
  request.chart.texts = {{"beside a bar", 200, 100, false}};
  const auto drawn = DrawPlots({request}, kPlenty);
  ASSERT_TRUE(drawn.has_value()) << drawn.error().message;
  const std::string& svg = drawn.value()[0];
  const auto path = [&svg](const std::string& colour) {
    const std::size_t at = svg.find("<path stroke='" + colour + "'");
    return at == std::string::npos ? std::string()
                                   : svg.substr(at, svg.find("/>", at) - at);
  };
  // Both strokes are one path.
  EXPECT_EQ(CountOf(path("rgb(213,  94,   0)"), "M"), 2);
  EXPECT_EQ(CountOf(path("rgb(204, 121, 167)"), "M"), 1);
  EXPECT_NE(svg.find("fill-opacity"), std::string::npos);
  EXPECT_NE(svg.find("a flag"), std::string::npos);
  EXPECT_NE(svg.find("beside a bar"), std::string::npos);
}

TEST(GnuplotTest, WithoutGnuplotTheFailureNamesTheRemedy) {
  const TemporaryFolder empty;
  const PathSetting path(empty.path().string());
  const auto drawn = DrawPlots({SmallRequest()}, kPlenty);
  ASSERT_FALSE(drawn.has_value());
  EXPECT_NE(drawn.error().message.find("gnuplot was not found on PATH"),
            std::string::npos);
  EXPECT_NE(drawn.error().message.find("apt install"), std::string::npos);
}

TEST(GnuplotTest, AFailingGnuplotIsQuoted) {
  const TemporaryFolder fake;
  PutFakeGnuplot(fake.path(), "echo 'no such terminal: svg' >&2\nexit 7\n");
  const PathSetting path(fake.path().string());
  const auto drawn = DrawPlots({SmallRequest()}, kPlenty);
  ASSERT_FALSE(drawn.has_value());
  EXPECT_NE(drawn.error().message.find("status 7"), std::string::npos);
  EXPECT_NE(drawn.error().message.find("no such terminal: svg"),
            std::string::npos);
}

TEST(GnuplotTest, AGnuplotThatDrawsNothingIsAFailure) {
  const TemporaryFolder fake;
  PutFakeGnuplot(fake.path(), "exit 0\n");
  const PathSetting path(fake.path().string());
  const auto drawn = DrawPlots({SmallRequest()}, kPlenty);
  ASSERT_FALSE(drawn.has_value());
  EXPECT_NE(drawn.error().message.find("drew nothing for \"Title\""),
            std::string::npos);
}

TEST(GnuplotTest, AHangingGnuplotIsStoppedWithItsChildren) {
  const TemporaryFolder fake;
  const fs::path late = fake.path() / "late";
  // The child would leave a file once its sleep is over.
  PutFakeGnuplot(fake.path(), "(/bin/sleep 2; echo > '" + late.string() +
                                  "') &\n/bin/sleep 600\n");
  const PathSetting path(fake.path().string());
  const auto started = std::chrono::steady_clock::now();
  const auto drawn = DrawPlots({SmallRequest()}, milliseconds(300));
  const auto took = std::chrono::steady_clock::now() - started;
  ASSERT_FALSE(drawn.has_value());
  EXPECT_NE(drawn.error().message.find("did not end within 0.300 s"),
            std::string::npos);
  EXPECT_LT(took, std::chrono::minutes(5));  // Of the 10 it would sleep.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_FALSE(fs::exists(late));
}

TEST(GnuplotTest, NothingIsLeftInTheTemporaryFolder) {
  fs::path folder;
  {
    auto scratch = ScratchFolder::Make();
    ASSERT_TRUE(scratch.has_value()) << scratch.error().message;
    folder = scratch.value().path();
    std::ofstream(folder / "file") << "x";
    // Nobody else looks in.
    EXPECT_EQ(fs::status(folder).permissions() & fs::perms::all,
              fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace wiretoll
