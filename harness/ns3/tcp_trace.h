// What a simulated TCP socket sends and gets, counted.
#ifndef WIRETOLL_HARNESS_NS3_TCP_TRACE_H_
#define WIRETOLL_HARNESS_NS3_TCP_TRACE_H_

#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>

#include <cstdint>

#include "harness/ns3/world.h"

namespace wiretoll::sim {

// Counts from its construction on; outlives the socket's events.
class TcpTrace {
 public:
  TcpTrace() = default;
  TcpTrace(const TcpTrace&) = delete;
  TcpTrace& operator=(const TcpTrace&) = delete;

  // Its segments, and those of a connection that it accepts: ns-3 hands these
  // trace sinks on.
  void CountSegments(const ns3::Ptr<ns3::Socket>& socket);
  // Its congestion window, which is not handed on.
  void FollowConnection(const ns3::Ptr<ns3::Socket>& socket);
  // The connection stands.
  void Stood();

  // Up to now, with the options as `socket` has them.
  [[nodiscard]] TcpEndFigures Figures(
      const ns3::Ptr<ns3::Socket>& socket) const;

 private:
  void Sent(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
            ns3::Ptr<const ns3::TcpSocketBase> socket);
  void Came(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
            ns3::Ptr<const ns3::TcpSocketBase> socket);
  void Widened(std::uint32_t before, std::uint32_t now);
  void TakeWindow(const ns3::TcpHeader& header);
  void TakeAck(std::int64_t ack);

  struct SynOptions {
    bool timestamps = false;
    bool sack = false;
    std::optional<std::int64_t> scale;
  };
  static SynOptions OptionsOf(const ns3::TcpHeader& header);

  // Sequence numbers of any length, from those modulo 2^32.
  class LongSequence {
   public:
    // Near the last one.
    std::int64_t Lengthen(std::uint32_t sequence);

   private:
    std::int64_t last_ = 0;
  };

  TcpEndFigures counted_;
  std::optional<SynOptions> syn_out_, syn_in_;
  LongSequence out_, acked_;
  // One segment at a time is timed, and none that is sent again (Karn): ns-3's
  // own samples are in whole milliseconds or below what the link takes.
  struct Timing {
    std::int64_t end;  // Of the segment, a sequence number.
    std::int64_t sent_ns;
  };
  std::optional<Timing> timing_;
  std::int64_t data_begin_ = 1;  // Behind the SYN; ns-3's first number is 0.
  std::int64_t data_end_ = 1;    // Of what was sent.
};

}  // namespace wiretoll::sim

#endif  // WIRETOLL_HARNESS_NS3_TCP_TRACE_H_
