#include "platform/win32/tcp_readings.h"

#include <array>

#include "harness/base/words.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000'000;

std::int64_t Count(ULONG64 count) { return static_cast<std::int64_t>(count); }

// Data that came before the counting began would be missing from the counts.
bool CountsAllThatCame(const TCP_ESTATS_DATA_ROD_v0& data,
                       const TcpInfoReading& info) {
  return data.DataBytesIn >= info.values.BytesIn;
}

void FillFromData(const TCP_ESTATS_DATA_ROD_v0& data, TcpCounters& counters) {
  counters.data_segments_out = Count(data.DataSegsOut);
  counters.bytes_acked = Count(data.ThruBytesAcked);
}

void FillFromDataThatCame(const TCP_ESTATS_DATA_ROD_v0& data,
                          TcpCounters& counters) {
  counters.data_segments_in = Count(data.DataSegsIn);
  counters.segments_out = Count(data.SegsOut);
  counters.segments_in = Count(data.SegsIn);
  counters.bytes_received = Count(data.ThruBytesReceived);
}

void FillFromPath(const TCP_ESTATS_PATH_ROD_v0& path, TcpCounters& counters) {
  counters.retransmitted_segments = Count(path.PktsRetrans);
  counters.bytes_retransmitted = Count(path.BytesRetrans);
  counters.dsack_duplicates = Count(path.DsackDups);
  // Whole milliseconds: the microseconds of SIO_TCP_INFO come without one.
  if (path.CountRtt > 0) counters.rtt_variation_ns = path.RttVar * kMillisecond;
}

// TCPSTATE's names are an enumeration's that old SDKs lack; its order is the
// one of RFC 4022's tcpConnState less one.
TcpState StateOf(int state) {
  constexpr std::array kStates{
      TcpState::kClosed,      TcpState::kListen,      TcpState::kSynSent,
      TcpState::kSynReceived, TcpState::kEstablished, TcpState::kFinWait1,
      TcpState::kFinWait2,    TcpState::kCloseWait,   TcpState::kClosing,
      TcpState::kLastAck,     TcpState::kTimeWait};
  const auto index = static_cast<std::size_t>(state);
  return index < kStates.size() ? kStates[index] : TcpState::kUnknown;
}

}  // namespace

TcpMoment MomentFrom(const TcpInfoReading& info) {
  const TCP_INFO_v1& values = info.values;
  TcpMoment moment;
  moment.state = StateOf(static_cast<int>(values.State));
  moment.cwnd_bytes = Count(values.Cwnd);
  moment.peer_window_bytes = Count(values.SndWnd);
  moment.own_window_bytes = Count(values.RcvWnd);
  moment.in_flight_bytes = Count(values.BytesInFlight);
  moment.sent_bytes = Count(values.BytesOut);
  moment.received_bytes = Count(values.BytesIn);
  moment.retransmitted_bytes = Count(values.BytesRetrans);
  moment.mss_bytes = Count(values.Mss);
  if (values.Mss > 0) moment.cwnd_segments = Count(values.Cwnd / values.Mss);
  if (values.RttUs > 0) {
    moment.rtt_ns = values.RttUs * kMicrosecond;
    moment.min_rtt_ns = values.MinRttUs * kMicrosecond;
  }
  if (info.version >= 1) {
    moment.window_limited_ns = values.SndLimTimeRwin * kMillisecond;
  }
  return moment;
}

void FillFromTcpInfo(const TcpInfoReading& info, TcpCounters& counters) {
  const TCP_INFO_v1& values = info.values;
  counters.bytes_received = Count(values.BytesIn);
  counters.bytes_retransmitted = Count(values.BytesRetrans);
  counters.mss_bytes = Count(values.Mss);
  counters.peer_window_bytes = Count(values.SndWnd);
  counters.timestamps = values.TimestampsEnabled != FALSE ? 1 : 0;
  if (values.Mss > 0) {
    counters.cwnd_segments = Count(values.Cwnd / values.Mss);
  }
  if (values.RttUs > 0) {
    counters.rtt_ns = values.RttUs * kMicrosecond;
    counters.min_rtt_ns = values.MinRttUs * kMicrosecond;
  } else {
    Explain(counters, "rtt, min_rtt: no round trip was timed yet");
  }
  if (info.version >= 1) {
    counters.window_limited_ns = values.SndLimTimeRwin * kMillisecond;
  } else {
    Explain(counters,
            "window_limited: this Windows is older than 10 1809 and does not "
            "tell");
  }
}

void FillFromEstats(const EstatsReading& estats,
                    const std::optional<TcpInfoReading>& info,
                    TcpCounters& counters) {
  if (estats.data) {
    FillFromData(*estats.data, counters);
    if (info && CountsAllThatCame(*estats.data, *info)) {
      FillFromDataThatCame(*estats.data, counters);
    } else {
      Explain(counters,
              "data_segments_in, segments_*: data came before the counting "
              "could begin, or may have; the peer's counters have it all");
    }
  }
  if (estats.path) FillFromPath(*estats.path, counters);
  if (estats.peer) {
    counters.peer_window_scale = Count(estats.peer->WinScaleRcvd);
  }
}

std::string ExplainEstats(ULONG status) {
  if (status == ERROR_ACCESS_DENIED) {
    return "Windows counts segments for an administrator only: run the agent "
           "as administrator";
  }
  if (status == ERROR_NOT_FOUND) {
    return "the connection is gone, and with it what was counted";
  }
  return ErrorFrom(status).message();
}

void Explain(TcpCounters& counters, const std::string& why) {
  AddClause(why, counters.reason);
}

}  // namespace wiretoll
