#include "harness/lab/link_check.h"

#include <gmock/gmock.h>

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMillisecond = 1'000'000;

// A line as it should be: 2 ms each way, 5 % lost, 1 % duplicated.
LinkSpec Asked() {
  LinkSpec link;
  link.rate = BitsPerSecond{100e6};
  link.delay = milliseconds(2);
  link.loss = 0.05;
  link.duplicate = 0.01;
  return link;
}

// 8000 sent, 5 % or 400 lost, 1 % of 7600 or 76 twice.
MeasuredLine AsAsked() {
  MeasuredLine line;
  line.round_trips_ns = {4 * kMillisecond + 200'000, 4 * kMillisecond + 300'000,
                         9 * kMillisecond};
  line.directions = {{"a", "b", 99e6, "", ShareCount{8000, 7600, 76, 0}, ""},
                     {"b", "a", 101e6, "", ShareCount{8000, 7600, 76, 0}, ""}};
  return line;
}

// Of 10 coins none shows heads with 1/1024 = 0.098 %, at most one with 11/1024
// = 1.07 %; a tail of 1 % lies between, and outwards of that is none. As for
// the other end, 10 heads are the 0.098 % that are less than 1 %.
TEST(BinomialRangeTest, HoldsWhatChanceAloneMakes) {
  const CountRange coins = BinomialRange(10, 0.5, 0.98);
  EXPECT_EQ(coins.least, 0);
  EXPECT_EQ(coins.most, 9);
  // A normal distribution's 3.29 deviations of sqrt(8000 * 0.05 * 0.95) = 19.5
  // are 64; the binomial is a little wider above than below.
  const CountRange lost = BinomialRange(8000, 0.05, 0.999);
  EXPECT_NEAR(static_cast<double>(lost.least), 400 - 64, 3);
  EXPECT_NEAR(static_cast<double>(lost.most), 400 + 64, 5);
  EXPECT_EQ(BinomialRange(50, 1, 0.999).least, 50);
  EXPECT_EQ(BinomialRange(50, 0, 0.999).most, 0);
}

TEST(JudgeLineTest, ALineAsAskedForIsRecordedWithoutAWarning) {
  const JudgedLine judged = JudgeLine(Asked(), false, AsAsked());
  EXPECT_THAT(judged.check.warnings, IsEmpty());
  EXPECT_FALSE(judged.carries_nothing);
  const auto& settings = judged.settings;
  EXPECT_EQ(settings.at("rtt asked"), "4ms");
  EXPECT_EQ(settings.at("rtt measured"), "4200us");
  EXPECT_EQ(settings.at("rtt measured, median"), "4300us");
  EXPECT_EQ(settings.at("rate asked"), "100 Mbit/s");
  EXPECT_EQ(settings.at("rate measured"),
            "a > b: 99 Mbit/s; b > a: 101 Mbit/s");
  EXPECT_EQ(settings.at("lost measured"), "5 %; 5 %");
  EXPECT_EQ(settings.at("duplicated measured"), "1 %; 1 %");
  EXPECT_THAT(settings.at("check"), HasSubstr("as asked (rate within 5 %"));
  EXPECT_THAT(judged.check.summary,
              AllOf(HasSubstr("100 Mbit/s asked"), HasSubstr("5 % asked"),
                    HasSubstr("1 % asked")));
}

// 94 is 6 % under 100.
TEST(JudgeLineTest, ARateThatMissesIsToldWithFigureAndRemedy) {
  MeasuredLine line = AsAsked();
  line.directions[1].rate_bits_per_second = 94e6;
  const JudgedLine judged = JudgeLine(Asked(), false, line);
  EXPECT_THAT(
      judged.check.warnings,
      ElementsAre(AllOf(HasSubstr("from b to a carries 94 Mbit/s"),
                        HasSubstr("-6.0 %"), HasSubstr("lower --link"))));
  EXPECT_THAT(judged.settings.at("check"), HasSubstr("not as asked"));
  EXPECT_FALSE(judged.carries_nothing);
}

// 4 ms and 10 % are less than 4 ms and 1 ms: up to 5 ms is well.
TEST(JudgeLineTest, ARoundTripIsHeldFromBothSides) {
  MeasuredLine line = AsAsked();
  line.round_trips_ns = {5 * kMillisecond};
  EXPECT_THAT(JudgeLine(Asked(), false, line).check.warnings, IsEmpty());
  line.round_trips_ns = {5 * kMillisecond + 1};
  EXPECT_THAT(JudgeLine(Asked(), false, line).check.warnings,
              ElementsAre(HasSubstr("round trip is 5")));
  line.round_trips_ns = {4 * kMillisecond - 1};
  EXPECT_THAT(JudgeLine(Asked(), false, line).check.warnings,
              ElementsAre(HasSubstr("take another --delay")));
  LinkSpec jittery = Asked();
  jittery.jitter = milliseconds(1);  // Each way, so 2 ms of a round trip.
  EXPECT_THAT(JudgeLine(jittery, false, line).check.warnings, IsEmpty());
}

// 500 of 8000 are 100 more than 400, and 64 or so are in the interval.
TEST(JudgeLineTest, AShareOutsideItsBinomialIntervalIsTold) {
  MeasuredLine line = AsAsked();
  line.directions[0].shares->came = 7500;
  EXPECT_THAT(JudgeLine(Asked(), false, line).check.warnings,
              ElementsAre(AllOf(HasSubstr("500 of 8000 frames lost"),
                                HasSubstr("--loss 5 %"))));
}

TEST(JudgeLineTest, WhatWasNotMeasuredIsNeverAPass) {
  MeasuredLine line = AsAsked();
  line.directions[0].rate_bits_per_second.reset();
  line.directions[0].why_no_rate = "no such program";
  line.directions[0].shares.reset();
  line.directions[0].why_no_shares = "no such program";
  const JudgedLine judged = JudgeLine(Asked(), false, line);
  EXPECT_EQ(judged.check.warnings.size(), 3u);  // Rate, loss, duplication.
  EXPECT_THAT(judged.settings.at("rate measured"),
              HasSubstr("a > b: not measured: no such program"));
}

TEST(JudgeLineTest, ALineThatCarriesNothingIsNoLineUnlessThatWasAskedFor) {
  MeasuredLine line;
  line.why_no_round_trip = "no answer came back";
  line.directions = {{"a", "b", std::nullopt, "too few", ShareCount{8000}, ""}};
  EXPECT_TRUE(JudgeLine(Asked(), false, line).carries_nothing);
  LinkSpec all_lost;
  all_lost.loss = 1;
  EXPECT_FALSE(JudgeLine(all_lost, false, line).carries_nothing);
}

// None of 7600 where 10 % are asked for is a miss; where 0.01 % are, 0.76 are
// expected and none is nothing to speak of.
TEST(JudgeLineTest, NoneAheadIsToldWhereSomeHadToBe) {
  LinkSpec link = Asked();
  link.reorder = 0.1;
  EXPECT_THAT(JudgeLine(link, false, AsAsked()).check.warnings,
              ElementsAre(HasSubstr("--reorder"), HasSubstr("--reorder")));
  link.reorder = 0.0001;
  EXPECT_THAT(JudgeLine(link, false, AsAsked()).check.warnings, IsEmpty());
}

}  // namespace
}  // namespace wiretoll
