#include "platform/tcp_counters.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "harness/base/words.h"
#include "platform/posix/tcp_info.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMicrosecond = 1000;

void Explain(TcpCounters& counters, const std::string& why) {
  AddClause(why, counters.reason);
}

void FillReceivedPayload(const tcp_info& info, TcpInfoReader& reader,
                         TcpCounters& counters) {
  counters.bytes_received = ReceivedPayload(info, reader);
  if (!counters.bytes_received && info.tcpi_state == kKernelClose) {
    Explain(counters,
            "bytes_received: the connection is gone, and with it whether a "
            "FIN is among the bytes");
  }
}

void FillSegments(TcpInfoReader& reader, TcpCounters& counters) {
  counters.data_segments_out = reader.Get(&tcp_info::tcpi_data_segs_out);
  counters.data_segments_in = reader.Get(&tcp_info::tcpi_data_segs_in);
  counters.segments_out = reader.Get(&tcp_info::tcpi_segs_out);
  counters.segments_in = reader.Get(&tcp_info::tcpi_segs_in);
  counters.retransmitted_segments = reader.Get(&tcp_info::tcpi_total_retrans);
  counters.bytes_acked = AckedPayload(reader);
  counters.bytes_retransmitted = reader.Get(&tcp_info::tcpi_bytes_retrans);
  counters.dsack_duplicates = reader.Get(&tcp_info::tcpi_dsack_dups);
  counters.out_of_order_segments = reader.Get(&tcp_info::tcpi_rcv_ooopack);
}

void FillPath(TcpInfoReader& reader, TcpCounters& counters) {
  counters.rtt_ns = reader.Get(&tcp_info::tcpi_rtt, kMicrosecond);
  counters.rtt_variation_ns = reader.Get(&tcp_info::tcpi_rttvar, kMicrosecond);
  counters.min_rtt_ns = reader.Get(&tcp_info::tcpi_min_rtt, kMicrosecond);
  counters.cwnd_segments = reader.Get(&tcp_info::tcpi_snd_cwnd);
  counters.mss_bytes = reader.Get(&tcp_info::tcpi_snd_mss);
  counters.received_mss_bytes = reader.Get(&tcp_info::tcpi_rcv_mss);
  counters.path_mtu_bytes = reader.Get(&tcp_info::tcpi_pmtu);
  counters.peer_window_bytes = reader.Get(&tcp_info::tcpi_snd_wnd);
}

void FillTimes(TcpInfoReader& reader, TcpCounters& counters) {
  counters.busy_ns = reader.Get(&tcp_info::tcpi_busy_time, kMicrosecond);
  counters.window_limited_ns =
      reader.Get(&tcp_info::tcpi_rwnd_limited, kMicrosecond);
  counters.sndbuf_limited_ns =
      reader.Get(&tcp_info::tcpi_sndbuf_limited, kMicrosecond);
}

// What the handshake agreed on. Bit fields have no address: tcpi_options
// stands in front of them and tcpi_rto behind.
void FillAgreed(const tcp_info& info, TcpCounters& counters) {
  if (info.tcpi_options == 0 && !KeepsCounts(info)) return;
  const auto has = [&info](int bit) {
    return std::int64_t{(info.tcpi_options & bit) != 0 ? 1 : 0};
  };
  counters.timestamps = has(TCPI_OPT_TIMESTAMPS);
  counters.sack = has(TCPI_OPT_SACK);
  // Without the option the shift count is 0: RFC 7323 1.3.
  counters.peer_window_scale =
      has(TCPI_OPT_WSCALE) == 1 ? std::int64_t{info.tcpi_snd_wscale} : 0;
}

// No round trip was timed yet: the kernel's "none" is 0, or all bits set.
void DropUnmeasuredTimes(const tcp_info& info, TcpCounters& counters) {
  if (info.tcpi_rtt == 0) {
    counters.rtt_ns.reset();
    counters.rtt_variation_ns.reset();
    Explain(counters, "rtt: no round trip was timed yet");
  }
  if (info.tcpi_min_rtt == std::numeric_limits<std::uint32_t>::max()) {
    counters.min_rtt_ns.reset();
    Explain(counters, "min_rtt: no round trip was timed yet");
  }
}

}  // namespace

// Linux counts for every connection, always.
void BeginTcpCounters(const Socket& /*socket*/) {}

TcpCounters ReadTcpCounters(const Socket& socket) {
  TcpCounters counters;
  const Result<TcpInfoSnapshot> read = TakeTcpInfo(socket);
  if (!read.has_value()) {
    Explain(counters, "getsockopt TCP_INFO: " + read.error().message());
    return counters;
  }
  const TcpInfoSnapshot& snapshot = read.value();
  if (snapshot.length < offsetof(tcp_info, tcpi_ato)) {
    Explain(counters, "TCP_INFO: this kernel gives only " +
                          std::to_string(snapshot.length) + " bytes of it");
    return counters;
  }
  TcpInfoReader reader(snapshot);
  FillSegments(reader, counters);
  FillReceivedPayload(snapshot.info(), reader, counters);
  FillPath(reader, counters);
  FillTimes(reader, counters);
  FillAgreed(snapshot.info(), counters);
  DropUnmeasuredTimes(snapshot.info(), counters);
  if (!KeepsCounts(snapshot.info())) {
    Explain(counters,
            "TCP_INFO: no segment counted: not connected, or this stack keeps "
            "no counts, so its zeros are not taken for figures");
  }
  if (reader.met_short()) {
    Explain(counters, "TCP_INFO: this kernel's " +
                          std::to_string(snapshot.length) +
                          " bytes end before the field");
  }
  return counters;
}

}  // namespace wiretoll
