#include "harness/analysis/case_theory.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <variant>

#include "harness/analysis/metrics.h"
#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

// Linux's since 2.6.39; RFC 6928.
constexpr std::int64_t kInitialWindow = 10;
// Up to here the number of half-window segments is exact (measured, Linux
// 6.18); larger windows grow while they are used.
constexpr Bytes kFixedWindowUpTo{16'384};
// IPv6 and TCP without options; IPv4 with all that Linux negotiates is less.
constexpr double kSmallestIpv6Headers = 60;
constexpr double kSmallestIpv6UdpHeaders = 48;

void Prefer(const std::optional<std::int64_t>& own, Negotiated::Count& known) {
  if (own) known = Number(own);
}

Bytes Whole(double value) { return {std::llround(value)}; }

// Wine runs Win32 programs over the Linux kernel's TCP.
bool RunsLinuxTcp(const std::string& os) {
  return os == "linux" || os == "wine";
}

HeaderStack StackOf(const CellFacts& facts) {
  const Negotiated& seen = facts.negotiated;
  const bool udp = facts.workload->transport == Transport::kUdp;
  const bool six = *seen.header_bytes >=
                   (udp ? kSmallestIpv6UdpHeaders : kSmallestIpv6Headers);
  const Bytes plain = six ? kIpv6Header + kTcpHeader : kIpv4Header + kTcpHeader;
  HeaderStack stack;
  stack.ip_version = six ? 6 : 4;
  stack.transport = facts.workload->transport;
  stack.timestamps = seen.timestamps ? *seen.timestamps > 0
                                     : Whole(*seen.header_bytes) > plain;
  return stack;
}

// What a full segment could hold. Linux counts the halving of a small window
// into the MSS it tells, so there the path's MTU decides.
Bytes FullSegment(const CellFacts& facts) {
  const Negotiated& seen = facts.negotiated;
  const bool halved = seen.window && 2 * *seen.mss >= *seen.window;
  if (!halved || !seen.path_mtu || facts.workload->mss) return Whole(*seen.mss);
  return Whole(std::max(*seen.mss, *seen.path_mtu - *seen.header_bytes));
}

// What one write hands over, all but the last of a block.
Bytes WriteOf(const Workload& load) {
  return load.block ? std::min(load.write, *load.block) : load.write;
}

// Sums of several streams' bounds.
void Add(const StreamBounds& more, StreamBounds& sum) {
  sum.best_segments += more.best_segments;
  sum.worst_segments += more.worst_segments;
  sum.best_l1 = sum.best_l1 + more.best_l1;
  sum.worst_l1 = sum.worst_l1 + more.worst_l1;
}

// A round's request at best leaves in full segments, at worst write by write;
// rounds share no segment.
StreamBounds BoundsOfRounds(const CellFacts& facts, Bytes mss,
                            const HeaderStack& stack) {
  Bytes request{0};
  for (const Bytes write : facts.workload->request) request = request + write;
  const std::int64_t rounds =
      std::max<std::int64_t>(1, std::llround(*facts.negotiated.bytes) /
                                    std::max<std::int64_t>(1, request.count));
  StreamBounds bounds;
  const StreamBounds best =
      BoundsOfStream({Bytes{rounds * request.count}, request, mss}, stack);
  for (const Bytes write : facts.workload->request) {
    if (write.count < 1) continue;
    Add(BoundsOfStream({Bytes{rounds * write.count}, write, mss}, stack),
        bounds);
  }
  bounds.best_segments = best.worst_segments;
  bounds.best_l1 = best.worst_l1;
  const double total = static_cast<double>(rounds * request.count);
  bounds.best_efficiency = total / static_cast<double>(bounds.best_l1.count);
  bounds.worst_efficiency = total / static_cast<double>(bounds.worst_l1.count);
  return bounds;
}

class Predictions {
 public:
  Predictions(CaseTheory& theory, std::optional<Nanoseconds> rtt)
      : theory_(theory), rtt_(rtt) {}
  CaseTheory::Prediction& Add(Rule rule, Metric metric, double value,
                              PredictionKind kind) {
    const RuleText text = DescribeRule(rule);
    return theory_.predictions.emplace_back(CaseTheory::Prediction{
        text.name, metric, value, text.assumptions, text.source, kind,
        text.limits, rule, ToleranceOf(rule, rtt_)});
  }

 private:
  CaseTheory& theory_;
  std::optional<Nanoseconds> rtt_;
};

void AddLimits(const CellFacts& facts, const CaseTheory& theory,
               Predictions& predictions) {
  if (theory.best_throughput) {
    predictions.Add(Rule::kLineLimit, Metric::kThroughput,
                    *theory.best_throughput, PredictionKind::kAtMost);
  }
  const Negotiated& seen = facts.negotiated;
  if (seen.window && seen.min_rtt_ns && *seen.window > 0 &&
      *seen.min_rtt_ns > 0) {
    predictions.Add(Rule::kWindowLimit, Metric::kThroughput,
                    WindowLimit(Whole(*seen.window),
                                Nanoseconds(std::llround(*seen.min_rtt_ns))),
                    PredictionKind::kAtMost);
  }
}

// Linux halves its segments to a small window, its receivers' or others'.
Bytes SegmentToWindow(const CellFacts& facts) {
  const Bytes full = FullSegment(facts);
  const Negotiated& seen = facts.negotiated;
  if (!seen.window || *seen.window < 1 || !RunsLinuxTcp(facts.sender_os)) {
    return full;
  }
  return LinuxHalfWindowSegment(Whole(*seen.window), full);
}

std::optional<SmallWrites> SmallWritesOf(const CellFacts& facts) {
  const Negotiated& seen = facts.negotiated;
  if (!seen.rtt_ns || *seen.rtt_ns <= 0 || !seen.sending_ns || !seen.writes ||
      *seen.writes < 1) {
    return std::nullopt;
  }
  const Workload& load = *facts.workload;
  // The rules are of writes that are all the same.
  if (load.block && load.block->count % WriteOf(load).count != 0) {
    return std::nullopt;
  }
  return SmallWrites{std::llround(*seen.writes), WriteOf(load),
                     SegmentToWindow(facts),
                     Nanoseconds(std::llround(*seen.sending_ns)),
                     Nanoseconds(std::llround(*seen.rtt_ns))};
}

// Below that a host's scheduling decides when an ACK is seen (measured, Linux
// 6.18), unless all is written within the round trip.
constexpr Nanoseconds kLeastNetworkRtt{1'000'000};

// The same writes with the shortest round trip, where that is known.
std::optional<SmallWrites> AtShortestRtt(const SmallWrites& stream,
                                         const Negotiated& seen) {
  if (!seen.min_rtt_ns || *seen.min_rtt_ns < 1) return std::nullopt;
  SmallWrites shortest = stream;
  shortest.rtt =
      std::min(stream.rtt, Nanoseconds(std::llround(*seen.min_rtt_ns)));
  return shortest;
}

// Bytes a segment; of a stream that ends with a shorter one.
double ClassicSegmentBytes(const SmallWrites& stream) {
  const auto total = static_cast<double>(stream.writes * stream.write.count);
  if (stream.phase < stream.rtt) return total / *NagleMinshallSegments(stream);
  // The first write finds nothing in flight and leaves alone.
  const double later = total - static_cast<double>(stream.write.count);
  return total / (1 + std::ceil(later / NagleClassicSegmentBytes(stream)));
}

void AddNagle(const SmallWrites& stream, const CellFacts& facts,
              Predictions& predictions) {
  const auto shortest = AtShortestRtt(stream, facts.negotiated);
  CaseTheory::Prediction& classic =
      predictions.Add(Rule::kNagleClassic, Metric::kBytesPerSegment,
                      ClassicSegmentBytes(stream), PredictionKind::kValue);
  if (shortest) classic.at_shortest_rtt = ClassicSegmentBytes(*shortest);
  if (!RunsLinuxTcp(facts.sender_os)) return;
  if (facts.negotiated.replayed) {
    predictions.Add(Rule::kNagleReplayed, Metric::kDataSegments,
                    *facts.negotiated.replayed, PredictionKind::kValue);
  }
  if (stream.rtt < kLeastNetworkRtt && stream.phase >= stream.rtt) return;
  if (const auto segments = NagleMinshallSegments(stream)) {
    CaseTheory::Prediction& minshall =
        predictions.Add(Rule::kNagleMinshall, Metric::kDataSegments, *segments,
                        PredictionKind::kValue);
    if (shortest) minshall.at_shortest_rtt = NagleMinshallSegments(*shortest);
  }
}

// The writer is faster than the line takes a frame a write.
bool OutrunsTheLine(const SmallWrites& stream, BitsPerSecond rate,
                    Bytes overhead) {
  const double frames = static_cast<double>(stream.writes) /
                        std::chrono::duration<double>(stream.phase).count();
  return frames > FrameRateLimit(rate, stream.write + overhead);
}

// A shaper is right to 0.1 %; the receiver's clock starts with its first read.
constexpr double kLineTolerance = 0.01;

// The most that the line could carry while there was something on it. Segments
// that are padded to a minimum frame make it fewer.
void AddLineQueue(const CellFacts& facts, const SmallWrites& stream,
                  Predictions& predictions) {
  const Negotiated& seen = facts.negotiated;
  if (!facts.rate_bits_per_second || !seen.receiving_ns || !seen.timed_bytes) {
    return;
  }
  const Bytes overhead =
      CostOfFrame(FullSegment(facts), StackOf(facts)).l1 - FullSegment(facts);
  const BitsPerSecond rate{*facts.rate_bits_per_second};
  if (stream.phase.count() < 1 || !OutrunsTheLine(stream, rate, overhead)) {
    return;
  }
  const Nanoseconds time =
      std::max(stream.phase, Nanoseconds(std::llround(*seen.receiving_ns)));
  // What the first read took had come before its clock began.
  const std::int64_t before =
      SegmentsOf(Whole(*seen.bytes - *seen.timed_bytes), stream.write);
  const double segments =
      static_cast<double>(before) +
      QueueBacklogSegments({rate, facts.burst, time}, Whole(*seen.timed_bytes),
                           overhead);
  if (segments >= static_cast<double>(SegmentAWrite(stream))) return;
  // A little of the line's time is many segments, where most of it is payload.
  const double on_line =
      rate.value / 8 * std::chrono::duration<double>(time).count();
  predictions
      .Add(Rule::kQueueBacklog, Metric::kDataSegments, segments,
           PredictionKind::kAtMost)
      .tolerance.absolute =
      kLineTolerance * on_line / static_cast<double>(overhead.count);
}

// A send buffer of its own size, filled by writes that are segments each.
void AddSendBuffer(const CellFacts& facts, const SmallWrites& stream,
                   Predictions& predictions) {
  const Negotiated& seen = facts.negotiated;
  constexpr Bytes kSmallWrite{536};
  if (!facts.workload->sndbuf || !seen.sndbuf || stream.write > kSmallWrite ||
      stream.rtt < kLeastNetworkRtt) {
    return;
  }
  const Bytes buffer = Whole(*seen.sndbuf);
  // More in flight than an initial congestion window may wait for that.
  if (WritesInSendBuffer(buffer, stream.write) > kInitialWindow) return;
  predictions.Add(Rule::kSendBuffer, Metric::kThroughput,
                  SendBufferLimit(buffer, stream.write, stream.rtt),
                  PredictionKind::kValue);
}

void AddWithoutNagle(const SmallWrites& stream, const CellFacts& facts,
                     Predictions& predictions) {
  predictions.Add(Rule::kSegmentAWrite, Metric::kDataSegments,
                  static_cast<double>(SegmentAWrite(stream)),
                  PredictionKind::kAtMost);
  AddLineQueue(facts, stream, predictions);
  if (!RunsLinuxTcp(facts.sender_os)) return;
  AddSendBuffer(facts, stream, predictions);
  if (const auto segments = InitialWindowSegments(stream, kInitialWindow)) {
    CaseTheory::Prediction& initial =
        predictions.Add(Rule::kInitialWindow, Metric::kDataSegments,
                        static_cast<double>(*segments), PredictionKind::kValue);
    const auto shortest = AtShortestRtt(stream, facts.negotiated);
    if (!shortest) return;
    // An ACK within the writing opens the window for more.
    initial.at_shortest_rtt =
        static_cast<double>(InitialWindowSegments(*shortest, kInitialWindow)
                                .value_or(SegmentAWrite(stream)));
  }
}

void AddSmallWrites(const CellFacts& facts, Predictions& predictions) {
  const Workload& load = *facts.workload;
  const auto stream = SmallWritesOf(facts);
  if (!stream || stream->write >= FullSegment(facts) || load.cork) return;
  if (load.nagle) {
    // Two segments a write and more: no rule says how they meet.
    if (stream->write < stream->mss) AddNagle(*stream, facts, predictions);
    return;
  }
  AddWithoutNagle(*stream, facts, predictions);
}

// A bound that a receiver on Linux keeps to, whatever is sent to it.
void AddQuickAcks(const CellFacts& facts, const CaseTheory& theory,
                  Predictions& predictions) {
  const Negotiated& seen = facts.negotiated;
  if (!RunsLinuxTcp(facts.receiver_os) || !seen.window ||
      facts.workload->quickack == Quickack::kOff) {
    return;
  }
  const std::int64_t acks =
      LinuxQuickAcks(Whole(*seen.window), FullSegment(facts));
  predictions.Add(Rule::kQuickAck, Metric::kAckSegments,
                  std::min(static_cast<double>(acks), theory.best_segments),
                  PredictionKind::kAtLeast);
}

void AddHalfWindow(const CellFacts& facts, Predictions& predictions) {
  const Workload& load = *facts.workload;
  const Bytes mss = FullSegment(facts);
  if (!load.rcvbuf || WriteOf(load) < mss || !RunsLinuxTcp(facts.sender_os) ||
      !RunsLinuxTcp(facts.receiver_os)) {
    return;
  }
  const Bytes buffer = LinuxReceiveBuffer(*load.rcvbuf);
  if (buffer > kFixedWindowUpTo) return;
  const Bytes segment =
      LinuxHalfWindowSegment(LinuxInitialWindow(buffer, mss), mss);
  predictions.Add(
      Rule::kLinuxHalfWindow, Metric::kDataSegments,
      static_cast<double>(SegmentsOf(Whole(*facts.negotiated.bytes), segment)),
      PredictionKind::kValue);
}

// What a window too small had the sender wait for, where a capture saw it wait.
void AddWindowWaits(const CellFacts& facts, Predictions& predictions) {
  const Negotiated& seen = facts.negotiated;
  if (seen.window_reopened && seen.window && RunsLinuxTcp(facts.receiver_os)) {
    predictions.Add(
        Rule::kReceiverSillyWindow, Metric::kWindowReopened,
        static_cast<double>(
            LinuxWindowReopensAt(Whole(*seen.window), SegmentToWindow(facts))
                .count),
        PredictionKind::kAtLeast);
  }
  if (!RunsLinuxTcp(facts.sender_os)) return;
  const auto timer = static_cast<double>(kLinuxLeastTimeout.count());
  if (seen.silly_wait_ns) {
    predictions.Add(Rule::kSenderSillyWindow, Metric::kSillyWait, timer,
                    PredictionKind::kAtLeast);
  }
  if (seen.persist_wait_ns) {
    predictions.Add(Rule::kPersistTimer, Metric::kPersistWait, timer,
                    PredictionKind::kAtLeast);
  }
}

void AddAckDelay(const CellFacts& facts, Predictions& predictions) {
  if (facts.receiver_os == "windows") {
    predictions.Add(Rule::kDelayedAck, Metric::kLatencyP50,
                    static_cast<double>(WindowsAckDelay().least.count()),
                    PredictionKind::kAtLeast);
  }
  if (!RunsLinuxTcp(facts.receiver_os)) return;
  predictions.Add(Rule::kWriteWriteRead, Metric::kLatencyP50,
                  static_cast<double>(kLinuxDelayedAck.count()),
                  PredictionKind::kAtLeast);
  if (!facts.receiver_tick) return;
  const AckDelay delay = LinuxAckDelay(*facts.receiver_tick);
  predictions.Add(Rule::kDelayedAck, Metric::kLatencyP50,
                  static_cast<double>((delay.least + delay.most).count()) / 2,
                  PredictionKind::kValue);
}

void AddRounds(const CellFacts& facts, Predictions& predictions) {
  const Workload& load = *facts.workload;
  const Negotiated& seen = facts.negotiated;
  if (!WriteWriteReadStalls(load, FullSegment(facts)) || !seen.writes) return;
  const double rounds =
      std::floor(*seen.writes / static_cast<double>(load.request.size()));
  if (rounds < 1) return;
  if (RunsLinuxTcp(facts.sender_os) && RunsLinuxTcp(facts.receiver_os)) {
    predictions.Add(Rule::kWriteWriteRead, Metric::kStalls, rounds - 1,
                    PredictionKind::kValue);
  }
  // The median of fewer may be the first, which does not stall.
  constexpr double kRoundsForMedian = 3;
  if (rounds >= kRoundsForMedian) AddAckDelay(facts, predictions);
}

void AddPredictions(const CellFacts& facts, CaseTheory& theory) {
  std::optional<Nanoseconds> rtt;
  if (facts.negotiated.rtt_ns) {
    rtt = Nanoseconds(std::llround(*facts.negotiated.rtt_ns));
  }
  Predictions predictions(theory, rtt);
  if (facts.workload->transport != Transport::kTcp) return;
  if (facts.workload->pattern == Pattern::kRequestResponse) {
    AddRounds(facts, predictions);
    return;
  }
  AddLimits(facts, theory, predictions);
  // Counts are sums over streams, the rules are of one.
  if (facts.workload->streams != 1) return;
  AddSmallWrites(facts, predictions);
  AddHalfWindow(facts, predictions);
  AddWindowWaits(facts, predictions);
  AddQuickAcks(facts, theory, predictions);
}

}  // namespace

Negotiated NegotiatedIn(const Sample& sample) {
  Negotiated seen;
  if (sample.wire) seen.header_bytes = Number(sample.wire->header_bytes);
  if (sample.receiver) {
    seen.bytes = Number(sample.receiver->bytes);
    seen.receiving_ns = Number(sample.receiver->elapsed_ns);
    seen.timed_bytes = static_cast<double>(
        sample.receiver->bytes - sample.receiver->first_read_bytes.value_or(0));
  }
  if (sample.receiver) {
    // Both ends have the same options; a full segment is as large both ways,
    // unless a study sets one end's. The sender's own word, below, goes first.
    const TcpCounters& peer = sample.receiver->counters;
    seen.mss = Number(peer.mss_bytes);
    seen.path_mtu = Number(peer.path_mtu_bytes);
    seen.timestamps = Number(peer.timestamps);
  }
  if (sample.capture) {
    seen.window_reopened = Number(sample.capture->window_reopened_bytes);
    seen.silly_wait_ns = Number(sample.capture->silly_wait_ns);
    seen.persist_wait_ns = Number(sample.capture->persist_wait_ns);
  }
  if (!sample.sender) return seen;
  const TcpCounters& counters = sample.sender->counters;
  Prefer(counters.mss_bytes, seen.mss);
  Prefer(counters.path_mtu_bytes, seen.path_mtu);
  Prefer(counters.timestamps, seen.timestamps);
  seen.rtt_ns = Number(counters.rtt_ns);
  seen.min_rtt_ns = Number(counters.min_rtt_ns);
  seen.window = Number(counters.peer_window_peak_bytes);
  seen.sending_ns = Number(sample.sender->elapsed_ns);
  seen.writes = Number(sample.sender->calls);
  const auto sndbuf = sample.sender->options.find("sndbuf");
  if (sndbuf != sample.sender->options.end()) {
    const auto* bytes = std::get_if<std::int64_t>(&sndbuf->second.effective);
    if (bytes != nullptr) seen.sndbuf = Number(*bytes);
  }
  return seen;
}

Observed<CaseTheory> TheoryOf(const CellFacts& facts) {
  using Theory = Observed<CaseTheory>;
  const Negotiated& seen = facts.negotiated;
  if (facts.workload == nullptr) {
    return Theory::Not("the study recorded in the run has no such case");
  }
  if (facts.workload->transport == Transport::kUdp) {
    return Theory::Not("datagrams are no segments of a stream");
  }
  if (!seen.mss || *seen.mss < 1) {
    return Theory::Not("the size of a full segment was not observed");
  }
  if (!seen.header_bytes) {
    return Theory::Not("the size of a segment's headers was not observed");
  }
  if (!seen.bytes || *seen.bytes < 1) return Theory::Not("no byte arrived");
  const HeaderStack stack = StackOf(facts);
  const Bytes mss = FullSegment(facts);
  const bool rounds = facts.workload->pattern == Pattern::kRequestResponse;
  const StreamBounds bounds =
      rounds ? BoundsOfRounds(facts, mss, stack)
             : BoundsOfStream({Whole(*seen.bytes), facts.workload->write, mss,
                               facts.workload->block},
                              stack);
  CaseTheory theory;
  theory.mss = mss.count;
  theory.header_bytes = Whole(*seen.header_bytes).count;
  theory.best_segments = static_cast<double>(bounds.best_segments);
  theory.worst_segments = static_cast<double>(bounds.worst_segments);
  theory.best_efficiency = bounds.best_efficiency;
  theory.worst_efficiency = bounds.worst_efficiency;
  if (facts.rate_bits_per_second) {
    const BitsPerSecond rate{*facts.rate_bits_per_second};
    theory.best_throughput = LineLimit(rate, theory.best_efficiency);
    theory.worst_throughput = LineLimit(rate, theory.worst_efficiency);
  }
  AddPredictions(facts, theory);
  return Theory::Of(std::move(theory));
}

}  // namespace wiretoll
