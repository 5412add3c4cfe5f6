// Hosts that are gVisor: the static agent in runsc, on gVisor's own network
// stack, which takes over the namespace's interface while an agent runs.
#ifndef WIRETOLL_HARNESS_LAB_GVISOR_H_
#define WIRETOLL_HARNESS_LAB_GVISOR_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/layout.h"

namespace wiretoll {

// kNothingRan: no runsc, or an agent that is not static; with the remedy.
Outcome<Done> CheckGvisor(const LabSpec& spec);

struct PreparedGvisor {
  std::string description;         // For the record of the link.
  std::vector<std::string> agent;  // The whole command; each is a sandbox.
};

// Writes the bundle of host `host` into `folder`, of this host alone, and runs
// it once. kNothingRan: it does not start here, with what runsc said.
Outcome<PreparedGvisor> PrepareGvisor(const LabSpec& spec, const Layout& layout,
                                      std::size_t host,
                                      const std::filesystem::path& folder);

// For `ip -force -batch`, before each start: what the sandbox takes over it
// takes away from the interface.
std::string GvisorBatch(const Layout& layout, std::size_t host);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_GVISOR_H_
