#include "harness/agent/write_plan.h"

#include <cmath>
#include <limits>

#include "harness/agent/trial_loop.h"
#include "platform/clock.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

// What a block of fewer bytes makes of a write.
std::int64_t WriteOf(const Workload& workload) {
  return std::min(workload.write.count, BlockOf(workload).count);
}

// Of `bytes` in writes of `write`.
std::int64_t WritesFor(std::int64_t bytes, std::int64_t write) {
  return bytes / write + (bytes % write > 0 ? 1 : 0);
}

}  // namespace

WritePlan::WritePlan(const Workload& workload)
    : write_(WriteOf(workload)),
      block_(BlockOf(workload).count),
      in_blocks_(block_ > write_),
      pauses_(workload.gap.count() > 0),
      most_bytes_(workload.stop_bytes.value_or(Bytes{kUnbounded}).count),
      bytes_left_(most_bytes_),
      writes_left_(workload.stop_messages.value_or(kUnbounded)),
      block_left_(block_) {}

int WritePlan::Alike(int most) const {
  const std::int64_t size = Next();
  std::int64_t alike = std::min(bytes_left_ / size, writes_left_);
  if (in_blocks_ || pauses_) alike = std::min(alike, block_left_ / size);
  return static_cast<int>(std::clamp<std::int64_t>(alike, 1, most));
}

bool Pacer::AwaitDue(TrialControl& control, const WritePlan& plan) {
  const bool pause = gap_.count() > 0 && plan.AtBlockEnd();
  const SteadyTime written = MonotonicNow();
  SteadyTime due = pause ? written + gap_ : written;
  if (rate_) due = std::max(due, DueByRate(plan.taken_bytes()));
  if (!control.PauseUntil(due)) return false;
  if (pause) pauses_.Add((MonotonicNow() - written).count());
  return true;
}

SteadyTime Pacer::DueByRate(std::int64_t bytes) const {
  constexpr double kLongestNs = 1e17;  // Three years: never.
  const double ns = 8e9 * static_cast<double>(bytes) / rate_->value;
  return begun_ + Nanoseconds(std::llround(std::min(ns, kLongestNs)));
}

void Pacer::Fill(EndReport& report) const {
  FillPauses(pauses_, gap_.count() > 0, report);
}

std::optional<std::int64_t> PlannedBytes(const Workload& workload) {
  std::optional<std::int64_t> planned;
  if (workload.stop_bytes) planned = workload.stop_bytes->count;
  const std::int64_t write = WriteOf(workload);
  if (workload.stop_messages && *workload.stop_messages <= kUnbounded / write) {
    const std::int64_t writes = WritesInBlock(workload);
    const std::int64_t whole = *workload.stop_messages / writes;
    const std::int64_t rest = *workload.stop_messages % writes;
    planned = std::min(planned.value_or(kUnbounded),
                       whole * BlockOf(workload).count + rest * write);
  }
  return planned;
}

std::optional<std::int64_t> PlannedWrites(const Workload& workload) {
  std::optional<std::int64_t> planned = workload.stop_messages;
  if (workload.stop_bytes) {
    const std::int64_t block = BlockOf(workload).count;
    const std::int64_t bytes = workload.stop_bytes->count;
    const std::int64_t writes = bytes / block * WritesInBlock(workload) +
                                WritesFor(bytes % block, WriteOf(workload));
    planned = std::min(planned.value_or(kUnbounded), writes);
  }
  return planned;
}

std::int64_t ShortestWrite(const Workload& workload) {
  const std::int64_t write = WriteOf(workload);
  const std::int64_t block = BlockOf(workload).count;
  std::int64_t shortest = write;
  if (block % write > 0) shortest = block % write;
  if (workload.stop_bytes &&
      PlannedBytes(workload) == workload.stop_bytes->count) {
    const std::int64_t tail = workload.stop_bytes->count % block % write;
    if (tail > 0) shortest = std::min(shortest, tail);
  }
  return shortest;
}

}  // namespace wiretoll
