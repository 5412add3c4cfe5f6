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

RuleText LimitText(Rule rule) {
  switch (rule) {
    case Rule::kLineLimit:
      return {"line limit", "bytes/s",
              "the line carries such frames back to back: rate x payload / "
              "layer 1 bytes",
              "IEEE 802.3 3.2, 4.4.2; RFC 791 3.1; RFC 9293 3.1; RFC 7323 "
              "appendix A",
              "streams short enough for a shaper's burst; any loss"};
    case Rule::kFrameRate:
      return {"frame rate limit", "frames/s",
              "the line carries such frames back to back: rate / layer 1 bits",
              "IEEE 802.3 3.2, 4.4.2", "where a host makes fewer frames"};
    case Rule::kWindowLimit:
      return {"window limit", "bytes/s",
              "one window of data a round trip; the window is the largest "
              "seen, the round trip the shortest",
              "RFC 9293 3.8.6; RFC 7323 1.1",
              "where the window went on growing after it was last looked at"};
    default:
      return {"bandwidth-delay product", "bytes",
              "bytes in flight that fill the line: rate x round trip",
              "RFC 7323 1.1", "where the round trip grows with the queue"};
  }
}

RuleText SmallWriteText(Rule rule) {
  switch (rule) {
    case Rule::kNagleClassic:
      return {"Nagle, classic", "bytes a segment",
              "a partial segment waits while anything is unacknowledged; "
              "bytes a segment = min(MSS, rate of writing x round trip); "
              "writes at an even pace; the ACK leaves at once",
              "RFC 896; RFC 1122 4.2.3.4",
              "delayed ACKs lengthen the round trip; the last, shorter "
              "segment"};
    case Rule::kNagleMinshall:
      return {"Nagle, Minshall's variant", "segments",
              "a partial segment waits only for an earlier partial one; all "
              "written within a round trip: 1 + ceil((n - 1) x write / MSS); "
              "else 1 + time of writing / round trip; the ACK leaves at once",
              "Linux tcp_output.c; RFC 1122 4.2.3.4 is the classic rule",
              "where a round trip's writes fill a segment; round trips below "
              "1 ms, where scheduling decides; delayed ACKs"};
    case Rule::kSegmentAWrite:
      return {"a segment a write", "segments",
              "no Nagle: each write leaves as it comes, split above the MSS",
              "RFC 9293 3.7.4",
              "a full congestion window, autocorking and small queues merge "
              "writes: fewer segments"};
    default:
      return {"initial window, then full segments", "segments",
              "no Nagle, all written within a round trip: 10 segments leave "
              "at once, the rest is merged: 10 + ceil((n - 10) x write / MSS)",
              "RFC 6928 2; RFC 9293 3.7.4",
              "where writing lasts longer than a round trip; another initial "
              "window"};
  }
}

RuleText HostText(Rule rule) {
  switch (rule) {
    case Rule::kLinuxReceiveBuffer:
      return {"Linux receive buffer", "bytes",
              "read back = max(2304, 2 x requested)",
              "Linux socket(7), SO_RCVBUF",
              "above net.core.rmem_max, which clamps the request"};
    case Rule::kLinuxHalfWindow:
      return {"Linux half-window segments", "segments",
              "segment = min(MSS, half the largest window); the sender always "
              "has more to send; N = ceil(bytes / segment)",
              "Linux tcp.h; RFC 9293 3.8.6.2.1 has the sender's half-window "
              "rule",
              "writes smaller than a segment; windows that grow; buffers "
              "above 16,384 as read back"};
    default:
      return {"write-write-read stall", "rounds",
              "Nagle holds a request's last write until the ACK of its "
              "first, which the server delays (Linux: 40 ms) because it has "
              "no reply yet; the first round is acknowledged at once",
              "RFC 1122 4.2.3.2, 4.2.3.4; Linux's 40 ms",
              "quick ACKs after each read; Nagle off; requests of full "
              "segments"};
  }
}

}  // namespace

RuleText DescribeRule(Rule rule) {
  if (rule <= Rule::kBandwidthDelay) return LimitText(rule);
  if (rule <= Rule::kInitialWindow) return SmallWriteText(rule);
  return HostText(rule);
}

StreamBounds BoundsOfStream(const StreamShape& shape,
                            const HeaderStack& stack) {
  const auto [total, write, mss] = shape;
  const std::int64_t writes = total.count / write.count;
  const Bytes last{total.count % write.count};
  StreamBounds bounds;
  bounds.best_segments = CeilDivide(total.count, mss.count);
  bounds.worst_segments = writes * CeilDivide(write.count, mss.count) +
                          CeilDivide(last.count, mss.count);
  bounds.worst_l1 = Bytes{writes * SplitCost(write, mss, stack).count} +
                    SplitCost(last, mss, stack);
  bounds.best_l1 = SplitCost(total, mss, stack);
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
