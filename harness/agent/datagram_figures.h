// What a receiver makes of the numbers and times that datagrams carry.
#ifndef WIRETOLL_HARNESS_AGENT_DATAGRAM_FIGURES_H_
#define WIRETOLL_HARNESS_AGENT_DATAGRAM_FIGURES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/histogram.h"
#include "harness/base/units.h"
#include "harness/samples/sample.h"

namespace wiretoll {

enum class Arrival {
  kNew,
  kAgain,   // A duplicate.
  kAbsurd,  // A number that this trial cannot have got to.
};

// Which of a trial's datagrams came, and in what order: a bit for each.
class ArrivalOrder {
 public:
  // `planned` datagrams at most; empty: not known.
  explicit ArrivalOrder(std::optional<std::int64_t> planned);

  Arrival Add(std::int64_t number);

  [[nodiscard]] std::int64_t unique() const { return unique_; }
  [[nodiscard]] std::int64_t duplicated() const { return duplicated_; }
  // RFC 4737 4.1: came after one of a higher number. Duplicates left out.
  [[nodiscard]] std::int64_t reordered() const { return reordered_; }
  // Of these, behind at least three of higher numbers.
  [[nodiscard]] std::int64_t late() const { return late_; }

 private:
  static constexpr std::size_t kHighest = 3;

  [[nodiscard]] bool Absurd(std::int64_t number) const;
  void Keep(std::int64_t number);

  const std::optional<std::int64_t> planned_;
  std::vector<std::uint64_t> seen_;
  // The highest numbers that came, the highest first; -1: none yet.
  std::array<std::int64_t, kHighest> highest_{-1, -1, -1};
  std::int64_t unique_ = 0;
  std::int64_t duplicated_ = 0;
  std::int64_t reordered_ = 0;
  std::int64_t late_ = 0;
};

// How long datagrams took, and how evenly they came.
class DelayTimes {
 public:
  // Without the sender's clock there is jitter only.
  explicit DelayTimes(const std::optional<SenderClock>& clock)
      : clock_(clock) {}

  // Sent at `sent_ns` by the sender's monotonic clock, came at `now`.
  void Add(std::uint64_t sent_ns, SteadyTime now);

  // The delay and jitter fields of a report's datagrams.
  void Fill(EndReport& report) const;

 private:
  void FillDelay(EndReport& report) const;

  const std::optional<SenderClock> clock_;
  LatencyHistogram delays_;
  std::int64_t below_zero_ = 0;
  std::int64_t arrivals_ = 0;
  std::uint64_t transit_ = 0;  // Of the last one, by two clocks: ns modulo
                               // 2^64.
  double change_sum_ = 0;
  double rfc3550_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_DATAGRAM_FIGURES_H_
