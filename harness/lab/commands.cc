#include "harness/lab/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/base/boost_process.h"
#if __has_include(<boost/process/v1/posix.hpp>)
#include <boost/process/v1/posix.hpp>
#else
#include <boost/process/posix.hpp>
#endif
#include "platform/process.h"

namespace wiretoll {
namespace {

namespace asio = boost::asio;
namespace process = bp;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// What a pipe takes before anybody reads: 64 KiB on Linux.
constexpr std::size_t kMostInput = 60'000;

std::string PackageOf(const std::string& program) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18>
      kPackages{
          {{"ip", "iproute2"},
           {"tc", "iproute2"},
           {"ethtool", "ethtool"},
           {"unshare", "util-linux"},
           {"setsid", "util-linux"},
           {"flock", "util-linux"},
           {"wine", "--no-install-recommends wine wine64"},
           {"wineserver", "--no-install-recommends wine wine64"},
           {"qemu-system-x86_64", "--no-install-recommends qemu-system-x86"},
           {"runsc", "--no-install-recommends runsc"},
           {"busybox", "busybox-static"},
           {"cpio", "cpio"},
           {"apt-get", "apt"},
           {"apt-cache", "apt"},
           {"dpkg-deb", "dpkg"},
           {"xz", "xz-utils"},
           {"sh", "dash"},
           {"sleep", "coreutils"}}};
  for (const auto& [name, package] : kPackages) {
    if (name == program) return std::string(package);
  }
  return program;
}

bool IsProgram(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  using std::filesystem::perms;
  return std::filesystem::is_regular_file(status) &&
         (status.permissions() & (perms::owner_exec | perms::others_exec)) !=
             perms::none;
}

// True once the process is gone; looks every millisecond until then.
bool AwaitEnd(process::child& child, Clock::time_point until) {
  std::error_code ignored;
  while (child.running(ignored)) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

// Both ends of a running command, read without blocking on either.
struct Running {
  asio::io_context io;
  process::async_pipe out{io};
  process::async_pipe err{io};
  std::string output;
  std::string errors;
  process::child child;
};

// Ours, once the process has its own: else the end of output never shows.
void CloseSink(process::async_pipe& pipe) {
  boost::system::error_code ignored;
  std::move(pipe).sink().close(ignored);
}

// Likewise the end of input that the process reads from; the other end stays.
void CloseSource(process::pipe& pipe) {
  process::pipe source_only(pipe.native_source(), -1);
  pipe.assign_source(-1);
}

// `limit_handles` because a pipe end of ours that leaked into a long-lived
// process would keep another from ever seeing its input close. It also hides
// a failing exec, which FindProgram has ruled out before; and Boost 1.74 would
// close the output too, were it given as `std_out > pipe`.
std::error_code Launch(Running& running, const std::string& program,
                       const SystemCommand& command) {
  process::pipe input;
  // What the process is given are copies. The originals would pass through it
  // into a daemon that it starts, and the end of its output would never show.
  for (const int original : {input.native_source(), running.out.native_sink(),
                             running.err.native_sink()}) {
    if (original > 2) KeepFromChildren(original);
  }
  input.write(command.input.data(), static_cast<int>(command.input.size()));
  const std::vector<std::string> arguments(command.words.begin() + 1,
                                           command.words.end());
  std::error_code error;
  running.child =
      process::child(process::exe = program, process::args = arguments,
                     process::posix::fd.bind(0, input.native_source()),
                     process::posix::fd.bind(1, running.out.native_sink()),
                     process::posix::fd.bind(2, running.err.native_sink()),
                     process::limit_handles, error);
  CloseSink(running.out);
  CloseSink(running.err);
  return error;
}

void ReadToEnd(Running& running, milliseconds timeout) {
  const auto ignore = [](const boost::system::error_code&, std::size_t) {};
  asio::async_read(running.out, asio::dynamic_buffer(running.output), ignore);
  asio::async_read(running.err, asio::dynamic_buffer(running.errors), ignore);
  running.io.run_for(timeout);
}

}  // namespace

std::string SpellCommand(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

Failure NothingRan(std::string message) {
  return {ExitCode::kNothingRan, std::move(message)};
}

std::string ReadAll(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Outcome<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (IsProgram(name)) return name;
    return NothingRan(name + " is no program that can be started");
  }
  const char* own_path = std::getenv("PATH");
  std::istringstream folders(
      std::string(own_path != nullptr ? own_path : "") +
      ":/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    std::string file = fmt::format("{}/{}", folder, name);
    if (IsProgram(file)) return file;
  }
  return NothingRan(fmt::format(
      "{} is not installed; on Debian: apt install {}", name, PackageOf(name)));
}

Outcome<CommandResult> TryCommand(const SystemCommand& command) {
  const std::string spelled = SpellCommand(command.words);
  const Outcome<std::string> program = FindProgram(command.words.front());
  if (!program.has_value()) return program.error();
  if (command.input.size() > kMostInput) {
    return NothingRan(spelled + ": more than 60000 bytes of input");
  }
  const auto until = Clock::now() + command.timeout;
  Running running;
  const std::error_code error = Launch(running, program.value(), command);
  if (error)
    return NothingRan(spelled + ": cannot be started: " + error.message());
  ReadToEnd(running, command.timeout);
  if (!AwaitEnd(running.child, until)) {
    std::error_code ignored;
    running.child.terminate(ignored);
    return NothingRan(fmt::format("{}: not done after {} ms and was ended",
                                  spelled, command.timeout.count()));
  }
  return CommandResult{running.child.exit_code(), std::move(running.output),
                       std::move(running.errors)};
}

Outcome<std::string> RunCommand(const SystemCommand& command) {
  Outcome<CommandResult> result = TryCommand(command);
  if (!result.has_value()) return result.error();
  CommandResult& done = result.value();
  if (done.exit_code == 0) return std::move(done.output);
  return NothingRan(fmt::format(
      "{}: exit code {}: {}", SpellCommand(command.words), done.exit_code,
      Trimmed(done.errors.empty() ? done.output : done.errors)));
}

struct BackgroundProcess::State {
  asio::io_context io;
  process::pipe input;
  process::async_pipe out{io};  // Its errors too.
  std::string said;             // And not yet handed on.
  process::child child;
};

namespace {

// True if the first line that the process said in time is `greeting`, which is
// taken off `said`. `said` must outlive the last use of `io`.
bool AwaitGreeting(asio::io_context& io, process::async_pipe& out,
                   std::string& said, const std::string& greeting,
                   milliseconds timeout) {
  asio::async_read_until(out, asio::dynamic_buffer(said), '\n',
                         [](const boost::system::error_code&, std::size_t) {});
  io.run_for(timeout);
  if (!said.starts_with(greeting + "\n")) return false;
  said.erase(0, greeting.size() + 1);
  return true;
}

}  // namespace

BackgroundProcess::BackgroundProcess(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
BackgroundProcess::BackgroundProcess(BackgroundProcess&&) noexcept = default;

BackgroundProcess::~BackgroundProcess() {
  if (!state_) return;
  State& state = *state_;
  state.input.close();
  std::error_code ignored;
  if (!AwaitEnd(state.child, Clock::now() + std::chrono::seconds(1))) {
    state.child.terminate(ignored);
  }
  asio::async_read(state.out, asio::dynamic_buffer(state.said),
                   [](const boost::system::error_code&, std::size_t) {});
  state.io.restart();
  state.io.run_for(milliseconds(100));
  if (!state.said.empty()) fmt::print(stderr, "{}", state.said);
}

bool BackgroundProcess::IsRunning() {
  std::error_code ignored;
  return state_ && state_->child.running(ignored);
}

Outcome<BackgroundProcess> BackgroundProcess::Start(
    const std::vector<std::string>& words, const std::string& greeting,
    milliseconds timeout) {
  const Outcome<std::string> program = FindProgram(words.front());
  if (!program.has_value()) return program.error();
  BackgroundProcess started(std::make_unique<State>());
  State& state = *started.state_;
  std::error_code error;
  state.child = process::child(
      process::exe = program.value(),
      process::args = std::vector<std::string>(words.begin() + 1, words.end()),
      process::posix::fd.bind(0, state.input.native_source()),
      process::posix::fd.bind(1, state.out.native_sink()),
      process::posix::fd.bind(2, state.out.native_sink()),
      process::limit_handles, error);
  CloseSink(state.out);
  CloseSource(state.input);
  if (error) {
    return NothingRan(SpellCommand(words) +
                      ": cannot be started: " + error.message());
  }
  if (!AwaitGreeting(state.io, state.out, state.said, greeting, timeout)) {
    const std::string said = Trimmed(std::exchange(state.said, {}));
    return NothingRan(fmt::format(
        "{}: did not say '{}' within {} ms{}", SpellCommand(words), greeting,
        timeout.count(), said.empty() ? "" : "; it said: " + said));
  }
  return started;
}

Outcome<Done> BackgroundProcess::HandOver(
    const std::vector<std::string>& words) {
  const Outcome<std::string> program = FindProgram(words.front());
  if (!program.has_value()) return program.error();
  std::error_code error;
  process::child holder(
      process::exe = program.value(),
      process::args = std::vector<std::string>(words.begin() + 1, words.end()),
      process::posix::fd.bind(0, state_->out.native_source()),
      process::posix::fd.bind(1, state_->input.native_sink()),
      process::posix::fd.bind(2, state_->input.native_sink()),
      process::limit_handles, error);
  if (error) {
    return NothingRan(SpellCommand(words) +
                      ": cannot be started: " + error.message());
  }
  holder.detach();
  state_->child.detach();
  state_->input.close();
  state_.reset();
  return Done{};
}

}  // namespace wiretoll
