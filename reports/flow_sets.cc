#include "reports/flow_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "harness/base/units.h"
#include "reports/table_parts.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// From here on the loops together leave the machine little to do more with.
constexpr double kCpusAreTheLimit = 0.9;
// Below, a total adds up rates of times that are not the same.
constexpr double kHardlyTogether = 0.8;

std::vector<const FlowSet*> SetsOfStudy(const StudyView& view) {
  std::vector<const FlowSet*> sets;
  for (const FlowSet& set : view.analysis->flow_sets) {
    if (set.study == view.study) sets.push_back(&set);
  }
  // Blocks are shuffled; a reader looks for the study's order.
  const auto place = [&](const FlowSet* set) {
    const auto found = view.case_places.find(set->case_id);
    return std::tuple(set->run,
                      found == view.case_places.end() ? view.case_places.size()
                                                      : found->second,
                      set->sender, set->receiver);
  };
  std::ranges::stable_sort(sets, {}, place);
  return sets;
}

// "linux-1 → linux-2", "linux-1 → all others", "ring".
std::string WhoText(const FlowSet& set) {
  if (!set.receiver.empty()) {
    return fmt::format("{} → {}", Printable(set.sender),
                       Printable(set.receiver));
  }
  if (!set.sender.empty()) {
    return fmt::format("{} → all others", Printable(set.sender));
  }
  return Printable(set.topology);
}

std::string Middle(const std::optional<Estimate>& figure, double scale = 1) {
  return figure ? FormatNumber(figure->median * scale) : kNone;
}

std::string Between(const std::optional<Estimate>& figure, double scale = 1) {
  if (!figure || !figure->interval) return kNone;
  return IntervalText(*figure->interval, scale);
}

Row RowOf(const FlowSet& set) {
  return {Printable(set.case_id),
          WhoText(set),
          fmt::format("{}", set.flows),
          Middle(set.total, kMega),
          Between(set.total, kMega),
          Middle(set.least, kMega),
          Middle(set.largest, kMega),
          Middle(set.fairness),
          Between(set.fairness),
          set.overlap ? Percent(set.overlap->median) : kNone,
          fmt::format("{}/{}", set.whole, set.broken)};
}

// "6 flows of all-to-all"; with the case where there are several.
std::string SetText(const FlowSet& set, bool several) {
  std::string text =
      fmt::format("{} of {}", Count(set.flows, "flow"), WhoText(set));
  if (several) text += fmt::format(" in {}", Printable(set.case_id));
  return text;
}

std::string FairnessText(const Estimate& fairness) {
  std::string text = FormatNumber(fairness.median);
  if (fairness.interval) {
    text += fmt::format(" ({})", IntervalText(*fairness.interval));
  }
  return text;
}

// Of the set that shares least evenly.
std::string FairnessSentence(const std::vector<const FlowSet*>& sets) {
  const FlowSet* least = nullptr;
  for (const FlowSet* set : sets) {
    if (!set->fairness || set->flows < 2) continue;
    if (least == nullptr || set->fairness->median < least->fairness->median) {
      least = set;
    }
  }
  if (least == nullptr) return "No group of flows ran without a failure.";
  const bool several = sets.size() > 1;
  return fmt::format(
      "{}{} carried {} together, from {} to {} MB/s each: Jain's index of "
      "fairness is {}, where 1 is equal shares and {} is one flow alone.",
      several ? "The least even: " : "", SetText(*least, several),
      RateText(*least->total), Middle(least->least, kMega),
      Middle(least->largest, kMega), FairnessText(*least->fairness),
      FormatNumber(1.0 / least->flows));
}

// Of the set that kept the CPUs busiest.
std::string CpuNote(const std::vector<const FlowSet*>& sets) {
  const FlowSet* busiest = nullptr;
  for (const FlowSet* set : sets) {
    if (!set->cpus_used || !set->cpus) continue;
    if (*set->cpus_used < kCpusAreTheLimit * static_cast<double>(*set->cpus)) {
      continue;
    }
    if (busiest == nullptr || *set->cpus_used > *busiest->cpus_used) {
      busiest = set;
    }
  }
  if (busiest == nullptr) return {};
  return fmt::format(
      " All hosts are on this machine, and the loops of {} kept {} of its {} "
      "busy: there the CPU is the limit, not the line.",
      SetText(*busiest, sets.size() > 1), FormatNumber(*busiest->cpus_used),
      Count(*busiest->cpus, "CPU"));
}

std::string BrokenNote(const std::vector<const FlowSet*>& sets) {
  for (const FlowSet* set : sets) {
    if (set->broken == 0) continue;
    return fmt::format(
        " A group with a flow that failed or is missing has no figures ({}).",
        Printable(set->reason));
  }
  return {};
}

bool HardlyTogether(const FlowSet* set) {
  return set->overlap && set->overlap->median < kHardlyTogether;
}

std::string NoteOf(const std::vector<const FlowSet*>& sets) {
  std::string note =
      "Total: the sum of what each flow got in its own time; least, largest: "
      "of each group; together: the share of its time that each flow spent at "
      "least with all of them under way; all medians over blocks.";
  if (std::ranges::any_of(sets, HardlyTogether)) {
    note +=
        " Where they were little together, a total adds rates of different "
        "times and is more than went at once: a [stop] in seconds keeps flows "
        "together.";
  }
  return note + BrokenNote(sets) + CpuNote(sets);
}

Json EstimateJson(const std::optional<Estimate>& figure) {
  if (!figure) return nullptr;
  Json json{{"median", figure->median}};
  json["low"] = figure->interval ? Json(figure->interval->low) : Json(nullptr);
  json["high"] =
      figure->interval ? Json(figure->interval->high) : Json(nullptr);
  json["blocks"] = figure->blocks;
  if (!figure->interval) {
    json["why_null"] = "fewer than three blocks give no interval";
  }
  return json;
}

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json WhyNullOf(const FlowSet& set) {
  Json why = Json::object();
  if (!set.total) {
    for (const char* name :
         {"total_throughput_bytes_per_s", "least_throughput_bytes_per_s",
          "largest_throughput_bytes_per_s", "fairness_ratio"}) {
      why[name] = set.reason;
    }
  }
  if (!set.overlap) {
    why["overlap_share"] = set.total ? "an end gave no time" : Json(set.reason);
  }
  if (set.sender.empty()) why["sender"] = "several send";
  if (set.receiver.empty()) why["receiver"] = "several receive";
  if (!set.cpus_used) {
    why["cpus_used"] =
        "the hosts are not all on this machine, or told no CPU time";
  }
  if (!set.cpus) why["cpus"] = "the hosts are not all on this machine";
  return why;
}

}  // namespace

Table FlowsTable(const StudyView& view) {
  Table table;
  table.title = "Flows at once";
  table.empty = "No flows ran at once.";
  const std::vector<const FlowSet*> sets = SetsOfStudy(view);
  if (sets.empty()) return table;
  table.columns = {{"case", false},
                   {"flows of", false},
                   {"flows"},
                   {"total, MB/s"},
                   {"95 %"},
                   {"least, MB/s"},
                   {"largest, MB/s"},
                   {"fairness"},
                   {"95 %"},
                   {"together"},
                   {"groups ok/broken"}};
  for (const FlowSet* set : sets) table.rows.push_back(RowOf(*set));
  table.sentence = FairnessSentence(sets);
  table.note = NoteOf(sets);
  Cut(table, "report.json");
  return table;
}

Json FlowSetJson(const FlowSet& set) {
  Json json{{"run", set.run},
            {"study", set.study},
            {"case", set.case_id},
            {"topology", set.topology},
            {"sender", TextOrNull(set.sender)},
            {"receiver", TextOrNull(set.receiver)},
            {"flows", set.flows},
            {"cells", set.cells},
            {"whole_groups", set.whole},
            {"broken_groups", set.broken},
            {"broken_reason", set.reason},
            {"total_throughput_bytes_per_s", EstimateJson(set.total)},
            {"least_throughput_bytes_per_s", EstimateJson(set.least)},
            {"largest_throughput_bytes_per_s", EstimateJson(set.largest)},
            {"fairness_ratio", EstimateJson(set.fairness)},
            {"overlap_share", EstimateJson(set.overlap)},
            {"cpus_used", OrNull(set.cpus_used)},
            {"cpus", OrNull(set.cpus)}};
  json["why_null"] = WhyNullOf(set);
  return json;
}

}  // namespace wiretoll
