#include "harness/ns3/topology.h"

#include <ns3/core-module.h>
#include <ns3/csma-helper.h>
#include <ns3/csma-net-device.h>
#include <ns3/error-model.h>
#include <ns3/ipv4-flow-classifier.h>
#include <ns3/point-to-point-helper.h>

#include <boost/asio/ip/address_v4.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

namespace wiretoll::sim {
namespace {

boost::asio::ip::address_v4 ParseAddress(const std::string& text) {
  boost::system::error_code error;
  auto address = boost::asio::ip::make_address_v4(text, error);
  if (error) throw std::invalid_argument(text + " is no IPv4 address");
  return address;
}

// The longest that both share, and leaves room for network and broadcast.
std::uint32_t MaskOfBoth(std::uint32_t one, std::uint32_t other) {
  const auto is_host = [](std::uint32_t address, std::uint32_t mask) {
    const std::uint32_t host = address & ~mask;
    return host != 0 && host != ~mask;
  };
  for (int bits = 24; bits > 0; --bits) {
    const std::uint32_t mask = ~std::uint32_t{0} << (32 - bits);
    if ((one & mask) == (other & mask) && is_host(one, mask) &&
        is_host(other, mask)) {
      return mask;
    }
  }
  throw std::invalid_argument("the two addresses are of no common network");
}

ns3::DataRateValue Rate(double bits_per_second) {
  return ns3::DataRateValue(
      ns3::DataRate(static_cast<std::uint64_t>(std::llround(bits_per_second))));
}

ns3::TimeValue Delay(std::int64_t ns) {
  return ns3::TimeValue(ns3::NanoSeconds(static_cast<std::uint64_t>(ns)));
}

}  // namespace

Topology::Topology(const WorldSpec& spec)
    : receiver_address_(static_cast<std::uint32_t>(
          ParseAddress(spec.receiver_address).to_uint())) {
  if (spec.sender_address == spec.receiver_address) {
    throw std::invalid_argument("both hosts have the address " +
                                spec.sender_address);
  }
  ns3::RngSeedManager::SetRun(spec.rng_run);
  if (spec.arp_queue) {
    ns3::Config::SetDefault("ns3::ArpCache::PendingQueueSize",
                            ns3::UintegerValue(*spec.arp_queue));
  }
  nodes_.Create(2);
  const ns3::NetDeviceContainer devices = MakeLink(spec.link);
  // With IPv6, as it comes: its own packets take part in the random numbers.
  ns3::InternetStackHelper().Install(nodes_);
  Assign(devices, spec);
  if (spec.link.loss > 0) AddLoss(devices, spec.link.loss);
}

Topology::~Topology() {
  ns3::Simulator::Destroy();
  ns3::Config::Reset();
}

ns3::InetSocketAddress Topology::receiver_endpoint() const {
  return {receiver_address_, kReceiverPort};
}

void Topology::Watch() { monitor_ = watch_.InstallAll(); }

void Topology::Run(std::int64_t until_ns) {
  ns3::Simulator::Stop(ns3::NanoSeconds(static_cast<std::uint64_t>(until_ns)));
  ns3::Simulator::Run();
}

FlowFigures Topology::Flow() {
  FlowFigures figures;
  const auto classifier =
      ns3::DynamicCast<ns3::Ipv4FlowClassifier>(watch_.GetClassifier());
  for (const auto& [id, seen] : monitor_->GetFlowStats()) {
    if (classifier->FindFlow(id).destinationPort != kReceiverPort) continue;
    figures.sent = seen.txPackets;
    figures.received = seen.rxPackets;
    figures.received_bytes = static_cast<std::int64_t>(seen.rxBytes);
    if (seen.rxPackets == 0) continue;
    const double took_ns = static_cast<double>(
        (seen.timeLastRxPacket - seen.timeFirstTxPacket).GetNanoSeconds());
    figures.delay_mean_ns =
        static_cast<double>(seen.delaySum.GetNanoSeconds()) / seen.rxPackets;
    if (took_ns > 0) {
      figures.bits_per_second =
          8e9 * static_cast<double>(seen.rxBytes) / took_ns;
    }
    if (seen.rxPackets > 1) {
      figures.jitter_mean_ns =
          static_cast<double>(seen.jitterSum.GetNanoSeconds()) /
          (seen.rxPackets - 1);
    }
  }
  return figures;
}

ns3::NetDeviceContainer Topology::MakeLink(const LinkSpec& link) {
  const ns3::UintegerValue mtu(static_cast<std::uint64_t>(link.mtu_bytes));
  if (link.kind == LinkKind::kPointToPoint) {
    ns3::PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", Rate(link.bits_per_second));
    wire.SetDeviceAttribute("Mtu", mtu);
    wire.SetChannelAttribute("Delay", Delay(link.delay_ns));
    return wire.Install(nodes_);
  }
  ns3::CsmaHelper wire;
  wire.SetChannelAttribute("DataRate", Rate(link.bits_per_second));
  wire.SetChannelAttribute("Delay", Delay(link.delay_ns));
  wire.SetDeviceAttribute("Mtu", mtu);
  return wire.Install(nodes_);
}

void Topology::AddLoss(const ns3::NetDeviceContainer& devices, double loss) {
  for (std::uint32_t i = 0; i < devices.GetN(); ++i) {
    const auto errors = ns3::CreateObject<ns3::RateErrorModel>();
    errors->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(loss);
    devices.Get(i)->SetAttribute("ReceiveErrorModel",
                                 ns3::PointerValue(errors));
  }
}

// The helper also puts ns-3's default queue discipline (FqCoDel) before the
// device.
void Topology::Assign(const ns3::NetDeviceContainer& devices,
                      const WorldSpec& spec) {
  const auto one =
      static_cast<std::uint32_t>(ParseAddress(spec.sender_address).to_uint());
  const std::uint32_t other = receiver_address_.Get();
  const std::uint32_t mask = MaskOfBoth(one, other);
  ns3::Ipv4AddressHelper addresses;
  std::uint32_t index = 0;
  for (const std::uint32_t address : {one, other}) {
    addresses.SetBase(ns3::Ipv4Address(address & mask), ns3::Ipv4Mask(mask),
                      ns3::Ipv4Address(address & ~mask));
    addresses.Assign(ns3::NetDeviceContainer(devices.Get(index++)));
  }
}

}  // namespace wiretoll::sim
