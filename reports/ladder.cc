#include "reports/ladder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// An event before it has its words.
struct LadderEvent {
  LadderKind kind = LadderKind::kToReceiver;
  std::int64_t at_ns = 0;
  const TimelineSegment* segment = nullptr;  // Else calls:
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  bool sends = true;
  std::vector<std::int64_t> sizes;
};

void AddCalls(const EndCalls& end, LadderKind kind, bool sends,
              std::int64_t start_ns, std::vector<LadderEvent>& events) {
  for (const ProgramCall& call : end.calls) {
    // What a read brings is there when it returns.
    const std::int64_t at = sends ? call.began_ns : call.returned_ns;
    events.push_back(
        {kind, at - start_ns, nullptr, 1, call.bytes, sends, {call.bytes}});
  }
}

// A cause stands before its effect where the clock does not tell them apart.
int RankOf(LadderKind kind) {
  switch (kind) {
    case LadderKind::kSenderCall:
      return 0;
    case LadderKind::kToReceiver:
      return 1;
    case LadderKind::kReceiverCall:
      return 2;
    case LadderKind::kToSender:
    case LadderKind::kWait:
      break;
  }
  return 3;
}

std::vector<LadderEvent> AllEvents(const Story& story, const StoryData& data) {
  std::vector<LadderEvent> events;
  for (const TimelineSegment& segment : story.timeline.segments) {
    const bool out = segment.from_client == data.from_client;
    LadderEvent event;
    event.kind = out ? LadderKind::kToReceiver : LadderKind::kToSender;
    event.at_ns = segment.time_ns - story.start_ns;
    event.segment = &segment;
    events.push_back(event);
  }
  if (story.sender_calls_on_clock) {
    AddCalls(story.calls.sender, LadderKind::kSenderCall, true, story.start_ns,
             events);
  }
  if (story.receiver_calls_on_clock) {
    AddCalls(story.calls.receiver, LadderKind::kReceiverCall, data.rounds,
             story.start_ns, events);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const LadderEvent& a, const LadderEvent& b) {
                     return a.at_ns != b.at_ns
                                ? a.at_ns < b.at_ns
                                : RankOf(a.kind) < RankOf(b.kind);
                   });
  return events;
}

// Calls in a row of one end become one event. The end of a stream stays apart.
std::vector<LadderEvent> Fold(const std::vector<LadderEvent>& events) {
  std::vector<LadderEvent> folded;
  for (const LadderEvent& event : events) {
    const bool call = event.segment == nullptr;
    const bool joins = call && event.bytes > 0 && !folded.empty() &&
                       folded.back().segment == nullptr &&
                       folded.back().kind == event.kind &&
                       folded.back().bytes > 0;
    if (!joins) {
      folded.push_back(event);
      continue;
    }
    folded.back().calls += event.calls;
    folded.back().bytes += event.bytes;
    folded.back().sizes.push_back(event.bytes);
  }
  return folded;
}

std::string Flags(const TimelineSegment& segment) {
  std::string text;
  const auto add = [&text](bool set, const char* name) {
    if (set) text += fmt::format("{}, ", name);
  };
  add(segment.syn, "SYN");
  add(segment.fin, "FIN");
  add(segment.rst, "RST");
  return text;
}

std::string SegmentWords(const TimelineSegment& segment) {
  std::string text = Flags(segment);
  if (segment.data()) {
    text +=
        fmt::format("seq {}, len {}, ", segment.offset, segment.payload_bytes);
  }
  if (segment.acknowledged) {
    text += fmt::format("ack {}, ", *segment.acknowledged);
  }
  // Of every segment it would be too much to read.
  if (!segment.data()) text += fmt::format("win {}, ", segment.window_bytes);
  if (segment.retransmission) text += "retransmission, ";
  if (segment.probe) text += "probe, ";
  if (segment.frames > 1) text += fmt::format("{} frames, ", segment.frames);
  text.resize(text.size() - std::min<std::size_t>(2, text.size()));
  return text;
}

std::string CallWords(const LadderEvent& event) {
  if (!event.sends && event.bytes == 0) return "read: end of stream";
  const char* verb = event.sends ? "write" : "read";
  if (event.calls <= 3) {
    return fmt::format("{} {} B", verb, fmt::join(event.sizes, " + "));
  }
  return fmt::format("{}, {} B", Count(event.calls, verb), event.bytes);
}

LadderRow RowOf(const LadderEvent& event) {
  LadderRow row;
  row.kind = event.kind;
  row.at_ns = event.at_ns;
  row.text = event.segment ? SegmentWords(*event.segment) : CallWords(event);
  row.data = event.segment != nullptr && event.segment->data();
  row.again = event.segment != nullptr && event.segment->retransmission;
  row.calls = event.calls;
  return row;
}

// After which event the longest quiet of the stall begins.
std::optional<std::size_t> QuietAfter(const std::vector<LadderEvent>& events,
                                      const Stall& stall) {
  std::optional<std::size_t> after;
  std::int64_t longest = 0;
  const std::int64_t end = stall.began_ns + stall.lasted_ns;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const std::int64_t from = std::max(events[i].at_ns, stall.began_ns);
    const std::int64_t to = std::min(events[i + 1].at_ns, end);
    if (to - from <= longest) continue;
    longest = to - from;
    after = i;
  }
  return after;
}

std::string LeftOut(const Story& story) {
  std::string text;
  const auto add = [&text](const char* end, const EndCalls& calls,
                           bool on_clock) {
    if (on_clock && calls.left_out == 0 && !calls.calls.empty()) return;
    const std::string why =
        calls.calls.empty() ? "none was logged"
        : !on_clock         ? "logged by another machine's clock"
                            : fmt::format("{} were not logged", calls.left_out);
    text += fmt::format("{}the calls of the {}'s program ({})",
                        text.empty() ? "Not all or none are in it of: " : ", ",
                        end, why);
  };
  add("sender", story.calls.sender, story.sender_calls_on_clock);
  add("receiver", story.calls.receiver, story.receiver_calls_on_clock);
  return text.empty() ? text : text + ".";
}

// --- Drawing ----------------------------------------------------------------

constexpr int kWide = 960;
constexpr int kTimeRight = 86;
constexpr int kSenderProgram = 230, kSenderStack = 310;
constexpr int kReceiverStack = 720, kReceiverProgram = 800;
constexpr int kLadderHead = 62, kRow = 29, kFoot = 12;
// As gnuplot's, so that the page's style finds it.
constexpr const char* kLine = "rgb(138, 143, 152)";

struct Arrow {
  int from_x = 0, from_y = 0, to_x = 0, to_y = 0;
  const char* colour = colour::kBlue;
  bool dashed = false;
};

class LadderDrawing {
 public:
  LadderDrawing(const Ladder& ladder, const Story& story,
                const std::string& prefix)
      : ladder_(ladder), story_(story), prefix_(prefix) {}

  std::string Make() {
    height_ =
        kLadderHead + kFoot + kRow * static_cast<int>(ladder_.rows.size());
    Open();
    Lifelines();
    for (std::size_t i = 0; i < ladder_.rows.size(); ++i) {
      Row(ladder_.rows[i], kLadderHead + kRow * static_cast<int>(i));
    }
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  void Open() {
    out_ += fmt::format(
        "<svg role=\"img\" aria-labelledby=\"{0}title {0}desc\" width=\"{1}\" "
        "height=\"{2}\" viewBox=\"0 0 {1} {2}\" font-size=\"13\">\n"
        "<title id=\"{0}title\">The first events, one below the other</title>\n"
        "<desc id=\"{0}desc\">{3}</desc>\n",
        prefix_, kWide, height_, HtmlText(Spoken()));
  }

  // For those who hear it.
  [[nodiscard]] std::string Spoken() const {
    std::string text;
    for (const LadderRow& row : ladder_.rows) {
      text += fmt::format("{}: {}. ", TimeAt(row.at_ns), row.text);
    }
    return text;
  }

  static std::string TimeAt(std::int64_t at_ns) {
    return fmt::format("{:.3f} ms", static_cast<double>(at_ns) * 1e-6);
  }

  void Put(int x, int y, const char* anchor, const std::string& text,
           const char* weight = "normal") {
    out_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-weight=\"{}\">{}"
        "</text>\n",
        x, y, anchor, weight, HtmlText(text));
  }

  void Lifelines() {
    constexpr std::size_t kLongestName = 46;
    Put((kSenderProgram + kSenderStack) / 2, 18, "middle",
        Shorten("sender: " + Printable(story_.sender), kLongestName), "bold");
    Put((kReceiverStack + kReceiverProgram) / 2, 18, "middle",
        Shorten("receiver: " + Printable(story_.receiver), kLongestName),
        "bold");
    Put(kTimeRight, 40, "end", "time");
    for (const auto& [x, name] : {std::pair{kSenderProgram, "program"},
                                  {kSenderStack, "stack"},
                                  {kReceiverStack, "stack"},
                                  {kReceiverProgram, "program"}}) {
      Put(x, 40, "middle", name);
      out_ += fmt::format(
          "<path d=\"M{0} {1}V{2}\" stroke=\"{3}\" stroke-width=\"1\"/>\n", x,
          kLadderHead - 14, height_ - 4, kLine);
    }
  }

  void Row(const LadderRow& row, int top) {
    if (row.kind == LadderKind::kWait) return Wait(row, top);
    Put(kTimeRight, top + 13, "end", TimeAt(row.at_ns));
    switch (row.kind) {
      case LadderKind::kSenderCall:
        Put(kSenderProgram - 8, top + 13, "end", Shorten(row.text, 20));
        return Draw(
            {kSenderProgram, top + 9, kSenderStack, top + 9, colour::kOrange});
      case LadderKind::kReceiverCall:
        return ReceiverCall(row, top);
      default:
        return Segment(row, top);
    }
  }

  void ReceiverCall(const LadderRow& row, int top) {
    Put(kReceiverProgram + 8, top + 13, "start", Shorten(row.text, 20));
    const bool sends = row.text.starts_with("write");
    Draw({sends ? kReceiverProgram : kReceiverStack, top + 9,
          sends ? kReceiverStack : kReceiverProgram, top + 9, colour::kOrange});
  }

  // It slants as time passes on the way; how much is not to scale.
  void Segment(const LadderRow& row, int top) {
    const bool out = row.kind == LadderKind::kToReceiver;
    const char* colour = row.again  ? colour::kVermilion
                         : row.data ? colour::kBlue
                                    : colour::kGreen;
    Draw({out ? kSenderStack : kReceiverStack, top + 9,
          out ? kReceiverStack : kSenderStack, top + 19, colour, !row.data});
    Put((kSenderStack + kReceiverStack) / 2, top + 8, "middle",
        Shorten(row.text, 54));
  }

  void Draw(const Arrow& arrow) {
    const int back = arrow.to_x > arrow.from_x ? -9 : 9;
    out_ += fmt::format(
        "<path d=\"M{} {}L{} {}\" stroke=\"{}\" stroke-width=\"1.8\" "
        "fill=\"none\"{}/><path d=\"M{} {}l{} -4v8z\" fill=\"{}\"/>\n",
        arrow.from_x, arrow.from_y, arrow.to_x, arrow.to_y, arrow.colour,
        arrow.dashed ? " stroke-dasharray=\"6 4\"" : "", arrow.to_x, arrow.to_y,
        back, arrow.colour);
  }

  void Wait(const LadderRow& row, int top) {
    out_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" "
        "fill=\"{}\" fill-opacity=\"0.28\"/>\n",
        kSenderStack - 12, top, kReceiverStack - kSenderStack + 24, kRow - 5,
        colour::kTheory);
    Put((kSenderStack + kReceiverStack) / 2, top + 17, "middle",
        Shorten(row.text, 56), "bold");
  }

  const Ladder& ladder_;
  const Story& story_;
  const std::string& prefix_;
  int height_ = 0;
  std::string out_;
};

}  // namespace

Ladder MakeLadder(const Story& story, const StoryData& data, std::size_t most) {
  Ladder ladder;
  std::vector<LadderEvent> events = Fold(AllEvents(story, data));
  ladder.of = events.size();
  ladder.events = std::min(most, events.size());
  ladder.left_out = LeftOut(story);
  // One more, to see how long it is quiet after the last.
  events.resize(std::min(most + 1, events.size()));
  std::vector<std::vector<const Stall*>> after(events.size());
  for (const Stall& stall : story.stalls) {
    if (events.empty() || stall.began_ns > events.back().at_ns) break;
    const auto place = QuietAfter(events, stall);
    if (place) after[*place].push_back(&stall);
  }
  for (std::size_t i = 0; i < ladder.events; ++i) {
    ladder.rows.push_back(RowOf(events[i]));
    for (const Stall* stall : after[i]) {
      ladder.rows.push_back(
          {LadderKind::kWait, stall->began_ns, Printable(stall->words)});
    }
  }
  return ladder;
}

std::string LadderSvg(const Ladder& ladder, const Story& story,
                      const std::string& prefix) {
  return LadderDrawing(ladder, story, prefix).Make();
}

}  // namespace wiretoll
