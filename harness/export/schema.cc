#include "harness/export/schema.h"

#include <fmt/format.h>

#include <array>

#include "harness/export/run_tables.h"
#include "harness/export/sample_tables.h"

namespace wiretoll {
namespace {

const char* SqlType(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return " INTEGER";
    case ColumnType::kReal:
      return " REAL";
    case ColumnType::kText:
      return " TEXT";
    case ColumnType::kAny:
      break;
  }
  return "";  // SQLite then keeps what it is given.
}

// What a sample's names and a run's are joined by. Trials are unique by name
// too, which is how analysis counts one that stands twice.
std::string Constraints(const SqlTable& table) {
  std::string key;
  for (std::size_t i = 0; i < table.key; ++i) {
    key += (i == 0 ? "" : ", ") + table.columns[i].name;
  }
  const bool trials = table.name == "trials";
  return fmt::format("PRIMARY KEY ({}){}", key,
                     trials ? ", UNIQUE (run, trial)" : "");
}

std::string CreateTable(const SqlTable& table) {
  std::string columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const SqlColumn& column = table.columns[i];
    columns += fmt::format("{}{}{}, ", column.name, SqlType(column.type),
                           i < table.key ? " NOT NULL" : "");
  }
  // Rows lie in their key's order, in which they come: no index beside them.
  return fmt::format("CREATE TABLE {} ({}{}) WITHOUT ROWID", table.name,
                     columns, Constraints(table));
}

struct View {
  const char* name;
  const char* statement;
};

// The sets spelled out: a row for each end and option, or unobserved field.
constexpr std::array<View, 2> kViews{{
    {"options",
     "CREATE VIEW options AS SELECT run, number, role, option, requested, "
     "effective, reason FROM ends JOIN option_sets USING (run, option_set)"},
    {"unobserved",
     "CREATE VIEW unobserved AS SELECT run, number, role, field, reason FROM "
     "ends JOIN unobserved_sets USING (run, unobserved_set) UNION ALL SELECT "
     "run, number, 'trial', field, unobserved_sets.reason FROM trials JOIN "
     "unobserved_sets USING (run, unobserved_set)"},
}};

Failure Refused(const Database& database, const std::string& what) {
  return {ExitCode::kUsage, fmt::format("{}: {}; name another file, or none "
                                        "that exists",
                                        database.file(), what)};
}

Outcome<Done> MakeSchema(Database& database) {
  std::string statements;
  for (const SqlTable& table : ExportTables()) {
    statements += CreateTable(table) + ";\n";
  }
  for (const View& view : kViews)
    statements += view.statement + std::string(";\n");
  statements +=
      fmt::format("PRAGMA application_id = {};\nPRAGMA user_version = {};\n",
                  kExportApplication, kExportSchemaVersion);
  return database.Execute(statements);
}

// Nobody changed what is ours. Other tables and indexes beside it are their
// owner's.
Outcome<Done> CheckMade(Database& database, const std::string& name,
                        const std::string& made_by) {
  auto found =
      database.Prepare("SELECT sql FROM sqlite_master WHERE name = ?1");
  if (!found.has_value()) return found.error();
  Statement& statement = found.value();
  statement.Add(std::string_view(name));
  const auto row = statement.Next();
  if (!row.has_value()) return row.error();
  if (row.value() && statement.Text(0) == made_by) return Done{};
  return Refused(database, fmt::format("its \"{}\" is {}", name,
                                       row.value() ? "not as wiretoll makes it"
                                                   : "missing"));
}

Outcome<Done> CheckSchema(Database& database) {
  for (const SqlTable& table : ExportTables()) {
    auto checked = CheckMade(database, table.name, CreateTable(table));
    if (!checked.has_value()) return checked.error();
  }
  for (const View& view : kViews) {
    auto checked = CheckMade(database, view.name, view.statement);
    if (!checked.has_value()) return checked.error();
  }
  return Done{};
}

}  // namespace

const std::vector<SqlTable>& ExportTables() {
  static const std::vector<SqlTable> tables = [] {
    std::vector<SqlTable> all = RunTableHeads();
    for (SqlTable& table : SampleTableHeads()) all.push_back(std::move(table));
    return all;
  }();
  return tables;
}

std::string InsertStatement(const SqlTable& table) {
  std::string places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    places += i == 0 ? "?" : ",?";
  }
  return fmt::format("INSERT OR IGNORE INTO {} VALUES({})", table.name, places);
}

Outcome<Done> PrepareSchema(Database& database) {
  const auto application = database.Number("PRAGMA application_id");
  if (!application.has_value()) return application.error();
  const auto version = database.Number("PRAGMA user_version");
  if (!version.has_value()) return version.error();
  const auto things = database.Number("SELECT count(*) FROM sqlite_master");
  if (!things.has_value()) return things.error();
  if (application.value() == 0 && version.value() == 0 && things.value() == 0) {
    return MakeSchema(database);
  }
  if (application.value() != kExportApplication) {
    return Refused(database, "is a database, but no export of wiretoll's");
  }
  if (version.value() != kExportSchemaVersion) {
    return Refused(database,
                   fmt::format("is of schema {}, and this wiretoll writes {}",
                               version.value(), kExportSchemaVersion));
  }
  return CheckSchema(database);
}

}  // namespace wiretoll
