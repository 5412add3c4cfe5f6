// Run folders as tables, for SQL and for data frames (docs/export.md).
#ifndef WIRETOLL_HARNESS_EXPORT_EXPORT_H_
#define WIRETOLL_HARNESS_EXPORT_EXPORT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// What became of one run folder's samples.
struct ExportedRun {
  std::filesystem::path folder;
  std::int64_t added = 0;
  std::int64_t there_already = 0;  // Or twice in the folder: the first counts.
  // Of flows that ran at once and whose group a kill left without some: going
  // on with the run takes them out and does the group again, so that they are
  // not exported.
  std::int64_t of_torn_groups = 0;
  bool torn_last_line = false;  // Of samples.jsonl; left out.
};

// Called every now and then, by the caller's thread: which folder is read, and
// how many samples of it so far.
using ExportProgress =
    std::function<void(const std::filesystem::path& run, std::int64_t samples)>;

// Both read samples and write rows at once, in two threads, a few hundred
// samples in memory.
//
// Failures: kUsage for what is no run folder, for a broken one (the message
// names file, line and key), for a file or folder that holds something else
// than an export of this version; kNothingRan where it cannot be written.

// Adds to the file, or makes it. A transaction a run: of one that failed
// nothing is there, those before it are. A file that was made in vain is taken
// away again.
Outcome<std::vector<ExportedRun>> ExportToSqlite(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& file, const ExportProgress& progress);

// Adds to the folder's files, or makes them: a file a table, TABLE.csv. They
// are replaced by whole new ones once all runs are read; after a failure they
// are as they were. A working file, .export.sqlite, lies there meanwhile.
Outcome<std::vector<ExportedRun>> ExportToCsv(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& folder, const ExportProgress& progress);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_EXPORT_H_
