#include "harness/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "harness/export/sqlite.h"
#include "harness/samples/fields.h"
#include "tests/analysis/synthetic_run.h"
#include "tests/export/tables.h"
#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// 3 writes x 2 of Nagle x 2 pairs: cells of the synthetic study.
constexpr std::int64_t kCells = 12;

class ExportTest : public ::testing::Test {
 protected:
  // A run of so many blocks, in a folder of that name.
  fs::path MakeRun(const std::string& name, SyntheticRun run = {}) {
    const fs::path run_folder = folder_.path() / name;
    WriteSyntheticRun(run_folder, run);
    return run_folder;
  }
  Failure MustFail(const std::vector<fs::path>& runs) {
    const auto done = ExportToSqlite(runs, file_, nullptr);
    EXPECT_FALSE(done.has_value());
    return done.error();
  }
  // By a connection of our own, as some other program.
  void Do(const std::string& statements) const {
    auto database = Database::Open(file_);
    ASSERT_TRUE(database.has_value());
    const auto done = database.value().Execute(statements);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "trials.db";
};

TEST_F(ExportTest, ExportedTwiceAddsNothing) {
  const fs::path run = MakeRun("run");
  EXPECT_EQ(MustExport({run}, file_).at(0).added, 5 * kCells);
  const std::string before = AllRows(file_);
  const auto again = MustExport({run, run}, file_);
  for (const ExportedRun& one : again) {
    EXPECT_EQ(one.added, 0);
    EXPECT_EQ(one.there_already, 5 * kCells);
  }
  EXPECT_EQ(AllRows(file_), before);
}

TEST_F(ExportTest, AResumedRunBringsOnlyWhatIsNew) {
  SyntheticRun run;
  run.blocks = 3;
  EXPECT_EQ(MustExport({MakeRun("begun", run)}, file_).at(0).added, 3 * kCells);
  // The same run, gone on with: the same start, seed and studies.
  run.blocks = 5;
  const fs::path whole = MakeRun("resumed", run);
  const auto added = MustExport({whole}, file_).at(0);
  EXPECT_EQ(added.added, 2 * kCells);
  EXPECT_EQ(added.there_already, 3 * kCells);
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM ends"),
            std::to_string(2 * 5 * kCells));
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM counters"),
            std::to_string(2 * 5 * kCells));
}

TEST_F(ExportTest, KeysAreTheSameInWhateverOrderRunsCome) {
  SyntheticRun other;
  other.seed = 2;
  const fs::path first = MakeRun("first");
  const fs::path second = MakeRun("second", other);
  MustExport({first, second}, file_);
  const fs::path reversed = folder_.path() / "reversed.db";
  MustExport({second}, reversed);
  fs::rename(first, folder_.path() / "moved");
  MustExport({folder_.path() / "moved"}, reversed);
  EXPECT_EQ(AllRows(file_), AllRows(reversed));
}

TEST_F(ExportTest, NullStaysNullWithItsReason) {
  SyntheticRun run;
  run.blocks = 1;
  run.adjust = [](Sample& sample) {
    sample.receiver->cpu_ns.reset();
    sample.receiver->why_null["cpu_ns"] = "no such clock, here";
    sample.sender->counters.rtt_ns.reset();
    sample.sender->counters.reason = "a kernel of 1999";
    sample.wire->ack_segments.reset();
    sample.wire->reason = "nobody looked";
  };
  MustExport({MakeRun("run", run)}, file_);
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM ends WHERE cpu_ns IS NULL"),
            std::to_string(kCells));
  const auto why = [&](const std::string& role, const std::string& field) {
    return Query(
        file_, "SELECT DISTINCT reason FROM unobserved WHERE role = '" + role +
                   "' AND field = '" + field + "'");
  };
  EXPECT_EQ(why("receiver", "cpu_ns"), (QueryRows{{"no such clock, here"}}));
  EXPECT_EQ(why("sender", "counters.rtt_ns"),
            (QueryRows{{"a kernel of 1999"}}));
  EXPECT_EQ(why("trial", "wire.ack_segments"), (QueryRows{{"nobody looked"}}));
  EXPECT_TRUE(why("sender", "cpu_ns").empty());
}

TEST_F(ExportTest, ATrialThatFailedKeepsItsHostsAndItsReason) {
  SyntheticRun run;
  run.blocks = 1;
  run.adjust = [](Sample& sample) {
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "linux-2: no answer";
    sample.sender.reset();
    sample.receiver.reset();
    sample.wire.reset();
  };
  MustExport({MakeRun("run", run)}, file_);
  EXPECT_EQ(
      Query(file_,
            "SELECT DISTINCT sender, receiver, outcome, reason, "
            "goodput_bits_per_s FROM trials ORDER BY sender"),
      (QueryRows{
          {"linux-1", "linux-2", "failed", "linux-2: no answer", "NULL"},
          {"linux-2", "linux-1", "failed", "linux-2: no answer", "NULL"}}));
  EXPECT_EQ(Query(file_,
                  "SELECT DISTINCT field, reason FROM unobserved "
                  "WHERE role = 'trial' ORDER BY field"),
            (QueryRows{{"goodput_bits_per_s", "linux-2: no answer"},
                       {"receiver", "linux-2: no answer"},
                       {"sender", "linux-2: no answer"},
                       {"wire", "linux-2: no answer"}}));
}

// Each number of a full sample is another one: columns that change places show.
template <class Struct, class Fields>
void ExpectColumns(const fs::path& file, const std::string& from,
                   const std::string& prefix, const Struct& expected,
                   const Fields& fields) {
  for (const auto& field : fields) {
    const std::string name = prefix + std::string(field.name);
    const std::optional<std::int64_t> value = expected.*field.member;
    EXPECT_EQ(Value(file, "SELECT " + name + " FROM " + from),
              value.has_value() ? std::to_string(*value) : "NULL")
        << from << ' ' << name;
  }
}

TEST_F(ExportTest, EveryFieldOfASampleReachesItsColumn) {
  const Sample sample = FullUdpSample();
  WriteRunOf(folder_.path() / "run", FullRecord(), {sample});
  // One of a group of six: alone it would be a torn one.
  Sample alone = sample;
  alone.flow->flows = 1;
  fs::remove_all(folder_.path() / "run");
  WriteRunOf(folder_.path() / "run", FullRecord(), {alone});
  MustExport({folder_.path() / "run"}, file_);
  for (const bool receiver : {false, true}) {
    const EndReport& end = receiver ? *alone.receiver : *alone.sender;
    const std::string of =
        std::string(" WHERE role = '") + (receiver ? "receiver'" : "sender'");
    ExpectColumns(file_, "ends" + of, "", end, kEndTotals);
    ExpectColumns(file_, "ends" + of, "", end, kEndCounts);
    ExpectColumns(file_, "ends" + of, "series_", *end.series, kSeriesTotals);
    ExpectColumns(file_, "ends" + of, "series_", *end.series, kSeriesCounts);
    ExpectColumns(file_, "counters" + of, "", end.counters, kCounterFields);
    ExpectColumns(file_, "datagram_ends" + of, "", *end.datagrams,
                  kDatagramCounts);
    ExpectColumns(file_, "datagram_ends" + of, "not_sent_",
                  *end.datagrams->not_sent, kNotSentFields);
    ExpectColumns(file_, "datagram_ends" + of, "delay_", *end.datagrams->delay,
                  kDelayFields);
  }
  ExpectColumns(file_, "trials", "wire_", *alone.wire, kWireFields);
  ExpectColumns(file_, "trials", "latency_", *alone.sender->latency,
                kLatencyFields);
  ExpectColumns(file_, "datagrams", "", *alone.datagrams, kDatagramTotals);
  ExpectColumns(file_, "datagrams", "", *alone.datagrams, kDatagramFates);
}

TEST_F(ExportTest, OptionsFactorsAndFactsKeepTheirTypes) {
  WriteRunOf(folder_.path() / "run", FullRecord(), {FullSample()});
  MustExport({folder_.path() / "run"}, file_);
  EXPECT_EQ(Query(file_,
                  "SELECT option, quote(requested), quote(effective), "
                  "reason FROM options WHERE role = 'sender' "
                  "ORDER BY option"),
            (QueryRows{{"congestion", "NULL", "'cubic'", "NULL"},
                       {"nagle", "'on'", "'off'", "the system would not"},
                       {"rcvbuf", "2", "2304", "clamped"}}));
  EXPECT_EQ(Query(file_,
                  "SELECT factor, quote(value) FROM factors "
                  "ORDER BY factor"),
            (QueryRows{{"gap", "'20us'"},
                       {"nagle", "'on'"},
                       {"rcvbuf", "'unset'"},
                       {"write", "1"}}));
  EXPECT_EQ(Query(file_,
                  "SELECT fact, quote(value), reason FROM host_facts "
                  "WHERE host = 'linux-1' ORDER BY fact"),
            (QueryRows{{"hypervisor", "NULL", "no DMI to be read"},
                       {"kernel", "'6.18.44'", "NULL"},
                       {"load", "2.0", "NULL"},
                       {"mtu_bytes", "1500", "NULL"},
                       {"sack", "'on'", "NULL"}}));
  // 2^64 - 1: beyond an integer of SQL.
  EXPECT_EQ(Value(file_, "SELECT seed FROM runs"), "18446744073709551615");
}

TEST_F(ExportTest, ATornLastLineIsToleratedAndSaid) {
  const fs::path run = MakeRun("run");
  std::ofstream(run / "samples.jsonl", std::ios::app) << R"({"v":1,"tri)";
  const auto done = MustExport({run}, file_);
  EXPECT_TRUE(done.at(0).torn_last_line);
  EXPECT_EQ(done.at(0).added, 5 * kCells);
}

TEST_F(ExportTest, ATornGroupWaitsUntilItIsDoneAgain) {
  const auto flow = [](int index, const std::string& started) {
    Sample sample = FullUdpSample();
    sample.trial = "s/c/a:b/0/stream-" + std::to_string(index + 1);
    sample.order = index;
    sample.started = started;
    sample.flow = TrialFlow{"s/c/a:b/0", "pair", 2, index, 1.0};
    return sample;
  };
  WriteRunOf(folder_.path() / "killed", FullRecord(), {flow(0, "killed")});
  const auto torn = MustExport({folder_.path() / "killed"}, file_).at(0);
  EXPECT_EQ(torn.added, 0);
  EXPECT_EQ(torn.of_torn_groups, 1);
  WriteRunOf(folder_.path() / "whole", FullRecord(),
             {flow(0, "again"), flow(1, "again")});
  const auto whole = MustExport({folder_.path() / "whole"}, file_).at(0);
  EXPECT_EQ(whole.added, 2);
  EXPECT_EQ(whole.of_torn_groups, 0);
  EXPECT_EQ(Query(file_, "SELECT DISTINCT started FROM trials"),
            (QueryRows{{"again"}}));
}

TEST_F(ExportTest, ATrialThatStandsTwiceCountsOnce) {
  Sample first = FullSample();
  Sample second = first;
  second.started = "later";
  Sample elsewhere = first;
  elsewhere.order = first.order + 1;
  WriteRunOf(folder_.path() / "run", FullRecord(), {first, second, elsewhere});
  const auto done = MustExport({folder_.path() / "run"}, file_).at(0);
  EXPECT_EQ(done.added, 1);
  EXPECT_EQ(done.there_already, 2);
  EXPECT_EQ(Value(file_, "SELECT started FROM trials"), first.started);
}

TEST_F(ExportTest, TwoTrialsOfOnePlaceAreRefusedAndNothingStays) {
  Sample first = FullSample();
  Sample second = first;
  second.trial += "-another";
  WriteRunOf(folder_.path() / "run", FullRecord(), {first, second});
  const Failure failure = MustFail({folder_.path() / "run"});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("samples.jsonl: order 17"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(ExportTest, ABrokenRunLeavesThoseBeforeIt) {
  const fs::path good = MakeRun("good");
  SyntheticRun other;
  other.seed = 2;
  const fs::path bad = MakeRun("bad", other);
  std::ofstream(bad / "samples.jsonl", std::ios::app) << "no sample\n";
  const Failure failure = MustFail({good, bad});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("bad/samples.jsonl:61: "));
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(Value(file_, "SELECT count(*) FROM trials"),
            std::to_string(5 * kCells));
}

TEST_F(ExportTest, AFolderThatIsNoRunIsRefused) {
  fs::create_directory(folder_.path() / "empty");
  const Failure failure = MustFail({folder_.path() / "empty"});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("run.json"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(ExportTest, AForeignDatabaseIsRefusedAndLeftAsItIs) {
  Do("CREATE TABLE holidays (day TEXT); INSERT INTO holidays VALUES ('May 1')");
  const std::string before = ReadFile(file_);
  const Failure failure = MustFail({MakeRun("run")});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("no export of wiretoll's"));
  EXPECT_EQ(ReadFile(file_), before);
}

TEST_F(ExportTest, ADatabaseOfAnotherVersionIsRefused) {
  const fs::path run = MakeRun("run");
  MustExport({run}, file_);
  Do("PRAGMA user_version = 99");
  const Failure failure = MustFail({run});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("schema 99"));
}

TEST_F(ExportTest, ATableThatSomebodyChangedIsRefused) {
  const fs::path run = MakeRun("run");
  MustExport({run}, file_);
  Do("ALTER TABLE trials ADD COLUMN note TEXT");
  EXPECT_THAT(MustFail({run}).message, HasSubstr("\"trials\" is not as"));
}

TEST_F(ExportTest, TablesOfOthersBesideOursStay) {
  const fs::path run = MakeRun("run");
  MustExport({run}, file_);
  Do("CREATE TABLE notes (note TEXT); INSERT INTO notes VALUES ('mine');"
     "CREATE INDEX by_start ON trials (started)");
  MustExport({run}, file_);
  EXPECT_EQ(Value(file_, "SELECT note FROM notes"), "mine");
}

TEST_F(ExportTest, AFileThatIsNoDatabaseIsRefused) {
  WriteFile(file_, std::string(4096, 'x'));
  const Failure failure = MustFail({MakeRun("run")});
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("is no SQLite file"));
  EXPECT_EQ(ReadFile(file_), std::string(4096, 'x'));
}

TEST_F(ExportTest, AFolderInPlaceOfTheFileIsRefused) {
  fs::create_directory(file_);
  EXPECT_EQ(MustFail({MakeRun("run")}).code, ExitCode::kUsage);
}

TEST_F(ExportTest, AFileThatCannotBeMadeIsSaid) {
  file_ = folder_.path() / "no-such-folder" / "trials.db";
  const Failure failure = MustFail({MakeRun("run")});
  EXPECT_EQ(failure.code, ExitCode::kNothingRan);
  EXPECT_THAT(failure.message, HasSubstr("no-such-folder/trials.db: "));
}

// A disk of our own, to be filled; unmounted when it goes out of scope.
class SmallDisk {
 public:
  SmallDisk(const fs::path& where, const std::string& size)
      : where_(where.string()) {
    fs::create_directories(where);
    const std::string mount =
        "mount -t tmpfs -o size=" + size + " none '" + where_ + "' 2>/dev/null";
    mounted_ = std::system(mount.c_str()) == 0;
  }
  ~SmallDisk() {
    if (!mounted_) return;
    const std::string unmount = "umount '" + where_ + "'";
    if (std::system(unmount.c_str()) != 0) ADD_FAILURE() << unmount;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string where_;
  bool mounted_ = false;
};

constexpr const char* kNeedsRoot =
    "needs root, to mount a tmpfs and fill it: sudo ./dev test";

TEST_F(ExportTest, AFullDiskLeavesWhatWasThereAndNoHalfRun) {
  const SmallDisk disk(folder_.path() / "disk", "1m");
  if (!disk.mounted()) GTEST_SKIP() << kNeedsRoot;
  file_ = folder_.path() / "disk" / "trials.db";
  SyntheticRun small;
  small.blocks = 1;
  MustExport({MakeRun("small", small)}, file_);
  const std::string before = AllRows(file_);
  // Some KB a sample: 2400 of them do not fit into a megabyte.
  SyntheticRun large;
  large.seed = 2;
  large.blocks = 200;
  const Failure failure = MustFail({MakeRun("large", large)});
  EXPECT_EQ(failure.code, ExitCode::kNothingRan);
  EXPECT_THAT(failure.message, HasSubstr("no space left on the disk"));
  EXPECT_EQ(AllRows(file_), before);
}

TEST_F(ExportTest, AFullDiskLeavesTheCsvFilesAsTheyWere) {
  const SmallDisk disk(folder_.path() / "disk", "2m");
  if (!disk.mounted()) GTEST_SKIP() << kNeedsRoot;
  const fs::path tables = folder_.path() / "disk" / "tables";
  SyntheticRun small;
  small.blocks = 1;
  MustExportCsv({MakeRun("small", small)}, tables);
  const std::string before = ReadFile(tables / "trials.csv");
  SyntheticRun large;
  large.seed = 2;
  large.blocks = 400;
  const auto done = ExportToCsv({MakeRun("large", large)}, tables, nullptr);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ExitCode::kNothingRan);
  EXPECT_EQ(ReadFile(tables / "trials.csv"), before);
  for (const auto& entry : fs::directory_iterator(tables)) {
    EXPECT_EQ(entry.path().extension(), ".csv") << entry.path();
  }
}

}  // namespace
}  // namespace wiretoll
