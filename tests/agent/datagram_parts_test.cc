// What is made of datagrams' numbers and times, and of a plan's writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include "harness/agent/datagram_figures.h"
#include "harness/agent/datagram_header.h"
#include "harness/agent/write_plan.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ArrivalOrder OrderOf(const std::vector<std::int64_t>& numbers) {
  ArrivalOrder order(std::nullopt);
  for (const std::int64_t number : numbers) order.Add(number);
  return order;
}

TEST(DatagramHeaderTest, NumbersAreInNetworkOrder) {
  std::array<std::byte, 4> bytes{};
  PutNetworkOrder(std::uint32_t{0x01020304}, bytes.data());
  EXPECT_THAT(bytes, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3},
                                 std::byte{4}));
  EXPECT_EQ(GetNetworkOrder<std::uint32_t>(bytes.data()), 0x01020304U);
  std::array<std::byte, 8> longer{};
  PutNetworkOrder(~std::uint64_t{1}, longer.data());
  EXPECT_EQ(GetNetworkOrder<std::uint64_t>(longer.data()), ~std::uint64_t{1});
}

TEST(DatagramHeaderTest, SeedsThatFollowOneAnotherHaveOtherTags) {
  EXPECT_NE(TrialTag(7), TrialTag(8));
  EXPECT_NE(TrialTag(0), TrialTag(1));
}

TEST(ArrivalOrderTest, InOrderNothingIsReordered) {
  const ArrivalOrder order = OrderOf({0, 1, 3, 7});
  EXPECT_EQ(order.unique(), 4);
  EXPECT_EQ(order.duplicated(), 0);
  EXPECT_EQ(order.reordered(), 0);
  EXPECT_EQ(order.late(), 0);
}

// 1 and 0 come after 2, one and two behind it: no three.
TEST(ArrivalOrderTest, BehindAHigherNumberIsReordered) {
  const ArrivalOrder order = OrderOf({2, 1, 0, 3});
  EXPECT_EQ(order.reordered(), 2);
  EXPECT_EQ(order.late(), 0);
}

// 0 comes after 1, 2 and 3.
TEST(ArrivalOrderTest, BehindThreeHigherNumbersIsLate) {
  EXPECT_EQ(OrderOf({1, 2, 0}).late(), 0);
  EXPECT_EQ(OrderOf({1, 2, 3, 0}).late(), 1);
  // Those that went ahead need be in no order themselves.
  EXPECT_EQ(OrderOf({3, 2, 1, 0}).late(), 1);
  EXPECT_EQ(OrderOf({3, 2, 1, 0}).reordered(), 3);
}

// A duplicate is neither new nor reordered.
TEST(ArrivalOrderTest, WhatComesAgainIsADuplicate) {
  const ArrivalOrder order = OrderOf({0, 1, 2, 3, 0, 0});
  EXPECT_EQ(order.unique(), 4);
  EXPECT_EQ(order.duplicated(), 2);
  EXPECT_EQ(order.reordered(), 0);
  EXPECT_EQ(order.late(), 0);
}

TEST(ArrivalOrderTest, NumbersThatWereNeverPlannedAreAbsurd) {
  ArrivalOrder order(10);
  EXPECT_EQ(order.Add(9), Arrival::kNew);
  EXPECT_EQ(order.Add(10), Arrival::kAbsurd);
  EXPECT_EQ(order.Add(0xffff'ffff), Arrival::kAbsurd);
  EXPECT_EQ(order.unique(), 1);
}

// A number far ahead would have a bit kept for each before it.
TEST(ArrivalOrderTest, NumbersFarAheadAreAbsurdWhereNoneArePlanned) {
  ArrivalOrder order(std::nullopt);
  EXPECT_EQ(order.Add(0xffff'ffff), Arrival::kAbsurd);
  EXPECT_EQ(order.Add(10'000'000), Arrival::kNew);
  EXPECT_EQ(order.Add(20'000'000), Arrival::kNew);
  EXPECT_EQ(order.Add(20'000'000), Arrival::kAgain);
  EXPECT_EQ(order.Add(10'000'001), Arrival::kNew);
  EXPECT_EQ(order.reordered(), 1);
}

// At 100, 250 and 350 by the receiver's clock, sent at 1000, 1100 and 1200 by
// the sender's, which is 950 ahead: sent at 50, 150, 250 by the receiver's.
EndReport ThreeArrivals(const std::optional<SenderClock>& clock) {
  DelayTimes delays(clock);
  delays.Add(1000, SteadyTime(100ns));
  delays.Add(1100, SteadyTime(250ns));
  delays.Add(1200, SteadyTime(350ns));
  EndReport report;
  report.datagrams.emplace();
  delays.Fill(report);
  return report;
}

// Delays 50, 100, 100.
TEST(DelayTimesTest, DelaysTakeTheClocksOffsetOut) {
  const EndReport report = ThreeArrivals(SenderClock{950ns, 3ns});
  ASSERT_TRUE(report.datagrams->delay);
  EXPECT_EQ(report.datagrams->delay->count, 3);
  EXPECT_EQ(report.datagrams->delay->min_ns, 50);
  EXPECT_EQ(report.datagrams->delay->max_ns, 100);
  EXPECT_DOUBLE_EQ(report.datagrams->delay->mean_ns, 250.0 / 3);
  EXPECT_EQ(report.datagrams->delay_error_ns, 3);
}

// Changes of 50 and 0: a mean of 25; J = 50/16, then 50/16 x 15/16.
TEST(DelayTimesTest, JitterNeedsNoOffset) {
  const EndReport report = ThreeArrivals(std::nullopt);
  EXPECT_DOUBLE_EQ(report.datagrams->jitter_mean_ns.value_or(0), 25);
  EXPECT_DOUBLE_EQ(report.datagrams->jitter_rfc3550_ns.value_or(0),
                   50.0 / 16 * 15 / 16);
  EXPECT_FALSE(report.datagrams->delay);
  EXPECT_THAT(report.why_null.at("datagrams.delay"), HasSubstr("not known"));
}

// An offset of 880 makes -20, 30 and 30 of them.
TEST(DelayTimesTest, DelaysBelowZeroCountAsZeroAndAreTold) {
  const EndReport report = ThreeArrivals(SenderClock{880ns, 100ns});
  ASSERT_TRUE(report.datagrams->delay);
  EXPECT_EQ(report.datagrams->delay->min_ns, 0);
  EXPECT_EQ(report.datagrams->delay->max_ns, 30);
  EXPECT_THAT(report.why_null.at("datagrams.delay.below_zero"),
              HasSubstr("1 delay came out below 0"));
}

TEST(DelayTimesTest, OneDatagramHasNoJitter) {
  DelayTimes delays(std::nullopt);
  delays.Add(~std::uint64_t{0}, SteadyTime(1ns));
  EndReport report;
  report.datagrams.emplace();
  delays.Fill(report);
  EXPECT_FALSE(report.datagrams->jitter_mean_ns);
  EXPECT_THAT(report.why_null.at("datagrams.jitter_mean_ns"),
              HasSubstr("fewer than two"));
}

std::vector<std::int64_t> WritesOf(const Workload& workload) {
  std::vector<std::int64_t> writes;
  for (WritePlan plan(workload); plan.More();) {
    writes.push_back(plan.Next());
    plan.Take(writes.back());
  }
  return writes;
}

Workload Plan(std::int64_t write, std::int64_t block) {
  Workload workload;
  workload.write = Bytes{write};
  workload.block = Bytes{block};
  return workload;
}

// 10,000 = 6 x 1472 + 1168.
TEST(WritePlanTest, ABlockEndsWithWhatIsLeftOfIt) {
  Workload workload = Plan(1472, 10'000);
  workload.stop_messages = 8;
  EXPECT_THAT(WritesOf(workload),
              ElementsAre(1472, 1472, 1472, 1472, 1472, 1472, 1168, 1472));
  EXPECT_EQ(PlannedBytes(workload), 10'000 + 1472);
  EXPECT_EQ(PlannedWrites(workload), 8);
  EXPECT_EQ(ShortestWrite(workload), 1168);
}

// 25 bytes in blocks of 10: 4 + 4 + 2, 4 + 4 + 2, 4 + 1.
TEST(WritePlanTest, StopByBytesShortensTheLastWriteOfABlock) {
  Workload workload = Plan(4, 10);
  workload.stop_bytes = Bytes{25};
  EXPECT_THAT(WritesOf(workload), ElementsAre(4, 4, 2, 4, 4, 2, 4, 1));
  EXPECT_EQ(PlannedBytes(workload), 25);
  EXPECT_EQ(PlannedWrites(workload), 8);
  EXPECT_EQ(ShortestWrite(workload), 1);
}

TEST(WritePlanTest, ABlockOfLessThanAWriteIsOneWrite) {
  Workload workload = Plan(1448, 100);
  workload.stop_messages = 3;
  EXPECT_THAT(WritesOf(workload), ElementsAre(100, 100, 100));
  EXPECT_EQ(PlannedBytes(workload), 300);
  EXPECT_EQ(ShortestWrite(workload), 100);
  EXPECT_FALSE(WritePlan(workload).in_blocks());
}

// A stop by messages that comes first leaves no tail.
TEST(WritePlanTest, AStopThatIsNotReachedShortensNothing) {
  Workload workload;
  workload.write = Bytes{10};
  workload.stop_bytes = Bytes{101};
  workload.stop_messages = 10;
  EXPECT_EQ(ShortestWrite(workload), 10);
  workload.stop_messages = 11;
  EXPECT_EQ(ShortestWrite(workload), 1);
}

TEST(WritePlanTest, AlikeWritesEndWithThePlanAndWithABlock) {
  Workload workload;
  workload.write = Bytes{10};
  workload.stop_messages = 5;
  EXPECT_EQ(WritePlan(workload).Alike(64), 5);
  EXPECT_EQ(WritePlan(workload).Alike(3), 3);
  workload.stop_bytes = Bytes{25};
  EXPECT_EQ(WritePlan(workload).Alike(64), 2);
  workload.stop_bytes.reset();
  workload.block = Bytes{35};
  EXPECT_EQ(WritePlan(workload).Alike(64), 3);
  workload.block.reset();
  workload.gap = 1ms;
  EXPECT_EQ(WritePlan(workload).Alike(64), 1);
}

TEST(WritePlanTest, ABatchIsTakenAtOnce) {
  Workload workload;
  workload.write = Bytes{10};
  workload.stop_messages = 5;
  WritePlan plan(workload);
  plan.Take(10, 3);
  EXPECT_EQ(plan.taken_bytes(), 30);
  EXPECT_EQ(plan.Alike(64), 2);
  plan.Take(10, 2);
  EXPECT_FALSE(plan.More());
}

}  // namespace
}  // namespace wiretoll
