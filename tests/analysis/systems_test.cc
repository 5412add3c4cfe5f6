#include "harness/analysis/systems.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

TEST(SystemsTest, ASystemGoesByWhatItsHostCallsItself) {
  EXPECT_EQ(SystemText({"linux", "Linux 6.18.44", "Debian 12, Linux 6.18.44"}),
            "Debian 12, Linux 6.18.44");
  EXPECT_EQ(SystemText({"windows", "Windows 11 23H2 (22631.3447)",
                        "Windows 11 23H2 (22631.3447), Professional"}),
            "Windows 11 23H2 (22631.3447)");
  EXPECT_EQ(SystemText({"wine", "Wine 8.0 on Linux 6.18",
                        "Wine 8.0 on Linux 6.18, playing Windows 10.0.19043"}),
            "Wine 8.0 on Linux 6.18");
}

TEST(SystemsTest, NothingPassesForWhatItIsNot) {
  EXPECT_EQ(SystemText({"wine", "Windows 11", "Windows 11"}),
            "Wine (not Windows), Windows 11");
  EXPECT_EQ(SystemText({"linux", "x", "Windows 11"}), "Linux, Windows 11");
  EXPECT_EQ(SystemText({"windows", "10.0.22631", ""}), "Windows, 10.0.22631");
}

TEST(SystemsTest, SimulatorsSayThatTheyAre) {
  EXPECT_EQ(SystemText({"ns3", "ns-3.37", ""}), "ns-3.37 (simulated)");
  EXPECT_EQ(SystemText({"ns3", "", ""}), "ns-3 (simulated)");
  EXPECT_EQ(SystemText({"lwip", "lwIP 2.1.3", ""}), "lwIP 2.1.3");
  EXPECT_EQ(SystemText({"gvisor", "gVisor (as Linux 4.4)", ""}),
            "gVisor (as Linux 4.4)");
}

TEST(SystemsTest, ASystemWithoutWordsGoesByItsFamily) {
  EXPECT_EQ(SystemText({"wine", "", ""}), "Wine (not Windows)");
  EXPECT_EQ(SystemText({"linux", "", ""}), "Linux");
  EXPECT_EQ(SystemText({"plan9", "", ""}), "plan9");
  EXPECT_EQ(SystemText({"", "", ""}), "unknown system");
}

TEST(SystemsTest, AHostsDescriptionCountsOnlyForTheSystemThatRan) {
  RunRecord run;
  RecordedHost host;
  host.name = "a";
  host.os = "linux";
  host.stack = "Linux 6.18.44";
  host.description = "Debian 12, Linux 6.18.44";
  run.hosts = {host};
  EXPECT_EQ(SystemOfHost(run, "a", "linux", "Linux 6.18.44"),
            "Debian 12, Linux 6.18.44");
  // It came back with another kernel.
  EXPECT_EQ(SystemOfHost(run, "a", "linux", "Linux 6.1.0"), "Linux 6.1.0");
  EXPECT_EQ(SystemOfHost(run, "b", "linux", "Linux 6.18.44"), "Linux 6.18.44");
}

TEST(SystemsTest, ARunIsSyntheticIfItSaysSoOrItsLinkDoes) {
  RunRecord measured, marked, link;
  marked.synthetic = "made up";
  link.link.kind = "synthetic";
  EXPECT_FALSE(IsSynthetic({measured}));
  EXPECT_TRUE(IsSynthetic({measured, marked}));
  EXPECT_TRUE(IsSynthetic({link}));
}

}  // namespace
}  // namespace wiretoll
