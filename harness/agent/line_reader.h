// Lines of bounded length from a stream.
#ifndef WIRETOLL_HARNESS_AGENT_LINE_READER_H_
#define WIRETOLL_HARNESS_AGENT_LINE_READER_H_

#include <cstddef>
#include <cstdio>
#include <string>

namespace wiretoll {

enum class LineRead { kLine, kTooLong, kEnd };

// Ownership: `in` stays the caller's and must outlive the reader.
class LineReader {
 public:
  LineReader(std::FILE* in, std::size_t longest) : in_(in), longest_(longest) {}

  // Blocks for the next line and gives it without its end ("\n" or "\r\n").
  // kTooLong: it was longer than `longest` bytes and is skipped, its newline
  // too; `line` holds its front. kEnd: the stream ended or failed; what came
  // after the last newline is no line.
  LineRead Next(std::string& line);

 private:
  std::FILE* in_;
  std::size_t longest_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_LINE_READER_H_
