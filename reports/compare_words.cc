#include "reports/compare_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "harness/base/units.h"
#include "reports/selection.h"
#include "reports/sentences.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Wine and simulators; what runs on its own kernel needs no word.
std::string Mark(const std::string& os) {
  const bool plain = os == "linux" || os == "windows" || os.empty();
  return plain ? std::string() : SystemName(os);
}

std::string End(const std::string& host, const std::string& base_os,
                const std::string& next_os) {
  const std::string before = Mark(base_os);
  const std::string after = Mark(next_os);
  const std::string name = Printable(host);
  if (before == after) {
    return before.empty() ? name : fmt::format("{} [{}]", name, before);
  }
  return fmt::format("{} [BASE {}, NEW {}]", name, SystemName(base_os),
                     SystemName(next_os));
}

}  // namespace

const char* const kUnpairedNote =
    "Blocks are not paired across the runs: a ratio is NEW's median over "
    "BASE's, its 95 % interval that of a rank test (Mann and Whitney's; with "
    "3 blocks against 3 or 4 Student's). It knows the spread within each run, "
    "not what differs from one run to the next by itself: to know that, run "
    "each side twice and compare the two.";

std::string VerdictOf(const ComparedCell& cell) {
  switch (cell.change) {
    case Change::kFaster:
      return "faster";
    case Change::kSlower:
      return "slower";
    case Change::kNotDistinguishable:
      return cell.why.empty() ? "not distinguishable"
                              : "not distinguishable: " + Printable(cell.why);
    case Change::kMissing:
      break;
  }
  return "missing in " + cell.missing_in;
}

std::string PairOf(const Comparison& comparison, const ComparedCell& cell) {
  const auto& cells = comparison.analysis.cells;
  const Cell& base = cells[cell.base ? *cell.base : *cell.next];
  const Cell& next = cells[cell.next ? *cell.next : *cell.base];
  return fmt::format("{} → {}",
                     End(base.sender, base.sender_os, next.sender_os),
                     End(base.receiver, base.receiver_os, next.receiver_os));
}

std::string CaseOf(const Comparison& comparison, const ComparedCell& cell) {
  const std::string name = Printable(cell.case_id);
  return comparison.analysis.runs[0].studies.size() > 1
             ? fmt::format("{}: {}", Printable(cell.study), name)
             : name;
}

std::string NameOf(Compared which) {
  switch (which) {
    case Compared::kThroughput:
      return "throughput";
    case Compared::kRoundTrip:
      return "median round trip";
    case Compared::kSenderCpu:
      return "sender's CPU a byte";
    case Compared::kReceiverCpu:
      return "receiver's CPU a byte";
    case Compared::kSegmentsPerWrite:
    case Compared::kCount:
      break;
  }
  return "segments a write";
}

std::string SpellFigure(Compared which, double value) {
  if (which == Compared::kThroughput) return FormatByteRate(value);
  if (which == Compared::kRoundTrip) {
    return FormatDuration(Nanoseconds{std::llround(value)});
  }
  return FormatNumber(value);
}

std::string SpellFigure(Compared which, const std::optional<double>& value) {
  return value ? SpellFigure(which, *value) : kNone;
}

std::string RatioInShort(const ComparedFigure& figure) {
  if (!figure.ratio) return kNone;
  const UnpairedRatio& ratio = *figure.ratio;
  std::string text = FormatNumber(ratio.median);
  if (ratio.verdict == Verdict::kNotDistinguishable) return text;
  return fmt::format("{} ({})", text, RatioRange(*ratio.interval));
}

std::string Verdicts(const Comparison& comparison) {
  const int faster = comparison.CountOf(Change::kFaster);
  const int slower = comparison.CountOf(Change::kSlower);
  const int unjudged = comparison.CountUnjudged();
  const int missing = comparison.CountOf(Change::kMissing);
  const int judged = comparison.CountJudged();
  if (judged + unjudged == 0)
    return "No cell is in both runs: nothing was compared.";
  std::string text;
  if (judged > 0) {
    text = fmt::format(
        "Of {} compared NEW is slower in {} and faster in {}; {} cannot be "
        "told apart. Chance alone would tell up to {} apart.",
        Count(judged, "cell"), slower, faster, judged - slower - faster,
        ByChance(static_cast<std::size_t>(judged)));
  }
  if (unjudged > 0) {
    text += fmt::format(
        "{}{} could not be judged: no interval, which takes three blocks of "
        "each run.",
        text.empty() ? "" : " ", Count(unjudged, "cell"));
  }
  if (missing > 0) {
    text += fmt::format(
        " {} missing in one run or both.",
        missing == 1 ? "1 cell is" : fmt::format("{} cells are", missing));
  }
  return text;
}

std::string SyntheticBanner(const Comparison& comparison) {
  const bool base = !comparison.analysis.runs[0].synthetic.empty();
  const bool next = !comparison.analysis.runs[1].synthetic.empty();
  if (base && next) return kSyntheticData;
  if (!base && !next) return {};
  return fmt::format("synthetic data in {}: nothing in it was measured",
                     base ? "BASE" : "NEW");
}

std::string RunLine(const Comparison& comparison, std::size_t run) {
  const RunRecord& record = comparison.analysis.runs[run];
  std::vector<std::string> studies;
  for (const RecordedStudy& study : record.studies) {
    studies.push_back(Printable(study.name));
  }
  return fmt::format(
      "{}: {}; {}, {} {} with wiretoll {}, seed {}; {}",
      run == 0 ? "BASE" : "NEW", Printable(comparison.folders[run].string()),
      fmt::join(studies, ", "),
      record.synthetic.empty() ? "measured" : "made up",
      Printable(record.started), Printable(record.wiretoll_version),
      record.seed, Printable(record.link.description));
}

std::string SpellFact(const ToldFact& fact) {
  if (fact.value) return Printable(*fact.value);
  return "not observed: " + Printable(fact.why);
}

}  // namespace wiretoll
