#include "reports/story_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/flags.h"
#include "reports/ladder.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::size_t kLongestFlag = 64;
constexpr std::size_t kFirstSegments = 30;

// Written, acknowledged and the window's edge.
struct StepLine {
  const Steps* steps = nullptr;
  const char* colour = nullptr;
  const char* label = nullptr;
  bool dashed = false;
};

double InNs(std::int64_t time_ns) { return static_cast<double>(time_ns); }

bool Within(const StorySpan& span, std::int64_t at_ns) {
  return at_ns >= span.from_ns && at_ns <= span.to_ns;
}

// What of bytes lies in the span; widened step by step.
struct ByteRange {
  double low = 0, high = 0;
  bool any = false;

  void Add(double value) {
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  void Add(const Steps& steps, const StorySpan& span) {
    for (const Reached& step : steps) {
      if (Within(span, step.at_ns)) Add(step.value);
    }
  }
};

// Builds a time-sequence diagram of a part of the trial.
class SequenceChart {
 public:
  SequenceChart(const Story& story, const StoryData& data,
                const StorySpan& span)
      : story_(story), data_(data), span_(span) {
    chart_.height = 520;
    chart_.left = 84;
    chart_.curve_labels = false;  // Steps lie on each other; the keys tell.
    Axes();
    Stalls();
    Lines();
    Segments();
  }

  Chart TakeChart() { return std::move(chart_); }
  [[nodiscard]] std::vector<Key> Keys() const;
  [[nodiscard]] std::string Drawn() const;

 private:
  void Axes() {
    time_ = TimeUnit(span_.to_ns - span_.from_ns);
    ByteRange range;
    for (const Departure& left : data_.departures) {
      if (!Within(span_, left.at_ns)) continue;
      range.Add(static_cast<double>(left.offset));
      range.Add(static_cast<double>(left.offset + left.bytes));
    }
    range.Add(data_.written, span_);
    range.Add(data_.acknowledged, span_);
    if (!range.any || range.low == range.high) range.high = range.low + 1;
    ByteRange edge;
    edge.Add(data_.edge, span_);
    constexpr double kTooFar = 2;
    edge_top_ = edge.high;
    edge_drawn_ =
        edge.any && edge.high - range.low <= kTooFar * (range.high - range.low);
    if (edge_drawn_) range.Add(edge.high);
    const double air = 0.04 * (range.high - range.low);
    bytes_ = ByteUnit(range.high);
    const double low = range.low < range.high / 10 ? 0 : range.low - air;
    chart_.y = SpanAxis(fmt::format("bytes of the stream, {}", bytes_.name),
                        low * bytes_.scale, (range.high + air) * bytes_.scale);
    chart_.x = SpanAxis(
        fmt::format("time since the first event, {}", time_.name),
        InNs(span_.from_ns) * time_.scale, InNs(span_.to_ns) * time_.scale);
  }

  void Stalls() {
    std::vector<Shade> shades;
    std::vector<const Stall*> seen;
    for (const Stall& stall : story_.stalls) {
      const std::int64_t end = stall.began_ns + stall.lasted_ns;
      if (end < span_.from_ns || stall.began_ns > span_.to_ns) continue;
      seen.push_back(&stall);
      shades.push_back(
          {InNs(stall.began_ns) * time_.scale, InNs(end) * time_.scale});
    }
    stalls_ = seen.size();
    std::vector<FlagWish> wishes;
    for (const Named& named : MostTelling(seen)) {
      const Stall& stall = *named.stall;
      const double from =
          std::max(InNs(stall.began_ns) * time_.scale, chart_.x.low);
      const double to = std::min(
          InNs(stall.began_ns + stall.lasted_ns) * time_.scale, chart_.x.high);
      std::string words = Shorten(Printable(stall.words), kLongestFlag);
      if (named.of > 1) {
        words += fmt::format(" (the longest of {})", named.of);
      }
      wishes.push_back({(from + to) / 2, std::move(words)});
    }
    labelled_ = PlaceFlags(wishes, chart_).size();
    chart_.shades = ThinShades(shades, chart_);
  }

  // A stall, and how many it stands for.
  struct Named {
    const Stall* stall = nullptr;
    std::size_t of = 1;
  };

  // Each where there are few; else the longest of each mechanism, for the same
  // words again and again would tell nothing.
  static std::vector<Named> MostTelling(std::vector<const Stall*> stalls) {
    std::stable_sort(stalls.begin(), stalls.end(),
                     [](const Stall* a, const Stall* b) {
                       return a->lasted_ns > b->lasted_ns;
                     });
    std::vector<Named> named;
    for (const Stall* stall : stalls) {
      const auto known =
          std::find_if(named.begin(), named.end(), [&](const Named& other) {
            return other.stall->mechanism == stall->mechanism;
          });
      if (stalls.size() <= kMostFlags || known == named.end()) {
        named.push_back({stall, 1});
      } else {
        ++known->of;
      }
    }
    return named;
  }

  [[nodiscard]] std::vector<StepLine> StepLines() const {
    std::vector<StepLine> lines{
        {&data_.written, colour::kOrange, "written by the program"},
        {&data_.acknowledged, colour::kGreen, "acknowledged"}};
    if (edge_drawn_) {
      lines.push_back({&data_.edge, colour::kSky, "edge of the window", true});
    }
    return lines;
  }

  void Lines() {
    for (const StepLine& line : StepLines()) {
      Curve curve;
      curve.label = line.label;
      curve.colour = line.colour;
      curve.shape = Shape::kNone;
      curve.dashed = line.dashed;
      curve.width = 1.8;
      curve.points =
          ThinSteps(*line.steps, chart_, {time_.scale, bytes_.scale});
      if (!curve.points.empty()) chart_.curves.push_back(std::move(curve));
    }
  }

  void Segments() {
    std::vector<Stroke> once, again;
    for (const Departure& left : data_.departures) {
      if (!Within(span_, left.at_ns)) continue;
      const double x = InNs(left.at_ns) * time_.scale;
      const auto low = static_cast<double>(left.offset);
      const auto high = static_cast<double>(left.offset + left.bytes);
      (left.again ? again : once)
          .push_back({x, low * bytes_.scale, x, high * bytes_.scale});
    }
    segments_ = once.size() + again.size();
    again_ = again.size();
    // Times may stand still or step back where a capture's clock does.
    for (std::vector<Stroke>* strokes : {&once, &again}) {
      std::stable_sort(
          strokes->begin(), strokes->end(),
          [](const Stroke& a, const Stroke& b) { return a.from_x < b.from_x; });
    }
    chart_.strokes = {{colour::kBlue, 3.2, ThinStrokes(once, chart_)},
                      {colour::kVermilion, 4.5, ThinStrokes(again, chart_)}};
    strokes_ = chart_.strokes[0].lines.size() + chart_.strokes[1].lines.size();
  }

  const Story& story_;
  const StoryData& data_;
  StorySpan span_;
  Chart chart_;
  AxisUnit time_, bytes_;
  bool edge_drawn_ = false;
  double edge_top_ = 0;
  std::size_t stalls_ = 0, labelled_ = 0;
  std::size_t segments_ = 0, again_ = 0, strokes_ = 0;
};

std::vector<Key> SequenceChart::Keys() const {
  std::vector<Key> keys{{colour::kBlue, "segments, from first to last byte"}};
  if (again_ > 0) keys.push_back({colour::kVermilion, "sent again"});
  for (const StepLine& line : StepLines()) {
    if (line.steps->empty()) continue;
    keys.push_back({line.colour, line.label, true, line.dashed});
  }
  if (stalls_ > 0) keys.push_back({colour::kTheory, "stalls"});
  return keys;
}

std::string SequenceChart::Drawn() const {
  std::string text;
  if (data_.written.empty()) {
    text += fmt::format("What the program wrote is left out: {}. ",
                        data_.no_writes);
  } else if (!data_.some_writes.empty()) {
    text += fmt::format("Of what the program wrote {}. ", data_.some_writes);
  }
  if (!data_.edge.empty() && !edge_drawn_) {
    text +=
        fmt::format("The window's edge lies above the picture, at up to {}. ",
                    FormatBytes(Bytes{static_cast<std::int64_t>(edge_top_)}));
  }
  if (stalls_ > 0) {
    text += fmt::format("{} of {} {} named. ", labelled_,
                        Count(static_cast<long long>(stalls_), "stall"),
                        labelled_ == 1 ? "is" : "are");
  }
  if (strokes_ < segments_) {
    text += fmt::format(
        "{} are drawn as {} strokes: those that touch in one column of pixels "
        "are one. ",
        Count(static_cast<long long>(segments_), "segment"), strokes_);
  }
  return text;
}

Picture PictureOf(const Story& story, SequenceChart sequence,
                  const std::string& kind, const std::string& title,
                  const std::string& sentence) {
  Picture picture;
  picture.kind = kind;
  picture.title = title;
  picture.sentence = sentence;
  picture.drawn = sequence.Drawn() + StorySource(story);
  picture.keys = sequence.Keys();
  Panel panel;
  panel.request = {sequence.TakeChart(), title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
  return picture;
}

Picture NothingToDraw(const Story& story, const std::string& kind,
                      const std::string& title) {
  Picture picture;
  picture.kind = kind;
  picture.title = title;
  picture.sentence = "The capture holds no segment with payload.";
  picture.missing = "Nothing to draw.";
  picture.drawn = StorySource(story);
  return picture;
}

const Stall* StallToLookAt(const Story& story) {
  const Stall* longest = nullptr;
  for (const Stall& stall : story.stalls) {
    const bool own = stall.mechanism == Mechanism::kSenderProgram;
    if (own) continue;
    if (longest == nullptr || stall.lasted_ns > longest->lasted_ns) {
      longest = &stall;
    }
  }
  return longest;
}

// What the program did in the events drawn, and what its stack made of it.
std::string LadderSentence(const Ladder& ladder) {
  long long data_segments = 0, calls = 0;
  std::int64_t last = 0;
  for (const LadderRow& row : ladder.rows) {
    data_segments += row.data && row.kind == LadderKind::kToReceiver ? 1 : 0;
    calls += row.kind == LadderKind::kSenderCall ? row.calls : 0;
    if (row.kind != LadderKind::kWait) last = row.at_ns;
  }
  return fmt::format(
      "The first {} of {} events take {}{}; the sender's stack sends {} with "
      "payload.",
      ladder.events, ladder.of, TimeText(InNs(last)),
      calls == 0
          ? ""
          : fmt::format(", in which the sender's program calls {}",
                        calls == 1 ? "once" : fmt::format("{} times", calls)),
      Count(data_segments, "segment"));
}

// The first segment that was sent again, and when it had left before.
struct SentAgain {
  const Departure* again = nullptr;
  std::int64_t before_ns = 0;
};

std::optional<SentAgain> FirstSentAgain(const StoryData& data) {
  const auto again =
      std::find_if(data.departures.begin(), data.departures.end(),
                   [](const Departure& left) { return left.again; });
  if (again == data.departures.end()) return std::nullopt;
  const auto before = std::find_if(
      data.departures.begin(), again, [&again](const Departure& left) {
        return left.offset <= again->offset &&
               left.offset + left.bytes > again->offset;
      });
  if (before == again) return std::nullopt;  // Before the capture began.
  return SentAgain{&*again, before->at_ns};
}

struct MechanismSum {
  long long count = 0;
  std::int64_t lasted_ns = 0;
};

}  // namespace

AxisUnit TimeUnit(std::int64_t span_ns) {
  if (span_ns >= 2'000'000'000) return {1e-9, "s"};
  if (span_ns >= 2'000'000) return {1e-6, "ms"};
  return {1e-3, "us"};
}

AxisUnit ByteUnit(double most_bytes) {
  constexpr double kKibi = 1024;
  constexpr double kSeveral = 8;
  if (most_bytes >= kSeveral * kKibi * kKibi) return {1 / kKibi / kKibi, "MiB"};
  if (most_bytes >= kSeveral * kKibi) return {1 / kKibi, "KiB"};
  return {1, "B"};
}

std::string StorySource(const Story& story) {
  const std::string link = Printable(story.sample.link);
  return fmt::format("{}{}{}.", Capital(CapturedAt(story)),
                     link.empty() ? "" : "; ", link);
}

std::string StallsSentence(const Story& story, const StoryData& data) {
  const auto whole = TimeText(InNs(data.end_ns));
  if (story.stalls.empty()) {
    const auto again =
        std::count_if(data.departures.begin(), data.departures.end(),
                      [](const Departure& left) { return left.again; });
    return fmt::format(
        "Nothing stalled: {} left in {}{} within {}.",
        FormatBytes(Bytes{data.bytes}),
        Count(static_cast<long long>(data.departures.size()), "segment"),
        again == 0 ? "" : fmt::format(", {} of them sent again,", again),
        whole);
  }
  std::map<Mechanism, MechanismSum> sums;
  std::int64_t total = 0;
  for (const Stall& stall : story.stalls) {
    ++sums[stall.mechanism].count;
    sums[stall.mechanism].lasted_ns += stall.lasted_ns;
    total += stall.lasted_ns;
  }
  std::vector<std::pair<Mechanism, MechanismSum>> sorted(sums.begin(),
                                                         sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.lasted_ns > b.second.lasted_ns;
                   });
  std::string parts;
  for (const auto& [mechanism, sum] : sorted) {
    parts += sorted.size() == 1
                 ? MechanismName(mechanism)
                 : fmt::format("{}{} in {} ({})", parts.empty() ? "" : ", ",
                               MechanismName(mechanism), sum.count,
                               TimeText(InNs(sum.lasted_ns)));
  }
  const double share = data.end_ns > 0 ? InNs(total) / InNs(data.end_ns) : 0;
  return fmt::format(
      "{} make up {} of {} ({}): {}.",
      Count(static_cast<long long>(story.stalls.size()), "stall"),
      TimeText(InNs(total)), whole, Percent(std::min(1.0, share)), parts);
}

Picture SequencePicture(const Story& story, const StoryData& data) {
  const std::string title = "What left when: the time-sequence diagram";
  if (data.departures.empty()) return NothingToDraw(story, "sequence", title);
  const StorySpan whole{0, std::max<std::int64_t>(data.end_ns, 1)};
  return PictureOf(story, SequenceChart(story, data, whole), "sequence", title,
                   StallsSentence(story, data));
}

StorySpan CloserSpan(const Story& story, const StoryData& data) {
  const StorySpan whole{0, std::max<std::int64_t>(data.end_ns, 1)};
  StorySpan span = whole;
  if (const Stall* stall = StallToLookAt(story)) {
    const std::int64_t around = stall->lasted_ns + stall->lasted_ns / 4;
    span = {stall->began_ns - around,
            stall->began_ns + stall->lasted_ns + around};
  } else if (const auto sent = FirstSentAgain(data)) {
    const std::int64_t waited = sent->again->at_ns - sent->before_ns;
    span = {sent->before_ns - waited / 4, sent->again->at_ns + waited};
  } else if (data.departures.size() > kFirstSegments) {
    const std::int64_t first = data.departures.front().at_ns;
    const std::int64_t last = data.departures[kFirstSegments - 1].at_ns;
    const std::int64_t air = (last - first) / 10 + 1;
    span = {first - air, last + air};
  }
  return {std::max(span.from_ns, whole.from_ns),
          std::min(span.to_ns, whole.to_ns)};
}

Picture CloserPicture(const Story& story, const StoryData& data) {
  const StorySpan span = CloserSpan(story, data);
  std::string sentence;
  if (const Stall* stall = StallToLookAt(story)) {
    sentence =
        fmt::format("The longest wait of the stacks, at {}: {}.",
                    MomentText(stall->began_ns), Printable(stall->words));
  } else if (const auto sent = FirstSentAgain(data)) {
    sentence = fmt::format(
        "The first segment that was sent again, byte {} of the stream: it left "
        "at {} and again {} later.",
        sent->again->offset, MomentText(sent->before_ns),
        TimeText(InNs(sent->again->at_ns - sent->before_ns)));
  } else {
    sentence = fmt::format("The first {} data segments leave within {}.",
                           std::min(kFirstSegments, data.departures.size()),
                           TimeText(InNs(span.to_ns - span.from_ns)));
  }
  return PictureOf(story, SequenceChart(story, data, span), "closer",
                   "A closer look at a part of it", sentence);
}

Picture LadderPicture(const Story& story, const StoryData& data) {
  const Ladder ladder = MakeLadder(story, data);
  Picture picture;
  picture.kind = "ladder";
  picture.title = "The first events, step by step";
  picture.drawn = fmt::format(
      "From top to bottom in order of time, not to scale; seq and ack count "
      "bytes of payload from 0. {}{}{}",
      ladder.left_out, ladder.left_out.empty() ? "" : " ", StorySource(story));
  if (ladder.events == 0) {
    picture.sentence = "The capture holds no event.";
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = LadderSentence(ladder);
  picture.keys = {{colour::kOrange, "a program's calls", true},
                  {colour::kBlue, "payload", true},
                  {colour::kGreen, "without payload", true, true},
                  {colour::kVermilion, "sent again", true}};
  Panel panel;
  panel.svg = LadderSvg(ladder, story, "ladder-");
  panel.request.chart.width = 960;
  picture.panels.push_back(std::move(panel));
  return picture;
}

std::vector<Picture> StoryPictures(const Story& story) {
  const StoryData data = DataOf(story);
  std::vector<Picture> pictures{SequencePicture(story, data)};
  const StorySpan closer = CloserSpan(story, data);
  constexpr std::int64_t kMuchSmaller = 3;
  if (!data.departures.empty() &&
      (closer.to_ns - closer.from_ns) * kMuchSmaller < data.end_ns) {
    pictures.push_back(CloserPicture(story, data));
  }
  pictures.push_back(LadderPicture(story, data));
  pictures.push_back(WindowPicture(story, data));
  pictures.push_back(SizesPicture(story, data));
  pictures.push_back(DeparturesPicture(story, data));
  return pictures;
}

}  // namespace wiretoll
