#include "harness/advise/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/words.h"
#include "harness/theory/predict.h"
#include "harness/theory/windows.h"

namespace wiretoll {
namespace {

constexpr double kFull = 0.9;      // Of the line's capacity.
constexpr double kMostOf = 0.5;    // Of a stream's time.
constexpr double kBusyLoop = 0.8;  // Of a CPU.
constexpr double kRoom = 1.5;      // Times what was moved: not used up.
constexpr double kLossy = 0.002;   // Of the segments.
constexpr std::int64_t kLeastLost = 3;
constexpr double kSwollen = 3;                 // Times the base round trip,
constexpr Nanoseconds kLongQueue{20'000'000};  // and so much more.
constexpr Nanoseconds kStall{30'000'000};
constexpr double kStalls = 0.1;                // Of the rounds.
constexpr std::int64_t kInitialSegments = 10;  // RFC 6928.

using MaybeFinding = std::optional<Finding>;

std::string Percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string Time(Nanoseconds time) { return FormatDuration(time); }

std::string Digits(Bytes bytes) { return GroupDigits(bytes.count) + " B"; }

// What a window or buffer of `bytes` gives, empty without a round trip.
std::optional<double> PerRoundTrip(const std::optional<Bytes>& bytes,
                                   const std::optional<Nanoseconds>& rtt) {
  if (!bytes || !rtt || rtt->count() <= 0) return std::nullopt;
  return WindowLimit(*bytes, *rtt);
}

std::optional<double> Goodput(const Evidence& e) {
  if (!e.subject.bytes_per_second) return std::nullopt;
  return e.subject.bytes_per_second->median;
}

bool IsStream(const Evidence& e) {
  return e.subject.workload.pattern == Pattern::kStream &&
         e.subject.bytes_per_second.has_value();
}

bool FillsLine(const Evidence& e) {
  const auto capacity = LineCapacity(e);
  return IsStream(e) && capacity && !e.line->at_least &&
         *Goodput(e) >= kFull * *capacity;
}

bool AtLeast(const std::optional<double>& share, double least) {
  return share && *share >= least;
}

// "12.5 MB/s of the line's 11.8": how a stream stands to the line.
std::string AgainstLine(const Evidence& e) {
  const auto capacity = LineCapacity(e);
  if (!capacity) return {};
  return fmt::format(
      "{} of the {}{} that the line carries in full segments ({})",
      FormatByteRate(*Goodput(e)), FormatByteRate(*capacity),
      e.line->at_least ? " at least" : "", e.line->how);
}

// --- Messages ----------------------------------------------------------------

// A message of several writes, of which the last may wait for an ACK.
bool WritesInPieces(const Workload& workload) {
  return workload.request.size() > 1 || workload.reply.size() > 1;
}

// Rounds that took 30 ms more than the path needs.
double StalledShare(const LatencySummary& rounds, Nanoseconds base) {
  if (rounds.count == 0) return 0;
  if (base < kStall) {
    return static_cast<double>(rounds.over_30ms) /
           static_cast<double>(rounds.count);
  }
  const std::int64_t late = (base + kStall).count();
  if (rounds.p50_ns >= late) return kMostOf;
  return rounds.p90_ns >= late ? kStalls : 0;
}

MaybeFinding NagleDelayedAck(const Evidence& e) {
  const auto& rounds = e.subject.latency;
  const auto base = BaseRtt(e);
  if (!rounds || !base) return std::nullopt;
  const double stalled = StalledShare(*rounds, *base);
  if (stalled < kStalls) return std::nullopt;
  const Workload& work = e.subject.workload;
  const bool known = work.nagle && WritesInPieces(work);
  Finding finding{Limit::kNagleDelayedAck,
                  known ? Confidence::kCertain : Confidence::kPossible,
                  fmt::format("Nagle at {} against the delayed ACK of {}",
                              e.sender.name, e.receiver.name),
                  {},
                  {}};
  finding.evidence.push_back(fmt::format(
      "a round takes {} in the median, {} at best, though the path's round "
      "trip is {}",
      Time(Nanoseconds{rounds->p50_ns}), Time(Nanoseconds{rounds->min_ns}),
      Time(*base)));
  if (*base < kStall) {
    finding.evidence.push_back(fmt::format(
        "{} of {} rounds took over 30 ms, as one does that waits for a delayed "
        "ACK (40 ms on Linux, 40 or 200 ms on Windows)",
        rounds->over_30ms, rounds->count));
  }
  finding.evidence.push_back(
      known
          ? fmt::format(
                "a message is several writes ({}) with Nagle on: the last, a "
                "partial segment, is held until the ones before it are "
                "acknowledged, and nobody acknowledges half a message at once",
                SpellWorkload(work))
          : "but a message is one write, or Nagle is off: what makes it wait "
            "is not of this making; `wiretoll explain` of a captured trial "
            "tells");
  return finding;
}

MaybeFinding RoundTripAlone(const Evidence& e) {
  const auto& rounds = e.subject.latency;
  const auto base = BaseRtt(e);
  if (!rounds || !base) return std::nullopt;
  const Nanoseconds median{rounds->p50_ns};
  const bool near = median <= 2 * *base;
  return Finding{
      Limit::kRoundTrip,
      near ? Confidence::kCertain : Confidence::kPossible,
      "the round trip",
      {fmt::format(
           "a round takes {} in the median; the path's round trip is {}",
           Time(median), Time(*base)),
       near ? "a request waits for its answer and for nothing else: fewer "
              "rounds, or several requests at once, are all that helps"
            : "the rest is what both ends do between; no stall of a delayed "
              "ACK is among it"},
      {}};
}

// --- The path ----------------------------------------------------------------

MaybeFinding PathMtu(const Evidence& e) {
  if (!e.least_lost) return std::nullopt;
  Finding finding{Limit::kPathMtu,
                  e.largest_passed ? Confidence::kCertain : Confidence::kLikely,
                  fmt::format("the path's MTU: a black hole from {} to {}",
                              e.sender.name, e.receiver.name),
                  {},
                  {}};
  finding.evidence.push_back(
      e.largest_passed
          ? fmt::format("packets of {} bytes pass, packets of {} do not, and "
                        "nobody tells {} so",
                        GroupDigits(*e.largest_passed),
                        GroupDigits(*e.least_lost), e.sender.name)
          : fmt::format("packets of {} bytes do not pass, and nobody tells {} "
                        "so",
                        GroupDigits(*e.least_lost), e.sender.name));
  const auto mtu = NumberFact(e.sender, "mtu_bytes");
  if (mtu) {
    finding.evidence.push_back(fmt::format(
        "{} makes packets of up to {} bytes, by its interface's MTU",
        e.sender.name, GroupDigits(*mtu)));
  }
  if (e.subject.failed > 0) {
    finding.evidence.push_back(
        fmt::format("single bytes pass, {} of {} streams do not: {}",
                    e.subject.failed, e.subject.trials, e.subject.failure));
  }
  finding.evidence.emplace_back(
      "what drops them (a tunnel, a router) says so by ICMP (RFC 1191), and "
      "that does not come back; all this was measured without ICMP");
  return finding;
}

MaybeFinding Line(const Evidence& e) {
  if (!FillsLine(e)) return std::nullopt;
  return Finding{Limit::kLine,
                 Confidence::kCertain,
                 "the line",
                 {AgainstLine(e)},
                 LineCapacity(e)};
}

MaybeFinding Queue(const Evidence& e) {
  const auto base = BaseRtt(e);
  const auto loaded = LoadedRtt(e);
  if (!FillsLine(e) || !base || !loaded) return std::nullopt;
  const auto least = std::max<Nanoseconds>(
      *base + kLongQueue,
      Nanoseconds{std::llround(kSwollen * static_cast<double>(base->count()))});
  if (*loaded < least) return std::nullopt;
  const auto capacity = LineCapacity(e);
  const double held =
      *capacity * static_cast<double>((*loaded - *base).count()) / 1e9;
  return Finding{
      Limit::kQueue,
      Confidence::kCertain,
      "the queue before the line",
      {fmt::format("the line is full: {}", AgainstLine(e)),
       fmt::format("while it sends the round trip is {}, alone {}: whatever "
                   "else is sent waits {} behind about {} of it",
                   Time(*loaded), Time(*base), Time(*loaded - *base),
                   Digits(Bytes{std::llround(held)}))},
      capacity};
}

MaybeFinding Loss(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || !AtLeast(s.retransmitted, kLossy) ||
      s.retransmitted_segments.value_or(0) < kLeastLost || FillsLine(e)) {
    return std::nullopt;
  }
  Finding finding{
      Limit::kLoss, Confidence::kLikely, "loss on the path", {}, {}};
  finding.evidence.push_back(fmt::format(
      "{} sent {} of {} data segments again, {:.2g} %{}", e.sender.name,
      GroupDigits(*s.retransmitted_segments),
      GroupDigits(s.data_segments.value_or(0)), 100 * *s.retransmitted,
      e.declared_loss && *e.declared_loss > 0
          ? fmt::format("; the link is made to lose {:.2g} % of its frames",
                        100 * *e.declared_loss)
          : std::string()));
  if (const auto base = BaseRtt(e); base && base->count() > 0) {
    const double theory = MathisLimit(SegmentOf(e), *base, *s.retransmitted);
    finding.theory_bytes_per_second = theory;
    finding.evidence.push_back(fmt::format(
        "a connection that halves its window at each loss moves {} at that "
        "share and {} (Mathis and others, 1997: MSS/RTT x 1.22/sqrt(p)); this "
        "one, with {}, {}",
        FormatByteRate(theory), Time(*base),
        s.congestion.value_or("its congestion control"),
        FormatByteRate(*Goodput(e))));
    if (*Goodput(e) <= 3 * theory) finding.confidence = Confidence::kCertain;
  }
  if (const auto capacity = LineCapacity(e)) {
    finding.evidence.push_back("that is " + AgainstLine(e));
  }
  return finding;
}

// --- The programs ------------------------------------------------------------

MaybeFinding SlowWriter(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e)) return std::nullopt;
  const bool pauses = AtLeast(s.gap_share, kMostOf);
  const bool paced = s.workload.rate &&
                     *Goodput(e) * 8 >= 0.8 * s.workload.rate->value &&
                     *Goodput(e) * 8 <= 1.1 * s.workload.rate->value;
  const bool idle = s.busy_share && *s.busy_share < 1 - kMostOf &&
                    s.sender_cpu.value_or(0) < kBusyLoop;
  if (!pauses && !paced && !idle) return std::nullopt;
  Finding finding{
      Limit::kSlowWriter,
      pauses || paced ? Confidence::kCertain : Confidence::kLikely,
      fmt::format("the program at {}: it writes slowly", e.sender.name),
      {},
      {}};
  if (pauses) {
    finding.evidence.push_back(
        fmt::format("it spends {} of its time in pauses between writes",
                    Percent(std::min(1.0, *s.gap_share))));
  }
  if (paced) {
    finding.evidence.push_back(fmt::format(
        "it writes at {}, and {} arrive", FormatBitRate(*s.workload.rate),
        FormatBitRate(BitsPerSecond{*Goodput(e) * 8})));
  }
  if (s.busy_share) {
    finding.evidence.push_back(fmt::format(
        "its kernel had data to send or unacknowledged for {} of the time",
        Percent(*s.busy_share)));
  }
  if (const auto window = PerRoundTrip(s.peak_window, BaseRtt(e))) {
    finding.evidence.push_back(fmt::format(
        "the window would take {} a round trip: {}; what is written is {}",
        Digits(*s.peak_window), FormatByteRate(*window),
        FormatByteRate(*Goodput(e))));
  }
  return finding;
}

// Reads of less than a segment cannot keep up with segments.
bool ReadsInPieces(const Evidence& e) {
  const Bytes segment = SegmentOf(e);
  return e.subject.workload.read < segment &&
         e.subject.bytes_a_read.value_or(
             static_cast<double>(e.subject.workload.read.count)) <
             static_cast<double>(segment.count);
}

MaybeFinding SlowReader(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e) || !ReadsInPieces(e)) return std::nullopt;
  const auto window = PerRoundTrip(s.peak_window, BaseRtt(e));
  const bool held = AtLeast(s.window_share, kMostOf);
  const bool room = window && *window >= 2 * *Goodput(e);
  const bool busy = AtLeast(s.receiver_cpu, kBusyLoop);
  if (!(held && room) && !busy) return std::nullopt;
  Finding finding{
      Limit::kSlowReader,
      held && room ? Confidence::kCertain : Confidence::kLikely,
      fmt::format("the program at {}: it reads slowly", e.receiver.name),
      {},
      {}};
  finding.evidence.push_back(fmt::format(
      "it takes {} a read where a segment brings {}{}",
      FormatBytes(Bytes{std::llround(s.bytes_a_read.value_or(
          static_cast<double>(s.workload.read.count)))}),
      Digits(SegmentOf(e)),
      s.receiver_cpu ? fmt::format(", and is on a CPU for {} of the time",
                                   Percent(*s.receiver_cpu))
                     : std::string()));
  if (s.window_share) {
    finding.evidence.push_back(fmt::format(
        "{} was held by its window for {} of its busy time: what is not read "
        "closes it",
        e.sender.name, Percent(*s.window_share)));
  }
  if (room) {
    finding.evidence.push_back(fmt::format(
        "it is not the buffer: with its largest window, {}, the path would "
        "carry {} at {}; {} came",
        Digits(*s.peak_window), FormatByteRate(*window), Time(*BaseRtt(e)),
        FormatByteRate(*Goodput(e))));
  }
  return finding;
}

std::optional<std::string> BusyLoop(const std::optional<double>& cpu,
                                    const std::string& host) {
  if (!AtLeast(cpu, kBusyLoop)) return std::nullopt;
  return fmt::format("the loop at {} is on a CPU for {} of its time", host,
                     Percent(*cpu));
}

MaybeFinding Cpu(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e)) return std::nullopt;
  const auto sends = BusyLoop(s.sender_cpu, e.sender.name);
  const auto receives = BusyLoop(s.receiver_cpu, e.receiver.name);
  if (!sends && !receives) return std::nullopt;
  const auto window = PerRoundTrip(s.peak_window, BaseRtt(e));
  if (window && *window < kRoom * *Goodput(e)) return std::nullopt;
  const PairHost& host =
      sends && (!receives || *s.sender_cpu >= *s.receiver_cpu) ? e.sender
                                                               : e.receiver;
  Finding finding{Limit::kCpu,
                  Confidence::kCertain,
                  fmt::format("the CPU of {}", host.name),
                  {},
                  {}};
  for (const auto& busy : {sends, receives}) {
    if (busy) finding.evidence.push_back(*busy);
  }
  const double cpu = &host == &e.sender ? *s.sender_cpu : *s.receiver_cpu;
  finding.evidence.push_back(
      fmt::format("a byte costs it {:.2g} ns of that CPU: {} come of it",
                  cpu * 1e9 / *Goodput(e), FormatByteRate(*Goodput(e))));
  if (window) {
    finding.evidence.push_back(fmt::format(
        "the window is not in the way: {} at {} are {}", Digits(*s.peak_window),
        Time(*BaseRtt(e)), FormatByteRate(*window)));
  }
  if (const std::string against = AgainstLine(e); !against.empty()) {
    finding.evidence.push_back("that is " + against);
  }
  return finding;
}

// --- The buffers -------------------------------------------------------------

std::string HeldByWindow(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  return fmt::format("{} was held by the peer's window for {} of its busy time",
                     e.sender.name, Percent(*s.window_share));
}

// "peak window 65,535 B, RTT 20.1 ms: W/RTT = 3.26 MB/s, measured 3.21 MB/s".
std::string WindowSentence(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  const auto base = BaseRtt(e);
  const auto theory = PerRoundTrip(s.peak_window, base);
  if (!theory) return {};
  return fmt::format("peak window {}, RTT {}: W/RTT = {}, measured {}",
                     Digits(*s.peak_window), Time(*base),
                     FormatByteRate(*theory), FormatByteRate(*Goodput(e)));
}

bool Agrees(const std::optional<double>& theory, double measured) {
  return theory && measured >= 0.5 * *theory && measured <= 1.25 * *theory;
}

// Either host may have it off: both must offer it (RFC 7323 2.2).
std::string WhoHasScalingOff(const Evidence& e) {
  std::string who;
  for (const PairHost* host : {&e.sender, &e.receiver}) {
    const bool off = OnOffFact(*host, "tcp_window_scaling") == false ||
                     TextFact(*host, "tcp_autotuning_level") == "disabled";
    if (off) who += (who.empty() ? "" : " and ") + host->name;
  }
  return who;
}

MaybeFinding WindowScaling(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e) || !AtLeast(s.window_share, kMostOf) ||
      s.window_scale != 0 || !s.peak_window ||
      *s.peak_window > kLargestUnscaledWindow) {
    return std::nullopt;
  }
  const std::string who = WhoHasScalingOff(e);
  // A buffer too small to need scaling has none either.
  const bool at_the_bound =
      s.peak_window->count > kLargestUnscaledWindow.count - 2L * 1460;
  if (who.empty() && !at_the_bound) return std::nullopt;
  if (s.rcvbuf && s.rcvbuf->requested != OptionValue{} && !at_the_bound)
    return std::nullopt;
  const auto theory = PerRoundTrip(s.peak_window, BaseRtt(e));
  Finding finding{Limit::kWindowScaling,
                  who.empty() ? Confidence::kLikely : Confidence::kCertain,
                  who.empty() ? std::string("window scaling is not in use")
                              : "window scaling, off at " + who,
                  {HeldByWindow(e), WindowSentence(e),
                   "without the window scale option (RFC 7323 2) a window ends "
                   "at 65,535 B, and the connection has none: shift count 0"},
                  theory};
  return finding;
}

// Who chose the size of the receiver's buffer.
std::string BufferSentence(const std::optional<OptionReading>& option,
                           const std::string& name, const PairHost& host,
                           const char* sysctl) {
  if (option && option->requested != OptionValue{}) {
    const auto* asked = std::get_if<std::int64_t>(&option->requested);
    const auto* got = std::get_if<std::int64_t>(&option->effective);
    return fmt::format(
        "the program at {} asked for {} = {}{}{}", host.name, name,
        asked ? GroupDigits(*asked) : "?",
        got ? fmt::format(" and has {}", GroupDigits(*got)) : std::string(),
        option->reason.empty() ? std::string() : ": " + option->reason);
  }
  if (const auto text = TextFact(host, sysctl)) {
    return fmt::format("no program asked for a size: {} of {} bounds it, {}",
                       sysctl, host.name, *text);
  }
  return {};
}

void AddSentence(std::string sentence, Finding& finding) {
  if (!sentence.empty()) finding.evidence.push_back(std::move(sentence));
}

MaybeFinding ReceiveWindow(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e) || !AtLeast(s.window_share, kMostOf))
    return std::nullopt;
  const auto theory = PerRoundTrip(s.peak_window, BaseRtt(e));
  Finding finding{
      Limit::kReceiveWindow,
      Agrees(theory, *Goodput(e)) ? Confidence::kCertain : Confidence::kLikely,
      "the receive window of " + e.receiver.name,
      {HeldByWindow(e)},
      theory};
  AddSentence(WindowSentence(e), finding);
  AddSentence(BufferSentence(s.rcvbuf, "SO_RCVBUF", e.receiver, "tcp_rmem"),
              finding);
  if (OnOffFact(e.receiver, "tcp_moderate_rcvbuf") == false) {
    finding.evidence.push_back(fmt::format(
        "{} does not grow buffers by itself: tcp_moderate_rcvbuf is 0",
        e.receiver.name));
  }
  return finding;
}

// Without a kernel that says how long it waited: as fast as the buffer allows,
// and faster with several connections.
MaybeFinding BufferByElimination(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e) || s.window_share) return std::nullopt;
  const bool several = e.streams_bytes_per_second &&
                       *e.streams_bytes_per_second >= 1.5 * *Goodput(e);
  const bool larger = e.large_bytes_per_second &&
                      *e.large_bytes_per_second >= 1.5 * *Goodput(e);
  if (!larger && !several) return std::nullopt;
  Finding finding{
      larger ? Limit::kReceiveWindow : Limit::kUnknown,
      Confidence::kPossible,
      larger ? "a buffer at one of the ends" : "something of each connection",
      {},
      {}};
  if (larger) {
    finding.evidence.push_back(fmt::format(
        "with buffers of {} the same stream moves {}, with the hosts' own {}",
        FormatBytes(*e.large_buffers),
        FormatByteRate(*e.large_bytes_per_second),
        FormatByteRate(*Goodput(e))));
  }
  if (several) {
    finding.evidence.push_back(fmt::format(
        "{} streams at once move {}, one {}: the line is not the limit",
        e.streams, FormatByteRate(*e.streams_bytes_per_second),
        FormatByteRate(*Goodput(e))));
  }
  AddSentence(s.why_no_counters.empty()
                  ? std::string()
                  : fmt::format("{} does not tell what it waited for: {}",
                                e.sender.name, s.why_no_counters),
              finding);
  return finding;
}

// Linux counts as held by the buffer only what passes between the last segment
// sent and a writer's waking: a half or more, or a quarter where neither window
// was used up.
bool SendBufferHolds(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (AtLeast(s.sndbuf_share, kMostOf)) return true;
  const auto window = PerRoundTrip(s.peak_window, BaseRtt(e));
  const auto flight = PerRoundTrip(s.flight, BaseRtt(e));
  return AtLeast(s.sndbuf_share, kMostOf / 2) && window &&
         *window >= kRoom * *Goodput(e) && flight &&
         *flight >= kRoom * *Goodput(e);
}

MaybeFinding SendBuffer(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  if (!IsStream(e) || FillsLine(e) || !SendBufferHolds(e)) return std::nullopt;
  Finding finding{Limit::kSendBuffer,
                  Confidence::kCertain,
                  "the send buffer of " + e.sender.name,
                  {fmt::format("{} had all that its send buffer holds on the "
                               "way for {} of its busy time",
                               e.sender.name, Percent(*s.sndbuf_share))},
                  {}};
  AddSentence(BufferSentence(s.sndbuf, "SO_SNDBUF", e.sender, "tcp_wmem"),
              finding);
  if (const auto base = BaseRtt(e)) {
    const auto a_round_trip = Bytes{
        std::llround(*Goodput(e) * static_cast<double>(base->count()) / 1e9)};
    finding.evidence.push_back(fmt::format("{} a round trip of {} leave it: {}",
                                           Digits(a_round_trip), Time(*base),
                                           FormatByteRate(*Goodput(e))));
  }
  if (const auto window = PerRoundTrip(s.peak_window, BaseRtt(e))) {
    finding.evidence.push_back(
        fmt::format("the peer's window, {}, would take {}",
                    Digits(*s.peak_window), FormatByteRate(*window)));
  }
  return finding;
}

// What is left where nothing on the path is in the way: the hosts' own work,
// of which a loop's share is a part only (interrupts are the system's).
MaybeFinding CpuByElimination(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  const auto window = PerRoundTrip(s.peak_window, BaseRtt(e));
  const auto flight = PerRoundTrip(s.flight, BaseRtt(e));
  if (!IsStream(e) || !window || !flight || !s.sender_cpu || !s.receiver_cpu ||
      (e.line && !e.line->at_least) || *window < kRoom * *Goodput(e) ||
      *flight < kRoom * *Goodput(e)) {
    return std::nullopt;
  }
  return Finding{
      Limit::kCpu,
      Confidence::kLikely,
      "the CPUs of the hosts",
      {fmt::format("the window, {}, would take {}, the congestion window, {}, "
                   "{}; {} came, and next to nothing was lost",
                   Digits(*s.peak_window), FormatByteRate(*window),
                   Digits(*s.flight), FormatByteRate(*flight),
                   FormatByteRate(*Goodput(e))),
       fmt::format("no line is known that would be full; what is left is the "
                   "hosts' own work: the loops were on a CPU for {} and {} of "
                   "their time, and what the systems do for them is not in "
                   "that",
                   Percent(*s.sender_cpu), Percent(*s.receiver_cpu))},
      {}};
}

// --- Time --------------------------------------------------------------------

MaybeFinding SlowStart(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  const auto base = BaseRtt(e);
  if (!IsStream(e) || FillsLine(e) || !base || !s.bytes || !s.elapsed ||
      base->count() <= 0 || s.retransmitted.value_or(0) >= kLossy) {
    return std::nullopt;
  }
  const int rounds = SlowStartRounds(*s.bytes, SegmentOf(e));
  const double took = static_cast<double>(s.elapsed->count()) /
                      static_cast<double>(base->count());
  // Its first byte came after half a round trip of sending: one round less.
  if (rounds < 2 || took > rounds + 2 || took < 1) return std::nullopt;
  Finding finding{
      Limit::kSlowStart,
      took <= rounds + 1 ? Confidence::kCertain : Confidence::kLikely,
      "the congestion window, which had not opened yet",
      {fmt::format("{} are sent in {} round trips of slow start, from {} "
                   "segments and twice as many each time (RFC 5681 3.1, RFC "
                   "6928); they took {:.1f} of {}",
                   Digits(Bytes{*s.bytes}), rounds, kInitialSegments, took,
                   Time(*base)),
       "nothing was lost, and no window was in the way: it ended before it "
       "was fast"},
      {}};
  if (const auto bdp = BdpOf(e)) {
    finding.evidence.push_back(fmt::format(
        "the line takes {} a round trip; to get there alone takes {} round "
        "trips",
        FormatBytes(*bdp), SlowStartRounds(bdp->count, SegmentOf(e))));
  }
  return finding;
}

MaybeFinding Unknown(const Evidence& e) {
  const SubjectFigures& s = e.subject;
  Finding finding{Limit::kUnknown,
                  Confidence::kPossible,
                  "none that the figures show",
                  {},
                  {}};
  if (s.trials > 0 && s.trials == s.failed) {
    finding.headline = "no trial came to its end";
    finding.evidence.push_back(s.failure);
    return finding;
  }
  if (!Goodput(e)) {
    finding.evidence.emplace_back("no throughput was measured");
    return finding;
  }
  if (s.window_share) {
    finding.evidence.push_back(fmt::format(
        "of its busy time {} was held by the peer's window for {}, by its send "
        "buffer for {}; the rest it sent as its congestion window let it",
        e.sender.name, Percent(*s.window_share),
        Percent(s.sndbuf_share.value_or(0))));
  } else {
    AddSentence(s.why_no_counters, finding);
  }
  AddSentence(AgainstLine(e), finding);
  return finding;
}

using Rule = MaybeFinding (*)(const Evidence&);
constexpr std::array<Rule, 9> kStreamRules = {
    SlowWriter, Queue, SlowReader, WindowScaling, ReceiveWindow,
    SendBuffer, Cpu,   Loss,       SlowStart};

// A window that cannot scale is a receive window too, and a reader of single
// bytes is on a CPU all the time: what is told once is not told again.
bool IsToldAlready(const Finding& finding, const std::vector<Finding>& told) {
  const auto is_told = [&](Limit limit) {
    return std::any_of(told.begin(), told.end(), [&](const Finding& other) {
      return other.limit == limit;
    });
  };
  switch (finding.limit) {
    case Limit::kReceiveWindow:
      return is_told(Limit::kWindowScaling) || is_told(Limit::kSlowReader);
    case Limit::kCpu:
      return is_told(Limit::kSlowReader);
    default:
      return false;
  }
}

void Ask(Rule rule, const Evidence& evidence, std::vector<Finding>& findings) {
  auto found = rule(evidence);
  if (found && !IsToldAlready(*found, findings))
    findings.push_back(std::move(*found));
}

// What happens while a line is full is told with the line.
std::vector<Finding> OfStream(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Rule rule : kStreamRules) Ask(rule, evidence, findings);
  Ask(Line, evidence, findings);
  for (const Rule rule : {BufferByElimination, CpuByElimination}) {
    if (findings.empty()) Ask(rule, evidence, findings);
  }
  return findings;
}

}  // namespace

std::vector<Finding> FindLimits(const Evidence& evidence) {
  std::vector<Finding> findings;
  Ask(PathMtu, evidence, findings);
  if (!findings.empty()) return findings;
  if (evidence.subject.workload.pattern == Pattern::kRequestResponse) {
    Ask(NagleDelayedAck, evidence, findings);
    if (findings.empty()) Ask(RoundTripAlone, evidence, findings);
  } else {
    findings = OfStream(evidence);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return a.confidence < b.confidence;
                   });
  if (findings.empty()) Ask(Unknown, evidence, findings);
  return findings;
}

int SlowStartRounds(std::int64_t bytes, Bytes mss) {
  int rounds = 1;
  std::int64_t window = kInitialSegments * mss.count;
  std::int64_t sent = window;
  while (sent < bytes) {
    window *= 2;
    sent += window;
    ++rounds;
  }
  return rounds;
}

double MathisLimit(Bytes mss, Nanoseconds rtt, double p) {
  const std::chrono::duration<double> seconds = rtt;
  return static_cast<double>(mss.count) / seconds.count() * std::sqrt(1.5 / p);
}

std::string_view NameOf(Limit limit) {
  return kLimitNames.at(static_cast<std::size_t>(limit));
}

std::string_view NameOf(Confidence confidence) {
  return kConfidenceNames.at(static_cast<std::size_t>(confidence));
}

}  // namespace wiretoll
