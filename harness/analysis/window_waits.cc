#include "harness/analysis/window_waits.h"

#include <algorithm>
#include <optional>

namespace wiretoll {
namespace {

// RFC 9293 3.8.6.2.1: the timer that ends a wait for room is 0.1 s or more.
constexpr std::int64_t kLeastTimerNs = 100'000'000;

void Least(std::int64_t value, std::optional<std::int64_t>& least) {
  least = std::min(value, least.value_or(value));
}

// The server's window as the client sees it, from segment to segment.
class WindowWatch {
 public:
  explicit WindowWatch(CaptureRecord& record) : record_(record) {}

  void Take(const TimelineSegment& segment) {
    if (segment.syn || segment.rst) return;
    if (!segment.from_client) return TakeWindow(segment);
    if (segment.probe) return TakeProbe(segment);
    if (segment.data()) TakeData(segment);
  }

 private:
  void TakeWindow(const TimelineSegment& segment) {
    if (!segment.acknowledged) return;
    const std::int64_t edge = *segment.acknowledged + segment.window_bytes;
    const bool closed = segment.window_bytes == 0;
    if (closed && !closed_) waits_since_ns_ = segment.time_ns;
    if (closed_ && !closed) {
      Least(segment.window_bytes, record_.window_reopened_bytes);
    }
    closed_ = closed;
    if (edge != edge_) moved_ns_ = segment.time_ns;
    edge_ = edge;
  }

  void TakeProbe(const TimelineSegment& segment) {
    if (!closed_ || waits_since_ns_ == 0) return;
    Least(segment.time_ns - waits_since_ns_, record_.persist_wait_ns);
    waits_since_ns_ = 0;  // Later probes of this closing wait longer.
  }

  void TakeData(const TimelineSegment& segment) {
    const std::int64_t waited =
        segment.time_ns - std::max(moved_ns_, last_data_ns_);
    const bool all_room =
        segment.offset + segment.payload_bytes == edge_ && last_data_ns_ > 0;
    if (all_room && !closed_ && !segment.retransmission &&
        waited >= kLeastTimerNs) {
      Least(waited, record_.silly_wait_ns);
    }
    last_data_ns_ = segment.time_ns;
    if (closed_ && waits_since_ns_ != 0) waits_since_ns_ = segment.time_ns;
  }

  CaptureRecord& record_;
  bool closed_ = false;
  std::int64_t waits_since_ns_ = 0;  // For a closed window; 0: was probed.
  std::int64_t edge_ = 0;            // First byte that there is no room for.
  std::int64_t moved_ns_ = 0;        // When the edge last moved.
  std::int64_t last_data_ns_ = 0;    // Of the client; 0: none yet.
};

}  // namespace

void FillWindowWaits(const Timeline& timeline, CaptureRecord& record) {
  WindowWatch watch(record);
  for (const TimelineSegment& segment : timeline.segments) watch.Take(segment);
}

}  // namespace wiretoll
