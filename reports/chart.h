// A picture as values: what is to be drawn, in the units of its axes. Knows
// nothing of gnuplot, so that it can be tested without it.
#ifndef WIRETOLL_REPORTS_CHART_H_
#define WIRETOLL_REPORTS_CHART_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// Okabe and Ito's palette: told apart by the colour blind, and on both themes.
// The two blues and vermilion stand for series, so that bars, which need most
// colours, do not give them a second meaning.
namespace colour {
inline constexpr const char* kBlue = "#0072B2";
inline constexpr const char* kVermilion = "#D55E00";
inline constexpr const char* kGreen = "#009E73";
inline constexpr const char* kOrange = "#E69F00";
inline constexpr const char* kSky = "#56B4E9";
inline constexpr const char* kPink = "#CC79A7";
inline constexpr const char* kYellow = "#F0E442";
inline constexpr const char* kPale = "#A9D5F0";  // A tint of sky.
inline constexpr const char* kGrey = "#C5C9D0";
inline constexpr const char* kTheory = "#868C96";
}  // namespace colour

struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  std::string title;
  bool log = false;
  double low = 0;   // Above 0 on a log axis.
  double high = 1;  // Above low.
  std::vector<Tick> ticks;
};

enum class Shape { kCircle, kSquare, kTriangle, kDiamond, kNone };

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;
  bool hollow = false;
};

struct Curve {
  std::string label;   // Stands at the curve.
  std::string name;    // In full, for the legend; empty: the label.
  std::string colour;  // "#RRGGBB"
  Shape shape = Shape::kCircle;
  bool dashed = false;
  bool error_bars = false;   // Intervals as bars instead of a band.
  bool points_only = false;  // No line from point to point.
  bool across = false;       // Intervals are of x, as bars. With points_only.
  double width = 0;          // Of the line, pixels; 0: by the shape.
  std::vector<ChartPoint> points;  // By rising x; may be empty.
};

// A dashed grey line across the chart, for limits and marks.
struct Guide {
  bool vertical = false;
  double at = 0;
  std::string label;
};

// From x = `from` to x = `to`, in row `row` (0 is the lowest).
struct Bar {
  double row = 0;
  double from = 0;
  double to = 0;
  std::string colour;
  double half = 0.36;  // Of its height, in rows.
};

// A straight line from one point to another; without length it is a dot.
struct Stroke {
  double from_x = 0, from_y = 0;
  double to_x = 0, to_y = 0;
};

// Many of one look, such as the segments of a time-sequence diagram.
struct Strokes {
  std::string colour;
  double width = 1.8;  // Pixels; ends are round.
  std::vector<Stroke> lines;
};

// A stretch of x that is set off, behind all else.
struct Shade {
  double from = 0;
  double to = 0;
};

// A text at a place in the picture, pixels from its left and top: where the
// text begins (or ends, if it goes to the left), and its middle.
struct ChartText {
  std::string text;
  double x = 0, y = 0;
  bool to_left = false;
};

// A text above the chart, with a thin line from it down to the chart's top.
struct Flag {
  ChartText label;
  double line_x = 0;  // Pixels.
};

struct Chart {
  int width = 960;  // Pixels, as are the margins.
  int height = 430;
  int left = 74, right = 18, top = 14, bottom = 62;
  int font = 14;
  Axis x, y;
  std::vector<Curve> curves;
  std::vector<Guide> guides;
  std::vector<Bar> bars;
  std::vector<Strokes> strokes;  // On top of the curves.
  std::vector<Shade> shades;
  std::vector<Flag> flags;
  std::vector<ChartText> texts;
  bool curve_labels = true;
};

// Where a value lies, in pixels from the left and from the top.
double PixelX(const Chart& chart, double x);
double PixelY(const Chart& chart, double y);

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};
bool Overlap(const Box& a, const Box& b);

// A label with the marker of its curve (or none, at a rule) to its left.
struct PlacedLabel {
  std::string text;
  double x = 0, y = 0;  // Left end and middle of the text, pixels.
  Box box;              // With the marker.
  std::optional<std::size_t> curve;
};

// Puts the labels of curves and rules where they hide least: near what they
// name, inside the chart, off curves and off each other.
std::vector<PlacedLabel> PlaceLabels(const Chart& chart);

// Ticks at powers of two: 1, 4, 16 ... 1 Ki, 4 Ki; sets range and ticks so
// that `low` to `high` fits. Requires 0 < low <= high.
Axis BinaryAxis(std::string title, double low, double high);
// Decades, with 2 and 5 between where there are few. Requires 0 < low <= high.
Axis DecimalLogAxis(std::string title, double low, double high);
// From 0 to at least `high`, in round steps. Requires high > 0.
Axis LinearAxis(std::string title, double high);
// From `low` to `high` and no farther, ticks in round steps. Requires
// low < high.
Axis SpanAxis(std::string title, double low, double high);

// Pixels that a text takes in a chart's font, a little more than less.
double TextWidth(const Chart& chart, const std::string& text);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_CHART_H_
