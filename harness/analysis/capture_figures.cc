#include "harness/analysis/capture_figures.h"

#include <algorithm>
#include <cstdint>

#include "harness/base/words.h"
#include "harness/theory/overhead.h"

namespace wiretoll {
namespace {

// IEEE 802.3 3.2.7: what is shorter is padded.
constexpr std::int64_t kLeastClientData =
    (kMinimumFrame - kEthernetHeader - kEthernetFcs).count;
constexpr std::int64_t kFraming =
    (kEthernetHeader + kEthernetFcs + kPreambleAndGap).count;

struct Sums {
  std::int64_t data = 0, acks = 0, again = 0, payload = 0, joined = 0;
  std::int64_t l3 = 0, l1 = 0;
};

void AddData(const TimelineSegment& segment, Sums& sums) {
  sums.data += segment.frames;
  sums.payload += segment.payload_bytes;
  if (segment.retransmission) sums.again += segment.frames;
  if (segment.frames > 1) ++sums.joined;
  // Each piece of a joined packet has the headers anew.
  const std::int64_t headers = segment.ip_bytes - segment.payload_bytes;
  const std::int64_t l3 = segment.ip_bytes + (segment.frames - 1) * headers;
  sums.l3 += l3;
  // Pieces are full but for the last, and none needs padding.
  const std::int64_t padded =
      segment.frames > 1 ? l3 : std::max(l3, kLeastClientData);
  sums.l1 += padded + segment.frames * kFraming;
}

bool IsPureAck(const TimelineSegment& segment) {
  return segment.acknowledged && !segment.data() && !segment.syn &&
         !segment.fin && !segment.rst && !segment.probe;
}

}  // namespace

void FillCaptureFigures(const Timeline& timeline, CaptureRecord& record) {
  Sums sums;
  for (const TimelineSegment& segment : timeline.segments) {
    if (!segment.from_client) {
      if (IsPureAck(segment)) ++sums.acks;
    } else if (segment.data() && !segment.probe) {
      AddData(segment, sums);
    }
  }
  record.data_segments = sums.data;
  record.ack_segments = sums.acks;
  record.retransmitted_segments = sums.again;
  record.payload_bytes = sums.payload;
  record.joined_packets = sums.joined;
  record.l3_bytes = sums.l3;
  record.l1_bytes = sums.l1;
  if (!timeline.partial.empty()) AddClause(timeline.partial, record.partial);
}

}  // namespace wiretoll
