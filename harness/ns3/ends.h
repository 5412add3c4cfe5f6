// What a simulation tells beside its programs, in the reports of both ends:
// counters, options, FlowMonitor's figures, and why what is empty is.
#ifndef WIRETOLL_HARNESS_NS3_ENDS_H_
#define WIRETOLL_HARNESS_NS3_ENDS_H_

#include "harness/ns3/simulate.h"
#include "harness/ns3/world.h"
#include "harness/study/study.h"

namespace wiretoll {

// Both of `ends` already hold what their programs say.
void FillTcpEnds(const sim::WorldSpec& world, const Workload& workload,
                 const sim::TcpResult& result, SimulatedEnds& ends);
void FillUdpEnds(const sim::WorldSpec& world, const Workload& workload,
                 const sim::UdpResult& result, SimulatedEnds& ends);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_ENDS_H_
