#include "harness/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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

const Mesh& BothWays() {
  static const Mesh mesh{{"a", "b"}, {{"a", "b"}, {"b", "a"}}};
  return mesh;
}

std::vector<std::string> Ids(const std::vector<PlannedTrial>& trials) {
  std::vector<std::string> ids;
  ids.reserve(trials.size());
  for (const PlannedTrial& trial : trials) ids.push_back(trial.id);
  return ids;
}

std::vector<std::size_t> Order(std::uint64_t seed, int block, int cases) {
  std::vector<std::size_t> order;
  for (const PlannedTrial& trial : MakeBlock(
           {WithCases("s", cases)}, {{"a", "b"}, {{"a", "b"}}}, block, seed)) {
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
    const Pair& pair = BothWays().pairs.at(trial.pair);
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
  EXPECT_THAT(MakeBlock({WithCases("s", 3)}, {{"a", "b"}, {}}, 0, 1),
              IsEmpty());
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

// --- Flows at once

Study WithTopology(Topology topology, int streams = 1) {
  Study study = WithCases("s", 1);
  study.cases[0].topology = topology;
  study.cases[0].workload.streams = streams;
  return study;
}

Mesh ThreeHosts() {
  const std::vector<std::string> hosts{"a", "b", "c"};
  return {hosts, AllPairs(hosts)};
}

// Group -> its flows, as the plan of block 0 has them.
std::map<std::string, std::vector<std::string>> GroupsOf(const Study& study,
                                                         const Mesh& mesh) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const PlannedTrial& trial : MakeBlock({study}, mesh, 0, 1)) {
    groups[trial.group].push_back(trial.id);
  }
  return groups;
}

TEST(FlowPlanTest, AllToAllIsEveryPairInOneGroup) {
  EXPECT_THAT(GroupsOf(WithTopology(Topology::kAllToAll), ThreeHosts()),
              ElementsAre(testing::Pair(
                  "s/write-0/all-to-all/0",
                  ElementsAre("s/write-0/a:b/0", "s/write-0/a:c/0",
                              "s/write-0/b:a/0", "s/write-0/b:c/0",
                              "s/write-0/c:a/0", "s/write-0/c:b/0"))));
}

TEST(FlowPlanTest, ARingGoesRoundInTheOrderOfTheHosts) {
  Mesh mesh = ThreeHosts();
  mesh.hosts = {"c", "a", "b"};
  EXPECT_THAT(
      GroupsOf(WithTopology(Topology::kRing), mesh),
      ElementsAre(testing::Pair(
          "s/write-0/ring/0", ElementsAre("s/write-0/c:a/0", "s/write-0/a:b/0",
                                          "s/write-0/b:c/0"))));
}

TEST(FlowPlanTest, OneToManyIsAGroupForEachSender) {
  EXPECT_THAT(
      GroupsOf(WithTopology(Topology::kOneToMany), ThreeHosts()),
      ElementsAre(
          testing::Pair("s/write-0/a:*/0",
                        ElementsAre("s/write-0/a:b/0", "s/write-0/a:c/0")),
          testing::Pair("s/write-0/b:*/0",
                        ElementsAre("s/write-0/b:a/0", "s/write-0/b:c/0")),
          testing::Pair("s/write-0/c:*/0",
                        ElementsAre("s/write-0/c:a/0", "s/write-0/c:b/0"))));
}

TEST(FlowPlanTest, StreamsMultiplyEachFlow) {
  EXPECT_THAT(
      GroupsOf(WithTopology(Topology::kPair, 2), BothWays()),
      ElementsAre(testing::Pair("s/write-0/a:b/0",
                                ElementsAre("s/write-0/a:b/0/stream-0",
                                            "s/write-0/a:b/0/stream-1")),
                  testing::Pair("s/write-0/b:a/0",
                                ElementsAre("s/write-0/b:a/0/stream-0",
                                            "s/write-0/b:a/0/stream-1"))));
  // 6 pairs of three hosts, 3 streams each.
  const auto groups =
      GroupsOf(WithTopology(Topology::kAllToAll, 3), ThreeHosts());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.begin()->second.size(), 18U);
}

TEST(FlowPlanTest, OnlyPairsThatWereChosenAreThere) {
  const Mesh mesh{{"a", "b", "c"}, {{"a", "b"}, {"c", "a"}, {"c", "b"}}};
  // a to b and c to a are steps of the ring; b to c was not chosen.
  EXPECT_THAT(GroupsOf(WithTopology(Topology::kRing), mesh),
              ElementsAre(testing::Pair(
                  "s/write-0/ring/0",
                  ElementsAre("s/write-0/a:b/0", "s/write-0/c:a/0"))));
  EXPECT_THAT(
      GroupsOf(WithTopology(Topology::kOneToMany), mesh),
      ElementsAre(
          testing::Pair("s/write-0/a:*/0", ElementsAre("s/write-0/a:b/0")),
          testing::Pair("s/write-0/c:*/0",
                        ElementsAre("s/write-0/c:a/0", "s/write-0/c:b/0"))));
}

TEST(FlowPlanTest, ATrialAloneHasNoGroup) {
  for (const PlannedTrial& trial :
       MakeBlock({WithCases("s", 3)}, BothWays(), 0, 1)) {
    EXPECT_EQ(trial.group, "");
    EXPECT_EQ(trial.flows, 1);
    EXPECT_EQ(trial.index, 0);
  }
}

// Cases of every topology; 6 + 6 + 6 + 3 x 2 flows a block.
TEST(FlowPlanTest, EachBlockHoldsEveryFlowOnceAndGroupsTogether) {
  Study study = WithCases("s", 4);
  study.cases[1].topology = Topology::kAllToAll;
  study.cases[2].topology = Topology::kOneToMany;
  study.cases[3].topology = Topology::kRing;
  study.cases[3].workload.streams = 2;
  for (const int block : {0, 1, 2}) {
    const auto plan = MakeBlock({study}, ThreeHosts(), block, 9);
    ASSERT_EQ(plan.size(), 24U);
    std::set<std::string> ids;
    std::set<std::string> groups;  // Those that have ended.
    for (std::size_t i = 0; i < plan.size(); ++i) {
      EXPECT_TRUE(ids.insert(plan[i].id).second) << plan[i].id;
      EXPECT_EQ(plan[i].order, 24 * block + static_cast<int>(i));
      if (plan[i].index == 0 && !plan[i].group.empty()) {
        EXPECT_TRUE(groups.insert(plan[i].group).second) << plan[i].group;
        ASSERT_LE(i + static_cast<std::size_t>(plan[i].flows), plan.size());
      } else if (plan[i].index > 0) {
        EXPECT_EQ(plan[i].group, plan[i - 1].group);
        EXPECT_EQ(plan[i].index, plan[i - 1].index + 1);
      }
    }
    // One of all pairs, three of a sender each, a ring.
    EXPECT_EQ(groups.size(), 5U);
  }
}

std::string TopologyComplaint(const Study& study, const Mesh& mesh) {
  const auto checked = CheckTopologies({study}, mesh);
  if (checked.has_value()) return "";
  EXPECT_EQ(checked.error().code, ExitCode::kUsage);
  return checked.error().message;
}

TEST(FlowPlanTest, PairsThatLeaveNoFlowAreRefused) {
  const Mesh mesh{{"a", "b", "c"}, {{"b", "a"}}};
  EXPECT_EQ(TopologyComplaint(WithTopology(Topology::kRing), mesh),
            "study s, case write-0: --pairs leaves no flow of topology "
            "\"ring\"; name more pairs, or leave --pairs out");
  EXPECT_EQ(TopologyComplaint(WithTopology(Topology::kAllToAll), mesh), "");
}

// All to all among three: each host sends 2 flows and receives 2. With 16
// streams that is 4 x 16 = 64, with 17 it is 68.
TEST(FlowPlanTest, MoreFlowsThanAHostRunsAreRefused) {
  EXPECT_EQ(
      TopologyComplaint(WithTopology(Topology::kAllToAll, 16), ThreeHosts()),
      "");
  EXPECT_THAT(
      TopologyComplaint(WithTopology(Topology::kAllToAll, 17), ThreeHosts()),
      HasSubstr("68 flows at once, and 64 is the most"));
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
