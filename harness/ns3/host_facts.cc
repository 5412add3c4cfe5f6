#include "harness/ns3/host_facts.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "harness/base/units.h"
#include "harness/ns3/agent_options.h"
#include "harness/ns3/simulate.h"

namespace wiretoll {
namespace {

RecordedFact Known(const std::string& name, OptionValue value) {
  return {name, std::move(value), {}, {}};
}

const char* LinkName(const sim::LinkSpec& link) {
  return link.kind == sim::LinkKind::kCsma ? "csma" : "point-to-point";
}

OptionValue ValueOf(const sim::Default& fact) {
  if (!fact.number) return fact.value;
  return std::int64_t{std::strtoll(fact.value.c_str(), nullptr, 10)};
}

OptionValue RunOf(const sim::WorldSpec& world) {
  if (world.rng_run == kRunOfEachTrial) return std::string("each trial's own");
  return static_cast<std::int64_t>(world.rng_run);
}

}  // namespace

std::string DescribeSimulatedHost(const std::string& name,
                                  const sim::WorldSpec& world) {
  return fmt::format("{}, simulated: {}, {} link of {}, {} each way",
                     name.empty() ? "a host" : name, SimulatedStack(),
                     LinkName(world.link),
                     FormatBitRate({world.link.bits_per_second}),
                     SpellDuration(Nanoseconds(world.link.delay_ns)));
}

std::vector<RecordedFact> SimulatedHostFacts(const sim::WorldSpec& world) {
  const sim::LinkSpec& link = world.link;
  std::vector<RecordedFact> facts = {
      Known("stack", SimulatedStack()),
      Known("rng_run", RunOf(world)),
      Known("interface", std::string(LinkName(link))),
      Known("link_bits_per_second",
            std::int64_t{std::llround(link.bits_per_second)}),
      Known("link_delay_ns", link.delay_ns),
      {"link_loss", {}, link.loss, {}},
      Known("mtu_bytes", link.mtu_bytes)};
  for (const sim::Default& fact : sim::Defaults()) {
    const bool replaced = fact.name == "arp_queue_packets" && world.arp_queue;
    facts.push_back(
        Known(fact.name, replaced ? OptionValue(std::int64_t{*world.arp_queue})
                                  : ValueOf(fact)));
  }
  return facts;
}

}  // namespace wiretoll
