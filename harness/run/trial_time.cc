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

// A pause stands behind each of these: blocks of a stream, or requests.
double UnitBytes(const Workload& workload) {
  if (workload.pattern == Pattern::kStream) {
    return static_cast<double>(
        std::max<std::int64_t>(1, BlockOf(workload).count));
  }
  double bytes = 0;
  for (const Bytes part : workload.request)
    bytes += static_cast<double>(part.count);
  return bytes;
}

// What stop_messages counts are writes of a stream.
double UnitsOfMessages(const Workload& workload) {
  const bool stream = workload.pattern == Pattern::kStream;
  return static_cast<double>(*workload.stop_messages) /
         static_cast<double>(stream ? WritesInBlock(workload) : 1);
}

// How many units the stops in bytes and messages allow.
double MostUnits(const Workload& workload) {
  double most = std::numeric_limits<double>::infinity();
  if (workload.stop_messages) most = UnitsOfMessages(workload);
  if (workload.stop_bytes) {
    most = std::min(most, static_cast<double>(workload.stop_bytes->count) /
                              UnitBytes(workload));
  }
  return most;
}

// One to connect; one for the last byte and the close that answers it; and
// while a stream's window opens, one each time it doubles. Datagrams only have
// to arrive.
double RoundTrips(const Workload& workload) {
  if (workload.transport == Transport::kUdp) return 1;
  if (workload.pattern != Pattern::kStream) return 2;
  const double bytes = MostUnits(workload) * UnitBytes(workload);
  // A stream that only time ends is in mid-air when it does.
  return std::isinf(bytes) ? 3 : 2 + std::log2(1 + bytes / kInitialWindow);
}

// A receiver of datagrams that misses some waits so long for them, once it has
// been told that all were sent (harness/agent).
constexpr Seconds kDatagramDrain = 500ms;

Seconds WaitForLost(const Workload& workload, const RecordedLink& link) {
  const bool udp = workload.transport == Transport::kUdp;
  return udp && link.loss.value_or(0) > 0 ? kDatagramDrain : Seconds{0};
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

Nanoseconds ExpectedTime(const Workload& workload, const RecordedLink& link,
                         int flows) {
  const double rate =
      (link.rate_bits_per_second ? *link.rate_bits_per_second / 8
                                 : kUnshapedBytesPerSecond) /
      flows;
  Seconds unit = Seconds{workload.gap};
  if (workload.pattern == Pattern::kStream) {
    unit += Seconds{UnitBytes(workload) / rate};
  } else {
    unit += RoundTrip(link);
  }
  Seconds writing = MostUnits(workload) * unit;
  if (workload.stop_time)
    writing = std::min(writing, Seconds{*workload.stop_time});
  // A study is refused whose trials would take over an hour.
  const Seconds expected = std::min<Seconds>(
      kAroundATrial + writing + RoundTrips(workload) * RoundTrip(link) +
          WaitForLost(workload, link),
      2h);
  return std::chrono::duration_cast<Nanoseconds>(expected);
}

std::chrono::milliseconds DeadlineFor(const Workload& workload,
                                      const RecordedLink& link, int flows) {
  // Slower than this, a host is no use for the study anyway.
  constexpr double kSlowestBytesPerSecond = 20e3;
  constexpr Seconds kSlowestRound = 500ms;
  Seconds expected{std::numeric_limits<double>::infinity()};
  if (workload.stop_bytes) {
    const auto bytes = static_cast<double>(workload.stop_bytes->count);
    expected = flows * Seconds{bytes / kSlowestBytesPerSecond} +
               bytes / UnitBytes(workload) * Seconds{workload.gap};
  }
  if (workload.stop_messages) {
    const auto messages = static_cast<double>(*workload.stop_messages);
    expected = std::min(expected,
                        flows * messages * (kSlowestRound + RoundTrip(link)) +
                            UnitsOfMessages(workload) * Seconds{workload.gap});
  }
  if (workload.stop_time) {
    expected = std::min(expected, 4 * Seconds{*workload.stop_time} + 10s +
                                      flows * ToDrain(workload));
  }
  // Lost packets come again after several round trips.
  expected += 4 * RoundTrips(workload) * RoundTrip(link) + 10s;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::clamp<Seconds>(expected, 15s, 4000s));
}

}  // namespace wiretoll
