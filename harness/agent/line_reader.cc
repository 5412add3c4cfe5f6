#include "harness/agent/line_reader.h"

namespace wiretoll {

LineRead LineReader::Next(std::string& line) {
  line.clear();
  bool too_long = false;
  for (int byte = std::getc(in_); byte != '\n'; byte = std::getc(in_)) {
    if (byte == EOF) return LineRead::kEnd;
    if (line.size() < longest_) {
      line += static_cast<char>(byte);
    } else {
      too_long = true;
    }
  }
  if (too_long) return LineRead::kTooLong;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return LineRead::kLine;
}

}  // namespace wiretoll
