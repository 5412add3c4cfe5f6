#include "harness/run/clocks.h"

#include <gtest/gtest.h>

#include "harness/run/fragments.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

ClockExchange Exchange(Nanoseconds asked, Nanoseconds answered,
                       Nanoseconds read) {
  return {asked, answered, {0ns, read, ""}};
}

// Asked at 100, answered at 140, reading 1020: it was 1020 at some time from
// 100 to 140, so the clock is 880 to 920 ahead.
TEST(ClocksTest, AReadingIsOffByAtMostHalfItsRoundTrip) {
  const ClockOffsetSeen seen = TightestOffset({Exchange(100ns, 140ns, 1020ns)});
  EXPECT_EQ(seen.offset, 900ns);
  EXPECT_EQ(seen.error, 20ns);
}

TEST(ClocksTest, AnOddRoundTripIsRoundedUp) {
  EXPECT_EQ(TightestOffset({Exchange(0ns, 5ns, 0ns)}).error, 3ns);
}

TEST(ClocksTest, TheShortestExchangeCounts) {
  const ClockOffsetSeen seen = TightestOffset({Exchange(0ns, 100ns, 7000ns),
                                               Exchange(200ns, 210ns, 1205ns),
                                               Exchange(300ns, 400ns, 9ns)});
  EXPECT_EQ(seen.offset, 1000ns);
  EXPECT_EQ(seen.error, 5ns);
}

// 900 ahead of the coordinator, and 100 behind it: 1000 apart.
TEST(ClocksTest, OffsetsAreSubtractedAndErrorsAdded) {
  const SenderClock clock = Between({900ns, 20ns}, {-100ns, 5ns});
  EXPECT_EQ(clock.offset, 1000ns);
  EXPECT_EQ(clock.error, 25ns);
}

Datagrams Fragments(std::int64_t write, std::optional<std::int64_t> mtu,
                    int ip_version = 4) {
  Workload workload;
  workload.transport = Transport::kUdp;
  workload.write = Bytes{write};
  Datagrams datagrams;
  FillFragments(workload, mtu, ip_version, datagrams);
  return datagrams;
}

// IPv4: 1472 + 8 = 1480 = 1500 - 20. IPv6: 1452 + 8 = 1460 = 1500 - 40, and a
// fragment then holds 1448 of the 1461.
TEST(FragmentsTest, OneByteOverTheMtuTakesASecondFragment) {
  EXPECT_EQ(Fragments(1472, 1500).fragments_each, 1);
  EXPECT_EQ(Fragments(1473, 1500).fragments_each, 2);
  EXPECT_EQ(Fragments(1452, 1500, 6).fragments_each, 1);
  EXPECT_EQ(Fragments(1453, 1500, 6).fragments_each, 2);
  EXPECT_EQ(Fragments(1473, 1500).mtu_bytes, 1500);
}

TEST(FragmentsTest, WithoutAnMtuNothingIsGuessed) {
  const Datagrams datagrams = Fragments(100, std::nullopt);
  EXPECT_EQ(datagrams.fragments_each, std::nullopt);
  EXPECT_NE(datagrams.reason, "");
}

TEST(FragmentsTest, ABlockSmallerThanAWriteIsTheDatagram) {
  Workload workload;
  workload.write = Bytes{9000};
  workload.block = Bytes{500};
  Datagrams datagrams;
  FillFragments(workload, 1500, 4, datagrams);
  EXPECT_EQ(datagrams.fragments_each, 1);
}

TEST(FragmentsTest, WhatMayNotBeCutHasNoFragments) {
  Workload workload;
  workload.write = Bytes{1473};
  workload.dont_fragment = true;
  Datagrams datagrams;
  FillFragments(workload, 1500, 4, datagrams);
  EXPECT_EQ(datagrams.fragments_each, std::nullopt);
  EXPECT_NE(datagrams.reason, "");
}

}  // namespace
}  // namespace wiretoll
