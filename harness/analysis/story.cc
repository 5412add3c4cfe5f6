#include "harness/analysis/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/analysis/replay.h"
#include "harness/analysis/stalls.h"
#include "harness/analysis/story_words.h"

namespace wiretoll {
namespace {

std::int64_t StartOf(const Timeline& timeline, const CallLog& calls,
                     bool calls_on_clock) {
  if (timeline.segments.empty()) return 0;
  const TimelineSegment& first = timeline.segments.front();
  if (first.syn || !calls_on_clock || calls.sender.calls.empty()) {
    return first.time_ns;
  }
  return std::min(first.time_ns, calls.sender.calls.front().began_ns);
}

void NoteCalls(const EndCalls& calls, bool on_clock, const std::string& host,
               std::vector<std::string>& notes) {
  if (calls.calls.empty()) {
    notes.push_back(fmt::format("the calls of {} were not logged", host));
  } else if (!on_clock) {
    notes.push_back(fmt::format(
        "the calls of {} are by another clock than the capture's: the story "
        "has no times of them",
        host));
  }
  if (calls.left_out > 0) {
    notes.push_back(fmt::format("{} calls of {} were left out of the log",
                                calls.left_out, host));
  }
}

void AddNotes(Story& story) {
  if (!story.timeline.partial.empty()) {
    story.notes.push_back("the capture is not whole: " +
                          story.timeline.partial);
  }
  NoteCalls(story.calls.sender, story.sender_calls_on_clock, story.sender,
            story.notes);
  NoteCalls(story.calls.receiver, story.receiver_calls_on_clock, story.receiver,
            story.notes);
  if (story.sample.outcome != TrialOutcome::kOk) {
    story.notes.push_back("the trial did not end well: " + story.sample.reason);
  }
}

void FindRule(Story& story) {
  if (!story.sender_calls_on_clock && !story.calls.sender.calls.empty()) {
    story.why_no_rule =
        "the sender's calls are by another clock than the capture's";
    return;
  }
  const Observed<CapturedSend> send =
      CapturedSendOf(story.timeline, story.calls);
  if (!send.value) {
    story.why_no_rule = send.reason;
    return;
  }
  story.rule = FollowedRule(send.value->input, send.value->seen);
}

}  // namespace

std::string MechanismName(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kNagleAwaitsAck:
      return "Nagle";
    case Mechanism::kDelayedAck:
      return "delayed ACK";
    case Mechanism::kWindowClosed:
      return "closed window";
    case Mechanism::kSillyWindow:
      return "silly window";
    case Mechanism::kPersistTimer:
      return "persist timer";
    case Mechanism::kRetransmission:
      return "retransmission";
    case Mechanism::kCongestionWindow:
      return "congestion window";
    case Mechanism::kSenderProgram:
      return "sender's program";
    case Mechanism::kReceiverProgram:
      return "receiver's program";
    case Mechanism::kSendBuffer:
      return "send buffer";
    case Mechanism::kUnexplained:
      break;
  }
  return "unexplained";
}

Story MakeStory(StoryMaterial material, const StoryLimits& limits) {
  Story story;
  story.sample = std::move(material.sample);
  story.sender = std::move(material.sender);
  story.receiver = std::move(material.receiver);
  story.captured_at = std::move(material.captured_at);
  story.timeline = std::move(material.timeline);
  story.calls = std::move(material.calls);
  story.sender_calls_on_clock =
      material.sender_calls_on_clock && !story.calls.sender.calls.empty();
  story.receiver_calls_on_clock =
      material.receiver_calls_on_clock && !story.calls.receiver.calls.empty();
  story.start_ns =
      StartOf(story.timeline, story.calls, story.sender_calls_on_clock);
  story.stalls = FindStalls(story, limits);
  FindRule(story);
  story.words = StoryInWords(story, limits);
  AddNotes(story);
  return story;
}

}  // namespace wiretoll
