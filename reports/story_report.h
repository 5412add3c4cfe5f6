// One trial's story, to read: text, JSON, and a page with pictures that also
// lie beside it for slides.
#ifndef WIRETOLL_REPORTS_STORY_REPORT_H_
#define WIRETOLL_REPORTS_STORY_REPORT_H_

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/analysis/story.h"
#include "harness/base/result.h"
#include "reports/document.h"
#include "reports/report.h"

namespace wiretoll {

inline constexpr int kStoryVersion = 1;

// What a story does not know of its run.
struct StoryRun {
  RunRecord record;
  std::filesystem::path folder;
};

// "write-write-read_9-4_a_b_0": what a trial's files are called, without their
// ending. Letters, digits, dots, dashes and underscores only.
std::string StoryFileStem(const Sample& sample);

// Lines of at most 80 columns where words allow it. Safe on a terminal.
std::string StoryText(const Story& story);

// One object with all events; times in nanoseconds from `start_ns`.
void WriteStoryJson(const Story& story, std::ostream& out);

// What the page holds, before its pictures are drawn.
Document StoryDocument(const Story& story, const StoryRun& run);

// Writes STEM.html into `out`, which is made if it is missing, and one
// STEM-KIND.svg for each picture. A missing gnuplot costs its pictures only:
// the page says why in their place. kNothingRan if the folder or a file cannot
// be written.
Outcome<WrittenReport> WriteStory(const Story& story, const StoryRun& run,
                                  const std::filesystem::path& out,
                                  std::chrono::milliseconds picture_limit =
                                      std::chrono::milliseconds(60'000));

// --- Which trials there are to explain --------------------------------------

struct TrialEntry {
  std::string trial;
  std::string case_id;
  std::string pair;  // "a → b"
  std::string outcome;
  // Rounds over 30 ms of a request-response; empty for a stream.
  std::optional<std::int64_t> stalls;
  std::optional<std::int64_t> frames;
  std::string partial;
};

// The trials of a run that have a capture, and why others have none.
struct TrialList {
  std::vector<TrialEntry> captured;
  std::map<std::string, int> missing;  // Reason -> trials.
  std::int64_t trials = 0;
};
// kUsage: the folder cannot be read.
Outcome<TrialList> ListCapturedTrials(const std::filesystem::path& run);
// `run` as the user named it, for the command that the text suggests.
std::string TrialListText(const TrialList& list, const std::string& run);
std::string TrialListJson(const TrialList& list);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_STORY_REPORT_H_
