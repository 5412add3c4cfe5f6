#include "harness/lab/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/lab/commands.h"
#include "harness/lab/containers.h"
#include "harness/lab/delay_line.h"
#include "harness/lab/guest.h"
#include "harness/lab/gvisor.h"
#include "harness/lab/link_check.h"
#include "harness/lab/router.h"
#include "harness/lab/settings.h"
#include "harness/lab/simulated.h"
#include "harness/lab/wine.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10'000};

Outcome<Done> Batch(std::vector<std::string> words, const std::string& text) {
  if (text.empty()) return Done{};
  words.insert(words.end(), {"-batch", "-"});
  const Outcome<std::string> done =
      RunCommand({std::move(words), text, kTimeout});
  if (!done.has_value()) return done.error();
  return Done{};
}

bool Has(const LabSpec& spec, const std::string& kind) {
  return std::count(spec.kinds.begin(), spec.kinds.end(), kind) > 0;
}

Outcome<Done> CheckLwipAgent(const LabSpec& spec) {
  const std::string agent = std::filesystem::absolute(spec.lwip_agent).string();
  if (FindProgram(agent).has_value()) return Done{};
  return NothingRan("there is no lwIP agent '" + agent +
                    "': it is built where lwIP's library is: apt-get install "
                    "liblwip-dev, then ./dev build");
}

Outcome<Done> CheckPrograms(const LabSpec& spec) {
  if (HasSimulation(spec)) return Done{};  // It needs none of the system's.
  for (const char* name : {"ip", "tc", "ethtool", "sh"}) {
    const Outcome<std::string> found = FindProgram(name);
    if (!found.has_value()) return found.error();
  }
  if (HasWine(spec)) {
    const Outcome<WineTools> tools = FindWine(spec);
    if (!tools.has_value()) return tools.error();
  }
  if (HasGvisor(spec)) {
    const Outcome<Done> there = CheckGvisor(spec);
    if (!there.has_value()) return there;
  }
  if (HasGuest(spec)) {
    const Outcome<GuestTools> tools = FindGuestTools(spec);
    if (!tools.has_value()) return tools.error();
  }
  if (HasLwip(spec)) {
    const Outcome<Done> there = CheckLwipAgent(spec);
    if (!there.has_value()) return there;
  }
  if (!Has(spec, "linux") && !HasContainers(spec)) return Done{};
  const Outcome<std::string> agent =
      FindProgram(std::filesystem::absolute(spec.agent).string());
  if (!agent.has_value()) {
    return NothingRan(
        "the hosts' agent '" + spec.agent.string() +
        "' is no program that can be started; build wiretoll-agent or "
        "name another");
  }
  return Done{};
}

// Written down before they are made, so that a kill in between leaves nothing
// that the next start does not know of.
Outcome<Done> MakeNamespaces(const std::vector<std::string>& names,
                             LabRecord& record) {
  std::string batch;
  for (const std::string& name : names) {
    if (NamespaceExists(name)) {
      return NothingRan(fmt::format(
          "a network namespace {} is there already and not this lab's; remove "
          "it with: ip netns del {}",
          name, name));
    }
    batch += "netns add " + name + "\n";
  }
  record.namespaces.insert(record.namespaces.end(), names.begin(), names.end());
  if (Outcome<Done> written = WriteRecord(record); !written.has_value()) {
    return written;
  }
  return Batch({"ip"}, batch);
}

// Tried on the loopback interface of a namespace of ours, which is still down.
bool HasNetem(const std::string& netns) {
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"tc", "-n", netns, "qdisc"});
    return TryCommand({std::move(words), "", kTimeout});
  };
  const Outcome<CommandResult> added =
      with({"add", "dev", "lo", "root", "netem", "delay", "1ms"});
  if (!added.has_value() || added.value().exit_code != 0) return false;
  (void)with({"del", "dev", "lo", "root"});
  return true;
}

// The delay stands between the hosts, not in them: a sender's kernel holds
// back what lies in a qdisc of its own.
Outcome<Done> ChooseDelayLine(const LabSpec& spec, StandingLab& lab) {
  lab.link.settings["delay line"] = "none";
  if (!NeedsDelayLine(spec.link)) return Done{};
  if (!spec.own_relay && HasNetem(lab.layout.hosts[0].netns)) {
    lab.layout.wiring = Wiring::kBridge;
    lab.link.settings["delay line"] = "netem";
    return MakeNamespaces({SwitchNamespace(lab.layout)}, lab.record);
  }
  lab.layout.wiring = Wiring::kRelay;
  lab.link.settings["delay line"] = "own relay";
  return Done{};
}

std::vector<std::string> RelayWords(const LabSpec& spec, const Layout& layout,
                                    const std::string& self) {
  const Port near = RelayPort(layout);
  const LinkSpec& link = spec.link;
  const auto spelled = [](double share) {
    return fmt::format("{:.17g}", share);
  };
  // A session of its own, so that Ctrl-C reaches us and not the link.
  return {"setsid",
          layout.hosts[0].agent[0],
          "netns",
          "exec",
          near.netns,
          self,
          "lab-relay",
          "--tap-a",
          near.interface,
          "--tap-b",
          "lab1",
          "--delay-ns",
          std::to_string(link.delay.count()),
          "--jitter-ns",
          std::to_string(link.jitter.count()),
          "--loss",
          spelled(link.loss),
          "--duplicate",
          spelled(link.duplicate),
          "--reorder",
          spelled(link.reorder),
          "--seed",
          std::to_string(spec.seed)};
}

// The relay lives in the first host's namespace, or the router's, where it
// makes both TAPs; the second host gets the far one.
Outcome<Done> StartRelay(const LabSpec& spec, StandingLab& lab) {
  const std::string self = std::filesystem::absolute(spec.self).string();
  if (const auto found = FindProgram(self); !found.has_value()) {
    return NothingRan("the delay line needs the wiretoll program, and '" +
                      spec.self.string() + "' is none");
  }
  const std::string near = RelayPort(lab.layout).netns;
  Outcome<BackgroundProcess> relay = BackgroundProcess::Start(
      RelayWords(spec, lab.layout, self), "ready", kTimeout);
  if (!relay.has_value()) return relay.error();
  lab.relay.emplace(std::move(relay.value()));
  const std::string& far = lab.layout.hosts[1].netns;
  Outcome<Done> moved =
      Batch({"ip", "-n", near}, "link set lab1 netns " + far + "\n");
  if (!moved.has_value()) return moved;
  return Batch({"ip", "-n", far},
               fmt::format("link set lab1 name {}\n", kHostInterface));
}

Outcome<Done> MakeLinks(const LabSpec& spec, StandingLab& lab) {
  Outcome<Done> made = Batch({"ip"}, LinksBatch(lab.layout));
  if (!made.has_value() || lab.layout.wiring != Wiring::kRelay) return made;
  return StartRelay(spec, lab);
}

// The kernel files of one namespace: of the host, and of its ports.
Outcome<Done> TuneNamespace(const std::string& netns, const LabSpec& spec,
                            StandingLab& lab) {
  std::vector<KernelFile> files = HostFiles(spec);
  for (const Port& port : Ports(lab.layout)) {
    if (port.netns == netns) files.push_back(SteeringFile(port));
  }
  if (netns == RouterNamespace(lab.layout)) files.push_back(ForwardingFile());
  return ApplyFiles(netns, files, lab.link.settings);
}

Outcome<Done> TunePort(const Port& port, StandingLab& lab) {
  const Outcome<Settings> offloads = SwitchOffloadsOff(port);
  if (!offloads.has_value()) return offloads.error();
  Merge(offloads.value(), port.netns + " " + port.interface, lab.link.settings);
  return Done{};
}

Outcome<Done> BringUp(const LabSpec& spec, const StandingLab& lab) {
  const Layout& layout = lab.layout;
  if (layout.wiring == Wiring::kBridge) {
    Outcome<Done> done =
        Batch({"ip", "-n", SwitchNamespace(layout)}, SwitchBatch(layout));
    if (!done.has_value()) return done;
  }
  if (layout.routed) {
    Outcome<Done> done = Batch({"ip", "-n", RouterNamespace(layout)},
                               RouterBatch(layout, spec.link));
    if (!done.has_value()) return done;
  }
  for (std::size_t host = 0; host < layout.hosts.size(); ++host) {
    Outcome<Done> done = Batch({"ip", "-n", layout.hosts[host].netns},
                               HostBatch(layout, host, spec));
    if (!done.has_value()) return done;
  }
  return Done{};
}

Outcome<Done> AddQdisc(const Port& port, std::vector<std::string> words) {
  words.insert(words.begin(), {"tc", "-n", port.netns, "qdisc", "replace",
                               "dev", port.interface, "root"});
  const Outcome<std::string> done =
      RunCommand({std::move(words), "", kTimeout});
  if (!done.has_value()) return done.error();
  return Done{};
}

// Each host's own end; where they differ the record has both.
Outcome<Done> ShapeHosts(const LabSpec& spec, StandingLab& lab) {
  const LinkSpec& link = spec.link;
  for (std::size_t host = 0; host < lab.layout.hosts.size(); ++host) {
    const Port port{lab.layout.hosts[host].netns, kHostInterface};
    const std::optional<BitsPerSecond> rate = HostRate(link, host);
    if (!rate) {
      Merge({{"qdisc", "the kernel's default"}}, port.netns, lab.link.settings);
      continue;
    }
    const std::vector<std::string> words =
        ShaperWords(MakeShaper(*rate, link.mtu, link.delay));
    Merge({{"qdisc", SpellCommand(words)}}, port.netns, lab.link.settings);
    Outcome<Done> done = AddQdisc(port, words);
    if (!done.has_value()) return done;
  }
  return Done{};
}

Outcome<Done> ShapeRouter(const LabSpec& spec, StandingLab& lab) {
  for (const std::size_t host : {0u, 1u}) {
    const std::optional<RouterLine> line = RouterLineTo(spec.link, host);
    if (!line) continue;
    const std::vector<std::string> words =
        RouterShaperWords(*line, spec.link.mtu);
    const char* interface = host == 0 ? kRouterNear : kRouterFar;
    lab.link.settings[fmt::format("router qdisc, {}", interface)] =
        SpellCommand(words);
    Outcome<Done> done =
        AddQdisc({RouterNamespace(lab.layout), interface}, words);
    if (!done.has_value()) return done;
  }
  return Done{};
}

Outcome<Done> Shape(const LabSpec& spec, StandingLab& lab) {
  Outcome<Done> done = ShapeHosts(spec, lab);
  return done.has_value() ? ShapeRouter(spec, lab) : done;
}

// On the bridge's ports, each of which sends to one host.
Outcome<Done> DelayByNetem(const LabSpec& spec, StandingLab& lab) {
  if (lab.link.settings["delay line"] != "netem") return Done{};
  const std::vector<std::string> words = NetemWords(spec.link);
  lab.link.settings["netem"] = SpellCommand(words);
  for (const Port& port : Ports(lab.layout)) {
    if (port.netns != SwitchNamespace(lab.layout)) continue;
    Outcome<Done> done = AddQdisc(port, words);
    if (!done.has_value()) return done;
  }
  return Done{};
}

// A line that misses what was asked for is told of; one that carries nothing
// is no line.
Outcome<Done> CheckLine(const LabSpec& spec, StandingLab& lab) {
  if (!spec.check_line) return Done{};
  const bool netem = lab.link.settings["delay line"] == "netem";
  LabSpec path = spec;
  path.link = PathOf(spec.link);
  JudgedLine judged =
      JudgeLine(path.link, netem, MeasureLine(path, lab.layout.hosts));
  Merge(judged.settings, "the check", lab.link.settings);
  lab.check = std::move(judged.check);
  if (!judged.carries_nothing) return Done{};
  return NothingRan(fmt::format("the lab's line carries nothing: {}",
                                fmt::join(lab.check.warnings, "; ")));
}

Outcome<Done> Describe(const LabSpec& spec, StandingLab& lab) {
  RecordedLink& link = lab.link;
  link.kind = "lab";
  link.description = DescribeLink(lab.layout, spec.link);
  const LinkSpec path = PathOf(spec.link);
  if (path.rate) link.rate_bits_per_second = path.rate->value;
  link.mtu = path.mtu;
  link.delay_ns = spec.link.delay.count();
  link.loss = spec.link.loss;
  Settings& settings = link.settings;
  settings["jitter"] = SpellDuration(spec.link.jitter);
  settings["duplicate"] = fmt::format("{:.6g} %", spec.link.duplicate * 100);
  settings["reorder"] = fmt::format("{:.6g} %", spec.link.reorder * 100);
  settings["congestion"] = lab.congestion;
  if (spec.route_congestion) {
    settings["congestion"] = *spec.route_congestion + ", by the hosts' routes";
  }
  settings["gso_max_segs"] = "1";
  settings["txqueuelen"] = "10000";
  settings["neighbours"] = "static, so that ARP adds no frames";
  settings["initcwnd"] = spec.initcwnd ? std::to_string(*spec.initcwnd)
                                       : "not set (the kernel's own)";
  settings["route quickack"] = spec.route_quickack ? "1" : "not set";
  static constexpr const char* kWirings[] = {"veth pair", "veth and bridge",
                                             "TAP and relay"};
  settings["wiring"] = kWirings[static_cast<int>(lab.layout.wiring)];
  if (lab.layout.routed) {
    settings["wiring"] += ", and a veth pair to the router";
    Merge(RouterSettings(spec.link), "the router", settings);
  }
  if (lab.layout.wiring == Wiring::kRelay) {
    settings["relay seed"] = std::to_string(spec.seed);
  }
  return Done{};
}

using Step = Outcome<Done> (*)(const LabSpec&, StandingLab&);

Outcome<Done> Tune(const LabSpec& spec, StandingLab& lab) {
  for (const std::string& netns : Namespaces(lab.layout)) {
    Outcome<Done> done = TuneNamespace(netns, spec, lab);
    if (!done.has_value()) return done;
  }
  for (const Port& port : Ports(lab.layout)) {
    Outcome<Done> done = TunePort(port, lab);
    if (!done.has_value()) return done;
  }
  return BringUp(spec, lab);
}

// Once the line has been checked, which the namespace's kernel does.
Outcome<Done> HandOverToStacks(const LabSpec&, StandingLab& lab) {
  for (const LabHost& host : lab.layout.hosts) {
    const bool guest = !GuestKernelOf(host.kind).empty();
    if (host.kind != kLwipKind && !guest) continue;
    Outcome<Done> done =
        Batch({"ip", "-n", host.netns}, HandOverBatch(lab.layout));
    if (!done.has_value()) return done;
    if (guest) continue;
    lab.link.settings[host.name] =
        "lwIP in its agent's process, on a TAP that a bridge joins to the "
        "line; "
        "the line was checked before by this namespace's kernel";
  }
  return Done{};
}

// A folder of the host's own, as long as the lab stands.
Outcome<std::filesystem::path> HostFolder(const StandingLab& lab,
                                          const LabHost& host) {
  const Outcome<std::filesystem::path> folder = LabFolder(lab.record);
  if (!folder.has_value()) return folder.error();
  std::filesystem::path own = folder.value() / host.name;
  std::error_code error;
  std::filesystem::create_directories(own, error);
  if (error) return NothingRan(own.string() + ": " + error.message());
  return own;
}

Outcome<Done> StartOneGuest(const LabSpec& spec, StandingLab& lab,
                            std::size_t index) {
  LabHost& host = lab.layout.hosts[index];
  const Outcome<GuestKernel> kernel =
      FindGuestKernel(GuestKernelOf(host.kind), spec.say);
  if (!kernel.has_value()) return kernel.error();
  const auto folder = HostFolder(lab, host);
  if (!folder.has_value()) return folder.error();
  Outcome<StartedGuest> started =
      StartGuest(spec, lab.layout, index, kernel.value(), folder.value());
  if (!started.has_value()) return started.error();
  host.agent = std::move(started.value().agent);
  lab.link.settings[host.name] = started.value().description;
  lab.guests.push_back(std::move(started.value().keeper));
  return Done{};
}

Outcome<Done> PrepareGvisors(const LabSpec& spec, StandingLab& lab) {
  for (std::size_t index = 0; index < lab.layout.hosts.size(); ++index) {
    LabHost& host = lab.layout.hosts[index];
    if (host.kind != kGvisorKind) continue;
    const auto folder = HostFolder(lab, host);
    if (!folder.has_value()) return folder.error();
    Outcome<PreparedGvisor> prepared =
        PrepareGvisor(spec, lab.layout, index, folder.value());
    if (!prepared.has_value()) return prepared.error();
    host.agent = std::move(prepared.value().agent);
    lab.link.settings[host.name] = prepared.value().description;
  }
  return Done{};
}

Outcome<Done> StartGuests(const LabSpec& spec, StandingLab& lab) {
  if (HasGuest(spec) && spec.say) spec.say("booting the guests");
  for (std::size_t host = 0; host < lab.layout.hosts.size(); ++host) {
    if (GuestKernelOf(lab.layout.hosts[host].kind).empty()) continue;
    Outcome<Done> started = StartOneGuest(spec, lab, host);
    if (!started.has_value()) return started;
  }
  return Done{};
}

// Last, since what Wine starts should find the network as it stays.
Outcome<Done> StartWines(const LabSpec& spec, StandingLab& lab) {
  for (LabHost& host : lab.layout.hosts) {
    if (host.kind != kWineKind) continue;
    Outcome<StartedWine> started = StartWine(host, spec);
    if (!started.has_value()) return started.error();
    StartedWine& wine = started.value();
    host.agent.insert(host.agent.end(), wine.agent.begin(), wine.agent.end());
    lab.link.settings[host.name] =
        "Wine's server stands in this namespace, no default route; prefix " +
        wine.prefix;
    lab.wines.push_back(std::move(wine.keeper));
  }
  return Done{};
}

Outcome<Done> Finish(const LabSpec&, StandingLab& lab) {
  lab.record.hosts = lab.layout.hosts;
  lab.record.link = lab.link.description;
  return WriteRecord(lab.record);
}

Outcome<Done> BuildOfNamespaces(const LabSpec& spec, StandingLab& lab) {
  Outcome<Done> made = MakeNamespaces(Namespaces(lab.layout), lab.record);
  if (!made.has_value()) return made;
  for (const Step step :
       {&ChooseDelayLine, &MakeLinks, &Tune, &Shape, &DelayByNetem, &CheckLine,
        &HandOverToStacks, &StartGuests, &PrepareGvisors, &StartWines,
        &Describe, &Finish}) {
    Outcome<Done> done = step(spec, lab);
    if (!done.has_value()) return done;
  }
  return Done{};
}

Outcome<Done> BuildOfContainers(const LabSpec& spec, StandingLab& lab) {
  const Outcome<ContainerEngine> engine = FindEngine(spec);
  if (!engine.has_value()) return engine.error();
  Outcome<Done> made = MakeContainers(spec, engine.value(), lab);
  if (!made.has_value()) return made;
  if (lab.layout.hosts[0].netns.empty()) {
    lab.check.summary = "line not checked: that needs root";
    lab.link.settings["check"] = "not measured: needs root";
  } else if (auto checked = CheckLine(spec, lab); !checked.has_value()) {
    return checked;
  }
  return Finish(spec, lab);
}

// The prefix of what would be its namespaces, of which it has none.
Outcome<std::unique_ptr<StandingLab>> BuildSimulation(const LabSpec& spec) {
  const Outcome<LabOwner> owner = ThisProcess();
  if (!owner.has_value()) return owner.error();
  Outcome<LabRecord> record = CreateRecord(owner.value());
  if (!record.has_value()) return record.error();
  auto lab = std::make_unique<StandingLab>();
  lab->record = std::move(record.value());
  lab->all_choose_congestion = false;
  lab->layout = MakeLayout(spec, NamespacePrefix(lab->record), "");
  const Outcome<std::filesystem::path> folder = LabFolder(lab->record);
  if (!folder.has_value()) return folder.error();
  Outcome<Done> made = MakeSimulated(spec, folder.value(), *lab);
  if (made.has_value()) made = Finish(spec, *lab);
  if (!made.has_value()) return made.error();
  return lab;
}

Outcome<std::unique_ptr<StandingLab>> BuildNetwork(const LabSpec& asked) {
  if (Outcome<Done> there = CheckPrograms(asked); !there.has_value()) {
    return there.error();
  }
  const Outcome<std::string> congestion = ChooseCongestion();
  if (!congestion.has_value()) return congestion.error();
  LabSpec spec = asked;
  // By the route, so that whoever uses the line later has it too: an agent of
  // another run, one that cannot choose (Wine), another program.
  if (!spec.route_congestion) spec.route_congestion = congestion.value();
  const Outcome<LabOwner> owner = ThisProcess();
  if (!owner.has_value()) return owner.error();
  Outcome<LabRecord> record = CreateRecord(owner.value());
  if (!record.has_value()) return record.error();

  auto lab = std::make_unique<StandingLab>();
  lab->record = std::move(record.value());
  lab->congestion = congestion.value();
  lab->all_choose_congestion = !HasWine(spec) && !HasLwip(spec);
  lab->layout =
      MakeLayout(spec, NamespacePrefix(lab->record), FindProgram("ip").value());
  Outcome<Done> made = HasContainers(spec) ? BuildOfContainers(spec, *lab)
                                           : BuildOfNamespaces(spec, *lab);
  if (!made.has_value()) return made.error();
  return lab;
}

}  // namespace

StandingLab::~StandingLab() {
  if (kept) return;
  relay.reset();
  wines.clear();
  guests.clear();
  if (record.id.empty()) return;
  // What would not go stays in the record, for the next start to try again.
  (void)ClearAway(record, milliseconds(500));
}

Outcome<std::unique_ptr<StandingLab>> BuildLab(const LabSpec& spec) {
  return HasSimulation(spec) ? BuildSimulation(spec) : BuildNetwork(spec);
}

}  // namespace wiretoll
