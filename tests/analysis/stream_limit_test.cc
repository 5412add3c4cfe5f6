#include "harness/analysis/stream_limit.h"

#include <gmock/gmock.h>

namespace wiretoll {
namespace {

using testing::HasSubstr;

void Give(Cell& cell, Metric metric, double median) {
  cell.figures[static_cast<std::size_t>(metric)] =
      Estimate{median, std::nullopt, 1};
}

// 5 MB/s of the 10 that the line carries; a window of 100 kB each 10 ms, which
// is 10 MB/s; nothing in the way.
Cell Halfway() {
  Cell cell;
  cell.theory.emplace();
  cell.theory->best_throughput = 10e6;
  Give(cell, Metric::kSteadyThroughput, 5e6);
  Give(cell, Metric::kWindowPeak, 100'000);
  Give(cell, Metric::kRttMin, 10e6);
  Give(cell, Metric::kWindowWaitShare, 0.1);
  Give(cell, Metric::kSendBufferWaitShare, 0.1);
  Give(cell, Metric::kDataSegments, 10'000);
  Give(cell, Metric::kRetransmissions, 0);
  return cell;
}

TEST(StreamLimitTest, TheLineLimitsFromNineTenthsOfItOn) {
  Cell cell = Halfway();
  Give(cell, Metric::kSteadyThroughput, 9.1e6);
  // Even though the window was in the way: it is as large as it need be.
  Give(cell, Metric::kWindowWaitShare, 0.9);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kLine);
  EXPECT_THAT(LimitOf(cell).words, HasSubstr("91 %"));
  Give(cell, Metric::kSteadyThroughput, 8.9e6);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kWindow);
}

TEST(StreamLimitTest, WhatStoodInTheWayForHalfOfTheTimeLimits) {
  Cell cell = Halfway();
  Give(cell, Metric::kWindowWaitShare, 0.97);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kWindow);
  EXPECT_THAT(LimitOf(cell).words,
              HasSubstr("receiver's window, in the way for 97 %"));
  Give(cell, Metric::kWindowWaitShare, 0.49);
  Give(cell, Metric::kSendBufferWaitShare, 0.51);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kSendBuffer);
}

// 5e6 bytes a second and 10 ms are 50,000 bytes in flight.
TEST(StreamLimitTest, ASendBufferFullOfDataInFlightLimits) {
  Cell cell = Halfway();
  Give(cell, Metric::kSendBuffer, 100'000);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kSendBuffer);
  EXPECT_THAT(LimitOf(cell).words,
              HasSubstr("the send buffer, of which 50 % are data in flight"));
  EXPECT_DOUBLE_EQ(*InFlightShareOf(cell, 5e6), 0.5);
  Give(cell, Metric::kRttP50, 12e6);  // Under load.
  EXPECT_DOUBLE_EQ(*InFlightShareOf(cell, 5e6), 0.6);
  Give(cell, Metric::kSendBufferWaitShare, 0.09);  // The kernel says no.
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
  Give(cell, Metric::kSendBufferWaitShare, 0.1);
  Give(cell, Metric::kSendBuffer, 151'000);  // 39.7 %.
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
}

// 5e6 bytes a second at 170 ns each are 0.85 of a CPU.
TEST(StreamLimitTest, ALoopThatUsesMostOfACpuLimits) {
  Cell cell = Halfway();
  Give(cell, Metric::kSenderCpu, 20);
  Give(cell, Metric::kReceiverCpu, 170);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kProcessor);
  EXPECT_THAT(LimitOf(cell).words, HasSubstr("receiver's CPU"));
  Give(cell, Metric::kReceiverCpu, 150);  // 0.75
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
}

// 20 of 10,000 are 2 in 1000.
TEST(StreamLimitTest, LossLimitsFromTwoInAThousandOn) {
  Cell cell = Halfway();
  Give(cell, Metric::kRetransmissions, 20);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kLoss);
  EXPECT_THAT(LimitOf(cell).words, HasSubstr("0.2 %"));
  Give(cell, Metric::kRetransmissions, 19);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
}

// 1448 bytes each 10 ms are 144,800 B/s; 1 of 1000 lost leaves sqrt(1500) =
// 38.7 times that, 5.61 MB/s: what 5 MB/s are explained by, in a control that
// heeds each loss.
TEST(StreamLimitTest, FewerLossesLimitAControlThatHeedsEachOfThem) {
  Cell cell = Halfway();
  cell.theory->mss = 1448;
  Give(cell, Metric::kRetransmissions, 10);
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
  cell.factors = {{"congestion", std::string("reno")}};
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kLoss);
  EXPECT_THAT(LimitOf(cell).words, HasSubstr("is left 5.61 MB/s"));
  Give(cell, Metric::kSteadyThroughput, 2.8e6);  // Less than half of it.
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
  Give(cell, Metric::kSteadyThroughput, 5e6);
  cell.factors = {{"congestion", std::string("bbr")}};
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kOther);
}

TEST(StreamLimitTest, WithoutCountersItIsNotKnownAndSaysWhy) {
  Cell cell = Halfway();
  cell.figures[static_cast<std::size_t>(Metric::kWindowWaitShare)].reset();
  cell.figures[static_cast<std::size_t>(Metric::kSendBufferWaitShare)].reset();
  cell.why_missing[Metric::kWindowWaitShare] = "no TCP_INFO";
  EXPECT_EQ(LimitOf(cell).limit, StreamLimit::kUnknown);
  EXPECT_EQ(LimitOf(cell).words, "not known: no TCP_INFO");
  EXPECT_EQ(LimitOf(Cell()).limit, StreamLimit::kUnknown);
}

TEST(StreamLimitTest, TheBoundIsTheLesserOfWindowAndLine) {
  Cell cell = Halfway();
  EXPECT_DOUBLE_EQ(*BoundOf(cell).window, 10e6);
  Give(cell, Metric::kRttMin, 20e6);
  EXPECT_DOUBLE_EQ(*BoundOf(cell).least(), 5e6);
  cell.theory.reset();
  EXPECT_DOUBLE_EQ(*BoundOf(cell).least(), 5e6);
  EXPECT_FALSE(BoundOf(Cell()).least().has_value());
}

}  // namespace
}  // namespace wiretoll
