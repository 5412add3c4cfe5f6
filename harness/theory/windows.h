// What windows allow and how they come about: the field's own limit, slow
// start, and the share of a receive buffer that is window.
#ifndef WIRETOLL_HARNESS_THEORY_WINDOWS_H_
#define WIRETOLL_HARNESS_THEORY_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// --- The field ---------------------------------------------------------------

// RFC 9293 3.1: 16 bits, unless both ends scale (RFC 7323 2).
inline constexpr Bytes kLargestUnscaledWindow{65'535};
// RFC 7323 2.3.
inline constexpr int kLargestWindowShift = 14;
// The least shift by which a window of that size can be told, 14 at most.
int WindowShiftFor(Bytes window);
// What an end can tell of it: no more than the field holds, at that shift.
// Requires 0 <= shift <= 14.
Bytes TellableWindow(Bytes window, int shift);

// --- Slow start --------------------------------------------------------------

// RFC 6928 2: 10 segments, at most 14,600 bytes but at least two segments.
// Requires mss >= 1.
std::int64_t InitialWindowOf(Bytes mss);

// How much a congestion window grows by what a round trip's ACKs tell
// (RFC 5681 3.1).
enum class SlowStartGrowth {
  kByteCounted,  // By all that was acknowledged (RFC 3465, Linux): it doubles.
  kByAck,        // By a segment an ACK, and one ACK for two segments: by half.
};

struct SlowStartCourse {
  int round_trips = 0;  // Until a window of that size is sent.
  Nanoseconds time{0};
  Bytes sent;  // By then, before it.
};
// From the first segment of data on, no loss, nothing else in the way; a window
// below `initial` segments is there from the first. Requires mss >= 1,
// initial >= 1, rtt >= 0.
struct SlowStart {
  Bytes window;
  Bytes mss;
  Nanoseconds rtt{0};
  std::int64_t initial = 10;  // Segments.
};
SlowStartCourse CourseOf(const SlowStart& start, SlowStartGrowth growth);

// --- Loss --------------------------------------------------------------------

// Payload bytes/s of a connection that halves its window for each loss
// (RFC 5681 3.1) and loses the share `loss` of its segments, evenly: MSS / RTT
// x sqrt(3 / (2 x loss)) (M. Mathis, J. Semke, J. Mahdavi, T. Ott, 1997).
// Requires rtt > 0, 0 < loss < 1.
double RateUnderLoss(Bytes mss, Nanoseconds rtt, double loss);

// --- Buffers -----------------------------------------------------------------

// What Linux makes window of a receive buffer as read back: all but the share
// that it keeps for bookkeeping, buffer / 2^scale, or with a scale of 0 or less
// all but buffer - buffer / 2^-scale (net.ipv4.tcp_adv_win_scale, -31 to 31).
// From 6.6 on there is no such setting: half to begin with, which is a scale of
// 1, and then by what the segments that come really take.
Bytes LinuxWindowOf(Bytes read_back, int adv_win_scale = 1);
// The least SO_RCVBUF to ask for such a window: Linux doubles what is asked
// for. The least tcp_rmem is twice that.
Bytes LinuxBufferToAsk(Bytes window, int adv_win_scale = 1);

// --- Which limit holds
// ---------------------------------------------------------

enum class PathLimit { kWindow, kLine, kNone };

struct WindowRow {
  Bytes window;
  Nanoseconds rtt{0};
  double window_rate = 0;           // bytes/s: window / rtt
  std::optional<double> line_rate;  // bytes/s of payload in full segments
  // The slower of both; kNone without a line.
  PathLimit limit = PathLimit::kNone;
  double rate = 0;
  std::optional<Bytes> product;  // Bandwidth x delay, headers and all.
  int shift = 0;                 // That the window needs.
  double unscaled_rate = 0;      // With 65,535 bytes at most.
  // To the window, or to what fills the line where that is less.
  SlowStartCourse doubling, by_ack;
  Bytes linux_buffer;  // To ask for.
};

struct WindowOptions {
  std::vector<Bytes> windows = {};     // Empty: 16 KiB to 8 MiB, by doubling.
  std::vector<Nanoseconds> rtts = {};  // Empty: 1, 10 and 70 ms.
  std::optional<BitsPerSecond> link = std::nullopt;
  int ip_version = 4;
  bool timestamps = true;
  bool vlan = false;
  Bytes mtu{1500};
};

struct WindowTable {
  WindowOptions options;  // With the lists that were used.
  Bytes mss;
  std::int64_t initial = 0;     // Segments.
  std::vector<WindowRow> rows;  // By round trip, then window, as asked.
  std::vector<std::string> notes;
};

// kUsage: a window below 1 byte or above what RFC 7323 can tell, a round trip
// of 0, an MTU that leaves no room.
Outcome<WindowTable> MakeWindowTable(const WindowOptions& options);

// Each ends with a newline.
std::string WindowText(const WindowTable& table);
std::string WindowCsv(const WindowTable& table);
std::string WindowJson(const WindowTable& table);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_WINDOWS_H_
