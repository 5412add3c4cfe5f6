#include "harness/lab/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "harness/lab/delay_line.h"
#include "harness/lab/router.h"
#include "harness/lab/simulated.h"

namespace wiretoll {
namespace {

Failure Usage(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

std::string SwitchPort(const LabHost& host) { return "to-" + host.name; }

std::string RouteAttributes(const LabSpec& spec) {
  std::string text;
  if (spec.initcwnd) text += fmt::format(" initcwnd {}", *spec.initcwnd);
  if (spec.route_quickack) text += " quickack 1";
  if (spec.route_congestion) text += " congctl " + *spec.route_congestion;
  return text;
}

// Two ends of one veth.
struct Cable {
  Port one, other;
};

Port HostPort(const LabHost& host) { return {host.netns, kHostInterface}; }

// The bridge's ends, with whom each is joined.
std::vector<Cable> SwitchCables(const Layout& layout) {
  std::vector<Cable> cables;
  if (layout.wiring != Wiring::kBridge) return cables;
  const std::string netns = SwitchNamespace(layout);
  for (std::size_t host = 0; host < layout.hosts.size(); ++host) {
    const bool by_router = layout.routed && host == 0;
    cables.push_back(
        by_router
            ? Cable{{RouterNamespace(layout), kRouterFar}, {netns, "to-router"}}
            : Cable{HostPort(layout.hosts[host]),
                    {netns, SwitchPort(layout.hosts[host])}});
  }
  return cables;
}

std::vector<Cable> Cables(const Layout& layout) {
  const std::vector<LabHost>& hosts = layout.hosts;
  std::vector<Cable> cables;
  if (layout.routed) {
    const std::string router = RouterNamespace(layout);
    cables.push_back({HostPort(hosts[0]), {router, kRouterNear}});
    if (layout.wiring == Wiring::kVethPair)
      cables.push_back({{router, kRouterFar}, HostPort(hosts[1])});
  } else if (layout.wiring == Wiring::kVethPair) {
    cables.push_back({HostPort(hosts[0]), HostPort(hosts[1])});
  }
  const std::vector<Cable> to_switch = SwitchCables(layout);
  cables.insert(cables.end(), to_switch.begin(), to_switch.end());
  return cables;
}

bool IsWord(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

bool IsSysctlName(std::string_view name) {
  return name.starts_with("net.") && name.find("..") == name.npos &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

bool IsKind(const std::string& kind) {
  return kind == "linux" || kind == kWineKind || kind == kLwipKind ||
         kind == kGvisorKind || kind == kNs3Kind ||
         kind == kNs3PointToPointKind || kind == kContainerKind ||
         !GuestKernelOf(kind).empty();
}

Outcome<Done> CheckGuestCount(const std::vector<std::string>& kinds) {
  const auto guests = std::count_if(
      kinds.begin(), kinds.end(),
      [](const std::string& kind) { return !GuestKernelOf(kind).empty(); });
  if (guests <= kMostGuests) return Done{};
  return Usage(fmt::format(
      "{} guests: a lab has at most {}, each of which takes a CPU and 256 MB",
      guests, kMostGuests));
}

Outcome<Done> CheckKinds(const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    if (IsKind(kind)) continue;
    return Usage(fmt::format(
        "lab kind '{}' is not in this version; there are: linux, wine, lwip, "
        "gvisor, guest:VERSION as guest:6.1, guest:IMAGE, ns3, ns3-p2p, "
        "container",
        kind));
  }
  if (auto guests = CheckGuestCount(kinds); !guests.has_value()) return guests;
  const auto containers =
      std::count(kinds.begin(), kinds.end(), kContainerKind);
  if (containers > 0 && containers != std::ssize(kinds)) {
    return Usage(
        "containers stand on their engine's bridge and other hosts on the "
        "lab's own, with no line between the two: say --lab "
        "container,container or --lab linux,linux");
  }
  if (kinds.size() < 2 || kinds.size() > kMostHosts) {
    return Usage(
        fmt::format("a lab has 2 to {} hosts, this one {}: say --lab "
                    "linux,linux",
                    kMostHosts, kinds.size()));
  }
  return Done{};
}

Outcome<Done> CheckKernelSettings(const LabSpec& spec) {
  if (spec.initcwnd && (*spec.initcwnd < 1 || *spec.initcwnd > 1'000'000)) {
    return Usage(
        fmt::format("initcwnd {}: 1 to 1000000 segments", *spec.initcwnd));
  }
  if (spec.route_congestion && !IsWord(*spec.route_congestion)) {
    return Usage("'" + *spec.route_congestion +
                 "' is no name of a congestion control");
  }
  for (const auto& [name, value] : spec.sysctls) {
    if (!IsSysctlName(name) || value.empty() ||
        value.find('\n') != value.npos) {
      return Usage(fmt::format(
          "sysctl '{}' = '{}': names begin with 'net.' and values are one line",
          name, value));
    }
  }
  return Done{};
}

// What an engine makes is left as it is, save for the rate.
Outcome<Done> CheckContainerLab(const LabSpec& spec) {
  if (spec.link.router) {
    return Usage(
        "--router is not for containers, which stand on one bridge of their "
        "engine: say --lab linux,linux");
  }
  if (NeedsDelayLine(spec.link) || spec.link.reorder > 0) {
    return Usage(
        "--delay, --jitter, --loss, --duplicate and --reorder are not for "
        "containers, whose line is their engine's: say --lab linux,linux");
  }
  if (!spec.sysctls.empty() || spec.initcwnd || spec.route_quickack ||
      spec.route_congestion) {
    return Usage(
        "sysctls and routes of containers are their engine's: say --lab "
        "linux,linux");
  }
  return CheckDelayLine(spec.link, 2);
}

// What follows `ip netns exec NS` to start the agent of host `index`.
std::vector<std::string> AgentWords(const LabSpec& spec, const Layout& layout,
                                    std::size_t index,
                                    const std::string& address) {
  const std::string& kind = spec.kinds[index];
  // StartWine(), StartGuest(), PrepareGvisor() and MakeSimulated() know.
  if (kind == kWineKind || kind == kGvisorKind || HasSimulation(spec) ||
      !GuestKernelOf(kind).empty())
    return {};
  if (kind != kLwipKind)
    return {std::filesystem::absolute(spec.agent).string()};
  std::vector<std::string> words{
      std::filesystem::absolute(spec.lwip_agent).string(),
      "--tap",
      kStackInterface,
      "--address",
      address,
      "--mac",
      HostMac(index),
      "--mtu",
      std::to_string(layout.mtu)};
  if (layout.routed) {
    words.insert(words.end(), {"--gateway", RouterAddress(index)});
  }
  return words;
}

// What makes the rate and what a delay line does; empty where nothing does.
std::string SpellMeans(const Layout& layout, const LinkSpec& link) {
  const bool relay = layout.wiring == Wiring::kRelay;
  const bool delayed = NeedsDelayLine(link);
  const bool shaped = PathOf(link).rate.has_value();
  if (!shaped && !delayed) return {};
  std::string means = !relay ? "veth" : layout.routed ? "veth, TAP" : "TAP";
  if (layout.wiring == Wiring::kBridge) means += ", bridge";
  if (shaped) means += ", tbf";
  if (delayed) means += relay ? ", own relay" : ", netem";
  return means;
}

}  // namespace

Outcome<Done> CheckLabSpec(const LabSpec& spec) {
  const LinkSpec& link = spec.link;
  if (Outcome<Done> kinds = CheckKinds(spec.kinds); !kinds.has_value()) {
    return kinds;
  }
  if (link.rate && !(link.rate->value >= 1000 && link.rate->value <= 1e11)) {
    return Usage("--link " + FormatBitRate(*link.rate) +
                 ": a lab shapes 1 kbit/s to 100 Gbit/s; --link none leaves "
                 "it unshaped");
  }
  if (link.mtu < 68 || link.mtu > 9000) {
    return Usage(fmt::format(
        "an MTU of {} bytes: a lab has 68 (RFC 791) to 9000", link.mtu));
  }
  if (auto kernel = CheckKernelSettings(spec); !kernel.has_value()) {
    return kernel;
  }
  if (HasContainers(spec)) return CheckContainerLab(spec);
  if (HasSimulation(spec)) return CheckSimulatedLab(spec);
  if (Outcome<Done> router = CheckRouter(spec); !router.has_value()) {
    return router;
  }
  return CheckDelayLine(link, spec.kinds.size());
}

bool HasContainers(const LabSpec& spec) {
  return std::count(spec.kinds.begin(), spec.kinds.end(), kContainerKind) > 0;
}

bool HasWine(const LabSpec& spec) {
  return std::count(spec.kinds.begin(), spec.kinds.end(), kWineKind) > 0;
}

std::string GuestKernelOf(const std::string& kind) {
  return kind.starts_with(kGuestPrefix) ? kind.substr(kGuestPrefix.size())
                                        : std::string();
}

// Of an image its file's name; and nothing that --pairs, a namespace or a file
// would take for something else.
std::string NameOfKind(const std::string& kind) {
  const std::string kernel = GuestKernelOf(kind);
  if (kernel.empty()) return kind;
  std::string name =
      "guest-" + std::filesystem::path(kernel).filename().string();
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

bool HasSimulation(const LabSpec& spec) {
  return std::any_of(spec.kinds.begin(), spec.kinds.end(),
                     [](const std::string& kind) {
                       return kind == kNs3Kind || kind == kNs3PointToPointKind;
                     });
}

bool HasGvisor(const LabSpec& spec) {
  return std::count(spec.kinds.begin(), spec.kinds.end(), kGvisorKind) > 0;
}

bool HasGuest(const LabSpec& spec) {
  return std::any_of(
      spec.kinds.begin(), spec.kinds.end(),
      [](const std::string& kind) { return !GuestKernelOf(kind).empty(); });
}

bool HasLwip(const LabSpec& spec) {
  return std::count(spec.kinds.begin(), spec.kinds.end(), kLwipKind) > 0;
}

Layout MakeLayout(const LabSpec& spec, const std::string& prefix,
                  const std::string& ip) {
  Layout layout;
  layout.prefix = prefix;
  layout.mtu = spec.link.mtu;
  layout.routed = spec.link.router.has_value();
  layout.wiring = spec.kinds.size() > 2 ? Wiring::kBridge : Wiring::kVethPair;
  std::map<std::string, int> count;
  for (const std::string& kind : spec.kinds) {
    LabHost host;
    host.kind = kind;
    host.name = NameOfKind(kind);
    if (std::count(spec.kinds.begin(), spec.kinds.end(), kind) > 1) {
      host.name += fmt::format("-{}", ++count[kind]);
    }
    const std::size_t index = layout.hosts.size();
    host.address =
        fmt::format("10.77.{}.{}", layout.routed ? index : 0u, index + 1);
    host.netns = prefix + "-" + host.name;
    host.agent = {ip, "netns", "exec", host.netns};
    const std::vector<std::string> agent =
        AgentWords(spec, layout, index, host.address);
    host.agent.insert(host.agent.end(), agent.begin(), agent.end());
    layout.hosts.push_back(std::move(host));
  }
  return layout;
}

// Locally administered, so that no vendor's address is taken.
std::string HostMac(std::size_t host) {
  return fmt::format("02:77:00:00:00:{:02x}", host + 1);
}

std::string SwitchNamespace(const Layout& layout) {
  return layout.prefix + "-switch";
}

std::vector<std::string> Namespaces(const Layout& layout) {
  std::vector<std::string> names;
  for (const LabHost& host : layout.hosts) names.push_back(host.netns);
  if (layout.routed) names.push_back(RouterNamespace(layout));
  if (layout.wiring == Wiring::kBridge) {
    names.push_back(SwitchNamespace(layout));
  }
  return names;
}

std::vector<Port> Ports(const Layout& layout) {
  std::vector<Port> ports;
  for (const LabHost& host : layout.hosts) ports.push_back(HostPort(host));
  if (layout.routed) {
    ports.push_back({RouterNamespace(layout), kRouterNear});
    ports.push_back({RouterNamespace(layout), kRouterFar});
  }
  for (const Cable& cable : SwitchCables(layout)) ports.push_back(cable.other);
  return ports;
}

Port RelayPort(const Layout& layout) {
  return layout.routed ? Port{RouterNamespace(layout), kRouterFar}
                       : HostPort(layout.hosts[0]);
}

std::string LinksBatch(const Layout& layout) {
  std::string batch;
  for (const auto& [one, other] : Cables(layout)) {
    batch += fmt::format(
        "link add {} netns {} mtu {} type veth peer name {} netns {} mtu {}\n",
        one.interface, one.netns, layout.mtu, other.interface, other.netns,
        layout.mtu);
  }
  return batch;
}

std::string HostBatch(const Layout& layout, std::size_t host,
                      const LabSpec& spec) {
  const std::string& own = layout.hosts[host].address;
  // gso_max_segs: ethtool's gso off does not keep TCP from building packets of
  // many segments, and a shaper charges those wrongly.
  std::string batch = fmt::format(
      "link set lo up\n"
      "link set {0} address {1} mtu {2} gso_max_segs 1 txqueuelen 10000\n"
      "link set {0} up\n"
      "addr add {3}/24 dev {0}\n",
      kHostInterface, HostMac(host), layout.mtu, own);
  const std::string attributes = RouteAttributes(spec);
  if (!attributes.empty()) {
    batch += fmt::format(
        "route replace {} dev {} proto kernel scope link src {}{}\n",
        NetworkOf(layout, host), kHostInterface, own, attributes);
  }
  if (layout.routed) {
    batch += fmt::format(
        "route replace {0} via {1} dev {2} src {3}{4}\n"
        "neigh replace {1} lladdr {5} nud permanent dev {2}\n",
        NetworkOf(layout, 1 - host), RouterAddress(host), kHostInterface, own,
        attributes, RouterMac(host));
    return batch;
  }
  for (std::size_t other = 0; other < layout.hosts.size(); ++other) {
    if (other == host) continue;
    batch += fmt::format("neigh replace {} lladdr {} nud permanent dev {}\n",
                         layout.hosts[other].address, HostMac(other),
                         kHostInterface);
  }
  return batch;
}

std::string HandOverBatch(const Layout& layout) {
  // The kernel would answer for the address, and the bridge keep frames for a
  // MAC that one of its ports has.
  return fmt::format(
      "addr flush dev {0}\n"
      "link set {0} address 02:77:00:00:01:00\n"
      "tuntap add dev {1} mode tap\n"
      "link add bridge0 mtu {2} type bridge stp_state 0 mcast_snooping 0\n"
      "link set {0} master bridge0\n"
      "link set {1} mtu {2} txqueuelen 10000 master bridge0\n"
      "link set {1} up\n"
      "link set bridge0 up\n",
      kHostInterface, kStackInterface, layout.mtu);
}

std::string SwitchBatch(const Layout& layout) {
  // No snooping: its queries would be frames that nobody sent.
  std::string batch = fmt::format(
      "link add bridge0 mtu {} type bridge stp_state 0 mcast_snooping 0\n",
      layout.mtu);
  for (const Cable& cable : SwitchCables(layout)) {
    batch += fmt::format(
        "link set {0} gso_max_segs 1 txqueuelen 10000 master bridge0\n"
        "link set {0} up\n",
        cable.other.interface);
  }
  return batch + "link set bridge0 up\n";
}

Shaper MakeShaper(BitsPerSecond rate, int mtu, Nanoseconds delay) {
  // FCS 4, preamble 8 and gap 12 (IEEE 802.3) beside the header's 14.
  const int frame = mtu + 14 + 24;
  const double bytes_per_second = rate.value / 8;
  const double late = 640e-6 * bytes_per_second;
  const double seconds_queued =
      0.1 + 4 * std::chrono::duration<double>(delay).count();
  Shaper shaper{};
  shaper.rate_bits_per_second = std::llround(rate.value);
  // In whole bytes first: 8000.000000000001 must not become 9000.
  const std::int64_t burst = std::llround(std::max(late, 3.0 * frame));
  shaper.burst_bytes = (burst + 999) / 1000 * 1000;
  shaper.limit_bytes =
      std::llround(std::max(2e6, seconds_queued * bytes_per_second));
  // A size table of single bytes: with wider cells costs are rounded up.
  shaper.table_bytes = 2048;
  while (shaper.table_bytes <= frame) shaper.table_bytes *= 2;
  return shaper;
}

std::vector<std::string> ShaperWords(const Shaper& shaper) {
  const std::string table = std::to_string(shaper.table_bytes);
  return {"stab",     "mtu",
          table,      "tsize",
          table,      "overhead",
          "24",       "mpu",
          "84",       "linklayer",
          "ethernet", "tbf",
          "rate",     fmt::format("{}bit", shaper.rate_bits_per_second),
          "burst",    std::to_string(shaper.burst_bytes),
          "limit",    std::to_string(shaper.limit_bytes)};
}

std::string DescribeLink(const Layout& layout, const LinkSpec& link) {
  const bool relay = layout.wiring == Wiring::kRelay;
  std::string text = "emulated link: ";
  text += link.rate ? FormatBitRate(*link.rate) + " Ethernet"
                    : std::string(relay && !link.router ? "TAP" : "veth");
  text += SpellRouter(link);
  text += SpellDelayLine(link);
  if (layout.mtu != 1500) text += fmt::format(", MTU {}", layout.mtu);
  text += layout.hosts.size() == 2
              ? std::string(" between two namespaces")
              : fmt::format(" between {} namespaces", layout.hosts.size());
  const std::string means = SpellMeans(layout, link);
  if (!means.empty()) text += " (" + means + ")";
  return PathOf(link).rate ? text : text + ", not shaped";
}

}  // namespace wiretoll
