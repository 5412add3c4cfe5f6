#include "harness/export/export.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "harness/export/csv_files.h"
#include "harness/export/run_tables.h"
#include "harness/export/sample_tables.h"
#include "harness/export/schema.h"
#include "harness/export/sqlite.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

using Batch = std::vector<Sample>;
constexpr std::size_t kBatchSamples = 128;

// Batches on their way from the thread that reads to the one that writes; a
// few at most, then the first waits for the second.
class BatchQueue {
 public:
  // Drops the batch if nobody takes any more.
  void Push(Batch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < kMost || over_; });
    if (!over_) batches_.push_back(std::move(batch));
    changed_.notify_all();
  }
  // None once it was closed and all are taken.
  std::optional<Batch> Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !batches_.empty() || closed_; });
    if (batches_.empty()) return std::nullopt;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }
  void Close() {  // No more come.
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  void Stop() {  // No more are taken.
    const std::scoped_lock lock(mutex_);
    over_ = true;
    batches_.clear();
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kMost = 4;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  bool closed_ = false;
  bool over_ = false;
};

// Calls `end` whatever happens, so that the other thread does not wait forever.
template <class End>
class AtEnd {
 public:
  explicit AtEnd(End end) : end_(std::move(end)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { end_(); }

 private:
  End end_;
};

// Holds a flow's sample back until its whole group is there.
class WholeGroups {
 public:
  // Calls `pass` with those that may go.
  template <class Pass>
  void Add(Sample&& sample, const Pass& pass) {
    if (!sample.flow.has_value()) return pass(std::move(sample));
    const std::string name = sample.flow->group;
    Batch& group = held_[name];
    group.push_back(std::move(sample));
    if (std::cmp_less(group.size(), group.back().flow->flows)) return;
    for (Sample& one : group) pass(std::move(one));
    held_.erase(name);
  }
  [[nodiscard]] std::int64_t held() const {
    std::int64_t samples = 0;
    for (const auto& [name, group] : held_) {
      samples += static_cast<std::int64_t>(group.size());
    }
    return samples;
  }

 private:
  std::map<std::string, Batch> held_;
};

struct WrittenSamples {
  std::int64_t added = 0;
  std::int64_t there_already = 0;
};

Outcome<WrittenSamples> WriteBatches(BatchQueue& queue, SampleTables& tables) {
  const AtEnd stop([&queue] { queue.Stop(); });
  WrittenSamples written;
  while (const auto batch = queue.Pop()) {
    for (const Sample& sample : *batch) {
      const auto is_new = tables.Write(sample);
      if (!is_new.has_value()) return is_new.error();
      ++(is_new.value() ? written.added : written.there_already);
    }
  }
  return written;
}

// Reads the folder's samples into the queue; fills what reading tells.
Outcome<ReadSummary> ReadBatches(const ExportProgress& progress,
                                 BatchQueue& queue, ExportedRun& run) {
  const AtEnd close([&queue] { queue.Close(); });
  WholeGroups groups;
  Batch batch;
  std::int64_t samples = 0;
  auto read = ForEachSample(run.folder, [&](Sample&& sample) {
    groups.Add(std::move(sample),
               [&batch](Sample&& whole) { batch.push_back(std::move(whole)); });
    if (progress && ++samples % 1024 == 0) progress(run.folder, samples);
    if (batch.size() >= kBatchSamples) {
      queue.Push(std::exchange(batch, Batch{}));
    }
  });
  queue.Push(std::move(batch));
  run.of_torn_groups = groups.held();
  return read;
}

Outcome<ExportedRun> WriteRunFolder(Database& database, const fs::path& folder,
                                    const ExportProgress& progress) {
  const auto record = ReadRunRecord(folder);
  if (!record.has_value()) return record.error();
  const std::string name = fs::absolute(folder).lexically_normal().string();
  const auto key = WriteRun(database, record.value(), name);
  if (!key.has_value()) return key.error();
  auto tables = SampleTables::Open(
      database,
      {key.value(), record.value(), (folder / "samples.jsonl").string()});
  if (!tables.has_value()) return tables.error();
  ExportedRun run;
  run.folder = folder;
  BatchQueue queue;
  auto writing = std::async(
      std::launch::async, [&] { return WriteBatches(queue, tables.value()); });
  const auto read = ReadBatches(progress, queue, run);
  const auto written = writing.get();
  if (!written.has_value()) return written.error();
  if (!read.has_value()) return read.error();
  run.torn_last_line = read.value().torn_last_line;
  run.added = written.value().added;
  run.there_already = written.value().there_already;
  return run;
}

// The cache is what memory it takes, whatever the run's size.
Outcome<Done> SetUp(Database& database) {
  return database.Execute(
      "PRAGMA page_size = 8192; PRAGMA cache_size = -65536; "
      "PRAGMA trusted_schema = OFF");
}

Outcome<ExportedRun> ExportOneRun(Database& database, const fs::path& folder,
                                  const ExportProgress& progress) {
  auto transaction = Transaction::Begin(database, "IMMEDIATE");
  if (!transaction.has_value()) return transaction.error();
  const auto prepared = PrepareSchema(database);
  if (!prepared.has_value()) return prepared.error();
  auto run = WriteRunFolder(database, folder, progress);
  if (!run.has_value()) return run;
  const auto committed = transaction.value().Commit();
  if (!committed.has_value()) return committed.error();
  return run;
}

Outcome<std::vector<ExportedRun>> ExportAll(Database& database,
                                            const std::vector<fs::path>& runs,
                                            const ExportProgress& progress) {
  const auto set_up = SetUp(database);
  if (!set_up.has_value()) return set_up.error();
  std::vector<ExportedRun> done;
  for (const fs::path& folder : runs) {
    auto run = ExportOneRun(database, folder, progress);
    if (!run.has_value()) return run.error();
    done.push_back(std::move(run).value());
  }
  return done;
}

// Nothing of a run was ever kept in it.
bool IsEmptyFile(const fs::path& file) {
  std::error_code error;
  return fs::file_size(file, error) == 0 && !error;
}

Outcome<Done> CheckPlace(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error) || fs::is_regular_file(file, error)) {
    return Done{};
  }
  return Failure{ExitCode::kUsage,
                 file.string() + ": is no file; name one, or one to be made"};
}

// A database to work in, inside the folder, so that it lies on its disk: of one
// that is killed SQLite takes back what it left.
class WorkingFile {
 public:
  explicit WorkingFile(const fs::path& folder)
      : file_(folder / ".export.sqlite") {}
  WorkingFile(const WorkingFile&) = delete;
  WorkingFile& operator=(const WorkingFile&) = delete;
  ~WorkingFile() {
    database_.reset();
    std::error_code ignored;
    if (ours_) fs::remove(file_, ignored);
  }

  // Nobody else's from now on.
  Outcome<Transaction> Open() {
    auto opened = Database::Open(file_);
    if (!opened.has_value()) return opened.error();
    database_.emplace(std::move(opened).value());
    const auto set_up = SetUp(*database_);
    if (!set_up.has_value()) return set_up.error();
    auto transaction = Transaction::Begin(*database_, "EXCLUSIVE");
    ours_ = transaction.has_value();
    return transaction;
  }
  [[nodiscard]] Database& database() { return *database_; }

 private:
  fs::path file_;
  std::optional<Database> database_;
  bool ours_ = false;
};

Outcome<std::vector<ExportedRun>> ThroughWorkingFile(
    WorkingFile& work, const std::vector<fs::path>& runs,
    const fs::path& folder, const ExportProgress& progress) {
  // Never committed: the files are what stays.
  const auto transaction = work.Open();
  if (!transaction.has_value()) return transaction.error();
  Database& database = work.database();
  const auto prepared = PrepareSchema(database);
  if (!prepared.has_value()) return prepared.error();
  const auto loaded = LoadCsvFiles(folder, database);
  if (!loaded.has_value()) return loaded.error();
  std::vector<ExportedRun> done;
  for (const fs::path& run : runs) {
    auto exported = WriteRunFolder(database, run, progress);
    if (!exported.has_value()) return exported.error();
    done.push_back(std::move(exported).value());
  }
  const auto written = WriteCsvFiles(database, folder);
  if (!written.has_value()) return written.error();
  return done;
}

}  // namespace

Outcome<std::vector<ExportedRun>> ExportToSqlite(
    const std::vector<fs::path>& runs, const fs::path& file,
    const ExportProgress& progress) {
  const auto place = CheckPlace(file);
  if (!place.has_value()) return place.error();
  std::error_code error;
  const bool made = !fs::exists(file, error);
  auto database = Database::Open(file);
  if (!database.has_value()) return database.error();
  auto done = ExportAll(database.value(), runs, progress);
  if (!done.has_value() && made && IsEmptyFile(file)) fs::remove(file, error);
  return done;
}

Outcome<std::vector<ExportedRun>> ExportToCsv(const std::vector<fs::path>& runs,
                                              const fs::path& folder,
                                              const ExportProgress& progress) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Failure{ExitCode::kNothingRan,
                   fmt::format("{}: {}; name another folder with --csv",
                               folder.string(), error.message())};
  }
  WorkingFile work(folder);
  return ThroughWorkingFile(work, runs, folder, progress);
}

}  // namespace wiretoll
