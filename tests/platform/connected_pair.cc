#include "tests/platform/connected_pair.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "platform/process.h"

namespace wiretoll {
namespace {

class Prepared : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }
};

// GoogleTest's main() is not ours, so that it cannot prepare the process.
[[maybe_unused]] const testing::Environment* const kPrepared =
    testing::AddGlobalTestEnvironment(new Prepared);

template <class T>
T Must(Result<T> result, const char* what) {
  if (!result.has_value()) {
    throw std::runtime_error(std::string{what} + ": " +
                             result.error().message());
  }
  return std::move(result).value();
}

}  // namespace

Socket ListeningSocket(const std::string& address, PortRange ports) {
  Socket socket = Must(OpenTcp(address, ports), "open");
  Must(socket.Listen(), "listen");
  return socket;
}

SocketPair ConnectedPair(const std::string& address) {
  Socket listening = ListeningSocket(address);
  const Endpoint there = Must(listening.LocalEndpoint(), "local endpoint");
  Socket near = Must(OpenTcp(address, {}), "open");
  Must(near.Connect(there, kPatience), "connect");
  AcceptedSocket accepted = Must(listening.Accept(kPatience), "accept");
  return {std::move(near), std::move(accepted.socket)};
}

bool AllAcknowledged(const Socket& socket) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    const Result<Bytes> pending = socket.UnacknowledgedBytes();
    if (!pending.has_value()) return false;
    if (pending.value() == Bytes{0}) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return false;
}

}  // namespace wiretoll
