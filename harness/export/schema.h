// The tables of an export (docs/export.md).
#ifndef WIRETOLL_HARNESS_EXPORT_SCHEMA_H_
#define WIRETOLL_HARNESS_EXPORT_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/export/sqlite.h"

namespace wiretoll {

// In PRAGMA user_version. To be raised with any change of a table.
inline constexpr std::int64_t kExportSchemaVersion = 1;
// In PRAGMA application_id: "wtol".
inline constexpr std::int64_t kExportApplication = 0x77746F6C;

// kAny: a number or a text, as it was.
enum class ColumnType { kInteger, kReal, kText, kAny };

struct SqlColumn {
  std::string name;
  ColumnType type = ColumnType::kText;
};

struct SqlTable {
  std::string name;
  std::vector<SqlColumn> columns;
  std::size_t key = 1;  // So many of the first columns are the primary key.
};

// All of them. A trial's own row stands in the last one, "trials": where that
// is, all the others are.
const std::vector<SqlTable>& ExportTables();

// "INSERT OR IGNORE INTO name VALUES(?,...)": what is there stays.
std::string InsertStatement(const SqlTable& table);

// Makes the tables, and the views for people, in an empty file; does nothing in
// one that has them. kUsage: it is of another schema, or no export. Inside a
// transaction.
Outcome<Done> PrepareSchema(Database& database);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_SCHEMA_H_
