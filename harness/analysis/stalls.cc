#include "harness/analysis/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "harness/analysis/replay.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMs = 1'000'000;
// A delayed ACK is held for 40 ms or more on the systems that we know, from
// whichever segment the timer was set for.
constexpr std::int64_t kDelayedFromNs = 30 * kMs;
// What follows an ACK this soon was let go by it.
constexpr std::int64_t kAtItsHeelsNs = kMs;
constexpr int kDuplicateAcks = 3;  // RFC 5681 3.2.
// MTU 1500 and no options: where nothing tells the segments' size.
constexpr std::int64_t kEthernetMss = 1460;

// One direction's sending, as the capture has shown it so far.
struct Half {
  std::int64_t sent = 0;         // First byte that was not sent yet.
  std::int64_t partial_end = 0;  // Where its last partial segment ends.
  std::int64_t acknowledged = 0;
  std::int64_t edge = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_window = 0;
  std::int64_t last_sent_ns = 0;
  std::int64_t frames_out = 0;  // Sent since all was acknowledged.

  [[nodiscard]] std::int64_t Full(std::int64_t mss) const {
    if (largest_window < 1) return mss;
    return LinuxHalfWindowSegment(Bytes{largest_window}, Bytes{mss}).count;
  }
  void Send(const TimelineSegment& segment, std::int64_t mss) {
    const std::int64_t end = segment.offset + segment.payload_bytes;
    if (end <= sent) return;
    sent = end;
    if (segment.payload_bytes % Full(mss) != 0) partial_end = end;
    last_sent_ns = segment.time_ns;
    frames_out += segment.frames;
  }
  void TakeAck(const TimelineSegment& segment) {
    if (!segment.acknowledged || *segment.acknowledged < acknowledged) return;
    acknowledged = *segment.acknowledged;
    edge = acknowledged + segment.window_bytes;
    largest_window = std::max(largest_window, segment.window_bytes);
    if (acknowledged >= sent) frames_out = 0;
  }
};

// The calls that handed over one direction's bytes, gone through in order.
class WriteFinder {
 public:
  // Null: not known, or by another clock.
  explicit WriteFinder(const std::vector<ProgramCall>* calls) : calls_(calls) {}

  // The call that wrote the byte at `offset`; null where that is not known.
  // Asked by rising offset.
  const ProgramCall* Of(std::int64_t offset) {
    if (calls_ == nullptr) return nullptr;
    while (next_ < calls_->size() && end_ <= offset) {
      end_ += (*calls_)[next_++].bytes;
    }
    return end_ > offset && next_ > 0 ? &(*calls_)[next_ - 1] : nullptr;
  }

 private:
  const std::vector<ProgramCall>* calls_;
  std::size_t next_ = 0;
  std::int64_t end_ = 0;
};

// A gap, and how the direction that ends it stood when it began.
struct Gap {
  const Timeline& timeline;
  std::size_t first = 0;  // Of the segments without data in it.
  std::size_t end = 0;    // The data segment that ends it.
  std::int64_t began_ns = 0;
  Half before;
  std::int64_t full = 0;               // A full segment.
  const ProgramCall* write = nullptr;  // Of the first byte that ends it.
  std::int64_t rtt_ns = 0;
  bool nagle = true;
  bool sndbuf_limited = false;

  [[nodiscard]] const TimelineSegment& last() const {
    return timeline.segments[end];
  }
  [[nodiscard]] std::int64_t lasted_ns() const {
    return last().time_ns - began_ns;
  }
  [[nodiscard]] std::string lasted() const { return Milliseconds(lasted_ns()); }
};

using MaybeCause = std::optional<std::pair<Mechanism, std::string>>;

MaybeCause Because(Mechanism mechanism, std::string words) {
  return std::pair(mechanism, std::move(words));
}

MaybeCause Lost(const Gap& gap) {
  const TimelineSegment& again = gap.last();
  if (!again.retransmission) return std::nullopt;
  int acks = 0;
  for (std::size_t i = gap.first; i < gap.end; ++i) {
    const TimelineSegment& segment = gap.timeline.segments[i];
    if (segment.from_client != again.from_client &&
        segment.acknowledged == again.offset) {
      ++acks;
    }
  }
  return Because(
      Mechanism::kRetransmission,
      fmt::format("{} from byte {} on are sent again after {}: {}",
                  BytesInWords(again.payload_bytes), again.offset, gap.lasted(),
                  acks >= kDuplicateAcks
                      ? fmt::format("{} duplicate ACKs asked for them", acks)
                      : std::string("the retransmission timer went off")));
}

MaybeCause NotWritten(const Gap& gap) {
  if (gap.write == nullptr) return std::nullopt;
  const std::int64_t idle = gap.write->began_ns - gap.began_ns;
  if (4 * idle < 3 * gap.lasted_ns()) return std::nullopt;
  if (gap.last().from_client) {
    return Because(Mechanism::kSenderProgram,
                   fmt::format("the sender's program writes nothing for {}",
                               Milliseconds(idle)));
  }
  return Because(Mechanism::kReceiverProgram,
                 fmt::format("the server's program has no reply for {}",
                             Milliseconds(idle)));
}

// How long of a gap the window was closed to the segment that ends it, or open
// to less than that.
struct RoomTimes {
  std::int64_t closed_ns = 0;
  std::int64_t little_ns = 0;
  std::int64_t little_bytes = 0;  // The last such room.
  std::int64_t opened_bytes = 0;  // The window at the gap's end.

  void Add(std::int64_t room, std::int64_t lasted_ns, const Gap& gap) {
    const std::int64_t sent = gap.last().payload_bytes;
    if (room <= 0) {
      closed_ns += lasted_ns;
      // Cut to the window, it would have been larger.
    } else if (room < std::min(sent, gap.full) ||
               (room == sent && sent < gap.full)) {
      little_ns += lasted_ns;
      little_bytes = room;
    }
  }
};

RoomTimes RoomIn(const Gap& gap) {
  RoomTimes times;
  Half state = gap.before;
  std::int64_t since_ns = gap.began_ns;
  for (std::size_t i = gap.first; i <= gap.end; ++i) {
    const TimelineSegment& segment = gap.timeline.segments[i];
    if (i < gap.end && segment.from_client == gap.last().from_client) continue;
    times.Add(state.edge - gap.last().offset, segment.time_ns - since_ns, gap);
    since_ns = segment.time_ns;
    if (i < gap.end) state.TakeAck(segment);
  }
  times.opened_bytes = state.edge - state.acknowledged;
  return times;
}

std::int64_t ProbesIn(const Gap& gap) {
  const auto begin =
      gap.timeline.segments.begin() + static_cast<std::ptrdiff_t>(gap.first);
  return std::count_if(
      begin, begin + static_cast<std::ptrdiff_t>(gap.end - gap.first),
      [](const TimelineSegment& segment) { return segment.probe; });
}

// For half of the gap and more the window had no room, or too little.
MaybeCause NoWindow(const Gap& gap) {
  const RoomTimes times = RoomIn(gap);
  if (2 * (times.closed_ns + times.little_ns) < gap.lasted_ns()) {
    return std::nullopt;
  }
  if (times.little_ns > times.closed_ns) {
    const bool forced = gap.last().payload_bytes == times.little_bytes;
    return Because(
        Mechanism::kSillyWindow,
        fmt::format(
            "{} of window are less than the next segment: the sender "
            "waits {} {}",
            BytesInWords(times.little_bytes), gap.lasted(),
            forced ? "for its timer, and sends just these" : "for more room"));
  }
  const std::int64_t probes = ProbesIn(gap);
  if (probes == 0) {
    return Because(Mechanism::kWindowClosed,
                   fmt::format("the window is closed for {}, until the reader "
                               "has made room, and opens to {}",
                               Milliseconds(times.closed_ns),
                               BytesInWords(times.opened_bytes)));
  }
  return Because(
      Mechanism::kPersistTimer,
      fmt::format("the window is closed for {}; the persist timer sends {} "
                  "{} to ask for it",
                  Milliseconds(times.closed_ns), probes,
                  probes == 1 ? "probe" : "probes"));
}

// The peer's last ACK in the gap, if the gap's end is at its heels: captured at
// the peer's side, up to a round trip behind it.
const TimelineSegment* Release(const Gap& gap) {
  for (std::size_t i = gap.end; i-- > gap.first;) {
    const TimelineSegment& segment = gap.timeline.segments[i];
    if (segment.from_client == gap.last().from_client ||
        !segment.acknowledged) {
      continue;
    }
    const std::int64_t after = gap.last().time_ns - segment.time_ns;
    return after <= kAtItsHeelsNs + gap.rtt_ns ? &segment : nullptr;
  }
  return nullptr;
}

MaybeCause HeldByNagle(const Gap& gap) {
  const TimelineSegment* release = Release(gap);
  const Half& before = gap.before;
  if (!gap.nagle || release == nullptr ||
      gap.last().payload_bytes % gap.full == 0 ||
      before.acknowledged >= before.sent) {
    return std::nullopt;
  }
  // Classic waits for all, Minshall for the partial segment among it.
  const std::int64_t awaited = before.partial_end > before.acknowledged
                                   ? before.partial_end
                                   : before.sent;
  if (*release->acknowledged < awaited) return std::nullopt;
  const std::int64_t held = release->time_ns - before.last_sent_ns;
  const bool delayed = held >= kDelayedFromNs + gap.rtt_ns && !release->data();
  return Because(delayed ? Mechanism::kDelayedAck : Mechanism::kNagleAwaitsAck,
                 fmt::format("Nagle waits {} for the {}ACK{}", gap.lasted(),
                             delayed ? "delayed " : "",
                             gap.write == nullptr
                                 ? ", if it was written by then (not logged)"
                                 : ""));
}

// RFC 6928's initial window.
constexpr std::int64_t kLeastFullFlight = 10;

bool LossBefore(const Gap& gap) {
  const auto& segments = gap.timeline.segments;
  return std::any_of(
      segments.begin(),
      segments.begin() + static_cast<std::ptrdiff_t>(gap.first),
      [](const TimelineSegment& segment) { return segment.retransmission; });
}

MaybeCause InFlight(const Gap& gap) {
  if (Release(gap) == nullptr || gap.before.acknowledged >= gap.before.sent) {
    return std::nullopt;
  }
  const bool writing =
      gap.write != nullptr &&
      gap.write->returned_ns - gap.write->began_ns > gap.lasted_ns() / 2;
  if (writing && gap.sndbuf_limited) {
    return Because(Mechanism::kSendBuffer,
                   fmt::format("a write waits {} for room in the send buffer",
                               gap.lasted()));
  }
  // Of fewer no congestion window is full, unless a loss has made it small.
  if (gap.before.frames_out < kLeastFullFlight && !LossBefore(gap)) {
    return std::nullopt;
  }
  return Because(
      Mechanism::kCongestionWindow,
      fmt::format("{} in flight; the next waits {} for an ACK",
                  gap.before.frames_out == 1
                      ? std::string("1 segment is")
                      : fmt::format("{} segments are", gap.before.frames_out),
                  gap.lasted()));
}

constexpr std::array kCauses = {Lost, NotWritten, NoWindow, HeldByNagle,
                                InFlight};

Stall StallOf(const Gap& gap, std::int64_t start_ns) {
  Stall stall{
      gap.began_ns - start_ns, gap.lasted_ns(), Mechanism::kUnexplained, {}};
  for (const auto& cause : kCauses) {
    MaybeCause found = cause(gap);
    if (!found) continue;
    std::tie(stall.mechanism, stall.words) = *std::move(found);
    return stall;
  }
  stall.words = fmt::format(
      "{} without data, and nothing that was seen says why{}", gap.lasted(),
      gap.write == nullptr ? " (when the bytes were written is not known)"
                           : "");
  return stall;
}

bool NagleIsOn(const Sample& sample) {
  if (!sample.sender) return true;
  const auto option = sample.sender->options.find("nagle");
  if (option == sample.sender->options.end()) return true;
  const auto* on = std::get_if<bool>(&option->second.effective);
  return on == nullptr || *on;
}

class StallFinder {
 public:
  StallFinder(const Story& story, std::int64_t threshold_ns)
      : story_(story),
        threshold_ns_(threshold_ns),
        mss_(FullSegmentOf(story.timeline).value.value_or(kEthernetMss)),
        rtt_ns_(HandshakeNs(story.timeline)),
        nagle_(NagleIsOn(story.sample)),
        sndbuf_limited_(
            story.sample.sender &&
            story.sample.sender->counters.sndbuf_limited_ns.value_or(0) > 0),
        writes_{
            WriteFinder(story.sender_calls_on_clock ? &story.calls.sender.calls
                                                    : nullptr),
            WriteFinder(story.receiver_calls_on_clock &&
                                ServerSends(story.timeline)
                            ? &story.calls.receiver.calls
                            : nullptr)} {}

  std::vector<Stall> Find() {
    const auto& segments = story_.timeline.segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const TimelineSegment& segment = segments[i];
      const std::size_t direction = segment.from_client ? 0 : 1;
      if (IsData(segment)) EndGap(i, direction);
      halves_[1 - direction].TakeAck(segment);
      if (!IsData(segment)) continue;
      halves_[direction].Send(segment, mss_);
      before_ = halves_;
      gap_began_ = i;
    }
    return std::move(stalls_);
  }

 private:
  void EndGap(std::size_t i, std::size_t direction) {
    const auto& segments = story_.timeline.segments;
    const ProgramCall* const write = writes_[direction].Of(segments[i].offset);
    if (!gap_began_) return;
    const std::int64_t began_ns = segments[*gap_began_].time_ns;
    if (segments[i].time_ns - began_ns <= threshold_ns_) return;
    const Half& before = before_[direction];
    stalls_.push_back(
        StallOf({story_.timeline, *gap_began_ + 1, i, began_ns, before,
                 before.Full(mss_), write, rtt_ns_, nagle_, sndbuf_limited_},
                story_.start_ns));
  }

  const Story& story_;
  std::int64_t threshold_ns_;
  std::int64_t mss_;
  std::int64_t rtt_ns_;
  bool nagle_, sndbuf_limited_;
  std::array<WriteFinder, 2> writes_;  // The client's, the server's.
  std::array<Half, 2> halves_, before_;
  std::optional<std::size_t> gap_began_;  // The last data segment.
  std::vector<Stall> stalls_;
};

}  // namespace

std::string Milliseconds(std::int64_t ns) {
  const double ms = static_cast<double>(ns) / kMs;
  return ms < 1000 ? fmt::format("{:.3g} ms", ms)
                   : fmt::format("{:.0f} ms", ms);
}

std::string BytesInWords(std::int64_t bytes) {
  return bytes == 1 ? "1 byte" : fmt::format("{} bytes", bytes);
}

bool IsData(const TimelineSegment& segment) {
  return segment.data() && !segment.probe;
}

bool ServerSends(const Timeline& timeline) {
  return std::any_of(timeline.segments.begin(), timeline.segments.end(),
                     [](const TimelineSegment& segment) {
                       return !segment.from_client && IsData(segment);
                     });
}

std::int64_t HandshakeNs(const Timeline& timeline) {
  std::optional<std::int64_t> syn_ns, syn_ack_ns;
  for (const TimelineSegment& segment : timeline.segments) {
    if (segment.syn && segment.from_client) syn_ns = segment.time_ns;
    if (segment.syn && !segment.from_client) syn_ack_ns = segment.time_ns;
    if (segment.syn || !segment.from_client) continue;
    return syn_ns && syn_ack_ns ? segment.time_ns - *syn_ns : 0;
  }
  return 0;
}

std::int64_t StallThresholdNs(const Timeline& timeline,
                              const StoryLimits& limits) {
  std::vector<std::int64_t> gaps;
  std::optional<std::int64_t> last_ns;
  for (const TimelineSegment& segment : timeline.segments) {
    if (!IsData(segment)) continue;
    if (last_ns) gaps.push_back(segment.time_ns - *last_ns);
    last_ns = segment.time_ns;
  }
  std::int64_t median = 0;
  if (!gaps.empty() && gaps.size() >= limits.gaps) {
    const auto middle =
        gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    median = *middle;
  }
  const auto times = [](double factor, std::int64_t ns) {
    return static_cast<std::int64_t>(factor * static_cast<double>(ns));
  };
  return std::max({limits.least_ns, times(limits.median_gaps, median),
                   times(limits.round_trips, HandshakeNs(timeline))});
}

std::vector<Stall> FindStalls(const Story& story, const StoryLimits& limits) {
  return StallFinder(story, StallThresholdNs(story.timeline, limits)).Find();
}

}  // namespace wiretoll
