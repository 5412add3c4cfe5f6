#include <gtest/gtest.h>

#include <array>
#include <future>
#include <thread>
#include <vector>

#include "platform/host_facts.h"
#include "platform/socket.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

using boost::system::errc::address_in_use;
using boost::system::errc::address_not_available;
using boost::system::errc::broken_pipe;
using boost::system::errc::connection_aborted;
using boost::system::errc::connection_refused;
using boost::system::errc::connection_reset;
using boost::system::errc::invalid_argument;
using boost::system::errc::timed_out;
using std::chrono::milliseconds;

// Below what systems hand out as ephemeral ports, and one for each test, which
// may run beside the others.
constexpr PortRange kPortsInOrder{20'100, 20'199};
constexpr PortRange kPortsTaken{20'200, 20'299};
constexpr PortRange kPortsAgain{20'300, 20'399};

std::vector<std::byte> Pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  }
  return bytes;
}

bool IsLostConnection(const Error& error) {
  return error == broken_pipe || error == connection_reset ||
         error == connection_aborted;
}

std::uint16_t PortOf(const Socket& socket) {
  return socket.LocalEndpoint().value().port;
}

// Long enough that the other thread is inside its call as a rule. Where it is
// not yet, the call must come back all the same: the tests hold either way.
void LetItBlock() { std::this_thread::sleep_for(milliseconds{50}); }

// Sends until an error, or until `most` calls went well.
Error SendUntilError(Socket& socket, std::span<const std::byte> data,
                     int most) {
  for (int i = 0; i < most; ++i) {
    const Result<Bytes> sent = socket.Send(data);
    if (!sent.has_value()) return sent.error();
  }
  return {};
}

TEST(SocketContractTest, WhatIsSentIsReceivedAndBothSayHowMuch) {
  auto [near, far] = ConnectedPair();
  const std::vector<std::byte> sent = Pattern(5);
  EXPECT_EQ(near.Send(sent).value(), Bytes{5});
  std::array<std::byte, 16> buffer{};
  ASSERT_EQ(far.Receive(buffer).value(), Bytes{5});
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), buffer.begin()));
}

TEST(SocketContractTest, ReceiveTakesNoMoreThanTheRoomAndKeepsTheRest) {
  auto [near, far] = ConnectedPair();
  const std::vector<std::byte> sent = Pattern(5);
  ASSERT_EQ(near.Send(sent).value(), Bytes{5});
  std::array<std::byte, 2> small{};
  EXPECT_EQ(far.Receive(small).value(), Bytes{2});
  std::array<std::byte, 16> large{};
  EXPECT_EQ(far.Receive(large).value(), Bytes{3});
  EXPECT_EQ(large[0], sent[2]);
}

TEST(SocketContractTest, MebibytesArriveWholeAndInOrder) {
  auto [near, far] = ConnectedPair();
  const std::vector<std::byte> sent = Pattern(4 << 20);
  auto sending = std::async(std::launch::async, [&near = near, &sent] {
    std::span<const std::byte> left = sent;
    while (!left.empty()) {
      const Result<Bytes> step = near.Send(left);
      if (!step.has_value()) return step.error();
      left = left.subspan(static_cast<std::size_t>(step.value().count));
    }
    return near.ShutdownSend().error();
  });
  std::vector<std::byte> received;
  std::vector<std::byte> buffer(100'000);
  Result<Bytes> got = far.Receive(buffer);
  while (got.has_value() && got.value().count > 0) {
    received.insert(received.end(), buffer.begin(),
                    buffer.begin() + got.value().count);
    got = far.Receive(buffer);
  }
  EXPECT_EQ(sending.get(), Error{});
  EXPECT_TRUE(received == sent);
}

TEST(SocketContractTest, ReceiveReturnsZeroAfterPeerCloses) {
  auto [near, far] = ConnectedPair();
  { const Socket closed = std::move(far); }
  std::array<std::byte, 1> buffer{};
  const Result<Bytes> received = near.Receive(buffer);
  ASSERT_TRUE(received.has_value()) << received.error().message();
  EXPECT_EQ(received.value(), Bytes{0});
}

TEST(SocketContractTest, DataSentBeforeShutdownComesBeforeItsEnd) {
  auto [near, far] = ConnectedPair();
  ASSERT_EQ(near.Send(Pattern(3)).value(), Bytes{3});
  ASSERT_TRUE(near.ShutdownSend().has_value());
  std::array<std::byte, 16> buffer{};
  EXPECT_EQ(far.Receive(buffer).value(), Bytes{3});
  EXPECT_EQ(far.Receive(buffer).value(), Bytes{0});
}

TEST(SocketContractTest, HalfClosedSocketStillReceives) {
  auto [near, far] = ConnectedPair();
  ASSERT_TRUE(near.ShutdownSend().has_value());
  std::array<std::byte, 16> buffer{};
  ASSERT_EQ(far.Receive(buffer).value(), Bytes{0});
  ASSERT_EQ(far.Send(Pattern(3)).value(), Bytes{3});
  EXPECT_EQ(near.Receive(buffer).value(), Bytes{3});
}

TEST(SocketContractTest, SendAfterShutdownSendFails) {
  auto [near, far] = ConnectedPair();
  ASSERT_TRUE(near.ShutdownSend().has_value());
  EXPECT_FALSE(near.Send(Pattern(1)).has_value());
}

TEST(SocketContractTest, SendToAClosedPeerEndsInAnErrorNotASignal) {
  auto [near, far] = ConnectedPair();
  { const Socket closed = std::move(far); }
  const Error error = SendUntilError(near, Pattern(1), 1'000'000);
  EXPECT_TRUE(IsLostConnection(error)) << error.message();
}

TEST(SocketContractTest, PeerThatClosesOnUnreadDataResetsTheConnection) {
  auto [near, far] = ConnectedPair();
  ASSERT_EQ(near.Send(Pattern(2)).value(), Bytes{2});
  std::array<std::byte, 1> buffer{};
  ASSERT_EQ(far.Receive(buffer).value(), Bytes{1});
  { const Socket closed = std::move(far); }
  const Result<Bytes> received = near.Receive(buffer);
  if (received.has_value() && IdentifyOs().os == "wine") {
    EXPECT_EQ(received.value(), Bytes{0});
    GTEST_SKIP() << "Wine's server takes the error away at times, and what is "
                    "left looks like an end of stream; run it on Windows";
  }
  const Error error = received.error();
  EXPECT_TRUE(IsLostConnection(error)) << error.message();
}

TEST(SocketContractTest, AcknowledgedDataIsNoLongerPending) {
  auto [near, far] = ConnectedPair();
  if (near.UnacknowledgedBytes().error() ==
      boost::system::errc::operation_not_supported) {
    GTEST_SKIP() << "this system does not tell what is unacknowledged: "
                    "Linux does (SIOCOUTQ); run it there";
  }
  ASSERT_EQ(near.Send(Pattern(1000)).value(), Bytes{1000});
  EXPECT_TRUE(AllAcknowledged(near));
}

TEST(SocketContractTest, ConnectToAPortWithoutListenerIsRefused) {
  const Socket silent = OpenTcp(kLoopback, {}).value();
  Socket near = OpenTcp(kLoopback, {}).value();
  const Error error =
      near.Connect(silent.LocalEndpoint().value(), kPatience).error();
  EXPECT_EQ(error, connection_refused) << error.message();
}

TEST(SocketContractTest, ConnectTakesNumericAddressesOnly) {
  Socket near = OpenTcp(kLoopback, {}).value();
  EXPECT_EQ(near.Connect({"localhost", 1}, kPatience).error(),
            invalid_argument);
}

TEST(SocketContractTest, AcceptTimesOutWhenNobodyComes) {
  Socket listening = ListeningSocket();
  EXPECT_EQ(listening.Accept(milliseconds{20}).error(), timed_out);
  EXPECT_EQ(listening.Accept(milliseconds{0}).error(), timed_out);
}

TEST(SocketContractTest, AcceptNamesThePeerAsThePeerNamesItself) {
  Socket listening = ListeningSocket();
  Socket near = OpenTcp(kLoopback, {}).value();
  ASSERT_TRUE(
      near.Connect(listening.LocalEndpoint().value(), kPatience).has_value());
  const AcceptedSocket accepted = listening.Accept(kPatience).value();
  EXPECT_EQ(accepted.peer, near.LocalEndpoint().value());
  EXPECT_EQ(accepted.peer.address, kLoopback);
}

TEST(SocketContractTest, Ipv6CarriesDataToo) {
  const std::string v6 = "::1";
  if (OpenTcp(v6, {}).error() == address_not_available) {
    GTEST_SKIP() << "this host has no IPv6 loopback: "
                    "sysctl net.ipv6.conf.lo.disable_ipv6=0";
  }
  auto [near, far] = ConnectedPair(v6);
  EXPECT_EQ(near.LocalEndpoint().value().address, v6);
  ASSERT_EQ(near.Send(Pattern(3)).value(), Bytes{3});
  std::array<std::byte, 16> buffer{};
  EXPECT_EQ(far.Receive(buffer).value(), Bytes{3});
}

TEST(SocketContractTest, InterruptWakesABlockedReceive) {
  auto [near, far] = ConnectedPair();
  auto blocked = std::async(std::launch::async, [&near = near] {
    std::array<std::byte, 1> buffer{};
    return near.Receive(buffer);
  });
  LetItBlock();
  near.Interrupt();
  const Result<Bytes> received = blocked.get();
  ASSERT_TRUE(received.has_value()) << received.error().message();
  EXPECT_EQ(received.value(), Bytes{0});
}

TEST(SocketContractTest, InterruptWakesABlockedSend) {
  auto [near, far] = ConnectedPair();
  // The peer never reads, so that no buffer takes 64 GiB.
  auto blocked = std::async(std::launch::async, [&near = near] {
    return SendUntilError(near, Pattern(64 << 10), 1 << 20);
  });
  LetItBlock();
  near.Interrupt();
  EXPECT_NE(blocked.get(), Error{});
}

TEST(SocketContractTest, InterruptWakesABlockedAccept) {
  Socket listening = ListeningSocket();
  auto blocked = std::async(std::launch::async, [&listening] {
    return listening.Accept(kPatience).error();
  });
  LetItBlock();
  listening.Interrupt();
  const Error error = blocked.get();
  EXPECT_NE(error, Error{});
  EXPECT_NE(error, timed_out);
}

TEST(SocketContractTest, CallsAfterInterruptReturnToo) {
  auto [near, far] = ConnectedPair();
  near.Interrupt();
  std::array<std::byte, 1> buffer{};
  EXPECT_EQ(near.Receive(buffer).value(), Bytes{0});
  EXPECT_FALSE(near.Send(buffer).has_value());

  Socket listening = ListeningSocket();
  listening.Interrupt();
  const Error error = listening.Accept(kPatience).error();
  EXPECT_NE(error, Error{});
  EXPECT_NE(error, timed_out);
}

TEST(SocketContractTest, OpenTakesTheFirstFreePortOfTheRange) {
  std::vector<Socket> held;
  held.push_back(OpenTcp(kLoopback, kPortsInOrder).value());
  held.push_back(OpenTcp(kLoopback, kPortsInOrder).value());
  const std::uint16_t first = PortOf(held[0]);
  const std::uint16_t second = PortOf(held[1]);
  EXPECT_GE(first, kPortsInOrder.first);
  EXPECT_LT(first, second);
  EXPECT_LE(second, kPortsInOrder.last);

  held.erase(held.begin());  // The lower one is free again.
  EXPECT_EQ(PortOf(OpenTcp(kLoopback, kPortsInOrder).value()), first);
}

TEST(SocketContractTest, RangeThatIsTakenIsAddressInUse) {
  Socket held = OpenTcp(kLoopback, kPortsTaken).value();
  const PortRange taken{PortOf(held), PortOf(held)};
  EXPECT_EQ(OpenTcp(kLoopback, taken).error(), address_in_use)
      << "a port is taken before anybody listens on it";
  ASSERT_TRUE(held.Listen().has_value());
  EXPECT_EQ(OpenTcp(kLoopback, taken).error(), address_in_use);
}

TEST(SocketContractTest, LastPortOfAllEndsTheRange) {
  const PortRange last{65'535, 65'535};
  const Result<Socket> held = OpenTcp(kLoopback, last);
  ASSERT_TRUE(held.has_value()) << held.error().message();
  EXPECT_EQ(OpenTcp(kLoopback, last).error(), address_in_use);
}

// The end that closes first leaves its port in TIME_WAIT.
TEST(SocketContractTest, PortOfAClosedConnectionCanBeListenedOnAgain) {
  std::uint16_t port = 0;
  {
    Socket listening = ListeningSocket(kLoopback, kPortsAgain);
    port = PortOf(listening);
    Socket near = OpenTcp(kLoopback, {}).value();
    ASSERT_TRUE(
        near.Connect(listening.LocalEndpoint().value(), kPatience).has_value());
    { const AcceptedSocket closed = listening.Accept(kPatience).value(); }
    std::array<std::byte, 1> buffer{};
    ASSERT_EQ(near.Receive(buffer).value(), Bytes{0});
  }
  Result<Socket> again = OpenTcp(kLoopback, {port, port});
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(OpenTcp(kLoopback, {port, port}).error(), address_in_use)
      << "what remains of a connection must not make the port anybody's";
  EXPECT_TRUE(again.value().Listen().has_value());
}

TEST(SocketContractTest, OpenRefusesWhatIsNoAddressOrNoRange) {
  EXPECT_EQ(OpenTcp("localhost", {}).error(), invalid_argument);
  EXPECT_EQ(OpenTcp("300.0.0.1", {}).error(), invalid_argument);
  EXPECT_EQ(OpenTcp("", {}).error(), invalid_argument);
  EXPECT_EQ(OpenTcp(kLoopback, {20'102, 20'101}).error(), invalid_argument);
  EXPECT_EQ(OpenTcp(kLoopback, {0, 20'101}).error(), invalid_argument);
}

TEST(SocketContractTest, OpenRefusesAnAddressOfAnotherHost) {
  // RFC 5737: nobody's.
  EXPECT_EQ(OpenTcp("203.0.113.77", {}).error(), address_not_available);
}

TEST(SocketContractTest, MovingTakesTheHandleAndLeavesNone) {
  auto [near, far] = ConnectedPair();
  const Socket::Handle handle = near.handle();
  Socket taker = std::move(near);
  EXPECT_EQ(taker.handle(), handle);
  // NOLINTNEXTLINE(bugprone-use-after-move): what it leaves is the point.
  EXPECT_EQ(near.handle(), Socket::Handle::kNone);
}

TEST(SocketContractTest, AssigningClosesWhatWasHeldBefore) {
  auto [near, far] = ConnectedPair();
  near = OpenTcp(kLoopback, {}).value();
  std::array<std::byte, 1> buffer{};
  EXPECT_EQ(far.Receive(buffer).value(), Bytes{0});
}

}  // namespace
}  // namespace wiretoll
