// Two runs of the same study, cell by cell: before and after an update, two
// machines, two drivers.
#ifndef WIRETOLL_HARNESS_ANALYSIS_COMPARE_H_
#define WIRETOLL_HARNESS_ANALYSIS_COMPARE_H_

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/unpaired.h"
#include "harness/base/result.h"

namespace wiretoll {

// What is set side by side.
enum class Compared {
  kThroughput,        // bytes/s; judges a stream.
  kRoundTrip,         // ns, median; judges a request-response.
  kSenderCpu,         // ns a byte
  kReceiverCpu,       // ns a byte
  kSegmentsPerWrite,  // Data segments of one write.
  kCount,
};
inline constexpr std::size_t kComparedCount =
    static_cast<std::size_t>(Compared::kCount);

struct ComparedFigure {
  std::optional<double> base, next;  // Medians over blocks.
  std::optional<UnpairedRatio> ratio;
  std::string why;  // Why one of these is missing.
};

enum class Change { kFaster, kSlower, kNotDistinguishable, kMissing };

// One case on one pair of hosts, as far as the two runs have it.
struct ComparedCell {
  std::string study;  // Its name.
  std::string case_id;
  std::optional<std::size_t> base, next;  // Into Comparison::analysis.cells.
  Compared judged_by = Compared::kThroughput;
  Change change = Change::kMissing;
  std::array<ComparedFigure, kComparedCount> figures;
  // kMissing: "BASE", "NEW" or "BASE and NEW", and why. Else empty, or why no
  // verdict was possible.
  std::string missing_in, why;

  [[nodiscard]] const ComparedFigure& figure(Compared which) const {
    return figures[static_cast<std::size_t>(which)];
  }
};

// How many times as fast NEW is as BASE by what judges the cell: the ratio of
// throughputs, or the inverse of that of round trips. Empty if missing.
std::optional<UnpairedRatio> SpeedOf(const ComparedCell& cell);

// True if the whole interval lies below 1 - share: a cell that is slower by
// more than that, whatever of the interval is true.
bool SlowerBy(const ComparedCell& cell, double share);

// Which host of BASE stands for which of NEW.
struct HostMatch {
  std::map<std::string, std::string> hosts;
  bool by_name = true;
  std::string how;  // A sentence; also of those that were not matched.
};

struct ToldFact {
  std::optional<std::string> value;
  std::string why;  // There is none.
  bool operator==(const ToldFact&) const = default;
};

struct ChangedFact {
  std::string where;  // "run", "link", or hosts: "linux-1, linux-2".
  std::string name;
  ToldFact base, next;
};

struct Comparison {
  std::array<std::filesystem::path, 2> folders;  // BASE, NEW.
  Analysis analysis;                             // Of both; runs 0 and 1.
  HostMatch match;
  // What can be told apart first, then what cannot, each by the size of the
  // effect (the logarithm of SpeedOf); last what is missing in one.
  std::vector<ComparedCell> cells;
  std::vector<ChangedFact> changed;
  std::vector<std::string> notes;  // What a reader has to know beside it.

  [[nodiscard]] int CountOf(Change change) const;
  // Of the not distinguishable ones, those without an interval to judge by.
  [[nodiscard]] int CountUnjudged() const;
  // Those with one: neither missing nor unjudged.
  [[nodiscard]] int CountJudged() const;
};

// Reads both run folders. kUsage: a folder that cannot be read, as Analyse
// says it, or two runs that have no study in common, which names both.
Outcome<Comparison> CompareRuns(const std::filesystem::path& base,
                                const std::filesystem::path& next);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_COMPARE_H_
