// What a simulated host says of itself.
#ifndef WIRETOLL_HARNESS_NS3_HOST_FACTS_H_
#define WIRETOLL_HARNESS_NS3_HOST_FACTS_H_

#include <string>
#include <vector>

#include "harness/ns3/world.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

// One line.
std::string DescribeSimulatedHost(const std::string& name,
                                  const sim::WorldSpec& world);

// The link, the random numbers, and the defaults of ns-3 that hold where a
// trial sets nothing.
std::vector<RecordedFact> SimulatedHostFacts(const sim::WorldSpec& world);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_HOST_FACTS_H_
