#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "harness/base/units.h"
#include "reports/compare_report.h"
#include "reports/compare_words.h"
#include "reports/files.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

// A page with more rows is no longer read.

void Cut(Table& table) {
  if (table.rows.size() <= kMostRows) return;
  table.note +=
      fmt::format("{}{} of {} rows are shown; the rest is in compare.json.",
                  table.note.empty() ? "" : " ", kMostRows, table.rows.size());
  table.rows.resize(kMostRows);
  if (table.marked.size() > kMostRows) table.marked.resize(kMostRows);
}

Row PageRow(const Comparison& comparison, const ComparedCell& cell) {
  const ComparedFigure& figure = cell.figure(cell.judged_by);
  const auto& ratio = figure.ratio;
  return {VerdictOf(cell),
          CaseOf(comparison, cell),
          PairOf(comparison, cell),
          SpellFigure(cell.judged_by, figure.base),
          SpellFigure(cell.judged_by, figure.next),
          ratio ? FormatNumber(ratio->median) : kNone,
          ratio && ratio->interval ? RatioRange(*ratio->interval) : kNone,
          ratio ? fmt::format("{}, {}", ratio->base_blocks, ratio->next_blocks)
                : kNone,
          RatioInShort(cell.figure(Compared::kSenderCpu)),
          RatioInShort(cell.figure(Compared::kReceiverCpu)),
          RatioInShort(cell.figure(Compared::kSegmentsPerWrite))};
}

Table CellsTable(const Comparison& comparison) {
  Table table;
  table.title = "Cell by cell";
  table.columns = {{"NEW is", false},
                   {"case", false},
                   {"pair", false},
                   {"BASE"},
                   {"NEW"},
                   {"ratio"},
                   {"95 %"},
                   {"blocks"},
                   {"sender's CPU a byte, ratio"},
                   {"receiver's CPU a byte, ratio"},
                   {"segments a write, ratio"}};
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.change == Change::kMissing) continue;
    table.rows.push_back(PageRow(comparison, cell));
    table.marked.push_back(cell.change != Change::kNotDistinguishable);
  }
  table.note =
      "Ratios are NEW / BASE: of throughput, or of the median round trip "
      "where that is what BASE and NEW show, then over 1 is slower. The "
      "columns to the right give their interval where it leaves out 1. A dash: "
      "not observed; compare.json says why.";
  Cut(table);
  table.empty = "No cell is in both runs.";
  return table;
}

Table MissingTable(const Comparison& comparison) {
  Table table;
  table.title = "Missing in one run";
  table.columns = {{"case", false},    {"pair", false}, {"missing in", false},
                   {"because", false}, {"BASE"},        {"NEW"}};
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.change != Change::kMissing) continue;
    const ComparedFigure& figure = cell.figure(cell.judged_by);
    table.rows.push_back({CaseOf(comparison, cell), PairOf(comparison, cell),
                          cell.missing_in, Printable(cell.why),
                          SpellFigure(cell.judged_by, figure.base),
                          SpellFigure(cell.judged_by, figure.next)});
  }
  Cut(table);
  table.empty = "Nothing: each cell is in both.";
  return table;
}

Table ChangedTable(const Comparison& comparison) {
  Table table;
  table.title = "What changed between the runs";
  table.columns = {
      {"of", false}, {"fact", false}, {"before", false}, {"after", false}};
  for (const ChangedFact& fact : comparison.changed) {
    table.rows.push_back({Printable(fact.where), Printable(fact.name),
                          SpellFact(fact.base), SpellFact(fact.next)});
  }
  if (!table.rows.empty()) {
    table.sentence = fmt::format(
        "{} of run, link and hosts differ.",
        Count(static_cast<long long>(table.rows.size()), "recorded fact"));
  }
  Cut(table);
  table.empty = "No recorded fact of hosts, link or run.";
  return table;
}

std::vector<Card> CardsOf(const Comparison& comparison) {
  const auto number = [&](Change change) {
    return fmt::format("{}", comparison.CountOf(change));
  };
  const int unjudged = comparison.CountUnjudged();
  std::vector<Card> cards{
      {number(Change::kSlower), "cells where NEW is slower"},
      {number(Change::kFaster), "cells where NEW is faster"},
      {fmt::format("{}",
                   comparison.CountOf(Change::kNotDistinguishable) - unjudged),
       "cells that cannot be told apart"},
      {number(Change::kMissing), "cells missing in one run"}};
  if (unjudged > 0) {
    cards.push_back({fmt::format("{}", unjudged),
                     "cells that could not be judged: too few blocks"});
  }
  return cards;
}

std::string TitleOf(const Comparison& comparison) {
  const auto& studies = comparison.analysis.studies;
  if (studies.empty()) return "NEW against BASE";
  const Study& study = studies.front();
  const bool several = comparison.analysis.runs[0].studies.size() > 1;
  return fmt::format(
      "{}: NEW against BASE",
      several ? "Several studies"
              : Printable(study.title.empty() ? study.name : study.title));
}

StudyPart PartOf(const Comparison& comparison) {
  StudyPart part;
  for (const Compared which : {Compared::kThroughput, Compared::kRoundTrip}) {
    const bool any = std::any_of(
        comparison.cells.begin(), comparison.cells.end(),
        [&](const ComparedCell& cell) { return cell.judged_by == which; });
    if (any) part.pictures.push_back(ComparisonPicture(comparison, which));
  }
  part.tables = {CellsTable(comparison), MissingTable(comparison)};
  return part;
}

}  // namespace

Document ComparisonDocument(const Comparison& comparison) {
  Document document;
  document.banner = SyntheticBanner(comparison);
  document.tags = SourceTags(comparison.analysis);
  document.title = TitleOf(comparison);
  document.question = Verdicts(comparison);
  document.cards = CardsOf(comparison);
  for (const std::size_t run : {0, 1}) {
    document.notes.push_back(RunLine(comparison, run));
  }
  for (const std::string& note : comparison.notes) {
    document.notes.push_back(Printable(note));
  }
  if (comparison.match.by_name) document.notes.push_back(comparison.match.how);
  document.notes.emplace_back(kUnpairedNote);
  document.parts.push_back(PartOf(comparison));
  document.tables.push_back(ChangedTable(comparison));
  for (const RunRecord& run : comparison.analysis.runs) {
    if (!run.command.empty()) {
      document.commands.push_back(ShellCommand(run.command));
    }
  }
  document.commands.push_back(
      ShellCommand({"wiretoll", "compare", comparison.folders[0].string(),
                    comparison.folders[1].string()}));
  document.page.clear();
  document.samples_csv = false;
  return document;
}

std::string ComparisonMarkdown(const Comparison& comparison) {
  return MarkdownPage(ComparisonDocument(comparison));
}

Outcome<WrittenReport> WriteComparison(
    const Comparison& comparison, const fs::path& out,
    std::chrono::milliseconds picture_limit) {
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return CannotWrite(out, error.message());
  Document document = ComparisonDocument(comparison);
  document.page = "compare.html";
  document.beside = {"compare.md", "compare.json (all figures)"};
  WrittenReport written;
  const auto warning = DrawPictures(document, picture_limit);
  if (warning.has_value()) written.warnings.push_back(*warning);
  std::ostringstream json;
  WriteComparisonJson(comparison, json);
  const std::array<std::pair<const char*, std::string>, 3> files{
      {{"compare.html", HtmlPage(document)},
       {"compare.md", MarkdownPage(document)},
       {"compare.json", json.str()}}};
  for (const auto& [name, text] : files) {
    const auto outcome = WriteWholeFile(
        out / name, [&text = text](std::ostream& file) -> Outcome<Done> {
          file << text;
          return Done{};
        });
    if (!outcome.has_value()) return outcome.error();
    written.files.push_back(out / name);
  }
  return written;
}

}  // namespace wiretoll
