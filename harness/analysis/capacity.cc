#include "harness/analysis/capacity.h"

#include <algorithm>

namespace wiretoll {
namespace {

std::string OtherwiseUnknown(const std::string& reason, const char* otherwise) {
  return reason.empty() ? otherwise : reason;
}

// Empty if all is there.
std::string WhyNot(const Sample& sample,
                   const std::optional<double>& rate_bits_per_second) {
  if (!rate_bits_per_second || *rate_bits_per_second <= 0) {
    return "the link has no known rate";
  }
  if (!sample.sender || !sample.receiver) return "an end reported nothing";
  if (!sample.wire) return "nobody saw the wire";
  const Wire& wire = *sample.wire;
  const bool bytes = wire.l1_bytes || (wire.l1_bytes_low && wire.l1_bytes_high);
  if (!bytes || !wire.header_bytes || !wire.data_segments ||
      *wire.data_segments <= 0) {
    return OtherwiseUnknown(wire.reason, "the bytes on the line are not known");
  }
  const TcpCounters& counters = sample.sender->counters;
  if (!counters.busy_ns || !counters.window_limited_ns) {
    return OtherwiseUnknown(counters.reason,
                            "the sender's system does not tell how long it "
                            "was busy");
  }
  if (sample.sender->elapsed_ns.value_or(0) <= 0 &&
      sample.receiver->elapsed_ns.value_or(0) <= 0) {
    return "no time went by";
  }
  return {};
}

double Seconds(const std::optional<std::int64_t>& ns) {
  return static_cast<double>(ns.value_or(0)) / 1e9;
}

// Takes at most `left` of `wanted`, and that from `left`.
double Take(double wanted, double& left) {
  const double taken = std::clamp(wanted, 0.0, left);
  left -= taken;
  return taken;
}

// Bytes of each kind on the line.
struct Carried {
  double payload = 0, headers = 0, framing = 0, retransmission = 0, all = 0;
};

Carried CarriedOf(const Sample& sample) {
  const Wire& wire = *sample.wire;
  const auto segments = static_cast<double>(*wire.data_segments);
  const auto again =
      std::clamp(static_cast<double>(wire.retransmitted_segments.value_or(0)),
                 0.0, segments);
  Carried carried;
  carried.all = wire.l1_bytes ? static_cast<double>(*wire.l1_bytes)
                              : (static_cast<double>(*wire.l1_bytes_low) +
                                 static_cast<double>(*wire.l1_bytes_high)) /
                                    2;
  double left = carried.all;
  carried.payload = Take(static_cast<double>(sample.receiver->bytes), left);
  carried.retransmission = Take(again * carried.all / segments, left);
  carried.headers =
      Take((segments - again) * static_cast<double>(*wire.header_bytes), left);
  carried.framing = left;
  return carried;
}

}  // namespace

Observed<Capacity> CapacityOf(const Sample& sample,
                              std::optional<double> rate_bits_per_second) {
  if (std::string reason = WhyNot(sample, rate_bits_per_second);
      !reason.empty()) {
    return Observed<Capacity>::Not(std::move(reason));
  }
  const Carried carried = CarriedOf(sample);
  const double line = *rate_bits_per_second / 8;
  const double time =
      std::max({Seconds(sample.sender->elapsed_ns),
                Seconds(sample.receiver->elapsed_ns), carried.all / line});
  const double capacity = line * time;
  const TcpCounters& counters = sample.sender->counters;
  double left = 1 - carried.all / capacity;
  Capacity shares;
  shares.payload = carried.payload / capacity;
  shares.headers = carried.headers / capacity;
  shares.framing = carried.framing / capacity;
  shares.retransmission = carried.retransmission / capacity;
  shares.program_wait = Take(1 - Seconds(counters.busy_ns) / time, left);
  shares.window_wait = Take(Seconds(counters.window_limited_ns) / time, left);
  shares.ack_wait = left;
  return Observed<Capacity>::Of(shares);
}

}  // namespace wiretoll
