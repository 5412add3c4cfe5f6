#include "harness/analysis/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/words.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMillisecond;
// RFC 6928.
constexpr std::int64_t kInitialSegments = 10;
// RFC 7323 appendix A; RFC 6691 2 has the MSS without options.
constexpr std::int64_t kTimestampBytes = 12;

std::int64_t LargestPayload(const Timeline& timeline) {
  std::int64_t largest = 0;
  for (const TimelineSegment& segment : timeline.segments) {
    if (segment.frames == 1) largest = std::max(largest, segment.payload_bytes);
  }
  return largest;
}

void AddWrites(const CallLog& calls, ReplayInput& input) {
  for (const ProgramCall& call : calls.sender.calls) {
    if (call.bytes > 0) input.writes.push_back({call.began_ns, call.bytes});
  }
}

// In the order of the capture.
void AddDepartures(CapturedSend& send) {
  std::int64_t left = 0;
  for (const ReplaySegment& segment : send.seen) {
    left = std::max(left, segment.offset + segment.bytes);
    send.input.departures.push_back({segment.time_ns, left});
  }
}

// Of those that waited for room, when they got it: not after they returned,
// nor after their first byte was seen. A call that was only interrupted, with
// its bytes gone, is so not taken for one that waited.
void MoveWritesThatWaited(const CallLog& calls, CapturedSend& send) {
  std::size_t write = 0, segment = 0;
  std::int64_t offset = 0;
  for (const ProgramCall& call : calls.sender.calls) {
    if (call.bytes <= 0) continue;
    ReplayWrite& moved = send.input.writes[write++];
    while (segment < send.seen.size() &&
           send.seen[segment].offset + send.seen[segment].bytes <= offset) {
      ++segment;
    }
    offset += call.bytes;
    if (call.returned_ns - call.began_ns <= kMillisecond ||
        call.bytes > send.input.mss_bytes) {
      continue;
    }
    moved.time_ns = call.returned_ns;
    if (segment < send.seen.size()) {
      moved.time_ns = std::max(
          call.began_ns, std::min(moved.time_ns, send.seen[segment].time_ns));
    }
  }
}

void AddSegment(const TimelineSegment& segment, std::int64_t way_ns,
                CapturedSend& send) {
  if (segment.from_client) {
    if (segment.fin && send.input.closed_ns == 0) {
      send.input.closed_ns = segment.time_ns - way_ns;
    }
    if (!segment.data() || segment.retransmission || segment.probe) return;
    const std::int64_t end = segment.offset + segment.payload_bytes;
    for (std::int64_t at = segment.offset; at < end;) {
      const std::int64_t bytes = segment.frames > 1
                                     ? std::min(send.input.mss_bytes, end - at)
                                     : segment.payload_bytes;
      send.seen.push_back({segment.time_ns - way_ns, at, bytes});
      at += bytes;
    }
  } else if (segment.acknowledged) {
    send.input.acks.push_back({segment.time_ns + way_ns, *segment.acknowledged,
                               segment.window_bytes});
  }
}

// The FIN leaves with the last byte, or at its heels: where the program closed
// is known only to have been after its last write.
void LetTailGoWithFin(CapturedSend& send) {
  if (send.input.closed_ns == 0 || send.input.writes.empty()) return;
  send.input.closed_ns =
      std::max(send.input.closed_ns, send.input.writes.back().time_ns);
}

// Empty if the times of both fit each other.
std::string WhyAnotherClock(const CapturedSend& send) {
  const auto& writes = send.input.writes;
  std::size_t write = 0;
  std::int64_t written = 0;
  for (const ReplaySegment& segment : send.seen) {
    const std::int64_t end = segment.offset + segment.bytes;
    while (write < writes.size() && written < end) {
      written += writes[write++].bytes;
    }
    if (written < end) return "the capture holds more than the calls wrote";
    const std::int64_t early = writes[write - 1].time_ns - segment.time_ns;
    if (early > kMillisecond) {
      return fmt::format(
          "the sender's calls are not on the capture's clock: a segment is "
          "seen {:.3g} ms before it was written",
          static_cast<double>(early) / 1e6);
    }
  }
  const std::int64_t late = send.seen.front().time_ns - writes.front().time_ns;
  if (late > kSecond) {
    return fmt::format(
        "the sender's calls are not on the capture's clock: the first segment "
        "is seen {:.3g} s after the first write",
        static_cast<double>(late) / 1e9);
  }
  return {};
}

std::string WhyNoCalls(const CallLog& calls) {
  if (calls.sender.left_out > 0) {
    return fmt::format("{} of the sender's calls were left out of the log",
                       calls.sender.left_out);
  }
  return calls.sender.calls.empty() ? "the sender's calls were not logged"
                                    : std::string();
}

void AddReplayReason(const std::string& why, CaptureRecord& record) {
  AddClause("no replay: " + why, record.reason);
}

}  // namespace

Observed<std::int64_t> FullSegmentOf(const Timeline& timeline) {
  using Size = Observed<std::int64_t>;
  if (timeline.client_mss && timeline.server_mss) {
    const std::int64_t option =
        std::min(*timeline.client_mss, *timeline.server_mss);
    const std::int64_t full =
        option - (timeline.timestamps ? kTimestampBytes : 0);
    if (full >= 1) return Size::Of(full);
  }
  const std::int64_t largest = LargestPayload(timeline);
  return largest > 0 ? Size::Of(largest)
                     : Size::Not("the capture shows no size of segment");
}

std::int64_t WayToClientNs(const Timeline& timeline) {
  std::optional<std::int64_t> syn_ack_ns;
  for (const TimelineSegment& segment : timeline.segments) {
    if (segment.syn && !segment.from_client) syn_ack_ns = segment.time_ns;
    if (segment.syn || !segment.from_client || !segment.acknowledged) continue;
    if (!syn_ack_ns) return 0;
    const std::int64_t gap = segment.time_ns - *syn_ack_ns;
    return gap >= kMillisecond ? gap / 2 : 0;
  }
  return 0;
}

Observed<CapturedSend> CapturedSendOf(const Timeline& timeline,
                                      const CallLog& calls) {
  using Send = Observed<CapturedSend>;
  if (std::string why = WhyNoCalls(calls); !why.empty()) {
    return Send::Not(std::move(why));
  }
  if (!timeline.partial.empty()) {
    return Send::Not("the capture is not whole: " + timeline.partial);
  }
  const Observed<std::int64_t> full = FullSegmentOf(timeline);
  if (!full.value) return Send::Not(full.reason);
  CapturedSend send;
  send.input.mss_bytes = *full.value;
  send.input.initial_window = kInitialSegments;
  const std::int64_t way_ns = WayToClientNs(timeline);
  // Half of a measured time is no better known than to a quarter of it.
  send.input.slack_ns += way_ns / 4;
  AddWrites(calls, send.input);
  for (const TimelineSegment& segment : timeline.segments) {
    AddSegment(segment, way_ns, send);
  }
  if (send.seen.empty() || send.input.writes.empty()) {
    return Send::Not("the client sent nothing");
  }
  AddDepartures(send);
  std::stable_sort(send.seen.begin(), send.seen.end(),
                   [](const ReplaySegment& a, const ReplaySegment& b) {
                     return a.offset < b.offset;
                   });
  if (std::string why = WhyAnotherClock(send); !why.empty()) {
    return Send::Not(std::move(why));
  }
  MoveWritesThatWaited(calls, send);
  LetTailGoWithFin(send);
  return Send::Of(std::move(send));
}

void FillReplay(const Timeline& timeline, const CallLog& calls,
                CaptureRecord& record) {
  const Observed<CapturedSend> send = CapturedSendOf(timeline, calls);
  if (!send.value) {
    AddReplayReason(send.reason, record);
    return;
  }
  const RuleVerdict verdict = FollowedRule(send.value->input, send.value->seen);
  for (const RuleFit& fit : verdict.fits) {
    switch (fit.rule) {
      case SendRule::kAtOnce:
        record.replay_at_once = fit.segments;
        break;
      case SendRule::kClassic:
        record.replay_classic = fit.segments;
        break;
      case SendRule::kMinshall:
        record.replay_minshall = fit.segments;
        break;
    }
  }
  record.followed_rule = verdict.followed;
  if (verdict.followed.empty()) {
    AddClause("no rule told: " + verdict.why, record.reason);
  }
}

}  // namespace wiretoll
