// A run on disk: run.json, samples.jsonl (docs/design.md 6).
#ifndef WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_
#define WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// A fact of a host as text or number, or why it is not known.
struct RecordedFact {
  std::string name;
  OptionValue value;             // monostate: not observed, or a fraction.
  std::optional<double> number;  // Where the value is a fraction.
  std::string reason;
  bool operator==(const RecordedFact&) const = default;
};

struct RecordedHost {
  std::string name;
  std::string os;
  std::string stack;
  std::string description;
  std::string address;
  std::vector<std::string> agent;  // The command that started it.
  std::string agent_version;
  std::vector<RecordedFact> facts;
  bool operator==(const RecordedHost&) const = default;
};

struct RecordedStudy {
  std::string name;
  std::string file;
  std::string text;
  bool operator==(const RecordedStudy&) const = default;
};

// The link all pairs share, as it was made or described.
struct RecordedLink {
  // "lab", "container", "loopback": on one machine; "hosts".
  std::string kind;
  std::string description;  // For tags and captions, one line.
  std::optional<double> rate_bits_per_second;
  std::string framing = "ethernet";
  std::optional<std::int64_t> mtu;
  std::optional<std::int64_t> delay_ns;  // Each way.
  std::optional<double> loss;
  std::map<std::string, std::string> settings;  // What was set, to what.
  bool operator==(const RecordedLink&) const = default;
};

// All of its hosts are one machine's, and read one clock.
inline bool IsOnOneMachine(const RecordedLink& link) {
  return link.kind == "lab" || link.kind == "container" ||
         link.kind == "loopback";
}

struct RunRecord {
  int version = 1;
  std::string wiretoll_version;
  std::string started;               // RFC 3339, UTC.
  std::vector<std::string> command;  // To repeat it, the seed spelled out.
  std::uint64_t seed = 0;
  int repeats = 0;                  // Blocks asked for.
  std::optional<double> precision;  // Fraction asked for.
  std::string filter;
  // What made the samples up, where nothing was measured; else empty. Every
  // report of such a run says so.
  std::string synthetic;
  std::vector<RecordedStudy> studies;
  std::vector<RecordedHost> hosts;
  std::vector<std::pair<std::string, std::string>> pairs;
  RecordedLink link;
  bool operator==(const RunRecord&) const = default;
};

// Null if the run has no host of this name.
const RecordedHost* FindHost(const RunRecord& record, const std::string& name);

// Creates the folder (it must not exist or be empty) with an empty
// samples.jsonl and, last, a whole run.json. kUsage if the folder holds
// something, kNothingRan if it cannot be written.
Outcome<Done> CreateRunFolder(const std::filesystem::path& folder,
                              const RunRecord& record);

// kUsage: names folder, file, key and what is wrong with it.
Outcome<RunRecord> ReadRunRecord(const std::filesystem::path& folder);

// Appends whole lines, each handed to the kernel before Append returns, so
// that it outlives this process. One writer a run folder at a time.
class SampleWriter {
 public:
  // Makes samples.jsonl if it is missing. A torn last line left by a killed
  // run is cut off: its trial counts as not done.
  static Outcome<SampleWriter> Open(const std::filesystem::path& folder);
  // Fails (kNothingRan) when the disk is full or the file cannot be written,
  // naming file and remedy. The part of the line that went in is taken out
  // again: what was written before stays readable, and a later Append may
  // succeed.
  Outcome<Done> Append(const Sample& sample);
  // Those of a group of flows, in one go: see DropTornGroups().
  Outcome<Done> Append(const std::vector<Sample>& group);

 private:
  explicit SampleWriter(std::filesystem::path file) : file_(std::move(file)) {}
  std::filesystem::path file_;
};

// Takes out the samples of groups (TrialFlow::group) that lack some of their
// flows, as a killed run may leave them: --resume does the whole group again.
// Gives how many samples that were. The file is replaced by a whole new one, or
// stays as it was. kUsage: it cannot be read.
Outcome<std::int64_t> DropTornGroups(const std::filesystem::path& folder);

struct ReadSummary {
  std::int64_t samples = 0;
  bool torn_last_line = false;  // Tolerated; said.
};

// Calls `each` for every sample in file order, one at a time in memory.
// kUsage: names file and line of what is no sample; `each` was called for
// those before it.
Outcome<ReadSummary> ForEachSample(const std::filesystem::path& folder,
                                   const std::function<void(Sample&&)>& each);

// Which trials the folder holds, for --resume: reads no more of a line than
// that. Otherwise as ForEachSample.
Outcome<ReadSummary> ForEachTrial(
    const std::filesystem::path& folder,
    const std::function<void(std::string_view trial, TrialOutcome outcome)>&
        each);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_
