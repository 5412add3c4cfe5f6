// A story as what its pictures draw: steps over time, segments that left, and
// what of it no pixel could show left out.
#ifndef WIRETOLL_REPORTS_STORY_DATA_H_
#define WIRETOLL_REPORTS_STORY_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/story.h"
#include "reports/chart.h"

namespace wiretoll {

// Times in nanoseconds from the story's start.
struct Reached {
  std::int64_t at_ns = 0;
  double value = 0;  // From then on.
};
using Steps = std::vector<Reached>;

// A segment with payload that left.
struct Departure {
  std::int64_t at_ns = 0;
  std::int64_t offset = 0;  // In the stream.
  std::int64_t bytes = 0;
  bool again = false;  // Retransmitted.
};

// Of the direction that carries the sender's payload.
struct StoryData {
  bool from_client = true;  // That direction.
  bool rounds = false;      // A request-response.
  std::int64_t end_ns = 0;  // Of the last event.
  std::int64_t bytes = 0;   // End of the stream, as far as it was seen.
  std::vector<Departure> departures;
  Steps written;       // Handed over by the program; empty: see `no_writes`.
  Steps acknowledged;  // Bytes of the stream.
  Steps edge;          // `acknowledged` and the window on top of it.
  Steps window;        // Advertised by the peer, bytes.
  Steps in_flight;     // Left and not acknowledged, bytes.
  std::vector<std::int64_t> write_sizes;  // Of the calls, whatever their clock.
  std::string no_writes;                  // Why `written` is empty.
  std::string some_writes;                // What of them is missing, if any is.
  std::optional<std::int64_t> mss;        // Payload of a full segment.
  std::optional<std::int64_t> rtt_ns;     // Of the handshake, else by the
  std::string rtt_source;                 // sender's kernel; which, in words.
};

StoryData DataOf(const Story& story);

// "10.0.0.1 → 10.0.0.2" of the sample's hosts, with their systems.
std::string StoryPair(const Story& story);

// "1015.8 ms": a moment of the trial, as its story spells it.
std::string MomentText(std::int64_t at_ns);

// Whose clock the times are of: "captured at linux-1 on eth0".
std::string CapturedAt(const Story& story);

// --- What a pixel cannot show -----------------------------------------------

// Steps as the corners of a line over `chart`, from its left to its right edge:
// of each column of pixels the first, the lowest, the highest and the last are
// kept. `scale_x` and `scale_y` make axis units of nanoseconds and bytes.
struct Scale {
  double x = 1;
  double y = 1;
};
std::vector<ChartPoint> ThinSteps(const Steps& steps, const Chart& chart,
                                  const Scale& scale);

// Upright strokes: those that stand in the same column of pixels and touch
// become one. In axis units, by rising x.
std::vector<Stroke> ThinStrokes(const std::vector<Stroke>& strokes,
                                const Chart& chart);

// Dots: one for each square of `pixels` pixels that has any, the first there;
// and all that are lowest or highest. In axis units.
std::vector<Stroke> ThinDots(const std::vector<Stroke>& dots,
                             const Chart& chart, double pixels);

// Shades that touch become one.
std::vector<Shade> ThinShades(const std::vector<Shade>& shades,
                              const Chart& chart);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_STORY_DATA_H_
