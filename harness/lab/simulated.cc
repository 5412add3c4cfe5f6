#include "harness/lab/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/lab/commands.h"
#include "harness/lab/layout.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

Failure NotSimulated(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

bool IsPointToPoint(const LabSpec& spec) {
  return spec.kinds.front() == kNs3PointToPointKind;
}

// As the agent's options spell them.
std::vector<std::string> LineWords(const LabSpec& spec) {
  const LinkSpec& link = spec.link;
  return {"--link", IsPointToPoint(spec) ? "p2p" : "csma", "--rate",
          fmt::format("{:.0f}bit", link.rate->value), "--delay",
          fmt::format("{}ns", link.delay.count()), "--loss",
          fmt::format("{:.9g}%", link.loss * 100), "--mtu",
          std::to_string(link.mtu),
          // A run of random numbers for each trial, by its seed: repeats
          // differ, and the same run again does not.
          "--rng-run", "each"};
}

std::string SpellLine(const LabSpec& spec) {
  const LinkSpec& link = spec.link;
  std::string text = fmt::format(
      "simulated link: {} {}", FormatBitRate(*link.rate),
      IsPointToPoint(spec) ? "point-to-point" : "CSMA, half-duplex");
  if (link.delay.count() > 0) text += ", delay " + FormatDuration(link.delay);
  if (link.loss > 0) text += fmt::format(", {:.6g} % lost", link.loss * 100);
  if (link.mtu != 1500) text += fmt::format(", MTU {}", link.mtu);
  return text + " (ns-3, no machine's time and no machine's CPU)";
}

void DescribeSimulated(const LabSpec& spec, StandingLab& lab) {
  RecordedLink& link = lab.link;
  link.kind = "simulated";
  link.description = SpellLine(spec);
  link.rate_bits_per_second = spec.link.rate->value;
  link.mtu = spec.link.mtu;
  link.delay_ns = spec.link.delay.count();
  link.loss = spec.link.loss;
  link.settings["congestion"] = "ns-3's own where a study does not say";
  link.settings["framing"] =
      IsPointToPoint(spec)
          ? "PPP's two bytes a packet, as ns-3 has it"
          : "Ethernet header and FCS, no preamble and no gap, as ns-3 has it";
  link.settings["check"] = "not measured: the line is a simulation's own";
  lab.check.summary = "line not checked: it is simulated";
}

}  // namespace

Outcome<Done> CheckSimulatedLab(const LabSpec& spec) {
  const LinkSpec& link = spec.link;
  if (spec.kinds.size() != 2 || spec.kinds[0] != spec.kinds[1]) {
    return NotSimulated(
        "both ends of a simulated pair are in one simulation: say --lab "
        "ns3,ns3 or --lab ns3-p2p,ns3-p2p");
  }
  if (!link.rate)
    return NotSimulated(
        "--link none: a simulated line has a rate; say --link 1gbit");
  if (link.jitter.count() > 0 || link.duplicate > 0 || link.reorder > 0 ||
      link.router) {
    return NotSimulated(
        "--jitter, --duplicate, --reorder and --router are not simulated; "
        "--link, --delay, --loss and --mtu are");
  }
  if (!spec.sysctls.empty())
    return NotSimulated("--sysctl: a simulated host has no kernel's settings");
  if (link.mtu < 576)
    return NotSimulated(fmt::format(
        "an MTU of {} bytes: a simulated line has 576 (RFC 1122 3.3.3) to 9000",
        link.mtu));
  return Done{};
}

Outcome<Done> MakeSimulated(const LabSpec& spec, const fs::path& folder,
                            StandingLab& lab) {
  const std::string agent = fs::absolute(spec.ns3_agent).string();
  if (!FindProgram(agent).has_value()) {
    return NothingRan("there is no ns-3 agent '" + agent +
                      "': it is built where ns-3 is: apt-get install "
                      "--no-install-recommends libns3-dev, then ./dev build");
  }
  for (LabHost& host : lab.layout.hosts) {
    host.netns.clear();
    host.agent = {agent, "--meet", folder.string(), "--host", host.name};
    const std::vector<std::string> line = LineWords(spec);
    host.agent.insert(host.agent.end(), line.begin(), line.end());
  }
  DescribeSimulated(spec, lab);
  return Done{};
}

}  // namespace wiretoll
