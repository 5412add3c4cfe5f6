#include "harness/theory/predict.h"

#include <algorithm>
#include <cmath>

namespace wiretoll {
namespace {

// What Linux never goes below (SOCK_MIN_RCVBUF; socket(7) has the doubling).
constexpr Bytes kLinuxLeastReceiveBuffer{2304};
// Up to this window Linux fills a segment with all of it (RFC 9293 3.8.6.2.1
// asks for half).
constexpr Bytes kHalvedAbove{536};
// Linux, SOCK_MIN_SNDBUF: two of the smallest segments with their bookkeeping.
constexpr Bytes kLinuxLeastSendBuffer{4608};
// What Linux counts beside a segment's bytes (sk_buff and its shared info).
constexpr std::int64_t kLinuxBytesASegment = 832;
constexpr std::int64_t kLinuxMostQuickAcks = 16;
constexpr Nanoseconds kLinuxLongestTimeout{120'000'000'000};

std::int64_t CeilDivide(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

double Seconds(Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// The worst case's frames: each write's full segments and its rest.
Bytes SplitCost(Bytes write, Bytes mss, const HeaderStack& stack) {
  const std::int64_t full = write.count / mss.count;
  const Bytes rest{write.count % mss.count};
  const Bytes whole{full * CostOfFrame(mss, stack).l1.count};
  return rest.count > 0 ? whole + CostOfFrame(rest, stack).l1 : whole;
}

// What is handed over in one block, no two writes of it in one segment.
struct Apart {
  std::int64_t segments = 0;
  Bytes l1;
};
Apart WritesApart(Bytes block, const StreamShape& shape,
                  const HeaderStack& stack) {
  const auto& [total, write, mss, blocked] = shape;
  const std::int64_t writes = block.count / write.count;
  const Bytes last{block.count % write.count};
  return {writes * CeilDivide(write.count, mss.count) +
              CeilDivide(last.count, mss.count),
          Bytes{writes * SplitCost(write, mss, stack).count} +
              SplitCost(last, mss, stack)};
}

RuleText LimitText(Rule rule) {
  switch (rule) {
    case Rule::kLineLimit:
      return {"line limit",
              "bytes/s",
              "the line carries such frames back to back: rate x payload / "
              "layer 1 bytes",
              "IEEE 802.3 3.2, 4.4.2; RFC 791 3.1; RFC 9293 3.1; RFC 7323 "
              "appendix A",
              "streams short enough for a shaper's burst; any loss",
              "1 %"};
    case Rule::kFrameRate:
      return {"frame rate limit",
              "frames/s",
              "the line carries such frames back to back: rate / layer 1 bits",
              "IEEE 802.3 3.2, 4.4.2",
              "where a host makes fewer frames",
              "5 %"};
    case Rule::kWindowLimit:
      return {"window limit",
              "bytes/s",
              "one window of data a round trip; the window is the largest "
              "seen, the round trip the shortest",
              "RFC 9293 3.8.6; RFC 7323 1.1",
              "where the window went on growing after it was last looked at",
              "5 %"};
    default:
      return {"bandwidth-delay product",
              "bytes",
              "bytes in flight that fill the line: rate x round trip",
              "RFC 7323 1.1",
              "where the round trip grows with the queue",
              "none: not measured by itself"};
  }
}

RuleText SmallWriteText(Rule rule) {
  switch (rule) {
    case Rule::kNagleClassic:
      return {"Nagle, classic",
              "bytes a segment",
              "a partial segment waits while anything is unacknowledged; "
              "bytes a segment = min(MSS, rate of writing x round trip); "
              "writes at an even pace; the ACK leaves at once",
              "RFC 896; RFC 1122 4.2.3.4",
              "delayed ACKs lengthen the round trip; the last, shorter "
              "segment",
              "3 % from a round trip of 10 ms on, 7 % below"};
    case Rule::kNagleMinshall:
      return {"Nagle, Minshall's variant",
              "segments",
              "a partial segment waits only for an earlier partial one; all "
              "written within a round trip: 1 + ceil((n - 1) x write / MSS); "
              "else 1 + time of writing / round trip; the ACK leaves at once",
              "Linux tcp_output.c; RFC 1122 4.2.3.4 is the classic rule",
              "where a round trip's writes fill a segment; round trips below "
              "1 ms, where scheduling decides; delayed ACKs",
              "1 segment, and from a round trip of 10 ms on 3 %, below 7 %"};
    case Rule::kSegmentAWrite:
      return {"a segment a write",
              "segments",
              "no Nagle: each write leaves as it comes, split above the MSS",
              "RFC 9293 3.7.4",
              "a full congestion window, autocorking and small queues merge "
              "writes: fewer segments",
              "none: it is a bound"};
    default:
      return {"initial window, then full segments",
              "segments",
              "no Nagle, all written within a round trip: 10 segments leave "
              "at once, the rest is merged: 10 + ceil((n - 10) x write / MSS)",
              "RFC 6928 2; RFC 9293 3.7.4",
              "where writing lasts longer than a round trip; another initial "
              "window",
              "1 segment"};
  }
}

RuleText HostText(Rule rule) {
  switch (rule) {
    case Rule::kLinuxReceiveBuffer:
      return {"Linux receive buffer",
              "bytes",
              "read back = max(2304, 2 x requested)",
              "Linux socket(7), SO_RCVBUF",
              "above net.core.rmem_max, which clamps the request",
              "none: exact"};
    case Rule::kLinuxHalfWindow:
      return {"Linux half-window segments",
              "segments",
              "segment = min(MSS, half the largest window); the sender always "
              "has more to send; N = ceil(bytes / segment)",
              "Linux tcp.h; RFC 9293 3.8.6.2.1 has the sender's half-window "
              "rule",
              "writes smaller than a segment; windows that grow; buffers "
              "above 16,384 as read back",
              "1 segment, 1 %"};
    default:
      return {"write-write-read stall",
              "rounds",
              "Nagle holds a request's last write until the ACK of its "
              "first, which the server delays (Linux: 40 ms) because it has "
              "no reply yet; the first round is acknowledged at once",
              "RFC 1122 4.2.3.2, 4.2.3.4; Linux's 40 ms",
              "quick ACKs after each read; Nagle off; requests of full "
              "segments",
              "1 round; of the time none: it is a bound"};
  }
}

RuleText AckText(Rule rule) {
  if (rule == Rule::kQuickAck) {
    return {"Linux quick ACKs",
            "ACKs",
            "when a connection begins each segment is acknowledged at once, as "
            "many as half the window holds and at most 16",
            "Linux tcp_input.c; RFC 5681 4.2 allows an ACK a segment",
            "segments that come faster than the receiver wakes; lost ACKs",
            "none: it is a bound"};
  }
  return {"delayed ACK",
          "ns",
          "an ACK that no data takes along leaves after 40 ms and the rest "
          "of a clock tick (Linux), 40 or 200 ms (Windows), 500 ms at most",
          "RFC 9293 3.8.6.3; RFC 1122 4.2.3.2; Linux TCP_DELACK_MIN; Windows "
          "TcpDelAckTicks",
          "a reader that drains the queue, a second full segment, and "
          "replies, which take the ACK along",
          "20 %"};
}

RuleText SillyWindowText(Rule rule) {
  switch (rule) {
    case Rule::kReceiverSillyWindow:
      return {"receiver's silly-window avoidance",
              "bytes",
              "a closed window opens at min(MSS, half the buffer); on Linux "
              "at the larger of the peer's segment and a sixteenth of the "
              "largest window",
              "RFC 9293 3.8.6.2.2; Linux tcp_output.c",
              "where the reader takes more than that at once",
              "1 segment"};
    case Rule::kSenderSillyWindow:
      return {"sender's silly-window avoidance",
              "ns",
              "a window smaller than the next segment is not used before a "
              "timer: on Linux one retransmission timeout, 200 ms at least",
              "RFC 9293 3.8.6.2.1 (0.1 to 1 s); Linux tcp_timer.c",
              "a window update that comes before",
              "5 %"};
    default:
      return {"persist timer",
              "ns",
              "a closed window is probed after one retransmission timeout, "
              "then after twice as long each time",
              "RFC 9293 3.8.6.1; Linux: 120 s at most",
              "a window update that comes before",
              "5 %"};
  }
}

RuleText QueueText(Rule rule) {
  switch (rule) {
    case Rule::kNagleReplayed:
      return {"Nagle, replayed over the capture",
              "segments",
              "Minshall's variant over the writes and ACKs as they were "
              "captured; no congestion window, no queue, no loss",
              "Linux tcp_output.c; RFC 9293 3.7.4",
              "writes and ACKs nearer to each other than their times are "
              "known",
              "1 segment, 2 %"};
    case Rule::kQueueBacklog:
      return {"line's queue",
              "segments",
              "no Nagle, writes faster than the line takes frames: (time x "
              "rate + burst - payload) / overhead of a frame",
              "IEEE 802.3 3.2, 4.4.2; Linux tbf, tcp_autocorking",
              "small queues and a full congestion window merge more: fewer "
              "segments",
              "1 % of what the line carries in that time"};
    default:
      return {"Linux send buffer",
              "bytes/s",
              "no Nagle, a segment a write: ceil(buffer / (write + 832)) "
              "writes a round trip; the buffer is max(4608, 2 x requested)",
              "Linux socket(7), SO_SNDBUF; sk_buff's size",
              "writes that join an unsent segment, which the buffer does not "
              "count; a slower writer; round trips below 1 ms",
              "5 %"};
  }
}

Tolerance NagleTolerance(std::optional<Nanoseconds> rtt) {
  constexpr Nanoseconds kFarRtt{10'000'000};
  return {rtt && *rtt >= kFarRtt ? 0.03 : 0.07, 0};
}

}  // namespace

RuleText DescribeRule(Rule rule) {
  if (rule <= Rule::kBandwidthDelay) return LimitText(rule);
  if (rule <= Rule::kInitialWindow) return SmallWriteText(rule);
  if (rule <= Rule::kWriteWriteRead) return HostText(rule);
  if (rule == Rule::kQuickAck || rule == Rule::kDelayedAck) {
    return AckText(rule);
  }
  if (rule >= Rule::kReceiverSillyWindow && rule <= Rule::kPersistTimer) {
    return SillyWindowText(rule);
  }
  return QueueText(rule);
}

Tolerance ToleranceOf(Rule rule, std::optional<Nanoseconds> rtt) {
  switch (rule) {
    case Rule::kLineLimit:
      return {0.01, 0};
    case Rule::kFrameRate:
    case Rule::kWindowLimit:
    case Rule::kSenderSillyWindow:
    case Rule::kPersistTimer:
    case Rule::kSendBuffer:
      return {0.05, 0};
    case Rule::kNagleClassic:
      return NagleTolerance(rtt);
    case Rule::kNagleMinshall:
      return {NagleTolerance(rtt).share, 1};
    case Rule::kInitialWindow:
    case Rule::kWriteWriteRead:
      return {0, 1};
    case Rule::kLinuxHalfWindow:
      return {0.01, 1};
    case Rule::kNagleReplayed:
      return {0.02, 1};
    case Rule::kDelayedAck:
      return {0.2, 0};
    default:
      return {};
  }
}

StreamBounds BoundsOfStream(const StreamShape& shape,
                            const HeaderStack& stack) {
  const auto& [total, write, mss, blocked] = shape;
  const Bytes block = blocked.value_or(total);
  const std::int64_t blocks = total.count / block.count;
  const Apart whole = WritesApart(block, shape, stack);
  const Apart rest =
      WritesApart(Bytes{total.count % block.count}, shape, stack);
  StreamBounds bounds;
  bounds.best_segments = CeilDivide(total.count, mss.count);
  bounds.best_l1 = SplitCost(total, mss, stack);
  bounds.worst_segments = blocks * whole.segments + rest.segments;
  bounds.worst_l1 = Bytes{blocks * whole.l1.count} + rest.l1;
  if (stack.transport == Transport::kUdp) {
    bounds.best_segments = bounds.worst_segments;
    bounds.best_l1 = bounds.worst_l1;
  }
  const auto share = [sent = total](Bytes l1) {
    return static_cast<double>(sent.count) / static_cast<double>(l1.count);
  };
  bounds.best_efficiency = share(bounds.best_l1);
  bounds.worst_efficiency = share(bounds.worst_l1);
  return bounds;
}

double LineLimit(BitsPerSecond rate, double efficiency) {
  return rate.value / 8 * efficiency;
}

std::optional<double> DatagramLineLimit(BitsPerSecond rate, Bytes payload,
                                        Bytes mtu, const HeaderStack& stack) {
  const auto datagram = CostOfDatagram(payload, mtu, stack);
  if (!datagram) return std::nullopt;
  return LineLimit(rate, Efficiency(datagram->cost));
}

double FrameRateLimit(BitsPerSecond rate, Bytes l1) {
  return rate.value / (8 * static_cast<double>(l1.count));
}

double WindowLimit(Bytes window, Nanoseconds rtt) {
  return static_cast<double>(window.count) / Seconds(rtt);
}

Bytes BandwidthDelayProduct(BitsPerSecond rate, Nanoseconds rtt) {
  return {std::llround(rate.value / 8 * Seconds(rtt))};
}

double NagleClassicSegmentBytes(const SmallWrites& stream) {
  const auto write = static_cast<double>(stream.write.count);
  const auto mss = static_cast<double>(stream.mss.count);
  if (stream.phase.count() <= 0) return std::max(write, mss);
  const double rate =
      write * static_cast<double>(stream.writes) / Seconds(stream.phase);
  return std::clamp(rate * Seconds(stream.rtt), write, std::max(write, mss));
}

std::optional<double> NagleMinshallSegments(const SmallWrites& stream) {
  const std::int64_t later = (stream.writes - 1) * stream.write.count;
  if (stream.phase < stream.rtt) {
    return static_cast<double>(1 + CeilDivide(later, stream.mss.count));
  }
  if (NagleClassicSegmentBytes(stream) >=
      static_cast<double>(stream.mss.count)) {
    return std::nullopt;
  }
  const double rounds = Seconds(stream.phase) / Seconds(stream.rtt);
  return std::min(static_cast<double>(stream.writes), 1 + rounds);
}

std::int64_t SegmentAWrite(const SmallWrites& stream) {
  return stream.writes * CeilDivide(stream.write.count, stream.mss.count);
}

std::optional<std::int64_t> InitialWindowSegments(const SmallWrites& stream,
                                                  std::int64_t initial) {
  if (stream.phase >= stream.rtt) return std::nullopt;
  if (stream.writes <= initial) return SegmentAWrite(stream);
  const std::int64_t later = (stream.writes - initial) * stream.write.count;
  return initial + CeilDivide(later, stream.mss.count);
}

Bytes LinuxReceiveBuffer(Bytes requested) {
  return std::max(kLinuxLeastReceiveBuffer, Bytes{2 * requested.count});
}

Bytes LinuxInitialWindow(Bytes read_back, Bytes mss) {
  const Bytes half{read_back.count / 2};
  if (half <= mss) return half;
  return {half.count / mss.count * mss.count};
}

Bytes LinuxHalfWindowSegment(Bytes largest_window, Bytes mss) {
  if (largest_window <= kHalvedAbove) return std::min(largest_window, mss);
  return std::min(mss, Bytes{largest_window.count / 2});
}

std::int64_t SegmentsOf(Bytes total, Bytes segment) {
  return CeilDivide(total.count, segment.count);
}

AckDelay LinuxAckDelay(Nanoseconds tick) {
  return {kLinuxDelayedAck, kLinuxDelayedAck + 2 * tick};
}

AckDelay WindowsAckDelay() {
  return {Nanoseconds(40'000'000), Nanoseconds(200'000'000)};
}

std::int64_t LinuxQuickAcks(Bytes window, Bytes segment) {
  const std::int64_t held = window.count / (2 * segment.count);
  return held == 0 ? 2 : std::min(held, kLinuxMostQuickAcks);
}

Bytes WindowReopensAt(Bytes buffer, Bytes mss) {
  return std::min(mss, Bytes{buffer.count / 2});
}

Bytes LinuxWindowReopensAt(Bytes largest_window, Bytes segment) {
  return std::max(segment, Bytes{largest_window.count / 16});
}

bool SenderAwaitsWindow(const SendRoom& send) {
  const Bytes useful = std::min(send.ready, send.room);
  if (useful >= send.mss || send.ready <= send.room) return false;
  return 2 * useful.count < send.largest_window.count;
}

Nanoseconds PersistDelay(Nanoseconds timeout, int n) {
  Nanoseconds delay = timeout;
  for (int i = 1; i < n && delay < kLinuxLongestTimeout; ++i) delay *= 2;
  return std::min(delay, kLinuxLongestTimeout);
}

Bytes LinuxSendBuffer(Bytes requested) {
  return std::max(kLinuxLeastSendBuffer, Bytes{2 * requested.count});
}

std::int64_t WritesInSendBuffer(Bytes read_back, Bytes write) {
  return CeilDivide(read_back.count, write.count + kLinuxBytesASegment);
}

double SendBufferLimit(Bytes read_back, Bytes write, Nanoseconds rtt) {
  const std::int64_t bytes = WritesInSendBuffer(read_back, write) * write.count;
  return static_cast<double>(bytes) / Seconds(rtt);
}

double QueueBacklogSegments(const LineRoom& line, Bytes payload,
                            Bytes overhead) {
  const double room = line.rate.value / 8 * Seconds(line.time) +
                      static_cast<double>(line.burst.count - payload.count);
  return std::max(1.0, room / static_cast<double>(overhead.count));
}

bool WriteWriteReadStalls(const Workload& workload, Bytes mss) {
  if (workload.pattern != Pattern::kRequestResponse || !workload.nagle ||
      workload.quickack == Quickack::kEach || workload.request.size() < 2) {
    return false;
  }
  // A full last segment never waits, and nothing waits for full ones.
  const auto partial = [mss](Bytes write) {
    return write.count % mss.count != 0;
  };
  return partial(workload.request.back()) &&
         std::any_of(workload.request.begin(), workload.request.end() - 1,
                     partial);
}

}  // namespace wiretoll
