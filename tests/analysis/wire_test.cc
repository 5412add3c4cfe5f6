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

// --- With a capture ----------------------------------------------------------

// 11 segments of which one is a repeat, with 1100 bytes: headers of 52 each
// make 1672, framing and gap of 38 each 2090.
CaptureRecord Captured() {
  CaptureRecord capture;
  capture.file = "captures/t.pcapng";
  capture.dropped = 0;
  capture.data_segments = 11;
  capture.ack_segments = 6;
  capture.retransmitted_segments = 1;
  capture.payload_bytes = 1100;
  capture.joined_packets = 0;
  capture.l3_bytes = 1672;
  capture.l1_bytes = 2090;
  return capture;
}

TEST(WireTest, AWholeCaptureIsBelievedFirst) {
  const CaptureRecord capture = Captured();
  const Wire wire = AccountWire(LinuxSender(), LinuxReceiver(), 4, &capture);
  EXPECT_EQ(wire.observer, "capture");
  EXPECT_EQ(wire.data_segments, 11);
  EXPECT_EQ(wire.ack_segments, 6);
  EXPECT_EQ(wire.retransmitted_segments, 1);
  EXPECT_EQ(wire.payload_bytes, 1100);
  EXPECT_EQ(wire.header_bytes, 52);
  EXPECT_EQ(wire.l3_bytes, 1672);
  EXPECT_EQ(wire.l2_bytes, 2090 - 11 * 20);
  EXPECT_EQ(wire.l1_bytes, 2090);
  EXPECT_EQ(wire.ack_l1_bytes, 6 * 90);
  // The ends' counts of each other stand beside it.
  EXPECT_EQ(wire.agreement, "equal");
  EXPECT_EQ(wire.sender_data_segments, 10);
}

TEST(WireTest, ACaptureSeesWhereNoEndCounts) {
  const CaptureRecord capture = Captured();
  const Wire wire = AccountWire(Windows(), Windows(), 4, &capture);
  EXPECT_EQ(wire.observer, "capture");
  EXPECT_EQ(wire.data_segments, 11);
  EXPECT_EQ(wire.l1_bytes, 2090);
  EXPECT_EQ(wire.agreement, "no observer");
  EXPECT_EQ(wire.reason, "");
}

TEST(WireTest, APartialCaptureIsNotBelieved) {
  CaptureRecord capture = Captured();
  capture.partial = "3 frames dropped by the kernel";
  EXPECT_EQ(AccountWire(LinuxSender(), LinuxReceiver(), 4, &capture),
            AccountWire(LinuxSender(), LinuxReceiver(), 4));
  const CaptureAgreement held = HoldAgainstCapture(
      AccountWire(LinuxSender(), LinuxReceiver(), 4), capture);
  EXPECT_EQ(held.match, CaptureMatch::kPartial);
  EXPECT_THAT(held.words, HasSubstr("3 frames dropped"));
}

TEST(WireTest, ATrialThatCouldNotBeCapturedKeepsItsCounters) {
  CaptureRecord capture;
  capture.reason = "no permission";
  EXPECT_EQ(AccountWire(LinuxSender(), LinuxReceiver(), 4, &capture).observer,
            "receiver-counters");
  const CaptureAgreement held = HoldAgainstCapture(Wire{}, capture);
  EXPECT_EQ(held.match, CaptureMatch::kNotHeld);
  EXPECT_EQ(held.words, "no permission");
}

// What the three counted, and how often the sender sent again.
CaptureAgreement Held(std::optional<std::int64_t> sender, std::int64_t captured,
                      std::optional<std::int64_t> receiver,
                      std::int64_t again = 0) {
  Wire wire;
  wire.sender_data_segments = sender;
  wire.receiver_data_segments = receiver;
  wire.retransmitted_segments = again;
  CaptureRecord capture;
  capture.data_segments = captured;
  return HoldAgainstCapture(wire, capture);
}

TEST(WireTest, ACaptureThatCountsAsTheEndsDoIsEqual) {
  EXPECT_EQ(Held(10, 10, 10).match, CaptureMatch::kEqual);
  EXPECT_EQ(Held(10, 10, std::nullopt).match, CaptureMatch::kEqual);
  EXPECT_EQ(Held(std::nullopt, 10, 10).words, "equal");
  EXPECT_EQ(Held(std::nullopt, 10, std::nullopt).match, CaptureMatch::kNotHeld);
}

TEST(WireTest, LossIsPlacedBeforeOrBehindTheCapture) {
  const CaptureAgreement behind = Held(10, 10, 8, 2);
  EXPECT_EQ(behind.match, CaptureMatch::kDifferent);
  EXPECT_EQ(behind.words,
            "the capture has 2 segments more than the receiver counts (lost "
            "behind the capture and sent again)");
  EXPECT_EQ(Held(10, 9, 9, 1).words,
            "the capture has 1 segment fewer than the sender counts (lost "
            "before the capture and sent again)");
  EXPECT_EQ(Held(10, 9, 8, 2).words,
            "the capture has 1 segment fewer than the sender counts (lost "
            "before the capture and sent again); the capture has 1 segment "
            "more than the receiver counts (lost behind the capture and sent "
            "again)");
}

// Both ends counted what the capture did not.
TEST(WireTest, WhatBothEndsCountTheCaptureMissed) {
  EXPECT_THAT(Held(10, 7, 10).words, HasSubstr("attached late"));
}

TEST(WireTest, JoinedPacketsAreNamedAsTheCause) {
  Wire wire;
  wire.sender_data_segments = wire.receiver_data_segments = 10;
  CaptureRecord capture;
  capture.data_segments = 12;
  capture.joined_packets = 3;
  EXPECT_THAT(HoldAgainstCapture(wire, capture).words,
              HasSubstr("offload: 3 packets were captured joined"));
}

TEST(WireTest, ADifferenceThatNothingExplainsIsCalledSo) {
  EXPECT_THAT(Held(10, 10, 8, 0).words, HasSubstr("cause not known"));
  EXPECT_THAT(Held(10, 8, std::nullopt, 0).words, HasSubstr("cause not known"));
}

}  // namespace
}  // namespace wiretoll
