#include "harness/analysis/tallies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Both ends counted `counted`, the capture `captured`.
Sample CapturedSample(std::int64_t counted, std::int64_t captured) {
  Sample sample;
  sample.sender.emplace();
  sample.sender->host = "a";
  sample.sender->os = "linux";
  sample.sender->stack = "Linux 6.18";
  sample.wire.emplace();
  sample.wire->observer = "capture";
  sample.wire->agreement = "equal";
  sample.wire->sender_data_segments = counted;
  sample.wire->receiver_data_segments = counted;
  sample.capture.emplace();
  sample.capture->data_segments = captured;
  return sample;
}

Agreement Tally(const std::vector<Sample>& samples) {
  Agreement agreement;
  for (const Sample& sample : samples) {
    AddAgreement(sample, RunRecord{}, agreement);
  }
  return agreement;
}

TEST(TalliesTest, CapturesAreCountedByHowTheyStandToTheEnds) {
  Sample partial = CapturedSample(10, 9);
  partial.capture->partial = "torn";
  const Agreement agreement =
      Tally({CapturedSample(10, 10), CapturedSample(5, 5),
             CapturedSample(10, 7), CapturedSample(20, 19), partial});
  EXPECT_EQ(agreement.equal, 5);
  EXPECT_EQ(agreement.captured, 5);
  EXPECT_EQ(agreement.capture_equal, 2);
  EXPECT_EQ(agreement.capture_different, 2);
  EXPECT_EQ(agreement.capture_partial, 1);
  int causes = 0;
  for (const auto& [cause, trials] : agreement.capture_causes) {
    causes += trials;
  }
  EXPECT_EQ(causes, 2);
}

TEST(TalliesTest, CausesThatDifferInNumbersOnlyAreOne) {
  const Agreement agreement =
      Tally({CapturedSample(10, 7), CapturedSample(100, 90)});
  EXPECT_THAT(agreement.capture_causes, ElementsAre(Pair(testing::_, 2)));
}

TEST(TalliesTest, WhatCouldNotBeCapturedIsCountedByItsReason) {
  Sample sample = CapturedSample(10, 10);
  sample.capture = CaptureRecord();
  sample.capture->reason = "no permission";
  const Agreement agreement = Tally({sample, sample});
  EXPECT_EQ(agreement.captured, 0);
  EXPECT_THAT(agreement.not_captured, ElementsAre(Pair("no permission", 2)));
}

TEST(TalliesTest, WithoutACaptureNothingIsSaidOfOne) {
  Sample sample = CapturedSample(10, 10);
  sample.capture.reset();
  const Agreement agreement = Tally({sample});
  EXPECT_EQ(agreement.captured, 0);
  EXPECT_THAT(agreement.not_captured, IsEmpty());
  EXPECT_EQ(agreement.equal, 1);
}

TEST(TalliesTest, RulesAreCountedForEachSystem) {
  Sample linux_one = CapturedSample(10, 10);
  linux_one.capture->followed_rule = "Minshall";
  Sample windows_one = linux_one;
  windows_one.sender->os = "windows";
  windows_one.sender->stack = "Windows 11";
  windows_one.capture->followed_rule = "classic";
  const Agreement agreement =
      Tally({linux_one, linux_one, windows_one, CapturedSample(1, 1)});
  EXPECT_THAT(agreement.followed_rules,
              ElementsAre(Pair("Linux 6.18", ElementsAre(Pair("Minshall", 2))),
                          Pair("Windows 11", ElementsAre(Pair("classic", 1)))));
}

}  // namespace
}  // namespace wiretoll
