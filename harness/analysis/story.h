// What happened in one trial, at which time and why: its writes, segments,
// ACKs and reads on one clock, and each stall with the mechanism behind it.
#ifndef WIRETOLL_HARNESS_ANALYSIS_STORY_H_
#define WIRETOLL_HARNESS_ANALYSIS_STORY_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/capture/call_log.h"
#include "harness/capture/timeline.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"
#include "harness/theory/nagle_replay.h"

namespace wiretoll {

enum class Mechanism {
  kNagleAwaitsAck,    // A partial segment waited for the ACK of an earlier one.
  kDelayedAck,        // The ACK that it waited for was held back.
  kWindowClosed,      // Nothing more fitted into the advertised window.
  kSillyWindow,       // Room, but less than a segment worth sending.
  kPersistTimer,      // A probe of a closed window was awaited.
  kRetransmission,    // A loss, and the timer or the duplicate ACKs for it.
  kCongestionWindow,  // As much in flight as slow start or the control lets.
  kSenderProgram,     // The program had written nothing more.
  kReceiverProgram,   // The reply, or the read, was awaited.
  kSendBuffer,        // A write waited for room in the sender's buffer.
  kUnexplained,
};
std::string MechanismName(Mechanism mechanism);

// A span without a data segment in either direction is a stall where it is
// longer than the longest of these.
struct StoryLimits {
  std::int64_t least_ns = 5'000'000;
  double median_gaps = 4;   // Times the median between two data segments,
  std::size_t gaps = 10;    // of so many or more.
  double round_trips = 2;   // Times the handshake's.
  std::size_t lines = 300;  // Of words; what is left out is said.
};

struct Stall {
  std::int64_t began_ns = 0;  // From the story's start.
  std::int64_t lasted_ns = 0;
  Mechanism mechanism = Mechanism::kUnexplained;
  std::string words;  // "Nagle waits 43.7 ms for the delayed ACK"
};

// Times in it count from the first event: the SYN, else the first write.
struct Story {
  Sample sample;
  std::string sender, receiver;  // Hosts, with their systems' names.
  std::string captured_at;       // The host whose clock the times are of.
  Timeline timeline;             // Times as captured.
  CallLog calls;                 // Times as logged.
  // Calls of an end on another machine's clock than the capture's are told
  // of only in words.
  bool sender_calls_on_clock = false, receiver_calls_on_clock = false;
  std::int64_t start_ns = 0;        // Subtract it from any time above.
  std::vector<Stall> stalls;        // By time.
  std::optional<RuleVerdict> rule;  // Which rule the sender followed.
  std::string why_no_rule;
  // What happened, a sentence a line, in order of time.
  std::vector<std::string> words;
  std::vector<std::string> notes;  // What is missing, and why.
};

// What a story is made of, once it is read.
struct StoryMaterial {
  Sample sample;
  std::string sender, receiver, captured_at;
  Timeline timeline;
  CallLog calls;
  bool sender_calls_on_clock = true, receiver_calls_on_clock = true;
};
Story MakeStory(StoryMaterial material, const StoryLimits& limits = {});

// `trial` is a trial's id, or the start of one that is the only such.
// kUsage: no such run or trial, or the trial has no capture (and why).
Outcome<Story> TellStory(const std::filesystem::path& run,
                         const std::string& trial);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_STORY_H_
