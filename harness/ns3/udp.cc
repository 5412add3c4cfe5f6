#include <ns3/core-module.h>
#include <ns3/udp-socket.h>

#include <algorithm>
#include <vector>

#include "harness/ns3/topology.h"
#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

// How often the receiver is asked whether it is over; as the agent on a real
// host looks.
constexpr std::int64_t kLookNs = 20'000'000;

std::int64_t RcvbufOf(const ns3::Ptr<ns3::Socket>& socket) {
  ns3::UintegerValue value;
  socket->GetAttribute("RcvBufSize", value);
  return static_cast<std::int64_t>(value.Get());
}

std::string Words(ns3::Socket::SocketErrno error) {
  switch (error) {
    case ns3::Socket::ERROR_MSGSIZE:
      return "too large";
    case ns3::Socket::ERROR_NOROUTETOHOST:
      return "no route to the host";
    default:
      return "ns-3 socket error " + std::to_string(error);
  }
}

class UdpRun {
 public:
  UdpRun(const WorldSpec& world, const UdpSpec& udp, UdpSender& sender,
         UdpReceiver& receiver)
      : world_(world),
        topology_(world),
        sender_(sender),
        receiver_(receiver),
        room_(static_cast<std::size_t>(udp.kept_bytes)) {
    in_ = Open(topology_.receiver());
    if (udp.rcvbuf_bytes) {
      in_->SetAttribute(
          "RcvBufSize",
          ns3::UintegerValue(static_cast<std::uint64_t>(*udp.rcvbuf_bytes)));
    }
    in_->Bind(
        ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kReceiverPort));
    in_->SetRecvCallback(ns3::MakeCallback(&UdpRun::Readable, this));
    in_->TraceConnectWithoutContext("Drop",
                                    ns3::MakeCallback(&UdpRun::Dropped, this));
    out_ = Open(topology_.sender());
    out_->Bind();
    out_->Connect(topology_.receiver_endpoint());
  }

  UdpResult Run() {
    ns3::Simulator::Schedule(ns3::NanoSeconds(kTrafficBeginsNs), &UdpRun::Go,
                             this);
    topology_.Watch();
    topology_.Run(kTrafficBeginsNs + world_.limit_ns);
    UdpResult result;
    if (!over_) result.error = "the simulated transfer did not come to its end";
    result.receive_buffer_drops = drops_;
    result.sender_rcvbuf_bytes = RcvbufOf(out_);
    result.receiver_rcvbuf_bytes = RcvbufOf(in_);
    result.flow = topology_.Flow();
    return result;
  }

 private:
  static ns3::Ptr<ns3::Socket> Open(const ns3::Ptr<ns3::Node>& node) {
    return ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId());
  }

  void Go() {
    while (true) {
      next_ = sender_.Next(NowNs());
      if (next_.due_ns > NowNs()) {
        ns3::Simulator::Schedule(ns3::NanoSeconds(static_cast<std::uint64_t>(
                                     next_.due_ns - NowNs())),
                                 &UdpRun::Due, this);
        return;
      }
      if (!Do(next_)) return;
    }
  }

  void Due() {
    if (Do(next_)) Go();
  }

  // False if it was the last.
  bool Do(const Action& action) {
    if (action.kind == Action::Kind::kShut) {
      shut_ns_ = NowNs();
      Look();
      return false;
    }
    const auto [front, size] = sender_.Front(NowNs(), action.bytes);
    const std::int64_t real = std::min(size, action.bytes);
    const auto packet =
        ns3::Create<ns3::Packet>(front, static_cast<std::uint32_t>(real));
    packet->AddAtEnd(ns3::Create<ns3::Packet>(
        static_cast<std::uint32_t>(action.bytes - real)));
    const bool sent = out_->Send(packet) >= 0;
    sender_.Sent(NowNs(), action.bytes,
                 sent ? std::string() : Words(out_->GetErrno()));
    return true;
  }

  void Readable(ns3::Ptr<ns3::Socket> socket) {
    while (const ns3::Ptr<ns3::Packet> came = socket->Recv()) {
      const std::uint32_t kept = came->CopyData(
          room_.data(), static_cast<std::uint32_t>(room_.size()));
      receiver_.Came(NowNs(), came->GetSize(), kept, room_.data());
    }
  }

  // ns-3's trace sinks are of this very type.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  void Dropped(ns3::Ptr<const ns3::Packet> /*packet*/) { ++drops_; }

  void Look() {
    if (receiver_.Over(NowNs(), shut_ns_)) {
      over_ = true;
      ns3::Simulator::Stop();
      return;
    }
    ns3::Simulator::Schedule(ns3::NanoSeconds(kLookNs), &UdpRun::Look, this);
  }

  const WorldSpec& world_;
  Topology topology_;
  UdpSender& sender_;
  UdpReceiver& receiver_;
  ns3::Ptr<ns3::Socket> out_;
  ns3::Ptr<ns3::Socket> in_;
  std::vector<unsigned char> room_;
  Action next_;
  std::int64_t shut_ns_ = 0;
  std::int64_t drops_ = 0;
  bool over_ = false;
};

}  // namespace

UdpResult SimulateUdp(const WorldSpec& world, const UdpSpec& udp,
                      UdpSender& sender, UdpReceiver& receiver) {
  return UdpRun(world, udp, sender, receiver).Run();
}

}  // namespace wiretoll::sim
