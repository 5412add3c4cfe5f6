#include "reports/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/sentences.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::size_t kFewestSystems = 3;

// Sender's and receiver's system.
using Direction = std::pair<std::string, std::string>;
using CaseValues = std::map<std::string, double>;

bool SendsAStream(const Group& group) {
  const FactorValue* pattern = FindFactor(group.first->factors, "pattern");
  return pattern == nullptr || *pattern == FactorValue(std::string("stream"));
}

std::vector<std::string> SystemsOf(const StudyView& view) {
  std::set<std::string> systems;
  for (const Group& group : view.groups) {
    if (!SendsAStream(group)) continue;
    systems.insert(group.first->sender_system);
    systems.insert(group.first->receiver_system);
  }
  return {systems.begin(), systems.end()};
}

// What is not above 0 has no place in a geometric mean.
std::map<Direction, CaseValues> MediansByDirection(const StudyView& view,
                                                   Metric metric) {
  std::map<Direction, CaseValues> values;
  for (const Group& group : view.groups) {
    if (!SendsAStream(group)) continue;
    const Cell& cell = *group.first;
    CaseValues& its = values[{cell.sender_system, cell.receiver_system}];
    const auto& figure = group.figure(metric);
    if (figure && figure->median > 0) its[cell.case_id] = figure->median;
  }
  return values;
}

// Cases that no direction lacks: others would compare one case with another.
std::set<std::string> CommonCases(
    const std::map<Direction, CaseValues>& values) {
  std::set<std::string> common;
  if (values.empty()) return common;
  for (const auto& [id, value] : values.begin()->second) common.insert(id);
  for (const auto& [direction, cases] : values) {
    std::erase_if(common, [&cases = cases](const std::string& id) {
      return !cases.contains(id);
    });
  }
  return common;
}

double GeometricMeanOf(const CaseValues& values,
                       const std::set<std::string>& cases) {
  double sum = 0;
  for (const std::string& id : cases) sum += std::log(values.at(id));
  return std::exp(sum / static_cast<double>(cases.size()));
}

struct MatrixKind {
  Metric metric;
  const char* title;
  const char* what;  // "throughput"
  std::string (*text)(double value);
};

std::string ThroughputText(double value) {
  return RateText({value, std::nullopt, 0});
}
std::string WritesText(double value) { return fmt::format("{:.3g}", value); }

std::string NamedDirection(const Direction& direction) {
  return fmt::format("{} to {}", Printable(direction.first),
                     Printable(direction.second));
}

std::string ExtremesSentence(const MatrixKind& kind,
                             const std::map<Direction, double>& means) {
  const auto [least, most] = std::minmax_element(
      means.begin(), means.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("Highest from {} ({}), lowest from {} ({}).",
                     NamedDirection(most->first), kind.text(most->second),
                     NamedDirection(least->first), kind.text(least->second));
}

std::vector<Row> MatrixRows(const MatrixKind& kind,
                            const std::vector<std::string>& systems,
                            const std::map<Direction, double>& means) {
  std::vector<Row> rows;
  rows.reserve(systems.size());
  for (const std::string& sender : systems) {
    Row row{Printable(sender)};
    row.reserve(systems.size() + 1);
    for (const std::string& receiver : systems) {
      const auto mean = means.find({sender, receiver});
      row.push_back(mean == means.end() ? kNone : kind.text(mean->second));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Table MatrixTable(const StudyView& view, const MatrixKind& kind,
                  const std::vector<std::string>& systems) {
  Table table;
  table.title = kind.title;
  table.columns.push_back({"sender, by receiver", false});
  for (const std::string& system : systems) {
    table.columns.push_back({Printable(system), true});
  }
  const auto values = MediansByDirection(view, kind.metric);
  const std::set<std::string> cases = CommonCases(values);
  if (cases.empty()) {
    table.empty = fmt::format("No case gave a figure of {} in every direction.",
                              kind.what);
    return table;
  }
  std::map<Direction, double> means;
  for (const auto& [direction, its] : values) {
    means[direction] = GeometricMeanOf(its, cases);
  }
  table.sentence = ExtremesSentence(kind, means);
  table.rows = MatrixRows(kind, systems, means);
  table.note = fmt::format(
      "Rows send, columns receive. Geometric means over {} that every "
      "direction has, of medians over blocks; – no such pair ran. Which of "
      "these differ is told by the intervals of each two, below.",
      Count(static_cast<long long>(cases.size()), "case"));
  return table;
}

}  // namespace

std::optional<Section> MatrixSection(const StudyView& view) {
  const std::vector<std::string> systems = SystemsOf(view);
  if (systems.size() < kFewestSystems) return std::nullopt;
  Section section;
  section.title = fmt::format("{} systems at once", systems.size());
  for (const MatrixKind& kind :
       {MatrixKind{Metric::kThroughput, "Throughput, system by system",
                   "throughput", &ThroughputText},
        MatrixKind{Metric::kWritesPerSegment,
                   "Writes a segment, system by system", "writes a segment",
                   &WritesText}}) {
    section.tables.push_back(MatrixTable(view, kind, systems));
  }
  return section;
}

}  // namespace wiretoll
