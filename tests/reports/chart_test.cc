#include "reports/chart.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wiretoll {
namespace {

Curve CurveThrough(const std::string& label,
                   const std::vector<double>& heights) {
  Curve curve;
  curve.label = label;
  curve.colour = colour::kBlue;
  double write = 1;
  for (const double height : heights) {
    curve.points.push_back({write, height, std::nullopt, false});
    write *= 4;
  }
  return curve;
}

// Curves that meet at the right, as they do when the line is full.
Chart ConvergingChart() {
  Chart chart;
  chart.x = BinaryAxis("bytes", 1, 1024);
  chart.y = DecimalLogAxis("MB/s", 0.1, 12.5);
  chart.curves = {
      CurveThrough("Nagle on", {0.2, 0.9, 3.5, 11, 11.7, 11.7}),
      CurveThrough("Nagle off", {0.13, 0.5, 2, 7, 11.6, 11.7}),
      CurveThrough("a segment a write", {0.13, 0.5, 1.9, 5.2, 9.2, 11.6})};
  chart.guides = {{false, 11.77, "full segments, 11.8"},
                  {false, 12.5, "the line itself, 12.5"},
                  {true, 1000, "MSS 1000"}};
  return chart;
}

TEST(ChartTest, LabelsOfConvergingCurvesDoNotCollide) {
  const std::vector<PlacedLabel> labels = PlaceLabels(ConvergingChart());
  ASSERT_EQ(labels.size(), 6U);
  for (std::size_t a = 0; a < labels.size(); ++a) {
    for (std::size_t b = a + 1; b < labels.size(); ++b) {
      EXPECT_FALSE(Overlap(labels[a].box, labels[b].box))
          << labels[a].text << " and " << labels[b].text;
    }
  }
}

TEST(ChartTest, LabelsStayInsideThePicture) {
  const Chart chart = ConvergingChart();
  for (const PlacedLabel& label : PlaceLabels(chart)) {
    EXPECT_GE(label.box.left, chart.left) << label.text;
    EXPECT_LE(label.box.right, chart.width) << label.text;
    EXPECT_GE(label.box.top, 0) << label.text;
    EXPECT_LE(label.box.bottom, chart.height - chart.bottom) << label.text;
  }
}

TEST(ChartTest, NoLabelHidesAMarker) {
  const Chart chart = ConvergingChart();
  for (const PlacedLabel& label : PlaceLabels(chart)) {
    for (const Curve& curve : chart.curves) {
      for (const ChartPoint& point : curve.points) {
        const double x = PixelX(chart, point.x);
        const double y = PixelY(chart, point.y);
        EXPECT_FALSE(x > label.box.left && x < label.box.right &&
                     y > label.box.top && y < label.box.bottom)
            << label.text;
      }
    }
  }
}

TEST(ChartTest, NoLabelHidesTheEndOfAnInterval) {
  Chart chart = ConvergingChart();
  for (Curve& curve : chart.curves) {
    curve.error_bars = true;
    for (ChartPoint& point : curve.points) {
      point.interval = {point.y / 1.3, point.y * 1.05};
    }
  }
  for (const PlacedLabel& label : PlaceLabels(chart)) {
    for (const Curve& curve : chart.curves) {
      for (const ChartPoint& point : curve.points) {
        const double x = PixelX(chart, point.x);
        const double y = PixelY(chart, point.interval->low);
        EXPECT_FALSE(x > label.box.left && x < label.box.right &&
                     y > label.box.top && y < label.box.bottom)
            << label.text;
      }
    }
  }
}

TEST(ChartTest, PixelsFollowALogAxis) {
  Chart chart;
  chart.width = 110;
  chart.left = 10;
  chart.right = 0;
  chart.x.log = true;
  chart.x.low = 1;
  chart.x.high = 100;
  // 10 is half way from 1 to 100 on a log scale: 10 + 100 / 2.
  EXPECT_NEAR(PixelX(chart, 10), 60, 1e-9);
}

TEST(ChartTest, SizesAreLabelledInPowersOfTwo) {
  const Axis axis = BinaryAxis("bytes", 1, 16384);
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks) labels.push_back(tick.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"1", "4", "16", "64", "256",
                                              "1 Ki", "4 Ki", "16 Ki"}));
}

TEST(ChartTest, ADecimalLogAxisHoldsItsRangeAndHasTicksInIt) {
  for (const double low : {1e-6, 0.13, 3.0}) {
    for (const double factor : {1.0, 1.5, 90.0, 1e7}) {
      const Axis axis = DecimalLogAxis("MB/s", low, low * factor);
      EXPECT_LT(axis.low, low);
      EXPECT_GT(axis.high, low * factor);
      EXPECT_LE(axis.ticks.size(), 12U);
      for (const Tick& tick : axis.ticks) {
        EXPECT_GE(tick.at, axis.low);
        EXPECT_LE(tick.at, axis.high);
      }
    }
  }
}

TEST(ChartTest, ALinearAxisStartsAtZeroInRoundSteps) {
  const Axis axis = LinearAxis("%", 100);
  ASSERT_GE(axis.ticks.size(), 3U);
  EXPECT_EQ(axis.ticks.front().at, 0);
  EXPECT_EQ(axis.ticks.back().at, 100);
  EXPECT_GE(axis.high, 100);
}

}  // namespace
}  // namespace wiretoll
