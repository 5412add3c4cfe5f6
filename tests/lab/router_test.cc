#include "harness/lab/router.h"

#include <gmock/gmock.h>

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// 100 Mbit/s on one side, 10 on the other.
LabSpec Routed() {
  LabSpec spec;
  spec.agent = "/bin/true";
  spec.link.rate = BitsPerSecond{100e6};
  spec.link.router.emplace();
  spec.link.router->far_given = true;
  spec.link.router->far_rate = BitsPerSecond{10e6};
  return spec;
}

Layout RoutedLayout(const LabSpec& spec) {
  return MakeLayout(spec, "wiretoll-4711", "/usr/sbin/ip");
}

TEST(RouterTest, StandsBetweenTwoHostsAndNoMore) {
  LabSpec spec = Routed();
  EXPECT_TRUE(CheckLabSpec(spec).has_value());
  spec.kinds.emplace_back("linux");
  const Failure failure = CheckLabSpec(spec).error();
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message,
              AllOf(HasSubstr("--router needs a lab of two hosts"),
                    HasSubstr("this one has 3"), HasSubstr("--lab")));
  spec.kinds = {"container", "container"};
  EXPECT_THAT(CheckLabSpec(spec).error().message,
              HasSubstr("--router is not for containers"));
}

TEST(RouterTest, WhatItCannotBeIsUsageWithTheRemedy) {
  LabSpec spec = Routed();
  spec.link.router->mtu = 9000;
  EXPECT_THAT(CheckLabSpec(spec).error().message,
              AllOf(HasSubstr("--router-mtu 9000"), HasSubstr("--mtu")));
  spec = Routed();
  // A full frame is 1500 + 38.
  spec.link.router->queue = Bytes{1537};
  EXPECT_THAT(CheckLabSpec(spec).error().message, HasSubstr("1538 bytes"));
  spec.link.router->queue = Bytes{1538};
  EXPECT_TRUE(CheckLabSpec(spec).has_value());
  spec.link.rate.reset();
  spec.link.router->far_rate.reset();
  EXPECT_THAT(CheckLabSpec(spec).error().message,
              AllOf(HasSubstr("--router-queue"), HasSubstr("--router-link")));
  spec = Routed();
  spec.link.router->rate = BitsPerSecond{1};
  EXPECT_THAT(CheckLabSpec(spec).error().message, HasSubstr("--router-link"));
}

TEST(RouterTest, TheWayIsAsSlowAsItsSlowestLineAndAsNarrowAsTheRouter) {
  LabSpec spec = Routed();
  EXPECT_DOUBLE_EQ(PathOf(spec.link).rate->value, 10e6);
  EXPECT_EQ(PathOf(spec.link).mtu, 1500);
  spec.link.router->rate = BitsPerSecond{2e6};
  spec.link.router->mtu = 1400;
  EXPECT_DOUBLE_EQ(PathOf(spec.link).rate->value, 2e6);
  EXPECT_EQ(PathOf(spec.link).mtu, 1400);
  spec.link.router.reset();
  EXPECT_DOUBLE_EQ(PathOf(spec.link).rate->value, 100e6);
}

// 100 ms of 10 Mbit/s are 125,000 bytes, of 100 Mbit/s 1,250,000; of 1 Mbit/s
// 12,500, which is less than 30 x 1538 = 46,140.
TEST(RouterTest, AQueueHoldsWhatItsLineCarriesIn100Milliseconds) {
  LabSpec spec = Routed();
  EXPECT_EQ(RouterLineTo(spec.link, 0)->queue, Bytes{1'250'000});
  EXPECT_EQ(RouterLineTo(spec.link, 1)->queue, Bytes{125'000});
  spec.link.router->rate = BitsPerSecond{1e6};
  EXPECT_DOUBLE_EQ(RouterLineTo(spec.link, 0)->rate.value, 1e6);
  EXPECT_EQ(RouterLineTo(spec.link, 1)->queue, Bytes{46'140});
  spec.link.router->queue = Bytes{20'000};
  EXPECT_EQ(RouterLineTo(spec.link, 1)->queue, Bytes{20'000});
}

TEST(RouterTest, AnUnshapedLineHasNoQueueOfItsOwn) {
  LabSpec spec = Routed();
  spec.link.router->far_rate.reset();  // --far-link none
  EXPECT_FALSE(RouterLineTo(spec.link, 1).has_value());
  EXPECT_TRUE(RouterLineTo(spec.link, 0).has_value());
  EXPECT_FALSE(HostRate(spec.link, 1).has_value());
  spec.link.router->far_given = false;
  EXPECT_DOUBLE_EQ(HostRate(spec.link, 1)->value, 100e6);
}

TEST(RouterTest, EachHostIsOnANetworkOfItsOwn) {
  const LabSpec spec = Routed();
  const Layout layout = RoutedLayout(spec);
  EXPECT_EQ(layout.hosts[0].address, "10.77.0.1");
  EXPECT_EQ(layout.hosts[1].address, "10.77.1.2");
  EXPECT_THAT(Namespaces(layout),
              ElementsAre("wiretoll-4711-linux-1", "wiretoll-4711-linux-2",
                          "wiretoll-4711-router"));
  EXPECT_EQ(Ports(layout).size(), 4u);
  EXPECT_THAT(
      HostBatch(layout, 1, spec),
      AllOf(HasSubstr("10.77.0.0/24 via 10.77.1.254 dev lab0 src "
                      "10.77.1.2"),
            HasSubstr("neigh replace 10.77.1.254 lladdr " + RouterMac(1)),
            Not(HasSubstr(HostMac(0)))));
}

// What the delay line joins is no cable of ours; netem's switch is.
TEST(RouterTest, ADelayLineStandsBehindTheRouter) {
  Layout layout = RoutedLayout(Routed());
  layout.wiring = Wiring::kRelay;
  EXPECT_EQ(RelayPort(layout).netns, "wiretoll-4711-router");
  EXPECT_EQ(RelayPort(layout).interface, "far");
  EXPECT_THAT(LinksBatch(layout),
              AllOf(HasSubstr("name near "), Not(HasSubstr("linux-2"))));
  layout.wiring = Wiring::kBridge;
  EXPECT_THAT(LinksBatch(layout),
              AllOf(HasSubstr("link add far netns wiretoll-4711-router"),
                    HasSubstr("name to-router netns wiretoll-4711-switch"),
                    HasSubstr("name to-linux-2 netns wiretoll-4711-switch"),
                    Not(HasSubstr("to-linux-1"))));
  EXPECT_THAT(SwitchBatch(layout),
              AllOf(HasSubstr("to-router"), HasSubstr("to-linux-2")));
}

TEST(RouterTest, ANarrowRouterLocksItsRoutesAndASilentOneSaysNothing) {
  LabSpec spec = Routed();
  const Layout layout = RoutedLayout(spec);
  EXPECT_THAT(RouterBatch(layout, spec.link),
              AllOf(Not(HasSubstr("mtu lock")), Not(HasSubstr("rule"))));
  spec.link.router->mtu = 1400;
  spec.link.router->icmp = false;
  EXPECT_THAT(
      RouterBatch(layout, spec.link),
      AllOf(HasSubstr("route replace 10.77.0.0/24 dev near proto kernel scope "
                      "link src 10.77.0.254 mtu lock 1400"),
            HasSubstr("10.77.1.0/24 dev far"),
            HasSubstr("rule add iif lo ipproto 1 blackhole")));
}

TEST(RouterTest, TheCaptionNamesRouterRatesAndDelay) {
  LabSpec spec = Routed();
  EXPECT_EQ(
      DescribeLink(RoutedLayout(spec), spec.link),
      "emulated link: 100 Mbit/s Ethernet, a router, 10.0 Mbit/s Ethernet "
      "between two namespaces (veth, tbf)");
  spec.link.router->rate = BitsPerSecond{5e6};
  spec.link.router->mtu = 1400;
  spec.link.router->icmp = false;
  spec.link.delay = std::chrono::milliseconds(35);
  Layout layout = RoutedLayout(spec);
  layout.wiring = Wiring::kRelay;
  EXPECT_EQ(
      DescribeLink(layout, spec.link),
      "emulated link: 100 Mbit/s Ethernet, a router that passes 5.00 "
      "Mbit/s, packets of at most 1400 bytes, and sends no ICMP, 10.0 "
      "Mbit/s Ethernet, 35ms each way between two namespaces (veth, TAP, tbf, "
      "own relay)");
}

TEST(RouterTest, TheRecordHasWhatItIsAndOnlyWhereItIs) {
  LabSpec spec = Routed();
  const Settings settings = RouterSettings(spec.link);
  EXPECT_THAT(settings.at("router"), HasSubstr("10.77.1.0/24"));
  EXPECT_EQ(settings.at("router queue, far"), "125000 bytes at 10.0 Mbit/s");
  EXPECT_EQ(settings.at("line rate, near"), "100 Mbit/s");
  spec.link.router.reset();
  EXPECT_THAT(RouterSettings(spec.link), IsEmpty());
}

// Its own rate and burst are the shaper's; what may wait is the queue.
TEST(RouterTest, ItsShaperHoldsTheQueueThatIsSaid) {
  const std::vector<std::string> words =
      RouterShaperWords({BitsPerSecond{10e6}, Bytes{20'000}}, 1500);
  EXPECT_THAT(words, Contains("10000000bit"));
  EXPECT_EQ(words.back(), "20000");
  EXPECT_EQ(words[words.size() - 2], "limit");
}

TEST(RouterTest, LoopbackHasNone) {
  const LoopbackLab lab = MakeLoopbackLab(Routed());
  EXPECT_EQ(lab.link.settings.count("router"), 0u);
  EXPECT_THAT(lab.link.settings.at("router asked"), HasSubstr("not set"));
}

}  // namespace
}  // namespace wiretoll
