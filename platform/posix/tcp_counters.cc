#include "platform/tcp_counters.h"

// <linux/tcp.h> has the fields that glibc's <netinet/tcp.h> lacks; the two
// cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "harness/base/words.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

// tcpi_state. Only <netinet/tcp.h> names them; the numbers are kernel ABI.
enum State : std::uint8_t {
  kClose = 7,
  kCloseWait = 8,
  kLastAck = 9,
  kClosing = 11,
};

// TCP_INFO as this kernel filled it: an older one fills less, and what lies
// beyond is unknown, not 0.
struct Snapshot {
  tcp_info info{};
  std::size_t length = 0;
};

// A handshake brings at least one segment in. A stack that counts none keeps
// no counts (gVisor hands out a zeroed struct), so that none of its zeros can
// be told from "don't know".
bool KeepsCounts(const tcp_info& info) { return info.tcpi_segs_in > 0; }

class Reader {
 public:
  explicit Reader(const Snapshot& snapshot)
      : snapshot_(snapshot), zero_is_count_(KeepsCounts(snapshot.info)) {}

  // The field `member`, times `scale` (1000: microseconds to nanoseconds).
  template <class Field>
  TcpCounters::Count Get(Field tcp_info::*member, std::int64_t scale = 1) {
    const Field& field = snapshot_.info.*member;
    const auto* begin = reinterpret_cast<const std::byte*>(&snapshot_.info);
    const auto* end = reinterpret_cast<const std::byte*>(&field + 1);
    if (static_cast<std::size_t>(end - begin) > snapshot_.length) {
      short_ = true;
      return std::nullopt;
    }
    if (field == 0 && !zero_is_count_) return std::nullopt;
    return static_cast<std::int64_t>(field) * scale;
  }

  // True if a field lay beyond what this kernel filled.
  [[nodiscard]] bool met_short() const { return short_; }

 private:
  const Snapshot& snapshot_;
  bool zero_is_count_;
  bool short_ = false;
};

constexpr std::int64_t kMicrosecond = 1000;

void Explain(TcpCounters& counters, const std::string& why) {
  AddClause(why, counters.reason);
}

Result<Snapshot> ReadTcpInfo(const Socket& socket) {
  Snapshot snapshot;
  socklen_t length = sizeof snapshot.info;
  if (::getsockopt(Fd(socket.handle()), IPPROTO_TCP, TCP_INFO, &snapshot.info,
                   &length) < 0) {
    return LastError();
  }
  snapshot.length = length;
  return snapshot;
}

// Linux counts sequence numbers, so SYN and FIN are in: each end's last byte
// too many. Payload that was never sent cannot have been acknowledged, which
// makes the count exact once nothing is in flight, and one too high at most
// before.
TcpCounters::Count AckedPayload(Reader& reader) {
  const TcpCounters::Count acked = reader.Get(&tcp_info::tcpi_bytes_acked);
  const TcpCounters::Count sent = reader.Get(&tcp_info::tcpi_bytes_sent);
  const TcpCounters::Count again = reader.Get(&tcp_info::tcpi_bytes_retrans);
  if (!acked || !sent || !again) return std::nullopt;
  return std::min(*acked, *sent - *again);
}

// Likewise a FIN that came counts as a byte received. The state says whether
// one came, except once the connection is gone.
void FillReceivedPayload(const tcp_info& info, Reader& reader,
                         TcpCounters& counters) {
  counters.bytes_received = reader.Get(&tcp_info::tcpi_bytes_received);
  if (!counters.bytes_received) return;
  switch (info.tcpi_state) {
    case kCloseWait:
    case kLastAck:
    case kClosing:
      --*counters.bytes_received;
      break;
    case kClose:
      counters.bytes_received.reset();
      Explain(counters,
              "bytes_received: the connection is gone, and with it whether a "
              "FIN is among the bytes");
      break;
    default:
      break;
  }
}

void FillSegments(Reader& reader, TcpCounters& counters) {
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

void FillPath(Reader& reader, TcpCounters& counters) {
  counters.rtt_ns = reader.Get(&tcp_info::tcpi_rtt, kMicrosecond);
  counters.rtt_variation_ns = reader.Get(&tcp_info::tcpi_rttvar, kMicrosecond);
  counters.min_rtt_ns = reader.Get(&tcp_info::tcpi_min_rtt, kMicrosecond);
  counters.cwnd_segments = reader.Get(&tcp_info::tcpi_snd_cwnd);
  counters.mss_bytes = reader.Get(&tcp_info::tcpi_snd_mss);
  counters.received_mss_bytes = reader.Get(&tcp_info::tcpi_rcv_mss);
  counters.path_mtu_bytes = reader.Get(&tcp_info::tcpi_pmtu);
  counters.peer_window_bytes = reader.Get(&tcp_info::tcpi_snd_wnd);
}

void FillTimes(Reader& reader, TcpCounters& counters) {
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
  const Result<Snapshot> read = ReadTcpInfo(socket);
  if (!read.has_value()) {
    Explain(counters, "getsockopt TCP_INFO: " + read.error().message());
    return counters;
  }
  const Snapshot& snapshot = read.value();
  if (snapshot.length < offsetof(tcp_info, tcpi_ato)) {
    Explain(counters, "TCP_INFO: this kernel gives only " +
                          std::to_string(snapshot.length) + " bytes of it");
    return counters;
  }
  Reader reader(snapshot);
  FillSegments(reader, counters);
  FillReceivedPayload(snapshot.info, reader, counters);
  FillPath(reader, counters);
  FillTimes(reader, counters);
  FillAgreed(snapshot.info, counters);
  DropUnmeasuredTimes(snapshot.info, counters);
  if (!KeepsCounts(snapshot.info)) {
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
