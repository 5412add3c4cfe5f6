#include "reports/contrast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/units.h"
#include "reports/captions.h"
#include "reports/contrast_words.h"
#include "reports/sentences.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// A page with more rows is no longer read.

// --- Figures as text --------------------------------------------------------

std::string SpeedHead(const Contrast& contrast) {
  return contrast.rounds ? "median round trip, ms" : "throughput, MB/s";
}

// What a figure is multiplied by before it is shown.
double ScaleOf(SideFigure figure) {
  if (figure != SideFigure::kSpeed) return 1;
  return kMega;  // bytes/s to MB/s, and ns to ms.
}

std::string MedianText(const std::optional<Estimate>& figure, double scale) {
  return figure.has_value() ? FormatNumber(figure->median * scale) : kNone;
}

std::string FigureText(const std::optional<Estimate>& figure, double scale) {
  std::string text = MedianText(figure, scale);
  if (figure.has_value() && figure->interval.has_value() &&
      figure->interval->low != figure->interval->high) {
    text += fmt::format(" ({})", IntervalText(*figure->interval, scale));
  }
  return text;
}

std::string VerdictText(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return kNone;
  if (!ratio->interval.has_value()) return "too few blocks to tell";
  if (ratio->verdict == Verdict::kHigher) return "higher";
  return ratio->verdict == Verdict::kLower ? "lower" : "not distinguishable";
}

std::string RatioText(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return kNone;
  std::string text = FormatNumber(ratio->median) + "×";
  if (ratio->interval.has_value()) {
    text += fmt::format(" ({})", RatioRange(*ratio->interval));
  }
  return fmt::format("{}, {}", text, VerdictText(ratio));
}

// --- Buffers ----------------------------------------------------------------

// Which end's buffer of a direction.
struct BufferAt {
  std::size_t direction = 0;
  bool receiver = false;
  [[nodiscard]] const char* name() const {
    return receiver ? "rcvbuf" : "sndbuf";
  }
};

std::string SizeText(const std::optional<std::int64_t>& low,
                     const std::optional<std::int64_t>& high) {
  if (!low.has_value() || !high.has_value()) return kNone;
  if (*low == *high) return FormatBytes(Bytes{*low});
  return fmt::format("{}–{}", FormatBytes(Bytes{*low}),
                     FormatBytes(Bytes{*high}));
}

// Of all hosts at that end, by what was asked.
std::vector<std::pair<std::string, std::string>> BuffersAt(
    const Analysis& analysis, const Contrast& contrast, const BufferAt& at) {
  const ContrastSystem& system =
      contrast.systems[at.receiver ? at.direction % 2 : at.direction / 2];
  std::set<std::string> hosts;
  for (const auto& [sender, receiver] :
       contrast.directions[at.direction].pairs) {
    hosts.insert(at.receiver ? receiver : sender);
  }
  std::vector<std::pair<std::string, BufferRow>> asked;
  for (const BufferRow& row : analysis.buffers) {
    const bool ours = row.buffer == at.name() && row.os == system.os &&
                      row.stack == system.stack && hosts.contains(row.host);
    if (!ours) continue;
    const auto known = std::find_if(
        asked.begin(), asked.end(),
        [&](const auto& entry) { return entry.first == row.requested; });
    if (known == asked.end()) {
      asked.emplace_back(row.requested, row);
      continue;
    }
    BufferRow& sum = known->second;
    if (row.effective_low < sum.effective_low) {
      sum.effective_low = row.effective_low;
    }
    if (row.effective_high > sum.effective_high) {
      sum.effective_high = row.effective_high;
    }
  }
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(asked.size());
  for (const auto& [requested, row] : asked) {
    texts.emplace_back(requested,
                       SizeText(row.effective_low, row.effective_high));
  }
  return texts;
}

std::string AskedText(const std::string& requested) {
  const std::optional<Bytes> size = ParseBytes(requested);
  return size.has_value() ? FormatBytes(*size) : Printable(requested);
}

std::string BuffersText(const Analysis& analysis, const Contrast& contrast,
                        const BufferAt& at) {
  constexpr std::size_t kMost = 5;
  const auto buffers = BuffersAt(analysis, contrast, at);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, buffers.size()); ++i) {
    text += fmt::format("{}{}: {}", i > 0 ? "; " : "",
                        AskedText(buffers[i].first), buffers[i].second);
  }
  if (buffers.size() > kMost) {
    text += fmt::format("; {} more below", buffers.size() - kMost);
  }
  return text.empty() ? kNone : text;
}

std::string BufferOfCase(const Analysis& analysis, const Contrast& contrast,
                         const BufferAt& at, const Factors& factors) {
  const FactorValue* value = FindFactor(factors, at.name());
  const std::string requested =
      value == nullptr ? "unset" : SpellFactor(*value);
  for (const auto& [asked, text] : BuffersAt(analysis, contrast, at)) {
    if (asked == requested) return text;
  }
  return kNone;
}

// --- The directions ---------------------------------------------------------

std::vector<std::size_t> Ran(const Contrast& contrast) {
  std::vector<std::size_t> ran;
  for (std::size_t d = 0; d < kDirections; ++d) {
    if (contrast.directions[d].ran()) ran.push_back(d);
  }
  return ran;
}

std::string CountedBy(const Contrast& contrast, std::size_t direction) {
  std::vector<std::string> parts;
  const auto& observers = contrast.directions[direction].observers;
  for (const auto& [observer, trials] : observers) {
    std::string text = ObserverText(observer);
    if (observer == "receiver-counters" || observer == "sender-counters") {
      const bool receiver = observer == "receiver-counters";
      const std::size_t system = receiver ? direction % 2 : direction / 2;
      text += fmt::format(" ({})", Printable(contrast.systems[system].name));
    }
    if (observers.size() > 1) {
      text += fmt::format(" in {}", Count(trials, "trial"));
    }
    parts.push_back(std::move(text));
  }
  return parts.empty() ? kNone : fmt::format("{}", fmt::join(parts, "; "));
}

std::string TrialsText(const DirectionSide& side) {
  std::string text = fmt::format("{} ok", side.ok);
  if (side.failed > 0) text += fmt::format(", {} failed", side.failed);
  if (side.skipped > 0) text += fmt::format(", {} skipped", side.skipped);
  return text;
}

class DirectionsTable {
 public:
  DirectionsTable(const StudyView& view, const Contrast& contrast)
      : analysis_(*view.analysis), contrast_(contrast), ran_(Ran(contrast)) {}

  Table Make() {
    table_.title = "Direction by direction";
    table_.sentence = DirectionsSentence(contrast_);
    table_.columns = {{"sender → receiver", false}};
    for (const std::size_t d : ran_) {
      table_.columns.push_back({FullDirection(contrast_, d), false});
    }
    table_.empty = "No direction was measured.";
    if (ran_.empty()) return std::move(table_);
    Figure(SpeedHead(contrast_), SideFigure::kSpeed);
    Ratios();
    Figure("segments a write", SideFigure::kSegmentsPerWrite);
    Figure("sender's CPU, ns a byte", SideFigure::kSenderCpu);
    Figure("receiver's CPU, ns a byte", SideFigure::kReceiverCpu);
    Figure("stalls: rounds over 30 ms", SideFigure::kStalls);
    Buffers();
    Add("segments counted by",
        [&](std::size_t d) { return CountedBy(contrast_, d); });
    Add("trials",
        [&](std::size_t d) { return TrialsText(contrast_.directions[d]); });
    Note();
    return std::move(table_);
  }

 private:
  template <class Text>
  void Add(const std::string& head, const Text& text) {
    Row row{head};
    for (const std::size_t d : ran_) row.push_back(text(d));
    table_.rows.push_back(std::move(row));
  }

  void Figure(const std::string& head, SideFigure figure) {
    const auto f = static_cast<std::size_t>(figure);
    Add(head, [&](std::size_t d) {
      return FigureText(contrast_.directions[d].figures[f], ScaleOf(figure));
    });
    for (const std::size_t d : ran_) {
      const std::string& why = contrast_.directions[d].why_missing[f];
      if (!why.empty()) why_.insert(fmt::format("{}: {}", head, why));
    }
  }

  void Ratios() {
    Add(fmt::format("against {}", BriefDirection(contrast_, contrast_.base)),
        [&](std::size_t d) -> std::string {
          if (d == contrast_.base) return "the base";
          return RatioText(contrast_.directions[d].ratio);
        });
  }

  void Buffers() {
    for (const bool receiver : {false, true}) {
      Add(receiver ? "receiver's buffer, asked: read back"
                   : "sender's buffer, asked: read back",
          [&](std::size_t d) {
            return BuffersText(analysis_, contrast_, {d, receiver});
          });
    }
  }

  void Note() {
    table_.note = fmt::format(
        "Geometric means over {} that every direction has, median of the "
        "blocks with its 95 % interval; stalls are summed. Ratios are paired "
        "by block.",
        Count(contrast_.cases, "case"));
    std::size_t shown = 0;
    constexpr std::size_t kMost = 4;
    for (const std::string& why : why_) {
      if (++shown > kMost) break;
      table_.note +=
          fmt::format(" {} not observed, {}.", kNone, Printable(why));
    }
  }

  const Analysis& analysis_;
  const Contrast& contrast_;
  std::vector<std::size_t> ran_;
  std::set<std::string> why_;
  Table table_;
};

// --- Case by case -----------------------------------------------------------

std::string CaseName(const StudyView& view, const CaseSides& one) {
  std::string text;
  for (const std::string& name : view.varying) {
    const FactorValue* value = FindFactor(one.factors, name);
    if (value == nullptr || name == "pattern") continue;
    text += (text.empty() ? "" : ", ") + FactorText(name, *value);
  }
  return text.empty() ? Printable(one.case_id) : text;
}

Row SideRow(const StudyView& view, const Contrast& contrast,
            const CaseSides& one, std::size_t d) {
  const auto& figures = one.figures[d];
  const bool base = d == contrast.base;
  const auto& ratio = one.ratios[d];
  Row row{CaseName(view, one), BriefDirection(contrast, d),
          FigureText(figures[0], ScaleOf(SideFigure::kSpeed))};
  row.push_back(base || !ratio ? kNone : FormatNumber(ratio->median));
  row.push_back(base || !ratio || !ratio->interval
                    ? kNone
                    : RatioRange(*ratio->interval));
  row.push_back(base ? "the base" : VerdictText(ratio));
  for (std::size_t f = 1; f < kSideFigureCount; ++f) {
    if (f == static_cast<std::size_t>(SideFigure::kStalls) &&
        !contrast.rounds) {
      continue;
    }
    row.push_back(MedianText(figures[f], 1));
  }
  for (const bool receiver : {false, true}) {
    row.push_back(
        BufferOfCase(*view.analysis, contrast, {d, receiver}, one.factors));
  }
  return row;
}

std::vector<Column> SideColumns(const Contrast& contrast) {
  std::vector<Column> columns{{"case", false},
                              {"sender → receiver", false},
                              {SpeedHead(contrast)},
                              {"ratio"},
                              {"95 %"},
                              {"against the base", false},
                              {"segments a write"},
                              {"sender, ns a byte"},
                              {"receiver, ns a byte"}};
  if (contrast.rounds) columns.push_back({"rounds over 30 ms"});
  columns.push_back({"sndbuf"});
  columns.push_back({"rcvbuf"});
  return columns;
}

std::string SidesSentence(const Contrast& contrast, std::size_t told,
                          std::size_t compared) {
  if (compared == 0) {
    return "No comparison has the three blocks that an interval takes: the "
           "ratios say what came, not whether it would come again.";
  }
  return fmt::format(
      "In {} of {} a direction can be told from {}; chance alone would make up "
      "to {}.",
      told, Count(static_cast<long long>(compared), "comparison"),
      BriefDirection(contrast, contrast.base), ByChance(compared));
}

Table SidesTable(const StudyView& view, const Contrast& contrast) {
  Table table;
  table.title = "Side by side, case by case";
  table.columns = SideColumns(contrast);
  std::size_t told = 0, compared = 0, all = 0;
  for (const CaseSides& one : contrast.by_case) {
    for (const std::size_t d : Ran(contrast)) {
      const auto& ratio = one.ratios[d];
      if (ratio && ratio->interval) {
        ++compared;
        told += ratio->verdict != Verdict::kNotDistinguishable ? 1 : 0;
      }
      ++all;
      if (table.rows.size() >= kMostRows) continue;
      table.rows.push_back(SideRow(view, contrast, one, d));
      table.marked.push_back(d == contrast.base);
    }
  }
  table.sentence = SidesSentence(contrast, told, compared);
  table.note = fmt::format(
      "{} is {}; {} is {}. {} not observed. Buffers as read back. All of it is "
      "in directions.csv.",
      Printable(contrast.systems[0].brief), Printable(contrast.systems[0].name),
      Printable(contrast.systems[1].brief), Printable(contrast.systems[1].name),
      kNone);
  if (all > table.rows.size()) {
    table.note +=
        fmt::format(" {} of {} rows are shown.", table.rows.size(), all);
  }
  table.empty = "No case was measured.";
  return table;
}

// --- Pictures ---------------------------------------------------------------

std::string RatioAxis(const Contrast& contrast) {
  return fmt::format("{}, ratio (log scale)",
                     contrast.rounds ? "median round trip" : "throughput");
}

struct Reach {
  double low = 1, high = 1;  // 1 is always in sight.
  void Take(const Ratio& ratio) {
    TakeOne(ratio.median);
    if (!ratio.interval.has_value()) return;
    TakeOne(ratio.interval->low);
    TakeOne(ratio.interval->high);
  }

 private:
  void TakeOne(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A ratio as a row: its interval as a line, its median as a marker, hollow
// where it cannot be told from 1.
void AddRow(Chart& chart, double row, const Ratio& ratio, bool receiver) {
  const char* colour = receiver ? colour::kGreen : colour::kOrange;
  if (ratio.interval.has_value()) {
    Curve line;
    line.colour = colour;
    line.shape = Shape::kNone;
    line.width = 3;
    line.points = {{ratio.interval->low, row, {}, false},
                   {ratio.interval->high, row, {}, false}};
    chart.curves.push_back(std::move(line));
  }
  Curve point;
  point.colour = colour;
  point.shape = receiver ? Shape::kCircle : Shape::kSquare;
  point.points_only = true;
  point.points = {
      {ratio.median, row, {}, ratio.verdict == Verdict::kNotDistinguishable}};
  chart.curves.push_back(std::move(point));
}

// The end that stays; the marker tells which is changed.
std::string SwitchName(const Contrast& contrast, const EndSwitch& one) {
  return fmt::format("{} {}", Printable(contrast.systems[one.fixed].brief),
                     one.receiver ? "sends" : "receives");
}

Chart SwitchChart(const Contrast& contrast,
                  const std::vector<const EndSwitch*>& made) {
  constexpr std::size_t kLongest = 34;
  Chart chart;
  // Few rows need no wide page, and fit a small one with large letters.
  chart.width = 620;
  chart.font = 17;
  Reach reach;
  std::size_t longest = 0;
  const std::size_t rows = made.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<double>(rows - 1 - i);
    const std::string name = Shorten(SwitchName(contrast, *made[i]), kLongest);
    longest = std::max(longest, Length(name));
    chart.y.ticks.push_back({row, name});
    AddRow(chart, row, *made[i]->ratio, made[i]->receiver);
    reach.Take(*made[i]->ratio);
  }
  chart.left = std::clamp(24 + static_cast<int>(longest) * 9, 60, 290);
  chart.top = 8;
  chart.height = chart.top + chart.bottom + 34 * static_cast<int>(rows);
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(rows) - 0.4;
  chart.x = DecimalLogAxis(RatioAxis(contrast), reach.low, reach.high);
  chart.guides.push_back({true, 1, ""});
  chart.curve_labels = false;
  return chart;
}

std::vector<Key> EndKeys(const Contrast& contrast) {
  const std::string change =
      fmt::format("{} → {}", Printable(contrast.systems[0].brief),
                  Printable(contrast.systems[1].brief));
  return {{colour::kGreen, fmt::format("the receiver is changed, {}", change),
           true, false, Shape::kCircle},
          {colour::kOrange, fmt::format("the sender is changed, {}", change),
           true, false, Shape::kSquare}};
}

Picture EndsPicture(const StudyView& view, const Contrast& contrast) {
  Picture picture;
  picture.kind = "ends";
  picture.title = "Which end makes the difference";
  picture.sentence = EndSentence(contrast);
  std::vector<const EndSwitch*> made;
  for (const EndSwitch& one : contrast.switches) {
    if (one.ratio && one.ratio->median > 0) made.push_back(&one);
  }
  if (made.empty()) {
    picture.missing =
        "Nothing to draw: no end was changed with the other held fixed.";
    return picture;
  }
  picture.drawn = fmt::format(
      "One end held fixed and the other changed: ratio of the {} block by "
      "block, geometric mean over the cases both directions have, median and "
      "95 % interval (log scale). The line at 1 is no difference; hollow: the "
      "interval covers 1 or is not known. Of {} chance alone would tell up to "
      "{} apart.{}",
      contrast.rounds ? "median round trips" : "throughputs",
      Count(static_cast<long long>(made.size()), "comparison"),
      ByChance(made.size()), LinkLine(view));
  picture.keys = EndKeys(contrast);
  Panel panel;
  panel.request = {SwitchChart(contrast, made), picture.title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
  return picture;
}

// The pool that the direction's cells are in: it lends its colour.
std::size_t PoolOf(const StudyView& view, const Contrast& contrast,
                   std::size_t direction) {
  const ContrastSystem& from = contrast.systems[direction / 2];
  const ContrastSystem& to = contrast.systems[direction % 2];
  for (const Group& group : view.groups) {
    const Cell& cell = *group.first;
    if (cell.run == contrast.run && cell.sender_os == from.os &&
        cell.sender_stack == from.stack && cell.receiver_os == to.os &&
        cell.receiver_stack == to.stack) {
      return group.pool;
    }
  }
  return direction;
}

Curve WriteCurve(const StudyView& view, const Contrast& contrast,
                 std::size_t direction, Reach& reach) {
  const std::size_t pool = PoolOf(view, contrast, direction);
  Curve curve;
  curve.label = BriefDirection(contrast, direction);
  curve.name = FullDirection(contrast, direction);
  curve.colour = PoolColour(pool);
  curve.shape = PoolShape(pool);
  curve.error_bars = true;
  for (const WriteRatio& at : contrast.by_write) {
    const auto& ratio = at.ratios[direction];
    if (!ratio.has_value() || !(ratio->median > 0)) continue;
    reach.Take(*ratio);
    curve.points.push_back({static_cast<double>(at.write), ratio->median,
                            ratio->interval,
                            ratio->verdict == Verdict::kNotDistinguishable});
  }
  return curve;
}

// Only where there are several sizes, and another direction than the base.
std::optional<Picture> WritesPicture(const StudyView& view,
                                     const Contrast& contrast) {
  if (contrast.by_write.size() < 2) return std::nullopt;
  Picture picture;
  picture.kind = "directions";
  picture.title = fmt::format("Each direction against {}, by size of write",
                              BriefDirection(contrast, contrast.base));
  Reach reach;
  Chart chart;
  for (std::size_t d = 0; d < kDirections; ++d) {
    if (d == contrast.base) continue;
    Curve curve = WriteCurve(view, contrast, d, reach);
    if (curve.points.empty()) continue;
    picture.keys.push_back(
        {curve.colour, curve.name, true, false, curve.shape});
    chart.curves.push_back(std::move(curve));
  }
  if (chart.curves.empty()) return std::nullopt;
  picture.sentence = WritesSentence(contrast);
  picture.drawn = fmt::format(
      "Ratio of throughputs block by block, geometric mean over all other "
      "factors, median and 95 % interval (log scale); hollow: the interval "
      "covers 1 or is not known. Base: {}.{}",
      FullDirection(contrast, contrast.base), LinkLine(view));
  chart.guides.push_back({false, 1, "no difference"});
  chart.x = BinaryAxis("bytes handed to one write call (log scale)",
                       static_cast<double>(contrast.by_write.front().write),
                       static_cast<double>(contrast.by_write.back().write));
  chart.y = DecimalLogAxis(RatioAxis(contrast), reach.low, reach.high);
  Panel panel;
  panel.request = {std::move(chart), picture.title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
  return picture;
}

Section MakeSection(const StudyView& view, const Contrast& contrast) {
  Section section;
  section.title = fmt::format("{} and {}, side by side{}",
                              Printable(contrast.systems[0].name),
                              Printable(contrast.systems[1].name),
                              contrast.rounds ? ": request and response" : "");
  if (view.analysis->runs.size() > 1) {
    section.title += fmt::format(" (run {})", contrast.run + 1);
  }
  section.note = WhoIsWho(*view.analysis, contrast);
  section.pictures.push_back(EndsPicture(view, contrast));
  section.tables.push_back(DirectionsTable(view, contrast).Make());
  if (auto writes = WritesPicture(view, contrast)) {
    section.later.push_back(*std::move(writes));
  }
  section.details.push_back(SidesTable(view, contrast));
  return section;
}

}  // namespace

std::vector<Section> ContrastSections(const StudyView& view) {
  std::vector<Section> sections;
  for (const Contrast& contrast : view.analysis->contrasts) {
    if (contrast.study == view.study) {
      sections.push_back(MakeSection(view, contrast));
    }
  }
  return sections;
}

}  // namespace wiretoll
