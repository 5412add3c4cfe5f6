#include "harness/ns3/table.h"

#include <fmt/format.h>

#include <string>

namespace wiretoll {
namespace {

// Empty where nothing came.
std::string Scaled(const std::optional<double>& value, double unit) {
  return value ? fmt::format("{:.3f}", *value / unit) : std::string();
}

std::string LineOf(bool tcp, std::int64_t packets,
                   const sim::FlowFigures& flow) {
  return fmt::format(
      "{},{},{},{},{},{},{},{}\n", tcp ? "tcp" : "udp", packets,
      Scaled(flow.bits_per_second, 1e6), Scaled(flow.delay_mean_ns, 1e3),
      Scaled(flow.jitter_mean_ns, 1e3), flow.sent, flow.received, flow.lost());
}

bool Print(const std::string& line, std::FILE* out) {
  return std::fputs(line.c_str(), out) >= 0 && std::fflush(out) == 0;
}

}  // namespace

ExitCode PrintTable(const TableSpec& spec, std::FILE* out) {
  const char* head =
      "transport,packets,throughput_mbit_s,delay_mean_us,jitter_mean_us,"
      "ip_packets_sent,ip_packets_received,ip_packets_lost\n";
  if (!Print(head, out)) return ExitCode::kNothingRan;
  for (const bool tcp : {true, false}) {
    for (const std::int64_t packets : spec.packets) {
      const sim::FlowFigures flow = sim::SimulatePublished(
          spec.world, {tcp, packets, spec.segment_bytes, spec.buffer_bytes});
      if (!Print(LineOf(tcp, packets, flow), out)) return ExitCode::kNothingRan;
    }
  }
  return ExitCode::kDone;
}

}  // namespace wiretoll
