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

// Which buffer a curve is over.
enum class Buffer { kReceive, kSend };

struct WindowPoint {
  const Group* group = nullptr;
  // Bytes: the largest window seen, or the send buffer as read back; 0: a send
  // buffer left to the system, whose size nobody can tell.
  double window = 0;
  std::optional<double> asked;  // SO_RCVBUF or SO_SNDBUF; empty: left to the
                                // system.
  Estimate speed;               // bytes/s, steady.
};

// Cells that differ in that buffer alone.
struct WindowCurve {
  Buffer buffer = Buffer::kReceive;
  std::string label;  // "100 Mbit/s, RTT 10.2 ms"
  std::string colour;
  Shape shape = Shape::kCircle;
  double rtt_ns = 0;                // The least of all.
  std::optional<double> line;       // bytes/s in full segments.
  std::optional<double> product;    // Rate x round trip, bytes.
  std::vector<WindowPoint> points;  // By rising window.
  std::optional<Knee> knee;
};

// By the study's order; none where that buffer does not vary. Curves over round
// trips below 1 ms are left out: there the hosts' scheduling is in every round
// trip.
std::vector<WindowCurve> WindowCurves(const StudyView& view, Buffer buffer);
// Over the receive buffer, then over the send buffer.
std::vector<WindowCurve> WindowCurves(const StudyView& view);

// One of the buffers varies, and there is such a curve.
bool IsWindowStudy(const StudyView& view);

// Where steady state begins in the study's trials: "what came in the first 1 s
// is left out, and slow start with it".
std::string SteadyText(const StudyView& view);

// "64 KiB", "unset".
std::string AskedText(const WindowPoint& point);

// The link and, where they vary, the factors of a cell: "1 Gbit/s, RTT 10 ms".
std::string PathText(const StudyView& view, const Group& group,
                     const std::vector<std::string>& without);

// The first of the group's cells that has a course; nullptr: none.
const Cell* WithCourse(const StudyView& view, const Group& group);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_WINDOW_VIEW_H_
