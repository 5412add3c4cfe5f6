#include "harness/theory/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

constexpr int kLeastMtuOfATable = 128;

Failure NoTable(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

// Segments that a round trip's ACKs add.
std::int64_t GrowthOf(std::int64_t segments, SlowStartGrowth growth) {
  return growth == SlowStartGrowth::kByteCounted ? segments : segments / 2;
}

HeaderStack StackOfWindows(const WindowOptions& options) {
  return {.ip_version = options.ip_version,
          .timestamps = options.timestamps,
          .vlan = options.vlan};
}

std::optional<Failure> CheckWindows(const WindowOptions& options) {
  for (const Bytes window : options.windows) {
    if (window.count < 1 ||
        window > TellableWindow(window, kLargestWindowShift)) {
      return NoTable(fmt::format(
          "--window {}: 1 to {} bytes, which is all that a header can tell "
          "(RFC 7323 2.3)",
          window.count, kLargestUnscaledWindow.count << kLargestWindowShift));
    }
  }
  for (const Nanoseconds rtt : options.rtts) {
    if (rtt.count() < 1)
      return NoTable("--rtt 0: a round trip takes time; say 1us");
  }
  if (options.mtu.count < kLeastMtuOfATable) {
    return NoTable(fmt::format(
        "an MTU of {} bytes leaves no room for segments; take {} or more",
        options.mtu.count, kLeastMtuOfATable));
  }
  return std::nullopt;
}

std::vector<Bytes> UsualWindows() {
  std::vector<Bytes> windows;
  for (std::int64_t kib = 16; kib <= 8192; kib *= 2)
    windows.push_back(Bytes{kib * 1024});
  return windows;
}

WindowRow RowOfWindow(const WindowTable& table, Bytes window, Nanoseconds rtt,
                      std::optional<double> line) {
  WindowRow row;
  row.window = window;
  row.rtt = rtt;
  row.window_rate = WindowLimit(window, rtt);
  row.line_rate = line;
  row.limit = !line                     ? PathLimit::kNone
              : row.window_rate < *line ? PathLimit::kWindow
                                        : PathLimit::kLine;
  row.rate = line ? std::min(row.window_rate, *line) : row.window_rate;
  Bytes enough = window;
  if (line) {
    row.product = BandwidthDelayProduct(*table.options.link, rtt);
    enough = std::min(enough, BandwidthDelayProduct({*line * 8}, rtt));
  }
  row.shift = WindowShiftFor(window);
  row.unscaled_rate =
      std::min(row.rate, WindowLimit(TellableWindow(window, 0), rtt));
  const SlowStart start{enough, table.mss, rtt, table.initial};
  row.doubling = CourseOf(start, SlowStartGrowth::kByteCounted);
  row.by_ack = CourseOf(start, SlowStartGrowth::kByAck);
  row.linux_buffer = LinuxBufferToAsk(window);
  return row;
}

std::vector<std::string> NotesOf(const WindowTable& table) {
  return {
      "limit: min(window / round trip, line x efficiency of full segments) "
      "(RFC 9293 3.8.6, RFC 7323 1.1).",
      fmt::format("Slow start from {} segments of {} bytes (RFC 6928 2; Linux "
                  "takes 10 whatever their size) to the window, or to what "
                  "fills the line: doubling where ACKs "
                  "count bytes (RFC 3465; Linux), by half where each of one "
                  "ACK for two segments adds one (RFC 5681 3.1).",
                  table.initial, table.mss.count),
      "Without window scaling a header tells 65,535 bytes at most (RFC 9293 "
      "3.1, RFC 7323 2).",
      "SO_RCVBUF on Linux: half of what is read back becomes window to begin "
      "with, and what is read back is twice what was asked for (socket(7); "
      "tcp_adv_win_scale 1, from 6.6 on by what segments take). How much of "
      "one becomes window on Windows is not documented; setting it there "
      "turns its autotuning off, as on Linux."};
}

}  // namespace

int WindowShiftFor(Bytes window) {
  int shift = 0;
  while (shift < kLargestWindowShift &&
         (kLargestUnscaledWindow.count << shift) < window.count) {
    ++shift;
  }
  return shift;
}

Bytes TellableWindow(Bytes window, int shift) {
  return std::min(window, Bytes{kLargestUnscaledWindow.count << shift});
}

std::int64_t InitialWindowOf(Bytes mss) {
  constexpr std::int64_t kSegments = 10, kMostBytes = 14'600;
  const std::int64_t bytes =
      std::min(kSegments * mss.count, std::max(2 * mss.count, kMostBytes));
  return bytes / mss.count;
}

SlowStartCourse CourseOf(const SlowStart& start, SlowStartGrowth growth) {
  SlowStartCourse course;
  std::int64_t segments = start.initial;
  while (segments * start.mss.count < start.window.count) {
    course.sent = course.sent + Bytes{segments * start.mss.count};
    ++course.round_trips;
    // A single segment is acknowledged by itself.
    segments += std::max<std::int64_t>(1, GrowthOf(segments, growth));
  }
  course.time = course.round_trips * start.rtt;
  return course;
}

double RateUnderLoss(Bytes mss, Nanoseconds rtt, double loss) {
  return WindowLimit(mss, rtt) * std::sqrt(1.5 / loss);
}

Bytes LinuxWindowOf(Bytes read_back, int adv_win_scale) {
  if (adv_win_scale <= 0) return {read_back.count >> -adv_win_scale};
  return {read_back.count - (read_back.count >> adv_win_scale)};
}

Bytes LinuxBufferToAsk(Bytes window, int adv_win_scale) {
  // Grows with the buffer, so that the least one is found by halving.
  std::int64_t low = 1, high = std::int64_t{1} << 40;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    const bool enough =
        LinuxWindowOf(LinuxReceiveBuffer({middle}), adv_win_scale) >= window;
    (enough ? high : low) = enough ? middle : middle + 1;
  }
  return {low};
}

Outcome<WindowTable> MakeWindowTable(const WindowOptions& options) {
  if (std::optional<Failure> wrong = CheckWindows(options))
    return *std::move(wrong);
  WindowTable table;
  table.options = options;
  if (options.windows.empty()) table.options.windows = UsualWindows();
  if (options.rtts.empty()) {
    using std::chrono::milliseconds;
    table.options.rtts = {milliseconds(1), milliseconds(10), milliseconds(70)};
  }
  const HeaderStack stack = StackOfWindows(options);
  table.mss = LargestPayload(options.mtu, stack);
  table.initial = InitialWindowOf(table.mss);
  std::optional<double> line;
  if (options.link) {
    line = LineLimit(*options.link, Efficiency(CostOfFrame(table.mss, stack)));
  }
  for (const Nanoseconds rtt : table.options.rtts) {
    for (const Bytes window : table.options.windows)
      table.rows.push_back(RowOfWindow(table, window, rtt, line));
  }
  table.notes = NotesOf(table);
  return table;
}

}  // namespace wiretoll
