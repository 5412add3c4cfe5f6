#include "harness/capture/call_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "harness/base/words.h"

namespace wiretoll {
namespace {

// The text up to the comma, which goes too.
std::string_view Field(std::string_view& line) {
  const std::size_t comma = line.find(',');
  const std::string_view field = line.substr(0, comma);
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return field;
}

bool ReadCount(std::string_view text, std::int64_t& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() &&
         number >= 0;
}

// False: it is no line of the log.
bool ReadLine(std::string_view line, CallLog& log) {
  const std::string_view end = Field(line);
  if (end != "sender" && end != "receiver") return false;
  EndCalls& calls = end == "sender" ? log.sender : log.receiver;
  if (calls.left_out > 0) return false;  // That is an end's last line.
  const std::string_view began = Field(line), returned = Field(line);
  if (began.empty() && returned.empty() && line.ends_with(kCallsLeftOut)) {
    line.remove_suffix(kCallsLeftOut.size());
    return ReadCount(line, calls.left_out) && calls.left_out > 0;
  }
  ProgramCall call;
  if (!ReadCount(began, call.began_ns) ||
      !ReadCount(returned, call.returned_ns) || !ReadCount(line, call.bytes)) {
    return false;
  }
  calls.calls.push_back(call);
  return true;
}

Failure NoLine(const std::filesystem::path& file, std::int64_t number,
               std::string_view line) {
  return {ExitCode::kUsage,
          fmt::format("{}: line {}: {} is no call; a call is \"sender\" or "
                      "\"receiver\", when it began and returned in ns, and its "
                      "bytes, with commas between, and the line has an end",
                      file.string(), number, QuoteBytes(line))};
}

}  // namespace

Outcome<CallLog> ReadCallLog(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!in || (!std::getline(in, line) && in.bad())) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: cannot be read: {}", file.string(),
                               std::strerror(errno))};
  }
  if (line != kCallLogHead) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: is no call log: it does not begin with "
                               "\"{}\"",
                               file.string(), kCallLogHead)};
  }
  CallLog log;
  for (std::int64_t number = 2; std::getline(in, line); ++number) {
    // Without its end of line, half a number may look like a whole one.
    if (in.eof() || !ReadLine(line, log)) return NoLine(file, number, line);
  }
  return log;
}

}  // namespace wiretoll
