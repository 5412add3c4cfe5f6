#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

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

// Samples come from other machines: a file named there is one of the run.
Outcome<fs::path> FileInRun(const fs::path& run, const std::string& named) {
  const fs::path file(named);
  const bool inside =
      !named.empty() && file.is_relative() && !file.has_root_path() &&
      std::none_of(file.begin(), file.end(),
                   [](const fs::path& part) { return part == ".."; });
  if (inside) return run / file;
  return NoStory(fmt::format("{}/samples.jsonl: \"{}\" is no file of the run",
                             run.string(), named));
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
  return record.link.kind == "lab" || record.link.kind == "loopback" ||
         (end && end->host == capture.host);
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

}  // namespace

Outcome<Story> TellStory(const fs::path& run, const std::string& trial) {
  const Outcome<RunRecord> record = ReadRunRecord(run);
  if (!record.has_value()) return record.error();
  Outcome<Sample> sample = FindTrial(run, trial);
  if (!sample.has_value()) return sample.error();
  StoryMaterial material;
  material.sample = std::move(sample).value();
  if (!material.sample.capture || material.sample.capture->file.empty()) {
    return NoStory(fmt::format(
        "{} has no capture: {}", material.sample.trial,
        !material.sample.capture
            ? "none was asked for; `wiretoll run --capture` makes them"
        : material.sample.capture->reason.empty()
            ? std::string("the sample does not say why")
            : material.sample.capture->reason));
  }
  const CaptureRecord& capture = *material.sample.capture;
  const Outcome<fs::path> file = FileInRun(run, capture.file);
  if (!file.has_value()) return file.error();
  Outcome<Timeline> timeline = ReadTimeline(file.value(), std::nullopt);
  if (!timeline.has_value()) return timeline.error();
  Outcome<CallLog> calls = CallsOf(run, capture);
  if (!calls.has_value()) return calls.error();
  material.timeline = std::move(timeline).value();
  material.calls = std::move(calls).value();
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
