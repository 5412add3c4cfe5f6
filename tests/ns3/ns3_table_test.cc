// The published table, to the last figure: wiretoll-agent-ns3 table.
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/ns3/world.h"
#include "tests/agent/child_process.h"

namespace wiretoll {
namespace {

// What ns-3 3.37 makes of the experiment that facts of stacks and the report of
// 2021 speak of. From there, rounded: TCP 7.95, 149.61, 382.73, 393.35, 398.16
// and 396.32 Mbit/s at 10, 100, 10000, 30000, 50000 and 90000 packets; UDP
// 776.49, 17.55, 746.27, 790.86, 794.42, 804.28.
const std::vector<std::string>& PublishedTable() {
  static const std::vector<std::string> table = {
      "tcp,10,7.948,345.547,314.201,31,31,0",
      "tcp,100,149.613,202.841,17.973,278,278,0",
      "tcp,10000,382.728,1108.028,14.721,29650,29650,0",
      "tcp,20000,381.063,1139.588,14.482,59647,59647,0",
      "tcp,30000,393.353,1183.727,14.538,89721,89721,0",
      "tcp,40000,391.533,1152.968,14.520,119640,119640,0",
      "tcp,50000,398.160,1175.530,14.557,149650,149650,0",
      "tcp,60000,395.257,1207.595,14.646,179721,179721,0",
      "tcp,70000,396.283,1182.121,14.406,209650,209650,0",
      "tcp,80000,396.355,1175.684,14.486,239608,239608,0",
      "tcp,90000,396.315,1187.130,14.589,269605,269605,0",
      "udp,10,776.487,71.017,12.490,10,9,1",
      "udp,100,17.547,2034.408,13.240,100,3,97",
      "udp,10000,746.270,38246.746,14.075,10000,5999,4001",
      "udp,20000,784.035,79993.068,12.726,20000,12574,7426",
      "udp,30000,790.860,87362.372,11.452,30000,14000,16000",
      "udp,40000,785.881,92569.043,10.739,40000,15226,24774",
      "udp,50000,794.416,97903.435,9.745,50000,16713,33287",
      "udp,60000,811.136,102904.580,8.660,60000,18411,41589",
      "udp,70000,805.738,105974.161,8.279,70000,19633,50367",
      "udp,80000,806.481,108941.479,7.796,80000,20994,59006",
      "udp,90000,804.281,111484.831,7.452,90000,22280,67720",
  };
  return table;
}

std::vector<std::string> Lines(const std::string& arguments) {
  ChildProcess table(std::string(WIRETOLL_AGENT_NS3) + " table " + arguments);
  std::vector<std::string> lines;
  while (const auto line = table.ReadLine()) lines.push_back(*line);
  EXPECT_EQ(table.WaitForEnd(std::chrono::seconds{10}), 0);
  return lines;
}

std::string Field(const std::string& line, int index) {
  std::istringstream fields(line);
  std::string field;
  for (int i = 0; i <= index; ++i) std::getline(fields, field, ',');
  return field;
}

bool OtherVersion() { return sim::Version() != "3.37"; }

#define SKIP_IF_OTHER_VERSION()                               \
  if (OtherVersion())                                         \
  GTEST_SKIP() << "the figures are ns-3 3.37's, and this is " \
               << sim::Version() << ": run it on Debian 12 with libns3-dev"

TEST(Ns3TableTest, IsThePublishedOneAtEveryPoint) {
  SKIP_IF_OTHER_VERSION();
  const std::vector<std::string> lines = Lines("");
  ASSERT_EQ(lines.size(), 1 + PublishedTable().size());
  for (std::size_t i = 0; i < PublishedTable().size(); ++i)
    EXPECT_EQ(lines[i + 1], PublishedTable()[i]);
}

// The explanation: what TCP settles at with full segments and large buffers.
TEST(Ns3TableTest, RisesWithFullSegmentsAndLargeBuffers) {
  SKIP_IF_OTHER_VERSION();
  const std::vector<std::string> lines = Lines(
      "--packets 10000 --segment 1448 --buffers 4000000 --arp-queue 1000");
  ASSERT_EQ(lines.size(), 3);
  EXPECT_GT(std::stod(Field(lines[1], 2)), 600.0) << lines[1];
}

TEST(Ns3TableTest, RefusesAnOptionThatItDoesNotKnow) {
  ChildProcess table(std::string(WIRETOLL_AGENT_NS3) + " table --packets none");
  EXPECT_EQ(table.ReadLine(), std::nullopt);
  EXPECT_EQ(table.WaitForEnd(std::chrono::seconds{10}), 2);
}

}  // namespace
}  // namespace wiretoll
