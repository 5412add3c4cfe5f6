#include "tests/export/tables.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>

#include "harness/export/schema.h"

namespace wiretoll {
namespace {

struct CloseIt {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};

int TakeRow(void* rows, int columns, char** values, char** /*names*/) {
  auto& row = static_cast<QueryRows*>(rows)->emplace_back();
  for (int i = 0; i < columns; ++i) {
    row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
  }
  return 0;
}

std::vector<ExportedRun> Must(Outcome<std::vector<ExportedRun>> done) {
  if (done.has_value()) return std::move(done).value();
  ADD_FAILURE() << done.error().message;
  return {};
}

}  // namespace

// By SQLite itself, not by our own cover of it.
QueryRows Query(const std::filesystem::path& file, const std::string& query) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, CloseIt> connection(opened);
  QueryRows rows;
  if (code != SQLITE_OK || sqlite3_exec(opened, query.c_str(), TakeRow, &rows,
                                        nullptr) != SQLITE_OK) {
    ADD_FAILURE() << query << ": " << sqlite3_errmsg(opened);
  }
  return rows;
}

std::string Value(const std::filesystem::path& file, const std::string& query) {
  const QueryRows rows = Query(file, query);
  return rows.empty() ? "nothing" : rows.front().front();
}

std::string AllRows(const std::filesystem::path& file) {
  std::string all;
  for (const SqlTable& table : ExportTables()) {
    std::string columns;
    for (const SqlColumn& column : table.columns) {
      if (column.name == "folder") continue;
      columns += (columns.empty() ? "quote(" : ", quote(") + column.name + ")";
    }
    all += table.name + "\n";
    for (const auto& row : Query(file, "SELECT " + columns + " FROM " +
                                           table.name + " ORDER BY 1, 2, 3")) {
      for (const std::string& value : row) all += value + "|";
      all += "\n";
    }
  }
  return all;
}

std::vector<ExportedRun> MustExport(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& file) {
  return Must(ExportToSqlite(runs, file, nullptr));
}

std::vector<ExportedRun> MustExportCsv(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& folder) {
  return Must(ExportToCsv(runs, folder, nullptr));
}

void WriteRunOf(const std::filesystem::path& folder, const RunRecord& record,
                const std::vector<Sample>& samples) {
  const auto created = CreateRunFolder(folder, record);
  ASSERT_TRUE(created.has_value()) << created.error().message;
  auto writer = SampleWriter::Open(folder);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  for (const Sample& sample : samples) {
    ASSERT_TRUE(writer.value().Append(sample).has_value());
  }
}

}  // namespace wiretoll
