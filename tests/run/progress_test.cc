#include "harness/run/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

TEST(TimeLeftTest, IsUnknownBeforeTheFirstTrial) {
  EXPECT_FALSE(TimeLeft(10).Estimate().has_value());
}

// 10 trials, cell a took 1 s and 3 s (mean 2 s), cell b 4 s: cells average 3 s,
// 7 trials are left, so 21 s.
TEST(TimeLeftTest, CountsEveryCellOnceHoweverOftenItRan) {
  TimeLeft left(10);
  left.Finished("a", 1s);
  left.Finished("a", 3s);
  left.Finished("b", 4s);
  ASSERT_TRUE(left.Estimate().has_value());
  EXPECT_EQ(*left.Estimate(), 21s);
}

TEST(TimeLeftTest, TrialsFoundDoneTakeNoTime) {
  TimeLeft left(3);
  left.Skipped();
  left.Skipped();
  left.Finished("a", 2s);
  EXPECT_EQ(*left.Estimate(), 0s);
}

class ProgressTest : public testing::Test {
 protected:
  Progress Make(Progress::Look look) {
    return {look, [this](const std::string& text) { said_ += text; }};
  }
  static Progress::State SomeState() {
    return {2, 5, 130, 600, 3, 1, Nanoseconds{80s}, "a > b write-1"};
  }
  std::string said_;
};

TEST_F(ProgressTest, OnATerminalTellsBlockTrialFailuresAndTimeLeft) {
  {
    Progress progress = Make({false, true});
    progress.Show(SomeState());
  }
  EXPECT_THAT(said_,
              HasSubstr("block 2/5, trial 130/600, 3 failed, 1 skipped"));
  EXPECT_THAT(said_, HasSubstr("left"));
  EXPECT_THAT(said_, HasSubstr("a > b write-1"));
  // The line is wiped when the run is over.
  EXPECT_EQ(said_.back(), '\r');
}

TEST_F(ProgressTest, QuietSaysNothingButWhatMustBeSaid) {
  {
    Progress progress = Make({true, true});
    progress.Show(SomeState());
    EXPECT_EQ(said_, "");
    progress.Say("host b: gone");
  }
  EXPECT_EQ(said_, "host b: gone\n");
}

TEST_F(ProgressTest, ALogGetsWholeLinesAndNoCarriageReturns) {
  {
    Progress progress = Make({false, false});
    progress.Show(SomeState());
  }
  EXPECT_EQ(said_.back(), '\n');
  EXPECT_THAT(said_, Not(HasSubstr("\r")));
}

TEST_F(ProgressTest, NeverCutsACharacterInTwo) {
  Progress::State state = SomeState();
  // Two bytes each, so that one of two columns would cut inside.
  for (int i = 0; i < 60; ++i) state.now += "ж";
  for (const char* shift : {"", "x"}) {
    said_.clear();
    Progress progress = Make({false, true});
    state.now = shift + state.now;
    progress.Show(state);
    const auto last = static_cast<unsigned char>(said_.back());
    const auto before = static_cast<unsigned char>(said_[said_.size() - 2]);
    EXPECT_TRUE(last < 0x80 || ((last & 0xC0) == 0x80 && before >= 0xC0));
  }
}

}  // namespace
}  // namespace wiretoll
