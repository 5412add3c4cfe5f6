#include "harness/export/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cmath>
#include <system_error>

namespace wiretoll {
namespace {

// How long another program may hold the file.
constexpr int kPatienceMs = 5000;

std::string SystemWords(sqlite3* connection) {
  const int error = sqlite3_system_errno(connection);
  return error == 0 ? std::string(sqlite3_errmsg(connection))
                    : std::generic_category().message(error);
}

Failure CannotUse(sqlite3* connection, const std::string& file) {
  const int code = sqlite3_extended_errcode(connection);
  const bool full = (code & 0xFF) == SQLITE_FULL ||
                    ((code & 0xFF) == SQLITE_IOERR &&
                     sqlite3_system_errno(connection) == ENOSPC);
  if (full) {
    return {ExitCode::kNothingRan,
            file + ": no space left on the disk; free some and export again"};
  }
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {ExitCode::kUsage,
              fmt::format("{}: is no SQLite file, or a damaged one ({}); name "
                          "another, or none that exists",
                          file, sqlite3_errmsg(connection))};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ExitCode::kNothingRan,
              file +
                  ": another program is writing to it; wait for that, and "
                  "export again"};
    default:
      return {ExitCode::kNothingRan,
              fmt::format("{}: cannot be written: {}; mend that, or name "
                          "another file",
                          file, SystemWords(connection))};
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::Add(std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), next_++, number);
}

void Statement::Add(double number) {
  sqlite3_bind_double(statement_.get(), next_++, number);
}

void Statement::Add(std::string_view text) {
  if (text.empty()) return AddNull();
  AddKey(text);
}

void Statement::AddKey(std::string_view text) {
  // SQLite takes a null pointer for NULL, whatever the length.
  const char* const data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), next_++, data, text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::AddCopy(std::string_view text) {
  // NOLINTNEXTLINE(google-readability-casting,performance-no-int-to-ptr)
  const auto copied = SQLITE_TRANSIENT;  // SQLite's own macro is a C cast.
  const char* const data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), next_++, data, text.size(), copied,
                      SQLITE_UTF8);
}

void Statement::AddNull() { sqlite3_bind_null(statement_.get(), next_++); }

Failure Statement::Failed() const {
  return CannotUse(sqlite3_db_handle(statement_.get()), file_);
}

Outcome<bool> Statement::Run() {
  sqlite3* const connection = sqlite3_db_handle(statement_.get());
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) {
    Failure failure = Failed();
    Reset();
    return failure;
  }
  const bool changed = sqlite3_changes(connection) > 0;
  Reset();
  return changed;
}

Outcome<bool> Statement::Next() {
  const int answer = sqlite3_step(statement_.get());
  if (answer == SQLITE_ROW) return true;
  if (answer != SQLITE_DONE) return Failed();
  Reset();
  return false;
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  next_ = 1;
}

Statement::Kind Statement::KindOf(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return Kind::kInteger;
    case SQLITE_FLOAT:
      return Kind::kReal;
    case SQLITE_NULL:
      return Kind::kNull;
    default:
      return Kind::kText;
  }
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes)};
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close(connection);
}

Outcome<Database> Database::Open(const std::filesystem::path& file) {
  Database database(file.string());
  sqlite3* connection = nullptr;
  // One thread at a time needs no mutex of SQLite's.
  const int opened = sqlite3_open_v2(
      database.file_.c_str(), &connection,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  database.connection_.reset(connection);  // There is one even then.
  if (opened != SQLITE_OK) {
    if (connection != nullptr) return CannotUse(connection, database.file_);
    return Failure{ExitCode::kNothingRan, database.file_ + ": no memory"};
  }
  sqlite3_busy_timeout(connection, kPatienceMs);
  return database;
}

Outcome<Done> Database::Execute(const std::string& statements) {
  if (sqlite3_exec(connection_.get(), statements.c_str(), nullptr, nullptr,
                   nullptr) != SQLITE_OK) {
    return CannotUse(connection_.get(), file_);
  }
  return Done{};
}

Outcome<Statement> Database::Prepare(const std::string& statement) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(connection_.get(), statement.c_str(), -1,
                         SQLITE_PREPARE_PERSISTENT, &prepared,
                         nullptr) != SQLITE_OK) {
    return CannotUse(connection_.get(), file_);
  }
  return Statement(prepared, file_);
}

Outcome<std::int64_t> Database::Number(const std::string& query) {
  auto statement = Prepare(query);
  if (!statement.has_value()) return statement.error();
  const auto row = statement.value().Next();
  if (!row.has_value()) return row.error();
  return row.value() ? statement.value().Integer(0) : 0;
}

Outcome<Transaction> Transaction::Begin(Database& database, const char* how) {
  const auto begun = database.Execute(std::string("BEGIN ") + how);
  if (!begun.has_value()) return begun.error();
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite has taken it back by itself where a disk was full: nothing to do.
  if (database_ != nullptr) (void)database_->Execute("ROLLBACK");
}

Outcome<Done> Transaction::Commit() {
  auto committed = database_->Execute("COMMIT");
  if (committed.has_value()) database_ = nullptr;
  return committed;
}

}  // namespace wiretoll
