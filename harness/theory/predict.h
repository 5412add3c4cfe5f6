// What rules say a stream will do: bounds, limits, and the behaviour that
// RFCs and Linux's variants of them lead to. Plain arithmetic; which rule
// applies to which trial is analysis's business.
#ifndef WIRETOLL_HARNESS_THEORY_PREDICT_H_
#define WIRETOLL_HARNESS_THEORY_PREDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/units.h"
#include "harness/study/study.h"
#include "harness/theory/overhead.h"

namespace wiretoll {

// Whether a measurement should meet the value, or stay on one side of it.
enum class PredictionKind { kValue, kAtMost, kAtLeast };

enum class Rule {
  kLineLimit,            // bytes/s of payload
  kFrameRate,            // frames/s
  kWindowLimit,          // bytes/s
  kBandwidthDelay,       // bytes
  kNagleClassic,         // bytes a segment
  kNagleMinshall,        // segments
  kSegmentAWrite,        // segments
  kInitialWindow,        // segments
  kLinuxReceiveBuffer,   // bytes read back
  kLinuxHalfWindow,      // segments
  kWriteWriteRead,       // stalled rounds
  kNagleReplayed,        // segments
  kQueueBacklog,         // segments
  kQuickAck,             // ACKs at once
  kDelayedAck,           // ns
  kReceiverSillyWindow,  // bytes of window
  kSenderSillyWindow,    // ns
  kPersistTimer,         // ns
  kSendBuffer,           // bytes/s
  kLast = kSendBuffer,
};

// What stands beside every figure that a rule gives.
struct RuleText {
  std::string name;
  std::string unit;
  std::string assumptions;
  std::string source;     // RFC and section, or the system whose rule it is.
  std::string limits;     // Where it stops to hold.
  std::string tolerance;  // How near a measurement meets it.
};
RuleText DescribeRule(Rule rule);

// How far from the value a measurement may be and still meet it, or beyond a
// bound: the larger of both. What RuleText::tolerance says in words.
struct Tolerance {
  double share = 0;     // Of the value.
  double absolute = 0;  // In the rule's unit.
};
// Nagle's by the round trip: the shorter, the more the hosts' scheduling is in
// it. Empty: not known, as for the shortest.
Tolerance ToleranceOf(Rule rule, std::optional<Nanoseconds> rtt);

// --- Bounds of a stream ---------------------------------------------------

// A stream of `total` bytes handed over in writes of `write` bytes (the last
// may be shorter), in segments of at most `mss` payload bytes. Where there are
// blocks, each begins a write of its own and its last one is as short as need
// be. All must be at least 1.
struct StreamShape {
  Bytes total;
  Bytes write;
  Bytes mss;
  std::optional<Bytes> block{};
};

// Best: full segments and one rest. Worst: no two writes share a segment, and
// a write above the MSS is split. UDP has one datagram a write, so both are
// the same there; `mss` is the largest unfragmented payload, and a write above
// it is none of this function's (CostOfDatagram).
struct StreamBounds {
  std::int64_t best_segments = 0;
  std::int64_t worst_segments = 0;
  Bytes best_l1;  // On the line, data direction only, without loss.
  Bytes worst_l1;
  double best_efficiency = 0;  // total / layer 1 bytes.
  double worst_efficiency = 0;
};
StreamBounds BoundsOfStream(const StreamShape& shape, const HeaderStack& stack);

// --- Limits ---------------------------------------------------------------

// Payload bytes/s when the line carries such frames back to back.
double LineLimit(BitsPerSecond rate, double efficiency);
// Payload bytes/s of datagrams back to back, each with the fragments that it
// takes: it falls where one byte more needs one fragment more (RFC 791 3.2).
// Empty for what no datagram holds. Requires an MTU with room for 8 bytes.
std::optional<double> DatagramLineLimit(BitsPerSecond rate, Bytes payload,
                                        Bytes mtu, const HeaderStack& stack);
// Frames/s back to back.
double FrameRateLimit(BitsPerSecond rate, Bytes l1);
// Payload bytes/s with one window a round trip. Requires rtt > 0.
double WindowLimit(Bytes window, Nanoseconds rtt);
// Bytes in flight that fill the line; rounded to the nearest.
Bytes BandwidthDelayProduct(BitsPerSecond rate, Nanoseconds rtt);

// --- Small writes ---------------------------------------------------------

// `writes` writes of `write` bytes each, begun over `phase`, answered after
// `rtt`. Requires writes >= 1, rtt > 0, phase >= 0.
struct SmallWrites {
  std::int64_t writes = 0;
  Bytes write;
  Bytes mss;
  Nanoseconds phase{0};
  Nanoseconds rtt{0};
};

// RFC 1122 4.2.3.4: while anything is unacknowledged a partial segment waits,
// so what is written in one round trip leaves as one segment. Bytes a segment:
// min(MSS, rate of writing x RTT), and at least one write.
double NagleClassicSegmentBytes(const SmallWrites& stream);

// Linux: a partial segment waits only for an earlier partial one. Empty where
// there is no closed form: a round trip's writes fill a segment or more, but
// the writes go on for longer than a round trip.
std::optional<double> NagleMinshallSegments(const SmallWrites& stream);

// Nagle off: a segment a write, split above the MSS.
std::int64_t SegmentAWrite(const SmallWrites& stream);

// Nagle off, all written within a round trip: `initial` segments leave as they
// come (RFC 6928), what is written while they are out leaves in full segments.
// Empty where the writing lasts a round trip or longer.
std::optional<std::int64_t> InitialWindowSegments(const SmallWrites& stream,
                                                  std::int64_t initial);

// --- Linux's receive buffer -------------------------------------------------

// What getsockopt reads back of a requested SO_RCVBUF: twice the value, for
// the bookkeeping, and never below 2304. Before net.core.rmem_max clamps.
Bytes LinuxReceiveBuffer(Bytes requested);
// The window a SYN-ACK announces: half the buffer, whole segments where it
// holds any.
Bytes LinuxInitialWindow(Bytes read_back, Bytes mss);
// What a Linux sender fills a segment with when the largest window it has seen
// is small: half of it, so that two are under way.
Bytes LinuxHalfWindowSegment(Bytes largest_window, Bytes mss);
// Segments of a stream whose sender always has more to send.
std::int64_t SegmentsOf(Bytes total, Bytes segment);

// --- Acknowledgements -------------------------------------------------------

// How long an ACK without data of its own is held back.
struct AckDelay {
  Nanoseconds least{0};
  Nanoseconds most{0};
};
// Linux: 40 ms (TCP_DELACK_MIN) by a clock of ticks, so up to two more: the
// clock is behind when the timer is set, and the timer goes off with a tick.
// The time adapts to how the data comes, to 200 ms at most.
AckDelay LinuxAckDelay(Nanoseconds tick);
// Windows: 40 ms by default today, 200 ms before and where it is so set.
AckDelay WindowsAckDelay();
// RFC 1122 4.2.3.2, RFC 9293 3.8.6.3: less than 0.5 s.
inline constexpr Nanoseconds kLongestAckDelay{500'000'000};

// Segments that Linux acknowledges at once when a connection begins: what half
// the window holds of the peer's segments, between 2 (1 where that is 1) and
// 16. `segment` is the kernel's estimate of the peer's, 536 at the least.
// Requires segment >= 1.
std::int64_t LinuxQuickAcks(Bytes window, Bytes segment);

// --- Silly windows ----------------------------------------------------------

// Room at which a receiver whose window was closed opens it again: RFC 9293
// 3.8.6.2.2, min(MSS, half the buffer).
Bytes WindowReopensAt(Bytes buffer, Bytes mss);
// Linux: the peer's segment, or a sixteenth of the largest window.
Bytes LinuxWindowReopensAt(Bytes largest_window, Bytes segment);

// True where a sender with `ready` bytes to send, nothing of them pushed out by
// a timer, waits for a larger window: less than a full segment fits, not all
// that is ready fits, and less than half the largest window is free (RFC 9293
// 3.8.6.2.1). `room` is what the window leaves beyond what is in flight.
struct SendRoom {
  Bytes ready, room, mss, largest_window;
};
bool SenderAwaitsWindow(const SendRoom& send);
// What ends such a wait: RFC 9293 3.8.6.2.1 has 0.1 to 1 s; Linux one
// retransmission timeout, 200 ms at the least.
inline constexpr Nanoseconds kLinuxLeastTimeout{200'000'000};

// The wait before the n-th probe of a closed window, n from 1: the timeout,
// then twice as long each time (RFC 9293 3.8.6.1), 120 s at most on Linux.
// Requires n >= 1, timeout > 0.
Nanoseconds PersistDelay(Nanoseconds timeout, int n);

// --- Linux's send buffer ----------------------------------------------------

// Read back of a requested SO_SNDBUF, before net.core.wmem_max clamps.
Bytes LinuxSendBuffer(Bytes requested);
// Writes of `write` bytes, a segment each, that it takes: it counts 832 bytes
// beside each segment's own, and takes a write while it is not full.
std::int64_t WritesInSendBuffer(Bytes read_back, Bytes write);
// Payload bytes/s with that many a round trip. Requires rtt > 0.
double SendBufferLimit(Bytes read_back, Bytes write, Nanoseconds rtt);

// --- The line's queue -------------------------------------------------------

// What a shaped line lets through: its rate over a time, and a burst.
struct LineRoom {
  BitsPerSecond rate;
  Bytes burst;  // Sent ahead of the rate; 0: no shaper, or not known.
  Nanoseconds time{0};
};
// Segments that are on the line when `payload` bytes fill it in that time, each
// with `overhead` layer 1 bytes beside its payload: (time x rate / 8 + burst -
// payload) / overhead. Writes that come faster than these segments are merged
// while they wait. At least 1.
double QueueBacklogSegments(const LineRoom& line, Bytes payload,
                            Bytes overhead);

// --- Write-write-read -------------------------------------------------------

// Linux's shortest delayed ACK; RFC 1122 4.2.3.2 allows up to 500 ms.
inline constexpr Nanoseconds kLinuxDelayedAck{40'000'000};

// True if the last write of a request has to wait for the ACK of an earlier
// partial segment that the server delays, because it has no reply yet.
bool WriteWriteReadStalls(const Workload& workload, Bytes mss);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_PREDICT_H_
