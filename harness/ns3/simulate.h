// A trial, both ends of it, in one simulation.
#ifndef WIRETOLL_HARNESS_NS3_SIMULATE_H_
#define WIRETOLL_HARNESS_NS3_SIMULATE_H_

#include <optional>
#include <string>
#include <utility>

#include "harness/agent/protocol.h"
#include "harness/agent/trial_loop.h"
#include "harness/ns3/world.h"

namespace wiretoll {

// Why no simulated host can do what is asked, and what it can do; nothing if
// it can.
std::optional<std::string> WhyNotSimulated(const TrialRequest& request);

// What the ends of a trial report.
struct SimulatedEnds {
  EndReport sender;
  EndReport receiver;
};

// Simulates the trial that both requests are of, in a world whose hosts have
// their addresses, and for as much simulated time as their deadline; this
// process must not have simulated before. Requires that WhyNotSimulated() has
// nothing against either. The failure says how far it came.
Result<SimulatedEnds, TrialFailure> SimulateTrial(sim::WorldSpec world,
                                                  const TrialRequest& sender,
                                                  const TrialRequest& receiver);

// "ns-3 3.37"
std::string SimulatedStack();

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_SIMULATE_H_
