// The agent of a simulated host.
#ifndef WIRETOLL_HARNESS_NS3_AGENT_NS3_H_
#define WIRETOLL_HARNESS_NS3_AGENT_NS3_H_

#include <cstdio>
#include <filesystem>
#include <string>

#include "harness/ns3/world.h"

namespace wiretoll {

struct Ns3AgentSpec {
  std::filesystem::path meet;  // Where it meets the other hosts' agents.
  std::string host;            // Its own name, for people.
  sim::WorldSpec world;
};

// Serves requests (docs/protocol.md) from `in` until it ends, and gives the
// exit code of the process; what runs then is broken off. Requires
// PrepareProcess().
int RunNs3Agent(const Ns3AgentSpec& spec, std::FILE* in, std::FILE* out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_AGENT_NS3_H_
