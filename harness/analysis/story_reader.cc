#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/analysis/capture_figures.h"
#include "harness/analysis/story.h"
#include "harness/analysis/systems.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

Failure NoStory(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

// A trial by its id, or by the start of one.
class TrialFinder {
 public:
  explicit TrialFinder(std::string trial) : trial_(std::move(trial)) {}

  void Look(Sample&& sample) {
    if (!sample.trial.starts_with(trial_)) return;
    const bool whole = sample.trial == trial_;
    if (whole_) return;
    whole_ = whole;
    if (whole) others_.clear();
    if (found_ && !whole) {
      if (others_.size() < kMostNamed) others_.push_back(sample.trial);
      return;
    }
    found_ = std::move(sample);
  }

  Outcome<Sample> Take(const fs::path& run) && {
    if (!found_) {
      return NoStory(fmt::format(
          "{}: no trial's id is or begins with \"{}\"; samples.jsonl has them, "
          "as \"trial\"",
          run.string(), trial_));
    }
    if (!others_.empty()) {
      return NoStory(fmt::format(
          "{}: more than one trial begins with \"{}\": {}, {}{}; give the id "
          "whole",
          run.string(), trial_, found_->trial, fmt::join(others_, ", "),
          others_.size() == kMostNamed ? ", ..." : ""));
    }
    return *std::move(found_);
  }

 private:
  static constexpr std::size_t kMostNamed = 3;
  std::string trial_;
  std::optional<Sample> found_;
  std::vector<std::string> others_;
  bool whole_ = false;
};

Outcome<Sample> FindTrial(const fs::path& run, const std::string& trial) {
  if (trial.empty()) return NoStory("no trial given: name its id");
  TrialFinder finder(trial);
  const Outcome<ReadSummary> read = ForEachSample(
      run, [&](Sample&& sample) { finder.Look(std::move(sample)); });
  if (!read.has_value()) return read.error();
  return std::move(finder).Take(run);
}

// Wherever links lead to.
bool IsInside(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  if (error) return false;
  const fs::path within = fs::weakly_canonical(file, error);
  if (error) return false;
  return std::mismatch(whole.begin(), whole.end(), within.begin(), within.end())
             .first == whole.end();
}

// Samples come from other machines: a file named there is one of the run, and
// none that would be waited for.
Outcome<fs::path> FileInRun(const fs::path& run, const std::string& named) {
  const fs::path file(named);
  const bool inside =
      !named.empty() && file.is_relative() && IsInside(run, run / file);
  if (!inside) {
    return NoStory(fmt::format("{}/samples.jsonl: \"{}\" is no file of the run",
                               run.string(), named));
  }
  std::error_code ignored;
  const auto kind = fs::status(run / file, ignored).type();
  if (kind == fs::file_type::regular || kind == fs::file_type::not_found) {
    return run / file;
  }
  return NoStory(fmt::format("{}: is no plain file", (run / file).string()));
}

// A file that was changed or exchanged would be told as this trial's.
std::optional<Failure> OtherThanTold(const fs::path& file,
                                     const Timeline& timeline,
                                     const CaptureRecord& told) {
  if (!timeline.partial.empty() || !told.data_segments) return std::nullopt;
  CaptureRecord found;
  FillCaptureFigures(timeline, found);
  if (found.data_segments == told.data_segments &&
      found.payload_bytes == told.payload_bytes) {
    return std::nullopt;
  }
  return NoStory(fmt::format(
      "{}: is not the capture that the sample tells of: it holds {} data "
      "segments with {} bytes, the sample has {} with {}; wiretoll observe "
      "FILE shows it as it is",
      file.string(), *found.data_segments, *found.payload_bytes,
      *told.data_segments, told.payload_bytes.value_or(0)));
}

// What a torn capture cannot show is not told of the program either.
void EndCallsWith(const Timeline& timeline, EndCalls& end) {
  if (timeline.partial.empty() || timeline.segments.empty()) return;
  const std::int64_t last = timeline.segments.back().time_ns;
  const auto later = std::find_if(
      end.calls.begin(), end.calls.end(),
      [last](const ProgramCall& call) { return call.began_ns > last; });
  end.left_out += end.calls.end() - later;
  end.calls.erase(later, end.calls.end());
}

std::string HostInWords(const RunRecord& record,
                        const std::optional<EndReport>& end) {
  if (!end) return "an end that reported nothing";
  return fmt::format("{} ({})", end->host,
                     SystemOfHost(record, end->host, end->os, end->stack));
}

// The hosts of a lab and of loopback are one machine's.
bool OnClock(const RunRecord& record, const CaptureRecord& capture,
             const std::optional<EndReport>& end) {
  return IsOnOneMachine(record.link) || (end && end->host == capture.host);
}

// A trial's calls may be missing; the capture then stands alone.
Outcome<CallLog> CallsOf(const fs::path& run, const CaptureRecord& capture) {
  if (capture.calls.empty()) return CallLog{};
  const Outcome<fs::path> file = FileInRun(run, capture.calls);
  if (!file.has_value()) return file.error();
  std::error_code ignored;
  if (!fs::exists(file.value(), ignored)) return CallLog{};
  return ReadCallLog(file.value());
}

// Why the trial has no story; empty if nothing speaks against one.
std::optional<Failure> WhyNoStory(const fs::path& run, const Sample& sample) {
  if (!sample.capture || sample.capture->file.empty()) {
    return NoStory(fmt::format(
        "{} has no capture: {}", sample.trial,
        !sample.capture ? "none was asked for; `wiretoll run --capture` makes "
                          "them"
        : sample.capture->reason.empty()
            ? std::string("the sample does not say why")
            : sample.capture->reason));
  }
  if (!sample.datagrams) return std::nullopt;
  return NoStory(fmt::format(
      "{} went over UDP, and a story is of a TCP connection; `wiretoll "
      "observe {}` shows what its capture holds",
      sample.trial, (run / sample.capture->file).string()));
}

}  // namespace

Outcome<Story> TellStory(const fs::path& run, const std::string& trial) {
  const Outcome<RunRecord> record = ReadRunRecord(run);
  if (!record.has_value()) return record.error();
  Outcome<Sample> sample = FindTrial(run, trial);
  if (!sample.has_value()) return sample.error();
  StoryMaterial material;
  material.sample = std::move(sample).value();
  if (auto why = WhyNoStory(run, material.sample)) return *std::move(why);
  const CaptureRecord& capture = *material.sample.capture;
  const Outcome<fs::path> file = FileInRun(run, capture.file);
  if (!file.has_value()) return file.error();
  Outcome<Timeline> timeline = ReadTimeline(file.value(), std::nullopt);
  if (!timeline.has_value()) return timeline.error();
  if (const auto other =
          OtherThanTold(file.value(), timeline.value(), capture)) {
    return *other;
  }
  Outcome<CallLog> calls = CallsOf(run, capture);
  if (!calls.has_value()) return calls.error();
  material.timeline = std::move(timeline).value();
  material.calls = std::move(calls).value();
  EndCallsWith(material.timeline, material.calls.sender);
  EndCallsWith(material.timeline, material.calls.receiver);
  material.sender = HostInWords(record.value(), material.sample.sender);
  material.receiver = HostInWords(record.value(), material.sample.receiver);
  material.captured_at = capture.host;
  material.sender_calls_on_clock =
      OnClock(record.value(), capture, material.sample.sender);
  material.receiver_calls_on_clock =
      OnClock(record.value(), capture, material.sample.receiver);
  return MakeStory(std::move(material));
}

}  // namespace wiretoll
