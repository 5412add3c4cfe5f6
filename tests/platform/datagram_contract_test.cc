// Datagrams: any implementation must pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <future>
#include <thread>
#include <vector>

#include "platform/datagram.h"
#include "platform/host_facts.h"
#include "platform/options.h"
#include "tests/platform/connected_pair.h"
#include "tests/platform/lacks.h"

namespace wiretoll {
namespace {

using boost::system::errc::address_in_use;
using boost::system::errc::address_not_available;
using boost::system::errc::connection_refused;
using boost::system::errc::invalid_argument;
using boost::system::errc::message_size;
using boost::system::errc::operation_not_supported;
using boost::system::errc::operation_would_block;
using std::chrono::milliseconds;

// Below what systems hand out as ephemeral ports, and one for each test, which
// may run beside the others.
constexpr PortRange kPairOfPorts{20'400, 20'401};
constexpr PortRange kDeadPort{20'402, 20'402};
constexpr PortRange kFreedPort{20'403, 20'403};

// Long enough for what comes over loopback, short enough to wait for what
// does not.
constexpr milliseconds kBriefly{200};

std::vector<std::byte> Numbered(std::size_t size, int first) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  }
  bytes[0] = static_cast<std::byte>(first);
  return bytes;
}

Socket OpenLoopback() { return OpenUdp(kLoopback, {}).value(); }

void ConnectTo(Socket& socket, const Socket& peer) {
  const Result<Done> connected =
      socket.Connect(peer.LocalEndpoint().value(), kPatience);
  ASSERT_TRUE(connected.has_value()) << connected.error().message();
}

class DatagramContractTest : public testing::Test {
 protected:
  void SetUp() override {
    ConnectTo(near_, far_);
    ConnectTo(far_, near_);
    ASSERT_TRUE(SetReceiveTimeout(near_, kPatience).has_value());
    ASSERT_TRUE(SetReceiveTimeout(far_, kPatience).has_value());
  }

  // How many are there until none comes for a while.
  int CountWaiting(Socket& socket) {
    EXPECT_TRUE(SetReceiveTimeout(socket, kBriefly).has_value());
    int count = 0;
    Result<Datagram> got = ReceiveDatagram(socket, buffer_);
    for (; got.has_value(); got = ReceiveDatagram(socket, buffer_)) ++count;
    EXPECT_EQ(got.error(), operation_would_block) << got.error().message();
    return count;
  }

  Socket near_ = OpenLoopback();
  Socket far_ = OpenLoopback();
  std::vector<std::byte> buffer_ = std::vector<std::byte>(65'536);
};

TEST_F(DatagramContractTest, DatagramOfAnySizeArrivesWholeInOneCall) {
  for (const std::int64_t size :
       {std::int64_t{1}, std::int64_t{1472}, kMostDatagramBytes}) {
    const auto sent = Numbered(static_cast<std::size_t>(size), 7);
    ASSERT_EQ(near_.Send(sent).value(), Bytes{size});
    const Datagram got = ReceiveDatagram(far_, buffer_).value();
    EXPECT_EQ(got.kept, Bytes{size});
    EXPECT_EQ(got.length, Bytes{size});
    EXPECT_FALSE(got.cut);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), buffer_.begin()));
  }
}

TEST_F(DatagramContractTest, OneByteMoreThanIpv4CarriesIsRefused) {
  const auto large = Numbered(65'508, 0);
  EXPECT_EQ(near_.Send(large).error(), message_size);
  EXPECT_EQ(CountWaiting(far_), 0);
}

TEST_F(DatagramContractTest, DatagramsAreNotJoined) {
  ASSERT_EQ(near_.Send(Numbered(3, 1)).value(), Bytes{3});
  ASSERT_EQ(near_.Send(Numbered(5, 2)).value(), Bytes{5});
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{3});
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{5});
}

TEST_F(DatagramContractTest, ShortBufferCutsAndItIsSeen) {
  const auto sent = Numbered(100, 9);
  ASSERT_EQ(near_.Send(sent).value(), Bytes{100});
  ASSERT_EQ(near_.Send(Numbered(4, 1)).value(), Bytes{4});
  std::array<std::byte, 40> small{};
  const Datagram cut = ReceiveDatagram(far_, small).value();
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.kept, Bytes{40});
  EXPECT_EQ(cut.length.value_or(Bytes{100}), Bytes{100})
      << "the true length, or none";
  EXPECT_TRUE(std::equal(small.begin(), small.end(), sent.begin()));
  EXPECT_EQ(ReceiveDatagram(far_, small).value().length, Bytes{4})
      << "what was cut off is gone";
}

TEST_F(DatagramContractTest, TimeOutIsAReceiveThatWouldBlock) {
  ASSERT_TRUE(SetReceiveTimeout(far_, milliseconds{1}).has_value());
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).error(), operation_would_block);
  ASSERT_EQ(near_.Send(Numbered(3, 1)).value(), Bytes{3});
  ASSERT_TRUE(SetReceiveTimeout(far_, kPatience).has_value());
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{3})
      << "and the socket is none the worse for it";
}

TEST_F(DatagramContractTest, TimeOutBelowAMillisecondIsRefused) {
  EXPECT_EQ(SetReceiveTimeout(far_, milliseconds{0}).error(), invalid_argument);
  EXPECT_EQ(SetReceiveTimeout(far_, milliseconds{-1}).error(),
            invalid_argument);
}

TEST_F(DatagramContractTest, DeadPortIsAConnectionRefused) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  Socket sender = OpenLoopback();
  {
    const Socket closed = OpenUdp(kLoopback, kDeadPort).value();
    ConnectTo(sender, closed);
  }
  ASSERT_TRUE(SetReceiveTimeout(sender, kBriefly).has_value());
  // Wine tells it from the second on.
  Error error = make_error_code(operation_would_block);
  for (int i = 0; i < 5 && error == operation_would_block; ++i) {
    ASSERT_TRUE(sender.Send(Numbered(8, 1)).has_value());
    error = ReceiveDatagram(sender, buffer_).error();
  }
  EXPECT_EQ(error, connection_refused) << error.message();
}

TEST_F(DatagramContractTest, StrangersDatagramNeverReachesAConnectedSocket) {
  Socket stranger = OpenLoopback();
  ConnectTo(stranger, far_);
  ASSERT_EQ(stranger.Send(Numbered(3, 1)).value(), Bytes{3});
  ASSERT_EQ(near_.Send(Numbered(5, 2)).value(), Bytes{5});
  // It is told that nobody is there for it, where a system does that.
  const Result<Bytes> again = stranger.Send(Numbered(7, 3));
  EXPECT_TRUE(again.has_value() || again.error() == connection_refused);
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{5});
  EXPECT_EQ(CountWaiting(far_), 0);
}

class StrangerTrapContractTest : public testing::Test {
 protected:
  void SetUp() override {
    ConnectTo(near_, far_);
    ConnectTo(stranger_, far_);
    ASSERT_EQ(stranger_.Send(Numbered(3, 1)).value(), Bytes{3});
    ConnectTo(far_, near_);
    Result<StrangerTrap> set = StrangerTrap::Set(far_);
    if (set.error() == operation_not_supported) {
      GTEST_SKIP() << "this system gives a port to one socket alone: Linux "
                      "lets two share it; run it there";
    }
    ASSERT_TRUE(set.has_value()) << set.error().message();
    trap_.emplace(std::move(set).value());
  }

  Socket near_ = OpenLoopback();
  Socket far_ = OpenUdp(kLoopback, {}).value();
  Socket stranger_ = OpenLoopback();
  std::optional<StrangerTrap> trap_;
};

TEST_F(StrangerTrapContractTest, StrangersAreCountedAlsoFromBeforeConnect) {
  EXPECT_EQ(trap_->Count(), 1) << "sent before the receiver knew its peer";
  EXPECT_EQ(trap_->last(), stranger_.LocalEndpoint().value());
  ASSERT_EQ(near_.Send(Numbered(5, 2)).value(), Bytes{5});
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(stranger_.Send(Numbered(7, i)).value(), Bytes{7});
  }
  EXPECT_EQ(trap_->Count(), 11);
  EXPECT_EQ(trap_->Count(), 11) << "each once";
  std::array<std::byte, 16> buffer{};
  ASSERT_TRUE(SetReceiveTimeout(far_, kBriefly).has_value());
  EXPECT_EQ(ReceiveDatagram(far_, buffer).value().length, Bytes{5});
  EXPECT_EQ(ReceiveDatagram(far_, buffer).error(), operation_would_block);
}

TEST_F(StrangerTrapContractTest, MoreThanTheTrapCanHoldAreCountedAllTheSame) {
  const auto data = Numbered(1400, 1);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(stranger_.Send(data).value(), Bytes{1400});
  }
  EXPECT_EQ(trap_->Count(), 5001);
}

TEST_F(StrangerTrapContractTest, TrapMakesThePortNobodyElses) {
  const std::uint16_t port = far_.LocalEndpoint().value().port;
  EXPECT_EQ(OpenUdp(kLoopback, {port, port}).error(), address_in_use);
}

TEST_F(DatagramContractTest, DropsOfTheReceiveBufferAreCountedOrSaidNotToBe) {
  ASSERT_TRUE(SetOption(far_, SocketOption::kRcvbuf, 4096).has_value());
  const UdpCounters before = ReadUdpCounters(far_);
  constexpr int kSent = 2000;
  const auto data = Numbered(512, 1);
  for (int i = 0; i < kSent; ++i) {
    ASSERT_EQ(near_.Send(data).value(), Bytes{512});
  }
  const int read = CountWaiting(far_);
  const UdpCounters after = ReadUdpCounters(far_);
  EXPECT_GT(read, 0);
  EXPECT_EQ(after.receive_buffer_drops.has_value(), after.reason.empty());
  if (!after.receive_buffer_drops) return;
  EXPECT_LT(read, kSent);
  EXPECT_EQ(before.receive_buffer_drops, 0);
  EXPECT_EQ(after.receive_buffer_drops, kSent - read);
}

TEST_F(DatagramContractTest, InterruptEndsABlockedReceive) {
  auto blocked = std::async(std::launch::async,
                            [this] { return ReceiveDatagram(far_, buffer_); });
  std::this_thread::sleep_for(milliseconds{50});
  far_.Interrupt();
  const Result<Datagram> got = blocked.get();
  ASSERT_TRUE(got.has_value()) << got.error().message();
  EXPECT_EQ(got.value().length, Bytes{0});
}

TEST_F(DatagramContractTest, CallsAfterInterruptReturnAtOnce) {
  far_.Interrupt();
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{0});
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{0});
  EXPECT_FALSE(far_.Send(Numbered(3, 1)).has_value());
}

TEST_F(DatagramContractTest, OpenTakesTheFirstFreePortUntilNoneIsLeft) {
  const Socket first = OpenUdp(kLoopback, kPairOfPorts).value();
  const Socket second = OpenUdp(kLoopback, kPairOfPorts).value();
  EXPECT_EQ(first.LocalEndpoint().value().port, kPairOfPorts.first);
  EXPECT_EQ(second.LocalEndpoint().value().port, kPairOfPorts.last);
  EXPECT_EQ(OpenUdp(kLoopback, kPairOfPorts).error(), address_in_use);
}

TEST_F(DatagramContractTest, PortOfAClosedSocketCanBeHadAtOnce) {
  { const Socket closed = OpenUdp(kLoopback, kFreedPort).value(); }
  EXPECT_TRUE(OpenUdp(kLoopback, kFreedPort).has_value());
}

TEST_F(DatagramContractTest, OpenRefusesWhatIsNoAddressOrNoRange) {
  EXPECT_EQ(OpenUdp("localhost", {}).error(), invalid_argument);
  EXPECT_EQ(OpenUdp(kLoopback, {20'401, 20'400}).error(), invalid_argument);
}

TEST_F(DatagramContractTest, OpenRefusesAnAddressOfAnotherHost) {
  // RFC 5737: nobody's.
  const Error error = OpenUdp("203.0.113.77", {}).error();
  if (error == Error{} && IdentifyOs().os == "wine") {
    GTEST_SKIP() << "Wine binds a datagram socket to an address that its host "
                    "does not have; run it on Windows";
  }
  EXPECT_EQ(error, address_not_available) << error.message();
}

TEST_F(DatagramContractTest, Ipv6CarriesDatagramsToo) {
  const std::string v6 = "::1";
  if (OpenUdp(v6, {}).error() == address_not_available) {
    GTEST_SKIP() << "this host has no IPv6 loopback: "
                    "sysctl net.ipv6.conf.lo.disable_ipv6=0";
  }
  Socket near = OpenUdp(v6, {}).value();
  Socket far = OpenUdp(v6, {}).value();
  ConnectTo(near, far);
  ConnectTo(far, near);
  ASSERT_EQ(near.Send(Numbered(1452, 1)).value(), Bytes{1452});
  EXPECT_EQ(ReceiveDatagram(far, buffer_).value().length, Bytes{1452});
}

TEST_F(DatagramContractTest, DontFragmentReadsBackAsSwitched) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  for (const std::int64_t wanted : {1, 0, 1}) {
    const Result<Done> set =
        SetOption(near_, SocketOption::kDontFragment, wanted);
    ASSERT_TRUE(set.has_value()) << set.error().message();
    EXPECT_EQ(GetOption(near_, SocketOption::kDontFragment).value(), wanted);
  }
  ASSERT_EQ(near_.Send(Numbered(1000, 1)).value(), Bytes{1000});
  EXPECT_EQ(ReceiveDatagram(far_, buffer_).value().length, Bytes{1000});
}

TEST_F(DatagramContractTest, LocalDropsAreToldOrSaidNotToBe) {
  const Error error = TellOfLocalDrops(near_).error();
  EXPECT_TRUE(error == Error{} || error == operation_not_supported)
      << error.message();
}

TEST_F(DatagramContractTest, PathMtuHoldsADatagramOrIsSaidNotToBeKnown) {
  const Result<std::int64_t> most = ReadPathMtu(near_);
  if (most.error() == operation_not_supported) {
    GTEST_SKIP() << "this system does not tell a path's MTU: Linux does "
                    "(IP_MTU), and Windows from 10 on; run it there";
  }
  // RFC 1122 3.3.3: 576 bytes are to be expected anywhere.
  EXPECT_GE(most.value(), 576 - 20 - 8);
}

class DatagramBatchContractTest : public DatagramContractTest {
 protected:
  void SetUp() override {
    DatagramContractTest::SetUp();
    if (!HasDatagramBatches()) {
      EXPECT_EQ(SendDatagrams(near_, buffer_, Bytes{65'536}, 1).error(),
                operation_not_supported);
      EXPECT_EQ(ReceiveDatagrams(far_, buffer_, Bytes{1}, got_).error(),
                operation_not_supported);
      GTEST_SKIP() << "this system has no call for several datagrams: Linux "
                      "has (sendmmsg); run it there";
    }
  }

  std::array<Datagram, 32> got_;
};

TEST_F(DatagramBatchContractTest, SixteenArriveInOrderWithTheirSizes) {
  constexpr int kCount = 16;
  constexpr std::size_t kSize = 100;
  std::vector<std::byte> data;
  for (int i = 0; i < kCount; ++i) {
    const auto one = Numbered(kSize, i);
    data.insert(data.end(), one.begin(), one.end());
  }
  ASSERT_EQ(SendDatagrams(near_, data, Bytes{kSize}, kCount).value(), kCount);
  const std::size_t room = 200;
  const std::span<std::byte> buffer{buffer_.data(), room * got_.size()};
  ASSERT_EQ(ReceiveDatagrams(far_, buffer, Bytes{room}, got_).value(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(got_[i].length, Bytes{kSize});
    EXPECT_EQ(got_[i].kept, Bytes{kSize});
    EXPECT_FALSE(got_[i].cut);
    EXPECT_TRUE(std::ranges::equal(std::span{data}.subspan(i * kSize, kSize),
                                   std::span{buffer_}.subspan(i * room, kSize)))
        << i;
  }
}

TEST_F(DatagramBatchContractTest, BatchOfOtherSizesKeepsEachAndSeesCuts) {
  for (const std::size_t size : {1U, 50U, 1472U}) {
    ASSERT_TRUE(near_.Send(Numbered(size, 1)).has_value());
  }
  const std::span<std::byte> buffer{buffer_.data(), 300};
  ASSERT_EQ(ReceiveDatagrams(far_, buffer, Bytes{100}, got_).value(), 3);
  EXPECT_EQ(got_[0].length, Bytes{1});
  EXPECT_EQ(got_[1].length, Bytes{50});
  EXPECT_FALSE(got_[1].cut);
  EXPECT_EQ(got_[2].length, Bytes{1472});
  EXPECT_EQ(got_[2].kept, Bytes{100});
  EXPECT_TRUE(got_[2].cut);
}

TEST_F(DatagramBatchContractTest, NoMoreComeThanThereIsRoomFor) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(near_.Send(Numbered(10, i)).has_value());
  }
  const std::span<std::byte> two{buffer_.data(), 250};
  EXPECT_EQ(ReceiveDatagrams(far_, two, Bytes{100}, got_).value(), 2);
  const std::span<Datagram> one{got_.data(), 1};
  EXPECT_EQ(ReceiveDatagrams(far_, buffer_, Bytes{100}, one).value(), 1);
  EXPECT_EQ(ReceiveDatagrams(far_, two, Bytes{300}, got_).error(),
            invalid_argument);
  EXPECT_EQ(ReceiveDatagrams(far_, buffer_, Bytes{100}, got_).value(), 2);
}

TEST_F(DatagramBatchContractTest, BatchThatDoesNotFillItsDataIsRefused) {
  const std::span<const std::byte> data{buffer_.data(), 160};
  EXPECT_EQ(SendDatagrams(near_, data, Bytes{10}, 15).error(),
            invalid_argument);
  EXPECT_EQ(SendDatagrams(near_, {}, Bytes{10}, 0).error(), invalid_argument);
  const std::span<const std::byte> many{buffer_.data(), kMostInBatch + 1};
  EXPECT_EQ(SendDatagrams(near_, many, Bytes{1}, kMostInBatch + 1).error(),
            invalid_argument);
}

TEST_F(DatagramBatchContractTest, TimeOutAndInterruptAreThoseOfOneDatagram) {
  ASSERT_TRUE(SetReceiveTimeout(far_, milliseconds{1}).has_value());
  EXPECT_EQ(ReceiveDatagrams(far_, buffer_, Bytes{100}, got_).error(),
            operation_would_block);
  ASSERT_TRUE(SetReceiveTimeout(far_, kPatience).has_value());
  auto blocked = std::async(std::launch::async, [this] {
    return ReceiveDatagrams(far_, buffer_, Bytes{100}, got_);
  });
  std::this_thread::sleep_for(milliseconds{50});
  far_.Interrupt();
  ASSERT_EQ(blocked.get().value(), 1);
  EXPECT_EQ(got_[0].length, Bytes{0});
}

}  // namespace
}  // namespace wiretoll
