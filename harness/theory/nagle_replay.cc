#include "harness/theory/nagle_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace wiretoll {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::array kSendRules = {SendRule::kAtOnce, SendRule::kClassic,
                                   SendRule::kMinshall};
// Linux fills a segment with the whole of a window up to this.
constexpr std::int64_t kWholeWindowUpTo = 536;
// Segments at the device at a time, at the least (Linux tcp_small_queue_check).
constexpr std::int64_t kSmallQueue = 2;
// RFC 6928: with fewer in flight no congestion window is full.
constexpr std::size_t kInitialFlight = 10;

// The largest segment worth sending, by RFC 9293 3.8.6.2.1's half of the
// largest window seen; 0 is none seen.
std::int64_t FullSegmentSize(std::int64_t mss, std::int64_t largest_window) {
  if (largest_window <= 0) return mss;
  const std::int64_t worth =
      largest_window > kWholeWindowUpTo ? largest_window / 2 : largest_window;
  return std::min(mss, worth);
}

// What the peer's ACKs have let a sender do so far.
struct PeerState {
  std::int64_t acknowledged = 0;
  std::int64_t edge = kNever;  // First byte beyond the window.
  std::int64_t largest_window = 0;

  // One that is older than the last, because it was overtaken, says nothing.
  void Take(const ReplayAck& ack) {
    if (ack.acknowledged < acknowledged) return;
    acknowledged = ack.acknowledged;
    edge = ack.acknowledged + ack.window_bytes;
    largest_window = std::max(largest_window, ack.window_bytes);
  }
};

class RuleSender {
 public:
  RuleSender(const ReplayInput& input, SendRule rule)
      : mss_(input.mss_bytes),
        initial_window_(input.initial_window),
        rule_(rule),
        left_(input.departures.empty() ? kNever : 0) {}

  void Write(const ReplayWrite& write) {
    written_ += write.bytes;
    Push(write.time_ns);
  }

  void Acknowledge(const ReplayAck& ack) {
    if (window_waits_) {
      const std::int64_t went = std::min(ack.acknowledged, written_);
      while (sent_ < went) Send(ack.time_ns, std::min(Full(), went - sent_));
    }
    peer_.Take(ack);
    while (acknowledged_ < segments_.size() &&
           segments_[acknowledged_].offset + segments_[acknowledged_].bytes <=
               peer_.acknowledged) {
      ++acknowledged_;
    }
    Push(ack.time_ns);
  }

  void Depart(const ReplayDeparture& departure) {
    left_ = departure.bytes;
    Push(departure.time_ns);
  }

  void Close(std::int64_t time_ns) {
    closed_ = true;
    Push(time_ns);
  }

  [[nodiscard]] const std::vector<ReplaySegment>& segments() const {
    return segments_;
  }
  std::vector<ReplaySegment> Take() { return std::move(segments_); }

 private:
  [[nodiscard]] std::int64_t Full() const {
    return FullSegmentSize(mss_, peer_.largest_window);
  }

  [[nodiscard]] bool PartialMayLeave() const {
    if (closed_ || rule_ == SendRule::kAtOnce) return true;
    return peer_.acknowledged >=
           (rule_ == SendRule::kClassic ? sent_ : partial_end_);
  }

  [[nodiscard]] bool CongestionWindowIsFull() const {
    if (initial_window_ <= 0) return false;
    const auto acknowledged = static_cast<std::int64_t>(acknowledged_);
    return static_cast<std::int64_t>(segments_.size()) - acknowledged >=
           initial_window_ + acknowledged;
  }

  void Send(std::int64_t time_ns, std::int64_t bytes) {
    segments_.push_back({time_ns, sent_, bytes});
    sent_ += bytes;
    if (bytes < Full()) partial_end_ = sent_;
  }

  void Push(std::int64_t time_ns) {
    window_waits_ = false;
    while (sent_ < written_) {
      const std::int64_t bytes = std::min(Full(), written_ - sent_);
      if (peer_.edge - sent_ < bytes || CongestionWindowIsFull()) {
        window_waits_ = true;
        return;
      }
      if (sent_ - left_ >= kSmallQueue * mss_) return;
      if (bytes < Full() && !PartialMayLeave()) return;
      Send(time_ns, bytes);
    }
  }

  std::int64_t mss_;
  std::int64_t initial_window_;
  SendRule rule_;
  PeerState peer_;
  std::size_t acknowledged_ = 0;  // Segments.
  std::int64_t written_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t partial_end_ = 0;  // Where the last partial segment ends.
  std::int64_t left_;             // Bytes that left the device.
  bool window_waits_ = false;     // Something does, for room in a window.
  bool closed_ = false;
  std::vector<ReplaySegment> segments_;
};

// Hands all that happens to the sender in order of time; of what is at the same
// time ACKs first, then departures, then writes, and the close after the last
// write.
class Feed {
 public:
  Feed(const ReplayInput& input, RuleSender& sender)
      : input_(input), sender_(sender), close_pending_(input.closed_ns > 0) {}

  // Does what is next; `ack` is the next of those, or none. Gives whether it
  // took that.
  bool Step(const ReplayAck* ack) {
    const std::int64_t ack_ns = ack != nullptr ? ack->time_ns : kNever;
    const std::int64_t departure_ns = TimeOf(input_.departures, departed_);
    const std::int64_t write_ns = TimeOf(input_.writes, written_);
    if (written_ == input_.writes.size() && close_pending_ &&
        input_.closed_ns <= std::min(ack_ns, departure_ns)) {
      close_pending_ = false;
      sender_.Close(input_.closed_ns);
    } else if (ack != nullptr && ack_ns <= std::min(departure_ns, write_ns)) {
      sender_.Acknowledge(*ack);
      return true;
    } else if (departed_ < input_.departures.size() &&
               departure_ns <= write_ns) {
      sender_.Depart(input_.departures[departed_++]);
    } else if (written_ < input_.writes.size()) {
      sender_.Write(input_.writes[written_++]);
    }
    return false;
  }

  // Nothing is left but ACKs.
  [[nodiscard]] bool Done() const {
    return written_ == input_.writes.size() && !close_pending_ &&
           departed_ == input_.departures.size();
  }

 private:
  template <class Event>
  static std::int64_t TimeOf(const std::vector<Event>& events,
                             std::size_t next) {
    return next < events.size() ? events[next].time_ns : kNever;
  }

  const ReplayInput& input_;
  RuleSender& sender_;
  std::size_t written_ = 0;
  std::size_t departed_ = 0;
  bool close_pending_;
};

// --- Which rule was followed ------------------------------------------------

// One rule before the evidence of a connection, in order of offset.
class Judge {
 public:
  Judge(const ReplayInput& input, const std::vector<ReplaySegment>& seen,
        SendRule rule)
      : input_(input), seen_(seen), rule_(rule) {}

  struct Against {
    std::int64_t left = 0;  // Although the rule holds them.
    std::int64_t held = 0;  // Although it does not.
  };

  // To be asked once.
  [[nodiscard]] Against Contradictions() {
    Against against;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const ReplaySegment& segment = seen_[i];
      while (by_time_ < input_.acks.size() &&
             input_.acks[by_time_].time_ns <= segment.time_ns) {
        peer_.Take(input_.acks[by_time_++]);
      }
      const bool partial =
          segment.bytes <
          FullSegmentSize(input_.mss_bytes, peer_.largest_window);
      if (partial && Telling(segment)) Hold(i, against);
      if (partial) partial_end_ = segment.offset + segment.bytes;
    }
    return against;
  }

 private:
  // Neither the window nor the FIN had a part in where it was cut and when.
  [[nodiscard]] bool Telling(const ReplaySegment& segment) const {
    const bool closed = input_.closed_ns > 0 &&
                        segment.time_ns >= input_.closed_ns - input_.slack_ns;
    const std::int64_t full =
        FullSegmentSize(input_.mss_bytes, peer_.largest_window);
    return !closed && peer_.edge - segment.offset >= full;
  }

  // When all before `offset` was acknowledged; kNever if it was not. Asked by
  // rising offset.
  std::int64_t AcknowledgedAt(std::int64_t offset) {
    if (offset <= 0) return 0;
    while (for_ack_ < input_.acks.size() &&
           input_.acks[for_ack_].acknowledged < offset) {
      ++for_ack_;
    }
    return for_ack_ < input_.acks.size() ? input_.acks[for_ack_].time_ns
                                         : kNever;
  }

  // When the byte at `offset` was written. Asked by rising offset.
  std::int64_t WrittenAt(std::int64_t offset) {
    while (write_ < input_.writes.size() && write_end_ <= offset) {
      write_end_ += input_.writes[write_++].bytes;
    }
    return write_ > 0 ? input_.writes[write_ - 1].time_ns : 0;
  }

  // Segments before the i-th that were not acknowledged at `time_ns`. Asked by
  // rising time.
  std::size_t InFlight(std::size_t i, std::int64_t time_ns) {
    while (in_flight_ack_ < input_.acks.size() &&
           input_.acks[in_flight_ack_].time_ns < time_ns) {
      acknowledged_ =
          std::max(acknowledged_, input_.acks[in_flight_ack_++].acknowledged);
    }
    while (first_in_flight_ < i &&
           seen_[first_in_flight_].offset + seen_[first_in_flight_].bytes <=
               acknowledged_) {
      ++first_in_flight_;
    }
    return i - first_in_flight_;
  }

  // Holds the i-th against the rule.
  void Hold(std::size_t i, Against& against) {
    const ReplaySegment& segment = seen_[i];
    std::int64_t released = 0;
    if (rule_ == SendRule::kClassic) released = AcknowledgedAt(segment.offset);
    if (rule_ == SendRule::kMinshall) released = AcknowledgedAt(partial_end_);
    if (released == kNever || released > segment.time_ns + input_.slack_ns) {
      ++against.left;
      return;
    }
    const std::int64_t before = i > 0 ? seen_[i - 1].time_ns : 0;
    const std::int64_t could_leave =
        std::max({released, WrittenAt(segment.offset), before});
    if (segment.time_ns - could_leave > input_.slack_ns &&
        InFlight(i, could_leave) < kInitialFlight) {
      ++against.held;
    }
  }

  const ReplayInput& input_;
  const std::vector<ReplaySegment>& seen_;
  SendRule rule_;
  PeerState peer_;
  std::size_t by_time_ = 0, for_ack_ = 0, write_ = 0;
  std::size_t first_in_flight_ = 0, in_flight_ack_ = 0;
  std::int64_t write_end_ = 0, partial_end_ = 0, acknowledged_ = 0;
};

std::int64_t SameCuts(const std::vector<ReplaySegment>& by_rule,
                      const std::vector<ReplaySegment>& seen) {
  std::int64_t same = 0;
  auto other = seen.begin();
  for (const ReplaySegment& segment : by_rule) {
    const std::int64_t end = segment.offset + segment.bytes;
    while (other != seen.end() && other->offset + other->bytes < end) ++other;
    if (other == seen.end()) break;
    if (other->offset + other->bytes == end) ++same;
  }
  return same;
}

RuleFit FitOf(const ReplayInput& input, SendRule rule,
              const std::vector<ReplaySegment>& seen) {
  const std::vector<ReplaySegment> segments = Replay(input, rule);
  const auto against = Judge(input, seen, rule).Contradictions();
  RuleFit fit{rule,
              static_cast<std::int64_t>(segments.size()),
              SameCuts(segments, seen),
              0,
              against.left + against.held,
              against.left};
  const std::size_t larger = std::max(segments.size(), seen.size());
  if (larger > 0) {
    fit.agreement =
        static_cast<double>(fit.same_cuts) / static_cast<double>(larger);
  }
  return fit;
}

// Segments that one rule has against it and the next not: more than the times
// of two events in the wrong order would make.
constexpr std::int64_t kManyAgainst = 3;
// Of those that were only held: a busy CPU, a queue or a congestion window
// holds segments too, whatever the rule.
constexpr std::int64_t kManyHeld = 20;

// Of `whole`, and of a few at least one.
std::int64_t Tenth(std::int64_t whole) {
  return std::max<std::int64_t>(1, whole / 10);
}

bool CountsAlike(const RuleFit& fit, std::int64_t seen) {
  return std::abs(fit.segments - seen) <= Tenth(seen);
}

// Those whose number of segments is near what was seen; all if none's is.
std::vector<RuleFit> Alike(const std::vector<RuleFit>& fits,
                           std::int64_t seen) {
  std::vector<RuleFit> alike;
  for (const RuleFit& fit : fits) {
    if (CountsAlike(fit, seen)) alike.push_back(fit);
  }
  return alike.empty() ? fits : alike;
}

// That a segment left which the next rule holds is enough; that it held some
// which the next rule lets go takes many of them.
bool StandsOut(const RuleFit& best, const RuleFit& next, std::int64_t seen) {
  if (next.contradicted <= 2 * best.contradicted) return false;
  const std::int64_t left = next.left_early - best.left_early;
  const std::int64_t held = (next.contradicted - next.left_early) -
                            (best.contradicted - best.left_early);
  return left >= std::max(kManyAgainst, seen / 50) ||
         held >= std::max(kManyHeld, seen / 10);
}

// The fits that are not out; of them, where one stands out, only that.
std::vector<RuleFit> Explaining(const std::vector<RuleFit>& fits,
                                std::int64_t seen) {
  std::vector<RuleFit> left;
  // One or two segments may all be against a rule.
  const std::int64_t allowed = seen / 10;
  for (const RuleFit& fit : fits) {
    if (fit.contradicted <= allowed) left.push_back(fit);
  }
  left = Alike(left, seen);
  if (left.size() < 2) return left;
  if (StandsOut(left[0], left[1], seen)) left.resize(1);
  return left;
}

std::string AllInWords(const std::vector<RuleFit>& fits, std::int64_t seen) {
  std::string words = fmt::format("of the {} {} seen", seen,
                                  seen == 1 ? "segment" : "segments");
  const char* separator = ", ";
  for (const RuleFit& fit : fits) {
    words += fmt::format("{}{} {} against \"{}\", which makes {}", separator,
                         fit.contradicted, fit.contradicted == 1 ? "is" : "are",
                         SendRuleName(fit.rule), fit.segments);
    separator = "; ";
  }
  return words;
}

std::string Names(const std::vector<RuleFit>& fits) {
  std::string names = SendRuleName(fits.front().rule);
  for (std::size_t i = 1; i < fits.size(); ++i) {
    names += i + 1 == fits.size() ? " and " : ", ";
    names += SendRuleName(fits[i].rule);
  }
  return names;
}

}  // namespace

std::string SendRuleName(SendRule rule) {
  switch (rule) {
    case SendRule::kAtOnce:
      return "at once";
    case SendRule::kClassic:
      return "classic";
    default:
      return "Minshall";
  }
}

std::vector<ReplaySegment> Replay(const ReplayInput& input, SendRule rule) {
  RuleSender sender(input, rule);
  Feed feed(input, sender);
  std::size_t taken = 0;
  while (!feed.Done() || taken < input.acks.size()) {
    const bool more = taken < input.acks.size();
    if (feed.Step(more ? &input.acks[taken] : nullptr)) ++taken;
  }
  return sender.Take();
}

std::vector<ReplaySegment> SimulateRoundTrips(const ReplayInput& input,
                                              std::int64_t rtt_ns,
                                              SendRule rule) {
  ReplayInput own = input;
  own.departures.clear();
  RuleSender sender(own, rule);
  Feed feed(own, sender);
  std::size_t acknowledged = 0;  // Segments.
  while (!feed.Done() || acknowledged < sender.segments().size()) {
    ReplayAck ack;
    const bool due = acknowledged < sender.segments().size();
    if (due) {
      const ReplaySegment& segment = sender.segments()[acknowledged];
      const std::int64_t end = segment.offset + segment.bytes;
      ack = {segment.time_ns + rtt_ns, end, kNever - end};
    }
    if (feed.Step(due ? &ack : nullptr)) ++acknowledged;
  }
  return sender.Take();
}

RuleVerdict FollowedRule(const ReplayInput& input,
                         const std::vector<ReplaySegment>& seen) {
  RuleVerdict verdict;
  verdict.seen = static_cast<std::int64_t>(seen.size());
  if (seen.empty()) {
    verdict.why = "no segment was seen";
    return verdict;
  }
  for (const SendRule rule : kSendRules) {
    verdict.fits.push_back(FitOf(input, rule, seen));
  }
  std::stable_sort(verdict.fits.begin(), verdict.fits.end(),
                   [](const RuleFit& a, const RuleFit& b) {
                     if (a.contradicted != b.contradicted) {
                       return a.contradicted < b.contradicted;
                     }
                     return a.agreement > b.agreement;
                   });
  const std::vector<RuleFit> left = Explaining(verdict.fits, verdict.seen);
  const std::string figures = AllInWords(verdict.fits, verdict.seen);
  if (left.size() == 1) {
    verdict.followed = SendRuleName(left.front().rule);
    verdict.why = figures;
  } else if (left.empty()) {
    verdict.why = "none of the rules explains it (" + figures + ")";
  } else {
    verdict.why =
        fmt::format("{} explain it equally well ({})", Names(left), figures);
  }
  return verdict;
}

}  // namespace wiretoll
