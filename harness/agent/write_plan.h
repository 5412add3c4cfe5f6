// How a stream is handed over: in which writes, and when.
#ifndef WIRETOLL_HARNESS_AGENT_WRITE_PLAN_H_
#define WIRETOLL_HARNESS_AGENT_WRITE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "harness/agent/trial_control.h"
#include "harness/base/histogram.h"
#include "harness/base/units.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

// The writes of a stream until the first of stop_bytes and stop_messages. The
// last write of a block, and of all, is as short as need be.
class WritePlan {
 public:
  explicit WritePlan(const Workload& workload);

  [[nodiscard]] bool More() const {
    return writes_left_ > 0 && bytes_left_ > 0;
  }
  // Bytes of the next write. Requires More().
  [[nodiscard]] std::int64_t Next() const {
    return std::min(NextOfOneSize(), block_left_);
  }
  // How many writes of Next() bytes follow one another, at most `most`, none of
  // them beyond a pause. Requires More(); at least 1.
  [[nodiscard]] int Alike(int most) const;
  // `count` writes of Next() bytes each are done.
  void Take(std::int64_t bytes, int count = 1) {
    TakeOfOneSize(bytes * count, count);
    block_left_ -= bytes * count;
    // Over a block's end only where blocks are single writes.
    if (block_left_ <= 0) block_left_ = block_;
  }
  [[nodiscard]] bool AtBlockEnd() const { return block_left_ == block_; }
  // Of the writes taken.
  [[nodiscard]] std::int64_t taken_bytes() const {
    return most_bytes_ - bytes_left_;
  }

  // --- Where !in_blocks(), the same in fewer steps: for the loop that has no
  // time for more.
  [[nodiscard]] bool in_blocks() const { return in_blocks_; }
  [[nodiscard]] std::int64_t NextOfOneSize() const {
    return std::min(write_, bytes_left_);
  }
  void TakeOfOneSize(std::int64_t bytes, int count = 1) {
    writes_left_ -= count;
    bytes_left_ -= bytes;
  }

 private:
  std::int64_t write_;
  std::int64_t block_;
  bool in_blocks_;
  bool pauses_;  // After each block.
  std::int64_t most_bytes_;
  std::int64_t bytes_left_;
  std::int64_t writes_left_;
  std::int64_t block_left_;
};

// Keeps the gap between blocks and the rate of writes.
class Pacer {
 public:
  explicit Pacer(const Workload& workload)
      : gap_(workload.gap), rate_(workload.rate) {}

  [[nodiscard]] bool paced() const { return gap_.count() > 0 || rate_; }
  void Begin(SteadyTime begun) { begun_ = begun; }
  // Waits until the next write of `plan` is due. One that is late is due at
  // once; the schedule is not moved for it. False if a stop came first.
  bool Await(TrialControl& control, const WritePlan& plan) {
    return !paced() || AwaitDue(control, plan);
  }
  // Pauses kept.
  void Fill(EndReport& report) const;

 private:
  bool AwaitDue(TrialControl& control, const WritePlan& plan);
  [[nodiscard]] SteadyTime DueByRate(std::int64_t bytes) const;

  const Nanoseconds gap_;
  const std::optional<BitsPerSecond> rate_;
  SteadyTime begun_{};
  LatencyHistogram pauses_;
};

// What a stream will carry, if that is known before; a time limit may still
// end it sooner.
std::optional<std::int64_t> PlannedBytes(const Workload& workload);
// In how many writes; as PlannedBytes().
std::optional<std::int64_t> PlannedWrites(const Workload& workload);
// The shortest of a stream's writes.
std::int64_t ShortestWrite(const Workload& workload);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_WRITE_PLAN_H_
