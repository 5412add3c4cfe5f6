#include "harness/analysis/wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/theory/overhead.h"

namespace wiretoll {
namespace {

using MaybeCount = std::optional<std::int64_t>;

std::string Reconcile(const Wire& wire) {
  if (!wire.sender_data_segments && !wire.receiver_data_segments)
    return "no observer";
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

void AddReason(const std::string& more, Wire& wire) {
  if (!wire.reason.empty()) wire.reason += "; ";
  wire.reason += more;
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
    AddReason("how many segments were padded is not known: see the bounds",
              wire);
  }
}

// The receiver's count; else what the sender saw come, but for the peer's SYN
// and FIN: the sender reads its counters after the peer has closed.
MaybeCount AckSegments(const TcpCounters& sender, const TcpCounters& receiver) {
  if (receiver.segments_out && receiver.data_segments_out) {
    return *receiver.segments_out - *receiver.data_segments_out;
  }
  constexpr std::int64_t kSynAndFin = 2;
  if (!sender.segments_in || !sender.data_segments_in) return std::nullopt;
  const std::int64_t acks =
      *sender.segments_in - *sender.data_segments_in - kSynAndFin;
  return acks < 0 ? MaybeCount{} : MaybeCount{acks};
}

// The most that one segment can have carried: as the sender says, else as its
// peer's own segments would, else what an IP packet holds.
Bytes LargestSegment(const TcpCounters& sender, const TcpCounters& receiver) {
  constexpr std::int64_t kMostInPacket = 65'535;
  return {
      sender.mss_bytes.value_or(receiver.mss_bytes.value_or(kMostInPacket))};
}

std::string WhyNobodyCounted(const EndReport& sender,
                             const EndReport& receiver) {
  const auto why = [](const EndReport& end) {
    return end.counters.reason.empty() ? std::string("it gave no reason")
                                       : end.counters.reason;
  };
  if (why(sender) == why(receiver)) {
    return "no end counts segments: " + why(receiver);
  }
  return fmt::format("no end counts segments: the receiver: {}; the sender: {}",
                     why(receiver), why(sender));
}

void ExplainRetransmissions(const TcpCounters& sender, Wire& wire) {
  if (wire.retransmitted_segments) return;
  AddReason(
      fmt::format("the sender does not tell its retransmissions ({}): "
                  "payload is what was read",
                  sender.reason.empty() ? "no reason given" : sender.reason),
      wire);
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
  wire.ack_segments = AckSegments(sender.counters, receiver.counters);
  wire.agreement = Reconcile(wire);
  ChooseObserver(wire);
  const MaybeCount timestamps = receiver.counters.timestamps
                                    ? receiver.counters.timestamps
                                    : sender.counters.timestamps;
  if (!wire.data_segments) {
    wire.reason = WhyNobodyCounted(sender, receiver);
    return wire;
  }
  wire.payload_bytes = PayloadOnWire(wire, sender, receiver);
  ExplainRetransmissions(sender.counters, wire);
  if (!timestamps) {
    AddReason(
        "the TCP options in use are not known, so neither are the header "
        "bytes",
        wire);
    return wire;
  }
  const HeaderStack stack{ip_version, Transport::kTcp, *timestamps != 0, false};
  AddLayers(stack, LargestSegment(sender.counters, receiver.counters), wire);
  if (wire.ack_segments) {
    const CountedCost acks = CostOfAcks(*wire.ack_segments, stack);
    if (acks.l1_low == acks.l1_high) wire.ack_l1_bytes = acks.l1_low.count;
  }
  return wire;
}

}  // namespace wiretoll
