#include "harness/theory/predict.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr HeaderStack kDefaultStack{};
constexpr BitsPerSecond kFastEthernet{100e6};

SmallWrites Writes(std::int64_t size, Nanoseconds gap, Nanoseconds rtt) {
  return {.writes = 2000,
          .write = Bytes{size},
          .mss = Bytes{1448},
          .phase = 2000 * gap,
          .rtt = rtt};
}

// 100e6 / (84 x 8) = 148,809.5 frames/s.
TEST(PredictTest, FastEthernetCarries148809SmallestFramesASecond) {
  EXPECT_EQ(static_cast<int>(FrameRateLimit(kFastEthernet, Bytes{84})),
            148'809);
}

// 12.5 MB/s x 1448 / 1538 = 11.7685 MB/s.
TEST(PredictTest, FastEthernetCarries11Point77MegabytesOfFullSegments) {
  EXPECT_NEAR(LineLimit(kFastEthernet, 1448.0 / 1538), 11.7685e6, 50);
}

// 12.5 MB/s x 1472 / 1538. One byte more takes a frame of 84 more (a fragment
// of 1480 in 1538, and 1 byte padded): 1473 / 1622. 2952 + 8 = 2 x 1480 fill
// two: 2952 / 3076; and 2953 need a third: 2953 / 3160.
TEST(PredictTest, ALineCarriesLessWhereOneByteMoreTakesAFragmentMore) {
  const HeaderStack udp{.transport = Transport::kUdp};
  const auto limit = [&](std::int64_t payload) {
    return *DatagramLineLimit(kFastEthernet, Bytes{payload}, Bytes{1500}, udp);
  };
  EXPECT_DOUBLE_EQ(limit(1472), 12.5e6 * 1472 / 1538);
  EXPECT_DOUBLE_EQ(limit(1473), 12.5e6 * 1473 / 1622);
  EXPECT_DOUBLE_EQ(limit(2952), 12.5e6 * 2952 / 3076);
  EXPECT_DOUBLE_EQ(limit(2953), 12.5e6 * 2953 / 3160);
  // 1 + 8 + 20 + 18 bytes are padded to 64: 84 on the line.
  EXPECT_DOUBLE_EQ(limit(1), 12.5e6 / 84);
  EXPECT_FALSE(
      DatagramLineLimit(kFastEthernet, Bytes{65'508}, Bytes{1500}, udp));
}

// 100 Mbit/s x 10 ms = 1 Mbit = 125,000 bytes.
TEST(PredictTest, TheBandwidthDelayProductOf100MbitAnd10MsIs125000Bytes) {
  EXPECT_EQ(BandwidthDelayProduct(kFastEthernet, 10ms), Bytes{125'000});
}

// 10 Gbit/s x 1 ms = 10 Mbit = 1.25 MB.
TEST(PredictTest, TheBandwidthDelayProductOf10GbitAnd1MsIs1250000Bytes) {
  EXPECT_EQ(BandwidthDelayProduct({10e9}, 1ms), Bytes{1'250'000});
}

// 65,535 bytes each 10 ms: 6.5535 MB/s whatever the line.
TEST(PredictTest, AWindowARoundTripIsTheLimit) {
  EXPECT_DOUBLE_EQ(WindowLimit(Bytes{65'535}, 10ms), 6'553'500.0);
}

// 3000 bytes in writes of 1000: full segments 1448 + 1448 + 104, or three of
// 1000. Each frame 90 bytes more than its payload.
TEST(PredictTest, BoundsGoFromFullSegmentsToASegmentAWrite) {
  const StreamBounds bounds =
      BoundsOfStream({Bytes{3000}, Bytes{1000}, Bytes{1448}}, kDefaultStack);
  EXPECT_EQ(bounds.best_segments, 3);
  EXPECT_EQ(bounds.worst_segments, 3);
  EXPECT_EQ(bounds.best_l1, Bytes{3000 + 3 * 90});
  EXPECT_EQ(bounds.worst_l1, Bytes{3000 + 3 * 90});
  EXPECT_NEAR(bounds.worst_efficiency, 3000.0 / 3270, 1e-12);
}

// 2000 single bytes: ceil(2000 / 1448) = 2 segments, or 2000 frames of 91.
TEST(PredictTest, BoundsOfSingleBytesAreFarApart) {
  const StreamBounds bounds =
      BoundsOfStream({Bytes{2000}, Bytes{1}, Bytes{1448}}, kDefaultStack);
  EXPECT_EQ(bounds.best_segments, 2);
  EXPECT_EQ(bounds.worst_segments, 2000);
  EXPECT_EQ(bounds.best_l1, Bytes{2000 + 2 * 90});
  EXPECT_EQ(bounds.worst_l1, Bytes{std::int64_t{2000} * 91});
}

// A write of 16,384 = 11 x 1448 + 456 is split into 12; three whole ones and a
// last of 848 (1 segment): 37. Best: 50,000 / 1448 = 34.5 -> 35.
TEST(PredictTest, WritesAboveTheMssAreSplitInTheWorstCaseToo) {
  const StreamBounds bounds = BoundsOfStream(
      {Bytes{50'000}, Bytes{16'384}, Bytes{1448}}, kDefaultStack);
  EXPECT_EQ(bounds.best_segments, 35);
  EXPECT_EQ(bounds.worst_segments, 37);
  EXPECT_EQ(bounds.worst_l1, Bytes{50'000 + 37 * 90});
}

// Blocks of 2000 bytes in writes of 1500: 1448 + 52 and 500, which are 3
// segments. 5000 bytes are two such blocks and one of 1000, a write and a
// segment: 7. Best: 5000 / 1448 = 3.5 -> 4, blocks or not. Without blocks the
// writes are 1500 (2 segments) three times and 500: 7 too, so that a block of
// 1600 (1448 + 52, 100) tells them apart: three of them and 200 are 10.
TEST(PredictTest, EachBlockEndsWithAWriteAsShortAsNeedBe) {
  StreamShape shape{Bytes{5000}, Bytes{1500}, Bytes{1448}, Bytes{2000}};
  EXPECT_EQ(BoundsOfStream(shape, kDefaultStack).worst_segments, 7);
  EXPECT_EQ(BoundsOfStream(shape, kDefaultStack).best_segments, 4);
  shape.block = Bytes{1600};
  const StreamBounds bounds = BoundsOfStream(shape, kDefaultStack);
  EXPECT_EQ(bounds.worst_segments, 3 * 3 + 1);
  EXPECT_EQ(bounds.best_segments, 4);
  EXPECT_EQ(bounds.worst_l1, Bytes{5000 + 10 * 90});
  EXPECT_EQ(bounds.best_l1, Bytes{5000 + 4 * 90});
}

// A block of 100 bytes is a write of 100, whatever a call could carry.
TEST(PredictTest, ABlockBelowTheWriteIsOneWrite) {
  const StreamBounds bounds = BoundsOfStream(
      {Bytes{1000}, Bytes{65'507}, Bytes{1448}, Bytes{100}}, kDefaultStack);
  EXPECT_EQ(bounds.worst_segments, 10);
}

// A datagram keeps its write: nothing to merge, 5 x (100 + 28 + 38).
TEST(PredictTest, DatagramsHaveOneBoundOnly) {
  const HeaderStack udp{.transport = Transport::kUdp};
  const StreamBounds bounds =
      BoundsOfStream({Bytes{500}, Bytes{100}, Bytes{1472}}, udp);
  EXPECT_EQ(bounds.best_segments, 5);
  EXPECT_EQ(bounds.best_l1, Bytes{std::int64_t{5} * 166});
  EXPECT_EQ(bounds.best_l1, bounds.worst_l1);
}

// 32 bytes each 1 ms = 32 kB/s; x 10 ms = 320 bytes.
TEST(PredictTest, ClassicNagleSendsWhatWasWrittenInARoundTrip) {
  EXPECT_NEAR(NagleClassicSegmentBytes(Writes(32, 1ms, 10ms)), 320, 1e-9);
}

// Never less than a write, never more than the MSS.
TEST(PredictTest, ClassicNagleStaysBetweenAWriteAndTheMss) {
  EXPECT_DOUBLE_EQ(NagleClassicSegmentBytes(Writes(32, 5ms, 1ms)), 32);
  EXPECT_DOUBLE_EQ(NagleClassicSegmentBytes(Writes(32, 20us, 40ms)), 1448);
  EXPECT_DOUBLE_EQ(NagleClassicSegmentBytes(Writes(32, 0us, 1ms)), 1448);
}

// 1 + ceil(1999 x 1 / 1448) = 3 and 1 + ceil(1999 x 32 / 1448 = 44.2) = 46: so
// many were counted on Linux 6.18 at a round trip of 40 ms.
TEST(PredictTest, MinshallWithinARoundTripSendsOnePartialAndFullSegments) {
  EXPECT_EQ(NagleMinshallSegments(Writes(1, 0us, 40ms)), 3);
  EXPECT_EQ(NagleMinshallSegments(Writes(32, 0us, 40ms)), 46);
}

// 2000 ms of writing over 40 ms: 1 + 50 = 51, as counted.
TEST(PredictTest, MinshallBeyondARoundTripSendsASegmentARoundTrip) {
  EXPECT_DOUBLE_EQ(*NagleMinshallSegments(Writes(1, 1ms, 40ms)), 51);
}

// A round trip under the gap: every write finds the line free.
TEST(PredictTest, MinshallNeverSendsMoreSegmentsThanWrites) {
  EXPECT_DOUBLE_EQ(*NagleMinshallSegments(Writes(1, 5ms, 2ms)), 2000);
}

// 1000 bytes each 100 us over 10 ms: 100 kB a round trip, full segments; no
// closed form.
TEST(PredictTest, MinshallHasNoAnswerWhereARoundTripFillsSegments) {
  EXPECT_EQ(NagleMinshallSegments(Writes(1000, 100us, 10ms)), std::nullopt);
}

TEST(PredictTest, WithoutNagleASegmentAWriteSplitAboveTheMss) {
  EXPECT_EQ(SegmentAWrite(Writes(1, 1ms, 1ms)), 2000);
  EXPECT_EQ(SegmentAWrite(Writes(1449, 1ms, 1ms)), 4000);
}

// 10 + ceil(1990 / 1448) = 12; 10 + ceil(1990 x 32 / 1448 = 43.98) = 54: both
// counted on Linux 6.18 at 40 ms.
TEST(PredictTest, AnInitialWindowLeavesAndTheRestIsMerged) {
  EXPECT_EQ(InitialWindowSegments(Writes(1, 0us, 40ms), 10), 12);
  EXPECT_EQ(InitialWindowSegments(Writes(32, 0us, 40ms), 10), 54);
  EXPECT_EQ(InitialWindowSegments(Writes(1, 1ms, 40ms), 10), std::nullopt);
}

TEST(PredictTest, LinuxReadsBackTwiceTheReceiveBufferAndAtLeast2304) {
  EXPECT_EQ(LinuxReceiveBuffer(Bytes{2}), Bytes{2304});
  EXPECT_EQ(LinuxReceiveBuffer(Bytes{1000}), Bytes{2304});
  EXPECT_EQ(LinuxReceiveBuffer(Bytes{2304}), Bytes{4608});
  EXPECT_EQ(LinuxReceiveBuffer(Bytes{65'536}), Bytes{131'072});
}

// Half; from one MSS on whole segments: 2304 -> 1 x 1448, 4096 -> 2, 8192 -> 5,
// 65,536 -> 45. All seen in SYN-ACKs of Linux 6.18.
TEST(PredictTest, LinuxAnnouncesHalfTheBufferInWholeSegments) {
  const Bytes mss{1448};
  EXPECT_EQ(LinuxInitialWindow(Bytes{2304}, mss), Bytes{1152});
  EXPECT_EQ(LinuxInitialWindow(Bytes{4608}, mss), Bytes{1448});
  EXPECT_EQ(LinuxInitialWindow(Bytes{8192}, mss), Bytes{2896});
  EXPECT_EQ(LinuxInitialWindow(Bytes{16'384}, mss), Bytes{7240});
  EXPECT_EQ(LinuxInitialWindow(Bytes{131'072}, mss), Bytes{65'160});
}

// 1152 / 2 = 576, 1448 / 2 = 724; 131,072 bytes make 228 and 182 of them
// (2 x 65,536; 227.6 and 181.04), 91 full ones (90.5). All counted.
TEST(PredictTest, LinuxSendsHalfASmallWindowInASegment) {
  const Bytes mss{1448};
  EXPECT_EQ(LinuxHalfWindowSegment(Bytes{1152}, mss), Bytes{576});
  EXPECT_EQ(LinuxHalfWindowSegment(Bytes{1448}, mss), Bytes{724});
  EXPECT_EQ(LinuxHalfWindowSegment(Bytes{2896}, mss), mss);
  EXPECT_EQ(LinuxHalfWindowSegment(Bytes{536}, mss), Bytes{536});
  EXPECT_EQ(SegmentsOf(Bytes{131'072}, Bytes{576}), 228);
  EXPECT_EQ(SegmentsOf(Bytes{131'072}, Bytes{724}), 182);
  EXPECT_EQ(SegmentsOf(Bytes{131'072}, mss), 91);
}

Workload Request(std::vector<Bytes> writes) {
  Workload workload;
  workload.pattern = Pattern::kRequestResponse;
  workload.request = std::move(writes);
  workload.reply = {Bytes{1}};
  return workload;
}

TEST(PredictTest, WriteWriteReadStallsOnlyWithNagleAndPartialSegments) {
  const Bytes mss{1448};
  Workload workload = Request({Bytes{1}, Bytes{1}});
  EXPECT_TRUE(WriteWriteReadStalls(workload, mss));
  workload.nagle = false;
  EXPECT_FALSE(WriteWriteReadStalls(workload, mss));
  workload.nagle = true;
  workload.quickack = Quickack::kEach;
  EXPECT_FALSE(WriteWriteReadStalls(workload, mss));
  // Set once it does not help: the kernel leaves that mode at the first reply.
  workload.quickack = Quickack::kOn;
  EXPECT_TRUE(WriteWriteReadStalls(workload, mss));
  EXPECT_FALSE(WriteWriteReadStalls(Request({Bytes{2}}), mss));
  EXPECT_FALSE(WriteWriteReadStalls(Request({Bytes{1448}, Bytes{1448}}), mss));
  // Minshall: the last, partial one waits for no full one.
  EXPECT_FALSE(WriteWriteReadStalls(Request({Bytes{1448}, Bytes{1}}), mss));
}

// --- Acknowledgements --------------------------------------------------------

// 40 ms by a clock of 4 ms: 40.08 to 47.9 ms were measured on Linux 6.18.
TEST(PredictTest, LinuxHoldsAnAckFor40MsAndUpToTwoTicks) {
  const AckDelay delay = LinuxAckDelay(4ms);
  EXPECT_EQ(delay.least, 40ms);
  EXPECT_EQ(delay.most, 48ms);
  EXPECT_LE(WindowsAckDelay().most, kLongestAckDelay);
}

// 65,160 / (2 x 536) = 60 segments in half the window: 16 at most. 1152: one.
// Below that two. 16 were counted with 1 and 32 bytes, Linux 6.18.
TEST(PredictTest, LinuxAcknowledgesTheFirst16SegmentsAtOnce) {
  EXPECT_EQ(LinuxQuickAcks(Bytes{65'160}, Bytes{536}), 16);
  EXPECT_EQ(LinuxQuickAcks(Bytes{1152}, Bytes{536}), 1);
  EXPECT_EQ(LinuxQuickAcks(Bytes{1000}, Bytes{536}), 2);
  EXPECT_EQ(LinuxQuickAcks(Bytes{14'480}, Bytes{1448}), 5);
}

// --- Silly windows -----------------------------------------------------------

TEST(PredictTest, AClosedWindowOpensByASegmentOrHalfTheBuffer) {
  EXPECT_EQ(WindowReopensAt(Bytes{65'536}, Bytes{1448}), Bytes{1448});
  EXPECT_EQ(WindowReopensAt(Bytes{2000}, Bytes{1448}), Bytes{1000});
}

// 87,264 / 16 = 5454, as seen with a read-back of 131,072 and a 1-byte reader.
TEST(PredictTest, LinuxOpensByASegmentOrASixteenthOfTheWindow) {
  EXPECT_EQ(LinuxWindowReopensAt(Bytes{87'264}, Bytes{1448}), Bytes{5454});
  EXPECT_EQ(LinuxWindowReopensAt(Bytes{1152}, Bytes{576}), Bytes{576});
}

// Window 1152, halves of 576: 544 of room are too few for the next segment,
// 576 are not; and what fits whole goes.
TEST(PredictTest, ASenderAwaitsRoomForASegmentForAllOrForHalfTheWindow) {
  const auto awaits = [](std::int64_t ready, std::int64_t room) {
    return SenderAwaitsWindow(
        {Bytes{ready}, Bytes{room}, Bytes{1448}, Bytes{1152}});
  };
  EXPECT_TRUE(awaits(2000, 544));
  EXPECT_FALSE(awaits(2000, 576));
  EXPECT_FALSE(awaits(544, 544));
  EXPECT_TRUE(awaits(2000, 0));
  EXPECT_FALSE(SenderAwaitsWindow(
      {Bytes{2000}, Bytes{1448}, Bytes{1448}, Bytes{65'160}}));
}

// 212, 424, 848, 1696 ms from a timeout of 212: measured 436..464, 864..896,
// 1696..1760. Never over 120 s.
TEST(PredictTest, ProbesOfAClosedWindowComeTwiceAsLateEachTime) {
  EXPECT_EQ(PersistDelay(212ms, 1), 212ms);
  EXPECT_EQ(PersistDelay(212ms, 2), 424ms);
  EXPECT_EQ(PersistDelay(212ms, 4), 1696ms);
  EXPECT_EQ(PersistDelay(212ms, 40), 120s);
}

// --- Linux's send buffer -----------------------------------------------------

// ceil(4608 / 833) = 6, ceil(8192 / 833) = 10, ceil(4608 / 2280) = 3: as many
// were in flight at first.
TEST(PredictTest, LinuxCounts832BytesBesideEachSegmentInTheSendBuffer) {
  EXPECT_EQ(LinuxSendBuffer(Bytes{1}), Bytes{4608});
  EXPECT_EQ(LinuxSendBuffer(Bytes{4096}), Bytes{8192});
  EXPECT_EQ(WritesInSendBuffer(Bytes{4608}, Bytes{1}), 6);
  EXPECT_EQ(WritesInSendBuffer(Bytes{8192}, Bytes{1}), 10);
  EXPECT_EQ(WritesInSendBuffer(Bytes{4608}, Bytes{1448}), 3);
}

// Six bytes in 40.5 ms: 2000 bytes in 13.5 s. 13.69 s were measured.
TEST(PredictTest, ASendBufferOf4608CarriesSixSingleBytesARoundTrip) {
  const double rate = SendBufferLimit(Bytes{4608}, Bytes{1}, 40'500us);
  EXPECT_NEAR(2000 / rate, 13.5, 0.001);
}

// --- The line's queue --------------------------------------------------------

// 10 Mbit/s for 40 ms are 50,000 bytes, with a burst of 5000; 2000 of them are
// payload, and each frame has 90 more: 53,000 / 90 = 588.9. 584 to 624 were
// counted.
TEST(PredictTest, ALineThatIsOutrunCarriesWhatItsRateLeavesBesideThePayload) {
  EXPECT_NEAR(
      QueueBacklogSegments({{10e6}, Bytes{5000}, 40ms}, Bytes{2000}, Bytes{90}),
      53'000.0 / 90, 1e-9);
  EXPECT_DOUBLE_EQ(
      QueueBacklogSegments({{10e6}, Bytes{0}, 1ms}, Bytes{2000}, Bytes{90}), 1);
}

// --- What rules say of themselves --------------------------------------------

// behaviour of Linux 6.18 behind a relay: 1 segment at 40 ms, 3 % at 10 ms, 7 %
// at 2 ms.
TEST(PredictTest, NaglesToleranceGrowsAsTheRoundTripShrinks) {
  EXPECT_DOUBLE_EQ(ToleranceOf(Rule::kNagleMinshall, 40ms).absolute, 1);
  EXPECT_DOUBLE_EQ(ToleranceOf(Rule::kNagleMinshall, 10ms).share, 0.03);
  EXPECT_DOUBLE_EQ(ToleranceOf(Rule::kNagleMinshall, 2ms).share, 0.07);
  EXPECT_DOUBLE_EQ(ToleranceOf(Rule::kNagleMinshall, std::nullopt).share, 0.07);
  EXPECT_DOUBLE_EQ(ToleranceOf(Rule::kSegmentAWrite, 40ms).share, 0);
}

TEST(PredictTest, EveryRuleSaysItsUnitAssumptionsSourceAndLimits) {
  std::set<std::string> names;
  for (int rule = 0; rule <= static_cast<int>(Rule::kLast); ++rule) {
    const RuleText text = DescribeRule(static_cast<Rule>(rule));
    EXPECT_FALSE(text.name.empty()) << rule;
    EXPECT_FALSE(text.unit.empty()) << text.name;
    EXPECT_FALSE(text.assumptions.empty()) << text.name;
    EXPECT_FALSE(text.source.empty()) << text.name;
    EXPECT_FALSE(text.limits.empty()) << text.name;
    EXPECT_FALSE(text.tolerance.empty()) << text.name;
    EXPECT_TRUE(names.insert(text.name).second) << text.name;
  }
}

}  // namespace
}  // namespace wiretoll
