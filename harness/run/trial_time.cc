#include "harness/run/trial_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

// Two agents told what to do, sockets opened, reports taken and written down.
constexpr Seconds kAroundATrial = 5ms;
// Where the line has no rate of its own: about what one connection gets from
// a machine to itself.
constexpr double kUnshapedBytesPerSecond = 1e9;
// RFC 6928: an initial window of ten segments.
constexpr double kInitialWindow = 10 * 1448.0;

Seconds RoundTrip(const RecordedLink& link) {
  return 2 * Seconds{Nanoseconds{link.delay_ns.value_or(0)}};
}

double MessageBytes(const Workload& workload) {
  if (workload.pattern == Pattern::kStream)
    return static_cast<double>(std::max<std::int64_t>(1, workload.write.count));
  double bytes = 0;
  for (const Bytes part : workload.request)
    bytes += static_cast<double>(part.count);
  return bytes;
}

// How many messages the stops in bytes and messages allow.
double MostMessages(const Workload& workload) {
  double most = std::numeric_limits<double>::infinity();
  if (workload.stop_messages)
    most = static_cast<double>(*workload.stop_messages);
  if (workload.stop_bytes) {
    most = std::min(most, static_cast<double>(workload.stop_bytes->count) /
                              MessageBytes(workload));
  }
  return most;
}

// One to connect; one for the last byte and the close that answers it; and
// while a stream's window opens, one each time it doubles.
double RoundTrips(const Workload& workload) {
  if (workload.pattern != Pattern::kStream) return 2;
  const double bytes = MostMessages(workload) * MessageBytes(workload);
  // A stream that only time ends is in mid-air when it does.
  return std::isinf(bytes) ? 3 : 2 + std::log2(1 + bytes / kInitialWindow);
}

// A stop in time ends the writing; the last write and what the buffers hold
// are still to be read, by a reader that may take a byte a call.
Seconds ToDrain(const Workload& workload) {
  constexpr Seconds kSlowRead = 5us;
  // As far as Linux grows a receive buffer by itself: tcp_rmem's 6 MiB.
  constexpr Bytes kGrown{6'291'456};
  const Bytes held = workload.write + workload.rcvbuf.value_or(kGrown);
  return kSlowRead *
         (static_cast<double>(held.count) /
          static_cast<double>(std::max<std::int64_t>(1, workload.read.count)));
}

}  // namespace

Nanoseconds ExpectedTime(const Workload& workload, const RecordedLink& link) {
  const double rate = link.rate_bits_per_second ? *link.rate_bits_per_second / 8
                                                : kUnshapedBytesPerSecond;
  Seconds message = Seconds{workload.gap};
  if (workload.pattern == Pattern::kStream) {
    message += Seconds{MessageBytes(workload) / rate};
  } else {
    message += RoundTrip(link);
  }
  Seconds writing = MostMessages(workload) * message;
  if (workload.stop_time)
    writing = std::min(writing, Seconds{*workload.stop_time});
  // A study is refused whose trials would take over an hour.
  const Seconds expected = std::min<Seconds>(
      kAroundATrial + writing + RoundTrips(workload) * RoundTrip(link), 2h);
  return std::chrono::duration_cast<Nanoseconds>(expected);
}

std::chrono::milliseconds DeadlineFor(const Workload& workload,
                                      const RecordedLink& link) {
  // Slower than this, a host is no use for the study anyway.
  constexpr double kSlowestBytesPerSecond = 20e3;
  constexpr Seconds kSlowestRound = 500ms;
  Seconds expected{std::numeric_limits<double>::infinity()};
  if (workload.stop_bytes) {
    const auto bytes = static_cast<double>(workload.stop_bytes->count);
    expected = Seconds{bytes / kSlowestBytesPerSecond} +
               bytes / MessageBytes(workload) * Seconds{workload.gap};
  }
  if (workload.stop_messages) {
    const auto messages = static_cast<double>(*workload.stop_messages);
    expected = std::min(expected, messages * (kSlowestRound + RoundTrip(link) +
                                              Seconds{workload.gap}));
  }
  if (workload.stop_time) {
    expected = std::min(
        expected, 4 * Seconds{*workload.stop_time} + 10s + ToDrain(workload));
  }
  // Lost packets come again after several round trips.
  expected += 4 * RoundTrips(workload) * RoundTrip(link) + 10s;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::clamp<Seconds>(expected, 15s, 4000s));
}

}  // namespace wiretoll
