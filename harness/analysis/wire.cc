#include "harness/analysis/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "harness/base/words.h"
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
  AddClause(more, wire.reason);
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

namespace {

Wire CountedWire(const EndReport& sender, const EndReport& receiver,
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

bool IsWhole(const CaptureRecord& capture) {
  return capture.partial.empty() && capture.data_segments &&
         capture.payload_bytes;
}

// Headers of one segment, where all segments' sum is a multiple of it.
MaybeCount HeadersIn(const CaptureRecord& capture) {
  const std::int64_t segments = *capture.data_segments;
  if (segments == 0 || !capture.l3_bytes) return std::nullopt;
  const std::int64_t headers = *capture.l3_bytes - *capture.payload_bytes;
  return headers % segments == 0 ? MaybeCount(headers / segments)
                                 : std::nullopt;
}

// An ACK has a data segment's headers.
MaybeCount AckCost(std::int64_t acks, std::int64_t header_bytes,
                   int ip_version) {
  for (const bool timestamps : {true, false}) {
    const HeaderStack stack{ip_version, Transport::kTcp, timestamps, false};
    if (NetworkHeaders(stack).count != header_bytes) continue;
    const CountedCost cost = CostOfAcks(acks, stack);
    if (cost.l1_low == cost.l1_high) return cost.l1_low.count;
  }
  return std::nullopt;
}

void TakeCapture(const CaptureRecord& capture, int ip_version, Wire& wire) {
  wire.observer = "capture";
  wire.reason = capture.l1_bytes ? std::string() : capture.reason;
  wire.data_segments = capture.data_segments;
  wire.payload_bytes = capture.payload_bytes;
  if (capture.ack_segments) wire.ack_segments = capture.ack_segments;
  if (capture.retransmitted_segments) {
    wire.retransmitted_segments = capture.retransmitted_segments;
  }
  const MaybeCount headers = HeadersIn(capture);
  if (headers) wire.header_bytes = headers;
  wire.l3_bytes = capture.l3_bytes;
  wire.l1_bytes = wire.l1_bytes_low = wire.l1_bytes_high = capture.l1_bytes;
  wire.l2_bytes.reset();
  if (capture.l1_bytes) {
    wire.l2_bytes =
        *capture.l1_bytes - *capture.data_segments * kPreambleAndGap.count;
  }
  if (wire.ack_segments && wire.header_bytes) {
    wire.ack_l1_bytes =
        AckCost(*wire.ack_segments, *wire.header_bytes, ip_version);
  }
}

// --- A capture against the ends ---------------------------------------------

std::string Segments(std::int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "segment" : "segments");
}

// More than was sent cannot have been lost; what offloads joined is split by
// arithmetic.
std::string WhyCaptureHasMore(const CaptureRecord& capture) {
  const std::int64_t joined = capture.joined_packets.value_or(0);
  if (joined > 0) {
    return fmt::format(
        "offload: {} packets were captured joined and split by the MSS",
        joined);
  }
  return "duplicated before the capture, or cause not known";
}

std::string WhyCaptureHasFewer(const Wire& wire, std::int64_t missing,
                               const CaptureRecord& capture) {
  if (capture.dropped.value_or(0) > 0) {
    return fmt::format("{} frames dropped by the capturing kernel",
                       *capture.dropped);
  }
  if (capture.joined_packets.value_or(0) > 0) {
    return WhyCaptureHasMore(capture);
  }
  // Both ends agree that they passed.
  if (wire.sender_data_segments && wire.receiver_data_segments &&
      *wire.receiver_data_segments >= *wire.sender_data_segments) {
    return "the capture missed them: attached late, or ended early";
  }
  if (wire.retransmitted_segments.value_or(0) >= missing) {
    return "lost before the capture and sent again";
  }
  return "cause not known";
}

// The part that concerns the sender's count; empty if equal or not counted.
std::string AgainstSender(const Wire& wire, const CaptureRecord& capture) {
  if (!wire.sender_data_segments) return {};
  const std::int64_t more = *capture.data_segments - *wire.sender_data_segments;
  if (more == 0) return {};
  return fmt::format("the capture has {} {} than the sender counts ({})",
                     Segments(std::abs(more)), more > 0 ? "more" : "fewer",
                     more > 0 ? WhyCaptureHasMore(capture)
                              : WhyCaptureHasFewer(wire, -more, capture));
}

std::string WhyReceiverHasFewer(const Wire& wire, std::int64_t missing,
                                const CaptureRecord& capture) {
  if (wire.retransmitted_segments.value_or(0) >= missing) {
    return "lost behind the capture and sent again";
  }
  if (capture.joined_packets.value_or(0) > 0) return WhyCaptureHasMore(capture);
  return "cause not known";
}

std::string AgainstReceiver(const Wire& wire, const CaptureRecord& capture) {
  if (!wire.receiver_data_segments) return {};
  const std::int64_t more =
      *capture.data_segments - *wire.receiver_data_segments;
  if (more == 0) return {};
  return fmt::format("the capture has {} {} than the receiver counts ({})",
                     Segments(std::abs(more)), more > 0 ? "more" : "fewer",
                     more > 0 ? WhyReceiverHasFewer(wire, more, capture)
                              : WhyCaptureHasFewer(wire, -more, capture));
}

}  // namespace

Wire AccountWire(const EndReport& sender, const EndReport& receiver,
                 int ip_version, const CaptureRecord* capture) {
  Wire wire = CountedWire(sender, receiver, ip_version);
  if (capture != nullptr && IsWhole(*capture)) {
    TakeCapture(*capture, ip_version, wire);
  }
  return wire;
}

CaptureAgreement HoldAgainstCapture(const Wire& wire,
                                    const CaptureRecord& capture) {
  if (!capture.partial.empty()) {
    return {CaptureMatch::kPartial, "not whole: " + capture.partial};
  }
  if (!capture.data_segments) {
    return {CaptureMatch::kNotHeld,
            capture.reason.empty() ? "nothing was captured" : capture.reason};
  }
  if (!wire.sender_data_segments && !wire.receiver_data_segments) {
    return {CaptureMatch::kNotHeld, "no end counts segments"};
  }
  std::string words = AgainstSender(wire, capture);
  const std::string receiver = AgainstReceiver(wire, capture);
  if (!words.empty() && !receiver.empty()) words += "; ";
  words += receiver;
  if (words.empty()) return {CaptureMatch::kEqual, "equal"};
  return {CaptureMatch::kDifferent, std::move(words)};
}

}  // namespace wiretoll
