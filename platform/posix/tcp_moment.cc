#include "platform/tcp_moment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "platform/posix/tcp_info.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
// The kernel's "none was set yet" of ssthresh (TCP_INFINITE_SSTHRESH).
constexpr std::int64_t kNoThreshold = 0x7fffffff;

TcpState StateOf(const tcp_info& info) {
  switch (info.tcpi_state) {
    case kKernelEstablished:
      return TcpState::kEstablished;
    case kKernelSynSent:
      return TcpState::kSynSent;
    case kKernelSynReceived:
      return TcpState::kSynReceived;
    case kKernelFinWait1:
      return TcpState::kFinWait1;
    case kKernelFinWait2:
      return TcpState::kFinWait2;
    case kKernelTimeWait:
      return TcpState::kTimeWait;
    case kKernelClose:
      return TcpState::kClosed;
    case kKernelCloseWait:
      return TcpState::kCloseWait;
    case kKernelLastAck:
      return TcpState::kLastAck;
    case kKernelListen:
      return TcpState::kListen;
    case kKernelClosing:
      return TcpState::kClosing;
    default:
      return TcpState::kUnknown;
  }
}

LossState LossStateOf(const tcp_info& info) {
  switch (info.tcpi_ca_state) {
    case TCP_CA_Open:
      return LossState::kOpen;
    case TCP_CA_Disorder:
      return LossState::kDisorder;
    case TCP_CA_CWR:
      return LossState::kReduced;
    case TCP_CA_Recovery:
      return LossState::kRecovery;
    case TCP_CA_Loss:
      return LossState::kLoss;
    default:
      return LossState::kUnknown;
  }
}

TcpMoment::Figure Product(TcpMoment::Figure a, TcpMoment::Figure b) {
  if (!a || !b) return std::nullopt;
  return *a * *b;
}

// What stands for "none" is nothing.
TcpMoment::Figure Unless(TcpMoment::Figure figure, std::int64_t none) {
  return figure && *figure >= none ? std::nullopt : figure;
}

TcpMoment::Figure UnlessZero(TcpMoment::Figure figure) {
  return figure == 0 ? std::nullopt : figure;
}

void FillWindows(TcpInfoReader& reader, TcpMoment& moment) {
  moment.mss_bytes = reader.Get(&tcp_info::tcpi_snd_mss);
  moment.path_mtu_bytes = reader.Get(&tcp_info::tcpi_pmtu);
  moment.cwnd_segments = reader.Get(&tcp_info::tcpi_snd_cwnd);
  moment.cwnd_bytes = Product(moment.cwnd_segments, moment.mss_bytes);
  moment.ssthresh_bytes =
      Product(Unless(reader.Get(&tcp_info::tcpi_snd_ssthresh), kNoThreshold),
              moment.mss_bytes);
  moment.peer_window_bytes = reader.Get(&tcp_info::tcpi_snd_wnd);
  moment.own_window_bytes = reader.GetOwnWindow();
}

void FillBytes(const tcp_info& info, TcpInfoReader& reader, TcpMoment& moment) {
  moment.sent_bytes = reader.Get(&tcp_info::tcpi_bytes_sent);
  moment.acked_bytes = AckedPayload(reader);
  moment.received_bytes = ReceivedPayload(info, reader);
  moment.retransmitted_bytes = reader.Get(&tcp_info::tcpi_bytes_retrans);
  moment.retransmitted_segments = reader.Get(&tcp_info::tcpi_total_retrans);
  moment.not_sent_bytes = reader.Get(&tcp_info::tcpi_notsent_bytes);
  if (moment.acked_bytes && moment.retransmitted_bytes) {
    moment.in_flight_bytes =
        *moment.sent_bytes - *moment.retransmitted_bytes - *moment.acked_bytes;
  }
}

void FillTimes(const tcp_info& info, TcpInfoReader& reader, TcpMoment& moment) {
  if (info.tcpi_rtt > 0) {
    moment.rtt_ns = reader.Get(&tcp_info::tcpi_rtt, kMicrosecond);
    moment.rtt_variation_ns = reader.Get(&tcp_info::tcpi_rttvar, kMicrosecond);
  }
  if (info.tcpi_min_rtt != std::numeric_limits<std::uint32_t>::max()) {
    moment.min_rtt_ns = reader.Get(&tcp_info::tcpi_min_rtt, kMicrosecond);
  }
  moment.receiver_rtt_ns =
      UnlessZero(reader.Get(&tcp_info::tcpi_rcv_rtt, kMicrosecond));
  moment.busy_ns = reader.Get(&tcp_info::tcpi_busy_time, kMicrosecond);
  moment.window_limited_ns =
      reader.Get(&tcp_info::tcpi_rwnd_limited, kMicrosecond);
  moment.sndbuf_limited_ns =
      reader.Get(&tcp_info::tcpi_sndbuf_limited, kMicrosecond);
  // All bits set: nothing paces.
  if (info.tcpi_pacing_rate != std::numeric_limits<std::uint64_t>::max()) {
    moment.pacing_bytes_per_s = reader.Get(&tcp_info::tcpi_pacing_rate);
  }
  moment.delivery_bytes_per_s =
      UnlessZero(reader.Get(&tcp_info::tcpi_delivery_rate));
}

}  // namespace

TcpMoment ReadTcpMoment(const Socket& socket) {
  TcpMoment moment;
  const Result<TcpInfoSnapshot> taken = TakeTcpInfo(socket);
  if (!taken.has_value()) return moment;
  const TcpInfoSnapshot& snapshot = taken.value();
  if (snapshot.length < offsetof(tcp_info, tcpi_ato)) return moment;
  const tcp_info& info = snapshot.info();
  TcpInfoReader reader(snapshot);
  moment.state = StateOf(info);
  // Of no connection the kernel tells what one would begin with.
  if (moment.state == TcpState::kListen) return moment;
  if (moment.state == TcpState::kClosed && !KeepsCounts(info)) return moment;
  // A stack that keeps nothing says "open", which is 0, of everything.
  if (KeepsCounts(info)) moment.loss_state = LossStateOf(info);
  FillWindows(reader, moment);
  FillBytes(info, reader, moment);
  FillTimes(info, reader, moment);
  return moment;
}

}  // namespace wiretoll
