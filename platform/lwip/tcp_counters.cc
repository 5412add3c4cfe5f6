#include "platform/tcp_counters.h"

#include "platform/lwip/core.h"

namespace wiretoll {

// lwIP counts whether it is asked or not, and little.
void BeginTcpCounters(const Socket& /*socket*/) {}

// Neither round trips, which it times in ticks of half a second, nor segments.
TcpCounters ReadTcpCounters(const Socket& socket) {
  TcpCounters counters;
  const CoreLock lock;
  const tcp_pcb* block = TcpBlockOf(socket.handle());
  if (block == nullptr) {
    counters.reason =
        "lwIP has no such connection, or no longer: it forgets one that ended";
    return counters;
  }
  counters.reason =
      "lwIP keeps no counts of a connection, only its state; a capture, or the "
      "peer's kernel, sees its segments";
  const int scale = (block->flags & TF_WND_SCALE) != 0 ? block->snd_scale : 0;
  counters.mss_bytes = block->mss;
  counters.cwnd_segments = block->cwnd / block->mss;
  counters.peer_window_bytes = block->snd_wnd;
  counters.peer_window_scale = scale;
  counters.timestamps = LWIP_TCP_TIMESTAMPS;
  counters.sack = LWIP_TCP_SACK_OUT;
  return counters;
}

}  // namespace wiretoll
