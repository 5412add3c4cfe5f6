// SQLite's handles, owned; what it answers as our failures.
#ifndef WIRETOLL_HARNESS_EXPORT_SQLITE_H_
#define WIRETOLL_HARNESS_EXPORT_SQLITE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace wiretoll {

// A prepared statement; not to outlive its Database. Values are bound from the
// first parameter on, then comes Run(), which makes it ready for the next ones.
class Statement {
 public:
  void Add(std::int64_t number);
  void Add(double number);  // Not a number: NULL.
  // An empty text is NULL: a sample has no other empty ones. It must live until
  // Run().
  void Add(std::string_view text);
  // As it is, of a key; it must live as long.
  void AddKey(std::string_view text);
  void AddCopy(std::string_view text);  // As it is, of one that goes before.
  void AddNull();
  template <class T>
  void Add(const std::optional<T>& value) {
    if (value.has_value()) return Add(*value);
    AddNull();
  }

  // For what gives no rows. True if a row was changed or inserted.
  Outcome<bool> Run();

  // For what gives rows: true while there is one more, whose columns, from 0,
  // can be asked for until the next call.
  Outcome<bool> Next();
  enum class Kind { kNull, kInteger, kReal, kText };
  [[nodiscard]] Kind KindOf(int column) const;
  [[nodiscard]] std::int64_t Integer(int column) const;
  [[nodiscard]] double Real(int column) const;
  [[nodiscard]] std::string_view Text(int column) const;
  // Makes a statement whose rows were not all taken ready for other values.
  void Reset();

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, std::string file)
      : statement_(statement), file_(std::move(file)) {}
  [[nodiscard]] Failure Failed() const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string file_;
  int next_ = 1;
};

// One connection. One thread at a time.
class Database {
 public:
  // Makes the file if it is not there. kNothingRan: it cannot be.
  static Outcome<Database> Open(const std::filesystem::path& file);

  // Statements without values, one or several.
  Outcome<Done> Execute(const std::string& statements);
  Outcome<Statement> Prepare(const std::string& statement);
  // Of a query that gives one number.
  Outcome<std::int64_t> Number(const std::string& query);

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Database(std::string file) : file_(std::move(file)) {}

  std::unique_ptr<sqlite3, Close> connection_;
  std::string file_;
};

// Taken back at the end of its life unless Commit() worked.
class Transaction {
 public:
  // How: "IMMEDIATE" or "EXCLUSIVE", against other writers, or readers too.
  static Outcome<Transaction> Begin(Database& database, const char* how);
  Transaction(Transaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Outcome<Done> Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_SQLITE_H_
