#include "harness/analysis/metrics.h"

#include <algorithm>

namespace wiretoll {
namespace {

using Figure = std::optional<double>;

constexpr std::array<std::string_view, kMetricCount> kUnits = {
    "bytes/s", "bytes/s",  "share",    "share",       "bytes",   "writes",
    "bytes",   "segments", "segments", "segments",    "ns/byte", "ns/byte",
    "calls/s", "ns",       "ns",       "rounds",      "ns",      "bytes",
    "bytes",   "bytes",    "share",    "share",       "share",   "share",
    "ns",      "ns",       "ns",       "datagrams/s", "bytes/s", "share",
    "bytes",   "ns",       "ns",       "ns",          "ns",      "ns",
    "ns",      "ns",       "share",    "share",       "share",   "share",
    "bytes"};

static_assert(kMetricNames.size() == kMetricCount);

Figure Divide(const Figure& value, const Figure& by) {
  if (!value || !by || *by <= 0) return std::nullopt;
  return *value / *by;
}

// Per second, of a time in nanoseconds.
Figure PerSecond(const Figure& value, const std::optional<std::int64_t>& ns) {
  const Figure rate = Divide(value, Number(ns));
  if (!rate) return std::nullopt;
  return *rate * 1e9;
}

Figure RawThroughput(const EndReport& receiver) {
  const std::int64_t timed =
      receiver.bytes - receiver.first_read_bytes.value_or(0);
  if (timed <= 0) return std::nullopt;
  return PerSecond(static_cast<double>(timed), receiver.elapsed_ns);
}

// No line carries more than its rate (a shaper's burst and the clock allow for
// a little). Faster means that a short stream was read out of buffers.
bool BeyondTheLine(const Figure& throughput, const TrialContext& context) {
  constexpr double kSlack = 1.05;
  return throughput && context.rate_bits_per_second &&
         8 * *throughput > kSlack * *context.rate_bits_per_second;
}

Figure RawSteadyThroughput(const EndReport& receiver) {
  return PerSecond(Number(receiver.steady_bytes), receiver.steady_elapsed_ns);
}

Figure Throughput(const EndReport& receiver, const TrialContext& context) {
  const Figure raw = RawThroughput(receiver);
  return BeyondTheLine(raw, context) ? Figure{} : raw;
}

Figure LineBytes(const Wire& wire) {
  if (wire.l1_bytes) return Number(wire.l1_bytes);
  if (!wire.l1_bytes_low || !wire.l1_bytes_high) return std::nullopt;
  return (static_cast<double>(*wire.l1_bytes_low) +
          static_cast<double>(*wire.l1_bytes_high)) /
         2;
}

void Set(Figures& figures, Metric metric, const Figure& figure) {
  figures[Index(metric)] = figure;
}

Figure EffectiveReceiveBuffer(const EndReport& receiver) {
  const auto reading = receiver.options.find("rcvbuf");
  if (reading == receiver.options.end()) return std::nullopt;
  const auto* bytes = std::get_if<std::int64_t>(&reading->second.effective);
  if (bytes == nullptr) return std::nullopt;
  return static_cast<double>(*bytes);
}

// Only of one that was asked for.
Figure EffectiveSendBuffer(const EndReport& sender) {
  const auto reading = sender.options.find("sndbuf");
  if (reading == sender.options.end() ||
      reading->second.requested == OptionValue{}) {
    return std::nullopt;
  }
  const auto* bytes = std::get_if<std::int64_t>(&reading->second.effective);
  if (bytes == nullptr) return std::nullopt;
  return static_cast<double>(*bytes);
}

void AddReceiver(const EndReport& receiver, const TrialContext& context,
                 Figures& figures) {
  const auto bytes = static_cast<double>(receiver.bytes);
  Set(figures, Metric::kElapsed, Number(receiver.elapsed_ns));
  Set(figures, Metric::kReceiverCpu, Divide(Number(receiver.cpu_ns), bytes));
  Set(figures, Metric::kBytesPerRead,
      Divide(bytes, static_cast<double>(receiver.calls)));
  Set(figures, Metric::kReceiveBuffer, EffectiveReceiveBuffer(receiver));
  if (context.request_response) return;
  const Figure throughput = Throughput(receiver, context);
  Set(figures, Metric::kThroughput, throughput);
  const Figure steady = RawSteadyThroughput(receiver);
  Set(figures, Metric::kSteadyThroughput,
      BeyondTheLine(steady, context) ? Figure{} : steady);
  if (throughput) {
    Set(figures, Metric::kLineShare,
        Divide(*throughput * 8, context.rate_bits_per_second));
  }
}

void AddSender(const EndReport& sender, Figures& figures) {
  const auto calls = static_cast<double>(sender.calls);
  Set(figures, Metric::kSenderCpu,
      Divide(Number(sender.cpu_ns), static_cast<double>(sender.bytes)));
  Set(figures, Metric::kSendCallRate, PerSecond(calls, sender.elapsed_ns));
  Set(figures, Metric::kWindowInitial,
      Number(sender.counters.peer_window_initial_bytes));
  Set(figures, Metric::kWindowPeak,
      Number(sender.counters.peer_window_peak_bytes));
  Set(figures, Metric::kSendBuffer, EffectiveSendBuffer(sender));
  const Figure busy = Number(sender.counters.busy_ns);
  Set(figures, Metric::kWindowWaitShare,
      Divide(Number(sender.counters.window_limited_ns), busy));
  Set(figures, Metric::kSendBufferWaitShare,
      Divide(Number(sender.counters.sndbuf_limited_ns), busy));
  if (!sender.latency || sender.latency->count == 0) return;
  Set(figures, Metric::kLatencyP50, Number(sender.latency->p50_ns));
  Set(figures, Metric::kLatencyP99, Number(sender.latency->p99_ns));
  Set(figures, Metric::kStalls, Number(sender.latency->over_30ms));
}

// Bytes that came, those that came twice counted once. Where datagrams carry no
// number, nobody knows which did.
double UniqueBytes(const Sample& sample) {
  const auto bytes = static_cast<double>(sample.receiver->bytes);
  if (!sample.datagrams || sample.datagrams->received == 0) return bytes;
  const Datagrams& datagrams = *sample.datagrams;
  return bytes * static_cast<double>(datagrams.sent - datagrams.lost) /
         static_cast<double>(datagrams.received);
}

void AddFates(const Datagrams& datagrams, Figures& figures) {
  const auto sent = static_cast<double>(datagrams.sent);
  const auto received = static_cast<double>(datagrams.received);
  const auto unique = static_cast<double>(datagrams.sent - datagrams.lost);
  Set(figures, Metric::kReceivedShare, Divide(unique, sent));
  Set(figures, Metric::kLoss,
      Divide(static_cast<double>(datagrams.lost), sent));
  Set(figures, Metric::kDuplicated,
      Divide(Number(datagrams.duplicated), received));
  Set(figures, Metric::kReordered, Divide(Number(datagrams.reordered), unique));
}

// Over TCP of bytes: what was written and never came would be lost.
void AddReceivedBytes(const Sample& sample, Figures& figures) {
  Set(figures, Metric::kReceivedShare,
      Divide(static_cast<double>(sample.receiver->bytes),
             static_cast<double>(sample.sender->bytes)));
}

// The clock starts when the first call has returned: what that call gave took
// none of its time.
Figure TimedDatagrams(const EndReport& receiver, const Datagrams& datagrams) {
  if (receiver.bytes <= 0) return std::nullopt;
  const std::int64_t timed =
      receiver.bytes - receiver.first_read_bytes.value_or(0);
  if (timed <= 0) return std::nullopt;
  return static_cast<double>(datagrams.received) * static_cast<double>(timed) /
         static_cast<double>(receiver.bytes);
}

void AddArrivals(const EndReport& receiver, const Datagrams& datagrams,
                 Figures& figures) {
  Set(figures, Metric::kDatagramRate,
      PerSecond(TimedDatagrams(receiver, datagrams), receiver.elapsed_ns));
  if (!receiver.datagrams) return;
  const DatagramReport& report = *receiver.datagrams;
  Set(figures, Metric::kJitter, report.jitter_mean_ns);
  if (!report.delay || report.delay->count == 0) return;
  Set(figures, Metric::kDelayP50, Number(report.delay->p50_ns));
  Set(figures, Metric::kDelayP99, Number(report.delay->p99_ns));
}

void AddWire(const Sample& sample, Figures& figures) {
  const Wire& wire = *sample.wire;
  const Figure segments = Number(wire.data_segments);
  Set(figures, Metric::kDataSegments, segments);
  Set(figures, Metric::kAckSegments, Number(wire.ack_segments));
  Set(figures, Metric::kRetransmissions, Number(wire.retransmitted_segments));
  if (sample.sender) {
    Set(figures, Metric::kWritesPerSegment,
        Divide(static_cast<double>(sample.sender->calls), segments));
  }
  if (!sample.receiver) return;
  const double bytes = UniqueBytes(sample);
  Set(figures, Metric::kEfficiency, Divide(bytes, LineBytes(wire)));
  // Retransmissions are among the segments, so their payload is too.
  const Figure carried = Number(wire.payload_bytes);
  Set(figures, Metric::kBytesPerSegment,
      Divide(carried ? carried : bytes, segments));
}

void AddRoundTrips(const EndReport& sender, Figures& figures) {
  Set(figures, Metric::kRttHandshake, Number(sender.rtt_handshake_ns));
  Set(figures, Metric::kRttMin, Number(sender.rtt_min_ns));
  Set(figures, Metric::kRttP50, Number(sender.rtt_median_ns));
  Set(figures, Metric::kRttP99, Number(sender.rtt_p99_ns));
  if (!sender.rtt_median_ns || !sender.rtt_min_ns) return;
  Set(figures, Metric::kRttRise,
      static_cast<double>(*sender.rtt_median_ns - *sender.rtt_min_ns));
}

// Requires that the metrics it is made of are there already. No window passes
// in less than the least round trip; what a round trip lasts under load, with
// bursts and queues, is what one window takes.
void AddBoundShares(const TrialContext& context, Figures& figures) {
  const auto of = [&](Metric metric) { return figures[Index(metric)]; };
  const auto window_each = [&](Metric round_trip) {  // Bytes a nanosecond.
    return Divide(of(Metric::kWindowPeak), of(round_trip));
  };
  const Figure steady = of(Metric::kSteadyThroughput);
  if (const Figure limit = window_each(Metric::kRttMin)) {
    Set(figures, Metric::kWindowShare, Divide(steady, *limit * 1e9));
  }
  const Figure limit = window_each(Metric::kRttP50);
  const Figure efficiency = of(Metric::kEfficiency);
  if (!limit || !efficiency || !context.rate_bits_per_second) return;
  const double line = *context.rate_bits_per_second / 8 * *efficiency;
  Set(figures, Metric::kBoundShare,
      Divide(steady, std::min(*limit * 1e9, line)));
}

void AddWindowWaits(const CaptureRecord& capture, Figures& figures) {
  Set(figures, Metric::kWindowReopened, Number(capture.window_reopened_bytes));
  Set(figures, Metric::kSillyWait, Number(capture.silly_wait_ns));
  Set(figures, Metric::kPersistWait, Number(capture.persist_wait_ns));
}

std::string WhyNoWindowWait(Metric metric, const Sample& sample) {
  if (!sample.capture || sample.capture->file.empty()) {
    return "it takes a capture: run --capture";
  }
  if (metric == Metric::kWindowReopened) {
    return "the window was never closed and opened again";
  }
  return metric == Metric::kSillyWait ? "no wait for a larger window was ended "
                                        "by the sender's timer"
                                      : "no closed window was probed";
}

std::string ReasonFor(const EndReport& end, const std::string& field,
                      const std::string& otherwise) {
  const auto reason = end.why_null.find(field);
  return reason == end.why_null.end() ? otherwise : reason->second;
}

constexpr const char* kOutOfBuffers =
    "it came faster than the line carries: out of buffers, in too short a time "
    "to tell a rate";

std::string WhyNoThroughput(const EndReport& receiver,
                            const TrialContext& context) {
  if (BeyondTheLine(RawThroughput(receiver), context)) return kOutOfBuffers;
  if (!receiver.elapsed_ns) {
    return ReasonFor(receiver, "elapsed_ns", "nothing reached the receiver");
  }
  if (receiver.bytes <= receiver.first_read_bytes.value_or(0)) {
    return "the whole stream came in one read, which takes no time";
  }
  return "it took less time than the receiver's clock can tell";
}

std::string WhyNoRound(const Sample& sample, const TrialContext& context) {
  if (!context.request_response) return "a stream has no round trips";
  return ReasonFor(*sample.sender, "latency", "no round was completed");
}

std::string WhyNotOnWire(const Sample& sample) {
  if (!sample.wire) return "nobody saw the wire";
  return sample.wire->reason.empty() ? "no observer counted it"
                                     : sample.wire->reason;
}

std::string WhyNoReceiveBuffer(const EndReport& receiver) {
  const auto reading = receiver.options.find("rcvbuf");
  return reading == receiver.options.end() || reading->second.reason.empty()
             ? "the receiver did not read its buffer back"
             : reading->second.reason;
}

std::string WhyNoWindow(const EndReport& sender) {
  return sender.counters.reason.empty() ? "the sender's kernel did not tell it"
                                        : sender.counters.reason;
}

std::string WhyNotAtReceiver(Metric metric, const Sample& sample,
                             const TrialContext& context) {
  const EndReport& receiver = *sample.receiver;
  if (metric == Metric::kElapsed) {
    return ReasonFor(receiver, "elapsed_ns", "nothing reached the receiver");
  }
  if (metric == Metric::kReceiverCpu) {
    return ReasonFor(receiver, "cpu_ns", "no byte was read");
  }
  if (metric == Metric::kBytesPerRead) return "no read gave bytes";
  if (metric == Metric::kReceiveBuffer) return WhyNoReceiveBuffer(receiver);
  if (context.request_response) {
    return "a request-response is measured by its latency";
  }
  if (metric == Metric::kSteadyThroughput) {
    if (BeyondTheLine(RawSteadyThroughput(receiver), context))
      return kOutOfBuffers;
    return ReasonFor(receiver, "steady_elapsed_ns",
                     "the trial's bytes were not known before");
  }
  if (metric == Metric::kLineShare && !context.rate_bits_per_second) {
    return "the link has no known rate";
  }
  return WhyNoThroughput(receiver, context);
}

std::string WhyNoDatagrams(Metric metric, const Sample& sample) {
  const auto otherwise = [&](const char* field, const char* reason) {
    return ReasonFor(*sample.receiver, std::string("datagrams.") + field,
                     reason);
  };
  if (!sample.datagrams) return "TCP has no datagrams";
  if (!sample.receiver) return "the receiver reported nothing";
  if (metric == Metric::kReceivedShare || metric == Metric::kLoss) {
    return "no datagram was sent";
  }
  if (metric == Metric::kDatagramRate) {
    return ReasonFor(*sample.receiver, "elapsed_ns",
                     "too few datagrams came to tell a rate");
  }
  if (sample.datagrams->received == 0) return "no datagram came";
  if (metric == Metric::kDuplicated) {
    return otherwise("duplicated", "not observed");
  }
  if (metric == Metric::kReordered) {
    return otherwise("reordered", "not observed");
  }
  return metric == Metric::kJitter ? otherwise("jitter_mean_ns", "not observed")
                                   : otherwise("delay", "not observed");
}

std::string WhyNoRoundTrip(Metric metric, const EndReport& sender) {
  if (sender.datagrams) return "UDP has no round trips of its own";
  if (metric == Metric::kRttHandshake) {
    return ReasonFor(sender, "rtt_handshake_ns", WhyNoWindow(sender));
  }
  if (metric == Metric::kRttMin) {
    return ReasonFor(sender, "rtt_min_ns", WhyNoWindow(sender));
  }
  return ReasonFor(sender, "rtt_median_ns",
                   "it takes a time series: run --series 1ms");
}

// The first that is missing of what it is made of.
std::string WhyNoBoundShare(Metric metric, const Sample& sample,
                            const TrialContext& context) {
  if (!sample.sender || !sample.receiver) {
    return "not both ends reported";
  }
  if (sample.sender->datagrams) return "UDP has no window";
  const Figures figures = FiguresOf(sample, context);
  for (const Metric part :
       {Metric::kSteadyThroughput, Metric::kWindowPeak,
        metric == Metric::kWindowShare ? Metric::kRttMin : Metric::kRttP50}) {
    if (!figures[Index(part)]) return WhyMissing(part, sample, context);
  }
  if (metric == Metric::kBoundShare && !context.rate_bits_per_second) {
    return "the link has no known rate";
  }
  return WhyMissing(Metric::kEfficiency, sample, context);
}

enum class Seer { kReceiver, kSender, kWire, kCapture, kBothEnds, kGroup };

// Who sees what a metric is made of, in the order of Metric.
constexpr std::array<Seer, kMetricCount> kSeers = [] {
  using enum Seer;
  return std::array<Seer, kMetricCount>{
      kReceiver, kReceiver, kWire,     kReceiver, kWire,     kWire,
      kReceiver, kWire,     kWire,     kWire,     kSender,   kReceiver,
      kSender,   kSender,   kSender,   kSender,   kReceiver, kReceiver,
      kSender,   kSender,   kBothEnds, kBothEnds, kBothEnds, kBothEnds,
      kBothEnds, kBothEnds, kBothEnds, kBothEnds, kGroup,    kGroup,
      kCapture,  kCapture,  kCapture,  kSender,   kSender,   kSender,
      kSender,   kSender,   kWire,     kWire,     kSender,   kSender,
      kSender};
}();
static_assert(kSeers[Index(Metric::kReceiveBuffer)] == Seer::kReceiver);
static_assert(kSeers[Index(Metric::kWindowPeak)] == Seer::kSender);
static_assert(kSeers[Index(Metric::kReceivedShare)] == Seer::kBothEnds);
static_assert(kSeers[Index(Metric::kFairness)] == Seer::kGroup);
static_assert(kSeers[Index(Metric::kWindowReopened)] == Seer::kCapture);
static_assert(kSeers[Index(Metric::kRttRise)] == Seer::kSender);
static_assert(kSeers[Index(Metric::kBoundShare)] == Seer::kWire);

std::string WhyNotAtSender(Metric metric, const Sample& sample,
                           const TrialContext& context) {
  if (!sample.sender) return "the sender reported nothing";
  switch (metric) {
    case Metric::kSenderCpu:
      return ReasonFor(*sample.sender, "cpu_ns", "no byte was written");
    case Metric::kSendCallRate:
      return ReasonFor(*sample.sender, "elapsed_ns", "no time went by");
    case Metric::kWindowInitial:
    case Metric::kWindowPeak:
    case Metric::kWindowWaitShare:
    case Metric::kSendBufferWaitShare:
      return WhyNoWindow(*sample.sender);
    case Metric::kSendBuffer:
      return "the send buffer was left to the system, or could not be read";
    case Metric::kLatencyP50:
    case Metric::kLatencyP99:
    case Metric::kStalls:
      return WhyNoRound(sample, context);
    default:
      return WhyNoRoundTrip(metric, *sample.sender);
  }
}

}  // namespace

std::string MetricName(Metric metric) {
  return std::string(kMetricNames[Index(metric)]);
}

std::string MetricUnit(Metric metric) {
  return std::string(kUnits[Index(metric)]);
}

std::optional<Metric> MetricFromName(const std::string& name) {
  const auto found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<Metric>(found - kMetricNames.begin());
}

Figures FiguresOf(const Sample& sample, const TrialContext& context) {
  Figures figures;
  if (sample.receiver) AddReceiver(*sample.receiver, context, figures);
  if (sample.sender) AddSender(*sample.sender, figures);
  if (sample.wire) AddWire(sample, figures);
  if (sample.sender) AddRoundTrips(*sample.sender, figures);
  AddBoundShares(context, figures);
  if (sample.capture) AddWindowWaits(*sample.capture, figures);
  if (sample.datagrams) {
    AddFates(*sample.datagrams, figures);
    if (sample.receiver) {
      AddArrivals(*sample.receiver, *sample.datagrams, figures);
    }
  } else if (sample.sender && sample.receiver && !context.request_response) {
    AddReceivedBytes(sample, figures);
  }
  return figures;
}

std::string WhyMissing(Metric metric, const Sample& sample,
                       const TrialContext& context) {
  if (metric == Metric::kWindowShare || metric == Metric::kBoundShare) {
    return WhyNoBoundShare(metric, sample, context);
  }
  switch (kSeers[Index(metric)]) {
    case Seer::kGroup:
      return "no flows of the study ran at once";
    case Seer::kWire:
      return WhyNotOnWire(sample);
    case Seer::kCapture:
      return WhyNoWindowWait(metric, sample);
    case Seer::kBothEnds:
      return WhyNoDatagrams(metric, sample);
    case Seer::kReceiver:
      return sample.receiver ? WhyNotAtReceiver(metric, sample, context)
                             : "the receiver reported nothing";
    case Seer::kSender:
      return WhyNotAtSender(metric, sample, context);
  }
  return {};
}

}  // namespace wiretoll
