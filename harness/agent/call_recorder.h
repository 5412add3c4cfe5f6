// Each call of a trial's loop and when it was made, where the coordinator asks
// for it (harness/capture/call_log.h).
#ifndef WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_
#define WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/units.h"
#include "platform/clock.h"

namespace wiretoll {

// Filled by the loop's thread, and read once that has ended. Switched off it
// costs the loop a branch a call; on, two looks at the clock.
class CallRecorder {
 public:
  // Takes what memory it needs at once, so that the loop need not.
  explicit CallRecorder(bool on) : on_(on) {
    if (on) calls_.reserve(kMostCalls);
  }

  [[nodiscard]] SteadyTime Begin() const {
    return on_ ? MonotonicNow() : SteadyTime{};
  }
  void Add(SteadyTime began, std::int64_t bytes) {
    if (on_) Keep(began, bytes);
  }

  [[nodiscard]] bool on() const { return on_; }
  // The lines of one `end` ("sender"): times of the monotonic clock plus
  // `wall`.
  [[nodiscard]] std::string Lines(const std::string& end,
                                  Nanoseconds wall) const;

 private:
  // 4.8 MB, and a file of the same order.
  static constexpr std::size_t kMostCalls = 200'000;

  struct Call {
    SteadyTime began;
    SteadyTime returned;
    std::int64_t bytes = 0;
  };
  void Keep(SteadyTime began, std::int64_t bytes) {
    if (calls_.size() == kMostCalls) {
      ++left_out_;
      return;
    }
    calls_.push_back({began, MonotonicNow(), bytes});
  }

  bool on_;
  std::vector<Call> calls_;
  std::int64_t left_out_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_CALL_RECORDER_H_
