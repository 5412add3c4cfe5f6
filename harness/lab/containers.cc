#include "harness/lab/containers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/layout.h"
#include "harness/lab/settings.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

// An engine that starts cold, a disk that is busy.
constexpr seconds kEngineTimeout{60};
// What engines call a container's interface.
constexpr const char* kContainerInterface = "eth0";
constexpr const char* kAgentInside = "/wiretoll-agent";
constexpr const char* kNoEngine =
    "container hosts need podman or docker; on Debian: apt-get install "
    "--no-install-recommends podman runc netavark aardvark-dns; or take "
    "another kind of host: --lab linux,linux";

std::vector<std::string> Joined(std::vector<std::string> words,
                                std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
  return words;
}

std::vector<std::string> Joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Outcome<std::string> Call(const std::vector<std::string>& words) {
  return RunCommand({words, "", kEngineTimeout});
}

std::string OneLine(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// --- The image -------------------------------------------------------------

// A folder for one build, gone with this object.
class BuildFolder {
 public:
  explicit BuildFolder(const std::string& name)
      : folder_(fs::temp_directory_path() / name) {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
  }
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  ~BuildFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return folder_; }

 private:
  fs::path folder_;
};

// Named by what is in it, so that a new agent makes a new image and an old one
// is found again.
Outcome<std::string> ImageName(const fs::path& agent) {
  Outcome<std::string> sum = Call({"sha256sum", agent.string()});
  if (!sum.has_value()) return sum;
  constexpr std::size_t kEnough = 16;  // Hexadecimal digits.
  const std::string digits = sum.value().substr(0, kEnough);
  if (digits.size() < kEnough) return NothingRan("sha256sum said nothing");
  return "localhost/wiretoll-agent:" + digits;
}

Outcome<Done> BuildImage(const std::vector<std::string>& engine,
                         const std::string& image, const fs::path& agent) {
  const auto there = TryCommand(
      {Joined(engine, {"image", "inspect", image}), "", kEngineTimeout});
  if (there.has_value() && there.value().exit_code == 0) return Done{};
  const Outcome<LabOwner> self = ThisProcess();
  if (!self.has_value()) return self.error();
  const BuildFolder folder(fmt::format("wiretoll-image-{}", self.value().pid));
  std::error_code error;
  fs::copy_file(agent, folder.path() / "wiretoll-agent", error);
  std::ofstream(folder.path() / "Dockerfile")
      << "FROM scratch\nCOPY wiretoll-agent /wiretoll-agent\n"
         "ENTRYPOINT [\"/wiretoll-agent\"]\n";
  if (error) {
    return NothingRan(folder.path().string() +
                      ": the agent cannot be copied there: " + error.message());
  }
  const Outcome<std::string> built = Call(
      Joined(engine, {"build", "-q", "-t", image, folder.path().string()}));
  if (!built.has_value()) return built.error();
  return Done{};
}

// --- The engine ------------------------------------------------------------

// Builds the image and has the agent say its version in it.
Outcome<ContainerEngine> TryEngine(const std::string& program,
                                   const EngineTry& how,
                                   const fs::path& agent) {
  ContainerEngine engine;
  engine.name = fs::path(program).filename().string();
  engine.words = Joined({program}, how.options);
  engine.run_options = how.run_options;
  Outcome<std::string> image = ImageName(agent);
  if (!image.has_value()) return image.error();
  engine.image = image.value();
  Outcome<Done> built = BuildImage(engine.words, engine.image, agent);
  if (!built.has_value()) return built.error();
  const Outcome<std::string> ran = Call(
      Joined(Joined(Joined(engine.words, {"run", "--rm", "--network", "none"}),
                    engine.run_options),
             {engine.image, "--version"}));
  if (!ran.has_value()) return ran.error();
  const Outcome<std::string> version = Call({program, "--version"});
  engine.version = version.has_value() ? OneLine(version.value()) : engine.name;
  return engine;
}

// `said`: what each way that does not work came to.
std::optional<ContainerEngine> TryAllWays(const std::string& program,
                                          const fs::path& agent,
                                          std::vector<std::string>& said) {
  for (const EngineTry& how :
       EngineTries(fs::path(program).filename().string())) {
    Outcome<ContainerEngine> engine = TryEngine(program, how, agent);
    if (engine.has_value()) return std::move(engine).value();
    std::string line = OneLine(engine.error().message);
    if (std::count(said.begin(), said.end(), line) == 0)
      said.push_back(std::move(line));
  }
  return std::nullopt;
}

// Names to look for, or the one that was told.
Outcome<std::vector<std::string>> EngineNames() {
  const char* told = std::getenv("WIRETOLL_CONTAINER_ENGINE");
  if (told == nullptr || told[0] == '\0')
    return std::vector<std::string>{"podman", "docker"};
  const std::string name = fs::path(told).filename().string();
  if (name == "podman" || name == "docker")
    return std::vector<std::string>{told};
  return Failure{ExitCode::kUsage,
                 fmt::format("WIRETOLL_CONTAINER_ENGINE is '{}'; it takes "
                             "podman or docker, or a path to one",
                             told)};
}

// --- The containers --------------------------------------------------------

// Its process and its address.
struct StartedContainer {
  std::int64_t pid = 0;
  std::string address;
};

Outcome<StartedContainer> Inspect(const ContainerEngine& engine,
                                  const std::string& container) {
  const Outcome<std::string> said = Call(Joined(
      engine.words,
      {"inspect", "--format",
       "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}} "
       "{{end}}",
       container}));
  if (!said.has_value()) return said.error();
  StartedContainer running;
  std::istringstream words(said.value());
  words >> running.pid >> running.address;
  if (!words || running.pid <= 0) {
    return NothingRan(
        fmt::format("container {} does not run, or has no address: {} said {}",
                    container, engine.name, OneLine(said.value())));
  }
  return running;
}

// The engine's namespace under a name of ours, so that tc, ip and ethtool find
// it. Empty: done; else why not.
std::string NameNamespace(const std::string& name, std::int64_t pid) {
  const auto attached =
      Call({"ip", "netns", "attach", name, std::to_string(pid)});
  return attached.has_value() ? "" : OneLine(attached.error().message);
}

Outcome<Done> StartContainer(const ContainerEngine& engine,
                             const std::string& network,
                             const std::string& container, LabHost& host) {
  const auto started = Call(ContainerWords(engine, network, host, container));
  if (!started.has_value()) return started.error();
  const Outcome<StartedContainer> running = Inspect(engine, container);
  if (!running.has_value()) return running.error();
  host.address = running.value().address;
  host.agent = Joined(engine.words, {"exec", "-i", container, kAgentInside});
  const std::string why = NameNamespace(host.netns, running.value().pid);
  if (!why.empty()) host.netns.clear();
  return Done{};
}

bool MayShape(const StandingLab& lab) {
  return std::all_of(lab.layout.hosts.begin(), lab.layout.hosts.end(),
                     [](const LabHost& host) { return !host.netns.empty(); });
}

// At the containers' own ends, where a card of that rate would be. gso_max_segs
// because a shaper charges packets of many segments wrongly.
Outcome<Done> ShapeContainers(const LabSpec& spec, StandingLab& lab) {
  Settings& settings = lab.link.settings;
  if (!spec.link.rate) {
    settings["qdisc"] = "the kernel's default";
    return Done{};
  }
  if (!MayShape(lab)) {
    return NothingRan(fmt::format(
        "--link {}: to shape the line of containers their interfaces must be "
        "reached, which needs root: run with sudo, or say --link none",
        FormatBitRate(*spec.link.rate)));
  }
  const std::vector<std::string> words =
      ShaperWords(MakeShaper(*spec.link.rate, spec.link.mtu, spec.link.delay));
  for (const LabHost& host : lab.layout.hosts) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"ip", "-n", host.netns, "link", "set",
                                   kContainerInterface, "gso_max_segs", "1",
                                   "txqueuelen", "10000"},
          Joined({"tc", "-n", host.netns, "qdisc", "replace", "dev",
                  kContainerInterface, "root"},
                 words)}) {
      const Outcome<std::string> done = Call(command);
      if (!done.has_value()) return done.error();
    }
  }
  settings["qdisc"] = SpellCommand(words);
  settings["gso_max_segs"] = "1";
  return Done{};
}

// As the engine made them: a container's stack is to be seen as it is used.
void RecordOffloads(StandingLab& lab) {
  for (const LabHost& host : lab.layout.hosts) {
    if (host.netns.empty()) {
      lab.link.settings["offloads"] = "not read: needs root";
      return;
    }
    const Outcome<Settings> read =
        ReadOffloads({host.netns, kContainerInterface});
    if (!read.has_value()) continue;
    Merge(read.value(), host.name, lab.link.settings);
  }
}

void DescribeEngine(const LabSpec& spec, const ContainerEngine& engine,
                    StandingLab& lab) {
  RecordedLink& link = lab.link;
  link.kind = "container";
  link.description = DescribeContainerLink(spec, engine.name);
  if (spec.link.rate) link.rate_bits_per_second = spec.link.rate->value;
  link.mtu = spec.link.mtu;
  Settings& settings = link.settings;
  settings["wiring"] =
      "container bridge of one host, not a network between machines";
  settings["container engine"] = engine.version;
  const std::vector<std::string> options = Joined(
      {engine.words.begin() + 1, engine.words.end()}, engine.run_options);
  settings["engine options"] =
      options.empty() ? "none needed" : SpellCommand(options);
  settings["image"] = engine.image;
  settings["capabilities"] =
      "NET_ADMIN (to choose a congestion control) and NET_RAW (to capture)";
  settings["congestion"] = lab.congestion + ", set by each trial";
  settings["delay line"] = "none";
}

bool IsOwn(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.';
         });
}

// True if the engine knows a thing of that kind and name.
bool IsThere(const LabRecord& record, const std::string& kind,
             const std::string& name) {
  const auto looked = TryCommand(
      {Joined(record.engine, {kind, "inspect", name}), "", kEngineTimeout});
  return looked.has_value() && looked.value().exit_code == 0;
}

Outcome<Done> Remove(const LabRecord& record, const std::string& kind,
                     const std::string& name,
                     std::initializer_list<std::string> how) {
  if (!IsThere(record, kind, name)) return Done{};
  const auto removed =
      Call(Joined(Joined(Joined(record.engine, {kind, "rm"}), how), {name}));
  if (removed.has_value() || !IsThere(record, kind, name)) return Done{};
  return NothingRan(fmt::format("{} {} cannot be removed: {}", kind, name,
                                removed.error().message));
}

}  // namespace

std::vector<EngineTry> EngineTries(const std::string& name) {
  // Where higher limits are refused (no CAP_SYS_RESOURCE).
  const std::vector<std::string> limits{"--ulimit", "nofile=1024:1024",
                                        "--ulimit", "nproc=1024:1024"};
  std::vector<EngineTry> tries{{{}, {}}, {{}, limits}};
  if (name != "podman") return tries;
  // Where crun refuses the cgroups' layout, and without systemd.
  std::vector<std::string> options{"--runtime=runc",
                                   "--cgroup-manager=cgroupfs"};
  tries.push_back({options, limits});
  // Where a folder cannot be overlaid.
  options.emplace_back("--storage-driver=vfs");
  tries.push_back({options, limits});
  return tries;
}

Outcome<ContainerEngine> FindEngine(const LabSpec& spec) {
  const Outcome<std::vector<std::string>> names = EngineNames();
  if (!names.has_value()) return names.error();
  std::vector<std::string> said;
  for (const std::string& name : names.value()) {
    const Outcome<std::string> program = FindProgram(name);
    if (!program.has_value()) continue;
    auto engine = TryAllWays(program.value(), fs::absolute(spec.agent), said);
    if (engine) return std::move(*engine);
  }
  if (said.empty()) return NothingRan(kNoEngine);
  return NothingRan(fmt::format("no container could be run: {}; {}",
                                fmt::join(said, "; "), kNoEngine));
}

std::vector<std::string> NetworkWords(const ContainerEngine& engine,
                                      const std::string& network, int mtu) {
  // Internal: no way out of it, and nothing of the host's is forwarded.
  std::vector<std::string> words =
      Joined(engine.words, {"network", "create", "--internal"});
  const bool podman = engine.name == "podman";
  if (podman) words.emplace_back("--disable-dns");
  const std::string key = podman ? "mtu" : "com.docker.network.driver.mtu";
  return Joined(words, {"--opt", fmt::format("{}={}", key, mtu), network});
}

std::vector<std::string> ContainerWords(const ContainerEngine& engine,
                                        const std::string& network,
                                        const LabHost& host,
                                        const std::string& container) {
  // Detached with its input open, the agent inside waits for ever: the image
  // has no other program to keep a container alive.
  std::vector<std::string> words =
      Joined(engine.words, {"run", "-d", "-i", "--name", container,
                            "--hostname", host.name, "--network", network,
                            "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW"});
  return Joined(Joined(words, engine.run_options), {engine.image});
}

std::string DescribeContainerLink(const LabSpec& spec,
                                  const std::string& engine) {
  std::string text = fmt::format(
      "container bridge, not a network between machines: {} containers on one "
      "host ({}, veth",
      spec.kinds.size(), engine);
  if (!spec.link.rate) return text + "), not shaped";
  return text + "), each on " + FormatBitRate(*spec.link.rate) +
         " Ethernet (tbf)";
}

Outcome<Done> MakeContainers(const LabSpec& spec, const ContainerEngine& engine,
                             StandingLab& lab) {
  LabRecord& record = lab.record;
  const std::string& prefix = lab.layout.prefix;
  record.engine = engine.words;
  record.network = prefix + "-net";
  for (const LabHost& host : lab.layout.hosts) {
    record.containers.push_back(prefix + "-" + host.name);
    record.namespaces.push_back(host.netns);
  }
  if (auto written = WriteRecord(record); !written.has_value()) return written;
  const auto network =
      Call(NetworkWords(engine, record.network, spec.link.mtu));
  if (!network.has_value()) return network.error();
  for (std::size_t host = 0; host < lab.layout.hosts.size(); ++host) {
    Outcome<Done> started =
        StartContainer(engine, record.network, record.containers[host],
                       lab.layout.hosts[host]);
    if (!started.has_value()) return started;
  }
  DescribeEngine(spec, engine, lab);
  RecordOffloads(lab);
  return ShapeContainers(spec, lab);
}

Outcome<Done> RemoveContainers(const LabRecord& record) {
  if (record.engine.empty()) return Done{};
  const std::string prefix = NamespacePrefix(record) + "-";
  for (const std::string& container : record.containers) {
    if (!IsOwn(container, prefix)) continue;
    auto removed = Remove(record, "container", container, {"-f"});
    if (!removed.has_value()) return removed;
  }
  if (!IsOwn(record.network, prefix)) return Done{};
  return Remove(record, "network", record.network, {});
}

}  // namespace wiretoll
