#include "harness/agent/datagram_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/agent/datagram_header.h"
#include "harness/base/words.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kBits = 64;
// Where nobody knows how many will come: at first, and how far ahead of what
// came a number may be (seconds of loss at the rates that hosts reach).
constexpr std::int64_t kFirstNumbers = std::int64_t{1} << 20;
constexpr std::int64_t kMostAtFirst = std::int64_t{1} << 26;  // 8 MiB.
constexpr std::int64_t kFarthestAhead = std::int64_t{1} << 24;

std::size_t WordsFor(std::int64_t numbers) {
  return static_cast<std::size_t>((numbers + kBits - 1) / kBits);
}

DelaySummary SummaryOf(const LatencyHistogram& delays) {
  DelaySummary summary;
  summary.count = delays.count();
  summary.min_ns = delays.min();
  summary.p50_ns = delays.Quantile(0.5);
  summary.p90_ns = delays.Quantile(0.9);
  summary.p99_ns = delays.Quantile(0.99);
  summary.p999_ns = delays.Quantile(0.999);
  summary.max_ns = delays.max();
  summary.mean_ns = delays.Mean();
  return summary;
}

}  // namespace

ArrivalOrder::ArrivalOrder(std::optional<std::int64_t> planned)
    : planned_(planned),
      seen_(WordsFor(std::min(planned.value_or(kFirstNumbers), kMostAtFirst))) {
}

Arrival ArrivalOrder::Add(std::int64_t number) {
  if (Absurd(number)) return Arrival::kAbsurd;
  const auto word = static_cast<std::size_t>(number / kBits);
  if (word >= seen_.size()) {
    seen_.resize(std::min(2 * word + 1, WordsFor(kMostDatagrams)));
  }
  const std::uint64_t bit = std::uint64_t{1} << (number % kBits);
  if ((seen_[word] & bit) != 0) {
    ++duplicated_;
    return Arrival::kAgain;
  }
  seen_[word] |= bit;
  ++unique_;
  Keep(number);
  return Arrival::kNew;
}

bool ArrivalOrder::Absurd(std::int64_t number) const {
  if (number < 0 || number >= kMostDatagrams) return true;
  return planned_ ? number >= *planned_ : number - highest_[0] > kFarthestAhead;
}

void ArrivalOrder::Keep(std::int64_t number) {
  if (number < highest_[0]) ++reordered_;
  if (number < highest_[kHighest - 1]) {
    ++late_;
    return;
  }
  highest_[kHighest - 1] = number;
  for (std::size_t i = kHighest - 1; i > 0 && highest_[i] > highest_[i - 1];
       --i) {
    std::swap(highest_[i], highest_[i - 1]);
  }
}

// All by unsigned arithmetic: what the time says is the network's word.
void DelayTimes::Add(std::uint64_t sent_ns, SteadyTime now) {
  const auto came =
      static_cast<std::uint64_t>(Nanoseconds{now.time_since_epoch()}.count());
  const std::uint64_t transit = came - sent_ns;
  if (arrivals_ > 0) {
    const double change = std::abs(
        static_cast<double>(static_cast<std::int64_t>(transit - transit_)));
    change_sum_ += change;
    rfc3550_ += (change - rfc3550_) / 16;  // RFC 3550 6.4.1.
  }
  ++arrivals_;
  transit_ = transit;
  if (!clock_) return;
  const auto delay = static_cast<std::int64_t>(
      transit + static_cast<std::uint64_t>(clock_->offset.count()));
  if (delay < 0) ++below_zero_;
  delays_.Add(delay);
}

void DelayTimes::Fill(EndReport& report) const {
  FillDelay(report);
  if (arrivals_ > 1) {
    report.datagrams->jitter_mean_ns =
        change_sum_ / static_cast<double>(arrivals_ - 1);
    report.datagrams->jitter_rfc3550_ns = rfc3550_;
    return;
  }
  const char* why = "fewer than two datagrams came";
  report.why_null["datagrams.jitter_mean_ns"] = why;
  report.why_null["datagrams.jitter_rfc3550_ns"] = why;
}

void DelayTimes::FillDelay(EndReport& report) const {
  if (clock_ && delays_.count() > 0) {
    report.datagrams->delay = SummaryOf(delays_);
    report.datagrams->delay_error_ns = clock_->error.count();
    if (below_zero_ > 0) {
      report.why_null["datagrams.delay.below_zero"] = fmt::format(
          "{} came out below 0, by the clocks' error, and counted as 0",
          Count(below_zero_, "delay"));
    }
    return;
  }
  const char* why = clock_ ? "nothing came"
                           : "how far apart the two ends' clocks are is not "
                             "known";
  report.why_null["datagrams.delay"] = why;
  report.why_null["datagrams.delay_error_ns"] = why;
}

}  // namespace wiretoll
