#include "harness/theory/windows.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// RFC 7323 2.2, 2.3: 65,535 x 2^14 = 1,073,725,440 is the most.
TEST(WindowsTest, AWindowAbove65535NeedsAShiftAndNoneIsAbove14) {
  EXPECT_EQ(WindowShiftFor(Bytes{65'535}), 0);
  EXPECT_EQ(WindowShiftFor(Bytes{65'536}), 1);
  // 65,535 x 2^6 = 4,194,240 is 64 short of 4 MiB.
  EXPECT_EQ(WindowShiftFor(Bytes{4 << 20}), 7);
  EXPECT_EQ(WindowShiftFor(Bytes{std::int64_t{1} << 40}), 14);
  EXPECT_EQ(TellableWindow(Bytes{std::int64_t{1} << 40}, 14),
            Bytes{1'073'725'440});
  EXPECT_EQ(TellableWindow(Bytes{1'000'000}, 0), Bytes{65'535});
  EXPECT_EQ(TellableWindow(Bytes{1000}, 0), Bytes{1000});
}

// RFC 6928 2: min(10 MSS, max(2 MSS, 14,600)). 10 x 1448 = 14,480; 14,600 /
// 8948 is 1.6, so two; 14,600 / 2000 = 7.3.
TEST(WindowsTest, TheInitialWindowIsTenSegmentsOrWhatTheirSizeAllows) {
  EXPECT_EQ(InitialWindowOf(Bytes{1448}), 10);
  EXPECT_EQ(InitialWindowOf(Bytes{1460}), 10);
  EXPECT_EQ(InitialWindowOf(Bytes{2000}), 7);
  EXPECT_EQ(InitialWindowOf(Bytes{8948}), 2);
}

// 10, 20, 40, 80: three round trips, 70 segments before.
TEST(SlowStartTest, DoublesWhereAcksCountBytes) {
  const SlowStartCourse course = CourseOf(
      {Bytes{80'000}, Bytes{1000}, 10ms, 10}, SlowStartGrowth::kByteCounted);
  EXPECT_EQ(course.round_trips, 3);
  EXPECT_EQ(course.time, 30ms);
  EXPECT_EQ(course.sent, Bytes{70'000});
}

// Half of 10 is 5 ACKs, of 15 is 7: 10, 15, 22, 33, 49, 73, 109. Six round
// trips, 10 + 15 + 22 + 33 + 49 + 73 = 202 segments before.
TEST(SlowStartTest, GrowsByHalfWhereOneAckForTwoSegmentsAddsOne) {
  const SlowStartCourse course =
      CourseOf({Bytes{80'000}, Bytes{1000}, 10ms, 10}, SlowStartGrowth::kByAck);
  EXPECT_EQ(course.round_trips, 6);
  EXPECT_EQ(course.time, 60ms);
  EXPECT_EQ(course.sent, Bytes{202'000});
}

TEST(SlowStartTest, AWindowBelowTheInitialOneIsThereFromTheFirst) {
  const SlowStartCourse course =
      CourseOf({Bytes{10'000}, Bytes{1000}, 10ms, 10}, SlowStartGrowth::kByAck);
  EXPECT_EQ(course.round_trips, 0);
  EXPECT_EQ(course.sent, Bytes{0});
}

// One segment grows as well: its ACK is not held back for a second. 1, 2, 3, 4.
TEST(SlowStartTest, ASingleSegmentGrowsToo) {
  const SlowStartCourse course =
      CourseOf({Bytes{4}, Bytes{1}, 1ms, 1}, SlowStartGrowth::kByAck);
  EXPECT_EQ(course.round_trips, 3);
}

// 1000 bytes each 10 ms are 100 kB/s; of segments lost 1.5 in 10,000, which
// is 1.5 / 0.00015 = 10,000 under the root: 100 times as much.
TEST(LossTest, TheRateFallsWithTheRootOfTheLoss) {
  EXPECT_NEAR(RateUnderLoss(Bytes{1000}, 10ms, 0.00015), 10e6, 1e-6);
  EXPECT_NEAR(RateUnderLoss(Bytes{1000}, 10ms, 0.0006), 5e6, 1e-6);
}

// Read back 131,072: scale 1 keeps half, 2 a quarter; -2 leaves a quarter.
TEST(LinuxWindowTest, TheShareOfABufferGoesByTheScale) {
  EXPECT_EQ(LinuxWindowOf(Bytes{131'072}), Bytes{65'536});
  EXPECT_EQ(LinuxWindowOf(Bytes{131'072}, 2), Bytes{98'304});
  EXPECT_EQ(LinuxWindowOf(Bytes{131'072}, -2), Bytes{32'768});
  EXPECT_EQ(LinuxWindowOf(Bytes{131'072}, 0), Bytes{131'072});
}

// Asked 65,536 is read back as 131,072, of which half is window. With scale 2
// three quarters: 2 x 43,691 = 87,382, less 21,845, is 65,537, and 2 x 43,690
// = 87,380 less 21,845 is 65,535.
TEST(LinuxWindowTest, TheBufferToAskForIsTheLeastThatGivesTheWindow) {
  EXPECT_EQ(LinuxBufferToAsk(Bytes{65'536}), Bytes{65'536});
  EXPECT_EQ(LinuxBufferToAsk(Bytes{65'536}, 2), Bytes{43'691});
  // 2304 is what anybody gets, and half of it 1152.
  EXPECT_EQ(LinuxBufferToAsk(Bytes{1152}), Bytes{1});
  EXPECT_EQ(LinuxBufferToAsk(Bytes{1153}), Bytes{1153});
}

WindowTable Example() {
  WindowOptions options;
  options.windows = {Bytes{65'536}, Bytes{262'144}};
  options.rtts = {10ms};
  options.link = BitsPerSecond{100e6};
  return MakeWindowTable(options).value();
}

// 100 Mbit/s x 10 ms = 125 kB. 65,536 bytes each 10 ms are 6.5536 MB/s; full
// segments get 12.5 MB/s x 1448/1538 = 11.7685 MB/s, and need 117,685 bytes.
TEST(WindowTableTest, TheWorkedExampleHasItsProductAndBothLimits) {
  const WindowTable table = Example();
  ASSERT_EQ(table.rows.size(), 2U);
  const WindowRow& small = table.rows[0];
  EXPECT_EQ(small.product, Bytes{125'000});
  EXPECT_DOUBLE_EQ(small.window_rate, 6'553'600.0);
  EXPECT_EQ(small.limit, PathLimit::kWindow);
  EXPECT_DOUBLE_EQ(small.rate, 6'553'600.0);
  EXPECT_DOUBLE_EQ(small.unscaled_rate, 6'553'500.0);
  EXPECT_EQ(small.shift, 1);
  const WindowRow& large = table.rows[1];
  EXPECT_EQ(large.limit, PathLimit::kLine);
  EXPECT_NEAR(large.rate, 12.5e6 * 1448 / 1538, 1e-3);
  // 10, 20, 40, 80, 160 segments of 1448: 115,840 are not yet 117,685.
  EXPECT_EQ(large.doubling.round_trips, 4);
  EXPECT_EQ(large.doubling.time, 40ms);
  // 14,480 ... 73 segments are 105,704, and 109 are 157,832.
  EXPECT_EQ(large.by_ack.round_trips, 6);
  EXPECT_EQ(large.linux_buffer, Bytes{262'144});
}

TEST(WindowTableTest, WithoutALineOnlyTheWindowLimits) {
  WindowOptions options;
  options.windows = {Bytes{1000}};
  options.rtts = {1ms};
  const WindowTable table = MakeWindowTable(options).value();
  EXPECT_EQ(table.rows[0].limit, PathLimit::kNone);
  EXPECT_DOUBLE_EQ(table.rows[0].rate, 1e6);
  EXPECT_FALSE(table.rows[0].product.has_value());
  EXPECT_THAT(WindowText(table), ::testing::Not(HasSubstr("BDP")));
}

TEST(WindowTableTest, UnaskedItGoesFrom16KiBTo8MiBAtThreeRoundTrips) {
  const WindowTable table = MakeWindowTable({}).value();
  // 16 Ki to 8 Mi are 2^14 to 2^23.
  EXPECT_EQ(table.rows.size(), 3U * 10);
  EXPECT_EQ(table.rows.back().window, Bytes{8 << 20});
  EXPECT_EQ(table.rows.back().rtt, 70ms);
}

TEST(WindowTableTest, WhatNoHeaderCanTellIsAUsageError) {
  WindowOptions options;
  options.windows = {Bytes{1'073'725'441}};
  EXPECT_THAT(MakeWindowTable(options).error().message,
              HasSubstr("1073725440 bytes"));
  options.windows = {Bytes{0}};
  EXPECT_FALSE(MakeWindowTable(options).has_value());
  options.windows = {Bytes{1}};
  options.rtts = {Nanoseconds{0}};
  EXPECT_THAT(MakeWindowTable(options).error().message, HasSubstr("--rtt"));
  options.rtts = {};
  options.mtu = Bytes{60};
  EXPECT_FALSE(MakeWindowTable(options).has_value());
}

TEST(WindowTableTest, TextCsvAndJsonTellTheSame) {
  const WindowTable table = Example();
  EXPECT_THAT(WindowText(table), HasSubstr("   125000 "));
  EXPECT_THAT(WindowText(table), HasSubstr("not documented"));
  EXPECT_THAT(WindowCsv(table),
              HasSubstr("\n65536,10000000,6553600.000,11768530.559,window,"
                        "6553600.000,125000,6553500.000,1,"));
  const auto json = nlohmann::json::parse(WindowJson(table));
  EXPECT_EQ(json["rows"][0]["limit"], "window");
  EXPECT_EQ(json["rows"][1]["slow_start_doubling"]["round_trips"], 4);
  EXPECT_EQ(json["mss_bytes"], 1448);
}

}  // namespace
}  // namespace wiretoll
