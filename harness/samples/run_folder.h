// A run on disk: run.json, samples.jsonl (docs/design.md 6).
#ifndef WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_
#define WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// A fact of a host as text or number, or why it is not known.
struct RecordedFact {
  std::string name;
  OptionValue value;               // monostate: not observed.
  std::optional<double> number;    // Where the value is a fraction.
  std::string reason;
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
};

struct RecordedStudy {
  std::string name;
  std::string file;
  std::string text;
};

// The link all pairs share, as it was made or described.
struct RecordedLink {
  std::string kind;  // "lab", "hosts", "loopback".
  std::string description;  // For tags and captions, one line.
  std::optional<double> rate_bits_per_second;
  std::string framing = "ethernet";
  std::optional<std::int64_t> mtu;
  std::optional<std::int64_t> delay_ns;  // Each way.
  std::optional<double> loss;
  std::map<std::string, std::string> settings;  // What was set, to what.
};

struct RunRecord {
  int version = 1;
  std::string wiretoll_version;
  std::string started;               // RFC 3339, UTC.
  std::vector<std::string> command;  // To repeat it, the seed spelled out.
  std::uint64_t seed = 0;
  int repeats = 0;                   // Blocks asked for.
  std::optional<double> precision;   // Fraction asked for.
  std::string filter;
  std::vector<RecordedStudy> studies;
  std::vector<RecordedHost> hosts;
  std::vector<std::pair<std::string, std::string>> pairs;
  RecordedLink link;
};

// Creates the folder (it must not exist or be empty) with run.json in it.
Outcome<Done> CreateRunFolder(const std::filesystem::path& folder,
                              const RunRecord& record);

// kUsage: names folder, file and what is wrong with it.
Outcome<RunRecord> ReadRunRecord(const std::filesystem::path& folder);

// Appends whole lines, each flushed before Append returns.
class SampleWriter {
 public:
  // Opens for appending; a torn last line left by a killed run is cut off.
  static Outcome<SampleWriter> Open(const std::filesystem::path& folder);
  // Fails (kNothingRan) when the disk is full, naming file and remedy; what
  // was written before stays readable.
  Outcome<Done> Append(const Sample& sample);

 private:
  explicit SampleWriter(std::filesystem::path file);
  std::filesystem::path file_;
  std::ofstream out_;
};

struct ReadSummary {
  std::int64_t samples = 0;
  bool torn_last_line = false;  // Tolerated; said.
};

// Calls `each` for every sample in file order, one at a time in memory.
// kUsage: names file and line of what is no sample.
Outcome<ReadSummary> ForEachSample(const std::filesystem::path& folder,
                                   const std::function<void(Sample&&)>& each);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_RUN_FOLDER_H_
