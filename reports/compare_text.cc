#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "harness/base/units.h"
#include "reports/compare_report.h"
#include "reports/compare_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::size_t kColumns = 80;

// Words in lines of at most kColumns, the second and later ones indented.
std::string Wrap(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string wrapped;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const std::size_t length = Length(word);
    if (column > 0 && column + 1 + length > kColumns) {
      wrapped += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += length;
  }
  return wrapped + '\n';
}

// Words to the left, figures (from column `figures` on) to the right.
std::string Columns(const std::vector<Row>& rows, std::size_t figures) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Length(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - Length(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += i < figures ? row[i] + space : space + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// A ratio in five places, with a star where its interval leaves out 1.
std::string Starred(const ComparedFigure& figure) {
  if (!figure.ratio) return kNone;
  const bool told = figure.ratio->verdict != Verdict::kNotDistinguishable;
  return FormatNumber(figure.ratio->median) + (told ? "*" : " ");
}

// The long word would take a fifth of the line.
std::string ShortVerdict(const ComparedCell& cell) {
  if (cell.change != Change::kNotDistinguishable) return VerdictOf(cell);
  return cell.why.empty() ? "=" : "?";
}

Row TextRow(const Comparison& comparison, const ComparedCell& cell) {
  const ComparedFigure& figure = cell.figure(cell.judged_by);
  const bool known = figure.ratio && figure.ratio->interval;
  return {ShortVerdict(cell),
          CaseOf(comparison, cell),
          PairOf(comparison, cell),
          SpellFigure(cell.judged_by, figure.base),
          SpellFigure(cell.judged_by, figure.next),
          figure.ratio ? FormatNumber(figure.ratio->median) : kNone,
          known ? RatioRange(*figure.ratio->interval) : kNone,
          Starred(cell.figure(Compared::kSenderCpu)),
          Starred(cell.figure(Compared::kReceiverCpu)),
          Starred(cell.figure(Compared::kSegmentsPerWrite))};
}

void AddCells(const Comparison& comparison, std::string& text) {
  std::vector<Row> rows{{"NEW is", "case", "pair", "BASE", "NEW", "ratio",
                         "95 %", "CPU snd×", "CPU rcv×", "seg/wr×"}};
  bool unsure = false;
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.change == Change::kMissing) continue;
    rows.push_back(TextRow(comparison, cell));
    unsure = unsure || !cell.why.empty();
  }
  if (rows.size() == 1) return;
  constexpr std::size_t kWords = 3;
  text += '\n' + Columns(rows, kWords);
  text += '\n' + Wrap(
                     "=: not distinguishable: the interval holds 1. Ratios "
                     "are NEW / BASE, of throughput or of the median round "
                     "trip. CPU snd×, CPU rcv×: the ratio of sender's and "
                     "receiver's CPU time a byte; seg/wr×: of data segments a "
                     "write; * where its interval leaves out 1.",
                     0);
  if (unsure) {
    text += Wrap(
        "?: no interval, for want of blocks (it takes three of each "
        "run) or for a value of 0.",
        0);
  }
}

void AddMissing(const Comparison& comparison, std::string& text) {
  bool first = true;
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.change != Change::kMissing) continue;
    if (first) text += "\nNot compared:\n";
    first = false;
    text += Wrap(fmt::format("  {}, {}: {}: {}", CaseOf(comparison, cell),
                             PairOf(comparison, cell), VerdictOf(cell),
                             Printable(cell.why)),
                 4);
  }
}

// Both values, cut where they are long; what they begin with in common is left
// out where the cut would hide their difference.
std::pair<std::string, std::string> InShort(std::string before,
                                            std::string after) {
  constexpr std::size_t kLongest = 48;
  if (Shorten(before, kLongest) == Shorten(after, kLongest)) {
    const auto [a, b] =
        std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    const auto same = static_cast<std::size_t>(a - before.begin());
    // From a word's beginning, which is no middle of a character either.
    const std::size_t space = before.rfind(' ', same == 0 ? 0 : same - 1);
    const std::size_t from = space == std::string::npos ? 0 : space + 1;
    before = "… " + before.substr(from);
    after = "… " + after.substr(from);
  }
  return {Shorten(before, kLongest), Shorten(after, kLongest)};
}

void AddChanged(const Comparison& comparison, std::string& text) {
  if (comparison.changed.empty()) {
    text += "\nNo recorded fact of hosts, link or run changed.\n";
    return;
  }
  std::vector<Row> rows{{"what changed", "of", "before", "after"}};
  for (const ChangedFact& fact : comparison.changed) {
    auto [before, after] = InShort(SpellFact(fact.base), SpellFact(fact.next));
    rows.push_back({Printable(fact.name), Printable(fact.where),
                    std::move(before), std::move(after)});
  }
  text += '\n' + Columns(rows, rows[0].size());
}

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  std::string text;
  const std::string banner = SyntheticBanner(comparison);
  if (!banner.empty()) text += Wrap(Capital(banner) + ".", 0) + '\n';
  for (const std::string& tag : SourceTags(comparison.analysis)) {
    text += Wrap(tag, 2);
  }
  text += Wrap(RunLine(comparison, 0), 6) + Wrap(RunLine(comparison, 1), 6);
  for (const std::string& note : comparison.notes) {
    text += Wrap("Note: " + Printable(note), 6);
  }
  text += '\n' + Wrap(Verdicts(comparison), 0) + Wrap(kUnpairedNote, 0);
  AddCells(comparison, text);
  AddMissing(comparison, text);
  AddChanged(comparison, text);
  return text;
}

}  // namespace wiretoll
