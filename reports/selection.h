// From an analysis to what a picture shows: which cells make a curve, which
// curves stand in one panel, in which colour.
#ifndef WIRETOLL_REPORTS_SELECTION_H_
#define WIRETOLL_REPORTS_SELECTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/systems.h"
#include "reports/chart.h"

namespace wiretoll {

// One case on one pair of systems. Pairs of hosts that run the same systems
// (both directions between two equal hosts) are pooled: each of their blocks
// counts as one. Points into the analysis, which must outlive it.
struct Group {
  std::vector<std::size_t> cells;  // Into Analysis::cells; at least one.
  const Cell* first = nullptr;
  std::size_t pool = 0;  // Into StudyView::pools.
  int ok = 0, failed = 0, skipped = 0;
  std::array<std::optional<Estimate>, kMetricCount> figures;
  std::optional<Capacity> capacity;  // Mean over the pooled pairs.

  [[nodiscard]] const std::optional<Estimate>& figure(Metric metric) const {
    return figures[static_cast<std::size_t>(metric)];
  }
};

struct Series {
  std::pair<std::size_t, std::size_t> order;  // System pair, then value.
  std::string label;                          // "Nagle on"
  std::string name;  // With systems in full; empty: the label.
  std::string colour;
  Shape shape = Shape::kCircle;
  bool dashed = false;
  std::map<std::int64_t, const Group*> by_write;  // By block, where that is
                                                  // the view's size factor.
};

// Cells that differ in nothing but the write and what the series tell apart.
struct Facet {
  std::string label;  // "rcvbuf unset, 64 KiB reader"; may be empty.
  std::vector<Series> series;
};

// What switching a factor did, by write size, all else as the label says.
struct EffectPoint {
  std::int64_t write = 0;
  Ratio ratio;
};
struct EffectSeries {
  std::string facet;      // Everything but factor, value and write.
  std::string label;      // "rcvbuf 2 B"; for Nagle empty.
  std::string name = {};  // With systems in full; empty: the label.
  std::string factor;
  FactorValue other;
  std::vector<EffectPoint> points;  // By rising write.
};

// One study of an analysis. Not copied: its parts point at each other.
struct StudyView {
  const Analysis* analysis = nullptr;
  std::size_t study = 0;
  std::vector<Group> groups;
  std::vector<std::string> pools;  // "Linux to Linux"; one a system pair.
  // "Debian 12, Linux 6.18.44 to Windows 11 23H2 (22631.3447)".
  std::vector<std::string> pool_names;
  std::vector<std::string> varying;  // Factors with several values.
  std::string series_factor;         // Told apart by colour; may be empty.
  // How much is handed over at once: "block" where that varies, else "write".
  std::string size_factor = "write";
  bool sizes = false;  // A study of sizes: IsSizeStudy().
  std::map<std::string, std::size_t> case_places;  // In the study's order.
  std::vector<Facet> facets;          // The most telling first. Streams.
  std::vector<const Group*> latency;  // Request-response.

  StudyView() = default;
  StudyView(const StudyView&) = delete;
  StudyView& operator=(const StudyView&) = delete;
  StudyView(StudyView&&) = default;  // Groups stay where they are.
  StudyView& operator=(StudyView&&) = default;
};

StudyView ViewStudy(const Analysis& analysis, std::size_t study);

// Block sizes, or datagrams: a study whose report shows throughput and loss
// against size, with the knee of each curve.
bool IsSizeStudy(const Analysis& analysis, std::size_t study);

// "TCP" or "UDP".
bool IsUdp(const Cell& cell);

// A figure of all of the group's pairs of hosts; each keeps its blocks to
// itself.
BlockValues PooledBlocks(const Analysis& analysis, const Group& group,
                         Metric metric);

// What switching `factor` does to the throughput of streams, pooled as groups
// are; most telling facet first.
std::vector<EffectSeries> EffectsOf(const StudyView& view,
                                    const std::string& factor);

// The bytes of one write; empty where a case has none.
std::optional<std::int64_t> WriteOf(const Factors& factors);

// The same of what the view has as its size.
std::optional<std::int64_t> SizeOf(const StudyView& view,
                                   const Factors& factors);

// The view's cells in the study's order, whatever order the trials ran in.
std::vector<std::size_t> CellsInOrder(const StudyView& view);

// The factors that vary, `without` left out: "32 B writes, Nagle on". With
// the pair where there are several.
std::string CaseText(const StudyView& view, const Group& group,
                     const std::vector<std::string>& without = {});

// A pool keeps its colour in all pictures.
const char* PoolColour(std::size_t pool);
Shape PoolShape(std::size_t pool);

// Bits a second of the link that the view's cells ran over, if known.
std::optional<double> LineRate(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SELECTION_H_
