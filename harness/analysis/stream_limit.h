// Which limit held a cell's streams, from what their ends' kernels counted.
#ifndef WIRETOLL_HARNESS_ANALYSIS_STREAM_LIMIT_H_
#define WIRETOLL_HARNESS_ANALYSIS_STREAM_LIMIT_H_

#include <optional>
#include <string>

#include "harness/analysis/analysis.h"

namespace wiretoll {

enum class StreamLimit {
  kLine,        // As much as 90 % of what it carries in full segments.
  kWindow,      // The peer's was in the way for half of the busy time.
  kSendBuffer,  // The sender's own was; or it was for a tenth, and 40 % or
                // more of it were data in flight.
  kProcessor,   // A loop used 80 % of a CPU.
  kLoss,        // 2 segments of 1000 were sent again; or reno or cubic, named
                // as such, get no more than twice what their losses leave
                // (RateUnderLoss).
  kOther,       // None of these: the congestion window, or a program.
  kUnknown,     // Not enough was observed.
};

struct CellLimit {
  StreamLimit limit = StreamLimit::kUnknown;
  std::string name;  // "the line", "the receiver's window".
  // The sentence's end: "the line, of which 99 % is in use", "the peer's
  // window, in the way for 97 % of the time".
  std::string words;
};

// Steady throughput, else throughput. In the order of StreamLimit: what an
// earlier one explains, a later one does not get to. Requires a cell of TCP
// streams; any other is kUnknown.
CellLimit LimitOf(const Cell& cell);

// What of the send buffer, as read back, is in flight at `speed` bytes/s: it in
// a round trip under load, else in the least. Empty where the buffer was left
// to the system or no round trip is known.
std::optional<double> InFlightShareOf(const Cell& cell, double speed);

// bytes/s, steady where that is known.
std::optional<Estimate> SpeedOf(const Cell& cell);

// min(window / round trip, what the line carries in full segments): the largest
// window seen, the least round trip. Empty where neither is known.
struct CellBound {
  std::optional<double> window;  // bytes/s
  std::optional<double> line;
  [[nodiscard]] std::optional<double> least() const;
};
CellBound BoundOf(const Cell& cell);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_STREAM_LIMIT_H_
