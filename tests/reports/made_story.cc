#include "tests/reports/made_story.h"

#include <algorithm>

namespace wiretoll {
namespace {

constexpr std::int64_t kStart = 1'796'112'000'000'000'000;

EndReport EndOf(const std::string& host) {
  EndReport end;
  end.host = host;
  end.os = "linux";
  end.stack = "Linux 6.18.44";
  end.options["nagle"] = {true, true, ""};
  return end;
}

}  // namespace

StoryMaker::StoryMaker(const std::string& pattern, std::int64_t rtt_ns) {
  Sample& sample = story_.sample;
  sample.trial = "made/" + pattern + "/linux-1:linux-2/0";
  sample.study = "synthetic";
  sample.case_id = pattern;
  sample.factors = {{"pattern", pattern}, {"nagle", std::string("on")}};
  sample.started = "2026-11-30T20:00:00Z";
  sample.link = "lab 100 Mbit/s Ethernet";
  sample.sender = EndOf("linux-1");
  sample.receiver = EndOf("linux-2");
  sample.capture.emplace();
  sample.capture->file = "captures/made_" + pattern + ".pcapng";
  sample.capture->interface = "eth0";
  story_.sender = "linux-1 (Debian 12, Linux 6.18.44)";
  story_.receiver = "linux-2 (Debian 12, Linux 6.18.44)";
  story_.captured_at = "linux-1";
  story_.sender_calls_on_clock = story_.receiver_calls_on_clock = true;
  story_.start_ns = kStart;
  Timeline& timeline = story_.timeline;
  timeline.client = {"10.0.0.1", 40000};
  timeline.server = {"10.0.0.2", 7001};
  timeline.client_mss = timeline.server_mss = 1460;
  timeline.client_scale = timeline.server_scale = 7;
  timeline.timestamps = true;  // 12 bytes a segment: 1448 are left.
  Add(0, true).syn = true;
  TimelineSegment& answer = Add(rtt_ns - 20 * kUs, false);
  answer.syn = true;
  answer.acknowledged = 0;
  TimelineSegment& last = Add(rtt_ns, true);
  last.acknowledged = 0;
}

TimelineSegment& StoryMaker::Add(std::int64_t at_ns, bool from_client) {
  TimelineSegment segment;
  segment.time_ns = kStart + at_ns;
  segment.from_client = from_client;
  segment.offset = from_client ? sent_ : replied_;
  segment.window_bytes = 64'000;
  segment.ip_bytes = 52;
  story_.timeline.segments.push_back(segment);
  return story_.timeline.segments.back();
}

StoryMaker& StoryMaker::Write(std::int64_t at_ns, std::int64_t bytes) {
  story_.calls.sender.calls.push_back(
      {kStart + at_ns, kStart + at_ns + 2 * kUs, bytes});
  return *this;
}

StoryMaker& StoryMaker::Read(std::int64_t at_ns, std::int64_t bytes) {
  story_.calls.receiver.calls.push_back(
      {kStart + at_ns, kStart + at_ns, bytes});
  return *this;
}

StoryMaker& StoryMaker::Data(std::int64_t at_ns, std::int64_t bytes) {
  TimelineSegment& segment = Add(at_ns, true);
  segment.payload_bytes = bytes;
  segment.acknowledged = replied_;
  segment.ip_bytes += bytes;
  sent_ += bytes;
  return *this;
}

StoryMaker& StoryMaker::Reply(std::int64_t at_ns, std::int64_t bytes) {
  TimelineSegment& segment = Add(at_ns, false);
  segment.payload_bytes = bytes;
  segment.acknowledged = acknowledged_ = sent_;
  segment.ip_bytes += bytes;
  replied_ += bytes;
  return *this;
}

StoryMaker& StoryMaker::Again(std::int64_t at_ns, std::int64_t offset,
                              std::int64_t bytes) {
  TimelineSegment& segment = Add(at_ns, true);
  segment.offset = offset;
  segment.payload_bytes = bytes;
  segment.acknowledged = replied_;
  segment.retransmission = true;
  return *this;
}

StoryMaker& StoryMaker::Ack(std::int64_t at_ns, std::int64_t acknowledged,
                            std::int64_t window) {
  TimelineSegment& segment = Add(at_ns, false);
  segment.acknowledged = acknowledged_ = acknowledged;
  segment.window_bytes = window;
  return *this;
}

StoryMaker& StoryMaker::Stalled(std::int64_t at_ns, std::int64_t lasted_ns,
                                Mechanism mechanism, const std::string& words) {
  story_.stalls.push_back({at_ns, lasted_ns, mechanism, words});
  return *this;
}

Story StoryMaker::Take() {
  auto& segments = story_.timeline.segments;
  std::stable_sort(segments.begin(), segments.end(),
                   [](const TimelineSegment& a, const TimelineSegment& b) {
                     return a.time_ns < b.time_ns;
                   });
  return std::move(story_);
}

Story WriteWriteReadStory(int rounds) {
  StoryMaker maker("request-response");
  std::int64_t at = 300 * kUs;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t sent = i * std::int64_t{13};
    maker.Write(at, 9).Data(at + 10 * kUs, 9).Write(at + 5 * kUs, 4);
    const std::int64_t answered = at + 43'700 * kUs;
    maker.Ack(answered, sent + 9).Data(answered + 20 * kUs, 4);
    maker.Stalled(at + 10 * kUs, 43'710 * kUs, Mechanism::kDelayedAck,
                  "Nagle waits 43.7 ms for the delayed ACK");
    maker.Read(answered + 100 * kUs, 1).Reply(answered + 110 * kUs, 1);
    at = answered + 250 * kUs;
  }
  Story story = maker.Take();
  story.words = {
      "At 0.300 ms the sender's program writes 9 bytes; they leave at once, "
      "for nothing is unacknowledged.",
      "At 0.305 ms it writes 4 more. Nagle's rule holds them: the first 9 are "
      "not acknowledged.",
      "The receiver has no reply yet and holds its ACK back; it comes at 44.0 "
      "ms, and the 4 bytes leave.",
      "Then come more rounds alike, each of 43.7 ms."};
  story.rule.emplace();
  const std::int64_t segments = std::int64_t{2} * rounds;
  story.rule->fits = {{SendRule::kClassic, segments, segments, 1.0},
                      {SendRule::kMinshall, segments, segments, 1.0},
                      {SendRule::kAtOnce, segments, segments, 1.0}};
  story.rule->seen = segments;
  story.rule->why = "two rules explain it equally well";
  story.notes = {"The receiver's ACKs are seen where the sender is."};
  return story;
}

Story BulkStory(int segments) {
  constexpr std::int64_t kFrame = 123 * kUs;
  constexpr std::int64_t kWrite = 16'384;
  StoryMaker maker;
  const std::int64_t first = 300 * kUs;
  std::int64_t written = 0;
  for (int i = 0; i < segments; ++i) {
    const std::int64_t at = first + i * kFrame;
    const std::int64_t sent = (i + std::int64_t{1}) * 1448;
    for (; written < sent; written += kWrite) maker.Write(at - kUs, kWrite);
    maker.Data(at, 1448);
    if (i % 2 == 1) maker.Ack(at + 180 * kUs, sent, 64'000);
    maker.Read(at + 100 * kUs, 1448);
  }
  Story story = maker.Take();
  story.words = {"Full segments leave one after the other."};
  story.why_no_rule = "every segment is full, so that all rules make the same";
  return story;
}

Story SmallWindowStory(int turns) {
  constexpr std::int64_t kTurn = 60 * kMsNs;
  StoryMaker maker;
  std::int64_t sent = 0, at = kMsNs;
  maker.Write(at - 10 * kUs, turns * std::int64_t{1152});
  maker.Ack(200 * kUs, 0, 1152);
  for (int i = 0; i < turns; ++i, at += kTurn) {
    maker.Data(at, 1152);
    sent += 1152;
    maker.Ack(at + 100 * kUs, sent, 0);
    maker.Stalled(at, kTurn, Mechanism::kWindowClosed,
                  "the window stays closed for 59.9 ms");
    maker.Read(at + 50 * kMsNs, 1152).Ack(at + kTurn - 50 * kUs, sent, 1152);
  }
  maker.Stalled(at, 210 * kMsNs, Mechanism::kRetransmission,
                "a lost segment is sent again after 210 ms");
  maker.Data(at, 1152).Again(at + 210 * kMsNs, sent, 1152);
  maker.Ack(at + 211 * kMsNs, sent + 1152, 1152);
  Story story = maker.Take();
  story.sender_calls_on_clock = false;
  story.words = {"The reader is slow, and the window closes."};
  story.why_no_rule = "the window, not Nagle, held segments back";
  return story;
}

}  // namespace wiretoll
