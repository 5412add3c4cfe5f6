#include "harness/lab/layout.h"

#include <gmock/gmock.h>

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LabSpec Hosts(std::size_t count) {
  LabSpec spec;
  spec.kinds.assign(count, "linux");
  spec.agent = "/bin/true";
  return spec;
}

Layout LayoutOf(const LabSpec& spec) {
  return MakeLayout(spec, "wiretoll-4711", "/usr/sbin/ip");
}

TEST(CheckLabSpecTest, UnknownKindIsUsageAndNamesWhatThereIs) {
  LabSpec spec;
  spec.kinds = {"linux", "beos"};
  const Failure failure = CheckLabSpec(spec).error();
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_EQ(failure.message,
            "lab kind 'beos' is not in this version; there are: linux, wine, "
            "lwip, gvisor, guest:VERSION as guest:6.1, guest:IMAGE, ns3, "
            "ns3-p2p, container");
}

TEST(CheckLabSpecTest, HostsAreTwoToSixteen) {
  EXPECT_FALSE(CheckLabSpec(Hosts(0)).has_value());
  EXPECT_FALSE(CheckLabSpec(Hosts(1)).has_value());
  EXPECT_TRUE(CheckLabSpec(Hosts(2)).has_value());
  EXPECT_TRUE(CheckLabSpec(Hosts(16)).has_value());
  EXPECT_FALSE(CheckLabSpec(Hosts(17)).has_value());
}

TEST(CheckLabSpecTest, DelayAndLossNeedExactlyTwoHosts) {
  LabSpec three = Hosts(3);
  three.link.delay = std::chrono::milliseconds(5);
  EXPECT_EQ(CheckLabSpec(three).error().code, ExitCode::kUsage);
  three.link.delay = Nanoseconds{0};
  three.link.loss = 0.01;
  EXPECT_THAT(CheckLabSpec(three).error().message, HasSubstr("two hosts"));
}

TEST(CheckLabSpecTest, ContainersStandAloneAndTheirLineHasARateOnly) {
  LabSpec spec = Hosts(1);
  spec.kinds.emplace_back("container");
  EXPECT_THAT(CheckLabSpec(spec).error().message,
              AllOf(HasSubstr("no line between"), HasSubstr("--lab")));
  spec.kinds = {"container", "container", "container"};
  EXPECT_TRUE(CheckLabSpec(spec).has_value());
  spec.link.rate = BitsPerSecond{10e6};
  EXPECT_TRUE(CheckLabSpec(spec).has_value());
  spec.link.delay = std::chrono::milliseconds(1);
  EXPECT_THAT(CheckLabSpec(spec).error().message,
              AllOf(HasSubstr("--delay"), HasSubstr("--lab linux,linux")));
}

TEST(CheckLabSpecTest, AbsurdLinksAreUsageErrors) {
  LabSpec spec = Hosts(2);
  spec.link.loss = 1.5;
  EXPECT_FALSE(CheckLabSpec(spec).has_value());
  spec.link = {};
  spec.link.delay = Nanoseconds{-1};
  EXPECT_FALSE(CheckLabSpec(spec).has_value());
  spec.link = {};
  spec.link.mtu = 67;
  EXPECT_FALSE(CheckLabSpec(spec).has_value());
  spec.link = {};
  spec.link.rate = BitsPerSecond{0};
  EXPECT_FALSE(CheckLabSpec(spec).has_value());
}

TEST(CheckLabSpecTest, SysctlNamesStayBelowNet) {
  LabSpec spec = Hosts(2);
  spec.sysctls = {{"net.ipv4.tcp_autocorking", "0"}};
  EXPECT_TRUE(CheckLabSpec(spec).has_value());
  for (const char* name :
       {"kernel.panic", "net/../kernel/panic", "net...kernel", "net.a b"}) {
    spec.sysctls = {{name, "0"}};
    EXPECT_FALSE(CheckLabSpec(spec).has_value()) << name;
  }
  spec.sysctls = {{"net.ipv4.tcp_autocorking", "0\n/etc/passwd x"}};
  EXPECT_FALSE(CheckLabSpec(spec).has_value());
}

TEST(LayoutTest, TwoHostsShareOneVethPairAndNoSwitch) {
  const Layout layout = LayoutOf(Hosts(2));
  EXPECT_THAT(Namespaces(layout),
              ElementsAre("wiretoll-4711-linux-1", "wiretoll-4711-linux-2"));
  EXPECT_EQ(layout.hosts[1].name, "linux-2");
  EXPECT_EQ(layout.hosts[1].address, "10.77.0.2");
  EXPECT_THAT(layout.hosts[1].agent,
              ElementsAre("/usr/sbin/ip", "netns", "exec",
                          "wiretoll-4711-linux-2", "/bin/true"));
}

TEST(LayoutTest, AKindThatComesOnceHasNoNumber) {
  LabSpec spec;
  spec.kinds = {"wine", "linux", "wine"};
  spec.agent = "/bin/true";
  ASSERT_TRUE(CheckLabSpec(spec).has_value());
  const Layout layout = LayoutOf(spec);
  EXPECT_EQ(layout.hosts[0].name, "wine-1");
  EXPECT_EQ(layout.hosts[1].name, "linux");
  EXPECT_EQ(layout.hosts[2].name, "wine-2");
  EXPECT_EQ(layout.hosts[1].netns, "wiretoll-4711-linux");
}

TEST(LayoutTest, TheLinuxAgentIsNeverThatOfAWineHost) {
  LabSpec spec = Hosts(1);
  spec.kinds.emplace_back("wine");
  const Layout layout = LayoutOf(spec);
  EXPECT_EQ(layout.hosts[0].agent.back(), "/bin/true");
  EXPECT_THAT(layout.hosts[1].agent, ElementsAre("/usr/sbin/ip", "netns",
                                                 "exec", "wiretoll-4711-wine"));
}

// The second of three hosts: 10.77.0.2, and the MAC that goes with it.
TEST(LayoutTest, AnLwipHostsAgentHasItsAddressAndMacAndATap) {
  LabSpec spec;
  spec.kinds = {"linux", "lwip", "linux"};
  spec.agent = "/bin/true";
  spec.lwip_agent = "/bin/lwip";
  spec.link.mtu = 1400;
  ASSERT_TRUE(CheckLabSpec(spec).has_value());
  const Layout layout = LayoutOf(spec);
  EXPECT_THAT(layout.hosts[1].agent,
              ElementsAre("/usr/sbin/ip", "netns", "exec", "wiretoll-4711-lwip",
                          "/bin/lwip", "--tap", "stack0", "--address",
                          "10.77.0.2", "--mac", HostMac(1), "--mtu", "1400"));
}

// Behind a router another network, and the router is its way there.
TEST(LayoutTest, AnLwipHostBehindARouterHasAGateway) {
  LabSpec spec;
  spec.kinds = {"lwip", "linux"};
  spec.agent = "/bin/true";
  spec.lwip_agent = "/bin/lwip";
  spec.link.router.emplace();
  const Layout layout = LayoutOf(spec);
  const auto& words = layout.hosts[0].agent;
  ASSERT_GE(words.size(), 2U);
  EXPECT_EQ(words[words.size() - 2], "--gateway");
  EXPECT_TRUE(words.back().starts_with("10.77.0.")) << words.back();
  EXPECT_NE(words.back(), layout.hosts[0].address);
}

// What the stack answers to, the kernel must not.
TEST(LayoutTest, AStackIsHandedTheAddressThatTheKernelGivesUp) {
  LabSpec spec;
  spec.kinds = {"linux", "lwip"};
  spec.agent = "/bin/true";
  spec.lwip_agent = "/bin/lwip";
  const std::string batch = HandOverBatch(LayoutOf(spec));
  EXPECT_THAT(batch, HasSubstr("addr flush dev lab0\n"));
  EXPECT_THAT(batch, HasSubstr("link set lab0 master bridge0\n"));
  EXPECT_THAT(batch, HasSubstr("stack0 mtu 1500"));
  for (std::size_t host = 0; host < kMostHosts; ++host) {
    EXPECT_EQ(batch.find(HostMac(host)), std::string::npos) << HostMac(host);
  }
}

TEST(LayoutTest, CongestionControlOfARouteIsOneWord) {
  LabSpec spec = Hosts(2);
  spec.route_congestion = "cubic";
  ASSERT_TRUE(CheckLabSpec(spec).has_value());
  EXPECT_THAT(HostBatch(LayoutOf(spec), 0, spec),
              HasSubstr("dev lab0 proto kernel scope link src 10.77.0.1 "
                        "congctl cubic\n"));
  for (const char* name : {"", "cubic via 10.0.0.1", "a\nroute flush"}) {
    spec.route_congestion = name;
    EXPECT_FALSE(CheckLabSpec(spec).has_value()) << name;
  }
}

TEST(LayoutTest, ThreeHostsMeetAtASwitchOfOurs) {
  const Layout layout = LayoutOf(Hosts(3));
  EXPECT_THAT(Namespaces(layout),
              ElementsAre("wiretoll-4711-linux-1", "wiretoll-4711-linux-2",
                          "wiretoll-4711-linux-3", "wiretoll-4711-switch"));
  EXPECT_EQ(Ports(layout).size(), 6u);
}

TEST(LayoutTest, EveryHostKnowsEveryOthersAddressBeforehand) {
  const LabSpec spec = Hosts(3);
  EXPECT_THAT(HostBatch(LayoutOf(spec), 1, spec),
              AllOf(HasSubstr("neigh replace 10.77.0.1 "),
                    HasSubstr("neigh replace 10.77.0.3 "),
                    Not(HasSubstr("neigh replace 10.77.0.2 "))));
}

// Full frame 1500 + 14 + 24 = 1538; three are 4614, rounded up to 5000. At
// 10 Mbit/s 640 us are 800 bytes (less), at 100 Mbit/s 8000, at 1 Gbit/s 80000.
TEST(ShaperTest, BurstCoversThreeFramesAndTheTimersLateness) {
  EXPECT_EQ(MakeShaper({10e6}, 1500, {}).burst_bytes, 5000);
  EXPECT_EQ(MakeShaper({100e6}, 1500, {}).burst_bytes, 8000);
  EXPECT_EQ(MakeShaper({1e9}, 1500, {}).burst_bytes, 80000);
}

// 9000 + 38 = 9038, three are 27114.
TEST(ShaperTest, BurstAndTableGrowWithTheMtu) {
  EXPECT_EQ(MakeShaper({10e6}, 9000, {}).burst_bytes, 28000);
  EXPECT_EQ(MakeShaper({10e6}, 1500, {}).table_bytes, 2048);
  EXPECT_EQ(MakeShaper({10e6}, 9000, {}).table_bytes, 16384);
  // 2009 + 38 = 2047 still has a cell of its own, 2048 has not.
  EXPECT_EQ(MakeShaper({10e6}, 2009, {}).table_bytes, 2048);
  EXPECT_EQ(MakeShaper({10e6}, 2010, {}).table_bytes, 4096);
}

// 100 ms of 1 Gbit/s are 12.5 MB; with 50 ms each way two round trips are
// 200 ms more: 37.5 MB.
TEST(ShaperTest, QueueHoldsTwoMegabytesOrWhatTheLineCarries) {
  EXPECT_EQ(MakeShaper({10e6}, 1500, {}).limit_bytes, 2'000'000);
  EXPECT_EQ(MakeShaper({1e9}, 1500, {}).limit_bytes, 12'500'000);
  EXPECT_EQ(MakeShaper({1e9}, 1500, std::chrono::milliseconds(50)).limit_bytes,
            37'500'000);
}

TEST(DescribeLinkTest, NamesTheLinkAsWhatItIs) {
  LabSpec spec = Hosts(2);
  EXPECT_EQ(DescribeLink(LayoutOf(spec), spec.link),
            "emulated link: veth between two namespaces, not shaped");
  spec.link.rate = BitsPerSecond{100e6};
  EXPECT_EQ(DescribeLink(LayoutOf(spec), spec.link),
            "emulated link: 100 Mbit/s Ethernet between two namespaces "
            "(veth, tbf)");
  spec.link.delay = std::chrono::milliseconds(5);
  Layout relayed = LayoutOf(spec);
  relayed.wiring = Wiring::kRelay;
  EXPECT_EQ(DescribeLink(relayed, spec.link),
            "emulated link: 100 Mbit/s Ethernet, 5ms each way between two "
            "namespaces (TAP, tbf, own relay)");
}

TEST(LoopbackLabTest, SaysThatItIsNotANetwork) {
  LabSpec spec = Hosts(2);
  spec.link.rate = BitsPerSecond{10e6};
  const LoopbackLab lab = MakeLoopbackLab(spec);
  EXPECT_EQ(lab.link.kind, "loopback");
  EXPECT_THAT(lab.link.description, HasSubstr("not a network"));
  EXPECT_FALSE(lab.link.rate_bits_per_second.has_value());
  EXPECT_THAT(lab.link.settings.at("rate"), HasSubstr("not set"));
  EXPECT_EQ(lab.hosts[0].address, "127.0.0.1");
  EXPECT_EQ(lab.hosts[1].name, "loopback-2");
}

}  // namespace
}  // namespace wiretoll
