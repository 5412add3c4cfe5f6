#include "harness/analysis/story_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/analysis/stalls.h"

namespace wiretoll {
namespace {

std::string Plural(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A moment since the start: "0.31 ms", "43.7 ms", "1204.5 ms".
std::string Moment(std::int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  return ms < 10 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.1f} ms", ms);
}

// "0.31 to 4.20 ms", or one moment where both are near.
std::string Span(std::int64_t began_ns, std::int64_t ended_ns) {
  constexpr std::int64_t kNear = 100'000;
  std::string began = Moment(began_ns);
  if (ended_ns - began_ns < kNear) return began;
  began.resize(began.size() - std::string_view(" ms").size());
  return fmt::format("{} to {}", began, Moment(ended_ns));
}

// How many of something, and their sizes.
struct Tally {
  std::int64_t count = 0, bytes = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;

  void Add(std::int64_t size) {
    ++count;
    bytes += size;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  bool operator==(const Tally&) const = default;

  // "3 segments of 32 to 1448 bytes".
  [[nodiscard]] std::string InWords(const std::string& noun) const {
    return fmt::format("{} of {}{}", Plural(count, noun),
                       least == most ? "" : fmt::format("{} to ", least),
                       BytesInWords(most));
  }
};

// What the capture and the calls hold between two moments.
struct Scene {
  const Stall* stall = nullptr;  // That went before; null: the first.
  std::int64_t began_ns = 0, ended_ns = 0;
  Tally writes, segments, replies, reads;
  std::int64_t acks = 0, again = 0, closed_windows = 0, probes = 0;

  [[nodiscard]] bool AlikeButForTimes(const Scene& other) const {
    return stall != nullptr && other.stall != nullptr &&
           stall->mechanism == other.stall->mechanism &&
           std::tie(writes, segments, replies, again, closed_windows) ==
               std::tie(other.writes, other.segments, other.replies,
                        other.again, other.closed_windows);
  }
};

void AddToScene(const TimelineSegment& segment, Scene& scene) {
  if (segment.probe) ++scene.probes;
  if (segment.retransmission) ++scene.again;
  if (IsData(segment)) {
    (segment.from_client ? scene.segments : scene.replies)
        .Add(segment.payload_bytes);
  } else if (!segment.from_client && segment.acknowledged && !segment.syn) {
    ++scene.acks;
    if (segment.window_bytes == 0) ++scene.closed_windows;
  }
}

// From the story's start, the stalls are where it is cut.
class SceneMaker {
 public:
  explicit SceneMaker(const Story& story) : story_(story) {}

  std::vector<Scene> Scenes() {
    std::vector<Scene> scenes(story_.stalls.size() + 1);
    for (std::size_t i = 0; i < story_.stalls.size(); ++i) {
      const Stall& stall = story_.stalls[i];
      scenes[i + 1].stall = &stall;
      scenes[i + 1].began_ns = stall.began_ns + stall.lasted_ns;
    }
    AddSegments(scenes);
    const bool replies = ServerSends(story_.timeline);
    if (story_.sender_calls_on_clock) {
      AddCalls(story_.calls.sender, &Scene::writes, scenes);
    }
    if (story_.receiver_calls_on_clock && !replies) {
      AddCalls(story_.calls.receiver, &Scene::reads, scenes);
    }
    return scenes;
  }

 private:
  void AddSegments(std::vector<Scene>& scenes) const {
    std::size_t at = 0;
    for (const TimelineSegment& segment : story_.timeline.segments) {
      const std::int64_t time = segment.time_ns - story_.start_ns;
      // What comes in a stall and is no data belongs to it: no scene.
      while (at + 1 < scenes.size() && time >= scenes[at + 1].began_ns) ++at;
      AddToScene(segment, scenes[at]);
      if (IsData(segment)) scenes[at].ended_ns = time;
    }
  }

  void AddCalls(const EndCalls& calls, Tally Scene::*tally,
                std::vector<Scene>& scenes) const {
    std::size_t at = 0;
    for (const ProgramCall& call : calls.calls) {
      if (call.bytes <= 0) continue;
      const std::int64_t time = call.began_ns - story_.start_ns;
      while (at + 1 < scenes.size() && time >= scenes[at + 1].began_ns) ++at;
      (scenes[at].*tally).Add(call.bytes);
    }
  }

  const Story& story_;
};

std::string SceneInWords(const Scene& scene, bool request_response) {
  std::vector<std::string> parts;
  if (scene.writes.count > 0) parts.push_back(scene.writes.InWords("write"));
  if (scene.segments.count > 0) {
    parts.push_back(scene.segments.InWords("segment") +
                    (request_response ? " to the server" : ""));
  }
  if (scene.replies.count > 0) {
    parts.push_back(scene.replies.InWords("segment") + " back");
  }
  if (scene.acks > 0 && !request_response) {
    parts.push_back(Plural(scene.acks, "ACK"));
  }
  if (scene.closed_windows > 0) {
    parts.push_back(fmt::format("{} of a closed window",
                                Plural(scene.closed_windows, "notice")));
  }
  if (scene.again > 0) {
    parts.push_back(
        fmt::format("{} sent again", Plural(scene.again, "segment")));
  }
  if (scene.reads.count > 0) parts.push_back(scene.reads.InWords("read"));
  if (parts.empty()) return {};
  return fmt::format("{}: {}.", Span(scene.began_ns, scene.ended_ns),
                     fmt::join(parts, ", "));
}

std::string StallInWords(const Stall& stall) {
  return fmt::format("{}: {}.", Moment(stall.began_ns), stall.words);
}

std::string FoldInWords(std::size_t more, const Stall& shortest,
                        const Stall& longest) {
  const std::string most = Milliseconds(longest.lasted_ns);
  std::string least = Milliseconds(shortest.lasted_ns);
  if (least == most) {
    return fmt::format("then {} more alike{} {}.", more,
                       more == 1 ? "," : ", each", most);
  }
  least.resize(least.size() - std::string_view(" ms").size());
  return fmt::format("then {} more alike, each {} to {}.", more, least, most);
}

// The scenes alike to that at `from`, itself among them.
std::size_t AlikeFrom(const std::vector<Scene>& scenes, std::size_t from) {
  std::size_t end = from + 1;
  while (end < scenes.size() && scenes[from].AlikeButForTimes(scenes[end])) {
    ++end;
  }
  return end - from;
}

void AddFold(const std::vector<Scene>& scenes, std::size_t from,
             std::size_t count, std::vector<std::string>& words) {
  const Stall* shortest = scenes[from].stall;
  const Stall* longest = shortest;
  for (std::size_t i = from; i < from + count; ++i) {
    const Stall* const stall = scenes[i].stall;
    if (stall->lasted_ns < shortest->lasted_ns) shortest = stall;
    if (stall->lasted_ns > longest->lasted_ns) longest = stall;
  }
  words.push_back(FoldInWords(count, *shortest, *longest));
}

void AddScenes(const Story& story, std::size_t most_lines,
               std::vector<std::string>& words) {
  const std::vector<Scene> scenes = SceneMaker(story).Scenes();
  const bool replies = ServerSends(story.timeline);
  for (std::size_t i = 0; i < scenes.size();) {
    if (words.size() >= most_lines) {
      words.push_back(fmt::format(
          "{} on: {} more, which are left out here.",
          Moment(scenes[i].began_ns),
          Plural(static_cast<std::int64_t>(scenes.size() - i), "stall")));
      return;
    }
    if (scenes[i].stall != nullptr) {
      words.push_back(StallInWords(*scenes[i].stall));
    }
    if (std::string text = SceneInWords(scenes[i], replies); !text.empty()) {
      words.push_back(std::move(text));
    }
    const std::size_t alike = AlikeFrom(scenes, i);
    if (alike > 1) AddFold(scenes, i + 1, alike - 1, words);
    i += alike;
  }
}

std::string Opening(const Story& story) {
  const Timeline& timeline = story.timeline;
  std::int64_t window = 0;
  bool syn = false;
  for (const TimelineSegment& segment : timeline.segments) {
    if (!segment.syn) break;
    syn = true;
    if (!segment.from_client) window = segment.window_bytes;
  }
  if (!syn) return "0.00 ms: the capture begins within the connection.";
  std::string text = fmt::format("0.00 ms: {} opens a connection to {}",
                                 story.sender, story.receiver);
  if (timeline.server_mss)
    text += fmt::format(", MSS {}", *timeline.server_mss);
  text += fmt::format(", {} timestamps", timeline.timestamps ? "with" : "no");
  if (window > 0) {
    text += fmt::format("; the server's window is {}", BytesInWords(window));
  }
  const std::int64_t handshake = HandshakeNs(timeline);
  if (handshake > 0) {
    text += fmt::format(", a round trip {}", Milliseconds(handshake));
  }
  return text + ".";
}

void AddClosing(const Story& story, std::vector<std::string>& words) {
  std::array<bool, 2> told{};
  for (const TimelineSegment& segment : story.timeline.segments) {
    bool& before = told[segment.from_client ? 0 : 1];
    if (!(segment.fin || segment.rst) || before) continue;
    before = true;
    words.push_back(fmt::format("{}: the {} {}.",
                                Moment(segment.time_ns - story.start_ns),
                                segment.from_client ? "client" : "server",
                                segment.rst ? "breaks it off" : "closes"));
  }
}

void AddSum(const Story& story, const StoryLimits& limits,
            std::vector<std::string>& words) {
  if (story.timeline.segments.empty()) return;
  const std::int64_t whole =
      story.timeline.segments.back().time_ns - story.start_ns;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kinds;
  std::int64_t stood = 0;
  for (const Stall& stall : story.stalls) {
    auto& [count, lasted] = kinds[MechanismName(stall.mechanism)];
    ++count;
    lasted += stall.lasted_ns;
    stood += stall.lasted_ns;
  }
  if (kinds.empty()) {
    words.push_back(fmt::format(
        "In all {}, without a stall: no pause between two data segments is "
        "longer than {}.",
        Milliseconds(whole),
        Milliseconds(StallThresholdNs(story.timeline, limits))));
    return;
  }
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [name, kind] : kinds) {
    parts.push_back(fmt::format("{} x {} ({})", kind.first, name,
                                Milliseconds(kind.second)));
  }
  words.push_back(fmt::format("In all {}, of which it stood still {}: {}.",
                              Milliseconds(whole), Milliseconds(stood),
                              fmt::join(parts, ", ")));
}

void AddRule(const Story& story, std::vector<std::string>& words) {
  if (!story.rule) return;
  words.push_back(
      story.rule->followed.empty()
          ? fmt::format("Which rule the sender followed does not show: {}.",
                        story.rule->why)
          : fmt::format("The sender followed the rule \"{}\": {}.",
                        story.rule->followed, story.rule->why));
}

}  // namespace

std::vector<std::string> StoryInWords(const Story& story,
                                      const StoryLimits& limits) {
  std::vector<std::string> words;
  if (story.timeline.segments.empty()) return words;
  if (!story.timeline.partial.empty()) {
    words.push_back(
        fmt::format("The capture is not whole, and the story ends with it: {}.",
                    story.timeline.partial));
  }
  words.push_back(Opening(story));
  AddScenes(story, limits.lines, words);
  AddClosing(story, words);
  AddSum(story, limits, words);
  AddRule(story, words);
  return words;
}

}  // namespace wiretoll
