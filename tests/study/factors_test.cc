#include "harness/study/factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Spelled(const std::string& name, const FactorValue& raw) {
  const auto value = ParseFactor(*FindFactorSpec(name), raw);
  return value.has_value() ? SpellFactor(value.value()) : value.error();
}

Workload Set(const std::string& name, const FactorValue& raw) {
  Workload workload;
  const FactorSpec& spec = *FindFactorSpec(name);
  spec.set(workload, ParseFactor(spec, raw).value());
  return workload;
}

TEST(FactorsTest, EachSaysWhatItIs) {
  for (const FactorSpec& spec : FactorTable()) {
    EXPECT_GT(spec.meaning.size(), 10U) << spec.name;
    EXPECT_FALSE(spec.meaning.ends_with('.')) << spec.name;
  }
}

TEST(FactorsTest, StandInTheirCanonicalOrder) {
  EXPECT_EQ(
      FactorNames(),
      "transport, pattern, write, block, read, request, reply, nagle, "
      "rcvbuf, sndbuf, gap, warmup, rate, congestion, quickack, cork, mss, "
      "dont_fragment, batch, pin, streams, topology, messages");
}

TEST(FactorsTest, EveryDefaultIsAValueOfItsFactorAndSetsWhatIsUnset) {
  for (const FactorSpec& spec : FactorTable()) {
    const auto value = ParseFactor(spec, std::string(spec.fallback));
    ASSERT_TRUE(value.has_value()) << spec.name << ": " << value.error();
    Workload workload;
    spec.set(workload, value.value());
    EXPECT_EQ(workload.write, Workload{}.write) << spec.name;
    EXPECT_EQ(workload.read, Workload{}.read) << spec.name;
    EXPECT_EQ(workload.nagle, Workload{}.nagle) << spec.name;
    EXPECT_EQ(workload.gap, Workload{}.gap) << spec.name;
    EXPECT_EQ(workload.batch, 1) << spec.name;
    EXPECT_FALSE(workload.block || workload.dont_fragment) << spec.name;
    EXPECT_FALSE(workload.rcvbuf || workload.sndbuf || workload.rate ||
                 workload.congestion || workload.mss || workload.sender_cpu ||
                 workload.receiver_cpu || workload.stop_messages)
        << spec.name;
  }
}

// The canonical spelling of a value is a value with the same spelling.
TEST(FactorsTest, CanonicalSpellingsReadBackAsThemselves) {
  for (const FactorSpec& spec : FactorTable()) {
    const FactorValue value = FallbackOf(spec);
    const auto again = ParseFactor(spec, value);
    ASSERT_TRUE(again.has_value()) << spec.name;
    EXPECT_EQ(again.value(), value) << spec.name;
  }
}

TEST(FactorsTest, SizesAreIntegersOfBytesHoweverTheyWereWritten) {
  const FactorSpec& write = *FindFactorSpec("write");
  const FactorValue expected{std::int64_t{65536}};
  EXPECT_EQ(ParseFactor(write, std::int64_t{65536}).value(), expected);
  EXPECT_EQ(ParseFactor(write, std::string("64KiB")).value(), expected);
  EXPECT_EQ(ParseFactor(write, std::string("65536")).value(), expected);
}

TEST(FactorsTest, TextsTakeTheirShortestSpelling) {
  EXPECT_EQ(Spelled("gap", "1000us"), "1ms");
  EXPECT_EQ(Spelled("gap", std::int64_t{0}), "0us");
  EXPECT_EQ(Spelled("rate", "10000kbit"), "10mbit");
  EXPECT_EQ(Spelled("rate", "2.5gbit"), "2500mbit");
  EXPECT_EQ(Spelled("request", "9+4+4+4"), "9+4+4+4");
  EXPECT_EQ(Spelled("request", "1KiB+1"), "1024+1");
  EXPECT_EQ(Spelled("reply", std::int64_t{1}), "1");
  EXPECT_EQ(Spelled("pin", std::int64_t{0}), "0");
}

struct Bound {
  std::string factor;
  FactorValue lowest, highest, below, above;
};

TEST(FactorsTest, BoundsAreIncludedAndWhatIsBeyondIsRefused) {
  const std::int64_t mib = std::int64_t{1024} * 1024;
  const std::vector<Bound> bounds{
      {"write", 1, 16 * mib, 0, 16 * mib + 1},
      {"read", 1, 16 * mib, 0, 16 * mib + 1},
      {"block", 1, "1GiB", 0, 1024 * mib + 1},
      {"batch", 1, 1024, 0, 1025},
      {"request", "1+1", "16MiB", "1+0", "1+16777217"},
      {"reply", 1, "16MiB", 0, "16777217"},
      {"rcvbuf", 1, 64 * mib, 0, 64 * mib + 1},
      {"sndbuf", 1, 64 * mib, -1, 64 * mib + 1},
      {"gap", "0us", "60s", "-1us", "60001ms"},
      {"rate", "1kbit", "400gbit", "999bit", "401gbit"},
      {"mss", 88, 65535, 87, 65536},
      {"pin", "0,0", "4095", "-1", "0,4096"},
      {"streams", 1, 64, 0, 65},
      {"messages", 1, 1'000'000'000, 0, 1'000'000'001}};
  for (const Bound& bound : bounds) {
    const FactorSpec& spec = *FindFactorSpec(bound.factor);
    EXPECT_TRUE(ParseFactor(spec, bound.lowest).has_value()) << bound.factor;
    EXPECT_TRUE(ParseFactor(spec, bound.highest).has_value()) << bound.factor;
    EXPECT_FALSE(ParseFactor(spec, bound.below).has_value()) << bound.factor;
    EXPECT_FALSE(ParseFactor(spec, bound.above).has_value()) << bound.factor;
  }
}

TEST(FactorsTest, RefusalsSayWhatIsWrongAndWhatIsRight) {
  EXPECT_EQ(Spelled("write", std::int64_t{0}),
            "0 is too small; from 1 byte to 16 MiB");
  EXPECT_EQ(Spelled("write", "17MiB"),
            "'17MiB' is too large; from 1 byte to 16 MiB");
  EXPECT_EQ(Spelled("read", "a lot"),
            "'a lot' is no size; from 1 byte to 16 MiB");
  EXPECT_EQ(Spelled("rcvbuf", "none"),
            "'none' is no size; \"unset\", or from 1 byte to 64 MiB");
  EXPECT_EQ(Spelled("mss", std::int64_t{87}),
            "87 is too small; \"unset\", or from 88 bytes to 65535 bytes");
  EXPECT_EQ(Spelled("block", "2GiB"),
            "'2GiB' is too large; \"unset\", or from 1 byte to 1 GiB");
  EXPECT_EQ(Spelled("dont_fragment", "yes"),
            "'yes' is none of its values; \"unset\", \"on\" or \"off\", in "
            "quotes");
  EXPECT_EQ(Spelled("nagle", "true"),
            "'true' is none of its values; \"on\" or \"off\", in quotes");
  EXPECT_EQ(Spelled("gap", std::int64_t{20}),
            "20 is no duration; from 0us to 60s, with its unit, such as "
            "\"20us\"");
  EXPECT_EQ(Spelled("quickack", std::int64_t{1}),
            "1 is none of its values; \"unset\", \"off\", \"on\" or \"each\", "
            "in quotes");
}

TEST(FactorsTest, ListsOfWritesHoldOneTo64WholeParts) {
  std::string longest = "1";
  for (int i = 1; i < 64; ++i) longest += "+1";
  EXPECT_EQ(Spelled("request", longest), longest);
  EXPECT_THAT(Spelled("request", longest + "+1"), HasSubstr("up to 64 writes"));
  EXPECT_THAT(Spelled("request", "1++1"), HasSubstr("no list of writes"));
  EXPECT_THAT(Spelled("request", "1+"), HasSubstr("no list of writes"));
  EXPECT_THAT(Spelled("request", ""), HasSubstr("no list of writes"));
}

TEST(FactorsTest, CongestionTakesOnlyWhatCanBeAName) {
  EXPECT_EQ(Spelled("congestion", "bbr"), "bbr");
  EXPECT_EQ(Spelled("congestion", "dctcp_x-2"), "dctcp_x-2");
  EXPECT_THAT(Spelled("congestion", ""), HasSubstr("no name"));
  EXPECT_THAT(Spelled("congestion", "Cubic"), HasSubstr("no name"));
  EXPECT_THAT(Spelled("congestion", "$(reboot)"), HasSubstr("no name"));
  EXPECT_THAT(Spelled("congestion", "sixteen-letters-"), HasSubstr("no name"));
}

TEST(FactorsTest, EachFactorSetsItsPartOfTheWorkload) {
  EXPECT_EQ(Set("transport", "udp").transport, Transport::kUdp);
  EXPECT_EQ(Set("pattern", "request-response").pattern,
            Pattern::kRequestResponse);
  EXPECT_EQ(Set("write", 7).write, Bytes{7});
  EXPECT_EQ(Set("read", 7).read, Bytes{7});
  EXPECT_THAT(Set("request", "9+4").request, ElementsAre(Bytes{9}, Bytes{4}));
  EXPECT_THAT(Set("reply", "3").reply, ElementsAre(Bytes{3}));
  EXPECT_FALSE(Set("nagle", "off").nagle);
  EXPECT_EQ(Set("rcvbuf", 2).rcvbuf, Bytes{2});
  EXPECT_EQ(Set("sndbuf", 3).sndbuf, Bytes{3});
  EXPECT_EQ(Set("gap", "20us").gap, Nanoseconds{20'000});
  EXPECT_EQ(Set("warmup", "2s").warmup, Nanoseconds{2'000'000'000});
  EXPECT_EQ(Set("rate", "10mbit").rate, BitsPerSecond{10e6});
  EXPECT_EQ(Set("congestion", "bbr").congestion, "bbr");
  EXPECT_EQ(Set("quickack", "off").quickack, Quickack::kOff);
  EXPECT_EQ(Set("quickack", "on").quickack, Quickack::kOn);
  EXPECT_EQ(Set("quickack", "each").quickack, Quickack::kEach);
  EXPECT_TRUE(Set("cork", "on").cork);
  EXPECT_EQ(Set("mss", 536).mss, Bytes{536});
  EXPECT_EQ(Set("block", "64KiB").block, Bytes{65'536});
  EXPECT_EQ(Set("block", "unset").block, std::nullopt);
  EXPECT_EQ(Set("dont_fragment", "on").dont_fragment, true);
  EXPECT_EQ(Set("dont_fragment", "off").dont_fragment, false);
  EXPECT_EQ(Set("dont_fragment", "unset").dont_fragment, std::nullopt);
  EXPECT_EQ(Set("batch", 64).batch, 64);
  EXPECT_EQ(Set("streams", 4).streams, 4);
}

TEST(FactorsTest, ATopologyIsOfTheCaseAndAPairWhereItIsNotNamed) {
  EXPECT_EQ(TopologyOf({}), Topology::kPair);
  EXPECT_EQ(TopologyOf({{"topology", "pair"}}), Topology::kPair);
  EXPECT_EQ(TopologyOf({{"topology", "all-to-all"}}), Topology::kAllToAll);
  EXPECT_EQ(TopologyOf({{"topology", "one-to-many"}}), Topology::kOneToMany);
  EXPECT_EQ(TopologyOf({{"topology", "ring"}}), Topology::kRing);
}

TEST(FactorsTest, OneCpuPinsBothEndsAndTwoPinOneEach) {
  EXPECT_EQ(Set("pin", "1").sender_cpu, 1);
  EXPECT_EQ(Set("pin", "1").receiver_cpu, 1);
  EXPECT_EQ(Set("pin", "0,1").sender_cpu, 0);
  EXPECT_EQ(Set("pin", "0,1").receiver_cpu, 1);
}

TEST(FactorsTest, OnlyNumbersHaveAMagnitude) {
  EXPECT_EQ(Magnitude(*FindFactorSpec("rcvbuf"), 2), 2);
  EXPECT_EQ(Magnitude(*FindFactorSpec("gap"), "20us"), 20'000);
  EXPECT_EQ(Magnitude(*FindFactorSpec("rate"), "10mbit"), 10e6);
  EXPECT_EQ(Magnitude(*FindFactorSpec("rcvbuf"), "unset"), std::nullopt);
  EXPECT_EQ(Magnitude(*FindFactorSpec("nagle"), "on"), std::nullopt);
  EXPECT_EQ(Magnitude(*FindFactorSpec("request"), "1+1"), std::nullopt);
}

}  // namespace
}  // namespace wiretoll
