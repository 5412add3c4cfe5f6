#include "harness/theory/overhead.h"

#include <gtest/gtest.h>

#include <vector>

namespace wiretoll {
namespace {

constexpr HeaderStack kPlainTcp{.timestamps = false};
constexpr HeaderStack kTcpWithTimestamps{.timestamps = true};
constexpr HeaderStack kUdp{.transport = Transport::kUdp};

// 1 + 20 + 20 = 41 is below the 46 that a frame holds at least, so the frame
// is 64; with preamble and gap 64 + 20 = 84. 1 / 84 = 1.19 %.
TEST(OverheadTest, OneByteOverPlainTcpTakes84BytesOfLine) {
  const FrameCost cost = CostOfFrame(Bytes{1}, kPlainTcp);
  EXPECT_EQ(cost.l4, Bytes{21});
  EXPECT_EQ(cost.l3, Bytes{41});
  EXPECT_EQ(cost.l2, Bytes{64});
  EXPECT_EQ(cost.l1, Bytes{84});
  EXPECT_NEAR(100 * Efficiency(cost), 1.19, 0.005);
}

// 1 + 20 + 20 + 12 = 53, more than 46, so no padding: 53 + 18 + 20 = 91.
TEST(OverheadTest, OneByteWithTimestampsTakes91BytesOfLine) {
  const FrameCost cost = CostOfFrame(Bytes{1}, kTcpWithTimestamps);
  EXPECT_EQ(cost.l3, Bytes{53});
  EXPECT_EQ(cost.l2, Bytes{71});
  EXPECT_EQ(cost.l1, Bytes{91});
  EXPECT_NEAR(100 * Efficiency(cost), 1.10, 0.005);
}

// 1500 - 20 - 20 - 12 = 1448; 1500 + 18 + 20 = 1538; 1448 / 1538 = 94.15 %.
TEST(OverheadTest, AFullSegmentWithTimestampsCarries1448Of1538) {
  EXPECT_EQ(LargestPayload(Bytes{1500}, kTcpWithTimestamps), Bytes{1448});
  const FrameCost cost = CostOfFrame(Bytes{1448}, kTcpWithTimestamps);
  EXPECT_EQ(cost.l1, Bytes{1538});
  EXPECT_NEAR(100 * Efficiency(cost), 94.15, 0.005);
}

// 1460 / 1538 = 94.93 %.
TEST(OverheadTest, AFullSegmentWithoutOptionsCarries1460Of1538) {
  EXPECT_EQ(LargestPayload(Bytes{1500}, kPlainTcp), Bytes{1460});
  const FrameCost cost = CostOfFrame(Bytes{1460}, kPlainTcp);
  EXPECT_EQ(cost.l1, Bytes{1538});
  EXPECT_NEAR(100 * Efficiency(cost), 94.93, 0.005);
}

// 1500 - 20 - 8 = 1472; 1472 / 1538 = 95.71 %.
TEST(OverheadTest, AFullDatagramCarries1472Of1538) {
  EXPECT_EQ(LargestPayload(Bytes{1500}, kUdp), Bytes{1472});
  const FrameCost cost = CostOfFrame(Bytes{1472}, kUdp);
  EXPECT_EQ(cost.l4, Bytes{1480});
  EXPECT_EQ(cost.l1, Bytes{1538});
  EXPECT_NEAR(100 * Efficiency(cost), 95.71, 0.005);
}

// IPv6 has 20 bytes more: 1500 - 40 - 20 - 12 = 1428. One byte: 40 + 32 + 1 =
// 73, 73 + 18 + 20 = 111; no padding ever (72 > 46).
TEST(OverheadTest, Ipv6Costs20BytesMore) {
  const HeaderStack stack{.ip_version = 6};
  EXPECT_EQ(LargestPayload(Bytes{1500}, stack), Bytes{1428});
  EXPECT_EQ(CostOfFrame(Bytes{1428}, stack).l1, Bytes{1538});
  EXPECT_EQ(CostOfFrame(Bytes{1}, stack).l1, Bytes{111});
}

// The tag makes a full frame 1542 on the line, but counts towards the 64.
TEST(OverheadTest, AVlanTagCostsFourBytesButNotInAPaddedFrame) {
  const HeaderStack tagged{.timestamps = false, .vlan = true};
  EXPECT_EQ(CostOfFrame(Bytes{1460}, tagged).l1, Bytes{1542});
  EXPECT_EQ(CostOfFrame(Bytes{1}, tagged).l1, Bytes{84});
  // 41 + 1 = 42 with the tag is just enough; 43 is one byte over.
  EXPECT_EQ(CostOfFrame(Bytes{2}, tagged).l2, Bytes{64});
  EXPECT_EQ(CostOfFrame(Bytes{3}, tagged).l2, Bytes{65});
}

// 46 - 40 = 6 bytes fill the smallest frame exactly.
TEST(OverheadTest, PaddingEndsAtSixBytesOfPayload) {
  EXPECT_EQ(CostOfFrame(Bytes{6}, kPlainTcp).l1, Bytes{84});
  EXPECT_EQ(CostOfFrame(Bytes{7}, kPlainTcp).l1, Bytes{85});
}

// 10 segments of 1 byte each: 10 x 84 and no other way.
TEST(OverheadTest, SingleBytesAreCountedExactly) {
  const CountedCost cost = CostOfCounted(10, Bytes{10}, Bytes{1460}, kPlainTcp);
  EXPECT_EQ(cost.l3, Bytes{410});
  EXPECT_EQ(cost.l1_low, Bytes{840});
  EXPECT_EQ(cost.l1_high, Bytes{840});
}

// 3 segments with 20 bytes: 7 + 7 + 6 need no padding: 20 + 3 x 78 = 254. At
// worst 18 + 1 + 1 with 5 bytes of padding in two: 264.
TEST(OverheadTest, UnknownPaddingIsBounded) {
  const CountedCost cost = CostOfCounted(3, Bytes{20}, Bytes{1460}, kPlainTcp);
  EXPECT_EQ(cost.l3, Bytes{140});
  EXPECT_EQ(cost.l2_low, Bytes{194});
  EXPECT_EQ(cost.l2_high, Bytes{204});
  EXPECT_EQ(cost.l1_low, Bytes{254});
  EXPECT_EQ(cost.l1_high, Bytes{264});
}

// With timestamps every frame is over 64 bytes: 3 x 90 + 20.
TEST(OverheadTest, WithTimestampsACountIsExact) {
  const CountedCost cost =
      CostOfCounted(3, Bytes{20}, Bytes{1448}, kTcpWithTimestamps);
  EXPECT_EQ(cost.l1_low, Bytes{290});
  EXPECT_EQ(cost.l1_high, Bytes{290});
}

// Every way to cut 12 bytes into 4 segments of at most 5 lies within the
// bounds, and both bounds are reached.
TEST(OverheadTest, TheBoundsAreTheLeastAndMostOfEveryWayToCut) {
  Bytes least{1 << 30};
  Bytes most{0};
  const auto cost = [](std::int64_t payload) {
    return CostOfFrame(Bytes{payload}, kPlainTcp).l1;
  };
  for (int a = 1; a <= 5; ++a) {
    for (int b = 1; b <= 5; ++b) {
      for (int c = 1; c <= 5; ++c) {
        const int d = 12 - a - b - c;
        if (d < 1 || d > 5) continue;
        const Bytes sum = cost(a) + cost(b) + cost(c) + cost(d);
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
    }
  }
  const CountedCost bounds = CostOfCounted(4, Bytes{12}, Bytes{5}, kPlainTcp);
  EXPECT_EQ(bounds.l1_low, least);
  EXPECT_EQ(bounds.l1_high, most);
}

// The same where some ways have padding and some have none: UDP, whose
// smallest unpadded payload is 46 - 28 = 18, two datagrams with 30 bytes.
TEST(OverheadTest, TheBoundsHoldForDatagramsToo) {
  Bytes least{1 << 30};
  Bytes most{0};
  for (int a = 1; a <= 29; ++a) {
    const Bytes sum =
        CostOfFrame(Bytes{a}, kUdp).l1 + CostOfFrame(Bytes{30 - a}, kUdp).l1;
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  const CountedCost bounds = CostOfCounted(2, Bytes{30}, Bytes{1472}, kUdp);
  EXPECT_EQ(bounds.l1_low, least);
  EXPECT_EQ(bounds.l1_high, most);
}

// A pure ACK: 40 padded to 46, so 84; with timestamps 52 + 38 = 90.
TEST(OverheadTest, AnAckTakes84BytesAndWithTimestamps90) {
  EXPECT_EQ(CostOfAcks(3, kPlainTcp).l1_low, Bytes{std::int64_t{3} * 84});
  EXPECT_EQ(CostOfAcks(3, kTcpWithTimestamps).l1_high,
            Bytes{std::int64_t{3} * 90});
  EXPECT_EQ(CostOfAcks(0, kPlainTcp).l1_high, Bytes{0});
}

// 1473 + 8 = 1481 bytes: a fragment of 1480 (full frame, 1538) and one of 1
// byte (20 + 1, padded: 84).
TEST(OverheadTest, OneByteTooManyCostsADatagramASecondFrame) {
  const std::optional<DatagramCost> cost =
      CostOfDatagram(Bytes{1473}, Bytes{1500}, kUdp);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->fragments, 2);
  EXPECT_EQ(cost->cost.l3, Bytes{1481 + 40});
  EXPECT_EQ(cost->cost.l1, Bytes{1538 + 84});
  EXPECT_EQ(CostOfDatagram(Bytes{1472}, Bytes{1500}, kUdp)->fragments, 1);
}

// 65,507 + 8 = 65,515 = 44 x 1480 + 395: 45 fragments.
TEST(OverheadTest, TheLargestDatagramTakes45Fragments) {
  const std::optional<DatagramCost> cost =
      CostOfDatagram(Bytes{65507}, Bytes{1500}, kUdp);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->fragments, 45);
  EXPECT_EQ(cost->cost.l1, Bytes{44 * 1538 + (395 + 20 + 38)});
  EXPECT_FALSE(CostOfDatagram(Bytes{65508}, Bytes{1500}, kUdp).has_value());
}

// IPv6: 1500 - 40 - 8 = 1452, down to a multiple of 8: 1448 a fragment.
// 2000 + 8 = 1448 + 560; each with 48 bytes of headers.
TEST(OverheadTest, Ipv6FragmentsCarryAHeaderOfTheirOwn) {
  const HeaderStack udp6{.ip_version = 6, .transport = Transport::kUdp};
  const std::optional<DatagramCost> cost =
      CostOfDatagram(Bytes{2000}, Bytes{1500}, udp6);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->fragments, 2);
  EXPECT_EQ(cost->cost.l1, Bytes{(1448 + 48 + 38) + (560 + 48 + 38)});
}

}  // namespace
}  // namespace wiretoll
