#include "reports/plots.h"

#include <fmt/format.h>
#include <gnuplot-iostream.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <tuple>

#include "reports/gnuplot.h"
#include "reports/svg.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kScript = "plots.gp";
constexpr const char* kAxisColour = "#8A8F98";
constexpr const char* kGridColour = "#D0D4DA";

using Rows2 = std::vector<std::tuple<double, double>>;
using Rows3 = std::vector<std::tuple<double, double, double>>;
using Rows4 = std::vector<std::tuple<double, double, double, double>>;
using Rows6 =
    std::vector<std::tuple<double, double, double, double, double, double>>;

int PointType(Shape shape, bool hollow) {
  switch (shape) {
    case Shape::kSquare:
      return hollow ? 4 : 5;
    case Shape::kTriangle:
      return hollow ? 8 : 9;
    case Shape::kDiamond:
      return hollow ? 12 : 13;
    case Shape::kCircle:
    case Shape::kNone:
      break;
  }
  return hollow ? 6 : 7;
}

// Writes one plot's part of the script. Every text goes in as a token in
// single quotes, where gnuplot expands nothing.
class ScriptWriter {
 public:
  ScriptWriter(Gnuplot& out, const Chart& chart, SvgTexts& texts)
      : out_(out), chart_(chart), texts_(texts) {}

  void Write(const std::string& file) {
    Frame(file);
    AxisLines('x', chart_.x);
    AxisLines('y', chart_.y);
    AxisTitles();
    for (const Shade& shade : chart_.shades) ShadeBox(shade);
    for (const Guide& guide : chart_.guides) GuideLine(guide);
    for (const Flag& flag : chart_.flags) FlagLine(flag);
    for (const ChartText& text : chart_.texts) TextLine(text);
    for (const PlacedLabel& label : PlaceLabels(chart_)) LabelLine(label);
    Draw();
  }

 private:
  [[nodiscard]] std::string Text(const std::string& text) {
    return fmt::format("'{}'", texts_.Add(text));
  }
  [[nodiscard]] double ScreenX(double pixels) const {
    return pixels / chart_.width;
  }
  [[nodiscard]] double ScreenY(double pixels) const {
    return 1 - pixels / chart_.height;
  }

  void Frame(const std::string& file) {
    out_ << fmt::format(
        "reset\nset terminal svg size {},{} dynamic rounded noenhanced font "
        "'Helvetica,{}'\nset output '{}'\n",
        chart_.width, chart_.height, chart_.font, file);
    out_ << fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
        "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
        ScreenX(chart_.left), ScreenX(chart_.width - chart_.right),
        ScreenY(chart_.top), ScreenY(chart_.height - chart_.bottom));
    out_ << fmt::format(
        "unset key\nset border 3 lc rgb '{}' lw 1\n"
        "set style fill solid 1 noborder\nset tics nomirror scale 0.5\n"
        "set grid y lc rgb '{}' lw 0.6 dt (2,4)\n"
        "set datafile missing 'nan'\n",
        kAxisColour, kGridColour);
  }

  void AxisLines(char name, const Axis& axis) {
    if (axis.log) out_ << fmt::format("set logscale {} 10\n", name);
    out_ << fmt::format("set {}range [{:.10g}:{:.10g}]\n", name, axis.low,
                        axis.high);
    std::string ticks;
    for (const Tick& tick : axis.ticks) {
      ticks += fmt::format("{}{} {:.10g}", ticks.empty() ? "" : ", ",
                           Text(tick.label), tick.at);
    }
    out_ << fmt::format("set {}tics ({})\nset m{}tics 1\n", name, ticks, name);
  }

  // gnuplot would make room for the tokens, not for the texts; so the titles
  // are placed like labels.
  void AxisTitles() {
    const double middle_x = (chart_.left + chart_.width - chart_.right) / 2.0;
    const double middle_y = (chart_.top + chart_.height - chart_.bottom) / 2.0;
    if (!chart_.x.title.empty()) {
      out_ << fmt::format("set label {} at screen {:.5f},{:.5f} center\n",
                          Text(chart_.x.title), ScreenX(middle_x),
                          ScreenY(chart_.height - 0.8 * chart_.font));
    }
    if (chart_.y.title.empty()) return;
    out_ << fmt::format(
        "set label {} at screen {:.5f},{:.5f} center rotate by 90\n",
        Text(chart_.y.title), ScreenX(0.9 * chart_.font), ScreenY(middle_y));
  }

  void GuideLine(const Guide& guide) {
    const std::string at = fmt::format("{:.10g}", guide.at);
    const std::string from =
        guide.vertical ? at + ", graph 0" : "graph 0, first " + at;
    const std::string to =
        guide.vertical ? at + ", graph 1" : "graph 1, first " + at;
    out_ << fmt::format(
        "set arrow from {} to {} nohead lc rgb '{}' lw 1.2 dt (5,4)\n", from,
        to, colour::kTheory);
  }

  // Pale on both themes.
  void ShadeBox(const Shade& shade) {
    out_ << fmt::format(
        "set object rectangle from {:.10g}, graph 0 to {:.10g}, graph 1 fc rgb "
        "'{}' fs transparent solid 0.28 noborder behind\n",
        shade.from, shade.to, colour::kTheory);
  }

  void TextLine(const ChartText& text) {
    out_ << fmt::format("set label {} at screen {:.5f},{:.5f} {}\n",
                        Text(text.text), ScreenX(text.x), ScreenY(text.y),
                        text.to_left ? "right" : "left");
  }

  void FlagLine(const Flag& flag) {
    TextLine(flag.label);
    const double below = flag.label.y + 0.6 * chart_.font;
    out_ << fmt::format(
        "set arrow from screen {0:.5f},{1:.5f} to screen {0:.5f},{2:.5f} "
        "nohead lc rgb '{3}' lw 1\n",
        ScreenX(flag.line_x), ScreenY(below), ScreenY(chart_.top), kAxisColour);
  }

  void LabelLine(const PlacedLabel& label) {
    const double x = ScreenX(label.x);
    const double y = ScreenY(label.y);
    // A label's own offset would be in characters; the marker therefore is a
    // second, empty label.
    out_ << fmt::format("set label {} at screen {:.5f},{:.5f} left\n",
                        Text(label.text), x, y);
    if (!label.curve.has_value()) return;
    const Curve& curve = chart_.curves[*label.curve];
    if (curve.shape == Shape::kNone) return;
    out_ << fmt::format(
        "set label '' at screen {:.5f},{:.5f} point pt {} ps 0.75 lc rgb "
        "'{}'\n",
        ScreenX(label.x - 8), y, PointType(curve.shape, curve.dashed),
        curve.colour);
  }

  void Add(const std::string& part) {
    parts_ += parts_.empty() ? "plot " : ", ";
    parts_ += part;
  }

  // The plot command names all data first; the data follow in its order.
  void Draw() {
    for (const Curve& curve : chart_.curves) Announce(curve);
    for (const Bar& bar : chart_.bars) {
      Add(
          fmt::format("'-' using 1:2:3:4:5:6 with boxxyerror fc rgb '{}' "
                      "notitle",
                      bar.colour));
    }
    for (const Strokes& strokes : chart_.strokes) {
      Add(
          fmt::format("'-' using 1:2:3:4 with vectors nohead lc rgb '{}' lw {} "
                      "notitle",
                      strokes.colour, strokes.width));
    }
    const bool nothing = parts_.empty();
    if (nothing) Add("'-' using 1:2 with points notitle");
    out_ << parts_ << '\n';
    if (nothing) out_.send1d(Rows2{{kNothing, kNothing}});
    for (const Curve& curve : chart_.curves) Send(curve);
    for (const Bar& bar : chart_.bars) Send(bar);
    for (const Strokes& strokes : chart_.strokes) Send(strokes);
    out_ << "unset output\n";
  }

  void Announce(const Curve& curve) {
    const std::string& colour = curve.colour;
    if (BarsOf(curve)) {
      Add(
          fmt::format("'-' using 1:2:3:4 with {}errorbars pt 0 lc rgb '{}' lw "
                      "1.4 notitle",
                      curve.across ? 'x' : 'y', colour));
    } else {
      Add(
          fmt::format("'-' using 1:2:3 with filledcurves fs transparent solid "
                      "0.18 noborder lc rgb '{}' notitle",
                      colour));
    }
    Add(fmt::format("'-' using 1:2 with lines lc rgb '{}' lw {} dt {} notitle",
                    colour, WidthOf(curve), curve.dashed ? "(9,9)" : "solid"));
    for (const bool hollow : {false, true}) {
      Add(
          fmt::format("'-' using 1:2 with points pt {} ps 0.75 lc rgb '{}' "
                      "notitle",
                      PointType(curve.shape, hollow), colour));
    }
  }

  static double WidthOf(const Curve& curve) {
    if (curve.width > 0) return curve.width;
    return curve.shape == Shape::kNone ? 1.3 : 2.2;
  }

  // A band needs two neighbours that have one.
  static bool BarsOf(const Curve& curve) {
    return curve.error_bars || curve.points_only || curve.points.size() < 2;
  }

  void Send(const Curve& curve) {
    if (BarsOf(curve)) {
      SendBars(curve);
    } else {
      SendBand(curve);
    }
    Rows2 line;
    for (const ChartPoint& p : curve.points) {
      if (!curve.points_only) line.emplace_back(p.x, p.y);
    }
    if (line.empty()) line.emplace_back(kNothing, kNothing);
    out_.send1d(line);
    for (const bool hollow : {false, true}) SendPoints(curve, hollow);
  }

  void SendBars(const Curve& curve) {
    Rows4 rows;
    for (const ChartPoint& p : curve.points) {
      if (!p.interval.has_value()) continue;
      rows.emplace_back(p.x, p.y, p.interval->low, p.interval->high);
    }
    if (rows.empty()) rows.emplace_back(kNothing, kNothing, kNothing, kNothing);
    out_.send1d(rows);
  }

  // A point without an interval interrupts the band.
  void SendBand(const Curve& curve) {
    Rows3 rows;
    for (const ChartPoint& p : curve.points) {
      const Interval none{kNothing, kNothing};
      const Interval band = p.interval.value_or(none);
      rows.emplace_back(p.x, band.low, band.high);
    }
    out_.send1d(rows);
  }

  void SendPoints(const Curve& curve, bool hollow) {
    Rows2 rows;
    for (const ChartPoint& p : curve.points) {
      const bool as_hollow = p.hollow || curve.dashed;
      if (curve.shape == Shape::kNone || as_hollow != hollow) continue;
      rows.emplace_back(p.x, p.y);
    }
    if (rows.empty()) rows.emplace_back(kNothing, kNothing);
    out_.send1d(rows);
  }

  void Send(const Bar& bar) {
    out_.send1d(Rows6{{bar.from, bar.row, bar.from, bar.to, bar.row - bar.half,
                       bar.row + bar.half}});
  }

  // As start and way: what a vector is made of.
  void Send(const Strokes& strokes) {
    // gnuplot leaves out what has no length; this much is none to the eye.
    const double dot = (chart_.x.high - chart_.x.low) * 1e-4;  // Linear x.
    Rows4 rows;
    for (const Stroke& line : strokes.lines) {
      const double across = line.to_x - line.from_x;
      const double up = line.to_y - line.from_y;
      rows.emplace_back(line.from_x, line.from_y,
                        across == 0 && up == 0 ? dot : across, up);
    }
    if (rows.empty()) rows.emplace_back(kNothing, kNothing, kNothing, kNothing);
    out_.send1d(rows);
  }

  Gnuplot& out_;
  const Chart& chart_;
  SvgTexts& texts_;
  std::string parts_;
};

std::string OutputName(std::size_t index) {
  return fmt::format("plot-{}.svg", index);
}

Failure PlotFailure(const std::string& what) {
  return {ExitCode::kNothingRan, what};
}

Outcome<Done> WriteScript(const std::vector<PlotRequest>& requests,
                          const fs::path& folder, SvgTexts& texts) {
  const std::string path = (folder / kScript).string();
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return PlotFailure(fmt::format(
        "{} could not be written; set TMPDIR to a folder with room", path));
  }
  Gnuplot out(file);  // Closes the file.
  out << std::defaultfloat << std::setprecision(10);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ScriptWriter(out, requests[i].chart, texts).Write(OutputName(i));
  }
  out.flush();
  if (out.good()) return Done{};
  return PlotFailure(
      fmt::format("{} could not be written; is the disk full?", path));
}

std::string ReadWhole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Outcome<std::vector<std::string>> DrawPlots(
    const std::vector<PlotRequest>& requests, std::chrono::milliseconds limit) {
  if (requests.empty()) return std::vector<std::string>{};
  auto folder = ScratchFolder::Make();
  if (!folder.has_value()) return folder.error();
  SvgTexts texts;
  const auto written = WriteScript(requests, folder.value().path(), texts);
  if (!written.has_value()) return written.error();
  const auto ran = RunGnuplot(folder.value().path(), kScript, limit);
  if (!ran.has_value()) return ran.error();
  std::vector<std::string> drawn;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const SvgFrame frame{fmt::format("p{}-", i), texts.Add(requests[i].title),
                         texts.Add(requests[i].description)};
    const std::string raw = ReadWhole(folder.value().path() / OutputName(i));
    std::string svg = texts.Fill(TidySvg(raw, frame));
    if (svg.empty()) {
      return PlotFailure(fmt::format(
          "gnuplot ended well but drew nothing for \"{}\"; wiretoll needs "
          "gnuplot 5.2 or later with its svg terminal",
          requests[i].title));
    }
    drawn.push_back(std::move(svg));
  }
  return drawn;
}

}  // namespace wiretoll
