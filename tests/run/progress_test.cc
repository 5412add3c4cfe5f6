#include "harness/run/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

TEST(TimeLeftTest, IsUnknownWhereNothingWasPlanned) {
  EXPECT_FALSE(TimeLeft().Estimate().has_value());
}

// 3 trials of 2 s and 2 of 5 s are 16 s.
TEST(TimeLeftTest, IsAsPlannedBeforeTheFirstTrial) {
  TimeLeft left;
  left.Plan(2s, 3);
  left.Plan(5s, 2);
  EXPECT_EQ(left.Estimate(), 16s);
}

// Planned: a and b 5 trials of 1 s each. a took 2 s and 4 s, a mean of 3 s, so
// the plan is wrong by 3: 3 trials of a at 3 s, 5 of b at 3 x 1 s are 24 s.
TEST(TimeLeftTest, CellsNotSeenYetAreAsFarOffThePlanAsThoseSeen) {
  TimeLeft left;
  left.Plan(1s, 5);
  left.Plan(1s, 5);
  left.Finished(0, 2s);
  left.Finished(0, 4s);
  EXPECT_EQ(left.Estimate(), 24s);
}

// However wrong the plan: once every cell was seen, only what they took
// counts. a's mean is 2 s, b's 4 s; 3 and 4 trials left are 22 s.
TEST(TimeLeftTest, WhatWasMeasuredReplacesThePlan) {
  TimeLeft left;
  left.Plan(700s, 5);
  left.Plan(1ms, 5);
  left.Finished(0, 1s);
  left.Finished(0, 3s);
  left.Finished(1, 4s);
  ASSERT_TRUE(left.Estimate().has_value());
  EXPECT_NEAR(static_cast<double>(left.Estimate()->count()), 22e9, 1e3);
}

TEST(TimeLeftTest, TrialsFoundDoneTakeNoTime) {
  TimeLeft left;
  left.Plan(2s, 3);
  left.Skipped(0);
  left.Skipped(0);
  EXPECT_EQ(left.Estimate(), 2s);
  left.Finished(0, 9s);
  EXPECT_EQ(left.Estimate(), 0s);
}

class ProgressTest : public testing::Test {
 protected:
  Progress Make(Progress::Look look) {
    return {look, [this](const std::string& text) { said_ += text; },
            [this] { return now_; }};
  }
  // As a run does: it ticks a few times a second.
  void Pass(Progress& progress, Nanoseconds time) {
    for (const SteadyTime end = now_ + time; now_ < end;) {
      now_ += 400ms;
      progress.Tick();
    }
  }
  static Progress::State SomeState() {
    return {2, 5, 130, 600, 3, 1, Nanoseconds{80s}, "a > b write-1", 15s};
  }
  std::string said_;
  SteadyTime now_{1000s};
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
  EXPECT_EQ(said_, "wiretoll: host b: gone\n");
}

TEST_F(ProgressTest, ALogGetsWholeLinesAndNoCarriageReturns) {
  {
    Progress progress = Make({false, false});
    progress.Show(SomeState());
    Pass(progress, 2s);
  }
  ASSERT_NE(said_, "");
  EXPECT_EQ(said_.back(), '\n');
  EXPECT_THAT(said_, Not(HasSubstr("\r")));
}

TEST_F(ProgressTest, ALogGetsNothingOfWhatIsOverAtOnce) {
  Progress progress = Make({false, false});
  progress.Wait("the agent of host a", now_ + 20s);
  now_ += 300ms;
  progress.WaitIsOver();
  progress.Show(SomeState());
  EXPECT_EQ(said_, "");
}

TEST_F(ProgressTest, WithinTwoSecondsALogTellsWhoIsWaitedForAndHowLong) {
  Progress progress = Make({false, false});
  progress.Wait("the agent of host b", now_ + 20s);
  Pass(progress, 2s);
  // The first look after 1.5 s is at 1.6 s: 18.4 s are left.
  EXPECT_EQ(said_, "waiting for the agent of host b, 18 s more at most\n");
}

TEST_F(ProgressTest, WithinTwoSecondsALogTellsOfATrialThatLasts) {
  Progress progress = Make({false, false});
  progress.Show(SomeState());
  Pass(progress, 2s);
  // 1.6 s of 15 s.
  EXPECT_EQ(said_,
            "block 2/5, trial 130/600, 3 failed, 1 skipped, 1 min 20 s left, "
            "this one 2 s of 15 s at most  a > b write-1\n");
}

// It said 5 s, and the trial under way is at 11.6 s.
TEST_F(ProgressTest, ATimeLeftThatIsOverIsNotShown) {
  Progress progress = Make({false, false});
  Progress::State state = SomeState();
  state.left = 5s;
  progress.Show(state);
  Pass(progress, 2s);
  EXPECT_THAT(said_, HasSubstr("5.00 s left"));
  said_.clear();
  Pass(progress, 10s);
  EXPECT_THAT(said_, HasSubstr("this one 12 s of 15 s at most"));
  EXPECT_THAT(said_, Not(HasSubstr("left")));
}

// 1.6 s, 11.6 s and 21.6 s after the start.
TEST_F(ProgressTest, ALogThenGetsALineEveryTenSeconds) {
  Progress progress = Make({false, false});
  progress.Show(SomeState());
  Pass(progress, 25s);
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 3);
}

// An agent that has to be started again in mid-run, just after a line.
TEST_F(ProgressTest, AWaitInMidRunIsToldWithinTwoSecondsToo) {
  Progress progress = Make({false, false});
  progress.Show(SomeState());
  Pass(progress, 2s);
  said_.clear();
  progress.Wait("the agent of host b", now_ + 20s);
  Pass(progress, 2s);
  EXPECT_THAT(said_, HasSubstr("trial 130/600"));
  EXPECT_THAT(said_, HasSubstr("waiting for the agent of host b"));
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
