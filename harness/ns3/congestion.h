// Congestion controls of ns-3 by the names that studies use.
#ifndef WIRETOLL_HARNESS_NS3_CONGESTION_H_
#define WIRETOLL_HARNESS_NS3_CONGESTION_H_

#include <ns3/node.h>

#include <string>

namespace wiretoll::sim {

// For sockets that `node` makes from now on. Throws std::invalid_argument if
// `name` is none of CongestionNames().
void SetCongestion(const ns3::Ptr<ns3::Node>& node, const std::string& name);

// Of such sockets.
std::string CongestionOf(const ns3::Ptr<ns3::Node>& node);

}  // namespace wiretoll::sim

#endif  // WIRETOLL_HARNESS_NS3_CONGESTION_H_
