// Labs with hosts that are Wine. Needs root, Wine and the agent for Windows;
// says which is missing elsewhere. The first one makes Wine's prefix, in 15 s
// or, on a busy machine, a few times that.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include "harness/lab/commands.h"
#include "harness/lab/lab.h"
#include "harness/lab/wine.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

fs::path WindowsAgent() {
  const char* told = std::getenv("WIRETOLL_WINDOWS_AGENT");
  return told != nullptr ? told : BUILT_WINDOWS_AGENT;
}

LabSpec Spec(std::vector<std::string> kinds) {
  LabSpec spec;
  spec.kinds = std::move(kinds);
  spec.agent = LAB_HELPER;
  spec.windows_agent = WindowsAgent();
  spec.self = LAB_HELPER;
  return spec;
}

class WineLabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabAbility ability = ProbeLabAbility();
    if (ability.means != LabMeans::kRoot) {
      GTEST_SKIP() << "needs root (sudo ./dev test): " << ability.reason;
    }
    const auto tools = FindWine(Spec({"linux", "wine"}));
    if (!tools.has_value()) GTEST_SKIP() << tools.error().message;
    ::setenv("WIRETOLL_WINDOWS_AGENT", WindowsAgent().c_str(), 1);
  }
};

std::string ReadAll(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The folders in /proc of all that runs with this prefix. A zombie has no
// environment, so it is none of them.
std::vector<fs::path> ProcessesOf(const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string variables = ReadAll(entry->path() / "environ");
    const std::string wanted = "WINEPREFIX=" + prefix + '\0';
    if (variables.find(wanted) != std::string::npos) {
      found.push_back(entry->path());
    }
  }
  return found;
}

std::string PrefixOf(const LabHost& host) {
  const std::string variable = "WINEPREFIX=";
  for (const std::string& word : host.agent) {
    if (word.starts_with(variable)) return word.substr(variable.size());
  }
  ADD_FAILURE() << "no prefix in: " << SpellCommand(host.agent);
  return "none";
}

// Nothing of a process that has ended meanwhile.
std::string NamespaceOf(const fs::path& process) {
  std::error_code gone;
  return fs::read_symlink(process / "ns/net", gone).string();
}

// What `readlink` says inside a namespace that `ip netns` knows.
std::string NamespaceNamed(const std::string& netns) {
  const auto said = RunCommand(
      {{"ip", "netns", "exec", netns, "readlink", "/proc/self/ns/net"}});
  EXPECT_TRUE(said.has_value()) << said.error().message;
  return said.has_value() ? said.value().substr(0, said.value().find('\n'))
                          : std::string();
}

// Of the first of two hosts that a process made in MODE and said.
std::string OwnersNamespace(const std::string& mode, const std::string& kinds) {
  const auto done =
      TryCommand({{LAB_HELPER, mode, kinds, "0"}, "", seconds(250)});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  const std::string& said = done.value().output;
  EXPECT_THAT(said, HasSubstr("wiretoll-")) << done.value().errors;
  return said.substr(0, said.find('\n'));
}

std::vector<std::string> Inside(const std::string& netns) {
  const auto pids = TryCommand({{"ip", "netns", "pids", netns}});
  EXPECT_TRUE(pids.has_value()) << pids.error().message;
  std::istringstream words(pids.value().output);
  return {std::istream_iterator<std::string>(words), {}};
}

// What was killed may take a moment to be gone; 5 s are more than that.
template <class Condition>
bool BecomesTrue(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + seconds(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

// Whether any process is in this network namespace, whatever its name is.
bool AnybodyIn(const std::string& inode) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end;
       !error && entry != end; entry.increment(error)) {
    if (NamespaceOf(entry->path()) == inode) return true;
  }
  return false;
}

std::set<std::string> NamespacesOf(const fs::path& prefix) {
  std::set<std::string> namespaces;
  for (const fs::path& process : ProcessesOf(prefix)) {
    const std::string its = NamespaceOf(process);
    if (!its.empty()) namespaces.insert(its);
  }
  return namespaces;
}

TEST_F(WineLabTest, AllThatRunsUnderAPrefixIsInTheHostsNamespace) {
  const auto lab = Lab::Up(Spec({"linux", "wine"}));
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const LabHost& host = lab.value().hosts()[1];
  EXPECT_EQ(host.name, "wine");
  const std::string expected = NamespaceNamed(host.netns);
  std::set<std::string> names;
  for (const fs::path& process : ProcessesOf(PrefixOf(host))) {
    names.insert(ReadAll(process / "comm").substr(0, 10));
  }
  EXPECT_THAT(names, Contains("wineserver"));
  EXPECT_THAT(NamespacesOf(PrefixOf(host)), ElementsAre(expected));
}

TEST_F(WineLabTest, GoingOutOfScopeLeavesNothingRunning) {
  std::string prefix;
  {
    const auto lab = Lab::Up(Spec({"wine", "linux"}));
    ASSERT_TRUE(lab.has_value()) << lab.error().message;
    prefix = PrefixOf(lab.value().hosts()[0]);
    EXPECT_FALSE(ProcessesOf(prefix).empty());
  }
  EXPECT_TRUE(BecomesTrue([&] { return ProcessesOf(prefix).empty(); }));
}

TEST_F(WineLabTest, TwoWinesHaveAPrefixAndANamespaceEach) {
  const auto lab = Lab::Up(Spec({"wine", "wine"}));
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  const auto& hosts = lab.value().hosts();
  EXPECT_EQ(hosts[0].name, "wine-1");
  EXPECT_EQ(hosts[1].name, "wine-2");
  EXPECT_NE(PrefixOf(hosts[0]), PrefixOf(hosts[1]));
  for (const LabHost& host : hosts) {
    EXPECT_THAT(NamespacesOf(PrefixOf(host)),
                ElementsAre(NamespaceNamed(host.netns)));
  }
}

TEST_F(WineLabTest, OfAKilledOwnersWineNothingIsLeftOnceTheNextLabIsUp) {
  const std::string netns = OwnersNamespace("die", "wine,linux");
  const std::string inode = NamespaceNamed(netns);
  const auto next = Lab::Up(Spec({"linux", "linux"}));
  ASSERT_TRUE(next.has_value()) << next.error().message;
  EXPECT_FALSE(fs::exists(fs::path("/run/netns") / netns));
  EXPECT_TRUE(BecomesTrue([&] { return !AnybodyIn(inode); }));
}

// Nobody closes a kept lab's pipes: its Wine has to be found and ended.
TEST_F(WineLabTest, AKeptLabsWineStandsUntilItIsTakenDown) {
  const std::string netns = OwnersNamespace("keep", "wine,linux");
  EXPECT_TRUE(AnyWineServer(Inside(netns)));
  const std::string inode = NamespaceNamed(netns);
  const auto labs = ListLabs();
  ASSERT_TRUE(labs.has_value());
  for (const LabStatus& lab : labs.value()) {
    if (lab.hosts.empty() || lab.hosts[0].netns != netns) continue;
    const auto taken = TakeDown(lab.id);
    ASSERT_TRUE(taken.has_value()) << taken.error().message;
    EXPECT_EQ(taken.value(), std::vector<std::string>{lab.id});
  }
  EXPECT_FALSE(fs::exists(fs::path("/run/netns") / netns));
  EXPECT_TRUE(BecomesTrue([&] { return !AnybodyIn(inode); }));
}

// A cache folder for one test; what is in it is no Windows, only looks so.
class FalseCache {
 public:
  FalseCache() {
    fs::create_directories(prefix());
    std::ofstream(prefix() / "ready").put('\n');
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  FalseCache(const FalseCache&) = delete;
  FalseCache& operator=(const FalseCache&) = delete;
  ~FalseCache() {
    if (before_.empty()) {
      ::unsetenv("XDG_CACHE_HOME");
    } else {
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
    fs::remove_all(folder_);
  }
  [[nodiscard]] fs::path prefix() const {
    return folder_ / "wiretoll" / "wine-1";
  }

 private:
  static std::string Before() {
    const char* before = std::getenv("XDG_CACHE_HOME");
    return before != nullptr ? before : "";
  }
  std::string before_ = Before();
  fs::path folder_ = fs::path(::testing::TempDir()) / "wtdev-false-cache";
};

// A namespace of the test's own, with what runs in it.
class Elsewhere {
 public:
  Elsewhere() { Run({"ip", "netns", "add", kName}); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() {
    EndWine(Inside(kName));
    // It ends in its own time.
    for (int i = 0; i < 100 && AnyWineServer(Inside(kName)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Run({"ip", "netns", "del", kName});
  }
  static constexpr const char* kName = "wtdev-test-elsewhere";

  static CommandResult Run(std::vector<std::string> words) {
    const auto done = TryCommand({std::move(words), "", seconds(60)});
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return done.has_value() ? done.value() : CommandResult{};
  }
};

TEST_F(WineLabTest, AServerOutsideTheLabIsRefusedBeforeAnyProgramRuns) {
  const FalseCache cache;
  const Elsewhere elsewhere;
  // The server keeps what it has for errors: not a pipe that is read to its
  // end.
  const CommandResult server =
      Elsewhere::Run({"ip", "netns", "exec", Elsewhere::kName, "env",
                      "WINEPREFIX=" + cache.prefix().string(), "sh", "-c",
                      "exec wineserver -p60 >/dev/null 2>&1"});
  ASSERT_EQ(server.exit_code, 0) << server.errors;
  const auto lab = Lab::Up(Spec({"linux", "wine"}));
  ASSERT_FALSE(lab.has_value());
  EXPECT_EQ(lab.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(lab.error().message, HasSubstr("is outside the lab"));
  EXPECT_THAT(lab.error().message, HasSubstr("wineserver -k"));
  // What Wine makes first for a program.
  EXPECT_FALSE(fs::exists(cache.prefix() / "drive_c"));
  EXPECT_TRUE(AnyWineServer(Inside(Elsewhere::kName)));
}

TEST_F(WineLabTest, WineIsNotStartedWhereThereIsAWayOut) {
  const FalseCache cache;
  const Elsewhere elsewhere;
  const std::string name = Elsewhere::kName;
  Elsewhere::Run({"ip", "-n", name, "link", "add", "out-a", "type", "veth",
                  "peer", "name", "out-b"});
  Elsewhere::Run({"ip", "-n", name, "link", "set", "out-a", "up"});
  Elsewhere::Run({"ip", "-n", name, "link", "set", "out-b", "up"});
  Elsewhere::Run(
      {"ip", "-n", name, "addr", "add", "192.0.2.1/24", "dev", "out-a"});
  const std::vector<std::string> keeper{
      "ip",       "netns",        "exec",      name,       LAB_HELPER,
      "lab-wine", cache.prefix(), "/bin/true", "/bin/true"};
  // /bin/true is no server, so without a route another check answers.
  EXPECT_THAT(Elsewhere::Run(keeper).errors,
              HasSubstr("no Wine server came up"));
  Elsewhere::Run(
      {"ip", "-n", name, "route", "add", "default", "via", "192.0.2.2"});
  const CommandResult refused = Elsewhere::Run(keeper);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.errors, HasSubstr("there is a way out: default via "
                                        "192.0.2.2"));
}

TEST_F(WineLabTest, AMissingAgentFailsWithTheRemedyBeforeAnythingIsMade) {
  LabSpec spec = Spec({"linux", "wine"});
  spec.windows_agent = "/nonexistent/wiretoll-agent.exe";
  const auto lab = Lab::Up(spec);
  ASSERT_FALSE(lab.has_value());
  EXPECT_EQ(lab.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(lab.error().message,
              HasSubstr("/nonexistent/wiretoll-agent.exe"));
  EXPECT_THAT(lab.error().message, HasSubstr("./dev windows"));
}

}  // namespace
}  // namespace wiretoll
