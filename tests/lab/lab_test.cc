// Labs that really stand. Needs root; skips and says so elsewhere.
#include "harness/lab/lab.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "harness/lab/commands.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

const std::string kForeign = "wtdev-test-foreign";

std::string Output(std::vector<std::string> words) {
  const Outcome<std::string> done = RunCommand({std::move(words)});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return done.has_value() ? done.value() : std::string();
}

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Namespaces() {
  std::vector<std::string> names;
  for (const std::string& line : Lines(Output({"ip", "netns", "list"}))) {
    names.push_back(line.substr(0, line.find(' ')));
  }
  return names;
}

// Of a lab of the process `pid`.
std::vector<std::string> NamespacesOf(const std::string& pid) {
  std::vector<std::string> names = Namespaces();
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with("wiretoll-" + pid + "-") &&
           !name.starts_with("wiretoll-" + pid + ".");
  });
  return names;
}

std::string OwnPid() {
  return std::filesystem::read_symlink("/proc/self").string();
}

std::vector<std::string> LabsOf(const std::string& pid) {
  std::vector<std::string> ids;
  const auto labs = ListLabs();
  EXPECT_TRUE(labs.has_value()) << labs.error().message;
  for (const LabStatus& lab : labs.value()) {
    if (lab.id.starts_with(pid + "-")) ids.push_back(lab.id);
  }
  return ids;
}

LabSpec Spec(std::size_t hosts = 2) {
  LabSpec spec;
  spec.kinds.assign(hosts, "linux");
  spec.agent = LAB_HELPER;
  spec.self = LAB_HELPER;
  return spec;
}

// How many of `bytes` sent by `from` came to `to`; -1: no connection, or not
// all of it in time.
std::int64_t Transfer(const LabHost& from, const LabHost& to,
                      std::int64_t bytes,
                      milliseconds timeout = milliseconds(60000)) {
  const std::string file = ::testing::TempDir() + "wtdev-" + to.netns;
  std::filesystem::remove(file);
  const auto server = BackgroundProcess::Start(
      {"ip", "netns", "exec", to.netns, LAB_HELPER, "serve", to.address, file},
      "ready", milliseconds(5000));
  if (!server.has_value()) {
    ADD_FAILURE() << server.error().message;
    return -1;
  }
  const auto sent =
      TryCommand({{"ip", "netns", "exec", from.netns, LAB_HELPER, "send",
                   from.address, to.address, std::to_string(bytes)},
                  "",
                  timeout});
  if (!sent.has_value() || sent.value().exit_code != 0) return -1;
  std::int64_t received = -1;
  std::ifstream(file) >> received;
  std::filesystem::remove(file);
  return received;
}

// Somebody else's namespace; goes however the test ends.
class NamespaceOfAnother {
 public:
  explicit NamespaceOfAnother(std::string name) : name_(std::move(name)) {
    Output({"ip", "netns", "add", name_});
  }
  NamespaceOfAnother(const NamespaceOfAnother&) = delete;
  NamespaceOfAnother& operator=(const NamespaceOfAnother&) = delete;
  ~NamespaceOfAnother() { Output({"ip", "netns", "del", name_}); }

 private:
  std::string name_;
};

class LabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabAbility ability = ProbeLabAbility();
    if (ability.means != LabMeans::kRoot) {
      GTEST_SKIP() << "needs root (sudo ./dev test): " << ability.reason;
    }
  }
};

// What the helper said of a lab that it owned: its pid and namespaces.
struct Owned {
  std::string pid;
  std::vector<std::string> lines;
};

Owned RunOwner(const std::string& mode, int hosts, int delay_us) {
  const auto done = TryCommand(
      {{LAB_HELPER, mode, std::to_string(hosts), std::to_string(delay_us)},
       "",
       milliseconds(20000)});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  Owned owned{"", Lines(done.value().output)};
  const std::string prefix = "wiretoll-";
  if (owned.lines.empty() || !owned.lines[0].starts_with(prefix)) {
    ADD_FAILURE() << "no lab came up: " << done.value().errors;
    return owned;
  }
  owned.pid = std::to_string(std::stoll(owned.lines[0].substr(prefix.size())));
  return owned;
}

std::string InHost(const LabHost& host, std::vector<std::string> words) {
  words.insert(words.begin(), {"ip", "netns", "exec", host.netns});
  return Output(std::move(words));
}

// The first number after `label` in `text`.
std::int64_t NumberAfter(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no '" << label << "' in: " << text;
    return -1;
  }
  return std::stoll(text.substr(at + label.size()));
}

TEST_F(LabTest, HostsReachEachOtherBothWays) {
  const auto lab = Lab::Up(Spec());
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 100'000), 100'000);
  EXPECT_EQ(Transfer(hosts[1], hosts[0], 100'000), 100'000);
}

TEST_F(LabTest, GoingOutOfScopeLeavesNoNamespaceAndNoStateFile) {
  {
    const auto lab = Lab::Up(Spec());
    ASSERT_TRUE(lab.has_value()) << lab.error().message;
    EXPECT_EQ(NamespacesOf(OwnPid()).size(), 2u);
    EXPECT_EQ(LabsOf(OwnPid()).size(), 1u);
  }
  EXPECT_TRUE(NamespacesOf(OwnPid()).empty());
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

TEST_F(LabTest, ALabWhoseOwnerWasKilledIsRemovedAtTheNextStart) {
  const NamespaceOfAnother foreign(kForeign);
  const Owned dead = RunOwner("die", 2, 0);
  EXPECT_EQ(NamespacesOf(dead.pid).size(), 2u);
  EXPECT_EQ(LabsOf(dead.pid).size(), 1u);
  {
    const auto next = Lab::Up(Spec());
    ASSERT_TRUE(next.has_value()) << next.error().message;
    EXPECT_TRUE(NamespacesOf(dead.pid).empty());
    EXPECT_TRUE(LabsOf(dead.pid).empty());
  }
  EXPECT_THAT(Namespaces(), Contains(kForeign));
}

TEST_F(LabTest, AProcessLeftInADeadLabIsEnded) {
  const Owned dead = RunOwner("die", 2, 0);
  auto left =
      BackgroundProcess::Start({"ip", "netns", "exec", dead.lines.at(0), "sh",
                                "-c", "echo ready; exec sleep 60"},
                               "ready", milliseconds(5000));
  ASSERT_TRUE(left.has_value()) << left.error().message;
  const auto removed = RemoveDeadLabs();
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_GE(removed.value(), 1);
  EXPECT_TRUE(NamespacesOf(dead.pid).empty());
}

// 4194304 is the kernel's largest pid limit, so nobody has 4194305.
TEST_F(LabTest, AStateFileCannotHaveForeignNamespacesDeleted) {
  const NamespaceOfAnother foreign(kForeign);
  const NamespaceOfAnother similar("wiretoll-1-linux-1");
  const std::filesystem::path file = "/run/wiretoll/lab-4194305-1.json";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << R"({"v":1,"kept":false,"link":"","hosts":[],
    "namespaces":["wtdev-test-foreign","wiretoll-1-linux-1",
                  "wiretoll-4194305-x\nnetns del wtdev-test-foreign"]})";
  const auto removed = RemoveDeadLabs();
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_GE(removed.value(), 1);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(Namespaces(),
              AllOf(Contains(kForeign), Contains("wiretoll-1-linux-1")));
}

TEST_F(LabTest, ATornStateFileOfADeadOwnerIsCleared) {
  const std::filesystem::path file = "/run/wiretoll/lab-4194305-2.json";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << R"({"v":1,"namesp)";
  EXPECT_TRUE(RemoveDeadLabs().has_value());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(LabTest, ATakenNamespaceNameFailsAndIsLeftAlone) {
  const std::string taken = "wiretoll-" + OwnPid() + "-linux-2";
  const NamespaceOfAnother other(taken);
  const auto lab = Lab::Up(Spec());
  ASSERT_FALSE(lab.has_value());
  EXPECT_EQ(lab.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(lab.error().message, HasSubstr("ip netns del " + taken));
  EXPECT_THAT(NamespacesOf(OwnPid()), ::testing::ElementsAre(taken));
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

TEST_F(LabTest, FailureHalfWayLeavesNothing) {
  LabSpec spec = Spec();
  spec.link.delay = milliseconds(1);
  spec.self = "/nonexistent/wiretoll";  // Found out after the namespaces.
  const auto lab = Lab::Up(spec);
  ASSERT_FALSE(lab.has_value());
  EXPECT_THAT(lab.error().message, HasSubstr("/nonexistent/wiretoll"));
  EXPECT_TRUE(NamespacesOf(OwnPid()).empty());
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

TEST_F(LabTest, ARelayThatDoesNotStartFailsAndLeavesNothing) {
  LabSpec spec = Spec();
  spec.link.delay = milliseconds(1);
  spec.self = "/bin/false";
  const auto lab = Lab::Up(spec);
  ASSERT_FALSE(lab.has_value());
  EXPECT_THAT(lab.error().message, HasSubstr("did not say 'ready'"));
  EXPECT_TRUE(NamespacesOf(OwnPid()).empty());
}

TEST_F(LabTest, AMissingAgentFailsBeforeAnythingIsMade) {
  LabSpec spec = Spec();
  spec.agent = "/nonexistent/wiretoll-agent";
  const auto lab = Lab::Up(spec);
  ASSERT_FALSE(lab.has_value());
  EXPECT_THAT(lab.error().message, HasSubstr("/nonexistent/wiretoll-agent"));
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

void ExpectPredictable(const LabHost& host) {
  const std::string features = InHost(host, {"ethtool", "-k", "lab0"});
  EXPECT_THAT(features, HasSubstr("tcp-segmentation-offload: off"));
  EXPECT_THAT(features, HasSubstr("generic-segmentation-offload: off"));
  EXPECT_THAT(features, HasSubstr("generic-receive-offload: off"));
  EXPECT_THAT(features, HasSubstr("tx-checksumming: off"));
  EXPECT_THAT(Output({"ip", "-n", host.netns, "-d", "link", "show", "lab0"}),
              HasSubstr("gso_max_segs 1 "));
  EXPECT_EQ(InHost(host, {"cat", "/sys/class/net/lab0/queues/rx-0/rps_cpus"}),
            "1\n");
  EXPECT_EQ(InHost(host, {"cat", "/proc/sys/net/ipv4/tcp_no_metrics_save"}),
            "1\n");
}

TEST_F(LabTest, OffloadsSegmentsAndSteeringAreSetOnBothEnds) {
  const auto lab = Lab::Up(Spec());
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  for (const LabHost& host : lab.value().hosts()) ExpectPredictable(host);
  const auto& settings = lab.value().link().settings;
  for (const char* name : {"tso", "gso", "gro", "tx_checksum"}) {
    EXPECT_EQ(settings.at(name), "off") << name;
  }
  EXPECT_EQ(settings.at("rps_cpus"), "1");
  EXPECT_EQ(settings.at("initcwnd"), "not set (the kernel's own)");
  EXPECT_EQ(settings.count("tcp_autocorking"), 1u);
}

TEST_F(LabTest, TapsOfTheRelayAreSetLikeVeth) {
  LabSpec spec = Spec();
  spec.link.delay = milliseconds(1);
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  for (const LabHost& host : lab.value().hosts()) ExpectPredictable(host);
}

TEST_F(LabTest, SysctlsAndRouteAttributesAreSetAndRecorded) {
  LabSpec spec = Spec();
  spec.sysctls = {{"net.ipv4.tcp_autocorking", "0"},
                  {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                  {"net.ipv4.no_such_switch", "1"}};
  spec.initcwnd = 3000;
  spec.route_quickack = true;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  for (const LabHost& host : lab.value().hosts()) {
    EXPECT_EQ(InHost(host, {"cat", "/proc/sys/net/ipv4/tcp_autocorking"}),
              "0\n");
    EXPECT_THAT(Output({"ip", "-n", host.netns, "route", "show"}),
                AllOf(HasSubstr("initcwnd 3000"), HasSubstr("quickack 1")));
  }
  const auto& settings = lab.value().link().settings;
  EXPECT_EQ(settings.at("tcp_autocorking"), "0");
  EXPECT_EQ(settings.at("net.ipv4.tcp_rmem"), "4096 131072 6291456");
  EXPECT_THAT(settings.at("net.ipv4.no_such_switch"), HasSubstr("not there"));
  EXPECT_EQ(settings.at("initcwnd"), "3000");
}

std::int64_t Statistic(const LabHost& host, const std::string& name) {
  return std::stoll(
      InHost(host, {"cat", "/sys/class/net/lab0/statistics/" + name}));
}

std::string ShaperOf(const LabHost& host) {
  return Output({"tc", "-n", host.netns, "-s", "qdisc", "show", "dev", "lab0"});
}

// A frame as the interface counts it, header and all, is short of what it
// costs on the line by FCS 4, preamble 8 and gap 12: a full one is charged
// 1514 + 24 = 1538. With timestamps none is below the minimum: 66 + 24 > 84.
TEST_F(LabTest, TheShaperChargesEveryFrameWhatItCostsOnTheLine) {
  LabSpec spec = Spec();
  spec.check_line = false;  // Its frames would be counted too.
  spec.link.rate = BitsPerSecond{100e6};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  ASSERT_EQ(Transfer(hosts[0], hosts[1], std::int64_t{1448} * 700),
            std::int64_t{1448} * 700);
  const std::string shown = ShaperOf(hosts[0]);
  const std::int64_t frames = Statistic(hosts[0], "tx_packets");
  EXPECT_THAT(frames, AllOf(Ge(700), Le(1400)));
  EXPECT_EQ(NumberAfter(shown, "Sent "),
            Statistic(hosts[0], "tx_bytes") + 24 * frames)
      << shown;
  EXPECT_EQ(NumberAfter(shown, " bytes "), frames) << shown;
  EXPECT_EQ(NumberAfter(shown, "dropped "), 0) << shown;
}

// Without timestamps a segment of 0 to 6 bytes makes a frame of 54 to 60, and
// the line carries no frame under 64 with its FCS: 64 + 8 + 12 = 84 for each.
// The SYN has 12 bytes of options (MSS 4, SACK 2, window scale 3, padding):
// 14 + 20 + 32 + 24 = 90.
TEST_F(LabTest, TheShaperChargesShortFramesTheMinimum) {
  LabSpec spec = Spec();
  spec.check_line = false;  // Its frames would be counted too.
  spec.link.rate = BitsPerSecond{100e6};
  spec.sysctls = {{"net.ipv4.tcp_timestamps", "0"}};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  ASSERT_EQ(Transfer(hosts[0], hosts[1], 1), 1);
  const std::string shown = ShaperOf(hosts[0]);
  const std::int64_t frames = NumberAfter(shown, " bytes ");
  EXPECT_GE(frames, 4) << shown;
  EXPECT_EQ(NumberAfter(shown, "Sent "), 90 + 84 * (frames - 1)) << shown;
}

TEST_F(LabTest, TheShaperIsTheOneThatIsRight) {
  LabSpec spec = Spec();
  spec.link.rate = BitsPerSecond{10e6};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  for (const LabHost& host : lab.value().hosts()) {
    EXPECT_THAT(
        Output({"tc", "-n", host.netns, "-d", "qdisc", "show", "dev", "lab0"}),
        AllOf(HasSubstr("tbf"), HasSubstr("rate 10Mbit burst 5000b"),
              HasSubstr("overhead 24 mpu 84 mtu 2048 tsize 2048")));
  }
  EXPECT_EQ(lab.value().link().rate_bits_per_second, 10e6);
  EXPECT_THAT(lab.value().link().settings.at("qdisc"),
              HasSubstr("tbf rate 10000000bit burst 5000 limit 2000000"));
}

TEST_F(LabTest, AnMtuOf9000HoldsOnBothEndsAndFramesOfItPass) {
  LabSpec spec = Spec();
  spec.check_line = false;  // Its frames would be counted too.
  spec.link.mtu = 9000;
  spec.link.rate = BitsPerSecond{100e6};
  spec.link.delay = std::chrono::microseconds(100);
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_THAT(Output({"ip", "-n", hosts[1].netns, "link", "show", "lab0"}),
              HasSubstr("mtu 9000"));
  ASSERT_EQ(Transfer(hosts[0], hosts[1], std::int64_t{8948} * 100),
            std::int64_t{8948} * 100);
  EXPECT_LT(Statistic(hosts[0], "tx_packets"), 2 * 100);
  EXPECT_EQ(
      NumberAfter(ShaperOf(hosts[0]), "Sent "),
      Statistic(hosts[0], "tx_bytes") + 24 * Statistic(hosts[0], "tx_packets"));
}

TEST_F(LabTest, ThreeHostsReachEachOtherOverTheSwitch) {
  const auto lab = Lab::Up(Spec(3));
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_EQ(NamespacesOf(OwnPid()).size(), 4u);
  for (const LabHost& from : lab.value().hosts()) {
    for (const LabHost& to : lab.value().hosts()) {
      if (from.name == to.name) continue;
      EXPECT_EQ(Transfer(from, to, 50'000), 50'000)
          << from.name << " to " << to.name;
    }
  }
}

TEST_F(LabTest, SixteenHostsComeUp) {
  const auto lab = Lab::Up(Spec(16));
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(Transfer(hosts[0], hosts[15], 1000), 1000);
}

TEST_F(LabTest, TwoLabsAtOnceDoNotDisturbEachOther) {
  const auto first = Lab::Up(Spec());
  ASSERT_TRUE(first.has_value()) << first.error().message;
  {
    const auto second = Lab::Up(Spec());
    ASSERT_TRUE(second.has_value()) << second.error().message;
    EXPECT_NE(first.value().hosts()[0].netns, second.value().hosts()[0].netns);
    EXPECT_EQ(Transfer(second.value().hosts()[0], second.value().hosts()[1], 9),
              9);
  }
  EXPECT_EQ(NamespacesOf(OwnPid()).size(), 2u);
  EXPECT_EQ(Transfer(first.value().hosts()[0], first.value().hosts()[1], 9), 9);
}

TEST_F(LabTest, AnotherProcessesLiveLabIsNeitherDeadNorToBeTakenDown) {
  const auto lab = Lab::Up(Spec());
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_TRUE(RemoveDeadLabs().has_value());
  const std::string id = LabsOf(OwnPid()).at(0);
  const auto taken = TakeDown(id);
  ASSERT_FALSE(taken.has_value());
  EXPECT_THAT(taken.error().message, HasSubstr("pid " + OwnPid()));
  EXPECT_EQ(NamespacesOf(OwnPid()).size(), 2u);
}

void ExpectKeptLabStandsUntilTakenDown(int delay_us) {
  const Owned owner = RunOwner("keep", 2, delay_us);
  const auto labs = ListLabs();
  ASSERT_TRUE(labs.has_value());
  const auto lab = std::find_if(labs.value().begin(), labs.value().end(),
                                [&](const LabStatus& one) {
                                  return one.id.starts_with(owner.pid + "-");
                                });
  ASSERT_NE(lab, labs.value().end());
  EXPECT_EQ(lab->owner, "kept");
  EXPECT_EQ(lab->hosts.at(0).name, "linux-1");
  EXPECT_EQ(lab->hosts.at(1).name, "linux-2");
  EXPECT_TRUE(RemoveDeadLabs().has_value());
  EXPECT_EQ(Transfer(lab->hosts[0], lab->hosts[1], 50'000), 50'000);
  EXPECT_EQ(TakeDown(lab->id).value(), std::vector<std::string>{lab->id});
  EXPECT_TRUE(NamespacesOf(owner.pid).empty());
  EXPECT_TRUE(LabsOf(owner.pid).empty());
  EXPECT_EQ(TakeDown(lab->id).error().code, ExitCode::kUsage);
}

TEST_F(LabTest, AKeptLabStandsUntilItIsTakenDown) {
  ExpectKeptLabStandsUntilTakenDown(0);
}

TEST_F(LabTest, AKeptLabKeepsItsDelayLine) {
  ExpectKeptLabStandsUntilTakenDown(1000);
}

TEST_F(LabTest, FiveMillisecondsEachWayMakeARoundTripOfTen) {
  LabSpec spec = Spec();
  spec.link.delay = milliseconds(5);
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& settings = lab.value().link().settings;
  EXPECT_EQ(settings.at("rtt asked"), "10ms");
  const auto measured = ParseDuration(settings.at("rtt measured"));
  ASSERT_TRUE(measured.has_value()) << settings.at("rtt measured");
  EXPECT_GE(*measured, milliseconds(10));
  EXPECT_LE(*measured, milliseconds(14));
  EXPECT_EQ(lab.value().link().delay_ns, 5'000'000);
}

TEST_F(LabTest, AllLostMeansNothingPasses) {
  LabSpec spec = Spec();
  spec.link.loss = 1;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_EQ(Transfer(lab.value().hosts()[0], lab.value().hosts()[1], 1), -1);
  EXPECT_EQ(lab.value().link().settings.at("rtt measured"),
            "not measured: no answer came back");
}

struct FrameCounts {
  std::int64_t sent;
  std::int64_t received;
};

// Of the hosts' own interfaces, from the first to the second host.
FrameCounts Counted(const std::vector<LabHost>& hosts) {
  return {Statistic(hosts[0], "tx_packets"), Statistic(hosts[1], "rx_packets")};
}

TEST_F(LabTest, NothingLostMeansEveryFramePasses) {
  LabSpec spec = Spec();
  spec.link.delay = milliseconds(1);
  spec.link.rate = BitsPerSecond{100e6};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 2'000'000), 2'000'000);
  const FrameCounts frames = Counted(hosts);
  EXPECT_GE(frames.sent, 2'000'000 / 1448);
  EXPECT_EQ(frames.received, frames.sent);
}

// At least 300 kB / 1448 = 207 frames, each lost with 10 %: about 21, and
// none at all once in 3e9 runs; half of them practically never.
TEST_F(LabTest, ATenthLostMeansThatSomeFramesDoNotPass) {
  LabSpec spec = Spec();
  spec.link.loss = 0.1;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 300'000), 300'000);
  const FrameCounts frames = Counted(hosts);
  EXPECT_LT(frames.received, frames.sent);
  EXPECT_GT(frames.received, frames.sent / 2);
}

// What the check itself judges is judged in link_check_test.cc; here, that it
// sees a line of ours for what it is. 8000 frames of 0.4 s each way.
TEST_F(LabTest, ALineThatDelaysLosesAndDuplicatesIsCheckedAndLeavesNothing) {
  {
    LabSpec spec = Spec();
    spec.own_relay = true;
    spec.link.delay = milliseconds(2);
    spec.link.loss = 0.05;
    spec.link.duplicate = 0.01;
    const auto lab = Lab::Up(spec);
    ASSERT_TRUE(lab.has_value()) << lab.error().message;
    const auto& settings = lab.value().link().settings;
    EXPECT_EQ(settings.at("delay line"), "own relay");
    EXPECT_EQ(settings.at("duplicate"), "1 %");
    EXPECT_EQ(settings.at("rtt asked"), "4ms");
    EXPECT_EQ(settings.at("lost asked"), "5 %");
    EXPECT_EQ(settings.at("duplicated asked"), "1 %");
    for (const char* measured :
         {"rtt measured", "lost measured", "duplicated measured"}) {
      EXPECT_THAT(settings.at(measured), Not(HasSubstr("not measured")));
    }
    EXPECT_THAT(lab.value().check().summary, HasSubstr("line checked: "));
    EXPECT_EQ(settings.at("check").starts_with("as asked"),
              lab.value().check().warnings.empty());
    EXPECT_THAT(lab.value().link().description,
                HasSubstr("2ms each way, 5 % loss, 1 % duplicated"));
  }
  EXPECT_TRUE(NamespacesOf(OwnPid()).empty());
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

TEST_F(LabTest, ALineThatReordersStillCarriesEverything) {
  LabSpec spec = Spec();
  spec.own_relay = true;
  spec.link.delay = milliseconds(2);
  spec.link.jitter = milliseconds(1);
  spec.link.reorder = 0.05;
  spec.link.duplicate = 0.05;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_EQ(Transfer(lab.value().hosts()[0], lab.value().hosts()[1], 300'000),
            300'000);
  EXPECT_THAT(lab.value().link().settings.at("reordered measured"),
              Not(HasSubstr("not measured")));
}

TEST_F(LabTest, ARatedLineIsMeasuredEachWay) {
  LabSpec spec = Spec();
  spec.link.rate = BitsPerSecond{10e6};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const std::string& rates = lab.value().link().settings.at("rate measured");
  EXPECT_THAT(
      rates,
      AllOf(HasSubstr("linux-1 > linux-2: "), HasSubstr("linux-2 > linux-1: "),
            HasSubstr(" Mbit/s"), Not(HasSubstr("not measured"))));
}

// Of the processes inside the first host, which are the relay alone.
TEST_F(LabTest, AKilledRelayIsTroubleThatNamesTheDelayLine) {
  LabSpec spec = Spec();
  spec.own_relay = true;
  spec.link.delay = milliseconds(1);
  auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_EQ(lab.value().Trouble(), "");
  const std::string inside =
      Output({"ip", "netns", "pids", lab.value().hosts()[0].netns});
  ASSERT_EQ(Lines(inside).size(), 1u) << inside;
  Output({"sh", "-c", "kill -9 \"$1\"", "kill", Lines(inside)[0]});
  std::string trouble;
  for (int look = 0; look < 100 && trouble.empty(); ++look) {
    std::this_thread::sleep_for(milliseconds(20));
    trouble = lab.value().Trouble();
  }
  EXPECT_THAT(trouble, HasSubstr("the delay line"));
}

TEST_F(LabTest, TheRelayOfAKilledOwnerEndsByItself) {
  const Owned dead = RunOwner("die", 2, 1000);
  std::string inside = "?";
  for (int look = 0; look < 100 && !inside.empty(); ++look) {
    std::this_thread::sleep_for(milliseconds(20));
    inside = Output({"ip", "netns", "pids", dead.lines.at(0)});
  }
  EXPECT_EQ(inside, "");
  EXPECT_GE(RemoveDeadLabs().value(), 1);
  EXPECT_TRUE(NamespacesOf(dead.pid).empty());
}

LabSpec RoutedSpec() {
  LabSpec spec = Spec();
  spec.link.rate = BitsPerSecond{100e6};
  spec.link.router.emplace();
  return spec;
}

TEST_F(LabTest, ARouterJoinsTwoNetworksAndLeavesNothing) {
  {
    const auto lab = Lab::Up(RoutedSpec());
    ASSERT_TRUE(lab.has_value()) << lab.error().message;
    const auto& hosts = lab.value().hosts();
    EXPECT_EQ(hosts[0].address, "10.77.0.1");
    EXPECT_EQ(hosts[1].address, "10.77.1.2");
    EXPECT_EQ(NamespacesOf(OwnPid()).size(), 3u);
    EXPECT_EQ(Transfer(hosts[0], hosts[1], 300'000), 300'000);
    EXPECT_EQ(Transfer(hosts[1], hosts[0], 300'000), 300'000);
    const auto& settings = lab.value().link().settings;
    EXPECT_EQ(settings.count("router"), 1u);
    EXPECT_EQ(settings.at("router ip_forward"), "1");
    EXPECT_EQ(settings.at("router queue, far"), "1250000 bytes at 100 Mbit/s");
  }
  EXPECT_TRUE(NamespacesOf(OwnPid()).empty());
  EXPECT_TRUE(LabsOf(OwnPid()).empty());
}

TEST_F(LabTest, ALabWithARouterWhoseOwnerWasKilledIsRemovedToo) {
  const Owned dead = RunOwner("die-routed", 2, 1000);
  EXPECT_EQ(NamespacesOf(dead.pid).size(), 3u);
  EXPECT_GE(RemoveDeadLabs().value(), 1);
  EXPECT_TRUE(NamespacesOf(dead.pid).empty());
  EXPECT_TRUE(LabsOf(dead.pid).empty());
}

TEST_F(LabTest, ASlowRouterIsTheWaysRateAndTheCheckMeasuresThroughIt) {
  LabSpec spec = RoutedSpec();
  spec.link.router->rate = BitsPerSecond{10e6};
  spec.own_relay = true;
  spec.link.delay = milliseconds(5);
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  EXPECT_EQ(lab.value().link().rate_bits_per_second, 10e6);
  const auto& settings = lab.value().link().settings;
  EXPECT_EQ(settings.at("rate asked"), "10 Mbit/s");
  EXPECT_THAT(settings.at("rate measured"), Not(HasSubstr("not measured")));
  EXPECT_EQ(settings.at("rtt asked"), "10ms");
  EXPECT_EQ(settings.at("delay line"), "own relay");
  EXPECT_THAT(settings.at("router qdisc, near"), HasSubstr("limit 125000"));
  EXPECT_EQ(Transfer(lab.value().hosts()[0], lab.value().hosts()[1], 100'000),
            100'000);
}

std::string WayTo(const LabHost& from, const LabHost& to) {
  return Output({"ip", "-n", from.netns, "route", "get", to.address});
}

// Both hosts have an MTU of 1500, so that only ICMP can tell of the 1400.
TEST_F(LabTest, ANarrowRouterTeachesItsHostsThePathMtu) {
  LabSpec spec = RoutedSpec();
  spec.link.router->mtu = 1400;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(lab.value().link().mtu, 1400);
  EXPECT_THAT(WayTo(hosts[0], hosts[1]), Not(HasSubstr("mtu ")));
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 300'000), 300'000);
  EXPECT_THAT(WayTo(hosts[0], hosts[1]), HasSubstr("mtu 1400"));
}

// Segments of 1000 bytes pass, full ones never; 3 s are ten timeouts.
TEST_F(LabTest, ASilentNarrowRouterIsABlackHoleForFullSegments) {
  LabSpec spec = RoutedSpec();
  spec.link.router->mtu = 1400;
  spec.link.router->icmp = false;
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 1000), 1000);
  EXPECT_EQ(Transfer(hosts[0], hosts[1], 10'000, milliseconds(3000)), -1);
  EXPECT_THAT(WayTo(hosts[0], hosts[1]), Not(HasSubstr("mtu ")));
  EXPECT_THAT(lab.value().link().description, HasSubstr("sends no ICMP"));
}

// As whoever has uid 65534, which owns nothing.
TEST_F(LabTest, WithoutRootALabComesUpInAUserNamespace) {
  std::vector<std::string> words{"setpriv",        "--reuid", "65534",
                                 "--regid",        "65534",   "--clear-groups",
                                 "--inh-caps=-all"};
  if (!RunCommand({{"setpriv", "--reuid", "65534", "unshare", "--user",
                    "--map-root-user", "--net", "--mount", "true"}})
           .has_value()) {
    GTEST_SKIP()
        << "this system allows users no namespaces of their own; run outside a "
           "chroot, with user.max_user_namespaces above 0";
  }
  const auto own = UserNamespaceCommand({LAB_HELPER, "try", "2", "0"});
  words.insert(words.end(), own.begin(), own.end());
  const std::string said = Output(words);
  EXPECT_THAT(said, HasSubstr("tso = off\n"));
  EXPECT_THAT(said, HasSubstr("gso_max_segs = 1\n"));
  EXPECT_THAT(Lines(said), Contains(::testing::StartsWith("rps_cpus = ")));
  std::replace(words.begin(), words.end(), std::string("try"),
               std::string("try-routed"));
  EXPECT_THAT(Output(words), HasSubstr("router ip_forward = 1\n"));
}

}  // namespace
}  // namespace wiretoll
