// When a receiver's bytes came: the first of them, and the first tenth.
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
  // `expected` bytes in all; empty: not known.
  explicit ArrivalMarks(std::optional<std::int64_t> expected)
      : expected_(expected) {}

  // Whether this many bytes are worth a look at the clock, and Mark().
  [[nodiscard]] bool Due(std::int64_t bytes) const { return bytes >= next_; }
  // `bytes` had come by `now`. Requires Due(bytes).
  void Mark(std::int64_t bytes, SteadyTime now);

  // elapsed_ns, first_read_bytes and the steady figures, of `bytes` that had
  // come when it `ended`.
  void Fill(std::int64_t bytes, SteadyTime ended, EndReport& report) const;

 private:
  void FillSteady(std::int64_t bytes, SteadyTime ended,
                  EndReport& report) const;

  static constexpr std::int64_t kNever =
      std::numeric_limits<std::int64_t>::max();

  const std::optional<std::int64_t> expected_;
  // With the first byte, and where a tenth has come.
  std::int64_t next_ = 1;
  std::optional<SteadyTime> first_;
  std::int64_t first_bytes_ = 0;
  std::optional<SteadyTime> steady_from_;
  std::int64_t steady_after_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_ARRIVAL_MARKS_H_
