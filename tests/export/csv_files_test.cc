#include "harness/export/csv_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "harness/export/schema.h"
#include "tests/analysis/synthetic_run.h"
#include "tests/export/tables.h"
#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CsvFilesTest : public ::testing::Test {
 protected:
  fs::path MakeRun(const std::string& name, const SyntheticRun& run = {}) {
    WriteSyntheticRun(folder_.path() / name, run);
    return folder_.path() / name;
  }
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(tables_)) {
      files[entry.path().filename().string()] = ReadFile(entry.path());
    }
    return files;
  }
  Failure MustFail(const fs::path& run) {
    const auto done = ExportToCsv({run}, tables_, nullptr);
    EXPECT_FALSE(done.has_value());
    return done.error();
  }

  TemporaryFolder folder_;
  fs::path tables_ = folder_.path() / "tables";
};

TEST_F(CsvFilesTest, AFileATableAndNothingElse) {
  MustExportCsv({MakeRun("run")}, tables_);
  const auto files = Files();
  EXPECT_EQ(files.size(), ExportTables().size());
  for (const SqlTable& table : ExportTables()) {
    ASSERT_TRUE(files.contains(table.name + ".csv")) << table.name;
    const std::string& text = files.at(table.name + ".csv");
    std::string head;
    for (const SqlColumn& column : table.columns) {
      head += (head.empty() ? "" : ",") + column.name;
    }
    EXPECT_EQ(text.substr(0, text.find("\r\n")), head);
  }
}

TEST_F(CsvFilesTest, ExportedTwiceIsTheSameByteByByte) {
  const fs::path run = MakeRun("run");
  MustExportCsv({run}, tables_);
  const auto before = Files();
  EXPECT_EQ(MustExportCsv({run}, tables_).at(0).added, 0);
  EXPECT_EQ(Files(), before);
}

TEST_F(CsvFilesTest, PiecesMakeTheSameFilesAsAllAtOnce) {
  SyntheticRun other;
  other.seed = 2;
  const fs::path first = MakeRun("first");
  const fs::path second = MakeRun("second", other);
  MustExportCsv({first, second}, tables_);
  const auto at_once = Files();
  fs::remove_all(tables_);
  MustExportCsv({second}, tables_);
  MustExportCsv({first}, tables_);
  EXPECT_EQ(Files(), at_once);
}

// What a spreadsheet, a parser or a reader of ours may take for something else.
TEST_F(CsvFilesTest, HostileTextsGoThereAndBack) {
  Sample sample = FullSample();
  sample.outcome = TrialOutcome::kFailed;
  sample.reason = "=HYPERLINK(\"x\"),\r\n\"two\" lines, 'quoted'";
  sample.link = "'=already guarded";
  sample.factors = {{"reply", "1"}, {"write", std::int64_t{1}}, {"gap", "-5"}};
  sample.sender->options["mss"] = {"@SUM(A1)", std::int64_t{-5}, "'"};
  WriteRunOf(folder_.path() / "run", FullRecord(), {sample});
  MustExportCsv({folder_.path() / "run"}, tables_);
  const auto before = Files();
  EXPECT_THAT(before.at("trials.csv"),
              HasSubstr("\"'=HYPERLINK(\"\"x\"\"),\r\n\"\"two\"\" lines"));
  EXPECT_THAT(before.at("trials.csv"), HasSubstr(",''=already guarded,"));
  // Another run makes all that is there be read and written again.
  SyntheticRun other;
  const fs::path second = MakeRun("second", other);
  MustExportCsv({second}, tables_);
  // Into one database: what the files say is what the folder says.
  const fs::path direct = folder_.path() / "direct.db";
  MustExport({folder_.path() / "run", second}, direct);
  const fs::path loaded = folder_.path() / "loaded.db";
  auto database = Database::Open(loaded);
  ASSERT_TRUE(database.has_value());
  auto transaction = Transaction::Begin(database.value(), "IMMEDIATE");
  ASSERT_TRUE(transaction.has_value());
  ASSERT_TRUE(PrepareSchema(database.value()).has_value());
  const auto read = LoadCsvFiles(tables_, database.value());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_TRUE(transaction.value().Commit().has_value());
  EXPECT_EQ(AllRows(loaded), AllRows(direct));
}

TEST_F(CsvFilesTest, TextsAreQuotedAndGuardedOnlyWhereTheyMustBe) {
  EXPECT_EQ(CsvText("plain"), "plain");
  EXPECT_EQ(CsvText("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvText("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvText("=1+1"), "'=1+1");
  EXPECT_EQ(CsvText("'=1+1"), "''=1+1");
  EXPECT_EQ(CsvText("'quoted'"), "'quoted'");
  EXPECT_EQ(CsvText("@f,g"), "\"'@f,g\"");
}

TEST_F(CsvFilesTest, FilesOfOthersAreRefusedWithFileAndLine) {
  fs::create_directory(tables_);
  WriteFile(tables_ / "hosts.csv", "name,owner\r\nalpha,me\r\n");
  const Failure failure = MustFail(MakeRun("run"));
  EXPECT_EQ(failure.code, ExitCode::kUsage);
  EXPECT_THAT(failure.message, HasSubstr("hosts.csv:1: "));
  EXPECT_EQ(Files().size(), 1U);
}

TEST_F(CsvFilesTest, ADamagedFileIsRefusedWithFileAndLine) {
  const fs::path run = MakeRun("run");
  MustExportCsv({run}, tables_);
  const fs::path sizes = tables_ / "call_sizes.csv";
  const std::string whole = ReadFile(sizes);
  WriteFile(sizes, whole + "1,2,sender,many,3,4\r\n");
  EXPECT_THAT(MustFail(run).message, HasSubstr("least_bytes is no number"));
  WriteFile(sizes, whole + "1,2\r\n");
  EXPECT_THAT(MustFail(run).message, HasSubstr("has 2 fields"));
  WriteFile(sizes, whole.substr(0, whole.size() - 3));
  EXPECT_THAT(MustFail(run).message, HasSubstr("breaks off"));
}

// Renamed one after another, trials last: a kill may leave some of them.
TEST_F(CsvFilesTest, FilesThatAKillLeftHalfReplacedAreMadeWhole) {
  SyntheticRun run;
  run.blocks = 2;
  MustExportCsv({MakeRun("begun", run)}, tables_);
  const std::string trials = ReadFile(tables_ / "trials.csv");
  run.blocks = 3;
  const fs::path resumed = MakeRun("resumed", run);
  MustExportCsv({resumed}, tables_);
  const auto whole = Files();
  WriteFile(tables_ / "trials.csv", trials);
  WriteFile(tables_ / "trials.csv.new", "half of");
  MustExportCsv({resumed}, tables_);
  EXPECT_EQ(Files(), whole);
}

TEST_F(CsvFilesTest, AWorkingFileThatAKillLeftIsNoHindrance) {
  fs::create_directory(tables_);
  {
    auto left = Database::Open(tables_ / ".export.sqlite");
    ASSERT_TRUE(left.has_value());
    ASSERT_TRUE(left.value().Execute("BEGIN; ROLLBACK").has_value());
  }
  WriteFile(tables_ / ".export.sqlite", "");
  MustExportCsv({MakeRun("run")}, tables_);
  EXPECT_EQ(Files().size(), ExportTables().size());
}

TEST_F(CsvFilesTest, AFolderThatCannotBeMadeIsSaid) {
  WriteFile(tables_, "a file");
  tables_ /= "below";
  const auto done = ExportToCsv({MakeRun("run")}, tables_, nullptr);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(done.error().message, HasSubstr("--csv"));
}

}  // namespace
}  // namespace wiretoll
