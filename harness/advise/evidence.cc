#include "harness/advise/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "harness/analysis/statistics.h"
#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

using MaybeCount = std::optional<std::int64_t>;

const RecordedFact* FactNamed(const PairHost& host, std::string_view name) {
  const auto found =
      std::find_if(host.facts.begin(), host.facts.end(),
                   [&](const RecordedFact& fact) { return fact.name == name; });
  return found == host.facts.end() ? nullptr : &*found;
}

MaybeCount WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return SortedMedian(values);
}

// The median of what `get` gives of the trials that have it.
template <class Get>
std::optional<double> Median(const std::vector<EndPair>& trials, Get get) {
  std::vector<double> values;
  for (const EndPair& trial : trials) {
    if (const auto value = get(trial))
      values.push_back(static_cast<double>(*value));
  }
  return MedianOf(std::move(values));
}

MaybeCount Rounded(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return std::llround(*value);
}

template <class Unit>
std::optional<Unit> As(const MaybeCount& count) {
  if (!count) return std::nullopt;
  return Unit{*count};
}

std::optional<double> Share(const MaybeCount& part, const MaybeCount& whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return std::clamp(static_cast<double>(*part) / static_cast<double>(*whole),
                    0.0, 1.0);
}

template <TcpCounters::Count TcpCounters::*kMember>
MaybeCount Counted(const EndPair& trial) {
  return trial.sender.counters.*kMember;
}

template <TcpCounters::Count TcpCounters::*kMember>
MaybeCount MedianCount(const std::vector<EndPair>& trials) {
  return Rounded(Median(trials, Counted<kMember>));
}

// Empty if any of them lacks it.
template <TcpCounters::Count TcpCounters::*kMember>
MaybeCount SumOf(const std::vector<EndPair>& trials) {
  std::int64_t sum = 0;
  for (const EndPair& trial : trials) {
    const MaybeCount count = Counted<kMember>(trial);
    if (!count) return std::nullopt;
    sum += *count;
  }
  return sum;
}

std::optional<double> SpeedOf(const EndPair& trial) {
  const auto& elapsed = trial.receiver.elapsed_ns;
  if (!elapsed || *elapsed <= 0) return std::nullopt;
  return static_cast<double>(trial.receiver.bytes) * 1e9 /
         static_cast<double>(*elapsed);
}

void FillTimes(const std::vector<EndPair>& trials, SubjectFigures& figures) {
  figures.busy = As<Nanoseconds>(MedianCount<&TcpCounters::busy_ns>(trials));
  figures.busy_share = Median(trials, [](const EndPair& trial) {
    return Share(trial.sender.counters.busy_ns, trial.sender.elapsed_ns);
  });
  figures.window_share = Median(trials, [](const EndPair& trial) {
    const TcpCounters& counters = trial.sender.counters;
    return Share(counters.window_limited_ns, counters.busy_ns);
  });
  figures.sndbuf_share = Median(trials, [](const EndPair& trial) {
    const TcpCounters& counters = trial.sender.counters;
    return Share(counters.sndbuf_limited_ns, counters.busy_ns);
  });
  figures.srtt = As<Nanoseconds>(MedianCount<&TcpCounters::rtt_ns>(trials));
  figures.min_rtt =
      As<Nanoseconds>(MedianCount<&TcpCounters::min_rtt_ns>(trials));
  figures.handshake = As<Nanoseconds>(Rounded(Median(
      trials, [](const EndPair& t) { return t.sender.rtt_handshake_ns; })));
}

void FillCounts(const std::vector<EndPair>& trials, SubjectFigures& figures) {
  figures.retransmitted_segments =
      SumOf<&TcpCounters::retransmitted_segments>(trials);
  figures.data_segments = SumOf<&TcpCounters::data_segments_out>(trials);
  figures.retransmitted =
      Share(figures.retransmitted_segments, figures.data_segments);
  figures.peak_window =
      As<Bytes>(MedianCount<&TcpCounters::peer_window_peak_bytes>(trials));
  figures.window_scale = MedianCount<&TcpCounters::peer_window_scale>(trials);
  figures.mss = As<Bytes>(MedianCount<&TcpCounters::mss_bytes>(trials));
  figures.path_mtu = MedianCount<&TcpCounters::path_mtu_bytes>(trials);
  const auto segments = MedianCount<&TcpCounters::cwnd_segments>(trials);
  if (segments && figures.mss)
    figures.flight = Bytes{*segments * figures.mss->count};
  if (!trials.empty())
    figures.why_no_counters = trials.front().sender.counters.reason;
}

std::optional<double> BytesACall(const EndReport& end) {
  if (end.calls <= 0) return std::nullopt;
  return static_cast<double>(end.bytes) / static_cast<double>(end.calls);
}

// Pauses stand between blocks.
std::optional<double> GapShare(const EndPair& trial, const Workload& workload) {
  const EndReport& sender = trial.sender;
  if (!sender.gap_mean_ns || !sender.elapsed_ns || *sender.elapsed_ns <= 0)
    return std::nullopt;
  const double blocks =
      static_cast<double>(sender.calls) /
      static_cast<double>(std::max<std::int64_t>(1, WritesInBlock(workload)));
  return *sender.gap_mean_ns * std::max(0.0, blocks - 1) /
         static_cast<double>(*sender.elapsed_ns);
}

void FillPrograms(const std::vector<EndPair>& trials, SubjectFigures& figures) {
  const auto cpu = [](const EndReport& end) {
    return Share(end.cpu_ns, end.elapsed_ns);
  };
  figures.sender_cpu =
      Median(trials, [&](const EndPair& t) { return cpu(t.sender); });
  figures.receiver_cpu =
      Median(trials, [&](const EndPair& t) { return cpu(t.receiver); });
  figures.gap_share = Median(
      trials, [&](const EndPair& t) { return GapShare(t, figures.workload); });
  figures.bytes_a_read =
      Median(trials, [](const EndPair& t) { return BytesACall(t.receiver); });
  figures.bytes_a_write =
      Median(trials, [](const EndPair& t) { return BytesACall(t.sender); });
}

std::optional<OptionReading> OptionOf(const EndReport& end,
                                      const std::string& name) {
  const auto found = end.options.find(name);
  if (found == end.options.end()) return std::nullopt;
  return found->second;
}

void FillOptions(const std::vector<EndPair>& trials, SubjectFigures& figures) {
  if (trials.empty()) return;
  const EndPair& first = trials.front();
  figures.rcvbuf = OptionOf(first.receiver, "rcvbuf");
  figures.sndbuf = OptionOf(first.sender, "sndbuf");
  if (const auto congestion = OptionOf(first.sender, "congestion")) {
    const auto* name = std::get_if<std::string>(&congestion->effective);
    if (name != nullptr) figures.congestion = *name;
  }
}

// The trial whose median is the median of all, near enough.
std::optional<LatencySummary> LatencyOf(const std::vector<EndPair>& trials) {
  std::vector<LatencySummary> all;
  for (const EndPair& trial : trials) {
    if (trial.sender.latency) all.push_back(*trial.sender.latency);
  }
  if (all.empty()) return std::nullopt;
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.p50_ns < b.p50_ns; });
  return all[all.size() / 2];
}

HeaderStack StackOf(const Evidence& evidence) {
  HeaderStack stack;
  if (evidence.receiver.address.find(':') != std::string::npos)
    stack.ip_version = 6;
  stack.timestamps = OnOffFact(evidence.sender, "tcp_timestamps") != false &&
                     OnOffFact(evidence.receiver, "tcp_timestamps") != false;
  return stack;
}

std::optional<Nanoseconds> MedianRtt(
    const std::optional<LatencySummary>& rounds) {
  if (!rounds || rounds->count == 0) return std::nullopt;
  return Nanoseconds{rounds->p50_ns};
}

std::string SpellWrites(const std::vector<Bytes>& writes) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(writes.size());
  for (const Bytes write : writes) sizes.push_back(write.count);
  return fmt::format("{}", fmt::join(sizes, "+"));
}

std::string SpellStream(const Workload& work) {
  std::string words =
      fmt::format("a stream of {} writes", FormatBytes(work.write));
  if (work.block)
    words += fmt::format(" in blocks of {}", FormatBytes(*work.block));
  if (work.gap.count() > 0)
    words += fmt::format(", a pause of {} between", FormatDuration(work.gap));
  if (work.rate) words += ", paced at " + FormatBitRate(*work.rate);
  if (work.read < Bytes{65536})
    words += fmt::format(", read {} at a time", FormatBytes(work.read));
  return words;
}

}  // namespace

std::optional<std::int64_t> NumberFact(const PairHost& host,
                                       std::string_view name) {
  const RecordedFact* fact = FactNamed(host, name);
  if (fact == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&fact->value))
    return *number;
  const auto* text = std::get_if<std::string>(&fact->value);
  return text == nullptr ? std::nullopt : WholeNumber(*text);
}

std::optional<std::string> TextFact(const PairHost& host,
                                    std::string_view name) {
  const RecordedFact* fact = FactNamed(host, name);
  if (fact == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&fact->value);
  if (text == nullptr) return std::nullopt;
  // Blanks and tabs between numbers are all the same.
  std::istringstream words(*text);
  std::string squeezed;
  for (std::string word; words >> word;)
    squeezed += (squeezed.empty() ? "" : " ") + word;
  return squeezed;
}

std::optional<bool> SwitchFact(const PairHost& host, std::string_view name) {
  const RecordedFact* fact = FactNamed(host, name);
  if (fact == nullptr) return std::nullopt;
  const auto* flag = std::get_if<bool>(&fact->value);
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<bool> OnOffFact(const PairHost& host, std::string_view name) {
  if (const auto flag = SwitchFact(host, name)) return flag;
  const auto number = NumberFact(host, name);
  return number ? std::optional(*number != 0) : std::nullopt;
}

std::optional<std::int64_t> LargestOf(const PairHost& host,
                                      std::string_view name) {
  const auto text = TextFact(host, name);
  if (!text) return std::nullopt;
  const std::string_view words = *text;
  const std::size_t blank = words.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return WholeNumber(words.substr(blank + 1));
}

std::optional<Nanoseconds> BaseRtt(const Evidence& evidence) {
  const auto first = MedianRtt(evidence.first_rtt);
  const auto last = MedianRtt(evidence.last_rtt);
  if (first && last) return std::min(*first, *last);
  if (first) return first;
  if (last) return last;
  return evidence.subject.min_rtt;
}

std::optional<Nanoseconds> LoadedRtt(const Evidence& evidence) {
  const auto beside = MedianRtt(evidence.loaded_rtt);
  const auto& own = evidence.subject.srtt;
  if (evidence.subject.workload.pattern != Pattern::kStream) return beside;
  if (beside && own) return std::max(*beside, *own);
  return beside ? beside : own;
}

Bytes SegmentOf(const Evidence& evidence) {
  if (evidence.subject.mss && evidence.subject.mss->count > 0)
    return *evidence.subject.mss;
  const HeaderStack stack = StackOf(evidence);
  const std::int64_t mtu =
      std::min(NumberFact(evidence.sender, "mtu_bytes").value_or(1500),
               NumberFact(evidence.receiver, "mtu_bytes").value_or(1500));
  const Bytes headers = NetworkHeaders(stack);
  return Bytes{std::max<std::int64_t>(1, mtu - headers.count)};
}

std::optional<double> LineCapacity(const Evidence& evidence) {
  if (!evidence.line) return std::nullopt;
  const FrameCost frame = CostOfFrame(SegmentOf(evidence), StackOf(evidence));
  return LineLimit(evidence.line->rate, Efficiency(frame));
}

std::optional<Bytes> BdpOf(const Evidence& evidence) {
  const auto rtt = BaseRtt(evidence);
  if (!evidence.line || !rtt) return std::nullopt;
  return BandwidthDelayProduct(evidence.line->rate, *rtt);
}

std::optional<RepeatedFigure> RepeatedOf(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  MedianIntervals intervals(1);
  const Estimate estimate = intervals.Of(values);
  RepeatedFigure figure;
  figure.median = estimate.median;
  figure.repeats = static_cast<int>(values.size());
  if (estimate.interval) {
    figure.low = estimate.interval->low;
    figure.high = estimate.interval->high;
  }
  return figure;
}

SubjectFigures FiguresOf(std::string name, const Workload& workload,
                         const std::vector<EndPair>& trials) {
  SubjectFigures figures;
  figures.name = std::move(name);
  figures.workload = workload;
  figures.trials = static_cast<int>(trials.size());
  std::vector<double> speeds;
  for (const EndPair& trial : trials) {
    if (const auto speed = SpeedOf(trial)) speeds.push_back(*speed);
  }
  if (workload.pattern == Pattern::kStream)
    figures.bytes_per_second = RepeatedOf(speeds);
  figures.bytes = Rounded(Median(trials, [](const EndPair& t) {
    return std::optional(t.receiver.bytes);
  }));
  figures.elapsed = As<Nanoseconds>(Rounded(
      Median(trials, [](const EndPair& t) { return t.receiver.elapsed_ns; })));
  FillTimes(trials, figures);
  FillCounts(trials, figures);
  FillPrograms(trials, figures);
  FillOptions(trials, figures);
  figures.latency = LatencyOf(trials);
  return figures;
}

std::string SpellWorkload(const Workload& work) {
  std::string words;
  if (work.pattern == Pattern::kRequestResponse) {
    words = fmt::format("requests of {} bytes and replies of {}",
                        SpellWrites(work.request), SpellWrites(work.reply));
  } else {
    words = SpellStream(work);
  }
  if (work.rcvbuf) words += ", SO_RCVBUF " + FormatBytes(*work.rcvbuf);
  if (work.sndbuf) words += ", SO_SNDBUF " + FormatBytes(*work.sndbuf);
  if (!work.nagle) words += ", Nagle off";
  return words;
}

std::optional<std::string> RttChange(const Evidence& evidence) {
  const auto first = MedianRtt(evidence.first_rtt);
  const auto last = MedianRtt(evidence.last_rtt);
  if (!first || !last) return std::nullopt;
  constexpr Nanoseconds kLeast{1'000'000};
  const Nanoseconds change = std::chrono::abs(*last - *first);
  if (change < kLeast || 4 * change < std::min(*first, *last))
    return std::nullopt;
  return fmt::format(
      "the round trip changed under way: {} at first, {} at last. What is said "
      "of windows goes by the shorter; measure again when the path is calm",
      FormatDuration(*first), FormatDuration(*last));
}

}  // namespace wiretoll
