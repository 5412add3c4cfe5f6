// What a capture sees, on interfaces of the test's own.
#include "platform/packet_capture.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "platform/clock.h"
#include "platform/tap.h"
#include "tests/platform/connected_pair.h"
#include "tests/platform/private_network.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kIpv4At = 14;

struct Kept {
  SteadyTime time{};
  std::vector<std::byte> bytes;
  std::uint32_t original = 0;

  [[nodiscard]] int At(std::size_t offset) const {
    return std::to_integer<int>(bytes.at(offset));
  }
  // RFC 9293 3.1: the length of the header in words, in its byte 12.
  [[nodiscard]] int payload() const {
    const int total = At(kIpv4At + 2) << 8 | At(kIpv4At + 3);
    const std::size_t ip = std::size_t{4} * (At(kIpv4At) & 15);
    const int tcp = 4 * (At(kIpv4At + ip + 12) >> 4);
    return total - static_cast<int>(ip) - tcp;
  }
};

class PacketCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = EnterPrivateNetwork();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_TRUE(Shell("ip link set lo up"));
  }

  static PacketCapture Open(const CaptureSpec& spec) {
    auto opened = PacketCapture::Open(spec);
    EXPECT_TRUE(opened.has_value()) << opened.error().message();
    return std::move(opened).value();
  }

  // All that comes until nothing has come for 100 ms.
  static std::vector<Kept> Drain(PacketCapture& capture) {
    std::vector<Kept> kept;
    const FrameSink take = [&kept](const PassingFrame& frame) {
      kept.push_back({frame.time,
                      {frame.bytes.begin(), frame.bytes.end()},
                      frame.original_bytes});
    };
    while (true) {
      const auto got = capture.Read(100ms, take);
      EXPECT_TRUE(got.has_value()) << got.error().message();
      if (!got.has_value() || got.value() == 0) return kept;
    }
  }

  static void Talk(SocketPair& pair, std::size_t bytes) {
    const std::vector<std::byte> data(bytes);
    ASSERT_EQ(pair.near.Send(data).value().count,
              static_cast<std::int64_t>(bytes));
    ASSERT_TRUE(AllAcknowledged(pair.near));
  }

  static int WithPayload(const std::vector<Kept>& frames) {
    int count = 0;
    for (const Kept& frame : frames) count += frame.payload() > 0 ? 1 : 0;
    return count;
  }
};

// SYN, SYN-ACK, ACK, the data and its ACK: five frames, each once although a
// loopback interface shows them twice.
TEST_F(PacketCaptureTest, SeesEachFrameOfAConnectionOnce) {
  PacketCapture capture = Open({kLoopback, kLoopback, 0, 0, 128});
  EXPECT_EQ(capture.interface_name(), "lo");
  SocketPair pair = ConnectedPair();
  Talk(pair, 100);
  const std::vector<Kept> frames = Drain(capture);
  EXPECT_EQ(frames.size(), 5U);
  EXPECT_EQ(WithPayload(frames), 1);
  EXPECT_EQ(capture.Counts().value().dropped, 0);
}

// 14 Ethernet + 20 IPv4 + 32 TCP with timestamps + 100: 166 bytes, 96 kept.
TEST_F(PacketCaptureTest, KeepsTheFirstBytesAndTellsTheLength) {
  PacketCapture capture = Open({kLoopback, kLoopback, 0, 0, 96});
  SocketPair pair = ConnectedPair();
  Talk(pair, 100);
  for (const Kept& frame : Drain(capture)) {
    if (frame.payload() == 0) continue;
    EXPECT_EQ(frame.original, 166U);
    EXPECT_EQ(frame.bytes.size(), 96U);
  }
}

// To within what the wall clock may be stepped by while frames wait.
TEST_F(PacketCaptureTest, TellsWhenByTheMonotonicClock) {
  PacketCapture capture = Open({kLoopback, kLoopback, 0, 0, 96});
  for (int round = 0; round < 10; ++round) {
    const SteadyTime before = MonotonicNow();
    SocketPair pair = ConnectedPair();
    Talk(pair, 1);
    const SteadyTime after = MonotonicNow();
    for (const Kept& frame : Drain(capture)) {
      if (frame.payload() == 0) continue;
      EXPECT_GE(frame.time, before - 2ms);
      EXPECT_LE(frame.time, after + 2ms);
    }
  }
}

TEST_F(PacketCaptureTest, LeavesOtherPortsAlone) {
  PacketCapture capture = Open({kLoopback, kLoopback, 7001, 7003, 128});
  SocketPair other = ConnectedPair();  // Ports of the system's choice: 32768-.
  Talk(other, 10);
  EXPECT_EQ(Drain(capture).size(), 0U);
}

TEST_F(PacketCaptureTest, LeavesOtherAddressesAlone) {
  PacketCapture capture = Open({kLoopback, "127.0.0.9", 0, 0, 128});
  SocketPair pair = ConnectedPair();
  Talk(pair, 10);
  EXPECT_EQ(Drain(capture).size(), 0U);
}

TEST_F(PacketCaptureTest, SeesIpv6) {
  ASSERT_TRUE(Shell("echo 0 > /proc/sys/net/ipv6/conf/lo/disable_ipv6"));
  PacketCapture capture = Open({"::1", "::1", 0, 0, 128});
  SocketPair pair = ConnectedPair("::1");
  Talk(pair, 100);
  const std::vector<Kept> frames = Drain(capture);
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(frames[0].At(12) << 8 | frames[0].At(13), 0x86DD);
}

TEST_F(PacketCaptureTest, MixedAddressFamiliesAreRefused) {
  EXPECT_EQ(PacketCapture::Open({kLoopback, "::1", 0, 0, 96}).error(),
            boost::system::errc::invalid_argument);
}

TEST_F(PacketCaptureTest, AnAddressOfNoInterfaceIsNamedSo) {
  EXPECT_EQ(PacketCapture::Open({"192.0.2.1", kLoopback, 0, 0, 96}).error(),
            boost::system::errc::address_not_available);
}

// A tagged frame comes out of the kernel with its tag beside it, and must be
// as it was: 12 bytes of addresses, the tag of VLAN 5, then IPv4.
TEST_F(PacketCaptureTest, PutsAVlanTagBackWhereItWas) {
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) {
    GTEST_SKIP() << "/dev/net/tun: " << std::strerror(errno)
                 << "; modprobe tun, or give the container --device "
                    "/dev/net/tun";
  }
  Tap tap = Tap::Create("tagged0").value();
  ASSERT_TRUE(Shell("ip addr add 10.9.0.1/24 dev tagged0"));
  ASSERT_TRUE(Shell("ip link set tagged0 up"));
  PacketCapture capture = Open({"10.9.0.1", "10.9.0.2", 0, 0, 128});
  std::vector<std::byte> frame(64);
  const std::array<int, 6> tag_and_type{0x81, 0x00, 0x00, 0x05, 0x08, 0x00};
  for (std::size_t i = 0; i < 6; ++i) {
    frame[i] = std::byte{0xFF};  // To all.
    frame[12 + i] = static_cast<std::byte>(tag_and_type[i]);
  }
  frame[18] = std::byte{0x45};
  const std::array<int, 8> addresses{10, 9, 0, 2, 10, 9, 0, 1};
  for (std::size_t i = 0; i < 8; ++i)
    frame[30 + i] = static_cast<std::byte>(addresses[i]);
  ASSERT_TRUE(tap.Write(frame).has_value());
  const std::vector<Kept> seen = Drain(capture);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].bytes, frame);
  EXPECT_EQ(seen[0].original, 64U);
}

}  // namespace
}  // namespace wiretoll
