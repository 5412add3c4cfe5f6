// What a program did in a trial that was captured: every call of its loop and
// when, beside the capture. `captures/TRIAL.calls.csv`:
//
//   end,began_ns,returned_ns,bytes
//   sender,1796112000000000000,1796112000000002100,1
//   receiver,...
//
// Times are nanoseconds since 1970-01-01T00:00:00Z by the end's own wall
// clock; of one end's calls in the order they were made.
#ifndef WIRETOLL_HARNESS_CAPTURE_CALL_LOG_H_
#define WIRETOLL_HARNESS_CAPTURE_CALL_LOG_H_

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// One Send or Receive. A Receive of no bytes is the end of the stream.
struct ProgramCall {
  std::int64_t began_ns = 0;
  std::int64_t returned_ns = 0;
  std::int64_t bytes = 0;
  bool operator==(const ProgramCall&) const = default;
};

struct EndCalls {
  std::vector<ProgramCall> calls;
  // Calls that were made and are not listed, because there were too many.
  std::int64_t left_out = 0;
};

// Of a request-response both ends send and receive: sends of the client and
// the server, in that order under `sender` and `receiver`.
struct CallLog {
  EndCalls sender;
  EndCalls receiver;
};

inline constexpr std::string_view kCallLogHead =
    "end,began_ns,returned_ns,bytes";
inline constexpr std::string_view kCallsLeftOut = " calls left out";

// The lines of one end, which is "sender" or "receiver", as its agent gives
// them.
std::string EndCallsText(std::string_view end, const EndCalls& calls);
// The text of the file. Calls left out are a last line of an end with empty
// times and their number: "sender,,,1200 calls left out".
std::string CallLogText(const CallLog& log);
// kUsage: cannot be read, or line N is no such line; names file and line.
Outcome<CallLog> ReadCallLog(const std::filesystem::path& file);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_CALL_LOG_H_
