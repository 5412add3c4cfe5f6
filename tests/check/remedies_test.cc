// What people are told to do, for each system.
#include "harness/check/remedies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wiretoll {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTimedOut[] =
    "sender a: connect 10.0.0.2:7001: Connection timed out (is a firewall in "
    "the way? data ports are 7001-7099)";

CheckSpec Spec(std::uint16_t first = 7001, std::uint16_t last = 7099) {
  CheckSpec spec;
  spec.file = "hosts.toml";
  spec.first_port = first;
  spec.last_port = last;
  return spec;
}

RemedyEnd End(const std::string& name, const std::string& address,
              const std::string& os = "linux") {
  return {name, address, os};
}

Host Ssh(std::vector<std::string> command) {
  return {"b", "10.0.0.2", std::move(command)};
}

std::vector<std::string> CommandsOf(const std::vector<Remedy>& remedies) {
  std::vector<std::string> commands;
  for (const Remedy& remedy : remedies)
    commands.insert(commands.end(), remedy.commands.begin(),
                    remedy.commands.end());
  return commands;
}

TEST(RemediesTest, LinuxFirewallsAreOpenedAtTheReceiverForTheRange) {
  const auto remedies = ReachRemedies(End("a", "10.0.0.1", "windows"),
                                      End("b", "10.0.0.2"), Spec(), kTimedOut);
  ASSERT_EQ(remedies.size(), 2U);
  EXPECT_THAT(remedies[0].words, HasSubstr("ports 7001-7099 at b"));
  EXPECT_THAT(
      remedies[0].commands,
      ElementsAre("sudo ufw allow 7001:7099/tcp",
                  "sudo firewall-cmd --add-port=7001-7099/tcp",
                  "sudo nft insert rule inet filter input tcp dport 7001-7099 "
                  "accept",
                  "sudo iptables -I INPUT -p tcp --dport 7001:7099 -j ACCEPT"));
  // The way there is looked at on the sender, which is Windows.
  EXPECT_THAT(remedies[1].commands,
              ElementsAre("Find-NetRoute -RemoteIPAddress 10.0.0.2"));
}

TEST(RemediesTest, WindowsFirewallIsOpenedByOneLine) {
  const auto remedies = ReachRemedies(
      End("a", "10.0.0.1"), End("b", "10.0.0.2", "windows"), Spec(), kTimedOut);
  EXPECT_THAT(remedies.front().commands,
              ElementsAre("New-NetFirewallRule -DisplayName wiretoll -Protocol "
                          "TCP -LocalPort 7001-7099"));
  EXPECT_THAT(remedies.front().words, HasSubstr("administrator"));
}

TEST(RemediesTest, WinesFirewallIsLinuxs) {
  const auto remedies = ReachRemedies(
      End("a", "10.0.0.1"), End("b", "10.0.0.2", "wine"), Spec(), kTimedOut);
  EXPECT_THAT(remedies.front().commands,
              Contains("sudo ufw allow 7001:7099/tcp"));
}

TEST(RemediesTest, OnePortIsNoRangeAndIpv6HasItsOwnTable) {
  const auto commands = CommandsOf(ReachRemedies(
      End("a", "fd00::1"), End("b", "fd00::2"), Spec(7001, 7001), kTimedOut));
  EXPECT_THAT(commands, Contains("sudo ufw allow 7001/tcp"));
  EXPECT_THAT(commands,
              Contains("sudo ip6tables -I INPUT -p tcp --dport 7001 -j "
                       "ACCEPT"));
}

TEST(RemediesTest, WhatNoFirewallSaysIsPutDownToTheRoute) {
  const auto remedies =
      ReachRemedies(End("a", "10.0.0.1"), End("b", "10.0.0.2"), Spec(),
                    "sender a: connect 10.0.0.2:7001: Invalid argument");
  EXPECT_THAT(CommandsOf(remedies), ElementsAre("ip route get 10.0.0.2"));
}

TEST(RemediesTest, LoopbackOfOneHostIsNoAddressForTheOther) {
  for (const bool receiver : {true, false}) {
    const RemedyEnd alone = End("lone", "127.0.0.1");
    const RemedyEnd other = End("other", "10.0.0.2");
    const auto remedies = ReachRemedies(receiver ? other : alone,
                                        receiver ? alone : other, Spec(), "");
    EXPECT_THAT(remedies.front().words,
                HasSubstr("127.0.0.1 is loopback, which lone alone can reach"));
  }
}

TEST(RemediesTest, SshsWordsLeadToItsRemedy) {
  const Host host =
      Ssh({"/usr/bin/ssh", "-p", "22", "me@10.0.0.2", "wiretoll-agent"});
  const auto of = [&](const std::string& message) {
    return CommandsOf(AgentRemedies(host, message));
  };
  EXPECT_THAT(of("it said: me@10.0.0.2: Permission denied (publickey)."),
              ElementsAre("ssh-copy-id me@10.0.0.2"));
  EXPECT_THAT(of("it said: Host key verification failed."),
              ElementsAre("ssh me@10.0.0.2"));
  EXPECT_THAT(of("it said: bash: wiretoll-agent: command not found"),
              ElementsAre("scp wiretoll-agent me@10.0.0.2:"));
  EXPECT_THAT(of("the agent gave no answer within 20 s"),
              ElementsAre("ssh-copy-id me@10.0.0.2"));
  EXPECT_THAT(of("something else"), IsEmpty());
}

TEST(RemediesTest, OtherCommandsGetNoAdviceAboutSsh) {
  EXPECT_THAT(AgentRemedies(Ssh({"podman", "exec", "x"}), "not found"),
              IsEmpty());
}

// 1500 - 20 (IPv4) - 8 (ICMP) = 1472; 1500 - 40 (IPv6) - 8 = 1452.
TEST(RemediesTest, PingOfAFullPacketIsTheSendersOwn) {
  EXPECT_THAT(
      CommandsOf(SegmentRemedies(End("a", "10.0.0.1"), End("b", "10.0.0.2"))),
      ElementsAre("ping -M do -s 1472 10.0.0.2"));
  EXPECT_THAT(CommandsOf(SegmentRemedies(End("a", "fd00::1", "windows"),
                                         End("b", "fd00::2"))),
              ElementsAre("ping -f -l 1452 fd00::2"));
}

TEST(RemediesTest, AnInterfacesNameBecomesNoCommand) {
  CheckReport report;
  report.first_port = 7001;
  report.last_port = 7099;
  HostCheck host;
  host.host.name = "a";
  host.interface = "eth0";
  EXPECT_THAT(CaptureOn(host, report).commands,
              ElementsAre("sudo tcpdump -i 'eth0' -w wiretoll.pcap tcp "
                          "portrange 7001-7099"));
  host.interface = "eth0'; reboot";
  EXPECT_THAT(CaptureOn(host, report).commands, IsEmpty());
}

}  // namespace
}  // namespace wiretoll
