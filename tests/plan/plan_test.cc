#include "harness/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Study WithCases(const std::string& name, int count) {
  Study study;
  study.name = name;
  for (int i = 0; i < count; ++i) {
    study.cases.push_back({"write-" + std::to_string(i), {}, {}});
  }
  return study;
}

const std::vector<Pair>& BothWays() {
  static const std::vector<Pair> pairs{{"a", "b"}, {"b", "a"}};
  return pairs;
}

std::vector<std::string> Ids(const std::vector<PlannedTrial>& trials) {
  std::vector<std::string> ids;
  ids.reserve(trials.size());
  for (const PlannedTrial& trial : trials) ids.push_back(trial.id);
  return ids;
}

std::vector<std::size_t> Order(std::uint64_t seed, int block, int cases) {
  std::vector<std::size_t> order;
  for (const PlannedTrial& trial :
       MakeBlock({WithCases("s", cases)}, {{"a", "b"}}, block, seed)) {
    order.push_back(trial.case_index);
  }
  return order;
}

TEST(PlanTest, ABlockHoldsEveryCellOnce) {
  const std::vector<Study> studies{WithCases("s", 3), WithCases("t", 2)};
  const std::vector<PlannedTrial> block = MakeBlock(studies, BothWays(), 4, 1);
  std::set<std::string> expected;
  for (const Study& study : studies) {
    for (const Case& each : study.cases) {
      expected.insert(study.name + "/" + each.id + "/a:b/4");
      expected.insert(study.name + "/" + each.id + "/b:a/4");
    }
  }
  const std::vector<std::string> ids = Ids(block);
  EXPECT_EQ(ids.size(), 10U);  // (3 + 2) cases x 2 directions.
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()), expected);
}

TEST(PlanTest, IndexesPointIntoWhatThePlanWasMadeOf) {
  const std::vector<Study> studies{WithCases("s", 3), WithCases("t", 2)};
  for (const PlannedTrial& trial : MakeBlock(studies, BothWays(), 4, 1)) {
    const Study& study = studies.at(trial.study);
    const Pair& pair = BothWays().at(trial.pair);
    EXPECT_EQ(trial.id, study.name + "/" + study.cases.at(trial.case_index).id +
                            "/" + pair.sender + ":" + pair.receiver + "/4");
    EXPECT_EQ(trial.repeat, 4);
  }
}

// Block 2 of 6 cells: 12 to 17.
TEST(PlanTest, OrderCountsOnFromBlockToBlock) {
  std::int64_t expected = 12;
  for (const PlannedTrial& trial :
       MakeBlock({WithCases("s", 3)}, BothWays(), 2, 1)) {
    EXPECT_EQ(trial.order, expected++);
  }
  EXPECT_EQ(expected, 18);
}

TEST(PlanTest, NoCasesOrNoPairsMakeNoTrials) {
  EXPECT_THAT(MakeBlock({}, BothWays(), 0, 1), IsEmpty());
  EXPECT_THAT(MakeBlock({WithCases("s", 3)}, {}, 0, 1), IsEmpty());
}

TEST(PlanTest, TheSameSeedGivesTheSameOrder) {
  EXPECT_EQ(Order(7, 3, 50), Order(7, 3, 50));
}

// Computed by a second implementation (Python); another compiler, library or
// machine must agree, or old runs could not be resumed.
TEST(PlanTest, TheOrderOfASeedIsTheSameEverywhere) {
  EXPECT_THAT(Order(1, 0, 8), ElementsAre(0, 1, 2, 7, 3, 4, 5, 6));
  EXPECT_THAT(Order(1, 1, 8), ElementsAre(5, 6, 3, 4, 7, 2, 0, 1));
  EXPECT_THAT(Order(2, 0, 8), ElementsAre(6, 1, 4, 7, 0, 5, 3, 2));
}

TEST(PlanTest, BlocksAndSeedsDiffer) {
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int block = 0; block < 20; ++block) {
      orders.insert(Order(seed, block, 50));
    }
  }
  EXPECT_EQ(orders.size(), 400U);
}

// 6000 shuffles of 6: each cell is to be at each place 1000 times, standard
// deviation sqrt(6000 x 1/6 x 5/6) = 28.9; five of them are 144. The seeds are
// fixed, so it holds always or never.
TEST(PlanTest, EveryCellComesToEveryPlaceEquallyOften) {
  std::vector<std::vector<int>> counts(6, std::vector<int>(6, 0));
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    for (int block = 0; block < 6; ++block) {
      const std::vector<std::size_t> order = Order(seed, block, 6);
      for (std::size_t place = 0; place < 6; ++place) {
        ++counts[place][order[place]];
      }
    }
  }
  for (const std::vector<int>& place : counts) {
    for (const int count : place) EXPECT_NEAR(count, 1000, 144);
  }
}

// 3! = 6 orders, 1000 each of 6000 if all are as likely.
TEST(PlanTest, EveryOrderIsEquallyLikely) {
  std::map<std::vector<std::size_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++counts[Order(seed, 0, 3)];
  ASSERT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 144);
}

TEST(PairsTest, AllOrderedPairsOfDifferentHostsStandInTheOrderGiven) {
  EXPECT_THAT(AllPairs({"a", "b", "c"}),
              ElementsAre(Pair{"a", "b"}, Pair{"a", "c"}, Pair{"b", "a"},
                          Pair{"b", "c"}, Pair{"c", "a"}, Pair{"c", "b"}));
  EXPECT_THAT(AllPairs({"alone"}), IsEmpty());
  EXPECT_THAT(AllPairs({}), IsEmpty());
}

TEST(PairsTest, ASpecNamesSenderAndReceiver) {
  const auto pairs = ParsePairs("b:a,a:c", {"a", "b", "c"});
  ASSERT_TRUE(pairs.has_value()) << pairs.error().message;
  EXPECT_THAT(pairs.value(), ElementsAre(Pair{"b", "a"}, Pair{"a", "c"}));
}

TEST(PairsTest, AHostMayHaveAColonInItsName) {
  const auto pairs = ParsePairs("guest:6.1:b", {"guest:6.1", "b"});
  ASSERT_TRUE(pairs.has_value()) << pairs.error().message;
  EXPECT_THAT(pairs.value(), ElementsAre(Pair{"guest:6.1", "b"}));
}

std::string PairsComplaint(const std::string& spec) {
  const auto pairs = ParsePairs(spec, {"a", "b"});
  if (pairs.has_value()) return "";
  EXPECT_EQ(pairs.error().code, ExitCode::kUsage);
  return pairs.error().message;
}

TEST(PairsTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(PairsComplaint("a:x"),
            "--pairs: 'a:x': no sender:receiver of known hosts; they are: a, "
            "b");
  EXPECT_THAT(PairsComplaint("a"), HasSubstr("'a': no sender:receiver"));
  EXPECT_THAT(PairsComplaint(""), HasSubstr("'': no sender:receiver"));
  EXPECT_THAT(PairsComplaint("a:b,"), HasSubstr("'': no sender:receiver"));
  EXPECT_THAT(PairsComplaint("a:b:a"), HasSubstr("no sender:receiver"));
  EXPECT_THAT(PairsComplaint("a:a"), HasSubstr("not paired with itself"));
  EXPECT_THAT(PairsComplaint("a:b,a:b"), HasSubstr("stands there twice"));
}

}  // namespace
}  // namespace wiretoll
