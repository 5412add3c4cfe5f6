#include "reports/story_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "harness/analysis/systems.h"
#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

bool IsRounds(const Sample& sample) {
  return std::any_of(
      sample.factors.begin(), sample.factors.end(), [](const auto& factor) {
        const auto* text = std::get_if<std::string>(&factor.second);
        return factor.first == "pattern" && text != nullptr &&
               *text == "request-response";
      });
}

// The sender opens the connection; where it is not clear who did, whoever sent
// payload.
bool SenderIsClient(const Timeline& timeline) {
  bool client = false, server = false;
  for (const TimelineSegment& segment : timeline.segments) {
    (segment.from_client ? client : server) |= segment.data();
  }
  return client || !server;
}

// Walks a timeline once, in the order of its segments.
class Walk {
 public:
  Walk(const Story& story, StoryData& data) : story_(story), data_(data) {}

  void Do() {
    for (const TimelineSegment& segment : story_.timeline.segments) {
      const std::int64_t at = segment.time_ns - story_.start_ns;
      data_.end_ns = std::max(data_.end_ns, at);
      if (segment.from_client == data_.from_client) {
        Left(segment, at);
      } else {
        Answered(segment, at);
      }
    }
  }

 private:
  void Left(const TimelineSegment& segment, std::int64_t at) {
    if (!segment.data()) return;
    data_.departures.push_back(
        {at, segment.offset, segment.payload_bytes, segment.retransmission});
    const std::int64_t end = segment.offset + segment.payload_bytes;
    if (end <= data_.bytes) return;
    data_.bytes = end;
    InFlight(at);
  }

  void Answered(const TimelineSegment& segment, std::int64_t at) {
    if (!segment.acknowledged) return;
    // Older ones that come late say nothing new.
    if (*segment.acknowledged < acknowledged_) return;
    acknowledged_ = *segment.acknowledged;
    if (data_.departures.empty()) ForgetHandshake();
    const auto bytes = static_cast<double>(acknowledged_);
    const auto window = static_cast<double>(segment.window_bytes);
    data_.acknowledged.push_back({at, bytes});
    data_.window.push_back({at, window});
    data_.edge.push_back({at, bytes + window});
    InFlight(at);
  }

  // What a window was before anything left says nothing of the trial; the
  // last of those is the one that the sender meets.
  void ForgetHandshake() {
    data_.acknowledged.clear();
    data_.window.clear();
    data_.edge.clear();
    data_.in_flight.clear();
  }

  void InFlight(std::int64_t at) {
    const std::int64_t now =
        std::max<std::int64_t>(0, data_.bytes - acknowledged_);
    data_.in_flight.push_back({at, static_cast<double>(now)});
  }

  const Story& story_;
  StoryData& data_;
  std::int64_t acknowledged_ = 0;
};

void AddWrites(const Story& story, StoryData& data) {
  const EndCalls& calls = story.calls.sender;
  for (const ProgramCall& call : calls.calls) {
    data.write_sizes.push_back(call.bytes);
  }
  if (calls.calls.empty()) {
    data.no_writes = "no call of the sender's program was logged";
    return;
  }
  if (!story.sender_calls_on_clock) {
    data.no_writes =
        "the sender's program logged its calls by another machine's clock "
        "than the capture's";
    return;
  }
  double sum = 0;
  data.written.push_back({0, 0});
  for (const ProgramCall& call : calls.calls) {
    sum += static_cast<double>(call.bytes);
    const std::int64_t at = call.began_ns - story.start_ns;
    data.written.push_back({at, sum});
    data.end_ns = std::max(data.end_ns, call.returned_ns - story.start_ns);
  }
  if (calls.left_out > 0) {
    data.some_writes = fmt::format(
        "the last {} of {} calls were not logged", calls.left_out,
        calls.left_out + static_cast<std::int64_t>(calls.calls.size()));
  }
}

// SYN to the ACK that ends the handshake: a round trip wherever it is seen.
std::optional<std::int64_t> HandshakeTime(const Timeline& timeline) {
  std::optional<std::int64_t> began;
  for (const TimelineSegment& segment : timeline.segments) {
    if (!segment.from_client) continue;
    if (segment.syn) {
      if (began) return std::nullopt;  // Sent again: which was answered?
      began = segment.time_ns;
    } else if (began && segment.acknowledged) {
      return segment.time_ns - *began;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void FindRtt(const Story& story, StoryData& data) {
  data.rtt_ns = HandshakeTime(story.timeline);
  data.rtt_source = "the handshake's";
  if (data.rtt_ns || !story.sample.sender) return;
  data.rtt_ns = story.sample.sender->counters.min_rtt_ns;
  data.rtt_source = "the least, by the sender's kernel";
}

// RFC 7323 appendix A: timestamps take 12 bytes of what the option announced.
std::optional<std::int64_t> FullSegment(const Story& story,
                                        const StoryData& data) {
  const auto& sender = story.sample.sender;
  if (sender && sender->counters.mss_bytes) return sender->counters.mss_bytes;
  constexpr std::int64_t kTimestamps = 12;
  const Timeline& timeline = story.timeline;
  const auto announced =
      data.from_client ? timeline.server_mss : timeline.client_mss;
  if (!announced) return std::nullopt;
  return *announced - (timeline.timestamps ? kTimestamps : 0);
}

std::string HostAndSystem(const std::string& named,
                          const std::optional<EndReport>& end) {
  if (!named.empty()) return Printable(named);
  return end ? Printable(end->host) : "not known";
}

int PixelColumn(const Chart& chart, double x) {
  return static_cast<int>(std::floor(PixelX(chart, x)));
}

// Corners of a line of steps, a column of pixels at a time.
class StepLineMaker {
 public:
  explicit StepLineMaker(const Chart& chart) : chart_(chart) {}

  // By rising x; what lies before the picture gives its first value.
  void Add(double x, double y) {
    if (x < chart_.x.low) {
      last_ = y;
      return;
    }
    if (last_ && line_.empty()) Corner(chart_.x.low, *last_);
    const int column = PixelColumn(chart_, x);
    if (!any_ || column != column_) {
      EndColumn();
      if (last_) Corner(x, *last_);
      Corner(x, y);
      any_ = true;
      column_ = column;
      low_ = high_ = y;
    }
    low_ = std::min(low_, y);
    high_ = std::max(high_, y);
    end_x_ = x;
    last_ = y;
  }

  std::vector<ChartPoint> Take() {
    EndColumn();
    if (last_) {
      if (line_.empty()) Corner(chart_.x.low, *last_);
      Corner(chart_.x.high, *last_);
    }
    return std::move(line_);
  }

 private:
  void Corner(double x, double y) {
    if (!line_.empty() && line_.back().x == x && line_.back().y == y) return;
    line_.push_back({x, y, std::nullopt, false});
  }

  void EndColumn() {
    if (!any_) return;
    Corner(end_x_, low_);
    Corner(end_x_, high_);
    Corner(end_x_, *last_);
    any_ = false;
  }

  const Chart& chart_;
  std::vector<ChartPoint> line_;
  std::optional<double> last_;
  bool any_ = false;
  int column_ = 0;
  double low_ = 0, high_ = 0, end_x_ = 0;
};

double HalfPixelUp(const Chart& chart) {
  const double inner = chart.height - chart.top - chart.bottom;
  return (chart.y.high - chart.y.low) / inner / 2;
}

}  // namespace

StoryData DataOf(const Story& story) {
  StoryData data;
  data.rounds = IsRounds(story.sample);
  data.from_client = SenderIsClient(story.timeline);
  Walk(story, data).Do();
  AddWrites(story, data);
  data.mss = FullSegment(story, data);
  FindRtt(story, data);
  return data;
}

std::string StoryPair(const Story& story) {
  return fmt::format("{} → {}",
                     HostAndSystem(story.sender, story.sample.sender),
                     HostAndSystem(story.receiver, story.sample.receiver));
}

std::string MomentText(std::int64_t at_ns) {
  return fmt::format("{:.1f} ms", static_cast<double>(at_ns) * 1e-6);
}

std::string CapturedAt(const Story& story) {
  const std::string host = Printable(story.captured_at);
  const auto& capture = story.sample.capture;
  const std::string interface = capture ? Printable(capture->interface) : "";
  if (host.empty()) return "captured at a host that is not known";
  return fmt::format("captured at {}{}{}", host,
                     interface.empty() ? "" : " on ", interface);
}

std::vector<ChartPoint> ThinSteps(const Steps& steps, const Chart& chart,
                                  const Scale& scale) {
  StepLineMaker line(chart);
  for (const Reached& step : steps) {
    const double x = static_cast<double>(step.at_ns) * scale.x;
    if (x > chart.x.high) break;
    line.Add(x, step.value * scale.y);
  }
  return line.Take();
}

std::vector<Stroke> ThinStrokes(const std::vector<Stroke>& strokes,
                                const Chart& chart) {
  std::vector<Stroke> kept;
  // Bottom and top of what stands in the column so far.
  std::vector<Stroke> column;
  const double near = 2 * HalfPixelUp(chart);
  int at = std::numeric_limits<int>::min();
  for (const Stroke& stroke : strokes) {
    const int here = PixelColumn(chart, stroke.from_x);
    if (here != at) {
      kept.insert(kept.end(), column.begin(), column.end());
      column.clear();
      at = here;
    }
    const auto touches = [&](const Stroke& other) {
      return stroke.from_y <= other.to_y + near &&
             other.from_y <= stroke.to_y + near;
    };
    const auto other = std::find_if(column.begin(), column.end(), touches);
    if (other == column.end()) {
      column.push_back(stroke);
      continue;
    }
    other->from_y = std::min(other->from_y, stroke.from_y);
    other->to_y = std::max(other->to_y, stroke.to_y);
  }
  kept.insert(kept.end(), column.begin(), column.end());
  return kept;
}

std::vector<Stroke> ThinDots(const std::vector<Stroke>& dots,
                             const Chart& chart, double pixels) {
  std::vector<Stroke> kept;
  if (dots.empty()) return kept;
  const auto below = [](const Stroke& a, const Stroke& b) {
    return a.from_y < b.from_y;
  };
  const auto ends = std::minmax_element(dots.begin(), dots.end(), below);
  std::set<std::pair<int, int>> taken;
  for (auto dot = dots.begin(); dot != dots.end(); ++dot) {
    const std::pair<int, int> square{
        static_cast<int>(PixelX(chart, dot->from_x) / pixels),
        static_cast<int>(PixelY(chart, dot->from_y) / pixels)};
    const bool fresh = taken.insert(square).second;
    if (fresh || dot == ends.first || dot == ends.second) kept.push_back(*dot);
  }
  return kept;
}

std::vector<Shade> ThinShades(const std::vector<Shade>& shades,
                              const Chart& chart) {
  std::vector<Shade> kept;
  for (const Shade& shade : shades) {
    const double from = std::max(shade.from, chart.x.low);
    const double to = std::min(shade.to, chart.x.high);
    if (from >= to) continue;
    const bool touches =
        !kept.empty() &&
        PixelX(chart, from) - PixelX(chart, kept.back().to) < 1;
    if (touches) {
      kept.back().to = std::max(kept.back().to, to);
    } else {
      kept.push_back({from, to});
    }
  }
  return kept;
}

}  // namespace wiretoll
