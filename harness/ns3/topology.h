// The two simulated hosts: made, watched, taken down.
#ifndef WIRETOLL_HARNESS_NS3_TOPOLOGY_H_
#define WIRETOLL_HARNESS_NS3_TOPOLOGY_H_

#include <ns3/flow-monitor-helper.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/simulator.h>

#include <cstdint>

#include "harness/ns3/world.h"

namespace wiretoll::sim {

// When traffic begins: as in the published experiment.
inline constexpr std::int64_t kTrafficBeginsNs = 1'000'000'000;
inline constexpr std::uint16_t kReceiverPort = 4000;

// Since the simulation began.
inline std::int64_t NowNs() { return ns3::Simulator::Now().GetNanoSeconds(); }

// One simulation: made with this, gone with this.
class Topology {
 public:
  // Throws std::invalid_argument over addresses that are no IPv4 or the same.
  explicit Topology(const WorldSpec& spec);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] ns3::Ptr<ns3::Node> sender() const { return nodes_.Get(0); }
  [[nodiscard]] ns3::Ptr<ns3::Node> receiver() const { return nodes_.Get(1); }
  [[nodiscard]] ns3::InetSocketAddress receiver_endpoint() const;

  // FlowMonitor at both; call it once programs are there.
  void Watch();
  // Until nothing is left to do, somebody stops it, or `until_ns`.
  void Run(std::int64_t until_ns);

  // Of the packets to the receiver's port. Requires Watch().
  FlowFigures Flow();

 private:
  ns3::NetDeviceContainer MakeLink(const LinkSpec& link);
  void AddLoss(const ns3::NetDeviceContainer& devices, double loss);
  void Assign(const ns3::NetDeviceContainer& devices, const WorldSpec& spec);

  ns3::NodeContainer nodes_;
  ns3::Ipv4Address receiver_address_;
  ns3::FlowMonitorHelper watch_;
  ns3::Ptr<ns3::FlowMonitor> monitor_;
};

}  // namespace wiretoll::sim

#endif  // WIRETOLL_HARNESS_NS3_TOPOLOGY_H_
