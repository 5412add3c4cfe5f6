#include "reports/directions_csv.h"

#include <fmt/format.h>

#include <ostream>

#include "harness/analysis/systems.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr const char* kHead =
    "run,study,case,factors,sender_os,sender_stack,sender_system,receiver_os,"
    "receiver_stack,receiver_system,metric,unit,median,low,high,blocks,"
    "ratio_to_base,ratio_low,ratio_high,ratio_blocks,verdict,base,data\r\n";

struct FigureWords {
  const char* name;
  const char* unit;
};

FigureWords WordsOf(SideFigure figure, bool rounds) {
  switch (figure) {
    case SideFigure::kSpeed:
      return rounds ? FigureWords{"latency_p50", "ns"}
                    : FigureWords{"throughput", "bytes/s"};
    case SideFigure::kSegmentsPerWrite:
      return {"segments_per_write", "segments"};
    case SideFigure::kSenderCpu:
      return {"sender_cpu", "ns/byte"};
    case SideFigure::kReceiverCpu:
      return {"receiver_cpu", "ns/byte"};
    case SideFigure::kStalls:
    case SideFigure::kCount:
      break;
  }
  return {"stalls", "rounds"};
}

std::string EstimateFields(const std::optional<Estimate>& figure) {
  if (!figure.has_value()) return ",,,";
  const std::string range =
      figure->interval.has_value()
          ? fmt::format("{},{}", figure->interval->low, figure->interval->high)
          : ",";
  return fmt::format("{},{},{}", figure->median, range, figure->blocks);
}

std::string RatioFields(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return ",,,,";
  const std::string range =
      ratio->interval.has_value()
          ? fmt::format("{},{}", ratio->interval->low, ratio->interval->high)
          : ",";
  const char* verdict = ratio->verdict == Verdict::kHigher ? "higher"
                        : ratio->verdict == Verdict::kLower
                            ? "lower"
                            : "not distinguishable";
  return fmt::format("{},{},{},{}", ratio->median, range, ratio->blocks,
                     verdict);
}

std::string FactorsText(const Factors& factors) {
  std::string text;
  for (const auto& [name, value] : factors) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name,
                        SpellFactor(value));
  }
  return CsvField(text);
}

class Rows {
 public:
  Rows(const Analysis& analysis, const Contrast& contrast, std::ostream& out)
      : contrast_(contrast), out_(out) {
    run_ = fmt::format("{},{}", contrast.run + 1,
                       CsvField(analysis.studies[contrast.study].name));
    synthetic_ = IsSynthetic(analysis.runs) ? kSyntheticData : "measured";
  }

  // A row for each figure of one direction of one case, or of all.
  void Add(const std::string& of_case, std::size_t direction,
           const SideFigures& figures, const std::optional<Ratio>& ratio) {
    const std::string systems = Systems(direction);
    for (std::size_t f = 0; f < kSideFigureCount; ++f) {
      const FigureWords words =
          WordsOf(static_cast<SideFigure>(f), contrast_.rounds);
      out_ << run_ << ',' << of_case << ',' << systems << ',' << words.name
           << ',' << words.unit << ',' << EstimateFields(figures[f]) << ','
           << RatioFields(f == 0 ? ratio : std::nullopt) << ','
           << (direction == contrast_.base ? "1" : "0") << ',' << synthetic_
           << "\r\n";
    }
  }

 private:
  [[nodiscard]] std::string Systems(std::size_t direction) const {
    std::string text;
    for (const std::size_t system : {direction / 2, direction % 2}) {
      const ContrastSystem& end = contrast_.systems[system];
      text +=
          fmt::format("{}{},{},{}", text.empty() ? "" : ",", CsvField(end.os),
                      CsvField(end.stack), CsvField(end.name));
    }
    return text;
  }

  const Contrast& contrast_;
  std::ostream& out_;
  std::string run_;
  std::string synthetic_;
};

}  // namespace

void WriteDirectionsCsv(const Analysis& analysis, std::ostream& out) {
  out << kHead;
  for (const Contrast& contrast : analysis.contrasts) {
    Rows rows(analysis, contrast, out);
    for (std::size_t d = 0; d < kDirections; ++d) {
      const DirectionSide& side = contrast.directions[d];
      if (side.ran()) rows.Add("all,", d, side.figures, side.ratio);
    }
    for (const CaseSides& one : contrast.by_case) {
      const std::string name =
          CsvField(one.case_id) + ',' + FactorsText(one.factors);
      for (std::size_t d = 0; d < kDirections; ++d) {
        if (!contrast.directions[d].ran()) continue;
        rows.Add(name, d, one.figures[d], one.ratios[d]);
      }
    }
  }
}

}  // namespace wiretoll
