// A lab whose two hosts and line are one simulation: nothing of it is on this
// machine's network, and it takes no namespace and no root.
#ifndef WIRETOLL_HARNESS_LAB_SIMULATED_H_
#define WIRETOLL_HARNESS_LAB_SIMULATED_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/lab/build.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// kUsage: other than two hosts of one simulation, or a line that ns-3 is not
// asked for here; the message says what can be had.
Outcome<Done> CheckSimulatedLab(const LabSpec& spec);

// Fills in the hosts' agents and the link; `folder`, the lab's own, is where
// the agents meet. kNothingRan: there is no wiretoll-agent-ns3, with the
// remedy.
Outcome<Done> MakeSimulated(const LabSpec& spec,
                            const std::filesystem::path& folder,
                            StandingLab& lab);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_SIMULATED_H_
