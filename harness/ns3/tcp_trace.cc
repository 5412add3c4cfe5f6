#include "harness/ns3/tcp_trace.h"

#include <ns3/boolean.h>
#include <ns3/simulator.h>
#include <ns3/tcp-option-winscale.h>
#include <ns3/tcp-rx-buffer.h>
#include <ns3/uinteger.h>

#include <algorithm>

#include "harness/ns3/topology.h"

namespace wiretoll::sim {
namespace {

std::int64_t Number(const ns3::Ptr<ns3::Socket>& socket, const char* name) {
  ns3::UintegerValue value;
  socket->GetAttribute(name, value);
  return static_cast<std::int64_t>(value.Get());
}

bool Flag(const ns3::Ptr<ns3::Socket>& socket, const char* name) {
  ns3::BooleanValue value;
  socket->GetAttribute(name, value);
  return value.Get();
}

}  // namespace

void TcpTrace::CountSegments(const ns3::Ptr<ns3::Socket>& socket) {
  socket->TraceConnectWithoutContext("Tx",
                                     ns3::MakeCallback(&TcpTrace::Sent, this));
  socket->TraceConnectWithoutContext("Rx",
                                     ns3::MakeCallback(&TcpTrace::Came, this));
}

void TcpTrace::FollowConnection(const ns3::Ptr<ns3::Socket>& socket) {
  socket->TraceConnectWithoutContext(
      "CongestionWindow", ns3::MakeCallback(&TcpTrace::Widened, this));
}

void TcpTrace::Stood() {
  counted_.peer_window_first_bytes = counted_.peer_window_bytes;
  counted_.peer_window_peak_bytes = counted_.peer_window_bytes;
  counted_.rtt_handshake_ns = counted_.rtt_last_ns;
}

TcpEndFigures TcpTrace::Figures(const ns3::Ptr<ns3::Socket>& socket) const {
  TcpEndFigures figures = counted_;
  if (syn_out_ && syn_in_) {
    figures.timestamps = syn_out_->timestamps && syn_in_->timestamps;
    figures.sack = syn_out_->sack && syn_in_->sack;
    figures.peer_window_scale = syn_in_->scale;
  }
  figures.no_delay = Flag(socket, "TcpNoDelay");
  figures.segment_bytes = Number(socket, "SegmentSize");
  figures.sndbuf_bytes = Number(socket, "SndBufSize");
  figures.rcvbuf_bytes = Number(socket, "RcvBufSize");
  figures.delayed_ack_count = Number(socket, "DelAckCount");
  return figures;
}

// ns-3's trace sinks are of these very types.
// NOLINTBEGIN(performance-unnecessary-value-param)
void TcpTrace::Sent(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::TcpHeader& header,
                    ns3::Ptr<const ns3::TcpSocketBase> /*socket*/) {
  ++counted_.segments_out;
  const bool syn = (header.GetFlags() & ns3::TcpHeader::SYN) != 0;
  if (syn && !syn_out_) timing_ = Timing{data_begin_, NowNs()};
  if (syn) syn_out_ = OptionsOf(header);
  const std::int64_t bytes = packet->GetSize();
  if (bytes == 0) return;
  ++counted_.data_segments_out;
  const std::int64_t begin =
      out_.Lengthen(header.GetSequenceNumber().GetValue());
  if (begin < data_end_) {
    ++counted_.retransmitted_segments;
    counted_.bytes_retransmitted += std::min(bytes, data_end_ - begin);
    timing_.reset();
  } else if (!timing_) {
    timing_ = Timing{begin + bytes, NowNs()};
  }
  data_end_ = std::max(data_end_, begin + bytes);
}

void TcpTrace::Came(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::TcpHeader& header,
                    ns3::Ptr<const ns3::TcpSocketBase> socket) {
  ++counted_.segments_in;
  if ((header.GetFlags() & ns3::TcpHeader::SYN) != 0)
    syn_in_ = OptionsOf(header);
  TakeWindow(header);
  if ((header.GetFlags() & ns3::TcpHeader::ACK) != 0)
    TakeAck(acked_.Lengthen(header.GetAckNumber().GetValue()));
  if (packet->GetSize() == 0) return;
  ++counted_.data_segments_in;
  if (header.GetSequenceNumber() > socket->GetRxBuffer()->NextRxSequence())
    ++counted_.out_of_order_segments;
}
// NOLINTEND(performance-unnecessary-value-param)

void TcpTrace::TakeAck(std::int64_t ack) {
  // The FIN's own number is no byte.
  const std::int64_t bytes = std::min(data_end_, ack) - data_begin_;
  counted_.bytes_acked = std::max(counted_.bytes_acked.value_or(0), bytes);
  if (!timing_ || ack < timing_->end) return;
  const std::int64_t took = NowNs() - timing_->sent_ns;
  timing_.reset();
  counted_.rtt_last_ns = took;
  counted_.rtt_least_ns = std::min(counted_.rtt_least_ns.value_or(took), took);
}

void TcpTrace::Widened(std::uint32_t /*before*/, std::uint32_t now) {
  counted_.cwnd_bytes = now;
}

// A SYN's window is not scaled (RFC 7323 2.2).
void TcpTrace::TakeWindow(const ns3::TcpHeader& header) {
  const bool syn = (header.GetFlags() & ns3::TcpHeader::SYN) != 0;
  const bool scaled =
      !syn && syn_in_ && syn_in_->scale && syn_out_ && syn_out_->scale;
  const std::int64_t window = std::int64_t{header.GetWindowSize()}
                              << (scaled ? *syn_in_->scale : 0);
  counted_.peer_window_bytes = window;
  if (counted_.peer_window_peak_bytes) {
    counted_.peer_window_peak_bytes =
        std::max(*counted_.peer_window_peak_bytes, window);
  }
}

TcpTrace::SynOptions TcpTrace::OptionsOf(const ns3::TcpHeader& header) {
  SynOptions options;
  options.timestamps = header.HasOption(ns3::TcpOption::TS);
  options.sack = header.HasOption(ns3::TcpOption::SACKPERMITTED);
  if (header.HasOption(ns3::TcpOption::WINSCALE)) {
    const auto scale = ns3::DynamicCast<const ns3::TcpOptionWinScale>(
        header.GetOption(ns3::TcpOption::WINSCALE));
    options.scale = scale->GetScale();
  }
  return options;
}

std::int64_t TcpTrace::LongSequence::Lengthen(std::uint32_t sequence) {
  const auto step =
      static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(last_));
  last_ += step;
  return last_;
}

}  // namespace wiretoll::sim
