#include "harness/agent/call_recorder.h"

#include <fmt/format.h>

#include <iterator>

namespace wiretoll {

std::string CallRecorder::Lines(const std::string& end,
                                Nanoseconds wall) const {
  const auto since_1970 = [wall](SteadyTime time) {
    return (time.time_since_epoch() + wall).count();
  };
  std::string lines;
  for (const Call& call : calls_) {
    fmt::format_to(std::back_inserter(lines), "{},{},{},{}\n", end,
                   since_1970(call.began), since_1970(call.returned),
                   call.bytes);
  }
  if (left_out_ > 0) {
    lines += fmt::format("{},,,{} calls left out\n", end, left_out_);
  }
  return lines;
}

}  // namespace wiretoll
