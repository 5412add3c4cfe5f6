#include "harness/agent/call_recorder.h"

#include <fmt/format.h>

#include <iterator>

namespace wiretoll {

std::string CallRecorder::Lines(const std::string& end) const {
  const Nanoseconds offset = WallMinusMonotonic();
  const auto wall = [offset](SteadyTime time) {
    return (time.time_since_epoch() + offset).count();
  };
  std::string lines;
  for (const Call& call : calls_) {
    fmt::format_to(std::back_inserter(lines), "{},{},{},{}\n", end,
                   wall(call.began), wall(call.returned), call.bytes);
  }
  if (left_out_ > 0) {
    lines += fmt::format("{},,,{} calls left out\n", end, left_out_);
  }
  return lines;
}

}  // namespace wiretoll
