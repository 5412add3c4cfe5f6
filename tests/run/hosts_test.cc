#include "harness/run/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kGood[] = R"([hosts.win]
agent = ["ssh", "me@192.0.2.1", "wiretoll-agent.exe"]
address = "192.0.2.1"
[hosts."a host"]
agent = ["wiretoll-agent"]
address = "2001:db8::2"
[path]
rate = "1gbit"
mtu = 1500
description = "a cable"
)";

std::string Refusal(const std::string& text) {
  const auto parsed = ParseHosts(text, "h.toml");
  EXPECT_FALSE(parsed.has_value()) << text;
  EXPECT_EQ(parsed.error().code, ExitCode::kUsage);
  return parsed.error().message;
}

// The good file with one line replaced.
std::string With(const std::string& line, const std::string& by) {
  std::string text = kGood;
  const auto at = text.find(line);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, line.size(), by);
}

TEST(HostsTest, FileOrderNamesCommandsAndPathAreTaken) {
  const auto parsed = ParseHosts(kGood, "h.toml");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const auto& hosts = parsed.value().hosts;
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].name, "win");  // Before "a host", as in the file.
  EXPECT_EQ(hosts[0].agent[2], "wiretoll-agent.exe");
  EXPECT_EQ(hosts[1].name, "a host");
  EXPECT_EQ(hosts[1].address, "2001:db8::2");
  EXPECT_EQ(parsed.value().link.rate_bits_per_second, 1e9);
  EXPECT_EQ(parsed.value().link.mtu, 1500);
  EXPECT_EQ(parsed.value().link.description, "a cable");
}

TEST(HostsTest, WhatIsWrittenIsReadBack) {
  HostsFile file;
  file.hosts = {{"quote\" back`tick $(x)", "127.0.0.1", {"a b", "\"c\""}},
                {"второй", "::1", {"ssh", "x"}}};
  file.link.description = "тест \"q\"";
  file.link.rate_bits_per_second = 100e6;
  file.link.mtu = 9000;
  file.link.delay_ns = 2'500'000;
  file.link.loss = 0.015;
  file.link.settings["router"] = "an old box";
  const auto again = ParseHosts(WriteHosts(file), "w.toml");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again.value().hosts.size(), 2U);
  for (const Host& host : file.hosts) {
    bool found = false;
    for (const Host& read : again.value().hosts)
      found = found || (read.name == host.name && read.agent == host.agent &&
                        read.address == host.address);
    EXPECT_TRUE(found) << host.name;
  }
  EXPECT_EQ(again.value().link.rate_bits_per_second, 100e6);
  EXPECT_EQ(again.value().link.delay_ns, 2'500'000);
  EXPECT_DOUBLE_EQ(again.value().link.loss.value(), 0.015);
  EXPECT_EQ(again.value().link.settings.at("router"), "an old box");
  EXPECT_EQ(again.value().link.description, file.link.description);
}

TEST(HostsTest, MistakesNameFileLineAndKey) {
  EXPECT_THAT(Refusal("[hosts.a"), StartsWith("h.toml:1"));
  EXPECT_THAT(Refusal(With("address = \"192.0.2.1\"", "address = \"my-pc\"")),
              StartsWith("h.toml:3: hosts.win.address: not a numeric"));
  EXPECT_THAT(Refusal(With("agent = [\"wiretoll-agent\"]", "agent = \"x\"")),
              StartsWith("h.toml:5: hosts.a host.agent: a list"));
  EXPECT_THAT(Refusal(With("agent = [\"wiretoll-agent\"]", "agent = []")),
              StartsWith("h.toml:5: hosts.a host.agent: a list"));
  EXPECT_THAT(Refusal(With("agent = [\"wiretoll-agent\"]", "user = \"x\"")),
              StartsWith("h.toml:5: hosts.a host.user: unknown key"));
  EXPECT_THAT(Refusal(With("rate = \"1gbit\"", "rate = 10")),
              StartsWith("h.toml:8: path.rate: a rate such as"));
  EXPECT_THAT(Refusal(With("mtu = 1500", "mtu = 1")),
              StartsWith("h.toml:9: path.mtu:"));
  EXPECT_THAT(Refusal(With("mtu = 1500", "delay = 5")),
              StartsWith("h.toml:9: path.delay: each way"));
  EXPECT_THAT(Refusal(With("mtu = 1500", "router = true")),
              StartsWith("h.toml:9: path.router: what routes"));
  for (const char* loss : {"loss = 1", "loss = \"100%\"", "loss = \"x\""}) {
    EXPECT_THAT(Refusal(With("mtu = 1500", loss)),
                StartsWith("h.toml:9: path.loss: a share"));
  }
  EXPECT_THAT(Refusal(With("[path]", "[route]")),
              StartsWith("h.toml:7: route: unknown key"));
  EXPECT_THAT(Refusal(With("[hosts.win]", "[hosts.\"a:b\"]")),
              HasSubstr("no ':'"));
}

TEST(HostsTest, AMissingAddressOrAgentIsSaid) {
  EXPECT_THAT(Refusal(With("address = \"192.0.2.1\"", "")),
              HasSubstr("hosts.win.address: missing"));
  EXPECT_THAT(Refusal(With("agent = [\"wiretoll-agent\"]", "")),
              HasSubstr("hosts.a host.agent: missing"));
}

TEST(HostsTest, OneHostIsTooFew) {
  EXPECT_THAT(Refusal("[hosts.a]\nagent = [\"x\"]\naddress = \"127.0.0.1\"\n"),
              HasSubstr("at least two hosts"));
}

// RFC 5952, as the agents' systems spell a peer's.
TEST(HostsTest, AnAddressIsTakenInItsOneSpelling) {
  for (const char* spelling :
       {"2001:db8:0:0:0:0:0:2", "2001:DB8::2", "2001:0db8::0002"}) {
    const auto parsed = ParseHosts(With("2001:db8::2", spelling), "h.toml");
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(parsed.value().hosts[1].address, "2001:db8::2") << spelling;
  }
}

TEST(HostsTest, AnAddressThatNoHostHasIsRefused) {
  for (const auto& [address, why] :
       std::vector<std::pair<const char*, const char*>>{
           {"0.0.0.0", "no address of a host"},
           {"::", "no address of a host"},
           {"224.0.0.1", "of many hosts"},
           {"ff02::1", "of many hosts"},
           {"255.255.255.255", "of many hosts"},
           {"fe80::1", "link-local"},
           {"fe80::1%1", "link-local"}}) {
    EXPECT_THAT(Refusal(With("192.0.2.1\"\n[", std::string(address) + "\"\n[")),
                AllOf(StartsWith("h.toml:3: hosts.win.address: "),
                      HasSubstr(address), HasSubstr(why)));
  }
}

TEST(HostsTest, AnArgumentWithANulByteIsRefused) {
  EXPECT_THAT(Refusal(With("[\"wiretoll-agent\"]", R"(["a\u0000b"])")),
              HasSubstr("NUL"));
}

TEST(HostsTest, AFolderAndAFileWithoutAnEndAreNoHostsFiles) {
  EXPECT_THAT(LoadHosts("/").error().message, StartsWith("/: is a folder"));
  if (std::filesystem::exists("/dev/zero")) {
    EXPECT_THAT(LoadHosts("/dev/zero").error().message,
                HasSubstr("larger than 1 MiB"));
  }
}

TEST(HostsTest, AFileThatIsNotThereIsNamed) {
  const auto loaded = LoadHosts("/no/such/hosts.toml");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ExitCode::kUsage);
  EXPECT_THAT(loaded.error().message, HasSubstr("/no/such/hosts.toml"));
}

}  // namespace
}  // namespace wiretoll
