// Studies of windows: which cells make a curve of throughput against window.
#ifndef WIRETOLL_REPORTS_WINDOW_VIEW_H_
#define WIRETOLL_REPORTS_WINDOW_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/knee.h"
#include "harness/analysis/stream_limit.h"
#include "reports/selection.h"

namespace wiretoll {

struct WindowPoint {
  const Group* group = nullptr;
  double window = 0;            // Largest seen, bytes.
  std::optional<double> asked;  // SO_RCVBUF; empty: left to the system.
  Estimate speed;               // bytes/s, steady.
};

// Cells that differ in the receive buffer alone.
struct WindowCurve {
  std::string label;  // "100 Mbit/s, RTT 10.2 ms"
  std::string colour;
  Shape shape = Shape::kCircle;
  double rtt_ns = 0;                // The least of all.
  std::optional<double> line;       // bytes/s in full segments.
  std::optional<double> product;    // Rate x round trip, bytes.
  std::vector<WindowPoint> points;  // By rising window.
  std::optional<Knee> knee;
};

// By the study's order. Curves over round trips below 1 ms are left out: there
// the hosts' scheduling is in every round trip.
std::vector<WindowCurve> WindowCurves(const StudyView& view);

// The receive buffer varies, and there is such a curve.
bool IsWindowStudy(const StudyView& view);

// "64 KiB", "unset".
std::string AskedText(const WindowPoint& point);

// The link and, where they vary, the factors of a cell: "1 Gbit/s, RTT 10 ms".
std::string PathText(const StudyView& view, const Group& group,
                     const std::vector<std::string>& without);

// The first of the group's cells that has a course; nullptr: none.
const Cell* WithCourse(const StudyView& view, const Group& group);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_WINDOW_VIEW_H_
