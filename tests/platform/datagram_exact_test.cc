// What Linux does with datagrams exactly, where the contract leaves it to the
// system; on a link of the test's own.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <vector>

#include "platform/datagram.h"
#include "platform/options.h"
#include "tests/platform/connected_pair.h"
#include "tests/platform/private_network.h"

namespace wiretoll {
namespace {

using boost::system::errc::connection_refused;
using boost::system::errc::message_size;
using boost::system::errc::no_buffer_space;

constexpr const char* kHere = "10.98.0.1";
constexpr std::uint16_t kPort = 9000;

std::vector<std::byte> Zeros(std::int64_t size) {
  return std::vector<std::byte>(static_cast<std::size_t>(size));
}

// Counts of the kernel's own: the packets that an interface's queue dropped.
std::int64_t DroppedByQueueOf(const std::string& interface) {
  EXPECT_TRUE(Shell("tc -s qdisc show dev " + interface +
                    " root | sed -n 's/.*dropped \\([0-9]*\\),.*/\\1/p' "
                    "> queue-drops.txt"));
  std::int64_t count = -1;
  std::ifstream("queue-drops.txt") >> count;
  std::remove("queue-drops.txt");
  return count;
}

// A link that ends in this namespace at one side, and nowhere at the other:
// who is there has a hardware address and takes in what comes.
class DatagramExactTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = EnterPrivateNetwork();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_TRUE(Shell("ip link set lo up"));
    ASSERT_TRUE(Shell("ip link add wt0 type veth peer name wt1"));
    ASSERT_TRUE(Shell("ip addr add 10.98.0.1/24 dev wt0"));
    ASSERT_TRUE(Shell("ip addr add fd98::1/64 dev wt0 nodad"));
    ASSERT_TRUE(Shell("ip link set wt0 up && ip link set wt1 up"));
    for (const char* there : {"10.98.0.2", "fd98::2"}) {
      ASSERT_TRUE(Shell(std::string{"ip neigh replace "} + there +
                        " lladdr 02:00:00:00:00:02 dev wt0 nud permanent"));
    }
  }
  void TearDown() override {
    if (EnterPrivateNetwork().empty()) Shell("ip link del wt0 2>/dev/null");
  }

  static Socket Sender(const std::string& from, const std::string& to) {
    Socket sender = OpenUdp(from, {}).value();
    EXPECT_TRUE(sender.Connect({to, kPort}, kPatience).has_value());
    return sender;
  }

  // Sends `count` datagrams; gives how many calls said no_buffer_space.
  static int SendMany(Socket& sender, int count) {
    const auto data = Zeros(1000);
    int refused = 0;
    for (int i = 0; i < count; ++i) {
      const Result<Bytes> sent = sender.Send(data);
      if (sent.has_value()) continue;
      EXPECT_EQ(sent.error(), no_buffer_space) << sent.error().message();
      ++refused;
    }
    return refused;
  }
};

// A queue of ten packets before 1 Mbit/s, which takes 8 ms for each.
constexpr const char* kShortQueue =
    "tc qdisc replace dev wt0 root tbf rate 1mbit burst 2000 limit 10000";

TEST_F(DatagramExactTest, DropsOfOnesOwnQueueAreHiddenUnlessAskedFor) {
  ASSERT_TRUE(Shell(kShortQueue));
  Socket sender = Sender(kHere, "10.98.0.2");
  EXPECT_EQ(SendMany(sender, 100), 0);
  EXPECT_GT(DroppedByQueueOf("wt0"), 0);
}

// Without IPv6 nobody else sends here, so that every drop is one of ours.
TEST_F(DatagramExactTest, EachDropOfOnesOwnQueueIsToldWhenAskedFor) {
  ASSERT_TRUE(Shell("echo 1 > /proc/sys/net/ipv6/conf/wt0/disable_ipv6"));
  ASSERT_TRUE(Shell(kShortQueue));
  Socket sender = Sender(kHere, "10.98.0.2");
  ASSERT_TRUE(TellOfLocalDrops(sender).has_value());
  const int refused = SendMany(sender, 100);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(refused, DroppedByQueueOf("wt0"));
}

TEST_F(DatagramExactTest, Ipv6TellsOfDropsOfOnesOwnQueueToo) {
  ASSERT_TRUE(Shell(kShortQueue));
  Socket sender = Sender("fd98::1", "fd98::2");
  EXPECT_EQ(SendMany(sender, 100), 0);
  ASSERT_TRUE(TellOfLocalDrops(sender).has_value());
  EXPECT_GT(SendMany(sender, 100), 0);
}

TEST_F(DatagramExactTest, DeadPortIsToldByTheCallsAlsoWithLocalDropsTold) {
  for (const bool tell : {false, true}) {
    Socket sender = OpenUdp(kLoopback, {}).value();
    ASSERT_TRUE(sender.Connect({kLoopback, kPort}, kPatience).has_value());
    ASSERT_TRUE(!tell || TellOfLocalDrops(sender).has_value());
    const auto data = Zeros(100);
    // More than the error queue has room for: each is told all the same.
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(sender.Send(data).has_value()) << i;
      ASSERT_EQ(sender.Send(data).error(), connection_refused) << i;
    }
    ASSERT_TRUE(sender.Send(data).has_value());
    std::array<std::byte, 1> buffer{};
    EXPECT_EQ(ReceiveDatagram(sender, buffer).error(), connection_refused);
  }
}

TEST_F(DatagramExactTest, DatagramOverTheMtuIsRefusedExactlyWithDontFragment) {
  struct Path {
    const char* from;
    const char* to;
    std::int64_t fits;  // MTU 1500 - IP header - 8.
  };
  for (const Path& path :
       {Path{kHere, "10.98.0.2", 1472}, Path{"fd98::1", "fd98::2", 1452}}) {
    Socket sender = Sender(path.from, path.to);
    EXPECT_EQ(ReadPathMtu(sender).value(), path.fits);
    ASSERT_TRUE(SetOption(sender, SocketOption::kDontFragment, 1).has_value());
    EXPECT_TRUE(sender.Send(Zeros(path.fits)).has_value()) << path.from;
    EXPECT_EQ(sender.Send(Zeros(path.fits + 1)).error(), message_size)
        << path.from;
    ASSERT_TRUE(SetOption(sender, SocketOption::kDontFragment, 0).has_value());
    EXPECT_TRUE(sender.Send(Zeros(path.fits + 1)).has_value()) << path.from;
  }
}

TEST_F(DatagramExactTest, FreshSocketFragmentsItself) {
  Socket sender = Sender(kHere, "10.98.0.2");
  EXPECT_EQ(GetOption(sender, SocketOption::kDontFragment).value(), 0);
  EXPECT_TRUE(sender.Send(Zeros(kMostDatagramBytes)).has_value());
}

// The length that Linux tells is the one before the cut.
TEST_F(DatagramExactTest, CutDatagramHasTheLengthItCameWith) {
  Socket far = OpenUdp(kLoopback, {}).value();
  Socket near = OpenUdp(kLoopback, {}).value();
  ASSERT_TRUE(near.Connect(far.LocalEndpoint().value(), kPatience).has_value());
  ASSERT_TRUE(near.Send(Zeros(kMostDatagramBytes)).has_value());
  std::array<std::byte, 1> buffer{};
  const Datagram got = ReceiveDatagram(far, buffer).value();
  EXPECT_EQ(got.length, Bytes{kMostDatagramBytes});
  EXPECT_EQ(got.kept, Bytes{1});
}

// With the trap a stranger is not told that nobody is there, and without it
// he is: an ICMP port unreachable, which costs the receiver's host.
TEST_F(DatagramExactTest, TrapKeepsTheHostFromAnsweringStrangers) {
  Socket near = OpenUdp(kLoopback, {}).value();
  Socket far = OpenUdp(kLoopback, {}).value();
  ASSERT_TRUE(near.Connect(far.LocalEndpoint().value(), kPatience).has_value());
  ASSERT_TRUE(far.Connect(near.LocalEndpoint().value(), kPatience).has_value());
  Socket stranger = OpenUdp(kLoopback, {}).value();
  ASSERT_TRUE(
      stranger.Connect(far.LocalEndpoint().value(), kPatience).has_value());
  ASSERT_TRUE(stranger.Send(Zeros(1)).has_value());
  ASSERT_EQ(stranger.Send(Zeros(1)).error(), connection_refused);
  StrangerTrap trap = StrangerTrap::Set(far).value();
  ASSERT_TRUE(stranger.Send(Zeros(1)).has_value());
  ASSERT_TRUE(stranger.Send(Zeros(1)).has_value());
  EXPECT_EQ(trap.Count(), 2);
}

// Whoever sets SO_REUSEADDR has a port together with all that have it set.
TEST_F(DatagramExactTest, TrapLeavesThePortToNobodyWhoWouldShareIt) {
  Socket near = OpenUdp(kLoopback, {}).value();
  Socket far = OpenUdp(kLoopback, {}).value();
  ASSERT_TRUE(far.Connect(near.LocalEndpoint().value(), kPatience).has_value());
  const StrangerTrap trap = StrangerTrap::Set(far).value();
  sockaddr_in taken{};
  taken.sin_family = AF_INET;
  taken.sin_port = htons(far.LocalEndpoint().value().port);
  taken.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int thief = ::socket(AF_INET, SOCK_DGRAM, 0);
  const int on = 1;
  ASSERT_EQ(::setsockopt(thief, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
  EXPECT_EQ(::bind(thief, reinterpret_cast<sockaddr*>(&taken), sizeof taken),
            -1);
  EXPECT_EQ(errno, EADDRINUSE);
  ::close(thief);
}

}  // namespace
}  // namespace wiretoll
