// A receiver for senders that are not ours: ttcp, nc, iperf 2, an old box.
#ifndef WIRETOLL_HARNESS_SINK_SINK_H_
#define WIRETOLL_HARNESS_SINK_SINK_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/sample.h"
#include "platform/socket.h"

namespace wiretoll {

// Everything is bounded: nobody is asked who they are.
struct SinkSpec {
  std::string address = "0.0.0.0";  // Numeric; "::" for IPv6.
  std::uint16_t port = 0;
  bool tcp = true;
  bool udp = true;
  std::string from;             // Take this sender only; empty: whoever comes.
  Bytes read{65536};            // Room handed to one Receive call.
  std::optional<Bytes> rcvbuf;  // Empty leaves it unset.
  int streams = 1;              // Ends after so many.
  std::chrono::milliseconds wait{60'000};     // For the first, and each next.
  std::chrono::milliseconds longest{60'000};  // Of one stream.
  Bytes most{std::int64_t{1} << 30};          // Of one stream.
  // A UDP stream has no end of its own: it is over when nothing has come for
  // so long.
  std::chrono::milliseconds quiet{2'000};
};

// iperf 2 numbers its datagrams: 4 bytes of a signed number from 0 or 1 on,
// then seconds and microseconds of its clock, and below 0 in the last ones.
struct NumberedDatagrams {
  std::int64_t sent = 0;  // As far as the highest number that came says.
  std::int64_t lost = 0;
  std::int64_t duplicated = 0;
  std::int64_t reordered = 0;  // RFC 4737 4.1.
};

struct SunkStream {
  bool udp = false;
  Endpoint sender;
  Endpoint local;
  std::string started;  // RFC 3339, UTC.
  // As of a trial's receiver. Of TCP with the kernel's counters; of UDP
  // `datagrams` has what was counted.
  EndReport end;
  std::string ended;  // Why it was over: "end of stream".
  bool whole = true;  // False: cut short by a bound, or it broke.
  std::optional<NumberedDatagrams> numbered;
  // Connections, or datagrams, of others that came meanwhile; of TCP they were
  // closed.
  std::int64_t strangers = 0;
};

struct SinkHooks {
  std::function<void()> listening;              // Whoever comes now is taken.
  std::function<void(const SunkStream&)> sunk;  // By one thread at a time.
  std::function<bool()> stop;                   // Asked every 100 ms or so.
};

// Takes streams until there were enough, nobody came for spec.wait, or stop();
// gives how many. One TCP and one UDP stream may run at once; a second one of
// a kind waits (TCP) or is a stranger (UDP). kUsage: an address or port that
// cannot be had, with the remedy.
Outcome<int> RunSink(const SinkSpec& spec, const SinkHooks& hooks);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SINK_SINK_H_
