// When a receiver's bytes came: the first of them, and those of steady state.
#ifndef WIRETOLL_HARNESS_AGENT_ARRIVAL_MARKS_H_
#define WIRETOLL_HARNESS_AGENT_ARRIVAL_MARKS_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "harness/base/units.h"
#include "harness/samples/sample.h"

namespace wiretoll {

class ArrivalMarks {
 public:
  // `expected` bytes in all; empty: not known. Steady state begins `warmup`
  // after the first byte; without one (0), once a tenth has come.
  explicit ArrivalMarks(std::optional<std::int64_t> expected,
                        Nanoseconds warmup = Nanoseconds{0})
      : expected_(expected), warmup_(warmup) {}

  // Whether this many bytes are worth a look at the clock, and Mark().
  [[nodiscard]] bool Due(std::int64_t bytes) const { return bytes >= next_; }
  // `bytes` had come by `now`. Requires Due(bytes).
  void Mark(std::int64_t bytes, SteadyTime now);

  // elapsed_ns, first_read_bytes and the steady figures, of `bytes` that had
  // come when it `ended`.
  void Fill(std::int64_t bytes, SteadyTime ended, EndReport& report) const;

 private:
  [[nodiscard]] const char* WhyNotSteady() const;
  void FillSteady(std::int64_t bytes, SteadyTime ended,
                  EndReport& report) const;

  static constexpr std::int64_t kNever =
      std::numeric_limits<std::int64_t>::max();

  const std::optional<std::int64_t> expected_;
  const Nanoseconds warmup_;
  // With the first byte, and where a tenth has come; or with each byte of the
  // warm-up.
  std::int64_t next_ = 1;
  std::optional<SteadyTime> first_;
  std::int64_t first_bytes_ = 0;
  std::optional<SteadyTime> steady_from_;
  std::int64_t steady_after_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_ARRIVAL_MARKS_H_
