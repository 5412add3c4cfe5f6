// A reader that does not read, and a writer of single bytes a millisecond
// apart:
//   sleepy_reader ADDRESS PORT MILLISECONDS
//   sleepy_reader write ADDRESS PORT COUNT
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "platform/clock.h"
#include "platform/options.h"
#include "platform/process.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

std::uint16_t Port(const std::string& text) {
  return static_cast<std::uint16_t>(std::atoi(text.c_str()));
}

int Sleep(const std::vector<std::string>& words) {
  auto listener = OpenTcp(words[0], PortRange{Port(words[1]), Port(words[1])});
  if (!listener.has_value() || !listener.value().Listen().has_value()) return 1;
  auto accepted = listener.value().Accept(10s);
  if (!accepted.has_value()) return 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(words[2])));
  return 0;
}

int Write(const std::vector<std::string>& words) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    auto socket = OpenTcp("0.0.0.0", PortRange{});
    if (!socket.has_value()) return 1;
    if (!SetOption(socket.value(), SocketOption::kNagle, 0).has_value())
      return 1;
    const Endpoint peer{words[1], Port(words[2])};
    if (!socket.value().Connect(peer, 2s).has_value()) {
      std::this_thread::sleep_for(20ms);
      continue;
    }
    const std::array<std::byte, 1> byte{};
    for (int i = 0; i < std::stoi(words[3]); ++i) {
      if (!socket.value().Send(byte).has_value()) return 1;
      WaitUntil(MonotonicNow() + 1ms);
    }
    return 0;
  }
  return 1;
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  using wiretoll::PrepareProcess;
  if (argc < 4 || !PrepareProcess().has_value()) return 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  return words[0] == "write" ? wiretoll::Write(words) : wiretoll::Sleep(words);
}
