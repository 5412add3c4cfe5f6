#include "harness/analysis/wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/theory/overhead.h"

namespace wiretoll {
namespace {

using Count = std::optional<std::int64_t>;

std::string Reconcile(const Wire& wire) {
  if (!wire.sender_data_segments || !wire.receiver_data_segments)
    return "one observer";
  const std::int64_t missing =
      *wire.sender_data_segments - *wire.receiver_data_segments;
  if (missing == 0) return "equal";
  const std::int64_t retransmitted = wire.retransmitted_segments.value_or(0);
  if (missing < 0) {
    return fmt::format(
        "different: the receiver counts {} more (offload or duplication)",
        -missing);
  }
  if (retransmitted >= missing) {
    return fmt::format("different: {} lost on the way and sent again", missing);
  }
  return fmt::format(
      "different: {} missing at the receiver, {} retransmissions (offload?)",
      missing, retransmitted);
}

// Payload that crossed the wire. Without retransmissions it is what was read.
// With them, those that replaced a lost segment are in it once, and those
// that arrived beside the original are in it twice.
std::int64_t PayloadOnWire(const Wire& wire, const EndReport& sender,
                           const EndReport& receiver) {
  const std::int64_t retransmitted = wire.retransmitted_segments.value_or(0);
  if (retransmitted == 0) return receiver.bytes;
  const std::int64_t lost =
      std::clamp<std::int64_t>(wire.sender_data_segments.value_or(0) -
                                   wire.receiver_data_segments.value_or(
                                       wire.sender_data_segments.value_or(0)),
                               0, retransmitted);
  const std::int64_t again = sender.counters.bytes_retransmitted.value_or(0);
  return receiver.bytes + again * (retransmitted - lost) / retransmitted;
}

void AddLayers(const HeaderStack& stack, Bytes largest, Wire& wire) {
  const std::int64_t segments = *wire.data_segments;
  const std::int64_t payload = *wire.payload_bytes;
  if (segments == 0 || payload < segments) return;
  const Bytes room{
      std::max(largest.count, (payload + segments - 1) / segments)};
  const CountedCost cost = CostOfCounted(segments, Bytes{payload}, room, stack);
  wire.header_bytes = NetworkHeaders(stack).count;
  wire.l3_bytes = cost.l3.count;
  wire.l1_bytes_low = cost.l1_low.count;
  wire.l1_bytes_high = cost.l1_high.count;
  if (cost.l1_low == cost.l1_high) {
    wire.l2_bytes = cost.l2_low.count;
    wire.l1_bytes = cost.l1_low.count;
  } else {
    wire.reason = "how many segments were padded is not known: see the bounds";
  }
}

Count AckSegments(const TcpCounters& counters) {
  if (!counters.segments_out || !counters.data_segments_out)
    return std::nullopt;
  return *counters.segments_out - *counters.data_segments_out;
}

void ChooseObserver(Wire& wire) {
  if (wire.receiver_data_segments) {
    wire.observer = "receiver-counters";
    wire.data_segments = wire.receiver_data_segments;
  } else if (wire.sender_data_segments) {
    wire.observer = "sender-counters";
    wire.data_segments = wire.sender_data_segments;
  } else {
    wire.observer = "none";
  }
}

}  // namespace

Wire AccountWire(const EndReport& sender, const EndReport& receiver,
                 int ip_version) {
  Wire wire;
  wire.sender_data_segments = sender.counters.data_segments_out;
  wire.receiver_data_segments = receiver.counters.data_segments_in;
  wire.retransmitted_segments = sender.counters.retransmitted_segments;
  wire.ack_segments = AckSegments(receiver.counters);
  wire.agreement = Reconcile(wire);
  ChooseObserver(wire);
  const Count timestamps = receiver.counters.timestamps
                               ? receiver.counters.timestamps
                               : sender.counters.timestamps;
  if (!wire.data_segments) {
    wire.reason = "no end counts segments: " + receiver.counters.reason;
    return wire;
  }
  wire.payload_bytes = PayloadOnWire(wire, sender, receiver);
  if (!timestamps) {
    wire.reason =
        "the TCP options in use are not known, so neither are the "
        "header bytes";
    return wire;
  }
  const HeaderStack stack{ip_version, Transport::kTcp, *timestamps != 0, false};
  AddLayers(stack, Bytes{sender.counters.mss_bytes.value_or(0)}, wire);
  if (wire.ack_segments) {
    const CountedCost acks = CostOfAcks(*wire.ack_segments, stack);
    if (acks.l1_low == acks.l1_high) wire.ack_l1_bytes = acks.l1_low.count;
  }
  return wire;
}

}  // namespace wiretoll
