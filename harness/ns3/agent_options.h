// What wiretoll-agent-ns3 is told when it is started.
#ifndef WIRETOLL_HARNESS_NS3_AGENT_OPTIONS_H_
#define WIRETOLL_HARNESS_NS3_AGENT_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/ns3/world.h"

namespace wiretoll {

// For WorldSpec's rng_run, "each": SimulateTrial() takes one from the trial's
// payload seed, so that repeats differ and a repeated run does not.
inline constexpr std::uint64_t kRunOfEachTrial = 0;

// --link, --rate and so on, into `world`, which outlives `app`'s parsing.
void AddWorldOptions(CLI::App* app, sim::WorldSpec& world);

// The same world as arguments: what AddWorldOptions() reads back. Two agents
// whose arguments are equal simulate the same.
std::vector<std::string> WorldArguments(const sim::WorldSpec& world);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_AGENT_OPTIONS_H_
