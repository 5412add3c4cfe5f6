#include "harness/ns3/ends.h"

#include <cmath>
#include <optional>
#include <string>

namespace wiretoll {
namespace {

// Of IPv4 and UDP.
constexpr std::int64_t kUdpHeaders = 20 + 8;

OptionValue Asked(const std::optional<Bytes>& size, bool of_us) {
  return size && of_us ? OptionValue(size->count) : OptionValue();
}

OptionReading Is(OptionValue effective, std::string reason = {}) {
  return {.requested = {},
          .effective = std::move(effective),
          .reason = std::move(reason)};
}

OptionReading None(const char* why) {
  return {.requested = {}, .effective = {}, .reason = why};
}

// Rounded: an option is no fraction.
OptionReading Rounded(const std::optional<double>& value, const char* why_not) {
  if (!value) return None(why_not);
  return Is(std::int64_t{std::llround(*value)});
}

// Random numbers, and what FlowMonitor saw: a sample has no fields of their
// own for them.
void FillSimulation(const sim::WorldSpec& world, const sim::FlowFigures& flow,
                    EndReport& end) {
  const char* const too_few = "too few packets came";
  auto& options = end.options;
  options["rng_run"] = Is(static_cast<std::int64_t>(world.rng_run));
  options["flow_packets_sent"] = Is(flow.sent);
  options["flow_packets_received"] = Is(flow.received);
  options["flow_packets_lost"] = Is(flow.lost());
  options["flow_delay_mean_ns"] = Rounded(flow.delay_mean_ns, too_few);
  options["flow_jitter_mean_ns"] = Rounded(flow.jitter_mean_ns, too_few);
  options["flow_bits_per_second"] = Rounded(flow.bits_per_second, too_few);
}

void FillHost(EndReport& end) {
  end.os = "ns3";
  end.stack = SimulatedStack();
  end.why_null["cpu_ns"] = "no CPU is simulated";
  end.disturbance.reason =
      "a simulation is disturbed by nothing: its time is its own";
}

TcpCounters CountersOf(const sim::TcpEndFigures& seen, std::int64_t mtu) {
  TcpCounters counters;
  counters.data_segments_out = seen.data_segments_out;
  counters.data_segments_in = seen.data_segments_in;
  counters.segments_out = seen.segments_out;
  counters.segments_in = seen.segments_in;
  counters.retransmitted_segments = seen.retransmitted_segments;
  counters.bytes_retransmitted = seen.bytes_retransmitted;
  counters.bytes_acked = seen.bytes_acked;
  counters.out_of_order_segments = seen.out_of_order_segments;
  counters.min_rtt_ns = seen.rtt_least_ns;
  if (seen.cwnd_bytes && seen.segment_bytes > 0)
    counters.cwnd_segments = *seen.cwnd_bytes / seen.segment_bytes;
  counters.mss_bytes = seen.segment_bytes;
  counters.path_mtu_bytes = mtu;
  counters.peer_window_bytes = seen.peer_window_bytes;
  counters.peer_window_initial_bytes = seen.peer_window_first_bytes;
  counters.peer_window_peak_bytes = seen.peer_window_peak_bytes;
  counters.peer_window_scale = seen.peer_window_scale;
  if (seen.timestamps) counters.timestamps = *seen.timestamps ? 1 : 0;
  if (seen.sack) counters.sack = *seen.sack ? 1 : 0;
  counters.bytes_received = seen.bytes_received;
  counters.reason =
      "ns-3's trace sources do not tell: rtt_ns, rtt_variation_ns, "
      "dsack_duplicates, received_mss_bytes, busy_ns, window_limited_ns, "
      "sndbuf_limited_ns; at an end that sent nothing also cwnd_segments";
  return counters;
}

void FillTcpOptions(const Workload& workload, const sim::TcpEndFigures& seen,
                    bool sender, EndReport& end) {
  auto& options = end.options;
  options["nagle"] = {workload.nagle, !seen.no_delay, {}};
  options["rcvbuf"] = {Asked(workload.rcvbuf, !sender), seen.rcvbuf_bytes, {}};
  options["sndbuf"] = {Asked(workload.sndbuf, sender), seen.sndbuf_bytes, {}};
  options["mss"] = {Asked(workload.mss, sender), seen.segment_bytes, {}};
  OptionReading& congestion = options["congestion"];
  if (workload.congestion) congestion.requested = *workload.congestion;
  congestion.effective = seen.congestion;
  OptionReading& quickack = options["quickack"];
  if (!sender && workload.quickack != Quickack::kUnset) {
    quickack.requested = workload.quickack == Quickack::kEach
                             ? OptionValue(std::string("each"))
                             : OptionValue(false);
  }
  quickack.effective = seen.delayed_ack_count == 1;
  options["cork"] = None("ns-3 has none");
}

void FillUdpOptions(const Workload& workload, std::int64_t rcvbuf, bool sender,
                    EndReport& end) {
  auto& options = end.options;
  options["rcvbuf"] = {Asked(workload.rcvbuf, !sender), rcvbuf, {}};
  options["sndbuf"] = None("ns-3 has no send buffer for UDP");
  options["dont_fragment"] = Is(false, "ns-3's default; not to be set here");
  for (const char* name : {"nagle", "congestion", "quickack", "cork", "mss"})
    options[name] = None("UDP has none");
  end.counters.reason = "UDP has no connection to count for";
}

}  // namespace

void FillTcpEnds(const sim::WorldSpec& world, const Workload& workload,
                 const sim::TcpResult& result, SimulatedEnds& ends) {
  for (const bool sender : {true, false}) {
    EndReport& end = sender ? ends.sender : ends.receiver;
    const sim::TcpEndFigures& seen = sender ? result.sender : result.receiver;
    FillHost(end);
    FillTcpOptions(workload, seen, sender, end);
    FillSimulation(world, result.flow, end);
    end.counters = CountersOf(seen, world.link.mtu_bytes);
  }
  ends.sender.connect_ns = result.connect_ns;
  ends.sender.rtt_handshake_ns = result.sender.rtt_handshake_ns;
  ends.sender.rtt_min_ns = result.sender.rtt_least_ns;
}

void FillUdpEnds(const sim::WorldSpec& world, const Workload& workload,
                 const sim::UdpResult& result, SimulatedEnds& ends) {
  FillUdpOptions(workload, result.sender_rcvbuf_bytes, true, ends.sender);
  FillUdpOptions(workload, result.receiver_rcvbuf_bytes, false, ends.receiver);
  for (EndReport* end : {&ends.sender, &ends.receiver}) {
    FillHost(*end);
    FillSimulation(world, result.flow, *end);
  }
  ends.sender.datagrams->path_payload_bytes =
      world.link.mtu_bytes - kUdpHeaders;
  ends.receiver.datagrams->receive_buffer_drops = result.receive_buffer_drops;
}

}  // namespace wiretoll
