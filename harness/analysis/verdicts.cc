#include "harness/analysis/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <variant>

#include "harness/analysis/metrics.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {
namespace {

using Prediction = CaseTheory::Prediction;

// A tenth of the time, of the ACKs: what a rule's tolerance does not cover.
constexpr double kNotable = 0.1;
constexpr double kSchedulersRttNs = 1e6;

float OrNan(const std::optional<std::int64_t>& count) {
  return count ? static_cast<float>(*count)
               : std::numeric_limits<float>::quiet_NaN();
}

float ShareOfTime(const std::optional<std::int64_t>& part,
                  const std::optional<std::int64_t>& whole) {
  if (!part || whole.value_or(0) <= 0) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const double share = static_cast<double>(*part) / static_cast<double>(*whole);
  return static_cast<float>(std::min(1.0, share));
}

std::optional<double> MedianSign(const std::vector<TrialSigns>& trials,
                                 float TrialSigns::*member) {
  std::vector<double> values;
  for (const TrialSigns& trial : trials) {
    const float value = trial.*member;
    if (!std::isnan(value)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  return SortedMedian(values);
}

// Trials that were not replayed may be the ones that differ.
std::optional<double> MedianOfAll(const std::vector<TrialSigns>& trials,
                                  float TrialSigns::*member) {
  for (const TrialSigns& trial : trials) {
    if (std::isnan(trial.*member)) return std::nullopt;
  }
  return MedianSign(trials, member);
}

// A prediction that was not met, and all that may say why.
struct Miss {
  const Prediction& prediction;
  double measured;
  const Cell& cell;
  const CellSigns& signs;

  [[nodiscard]] bool more() const { return measured > prediction.value; }
  // Fewer segments than predicted, in whichever unit the rule speaks of them.
  [[nodiscard]] bool fewer_segments() const {
    return prediction.metric == Metric::kBytesPerSegment ? more() : !more();
  }
};

bool Near(double a, double b, double share, double absolute) {
  return std::abs(a - b) <= std::max(absolute, share * std::abs(b));
}

bool Meets(const Prediction& prediction, double measured) {
  const double slack =
      std::max(prediction.tolerance.absolute,
               prediction.tolerance.share * std::abs(prediction.value));
  switch (prediction.kind) {
    case PredictionKind::kAtMost:
      return measured <= prediction.value + slack;
    case PredictionKind::kAtLeast:
      return measured >= prediction.value - slack;
    default:
      return std::abs(measured - prediction.value) <= slack;
  }
}

bool OfNagle(Rule rule) {
  return rule == Rule::kNagleClassic || rule == Rule::kNagleMinshall;
}

std::string InMilliseconds(double ns) { return FormatNumber(ns / 1e6) + " ms"; }

// --- Explanations: in words, or empty where they do not apply ----------------

std::string ByReplay(const Miss& miss) {
  const auto& segments = miss.cell.figure(Metric::kDataSegments);
  if (!OfNagle(miss.prediction.id) || !segments) return {};
  const auto fits = [&](const std::optional<double>& replayed) {
    return replayed && Near(*replayed, segments->median, 0.02, 1);
  };
  const bool classic = miss.prediction.id == Rule::kNagleClassic;
  if (classic && fits(miss.signs.replay_classic)) {
    return fmt::format(
        "the ACKs as they came: replayed over them the rule gives {} segments, "
        "and {} were sent",
        FormatNumber(*miss.signs.replay_classic),
        FormatNumber(segments->median));
  }
  if (!fits(miss.signs.replay_minshall)) return {};
  return fmt::format(
      "{}: replayed over {} it gives {} segments, and {} were sent",
      classic ? "Minshall's variant" : "the ACKs as they came",
      classic ? "the ACKs as they came" : "them",
      FormatNumber(*miss.signs.replay_minshall),
      FormatNumber(segments->median));
}

// Wine runs Win32 programs over the Linux kernel's TCP.
bool RunsLinux(const Cell& cell) {
  return cell.sender_os == "linux" || cell.sender_os == "wine";
}

// The classic rule is not a Linux sender's; its own is.
std::string ByMinshall(const Miss& miss) {
  if (miss.prediction.id != Rule::kNagleClassic) return {};
  const auto& segments = miss.cell.figure(Metric::kDataSegments);
  if (!segments) return {};
  for (const Prediction& other : miss.cell.theory->predictions) {
    if (other.id != Rule::kNagleMinshall || !Meets(other, segments->median)) {
      continue;
    }
    return fmt::format(
        "Minshall's variant, which this sender has: it gives {} segments, and "
        "{} were sent",
        FormatNumber(other.value), FormatNumber(segments->median));
  }
  return {};
}

// Faster than a segment a round trip, where no closed form tells how many
// partial ones come between the full: as many as round trips at most.
std::string ByPartialSegments(const Miss& miss) {
  const auto& [rtt, bytes] = std::pair(miss.signs.rtt_ns, miss.signs.bytes);
  const auto& segments = miss.cell.figure(Metric::kDataSegments);
  const auto& elapsed = miss.cell.figure(Metric::kElapsed);
  if (miss.prediction.id != Rule::kNagleClassic || !RunsLinux(miss.cell) ||
      !rtt || *rtt <= 0 || !bytes || !segments || !elapsed) {
    return {};
  }
  const double least = *bytes / miss.prediction.value;
  const double most = least + std::ceil(elapsed->median / *rtt);
  if (segments->median < least || segments->median > most) return {};
  return fmt::format(
      "Minshall's variant, which this sender has: beside the full segments a "
      "partial one may leave each round trip, {} to {} segments in all, and {} "
      "were sent",
      FormatNumber(std::round(least)), FormatNumber(std::round(most)),
      FormatNumber(segments->median));
}

std::string ByRetransmission(const Miss& miss) {
  const double again = miss.signs.retransmitted.value_or(0);
  if (miss.prediction.metric != Metric::kDataSegments || !miss.more() ||
      again < 1 || miss.measured - miss.prediction.value > again) {
    return {};
  }
  return fmt::format("retransmission: {} of the segments were sent again",
                     FormatNumber(again));
}

std::string ByShortestRtt(const Miss& miss) {
  const auto& other = miss.prediction.at_shortest_rtt;
  if (!other || !miss.signs.rtt_ns || !miss.signs.min_rtt_ns) return {};
  const auto [low, high] = std::minmax(*other, miss.prediction.value);
  if (miss.measured < low || miss.measured > high) return {};
  return fmt::format(
      "a round trip that was not constant: {} at the shortest gives {}, {} as "
      "smoothed at the end gives {}",
      InMilliseconds(*miss.signs.min_rtt_ns), FormatNumber(*other),
      InMilliseconds(*miss.signs.rtt_ns), FormatNumber(miss.prediction.value));
}

bool IsBoundOfLine(Rule rule) {
  return rule == Rule::kLineLimit || rule == Rule::kFrameRate ||
         rule == Rule::kWindowLimit || rule == Rule::kQueueBacklog;
}

// Rules of what that holding back is itself.
bool IsOfWindow(Rule rule) {
  return rule == Rule::kReceiverSillyWindow ||
         rule == Rule::kSenderSillyWindow || rule == Rule::kPersistTimer;
}

std::string ByWindow(const Miss& miss) {
  const double share = miss.signs.window_share.value_or(0);
  if (share < kNotable || IsBoundOfLine(miss.prediction.id) ||
      IsOfWindow(miss.prediction.id)) {
    return {};
  }
  return fmt::format(
      "the peer's window, which held the sender back for {:.0f} % of its time",
      100 * share);
}

std::string BySendBuffer(const Miss& miss) {
  const double share = miss.signs.sndbuf_share.value_or(0);
  if (share < kNotable || IsBoundOfLine(miss.prediction.id) ||
      IsOfWindow(miss.prediction.id) ||
      miss.prediction.id == Rule::kSendBuffer) {
    return {};
  }
  return fmt::format(
      "the send buffer, which held the sender back for {:.0f} % of its time",
      100 * share);
}

std::string ByDelayedAcks(const Miss& miss) {
  const auto& [acks, segments] =
      std::pair(miss.signs.acks, miss.signs.segments);
  if (!OfNagle(miss.prediction.id) || !acks || !segments ||
      !miss.fewer_segments() || *acks > (1 - kNotable) * *segments) {
    return {};
  }
  return fmt::format(
      "delayed ACKs, which lengthen the round trip: {} ACKs for {} segments",
      FormatNumber(*acks), FormatNumber(*segments));
}

std::string ByAutocorking(const Miss& miss) {
  if (miss.prediction.id != Rule::kInitialWindow || miss.more() ||
      !miss.signs.autocorking) {
    return {};
  }
  return "autocorking, which is on at the sender: it merges writes while "
         "earlier ones are still in the queue";
}

std::string ByBurst(const Miss& miss) {
  if (miss.prediction.id != Rule::kLineLimit || miss.signs.burst.count <= 0 ||
      miss.signs.bytes.value_or(0) <= 0) {
    return {};
  }
  const double gain =
      static_cast<double>(miss.signs.burst.count) / *miss.signs.bytes;
  const double most =
      miss.prediction.value * (1 + gain + miss.prediction.tolerance.share);
  if (miss.measured > most) return {};
  return fmt::format(
      "the shaper's burst: {} bytes go ahead of the rate, {:.2g} % of this "
      "stream",
      miss.signs.burst.count, 100 * gain);
}

std::string ByScheduling(const Miss& miss) {
  const auto& rtt = miss.signs.rtt_ns;
  if (!rtt || *rtt >= kSchedulersRttNs ||
      !(OfNagle(miss.prediction.id) ||
        miss.prediction.id == Rule::kInitialWindow)) {
    return {};
  }
  return fmt::format(
      "a round trip of {}: below 1 ms the hosts' scheduling decides when an "
      "ACK is seen, not the network",
      InMilliseconds(*rtt));
}

std::string ByDisturbance(const Miss& miss) {
  if (2 * miss.signs.disturbed <= miss.signs.trials) return {};
  return fmt::format("disturbance from outside in {} of {} trials",
                     miss.signs.disturbed, miss.signs.trials);
}

constexpr std::array kExplanations = {
    ByReplay, ByMinshall,        ByRetransmission, ByShortestRtt,
    ByWindow, BySendBuffer,      ByDelayedAcks,    ByAutocorking,
    ByBurst,  ByPartialSegments, ByScheduling,     ByDisturbance};

std::string MetInWords(const Prediction& prediction, double measured) {
  switch (prediction.kind) {
    case PredictionKind::kAtMost:
      return measured <= prediction.value ? "not above it"
                                          : "above it, within the tolerance";
    case PredictionKind::kAtLeast:
      return measured >= prediction.value ? "not below it"
                                          : "below it, within the tolerance";
    default:
      break;
  }
  const double apart = std::abs(measured - prediction.value);
  if (apart == 0) return "equal";
  if (prediction.value == 0) return "within the tolerance";
  return fmt::format("within {:.2g} % of it",
                     100 * apart / std::abs(prediction.value));
}

std::string MissInWords(const Miss& miss) {
  return fmt::format(
      "unexplained: {} against {}{}, and nothing that was "
      "observed says why",
      FormatNumber(miss.measured),
      miss.prediction.kind == PredictionKind::kAtMost    ? "at most "
      : miss.prediction.kind == PredictionKind::kAtLeast ? "at least "
                                                         : "",
      FormatNumber(miss.prediction.value));
}

void Explain(const Miss& miss, PredictionVerdict& verdict) {
  for (const auto& explanation : kExplanations) {
    std::string words = explanation(miss);
    if (words.empty()) continue;
    verdict.explanation = Explanation::kExplained;
    verdict.words = "explained by " + words;
    return;
  }
  verdict.explanation = Explanation::kUnexplained;
  verdict.words = MissInWords(miss);
}

}  // namespace

TrialSigns SignsOf(const Sample& sample) {
  TrialSigns signs;
  signs.retransmitted = signs.window_share = signs.sndbuf_share = signs.acks =
      signs.segments = signs.replay_minshall = signs.replay_classic =
          std::numeric_limits<float>::quiet_NaN();
  if (sample.wire) {
    signs.retransmitted = OrNan(sample.wire->retransmitted_segments);
    signs.acks = OrNan(sample.wire->ack_segments);
    signs.segments = OrNan(sample.wire->data_segments);
  }
  if (sample.capture) {
    signs.replay_minshall = OrNan(sample.capture->replay_minshall);
    signs.replay_classic = OrNan(sample.capture->replay_classic);
  }
  if (sample.sender) {
    const TcpCounters& counters = sample.sender->counters;
    signs.window_share =
        ShareOfTime(counters.window_limited_ns, counters.busy_ns);
    signs.sndbuf_share =
        ShareOfTime(counters.sndbuf_limited_ns, counters.busy_ns);
  }
  return signs;
}

void TakeMedians(const std::vector<TrialSigns>& trials, CellSigns& signs) {
  signs.retransmitted = MedianSign(trials, &TrialSigns::retransmitted);
  signs.window_share = MedianSign(trials, &TrialSigns::window_share);
  signs.sndbuf_share = MedianSign(trials, &TrialSigns::sndbuf_share);
  signs.acks = MedianSign(trials, &TrialSigns::acks);
  signs.segments = MedianSign(trials, &TrialSigns::segments);
  signs.replay_minshall = MedianOfAll(trials, &TrialSigns::replay_minshall);
  signs.replay_classic = MedianOfAll(trials, &TrialSigns::replay_classic);
}

Bytes BurstOf(const RecordedLink& link) {
  const auto qdisc = link.settings.find("qdisc");
  if (qdisc == link.settings.end()) return {};
  constexpr std::string_view kKey = " burst ";
  const std::string& text = qdisc->second;
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return {};
  std::int64_t burst = 0;
  const char* const begin = text.data() + at + kKey.size();
  const auto read = std::from_chars(begin, text.data() + text.size(), burst);
  return read.ec == std::errc() && burst > 0 ? Bytes{burst} : Bytes{};
}

std::optional<std::int64_t> FactOf(const RunRecord& record,
                                   const std::string& host,
                                   const std::string& fact) {
  const RecordedHost* known = FindHost(record, host);
  if (known == nullptr) return std::nullopt;
  for (const RecordedFact& one : known->facts) {
    if (one.name != fact) continue;
    const auto* value = std::get_if<std::int64_t>(&one.value);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  return std::nullopt;
}

std::vector<PredictionVerdict> VerdictsOf(const Cell& cell,
                                          const CellSigns& signs) {
  std::vector<PredictionVerdict> verdicts;
  if (!cell.theory) return verdicts;
  const std::vector<Prediction>& predictions = cell.theory->predictions;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    PredictionVerdict verdict;
    verdict.prediction = i;
    if (const auto& figure = cell.figure(predictions[i].metric)) {
      verdict.measured = figure->median;
      if (Meets(predictions[i], figure->median)) {
        verdict.explanation = Explanation::kAsPredicted;
        verdict.words = MetInWords(predictions[i], figure->median);
      } else {
        Explain({predictions[i], figure->median, cell, signs}, verdict);
      }
    } else {
      const auto why = cell.why_missing.find(predictions[i].metric);
      verdict.words = "not measured: " + (why == cell.why_missing.end()
                                              ? std::string("no trial has it")
                                              : why->second);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace wiretoll
