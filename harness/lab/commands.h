// Other programs (ip, tc, ethtool), run from argument vectors: no shell ever
// sees a name of ours.
#ifndef WIRETOLL_HARNESS_LAB_COMMANDS_H_
#define WIRETOLL_HARNESS_LAB_COMMANDS_H_

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// How a lab that cannot be made, or a command of it that failed, ends.
Failure NothingRan(std::string message);

// Of a small file; empty if it cannot be read.
std::string ReadAll(const std::filesystem::path& file);

struct SystemCommand {
  std::vector<std::string> words;  // Program and arguments; not empty.
  std::string input{};             // Its standard input; at most 60000 bytes.
  std::chrono::milliseconds timeout{10'000};
};

struct CommandResult {
  int exit_code = 0;
  std::string output;
  std::string errors;  // Its standard error.
};

// Where `name` is, the system folders included that a user's PATH lacks.
// kNothingRan: not installed; names the Debian package.
Outcome<std::string> FindProgram(const std::string& name);

// Runs to the end, whatever its exit code.
// kNothingRan: not installed, or still running after `timeout` (it is killed).
Outcome<CommandResult> TryCommand(const SystemCommand& command);

// Its output. kNothingRan: as TryCommand, and every exit code but 0, with
// what the command said.
Outcome<std::string> RunCommand(const SystemCommand& command);

// Words for messages: "ip netns add x".
std::string SpellCommand(const std::vector<std::string>& words);

// A process that lives until its standard input closes: when this object goes,
// or when this process dies of whatever cause.
class BackgroundProcess {
 public:
  // Returns once the process has printed the line `greeting`.
  // kNothingRan: it did not within `timeout`, with its last words.
  static Outcome<BackgroundProcess> Start(const std::vector<std::string>& words,
                                          const std::string& greeting,
                                          std::chrono::milliseconds timeout);
  BackgroundProcess(BackgroundProcess&&) noexcept;
  BackgroundProcess& operator=(BackgroundProcess&&) = delete;
  // Closes its input, gives it a second, then kills it.
  ~BackgroundProcess();

  // False once it has ended, however.
  [[nodiscard]] bool IsRunning();

  // Starts `words` with its output joined to our process's input, so that the
  // input stays open as long as `words` runs; then lets both go their way.
  Outcome<Done> HandOver(const std::vector<std::string>& words);

 private:
  struct State;
  explicit BackgroundProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_COMMANDS_H_
