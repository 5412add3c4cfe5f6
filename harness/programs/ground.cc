#include "harness/programs/ground.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "harness/programs/standard_error.h"
#include "platform/process.h"
#include "platform/terminal.h"

namespace wiretoll {
namespace {

// Set in the environment of the program that was started again inside a user
// namespace, so that it does not try once more.
constexpr char kInsideVariable[] = "WIRETOLL_INSIDE_USER_NAMESPACE";

std::filesystem::path AgentProgram() {
  return ProgramFile().parent_path() / "wiretoll-agent";
}

// Beside the other agents where they are installed, and in a build folder of
// its own, for it links what nothing else of ours may.
std::filesystem::path Ns3AgentProgram() {
  const std::filesystem::path here = ProgramFile().parent_path();
  const std::filesystem::path built = here / "../ns3/wiretoll-agent-ns3";
  std::error_code ignored;
  return std::filesystem::exists(built, ignored)
             ? std::filesystem::canonical(built, ignored)
             : here / "wiretoll-agent-ns3";
}

// The one told, else beside the other agent, else where `./dev windows` puts
// it, seen from where `./dev build` puts this program.
std::filesystem::path WindowsAgentProgram() {
  const char* told = std::getenv("WIRETOLL_WINDOWS_AGENT");
  if (told != nullptr && told[0] != '\0') return told;
  const std::filesystem::path beside =
      ProgramFile().parent_path() / "wiretoll-agent.exe";
  const std::filesystem::path built =
      ProgramFile().parent_path() /
      "../../../windows/harness/programs/wiretoll-agent.exe";
  std::error_code ignored;
  const bool is_built = !std::filesystem::exists(beside, ignored) &&
                        std::filesystem::exists(built, ignored);
  return is_built ? std::filesystem::canonical(built, ignored) : beside;
}

template <class Hosts>
std::vector<Host> ToHosts(const Hosts& lab_hosts) {
  std::vector<Host> hosts;
  hosts.reserve(lab_hosts.size());
  for (const LabHost& host : lab_hosts)
    hosts.push_back({host.name, host.address, host.agent});
  return hosts;
}

Outcome<Ground> OnLoopback(const LabOptions& options,
                           const std::string& reason) {
  const LabSpec spec = ToLabSpec(options);
  if (HasWine(spec)) {
    return Failure{
        ExitCode::kNothingRan,
        "--lab " + options.kinds +
            ": a Wine host needs a network namespace, which keeps what Wine "
            "sends on this machine: " +
            reason};
  }
  if (HasGvisor(spec)) {
    return Failure{ExitCode::kNothingRan,
                   "--lab " + options.kinds +
                       ": gVisor needs a network namespace: " + reason};
  }
  if (HasLwip(spec) || HasGuest(spec)) {
    return Failure{ExitCode::kNothingRan,
                   "--lab " + options.kinds + ": " +
                       (HasLwip(spec) ? "an lwIP host" : "a guest") +
                       " needs a network namespace for its TAP: " + reason};
  }
  WriteError(fmt::format(
      "wiretoll: no lab can be made: {}\n"
      "using loopback instead: not a network, no line rate, no delay{}\n",
      reason,
      options.link_given ? "; --link, --delay, --loss and the like have no "
                           "effect"
                         : ""));
  LoopbackLab loopback = MakeLoopbackLab(spec);
  Ground ground;
  ground.hosts = ToHosts(loopback.hosts);
  ground.link = loopback.link;
  return ground;
}

Outcome<Ground> InLab(const LabOptions& options, bool quiet) {
  const std::string warning = LongLineWarning(options);
  if (!quiet) WriteError(warning);
  LabSpec spec = ToLabSpec(options);
  if (quiet) spec.say = nullptr;
  auto lab = Lab::Up(spec);
  if (!lab.has_value()) return lab.error();
  Ground ground;
  ground.line_check = TellLineCheck(lab.value().check(), quiet);
  ground.hosts = ToHosts(lab.value().hosts());
  ground.link = lab.value().link();
  ground.congestion = lab.value().congestion();
  ground.lab.emplace(std::move(lab).value());
  return ground;
}

// Never comes back if it worked.
Failure StartInsideUserNamespace(const std::vector<std::string>& arguments) {
  std::vector<std::string> own{"env", std::string(kInsideVariable) + "=1",
                               ProgramFile().string()};
  own.insert(own.end(), arguments.begin(), arguments.end());
  const Error error = ReplaceProcess(UserNamespaceCommand(own));
  return {ExitCode::kNothingRan,
          "cannot start inside a user namespace: " + error.message()};
}

bool IsV6(const Host& host) {
  return host.address.find(':') != std::string::npos;
}

bool IsLoopback(const Host& host) {
  return host.address.rfind("127.", 0) == 0 || host.address == "::1";
}

Outcome<Ground> OnHosts(HostsFile file, const std::string& name) {
  for (const Host& host : file.hosts) {
    if (IsV6(host) == IsV6(file.hosts.front())) continue;
    return Failure{
        ExitCode::kUsage,
        fmt::format("{}: {} is {} and {} is {}: give all hosts IPv4 "
                    "or all IPv6 addresses",
                    name, file.hosts.front().name, file.hosts.front().address,
                    host.name, host.address)};
  }
  Ground ground;
  ground.hosts = std::move(file.hosts);
  ground.link = std::move(file.link);
  if (std::all_of(ground.hosts.begin(), ground.hosts.end(), IsLoopback)) {
    ground.link.kind = "loopback";
    ground.link.description = "loopback on this machine (not a network)";
  }
  return ground;
}

std::vector<std::string> SplitKinds(const std::string& list) {
  std::vector<std::string> kinds;
  std::string rest = list;
  for (std::size_t comma = 0; comma != std::string::npos;) {
    comma = rest.find(',');
    kinds.push_back(rest.substr(0, comma));
    if (comma != std::string::npos) rest = rest.substr(comma + 1);
  }
  return kinds;
}

}  // namespace

Outcome<Ground> FindGround(const GroundSpec& spec) {
  if (spec.hosts) {
    auto file = LoadHosts(*spec.hosts);
    if (!file.has_value()) return file.error();
    return OnHosts(std::move(file).value(), *spec.hosts);
  }
  // A simulation needs none, and an engine without root brings its own.
  if (HasSimulation(ToLabSpec(spec.lab))) return InLab(spec.lab, spec.quiet);
  if (HasContainers(ToLabSpec(spec.lab))) return InLab(spec.lab, spec.quiet);
  const LabAbility ability = ProbeLabAbility();
  if (ability.means == LabMeans::kLoopback)
    return OnLoopback(spec.lab, ability.reason);
  if (ability.means == LabMeans::kUserNamespace &&
      std::getenv(kInsideVariable) == nullptr) {
    return StartInsideUserNamespace(spec.arguments);
  }
  return InLab(spec.lab, spec.quiet);
}

// A lab measures its line before it is used: pings, and for a rate or shares a
// burst each way, which takes its length, a round trip and a wait for what may
// still come.
std::string LongLineWarning(const LabOptions& options) {
  using namespace std::chrono_literals;
  const LinkSpec& link = options.link;
  const Nanoseconds round_trip = 2 * (link.delay + link.jitter);
  if (round_trip < 500ms) return {};
  Nanoseconds time = std::max<Nanoseconds>(round_trip, 1s);
  const bool shares = link.loss > 0 || link.duplicate > 0 || link.reorder > 0;
  const int bursts = 2 * ((link.rate ? 1 : 0) + (shares ? 1 : 0));
  if (round_trip <= 2s) time += bursts * (round_trip + round_trip / 2 + 300ms);
  return fmt::format(
      "making the lab; a round trip of {} is timed first, in about {} s\n",
      FormatDuration(2 * link.delay),
      std::chrono::round<std::chrono::seconds>(time) / 1s);
}

std::string TellLineCheck(const LinkCheck& check, bool quiet) {
  std::string told;
  if (!quiet && !check.summary.empty()) told += check.summary + "\n";
  for (const std::string& warning : check.warnings)
    told += fmt::format("wiretoll: warning: {}\n", warning);
  return told;
}

LabSpec ToLabSpec(const LabOptions& options) {
  LabSpec spec;
  spec.kinds = SplitKinds(options.kinds);
  spec.link = options.link;
  spec.sysctls = options.sysctls;
  spec.agent = AgentProgram();
  spec.windows_agent = WindowsAgentProgram();
  spec.lwip_agent = ProgramFile().parent_path() / "wiretoll-agent-lwip";
  spec.ns3_agent = Ns3AgentProgram();
  spec.self = ProgramFile();
  // So that our own can be tried where the kernel has netem.
  const char* line = std::getenv("WIRETOLL_DELAY_LINE");
  spec.own_relay = line != nullptr && std::string_view(line) == "relay";
  // What nobody asked for must not keep containers from standing.
  if (HasContainers(spec) && !options.link_given &&
      ProbeLabAbility().means != LabMeans::kRoot)
    spec.link.rate.reset();
  spec.say = [](const std::string& line) { WriteError(line + "\n"); };
  return spec;
}

}  // namespace wiretoll
