// Names of Windows and of Wine, the registry and WMI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "platform/host_facts.h"
#include "platform/win32/facts.h"
#include "platform/win32/version.h"
#include "platform/win32/wmi.h"

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const wchar_t* kCurrentVersion =
    L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";

WindowsVersion Client(std::uint32_t build, std::uint32_t revision,
                      const std::string& feature_update) {
  WindowsVersion version;
  version.major = 10;
  version.build = build;
  version.revision = revision;
  version.feature_update = feature_update;
  // What the registry of Windows 11 says too.
  version.product = "Windows 10 Pro";
  return version;
}

TEST(WindowsNameTest, ElevenBeginsWithBuild22000) {
  EXPECT_EQ(NameOf(Client(22'631, 3'447, "23H2")),
            "Windows 11 23H2 (22631.3447)");
  EXPECT_EQ(NameOf(Client(22'000, 194, "21H2")), "Windows 11 21H2 (22000.194)");
  EXPECT_EQ(NameOf(Client(19'045, 4'170, "22H2")),
            "Windows 10 22H2 (19045.4170)");
}

TEST(WindowsNameTest, WhatIsNotToldIsLeftOut) {
  WindowsVersion version = Client(18'362, 1, "");
  version.revision.reset();
  EXPECT_EQ(NameOf(version), "Windows 10 (18362)");
  EXPECT_EQ(KernelOf(version), "10.0.18362");
  version.revision = 30;
  EXPECT_EQ(KernelOf(version), "10.0.18362.30");
}

TEST(WindowsNameTest, ServersGoByTheirYear) {
  WindowsVersion version = Client(20'348, 2'340, "21H2");
  version.server = true;
  version.product = "Windows Server 2022 Datacenter";
  EXPECT_EQ(NameOf(version), "Windows Server 2022 21H2 (20348.2340)");
  version.product = "Windows Server Datacenter";
  EXPECT_EQ(NameOf(version), "Windows Server 21H2 (20348.2340)");
  version.product = "";
  EXPECT_EQ(NameOf(version), "Windows Server 21H2 (20348.2340)");
}

TEST(WindowsNameTest, OlderOnesHaveTheirNamesToo) {
  WindowsVersion version = Client(7'601, 24'545, "");
  version.major = 6;
  version.minor = 1;
  EXPECT_EQ(NameOf(version), "Windows 7 (7601.24545)");
  version.minor = 3;
  EXPECT_EQ(NameOf(version), "Windows 8.1 (7601.24545)");
}

TEST(WindowsNameTest, WineIsNamedWithTheKernelWhoseTcpItHas) {
  EXPECT_EQ(NameOf(WineVersion{"8.0", "", "Linux", "6.18.44-cloud-amd64"}),
            "Wine 8.0 on Linux 6.18");
  EXPECT_EQ(NameOf(WineVersion{"9.2", "", "Darwin", "23.1.0"}),
            "Wine 9.2 on Darwin 23.1");
  EXPECT_EQ(NameOf(WineVersion{"8.0", "", "", ""}), "Wine 8.0");
  EXPECT_EQ(NameOf(WineVersion{"8.0", "", "Linux", "7"}),
            "Wine 8.0 on Linux 7");
}

// Nothing measured under Wine may be taken for Windows.
TEST(IdentityTest, WineIsNeverCalledWindows) {
  const OsIdentity identity = IdentifyOs();
  if (ReadWineVersion()) {
    EXPECT_EQ(identity.os, "wine");
    EXPECT_THAT(identity.stack,
                AllOf(StartsWith("Wine "), Not(HasSubstr("Windows"))));
    EXPECT_THAT(identity.description, StartsWith("Wine "));
  } else {
    EXPECT_EQ(identity.os, "windows");
    EXPECT_THAT(identity.stack,
                AllOf(StartsWith("Windows "), Not(HasSubstr("Wine"))));
  }
}

TEST(RegistryTest, BuildOfTheRegistryIsTheKernels) {
  const Fact build =
      FromRegistry("build", {kCurrentVersion, L"CurrentBuildNumber"});
  EXPECT_EQ(build.value, Fact::Value{std::int64_t{ReadWindowsVersion().build}});
}

TEST(RegistryTest, ValueThatIsNotThereIsNamed) {
  const RegistryValue nowhere{kCurrentVersion, L"NoSuchValue"};
  EXPECT_EQ(ReadRegistry(nowhere).error(),
            boost::system::errc::no_such_file_or_directory);
  const Fact fact = FromRegistry("x", nowhere);
  EXPECT_EQ(fact.value, Fact::Value{});
  EXPECT_EQ(fact.reason,
            "registry HKLM\\SOFTWARE\\Microsoft\\Windows "
            "NT\\CurrentVersion\\NoSuchValue is not set");
}

// e with acute, the euro sign, and a letter beyond 16 bits.
TEST(Utf8Test, NonLatinTextIsUtf8) {
  EXPECT_EQ(Utf8(L"\u00e9\u20ac"), "\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(Utf8(L"\U0001F600"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(Utf8(L""), "");
}

TEST(WmiTest, PropertiesOfTheFirstRowAreRead) {
  const Outcome<WmiRow> row =
      AskWmi({L"ROOT\\CIMV2",
              L"SELECT * FROM Win32_OperatingSystem",
              {L"BuildNumber", L"OSType", L"Primary", L"NoSuchProperty"}});
  ASSERT_TRUE(row.has_value()) << row.error().message;
  WmiRow read = row.value();
  EXPECT_EQ(read[L"BuildNumber"],
            Fact::Value{std::to_string(ReadWindowsVersion().build)});
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(read[L"OSType"]));
  EXPECT_EQ(read[L"Primary"], Fact::Value{true});
  EXPECT_FALSE(row.value().contains(L"NoSuchProperty"));
}

TEST(WmiTest, WhatIsNotThereIsNamed) {
  const Outcome<WmiRow> nowhere =
      AskWmi({L"ROOT\\NoSuchSpace", L"SELECT * FROM X", {}});
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_THAT(nowhere.error().message, HasSubstr("ROOT\\NoSuchSpace"));
  const Outcome<WmiRow> nothing =
      AskWmi({L"ROOT\\CIMV2", L"SELECT * FROM NoSuchClass", {}});
  ASSERT_FALSE(nothing.has_value());
  EXPECT_THAT(nothing.error().message, HasSubstr("NoSuchClass"));
}

TEST(Win32HostFactsTest, WhatEverySystemKnowsIsThere) {
  std::map<std::string, std::string> reasons;
  for (const Fact& fact : ReadHostFacts("127.0.0.1")) {
    reasons[fact.name] = fact.reason;
  }
  for (const char* name :
       {"kernel", "machine", "cpus_online", "memory_bytes", "timer_tick_ns",
        "clock_frequency_hz", "interface"}) {
    ASSERT_TRUE(reasons.contains(name)) << name;
    EXPECT_EQ(reasons[name], "") << name;
  }
}

}  // namespace
}  // namespace wiretoll
