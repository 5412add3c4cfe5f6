// Guests, as far as arithmetic and strings go; booting them is tests/e2e/'s.
#include "harness/lab/guest.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

LabSpec Kinds(std::vector<std::string> kinds) {
  LabSpec spec;
  spec.kinds = std::move(kinds);
  spec.agent = "/bin/true";
  return spec;
}

Layout GuestLayout(const LabSpec& spec) {
  return MakeLayout(spec, "wiretoll-4711", "/usr/sbin/ip");
}

TEST(GuestNameTest, IsTheKernelAndHoldsNothingThatAPairOrAFileWouldSplitAt) {
  EXPECT_EQ(NameOfKind("guest:6.1"), "guest-6.1");
  EXPECT_EQ(NameOfKind("guest:/boot/vmlinuz-6.5:a b"), "guest-vmlinuz-6.5_a_b");
  EXPECT_EQ(NameOfKind("linux"), "linux");
  EXPECT_EQ(GuestKernelOf("guest:6.1"), "6.1");
  EXPECT_EQ(GuestKernelOf("guest:"), "");
  EXPECT_EQ(GuestKernelOf("guest"), "");
}

TEST(GuestCountTest, IsAtMostTwoInALab) {
  EXPECT_TRUE(
      CheckLabSpec(Kinds({"guest:6.1", "linux", "guest:6.12"})).has_value());
  const auto three =
      CheckLabSpec(Kinds({"guest:6.1", "guest:6.1", "guest:6.12"}));
  EXPECT_EQ(three.error().code, ExitCode::kUsage);
  EXPECT_THAT(three.error().message,
              HasSubstr("3 guests: a lab has at most 2"));
}

TEST(GuestCountTest, TwoOfOneKernelAreNumbered) {
  const Layout layout = GuestLayout(Kinds({"guest:6.1", "guest:6.1"}));
  EXPECT_EQ(layout.hosts[0].name, "guest-6.1-1");
  EXPECT_EQ(layout.hosts[1].name, "guest-6.1-2");
  EXPECT_EQ(layout.hosts[1].netns, "wiretoll-4711-guest-6.1-2");
}

// Newest by number, not by letter; no debug symbols, no unsigned ones, and 6.1
// is not the start of 6.12.
TEST(CloudKernelsTest, AreThoseOfTheSeriesNewestFirst) {
  EXPECT_THAT(CloudKernels("linux-image-6.1.0-9-cloud-amd64\n"
                           "linux-image-6.1.0-57-cloud-amd64\n"
                           "linux-image-6.1.0-57-cloud-amd64-unsigned\n"
                           "linux-image-6.1.0-58-cloud-amd64-dbg\n"
                           "linux-image-6.12.101+deb12-cloud-amd64\n"
                           "linux-image-6.1.0-57-amd64\n",
                           "6.1"),
              ElementsAre("linux-image-6.1.0-57-cloud-amd64",
                          "linux-image-6.1.0-9-cloud-amd64"));
  EXPECT_THAT(CloudKernels("linux-image-6.12.9+deb12-cloud-amd64\n"
                           "linux-image-6.12.101+deb12-cloud-amd64\n",
                           "6.12"),
              ElementsAre("linux-image-6.12.101+deb12-cloud-amd64",
                          "linux-image-6.12.9+deb12-cloud-amd64"));
  EXPECT_THAT(CloudKernels("", "6.1"), IsEmpty());
}

// The first of three: 10.77.0.1, and the two others are its neighbours.
TEST(GuestScriptTest, GivesTheGuestWhatALinuxHostWouldHave) {
  LabSpec spec = Kinds({"guest:6.1", "linux", "lwip"});
  spec.lwip_agent = "/bin/true";
  spec.link.mtu = 1400;
  const std::string script = GuestScript(
      GuestLayout(spec), 0,
      {{"tcp_sack", "/proc/sys/net/ipv4/tcp_sack", "0"},
       {"tcp_autocorking", "/proc/sys/net/ipv4/tcp_autocorking", ""}});
  EXPECT_THAT(script, HasSubstr("ip addr add 10.77.0.1/24 dev lab0\n"));
  EXPECT_THAT(script, HasSubstr("lab0 mtu 1400"));
  EXPECT_THAT(script, HasSubstr("arp -i lab0 -s 10.77.0.2 " + HostMac(1)));
  EXPECT_THAT(script, HasSubstr("arp -i lab0 -s 10.77.0.3 " + HostMac(2)));
  EXPECT_THAT(script, Not(HasSubstr("-s 10.77.0.1 ")));
  EXPECT_THAT(script, HasSubstr("echo '0' >/proc/sys/net/ipv4/tcp_sack"));
  EXPECT_THAT(script, Not(HasSubstr("tcp_autocorking"))) << "only to be read";
}

TEST(GuestScriptTest, AValueStaysOneWordForTheShell) {
  const std::string script =
      GuestScript(GuestLayout(Kinds({"guest:6.1", "linux"})), 0,
                  {{"x", "/proc/sys/net/x", "1'; reboot -f; '"}});
  EXPECT_THAT(script, HasSubstr(R"(echo '1'\''; reboot -f; '\''' >)"));
}

TEST(GuestScriptTest, BehindARouterTheOtherNetworkIsReachedThroughIt) {
  LabSpec spec = Kinds({"guest:6.1", "linux"});
  spec.link.router.emplace();
  const std::string script = GuestScript(GuestLayout(spec), 0, {});
  EXPECT_THAT(script, HasSubstr("ip route add 10.77.1.0/24 via 10.77.0."));
}

TEST(GuestKernelTest, WhatIsNeitherASeriesNorAnImageIsAUsageError) {
  for (const char* which : {"6", "six.one", "6.1.2", "/no/such/image", "."}) {
    const auto found = FindGuestKernel(which, nullptr);
    ASSERT_FALSE(found.has_value()) << which;
    EXPECT_EQ(found.error().code, ExitCode::kUsage) << which;
    EXPECT_THAT(found.error().message, HasSubstr(which));
  }
}

}  // namespace
}  // namespace wiretoll
