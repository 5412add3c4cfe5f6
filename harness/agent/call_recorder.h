// Each call of a trial's loop and when it was made, where the coordinator asks
// for it (harness/capture/call_log.h).
#ifndef WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_
#define WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_

#include <cstdint>

#include "harness/base/units.h"
#include "harness/capture/call_log.h"
#include "platform/clock.h"

namespace wiretoll {

// Filled by the loop's thread, and read once that has ended. Switched off it
// costs the loop a branch a call; on, two looks at the clock.
class CallRecorder {
 public:
  // Takes what memory it needs at once, so that the loop need not.
  explicit CallRecorder(bool on) : on_(on) {
    if (on) made_.calls.reserve(kMostCalls);
  }

  [[nodiscard]] SteadyTime Begin() const {
    return on_ ? MonotonicNow() : SteadyTime{};
  }
  void Add(SteadyTime began, std::int64_t bytes) {
    if (on_) Keep(began, bytes);
  }

  [[nodiscard]] bool on() const { return on_; }
  // Times are the monotonic clock's plus `wall`.
  [[nodiscard]] EndCalls Calls(Nanoseconds wall) const;

 private:
  // 4.8 MB, and a file of the same order.
  static constexpr std::size_t kMostCalls = 200'000;

  void Keep(SteadyTime began, std::int64_t bytes) {
    if (made_.calls.size() == kMostCalls) {
      ++made_.left_out;
      return;
    }
    made_.calls.push_back({Count(began), Count(MonotonicNow()), bytes});
  }
  static std::int64_t Count(SteadyTime time) {
    return Nanoseconds{time.time_since_epoch()}.count();
  }

  bool on_;
  EndCalls made_;  // By the monotonic clock.
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_
