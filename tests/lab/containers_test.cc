// Labs of containers. Those that really stand need podman or docker, and root;
// they skip and say so elsewhere.
#include "harness/lab/containers.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/lab/commands.h"

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

ContainerEngine Podman() {
  return {"podman", {"/usr/bin/podman"}, {}, "podman 4.3.1", "image:1"};
}

TEST(EngineTriesTest, ThePlainWayComesFirst) {
  for (const char* name : {"podman", "docker"}) {
    const std::vector<EngineTry> tries = EngineTries(name);
    ASSERT_GE(tries.size(), 2u);
    EXPECT_THAT(tries[0].options, IsEmpty());
    EXPECT_THAT(tries[0].run_options, IsEmpty());
    EXPECT_THAT(tries[1].options, IsEmpty());
  }
  EXPECT_THAT(EngineTries("docker").back().options, IsEmpty());
  EXPECT_THAT(EngineTries("podman").back().options,
              Contains("--storage-driver=vfs"));
}

TEST(ContainerWordsTest, TheNetworkHasNoWayOut) {
  EXPECT_THAT(NetworkWords(Podman(), "n", 1500),
              ElementsAre("/usr/bin/podman", "network", "create", "--internal",
                          "--disable-dns", "--opt", "mtu=1500", "n"));
  ContainerEngine docker = Podman();
  docker.name = "docker";
  EXPECT_THAT(NetworkWords(docker, "n", 9000),
              AllOf(Contains("com.docker.network.driver.mtu=9000"),
                    Not(Contains("--disable-dns"))));
}

TEST(ContainerWordsTest, WhatAnEngineNeedsStandsWhereItTakesIt) {
  ContainerEngine engine = Podman();
  engine.words.emplace_back("--runtime=runc");
  engine.run_options = {"--ulimit", "nofile=1024:1024"};
  LabHost host;
  host.name = "container-1";
  EXPECT_THAT(
      ContainerWords(engine, "net", host, "c"),
      ElementsAre("/usr/bin/podman", "--runtime=runc", "run", "-d", "-i",
                  "--name", "c", "--hostname", "container-1", "--network",
                  "net", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW",
                  "--ulimit", "nofile=1024:1024", "image:1"));
}

TEST(ContainerLinkTest, IsNamedForWhatItIs) {
  LabSpec spec;
  spec.kinds = {"container", "container", "container"};
  EXPECT_EQ(DescribeContainerLink(spec, "podman"),
            "container bridge, not a network between machines: 3 containers on "
            "one host (podman, veth), not shaped");
  spec.link.rate = BitsPerSecond{10e6};
  EXPECT_THAT(DescribeContainerLink(spec, "docker"),
              HasSubstr("each on 10.0 Mbit/s Ethernet (tbf)"));
}

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

LabSpec Containers(std::size_t count) {
  LabSpec spec;
  spec.kinds.assign(count, "container");
  spec.agent = STATIC_AGENT;
  spec.self = LAB_HELPER;
  return spec;
}

TEST(FindEngineTest, AnEngineOfAnotherNameIsRefused) {
  const Variable told("WIRETOLL_CONTAINER_ENGINE", "/usr/bin/lxc");
  const auto engine = FindEngine(Containers(2));
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ExitCode::kUsage);
  EXPECT_THAT(engine.error().message, HasSubstr("podman or docker"));
}

TEST(FindEngineTest, WithoutAnyEngineTheRemedyIsTold) {
  const Variable told("WIRETOLL_CONTAINER_ENGINE", "/nonexistent/podman");
  const auto engine = FindEngine(Containers(2));
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(engine.error().message,
              AllOf(HasSubstr("apt-get install"), HasSubstr("podman")));
}

class ContainerLabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabAbility ability = ProbeLabAbility();
    if (ability.means != LabMeans::kRoot) {
      GTEST_SKIP() << "needs root (sudo ./dev test): " << ability.reason;
    }
    auto engine = FindEngine(Containers(2));
    if (!engine.has_value()) GTEST_SKIP() << engine.error().message;
    engine_ = std::move(engine).value();
  }

  std::string Say(std::vector<std::string> words) {
    words.insert(words.begin(), engine_.words.begin(), engine_.words.end());
    const auto said =
        RunCommand({std::move(words), "", std::chrono::seconds(60)});
    EXPECT_TRUE(said.has_value()) << said.error().message;
    return said.has_value() ? said.value() : std::string();
  }
  // Containers and networks whose name begins like those of a lab of `pid`.
  std::string Left(const std::string& pid) {
    std::string left;
    const std::string all = Say({"ps", "-a", "--format", "{{.Names}}"}) +
                            Say({"network", "ls", "--format", "{{.Name}}"});
    std::istringstream names(all);
    for (std::string name; names >> name;) {
      if (name.starts_with("wiretoll-" + pid + "-")) left += name + " ";
    }
    return left;
  }

  ContainerEngine engine_;
};

std::string OwnPid() {
  return std::filesystem::read_symlink("/proc/self").string();
}

TEST_F(ContainerLabTest, ThreeComeUpWithAddressesAndGoAgain) {
  {
    const auto lab = Lab::Up(Containers(3));
    ASSERT_TRUE(lab.has_value()) << lab.error().message;
    const auto& hosts = lab.value().hosts();
    ASSERT_EQ(hosts.size(), 3u);
    EXPECT_EQ(hosts[2].name, "container-3");
    for (const LabHost& host : hosts) {
      EXPECT_THAT(host.address, HasSubstr("."));
      EXPECT_THAT(host.agent, IsSupersetOf({"exec", "-i", "/wiretoll-agent"}));
      std::vector<std::string> version = host.agent;
      version.emplace_back("--version");
      EXPECT_TRUE(RunCommand({version}).has_value());
    }
    EXPECT_NE(hosts[0].address, hosts[1].address);
    EXPECT_EQ(lab.value().link().kind, "container");
    const auto& settings = lab.value().link().settings;
    EXPECT_THAT(settings.at("wiring"), HasSubstr("not a network between"));
    EXPECT_EQ(settings.count("engine options"), 1u);
    EXPECT_EQ(settings.count("tso"), 1u);
    EXPECT_THAT(settings.at("rtt measured"), Not(HasSubstr("not measured")));
    EXPECT_NE(Left(OwnPid()), "");
  }
  EXPECT_EQ(Left(OwnPid()), "");
}

TEST_F(ContainerLabTest, ARateIsShapedAtEachContainersOwnEnd) {
  LabSpec spec = Containers(2);
  spec.link.rate = BitsPerSecond{10e6};
  const auto lab = Lab::Up(spec);
  ASSERT_TRUE(lab.has_value()) << lab.error().message;
  for (const LabHost& host : lab.value().hosts()) {
    const auto shown =
        RunCommand({{"tc", "-n", host.netns, "qdisc", "show", "dev", "eth0"}});
    ASSERT_TRUE(shown.has_value()) << shown.error().message;
    EXPECT_THAT(shown.value(), HasSubstr("tbf"));
  }
  EXPECT_THAT(lab.value().link().settings.at("rate measured"),
              Not(HasSubstr("not measured")));
}

TEST_F(ContainerLabTest, OfAKilledOwnersLabNothingIsLeftAtTheNextStart) {
  ::setenv("WIRETOLL_TEST_AGENT", STATIC_AGENT, 1);
  const auto died = TryCommand({{LAB_HELPER, "die", "container,container", "0"},
                                "",
                                std::chrono::seconds(60)});
  ASSERT_TRUE(died.has_value()) << died.error().message;
  const std::string prefix = "wiretoll-";
  const std::string& said = died.value().output;
  ASSERT_TRUE(said.starts_with(prefix)) << said << died.value().errors;
  const std::string pid =
      std::to_string(std::stoll(said.substr(prefix.size())));
  EXPECT_NE(Left(pid), "");
  const auto removed = RemoveDeadLabs();
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_GE(removed.value(), 1);
  EXPECT_EQ(Left(pid), "");
}

}  // namespace
}  // namespace wiretoll
