#include "platform/tcp_moment.h"

#include <cstdint>

#include "platform/lwip/core.h"

namespace wiretoll {
namespace {

// lwIP's order is that of RFC 9293 too, with other names.
TcpState StateOf(const tcp_pcb& block) {
  switch (block.state) {
    case CLOSED:
      return TcpState::kClosed;
    case LISTEN:
      return TcpState::kListen;
    case SYN_SENT:
      return TcpState::kSynSent;
    case SYN_RCVD:
      return TcpState::kSynReceived;
    case ESTABLISHED:
      return TcpState::kEstablished;
    case FIN_WAIT_1:
      return TcpState::kFinWait1;
    case FIN_WAIT_2:
      return TcpState::kFinWait2;
    case CLOSE_WAIT:
      return TcpState::kCloseWait;
    case CLOSING:
      return TcpState::kClosing;
    case LAST_ACK:
      return TcpState::kLastAck;
    case TIME_WAIT:
      return TcpState::kTimeWait;
  }
  return TcpState::kUnknown;
}

std::int64_t PayloadOf(const tcp_seg* segments) {
  std::int64_t bytes = 0;
  for (; segments != nullptr; segments = segments->next) bytes += segments->len;
  return bytes;
}

LossState LossStateOf(const tcp_pcb& block) {
  if ((block.flags & TF_RTO) != 0) return LossState::kLoss;
  return (block.flags & TF_INFR) != 0 ? LossState::kRecovery : LossState::kOpen;
}

}  // namespace

// Not what was sent since the handshake, whose first number lwIP does not
// keep, nor the round trip, which it times in ticks of half a second.
TcpMoment ReadTcpMoment(const Socket& socket) {
  TcpMoment moment;
  const CoreLock lock;
  const tcp_pcb* block = TcpBlockOf(socket.handle());
  if (block == nullptr) return moment;
  moment.state = StateOf(*block);
  moment.loss_state = LossStateOf(*block);
  moment.cwnd_bytes = block->cwnd;
  moment.cwnd_segments = block->cwnd / block->mss;
  // What it begins with: not what a loss made of it.
  if (block->ssthresh < TCP_SND_BUF) moment.ssthresh_bytes = block->ssthresh;
  moment.peer_window_bytes = block->snd_wnd;
  // As it goes out: without the bits that the scale takes off.
  const int scale = (block->flags & TF_WND_SCALE) != 0 ? block->rcv_scale : 0;
  moment.own_window_bytes =
      static_cast<std::int64_t>(block->rcv_ann_wnd >> scale) << scale;
  moment.in_flight_bytes = PayloadOf(block->unacked);
  moment.not_sent_bytes = PayloadOf(block->unsent);
  moment.mss_bytes = block->mss;
  return moment;
}

}  // namespace wiretoll
