#include "platform/tap.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "platform/clock.h"
#include "tests/platform/private_network.h"

namespace wiretoll {
namespace {

using boost::system::errc::invalid_argument;
using boost::system::errc::operation_would_block;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Standard input is an open pipe for as long as the test wants it to be.
class TapTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = EnterPrivateNetwork();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    if (::access("/dev/net/tun", R_OK | W_OK) != 0) {
      GTEST_SKIP() << "/dev/net/tun: " << std::strerror(errno)
                   << "; modprobe tun, or give the container --device "
                      "/dev/net/tun";
    }
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ::close(ends[0]);
    input_ = ends[1];
  }
  void TearDown() override { CloseInput(); }

  void CloseInput() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }

  // Without IPv6, whose discovery frames would come in between.
  static Tap MakeUp(const std::string& name) {
    Tap tap = Tap::Create(name).value();
    const std::string ipv6 = "/proc/sys/net/ipv6/conf/" + name;
    EXPECT_TRUE(
        Shell("[ ! -d " + ipv6 + " ] || echo 1 > " + ipv6 + "/disable_ipv6"));
    EXPECT_TRUE(Shell("ip link set " + name + " up"));
    return tap;
  }

  int input_ = -1;
};

void SendDatagram(const char* address, std::size_t payload) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(9);
  ASSERT_EQ(::inet_pton(AF_INET, address, &peer.sin_addr), 1);
  const std::vector<char> data(payload);
  EXPECT_EQ(::sendto(fd, data.data(), data.size(), 0,
                     reinterpret_cast<const sockaddr*>(&peer), sizeof peer),
            static_cast<ssize_t>(payload));
  ::close(fd);
}

SteadyTime Soon() { return MonotonicNow() + milliseconds{20}; }
SteadyTime Late() { return MonotonicNow() + seconds{30}; }

TEST_F(TapTest, InterfaceLivesAsLongAsItsTap) {
  {
    const Tap tap = Tap::Create("wtap0").value();
    EXPECT_TRUE(Shell("ip link show wtap0 >/dev/null"));
  }
  EXPECT_FALSE(Shell("ip link show wtap0 >/dev/null 2>&1"));
}

TEST_F(TapTest, NameThatIsTakenOrTooLongIsRefused) {
  const Tap tap = Tap::Create("wtap0").value();
  EXPECT_EQ(Tap::Create("wtap0").error(),
            boost::system::errc::device_or_resource_busy);
  EXPECT_EQ(Tap::Create("sixteen-bytes-xx").error(), invalid_argument);
  EXPECT_EQ(Tap::Create("").error(), invalid_argument);
}

TEST_F(TapTest, FrameOfTheKernelIsReadWhole) {
  Tap a = MakeUp("wtap0");
  const Tap b = MakeUp("wtap1");
  ASSERT_TRUE(Shell("ip addr add 10.98.0.1/24 dev wtap0"));
  ASSERT_TRUE(
      Shell("ip neigh add 10.98.0.2 lladdr 02:00:00:00:00:02 dev wtap0"));
  constexpr std::int64_t kPayload = 56;
  SendDatagram("10.98.0.2", kPayload);
  ASSERT_TRUE(WaitReadable(a, b, Late()));
  std::array<std::byte, 2048> frame{};
  // Ethernet 14, IPv4 20, UDP 8.
  EXPECT_EQ(a.Read(frame).value(), Bytes{14 + 20 + 8 + kPayload});
}

TEST_F(TapTest, FrameWrittenIsReceivedByTheInterface) {
  Tap a = MakeUp("wtap0");
  const std::array<std::byte, 60> frame{};
  EXPECT_EQ(a.Write(frame).value(), Bytes{60});
  EXPECT_TRUE(Shell("grep -Eq 'wtap0: +60 +1 ' /proc/self/net/dev"));
}

TEST_F(TapTest, NothingToReadAndInterfaceDownWouldBlock) {
  Tap tap = Tap::Create("wtap0").value();
  std::array<std::byte, 2048> frame{};
  EXPECT_EQ(tap.Read(frame).error(), operation_would_block);
  EXPECT_EQ(tap.Write(frame).error(), operation_would_block);
}

TEST_F(TapTest, WaitEndsAtItsTimeWhileInputIsOpen) {
  const Tap a = Tap::Create("wtap0").value();
  const Tap b = Tap::Create("wtap1").value();
  const SteadyTime until = Soon();
  EXPECT_TRUE(WaitReadable(a, b, until));
  EXPECT_GE(MonotonicNow(), until);
  EXPECT_TRUE(WaitReadable(a, b, MonotonicNow() - seconds{1}));
}

TEST_F(TapTest, WaitIsFalseOnceInputIsClosed) {
  const Tap a = Tap::Create("wtap0").value();
  const Tap b = Tap::Create("wtap1").value();
  ASSERT_EQ(::write(input_, "x", 1), 1);
  EXPECT_TRUE(WaitReadable(a, b, Late())) << "something said is no end";
  CloseInput();
  EXPECT_FALSE(WaitReadable(a, b, Late()));
}

}  // namespace
}  // namespace wiretoll
