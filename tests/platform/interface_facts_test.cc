// Facts of an interface, against one that was set up to have them.
#include <gtest/gtest.h>

#include "platform/host_facts.h"
#include "tests/platform/private_network.h"

namespace wiretoll {
namespace {

constexpr const char* kAddress = "10.99.0.1";

class InterfaceFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = EnterPrivateNetwork();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_TRUE(Shell("ip link add wt0 type veth peer name wt1"));
    ASSERT_TRUE(Shell("ip addr add 10.99.0.1/24 dev wt0"));
    ASSERT_TRUE(Shell("ip link set wt0 mtu 1400 gso_max_segs 3 up"));
  }
  void TearDown() override {
    if (EnterPrivateNetwork().empty()) Shell("ip link del wt0");
  }

  static Fact Find(const std::string& name) {
    for (Fact& fact : ReadHostFacts(kAddress)) {
      if (fact.name == name) return std::move(fact);
    }
    return {name, std::monostate{}, "no such fact"};
  }
};

TEST_F(InterfaceFactsTest, InterfaceIsTheOneThatCarriesTheAddress) {
  EXPECT_EQ(Find("interface").value, Fact::Value{std::string{"wt0"}});
  EXPECT_EQ(Find("driver").value, Fact::Value{std::string{"veth"}});
  EXPECT_EQ(Find("mtu_bytes").value, Fact::Value{std::int64_t{1400}});
  EXPECT_EQ(Find("gso_max_segments").value, Fact::Value{std::int64_t{3}});
}

TEST_F(InterfaceFactsTest, VethHasNoSpeedButAReason) {
  const Fact speed = Find("speed_mbit");
  EXPECT_EQ(speed.value, Fact::Value{});
  EXPECT_EQ(speed.reason, "veth has no line, hence no speed of its own");
}

TEST_F(InterfaceFactsTest, QdiscIsTheRootsKind) {
  EXPECT_EQ(Find("qdisc").value, Fact::Value{std::string{"noqueue"}});
  ASSERT_TRUE(Shell(
      "tc qdisc add dev wt0 root tbf rate 10mbit burst 5000 limit 50000"));
  EXPECT_EQ(Find("qdisc").value, Fact::Value{std::string{"tbf"}});
}

TEST_F(InterfaceFactsTest, OffloadsFollowTheirSwitches) {
  for (const bool on : {false, true}) {
    const std::string word = on ? "on" : "off";
    std::string command = "ethtool -K wt0";
    for (const char* name : {"tx", "tso", "gso", "gro"})
      command.append(" ").append(name).append(" ").append(word);
    ASSERT_TRUE(Shell(command + " >/dev/null"));
    for (const char* name : {"tx_checksum_offload", "tso", "gso", "gro"}) {
      EXPECT_EQ(Find(name).value, Fact::Value{on}) << name;
    }
  }
}

// This process's /sys still shows the network that it came from.
TEST_F(InterfaceFactsTest, RpsOfAnotherNetworkIsNotTakenForOurs) {
  const Fact rps = Find("rps_cpus");
  EXPECT_EQ(rps.value, Fact::Value{});
  EXPECT_NE(rps.reason.find("another network namespace"), std::string::npos)
      << rps.reason;
}

}  // namespace
}  // namespace wiretoll
