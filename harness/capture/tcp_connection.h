// What a TCP connection's segments were to each other. For flows.cc.
#ifndef WIRETOLL_HARNESS_CAPTURE_TCP_CONNECTION_H_
#define WIRETOLL_HARNESS_CAPTURE_TCP_CONNECTION_H_

#include <array>
#include <cstdint>
#include <optional>

#include "harness/capture/dissect.h"
#include "harness/capture/flows.h"
#include "harness/capture/sequence_space.h"
#include "harness/capture/timeline.h"

namespace wiretoll {

class TcpConnection {
 public:
  // Whether `packet` opens another connection between the same two ends: a
  // SYN that this one cannot have sent.
  [[nodiscard]] bool IsOver(const Packet& packet, bool from_client) const;

  // Takes a segment into account, and into `flow`'s figures.
  TimelineSegment Add(const Packet& packet, std::int64_t time_ns,
                      bool from_client, Flow& flow);

  // What is known only at the end.
  void Finish(Flow& flow) const;

 private:
  struct Timed {
    std::int64_t end = 0;  // Offset behind the segment's last byte.
    std::int64_t time_ns = 0;
  };
  // One end, and the stream that it sends.
  struct End {
    SequenceSpace sent;
    std::optional<std::uint32_t> syn;          // Its sequence number.
    std::int64_t syn_ns = 0;                   // When it was first sent.
    std::optional<std::int64_t> fin;           // The FIN's offset.
    std::optional<std::int64_t> acknowledged;  // Of what it sent.
    std::optional<std::uint32_t> early_ack;    // Before any of it was seen.
    std::optional<std::int64_t> window_probe;  // Offset of a byte that went
                                               // into a closed window.
    std::optional<Timed> timed;                // Awaits its ACK.
    std::int64_t last_ns = 0;                  // Of its last segment.
    // Its last segment with an ACK.
    std::optional<std::uint32_t> last_ack;
    std::uint16_t last_window = 0;  // As in the header.
  };
  // A segment on its way through the steps below.
  struct Step {
    const Packet& packet;
    std::int64_t time_ns;
    End& from;
    End& to;
    Flow& flow;
    DirectionFigures& figures;
    DirectionFigures& others;  // Of the other direction.
    TimelineSegment seen;
    std::int64_t most_payload = 0;  // Of a full segment with its options.
  };

  // In this order.
  static void TakeSyn(Step& step);
  static void CountOnWire(Step& step);
  static void Locate(Step& step);
  static void TakeHandshake(Step& step);
  static bool IsProbe(const Step& step);
  static void TakeProbe(Step& step);
  static void TakeData(Step& step);
  static void TakePureAck(Step& step);
  static void TakeAck(Step& step);
  static void TakeWindow(Step& step);
  static void TakeEnd(Step& step);

  static void Start(End& end, std::uint32_t first, bool syn_seen);
  static std::int64_t MostPayload(Step& step);
  static void CountAgain(Step& step, const SequenceSpace::Placed& placed);
  static void TakeStall(Step& step);
  static void AcceptProbe(Step& step, std::int64_t acknowledged);
  static std::int64_t WindowOf(const Step& step);

  std::array<End, 2> ends_;  // Client, server.
};

// The bytes that `packet`, as `segments` of them, takes on layers 3 to 1.
void CountLayers(const Packet& packet, std::int64_t segments,
                 std::int64_t most_payload, DirectionFigures& figures);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_TCP_CONNECTION_H_
