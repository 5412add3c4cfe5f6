// What the lab's tests run inside namespaces, or as a lab's owner that dies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/lab/lab.h"
#include "platform/process.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::uint16_t kPort = 7001;

int Complain(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  return 1;
}

int Say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
  return 0;
}

// serve ADDRESS FILE: says "ready", takes one connection, writes to the file
// how many bytes came, and only then closes.
int Serve(const std::string& address, const std::string& file) {
  Result<Socket> listener = OpenTcp(address, {kPort, kPort});
  if (!listener.has_value()) return Complain(listener.error().message());
  if (const auto done = listener.value().Listen(); !done.has_value()) {
    return Complain(done.error().message());
  }
  Say("ready");
  Result<AcceptedSocket> accepted = listener.value().Accept(kPatience);
  if (!accepted.has_value()) return Complain(accepted.error().message());
  std::array<std::byte, 65536> buffer{};
  std::int64_t total = 0;
  while (true) {
    const Result<Bytes> got = accepted.value().socket.Receive(buffer);
    if (!got.has_value()) return Complain(got.error().message());
    if (got.value().count == 0) break;
    total += got.value().count;
  }
  return (std::ofstream(file) << total).flush().good() ? 0 : 1;
}

// send FROM TO BYTES: in writes of at most 64 KiB, then waits for the end.
int SendTo(const std::string& from, const std::string& to, std::int64_t left) {
  Result<Socket> socket = OpenTcp(from, {});
  if (!socket.has_value()) return Complain(socket.error().message());
  const Result<Done> connected =
      socket.value().Connect({to, kPort}, std::chrono::seconds(2));
  if (!connected.has_value()) return Complain(connected.error().message());
  const std::vector<std::byte> data(65536);
  while (left > 0) {
    const auto size =
        static_cast<std::size_t>(std::min<std::int64_t>(left, 65536));
    const Result<Bytes> sent = socket.value().Send({data.data(), size});
    if (!sent.has_value()) return Complain(sent.error().message());
    left -= sent.value().count;
  }
  if (!socket.value().ShutdownSend().has_value()) return 1;
  std::array<std::byte, 1> end{};
  return socket.value().Receive(end).has_value() ? 0 : 1;
}

std::vector<std::string> Kinds(const std::string& hosts) {
  if (const int count = std::atoi(hosts.c_str()); count > 0) {
    return std::vector<std::string>(static_cast<std::size_t>(count), "linux");
  }
  std::vector<std::string> kinds;
  std::istringstream list(hosts);
  for (std::string kind; std::getline(list, kind, ',');) kinds.push_back(kind);
  return kinds;
}

// MODE HOSTS DELAY_US: brings a lab up (HOSTS: how many Linux hosts, or their
// kinds, "linux,wine") and says its namespaces, then
//   die   is killed where it stands;
//   keep  leaves the lab standing;
//   try   says what the lab is like and takes it down.
// "-routed" after it: with a router between.
int Own(const std::string& self, const std::string& how,
        const std::string& hosts, std::chrono::microseconds delay) {
  const std::string mode = how.substr(0, how.find('-'));
  LabSpec spec;
  if (how != mode) spec.link.router.emplace();
  spec.kinds = Kinds(hosts);
  if (const char* exe = std::getenv("WIRETOLL_WINDOWS_AGENT")) {
    spec.windows_agent = exe;
  }
  spec.link.rate = BitsPerSecond{100e6};
  spec.link.delay = delay;
  spec.agent = self;
  // What goes into a container has to be static.
  if (const char* agent = std::getenv("WIRETOLL_TEST_AGENT"))
    spec.agent = agent;
  spec.self = self;
  Outcome<Lab> lab = Lab::Up(spec);
  if (!lab.has_value()) return Complain(lab.error().message);
  for (const LabHost& host : lab.value().hosts()) Say(host.netns);
  if (mode == "die") std::raise(SIGKILL);
  if (mode == "keep") return lab.value().Keep().has_value() ? 0 : 1;
  for (const auto& [name, value] : lab.value().link().settings) {
    Say(fmt::format("{} = {}", name, value));
  }
  return 0;
}

int Main(const std::string& self, const std::vector<std::string>& words) {
  if (!PrepareProcess().has_value()) return 1;
  if (const auto code = RunLabHelper(words)) return static_cast<int>(*code);
  if (words.size() == 3 && words[0] == "serve")
    return Serve(words[1], words[2]);
  if (words.size() == 4 && words[0] == "send") {
    return SendTo(words[1], words[2], std::atoll(words[3].c_str()));
  }
  if (words.size() == 3) {
    return Own(self, words[0], words[1],
               std::chrono::microseconds(std::atoll(words[2].c_str())));
  }
  return Complain("what?");
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  return wiretoll::Main(argv[0], {argv + 1, argv + argc});
}
