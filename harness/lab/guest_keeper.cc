// The programs of a guest's that stand outside it: what keeps its machine, and
// what its agent's pipes go through.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/base/boost_process.h"
#include "harness/lab/guest.h"

namespace wiretoll {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kReady = "wiretoll: the guest is ready";
// A boot by KVM takes a second or two; one that is not to be had, for ever.
constexpr seconds kKvmPatience{8};
constexpr seconds kTcgPatience{60};
constexpr std::size_t kLastWords = 1500;

enum class Boot { kReady, kEnded, kTooLong };

bool SaysReady(const fs::path& console) {
  return ReadAll(console).find(kReady) != std::string::npos;
}

Boot AwaitBoot(bp::child& process, const fs::path& console, seconds patience) {
  const auto until = Clock::now() + patience;
  std::error_code ignored;
  while (!SaysReady(console)) {
    if (!process.running(ignored)) return Boot::kEnded;
    if (Clock::now() >= until) return Boot::kTooLong;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return Boot::kReady;
}

std::string LastWords(const fs::path& file) {
  std::string text = ReadAll(file);
  if (text.size() > kLastWords) text.erase(0, text.size() - kLastWords);
  std::string words;
  for (const char c : text) words += c == '\n' || c == '\r' ? ' ' : c;
  return words;
}

// QEMU, and the group it leads: Boost's way to end a child by itself would
// leave a zombie behind.
struct Machine {
  bp::group group;
  bp::child process;
};

Machine StartMachine(const std::vector<std::string>& qemu,
                     const std::string& accelerator, const fs::path& log) {
  std::vector<std::string> arguments(qemu.begin() + 1, qemu.end());
  // As much of the CPU as each can do, and nothing that KVM cannot hand on.
  arguments.insert(arguments.end(),
                   {"-accel", accelerator, "-cpu",
                    accelerator == "kvm" ? "host,-arch-capabilities" : "max"});
  std::error_code ignored;
  Machine machine;
  machine.process =
      bp::child(bp::exe = qemu.front(), bp::args = arguments,
                bp::std_in<bp::null, (bp::std_out & bp::std_err)> log.string(),
                bp::limit_handles, machine.group, ignored);
  return machine;
}

void StopMachine(Machine& machine) {
  std::error_code ignored;
  if (machine.process.running(ignored)) machine.group.terminate(ignored);
  machine.process.wait(ignored);
}

// Until whoever started us is gone, or the machine is.
void Keep(Machine& machine) {
  // Outlives this function, as the thread may.
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  std::thread([ended] {
    while (std::getchar() != EOF) {
    }
    *ended = true;
  }).detach();
  std::error_code ignored;
  while (machine.process.running(ignored) && !*ended) {
    std::this_thread::sleep_for(milliseconds(20));
  }
}

std::vector<std::string> SplitList(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

Outcome<Done> Serve(Machine& machine, const fs::path& folder,
                    const std::string& accelerator) {
  std::ofstream(folder / "accelerator") << accelerator;
  fmt::print("ready\n");
  std::fflush(stdout);
  Keep(machine);
  StopMachine(machine);
  return Done{};
}

// Both ways at once, each until its end.
class Bridge {
 public:
  explicit Bridge(asio::io_context& io)
      : input_(io, 0), output_(io, 1), port_(io) {}
  ~Bridge() {
    input_.release();
    output_.release();
  }
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  boost::system::error_code Connect(const std::string& path) {
    boost::system::error_code error;
    port_.connect(asio::local::stream_protocol::endpoint(path), error);
    return error;
  }

  void Start() {
    Copy(input_, port_, in_);
    Copy(port_, output_, out_);
  }

 private:
  using Room = std::array<char, 65536>;

  template <class From, class To>
  void Copy(From& from, To& to, Room& room) {
    from.async_read_some(asio::buffer(room), [&](auto error, std::size_t size) {
      if (error) return End();
      asio::async_write(to, asio::buffer(room, size),
                        [&](auto failed, std::size_t) {
                          if (failed) return End();
                          Copy(from, to, room);
                        });
    });
  }

  void End() {
    boost::system::error_code ignored;
    port_.close(ignored);
    input_.cancel(ignored);
  }

  asio::posix::stream_descriptor input_, output_;
  asio::local::stream_protocol::socket port_;
  Room in_{}, out_{};
};

}  // namespace

Outcome<Done> GuestVerb(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    return Failure{ExitCode::kUsage,
                   "a lab's own: lab-guest FOLDER ACCELERATORS QEMU..."};
  }
  const fs::path folder = words[1];
  const std::vector<std::string> qemu(words.begin() + 3, words.end());
  std::string why;
  for (const std::string& accelerator : SplitList(words[2])) {
    std::ofstream(folder / "console.log", std::ios::trunc);
    Machine machine = StartMachine(qemu, accelerator, folder / "qemu.log");
    const Boot boot =
        AwaitBoot(machine.process, folder / "console.log",
                  accelerator == "kvm" ? kKvmPatience : kTcgPatience);
    if (boot == Boot::kReady) return Serve(machine, folder, accelerator);
    StopMachine(machine);
    why = boot == Boot::kEnded ? "the machine ended before it was ready"
                               : "it was not ready within 60 s";
  }
  return NothingRan(fmt::format("{}; QEMU said: {}; its console: {}", why,
                                LastWords(folder / "qemu.log"),
                                LastWords(folder / "console.log")));
}

Outcome<Done> GuestPortVerb(const std::vector<std::string>& words) {
  if (words.size() != 2)
    return Failure{ExitCode::kUsage, "a lab's own: lab-guest-port SOCKET"};
  asio::io_context io;
  Bridge bridge(io);
  if (const auto error = bridge.Connect(words[1]))
    return NothingRan("the guest is gone: " + words[1] + ": " +
                      error.message());
  bridge.Start();
  io.run();
  return Done{};
}

}  // namespace wiretoll
