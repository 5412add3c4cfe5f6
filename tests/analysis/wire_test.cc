#include "harness/analysis/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNoEstats =
    "ESTATS needs an administrator: run the agent as one";

// 1000 bytes in 10 segments, answered by 5 ACKs. The sender sees those, the
// receiver's SYN and its FIN.
EndReport LinuxSender() {
  EndReport end;
  end.os = "linux";
  end.bytes = 1000;
  end.counters.data_segments_out = 10;
  end.counters.segments_out = 12;
  end.counters.data_segments_in = 0;
  end.counters.segments_in = 7;
  end.counters.retransmitted_segments = 0;
  end.counters.mss_bytes = 1448;
  end.counters.timestamps = 1;
  return end;
}

EndReport LinuxReceiver() {
  EndReport end;
  end.os = "linux";
  end.bytes = 1000;
  end.counters.data_segments_in = 10;
  end.counters.data_segments_out = 0;
  end.counters.segments_out = 5;
  end.counters.mss_bytes = 1448;
  end.counters.timestamps = 1;
  return end;
}

EndReport Windows() {
  EndReport end;
  end.os = "windows";
  end.bytes = 1000;
  end.counters.reason = kNoEstats;
  return end;
}

TEST(WireTest, WhereBothEndsCountTheReceiverIsBelieved) {
  const Wire wire = AccountWire(LinuxSender(), LinuxReceiver(), 4);
  EXPECT_EQ(wire.observer, "receiver-counters");
  EXPECT_EQ(wire.agreement, "equal");
  EXPECT_EQ(wire.reason, "");
}

// 1000 + 10 x (20 + 32) = 1520; + 10 x 18 = 1700; + 10 x 20 = 1900.
TEST(WireTest, ALinuxReceiverSeesForAWindowsSenderThatDoesNotCount) {
  const Wire wire = AccountWire(Windows(), LinuxReceiver(), 4);
  EXPECT_EQ(wire.observer, "receiver-counters");
  EXPECT_EQ(wire.agreement, "one observer");
  EXPECT_EQ(wire.data_segments, 10);
  EXPECT_EQ(wire.ack_segments, 5);
  EXPECT_EQ(wire.payload_bytes, 1000);
  EXPECT_EQ(wire.header_bytes, 52);
  EXPECT_EQ(wire.l3_bytes, 1520);
  EXPECT_EQ(wire.l2_bytes, 1700);
  EXPECT_EQ(wire.l1_bytes, 1900);
}

TEST(WireTest, WhatAWindowsSenderDoesNotTellIsEmptyWithTheRemedy) {
  const Wire wire = AccountWire(Windows(), LinuxReceiver(), 4);
  EXPECT_EQ(wire.retransmitted_segments, std::nullopt);
  EXPECT_EQ(wire.sender_data_segments, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr(kNoEstats));
  EXPECT_THAT(wire.reason, HasSubstr("retransmissions"));
}

// Of the 7 segments that came, 2 are SYN and FIN: 5 ACKs, with timestamps 52 +
// 18 + 20 = 90 bytes each.
TEST(WireTest, ALinuxSenderSeesForAWindowsReceiverThatDoesNotCount) {
  const Wire wire = AccountWire(LinuxSender(), Windows(), 4);
  EXPECT_EQ(wire.observer, "sender-counters");
  EXPECT_EQ(wire.agreement, "one observer");
  EXPECT_EQ(wire.data_segments, 10);
  EXPECT_EQ(wire.retransmitted_segments, 0);
  EXPECT_EQ(wire.l1_bytes, 1900);
  EXPECT_EQ(wire.ack_segments, 5);
  EXPECT_EQ(wire.ack_l1_bytes, 5 * 90);
}

TEST(WireTest, FewerSegmentsThanSynAndFinAreNoCountOfAcks) {
  EndReport sender = LinuxSender();
  sender.counters.segments_in = 1;
  EXPECT_EQ(AccountWire(sender, Windows(), 4).ack_segments, std::nullopt);
}

TEST(WireTest, TwoEndsThatDoNotCountSayWhy) {
  EndReport other = Windows();
  other.counters.reason = "another reason";
  const Wire wire = AccountWire(Windows(), other, 4);
  EXPECT_EQ(wire.observer, "none");
  EXPECT_EQ(wire.agreement, "no observer");
  EXPECT_EQ(wire.data_segments, std::nullopt);
  EXPECT_EQ(wire.payload_bytes, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr(kNoEstats));
  EXPECT_THAT(wire.reason, HasSubstr("another reason"));
  EXPECT_EQ(AccountWire(Windows(), Windows(), 4).reason,
            std::string("no end counts segments: ") + kNoEstats);
}

// Windows leaves timestamps off: 40 bytes of headers, and a segment of less
// than 6 bytes is padded. 1000 + 10 x (40 + 18 + 20) = 1780 at least. At most 9
// segments of a byte, padded by 5, and one with the rest: + 45.
TEST(WireTest, AnUnknownSegmentSizeWidensTheBoundsOfPadding) {
  EndReport receiver = LinuxReceiver();
  receiver.counters.timestamps = 0;
  receiver.counters.mss_bytes.reset();
  const Wire wire = AccountWire(Windows(), receiver, 4);
  EXPECT_EQ(wire.l1_bytes, std::nullopt);
  EXPECT_EQ(wire.l1_bytes_low, 1780);
  EXPECT_EQ(wire.l1_bytes_high, 1780 + 45);
  EXPECT_THAT(wire.reason, HasSubstr("padded"));
}

}  // namespace
}  // namespace wiretoll
