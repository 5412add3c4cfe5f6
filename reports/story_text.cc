#include <fmt/format.h>

#include <algorithm>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/json_parts.h"
#include "reports/slides.h"
#include "reports/story_data.h"
#include "reports/story_report.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::size_t kTerminal = 80;

// "- text", the following lines under its first word.
void AddItem(std::string& out, const std::string& mark,
             const std::string& text) {
  const std::size_t left = Length(mark);
  const auto lines = WrapWords(Printable(text), kTerminal - left);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += (i == 0 ? mark : std::string(left, ' ')) + lines[i] + '\n';
  }
}

void AddHead(std::string& out, const std::string& head) {
  out += fmt::format("\n{}\n", head);
}

void AddStalls(const Story& story, std::string& out) {
  AddHead(out, "Stalls");
  if (story.stalls.empty()) {
    out += "  none\n";
    return;
  }
  constexpr std::size_t kMost = 40;
  for (std::size_t i = 0; i < std::min(kMost, story.stalls.size()); ++i) {
    const Stall& stall = story.stalls[i];
    AddItem(out, fmt::format("  {:>10}  ", MomentText(stall.began_ns)),
            fmt::format("{}, {}: {}",
                        TimeText(static_cast<double>(stall.lasted_ns)),
                        MechanismName(stall.mechanism), stall.words));
  }
  if (story.stalls.size() > kMost) {
    AddItem(out, "  ",
            fmt::format("{} more; --format json gives all",
                        story.stalls.size() - kMost));
  }
}

void AddRule(const Story& story, std::string& out) {
  AddHead(out, "Rule of sending that the packets show");
  if (!story.rule) {
    AddItem(out, "  ",
            story.why_no_rule.empty() ? "not looked for"
                                      : "not known: " + story.why_no_rule);
    return;
  }
  const RuleVerdict& rule = *story.rule;
  AddItem(out, "  ",
          fmt::format(
              "{}: {}",
              rule.followed.empty() ? "none that can be told" : rule.followed,
              rule.why));
  for (const RuleFit& fit : rule.fits) {
    AddItem(out, "    ",
            fmt::format("{}: {} of {} seen; {} agree", SendRuleName(fit.rule),
                        Count(fit.segments, "segment"), rule.seen,
                        Percent(fit.agreement)));
  }
}

// "1.5k" would be shorter, and no number to copy.
std::string OrDash(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::size_t WidthOf(const std::vector<TrialEntry>& entries) {
  std::size_t width = 5;
  for (const TrialEntry& entry : entries) {
    width = std::max(width, Length(Printable(entry.trial)));
  }
  return width;
}

}  // namespace

std::string StoryText(const Story& story) {
  const StoryData data = DataOf(story);
  std::string out;
  AddItem(out, "", fmt::format("trial {}", story.sample.trial));
  AddItem(out, "", StoryPair(story));
  AddItem(out, "", fmt::format("{}; {}", CapturedAt(story), story.sample.link));
  AddItem(out, "",
          fmt::format(
              "{} of payload in {} within {}", FormatBytes(Bytes{data.bytes}),
              Count(static_cast<long long>(data.departures.size()), "segment"),
              TimeText(static_cast<double>(data.end_ns))));
  AddHead(out, "What happened");
  for (const std::string& line : story.words) AddItem(out, "  ", line);
  if (story.words.empty()) out += "  nothing was seen\n";
  AddStalls(story, out);
  AddRule(story, out);
  if (story.notes.empty()) return out;
  AddHead(out, "Notes");
  for (const std::string& note : story.notes) AddItem(out, "  ", note);
  return out;
}

namespace {

std::string WhyNoCapture(const std::optional<CaptureRecord>& capture) {
  if (!capture) return "no capture was asked for";
  return capture->reason.empty() ? "no reason was recorded" : capture->reason;
}

std::string OutcomeText(TrialOutcome outcome) {
  if (outcome == TrialOutcome::kOk) return "ok";
  return outcome == TrialOutcome::kFailed ? "failed" : "skipped";
}

// Requires a capture.
TrialEntry EntryOf(const Sample& sample) {
  TrialEntry entry;
  entry.trial = sample.trial;
  entry.case_id = sample.case_id;
  entry.pair = fmt::format("{} → {}", sample.sender ? sample.sender->host : "?",
                           sample.receiver ? sample.receiver->host : "?");
  entry.outcome = OutcomeText(sample.outcome);
  if (sample.sender && sample.sender->latency) {
    entry.stalls = sample.sender->latency->over_30ms;
  }
  entry.frames = sample.capture->frames;
  entry.partial = sample.capture->partial;
  return entry;
}

}  // namespace

Outcome<TrialList> ListCapturedTrials(const std::filesystem::path& run) {
  TrialList list;
  const auto read = ForEachSample(run, [&list](Sample&& sample) {
    ++list.trials;
    if (sample.capture && !sample.capture->file.empty()) {
      list.captured.push_back(EntryOf(sample));
    } else {
      ++list.missing[WhyNoCapture(sample.capture)];
    }
  });
  if (!read.has_value()) return read.error();
  return list;
}

std::string TrialListText(const TrialList& list, const std::string& run) {
  std::string out;
  for (const auto& [reason, trials] : list.missing) {
    AddItem(out, "",
            fmt::format("without a capture: {}: {}", Count(trials, "trial"),
                        reason));
  }
  if (list.captured.empty()) {
    AddItem(out, "",
            "No trial of this run can be explained. `wiretoll run --capture` "
            "makes a run whose trials can.");
    return out;
  }
  const std::size_t width = WidthOf(list.captured);
  const auto pad = [](const std::string& text, std::size_t columns) {
    return text + std::string(columns - std::min(columns, Length(text)), ' ');
  };
  out += fmt::format("{}  {:>8}  {:>6}  outcome\n", pad("trial", width),
                     "frames", "stalls");
  for (const TrialEntry& entry : list.captured) {
    out += fmt::format(
        "{}  {:>8}  {:>6}  {}{}\n", pad(Printable(entry.trial), width),
        OrDash(entry.frames), OrDash(entry.stalls), entry.outcome,
        entry.partial.empty() ? ""
                              : ", not whole: " + Printable(entry.partial));
  }
  out +=
      "\nstalls: rounds over 30 ms, of a request-response. One of them:\n  " +
      ShellCommand({"wiretoll", "explain", run, list.captured.front().trial}) +
      "\n";
  return out;
}

std::string TrialListJson(const TrialList& list) {
  Json captured = Json::array();
  for (const TrialEntry& entry : list.captured) {
    Json json{{"trial", entry.trial},
              {"case", entry.case_id},
              {"pair", entry.pair},
              {"outcome", entry.outcome},
              {"frames", OrNull(entry.frames)},
              {"stalled_rounds", OrNull(entry.stalls)},
              {"partial", entry.partial}};
    if (!entry.stalls || !entry.frames) {
      json["why_null"] =
          "frames: not recorded; stalled_rounds: only rounds of a "
          "request-response are timed one by one";
    }
    captured.push_back(std::move(json));
  }
  return Dump({{"v", kStoryVersion},
               {"trials", list.trials},
               {"captured", std::move(captured)},
               {"without_a_capture", list.missing}}) +
         "\n";
}

}  // namespace wiretoll
