#include <ns3/core-module.h>

#include <optional>

#include "harness/ns3/congestion.h"
#include "harness/ns3/tcp_end.h"
#include "harness/ns3/topology.h"
#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

// For an ACK to be sent and queued, its link's delay left out.
constexpr std::int64_t kLastAckNs = 10'000'000;

void Set(const ns3::Ptr<ns3::Socket>& socket, const char* name,
         const std::optional<std::int64_t>& value) {
  if (!value) return;
  socket->SetAttribute(name,
                       ns3::UintegerValue(static_cast<std::uint64_t>(*value)));
}

ns3::Ptr<ns3::Socket> MakeSocket(const ns3::Ptr<ns3::Node>& node,
                                 const TcpSpec& tcp) {
  if (!tcp.congestion.empty()) SetCongestion(node, tcp.congestion);
  const auto socket =
      ns3::Socket::CreateSocket(node, ns3::TcpSocketFactory::GetTypeId());
  if (tcp.no_delay) {
    socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(*tcp.no_delay));
  }
  return socket;
}

class TcpRun {
 public:
  TcpRun(const WorldSpec& world, const TcpSpec& tcp, TcpProgram& sender,
         TcpProgram& receiver)
      : world_(world),
        topology_(world),
        sender_(sender, tcp.sender_read_bytes, tcp.carry_bytes,
                [this] { StopIfOver(); }),
        receiver_(receiver, tcp.receiver_read_bytes, tcp.carry_bytes,
                  [this] { StopIfOver(); }) {
    OpenReceiver(tcp);
    OpenSender(tcp);
  }

  TcpResult Run() {
    const ns3::Address receiver = topology_.receiver_endpoint();
    ns3::Simulator::Schedule(ns3::NanoSeconds(kTrafficBeginsNs),
                             &TcpEnd::Connect, &sender_, receiver);
    topology_.Watch();
    topology_.Run(kTrafficBeginsNs + world_.limit_ns);
    TcpResult result;
    result.error = Error();
    result.connect_ns = sender_.connect_ns();
    result.sender = sender_.Figures();
    result.receiver = receiver_.Figures();
    result.sender.congestion = CongestionOf(topology_.sender());
    result.receiver.congestion = CongestionOf(topology_.receiver());
    result.flow = topology_.Flow();
    return result;
  }

 private:
  void OpenReceiver(const TcpSpec& tcp) {
    const auto socket = MakeSocket(topology_.receiver(), tcp);
    Set(socket, "RcvBufSize", tcp.rcvbuf_bytes);
    Set(socket, "DelAckCount", tcp.delayed_ack_count);
    socket->Bind(
        ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kReceiverPort));
    receiver_.Listen(socket);
  }

  void OpenSender(const TcpSpec& tcp) {
    const auto socket = MakeSocket(topology_.sender(), tcp);
    Set(socket, "SegmentSize", tcp.segment_bytes);
    Set(socket, "SndBufSize", tcp.sndbuf_bytes);
    socket->Bind();
    sender_.Prepare(socket);
  }

  // The last ACK is still on its way.
  void StopIfOver() {
    const bool failed = !sender_.error().empty() || !receiver_.error().empty();
    if (failed || (sender_.finished() && receiver_.finished()))
      ns3::Simulator::Stop(ns3::NanoSeconds(
          2 * static_cast<std::uint64_t>(world_.link.delay_ns + kLastAckNs)));
  }

  [[nodiscard]] std::string Error() const {
    if (!sender_.error().empty()) return sender_.error();
    if (!receiver_.error().empty()) return receiver_.error();
    if (sender_.finished() && receiver_.finished()) return {};
    return sender_.stood() ? "the simulated transfer did not come to its end"
                           : "the simulated connection was not made";
  }

  const WorldSpec& world_;
  Topology topology_;
  TcpEnd sender_;
  TcpEnd receiver_;
};

}  // namespace

TcpResult SimulateTcp(const WorldSpec& world, const TcpSpec& tcp,
                      TcpProgram& sender, TcpProgram& receiver) {
  return TcpRun(world, tcp, sender, receiver).Run();
}

}  // namespace wiretoll::sim
