#include <ns3/arp-cache.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>

#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

// "+200ms" and the like are left as ns-3 spells them.
Default DefaultOf(const std::string& name, const ns3::TypeId& type,
                  const std::string& attribute, bool number) {
  ns3::TypeId::AttributeInformation found;
  type.LookupAttributeByName(attribute, &found);
  return {name, found.initialValue->SerializeToString(found.checker), number};
}

}  // namespace

std::vector<Default> Defaults() {
  const ns3::TypeId tcp = ns3::TcpSocket::GetTypeId();
  const ns3::TypeId base = ns3::TcpSocketBase::GetTypeId();
  return {
      DefaultOf("tcp_segment_bytes", tcp, "SegmentSize", true),
      DefaultOf("tcp_sndbuf_bytes", tcp, "SndBufSize", true),
      DefaultOf("tcp_rcvbuf_bytes", tcp, "RcvBufSize", true),
      DefaultOf("tcp_initial_cwnd_segments", tcp, "InitialCwnd", true),
      DefaultOf("tcp_delayed_ack_segments", tcp, "DelAckCount", true),
      DefaultOf("tcp_delayed_ack_timeout", tcp, "DelAckTimeout", false),
      DefaultOf("tcp_no_delay", tcp, "TcpNoDelay", false),
      DefaultOf("tcp_min_rto", base, "MinRto", false),
      DefaultOf("tcp_sack", base, "Sack", false),
      DefaultOf("tcp_timestamps", base, "Timestamp", false),
      DefaultOf("tcp_window_scaling", base, "WindowScaling", false),
      DefaultOf("tcp_congestion_control", ns3::TcpL4Protocol::GetTypeId(),
                "SocketType", false),
      DefaultOf("arp_queue_packets", ns3::ArpCache::GetTypeId(),
                "PendingQueueSize", true),
      DefaultOf("arp_request_jitter", ns3::ArpL3Protocol::GetTypeId(),
                "RequestJitter", false),
  };
}

// The library's file carries the version; ns-3 itself tells it only where it
// was built from its own repository.
std::string Version() { return WIRETOLL_NS3_VERSION; }

}  // namespace wiretoll::sim
