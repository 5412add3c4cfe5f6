#include <ns3/applications-module.h>
#include <ns3/core-module.h>

#include "harness/ns3/topology.h"
#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

// What is left of 1500 bytes by the headers of IP and UDP.
constexpr std::uint64_t kPacketBytes = 1472;
constexpr std::uint64_t kIntervalNs = 2'000;

void SetDefaults(const PublishedSpec& published) {
  const auto set = [](const char* name, std::int64_t value) {
    ns3::Config::SetDefault(
        name, ns3::UintegerValue(static_cast<std::uint64_t>(value)));
  };
  if (published.segment_bytes)
    set("ns3::TcpSocket::SegmentSize", *published.segment_bytes);
  if (published.buffer_bytes) {
    set("ns3::TcpSocket::SndBufSize", *published.buffer_bytes);
    set("ns3::TcpSocket::RcvBufSize", *published.buffer_bytes);
  }
}

ns3::ApplicationContainer SendTcp(const Topology& topology,
                                  std::uint64_t packets) {
  ns3::PacketSinkHelper sink(
      "ns3::TcpSocketFactory",
      ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kReceiverPort));
  sink.Install(topology.receiver());
  ns3::BulkSendHelper send("ns3::TcpSocketFactory",
                           topology.receiver_endpoint());
  send.SetAttribute("MaxBytes", ns3::UintegerValue(packets * kPacketBytes));
  send.SetAttribute("SendSize", ns3::UintegerValue(kPacketBytes));
  return send.Install(topology.sender());
}

ns3::ApplicationContainer SendUdp(const Topology& topology,
                                  std::uint64_t packets) {
  ns3::UdpServerHelper(kReceiverPort).Install(topology.receiver());
  const ns3::InetSocketAddress to = topology.receiver_endpoint();
  ns3::UdpClientHelper send(to.GetIpv4(), to.GetPort());
  send.SetAttribute("MaxPackets", ns3::UintegerValue(packets));
  send.SetAttribute("Interval", ns3::TimeValue(ns3::NanoSeconds(kIntervalNs)));
  send.SetAttribute("PacketSize", ns3::UintegerValue(kPacketBytes));
  return send.Install(topology.sender());
}

}  // namespace

FlowFigures SimulatePublished(const WorldSpec& world,
                              const PublishedSpec& published) {
  Topology topology(world);
  SetDefaults(published);
  const auto packets = static_cast<std::uint64_t>(published.packets);
  ns3::ApplicationContainer program =
      published.tcp ? SendTcp(topology, packets) : SendUdp(topology, packets);
  program.Start(ns3::NanoSeconds(kTrafficBeginsNs));
  topology.Watch();
  topology.Run(world.limit_ns);
  return topology.Flow();
}

}  // namespace wiretoll::sim
