#include <fmt/format.h>

#include <iterator>

#include "harness/capture/call_log.h"

namespace wiretoll {

std::string EndCallsText(std::string_view end, const EndCalls& calls) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const ProgramCall& call : calls.calls) {
    fmt::format_to(out, "{},{},{},{}\n", end, call.began_ns, call.returned_ns,
                   call.bytes);
  }
  if (calls.left_out > 0) {
    fmt::format_to(out, "{},,,{}{}\n", end, calls.left_out, kCallsLeftOut);
  }
  return text;
}

std::string CallLogText(const CallLog& log) {
  return fmt::format("{}\n{}{}", kCallLogHead,
                     EndCallsText("sender", log.sender),
                     EndCallsText("receiver", log.receiver));
}

}  // namespace wiretoll
