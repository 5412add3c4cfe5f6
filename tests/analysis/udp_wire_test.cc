#include "harness/analysis/udp_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using testing::HasSubstr;

// `sent` datagrams of `write` bytes over Ethernet, all of which came.
Sample Sent(std::int64_t write, std::int64_t sent, std::int64_t fragments) {
  Sample sample;
  sample.factors = {{"write", write}};
  sample.sender.emplace().bytes = write * sent;
  sample.receiver.emplace().bytes = write * sent;
  Datagrams& datagrams = sample.datagrams.emplace();
  datagrams.sent = datagrams.received = sent;
  datagrams.duplicated = 0;
  datagrams.mtu_bytes = 1500;
  datagrams.fragments_each = fragments;
  return sample;
}

// 1472 + 28 = 1500 at layer 3, 1518 at layer 2, 1538 on the line.
TEST(UdpWireTest, FullDatagramsTakeAFrameEach) {
  const Wire wire = AccountUdpWire(Sent(1472, 10, 1), 4);
  EXPECT_EQ(wire.observer, "sender-counters");
  EXPECT_EQ(wire.data_segments, 10);
  EXPECT_EQ(wire.payload_bytes, 14'720);
  EXPECT_EQ(wire.header_bytes, 28);
  EXPECT_EQ(wire.l3_bytes, 15'000);
  EXPECT_EQ(wire.l2_bytes, 15'180);
  EXPECT_EQ(wire.l1_bytes, 15'380);
  EXPECT_EQ(wire.l1_bytes_low, 15'380);
  EXPECT_EQ(wire.l1_bytes_high, 15'380);
  EXPECT_EQ(wire.agreement, "equal");
}

// 1480 in a frame of 1538, and 1 byte padded in one of 84.
TEST(UdpWireTest, FragmentsAreCountedOneByOne) {
  const Wire wire = AccountUdpWire(Sent(1473, 10, 2), 4);
  EXPECT_EQ(wire.data_segments, 20);
  EXPECT_EQ(wire.l1_bytes, 16'220);
  EXPECT_EQ(wire.header_bytes, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr("fragment"));
}

// 1 + 28 + 18 = 47, padded to 64, and 20 between frames. Over IPv6 1 + 48 + 18
// = 67 need no padding.
TEST(UdpWireTest, SmallDatagramsArePaddedOverIpv4AndNotOverIpv6) {
  EXPECT_EQ(AccountUdpWire(Sent(1, 100, 1), 4).l1_bytes, 8'400);
  EXPECT_EQ(AccountUdpWire(Sent(1, 100, 1), 6).l1_bytes, 8'700);
}

// Blocks of 2500 in datagrams of 1000: two full ones and one of 500. Four
// blocks: 8 x (1000 + 66) + 4 x (500 + 66).
TEST(UdpWireTest, TheShorterLastOneOfEachBlockIsCountedAsWhatItIs) {
  Sample sample = Sent(1000, 12, 1);
  sample.factors = {{"write", std::int64_t{1000}},
                    {"block", std::int64_t{2500}}};
  sample.sender->bytes = 10'000;
  const Wire wire = AccountUdpWire(sample, 4);
  EXPECT_EQ(wire.data_segments, 12);
  EXPECT_EQ(wire.l1_bytes, 8 * 1066 + 4 * 566);
}

TEST(UdpWireTest, WhereSizesAreNotKnownNoBytesAreMadeUp) {
  Sample sample = Sent(1000, 12, 1);
  sample.sender->bytes = 11'999;
  const Wire wire = AccountUdpWire(sample, 4);
  EXPECT_EQ(wire.l1_bytes, std::nullopt);
  EXPECT_EQ(wire.data_segments, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr("cannot be told from their sum"));
}

TEST(UdpWireTest, WithoutAnMtuTheReasonIsTheDatagrams) {
  Sample sample = Sent(1000, 12, 1);
  sample.datagrams->mtu_bytes.reset();
  sample.datagrams->fragments_each.reset();
  sample.datagrams->reason = "the MTU is not known";
  const Wire wire = AccountUdpWire(sample, 4);
  EXPECT_EQ(wire.l1_bytes, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr("the MTU is not known"));
}

TEST(UdpWireTest, ACaptureThatIsWholeIsBelieved) {
  Sample sample = Sent(100, 10, 1);
  CaptureRecord& capture = sample.capture.emplace();
  capture.data_segments = 9;
  capture.payload_bytes = 900;
  capture.l3_bytes = 1152;
  capture.l1_bytes = 1494;
  Wire wire = AccountUdpWire(sample, 4);
  EXPECT_EQ(wire.observer, "capture");
  EXPECT_EQ(wire.data_segments, 9);
  EXPECT_EQ(wire.l1_bytes, 1494);
  EXPECT_EQ(wire.l2_bytes, 1494 - 9 * 20);
  EXPECT_EQ(wire.sender_data_segments, 10);
  capture.partial = "2 frames dropped";
  wire = AccountUdpWire(sample, 4);
  EXPECT_EQ(wire.observer, "sender-counters");
  EXPECT_EQ(wire.data_segments, 10);
}

TEST(UdpWireTest, WhatDiffersBetweenTheEndsIsNamed) {
  Sample sample = Sent(100, 10, 1);
  sample.datagrams->lost = 3;
  sample.datagrams->duplicated = 1;
  sample.datagrams->received = 8;
  EXPECT_EQ(AccountUdpWire(sample, 4).agreement,
            "different: 3 lost, where is not known; 1 came once more");
  sample.datagrams->lost_at_receiver = 2;
  sample.datagrams->lost_on_path = 1;
  EXPECT_EQ(AccountUdpWire(sample, 4).agreement,
            "different: 2 had no room in the receiver's buffer; 1 lost on the "
            "way; 1 came once more");
}

TEST(UdpWireTest, NothingSentIsNothingOnTheLine) {
  const Wire wire = AccountUdpWire(Sent(100, 0, 1), 4);
  EXPECT_EQ(wire.data_segments, 0);
  EXPECT_EQ(wire.l1_bytes, 0);
}

}  // namespace
}  // namespace wiretoll
