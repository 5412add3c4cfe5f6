// A program with two pipes: the build file chooses how it is started.
#ifndef WIRETOLL_TESTS_AGENT_CHILD_PROCESS_H_
#define WIRETOLL_TESTS_AGENT_CHILD_PROCESS_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace wiretoll {

class ChildProcess {
 public:
  // Throws if `program` cannot be started. Its standard error is ours.
  explicit ChildProcess(const std::string& program);
  ~ChildProcess();  // Ends it if it still runs.

  // To its standard input, byte for byte.
  void Write(std::string_view bytes);
  void CloseInput();

  // A line of its standard output, without the newline and with whatever else
  // came. Nothing once it is closed.
  std::optional<std::string> ReadLine();

  // Its exit code; nothing if it did not end within `time`.
  std::optional<int> WaitForEnd(std::chrono::milliseconds time);

 private:
  struct Pipes;
  std::unique_ptr<Pipes> pipes_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_AGENT_CHILD_PROCESS_H_
