#include "harness/export/csv_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <vector>

#include "harness/export/schema.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLineEnd = "\r\n";

std::string HeadLine(const SqlTable& table) {
  std::string line;
  for (const SqlColumn& column : table.columns) {
    line += (line.empty() ? "" : ",") + column.name;
  }
  return line.append(kLineEnd);
}

fs::path CsvFile(const fs::path& folder, const SqlTable& table) {
  return folder / (table.name + ".csv");
}

fs::path DraftFile(const fs::path& folder, const SqlTable& table) {
  return folder / (table.name + ".csv.new");
}

// ---------------------------------------------------------------- formulas

// Whether a spreadsheet would reckon with it, apostrophes before it aside.
bool LooksLikeFormula(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos &&
         std::string_view("=+-@\t\r").find(text[first]) !=
             std::string_view::npos;
}

std::string_view WithoutGuard(std::string_view text) {
  if (text.starts_with('\'') && LooksLikeFormula(text)) text.remove_prefix(1);
  return text;
}

std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  if (LooksLikeFormula(text)) quoted += '\'';
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// ----------------------------------------------------------------- reading

struct CsvCell {
  std::string text;
  bool quoted = false;
};

// Records of a file, whose fields may hold line ends.
class CsvReader {
 public:
  explicit CsvReader(const fs::path& file) : in_(file, std::ios::binary) {}

  [[nodiscard]] bool opened() const { return in_.is_open(); }
  // Where the record that Next() gave begins, from 1.
  [[nodiscard]] std::int64_t line() const { return begin_; }
  // The file broke off within quotes, or in the middle of a line.
  [[nodiscard]] bool torn() const { return torn_; }

  // False at the end.
  bool Next(std::vector<CsvCell>& record) {
    begin_ = line_ + 1;
    record.assign(1, {});
    for (int c = Get(); c != kEnd; c = Get()) {
      if (!in_quotes_ && c == '\n') {
        DropCarriageReturn(record.back());
        return true;
      }
      Take(static_cast<char>(c), record);
    }
    torn_ = in_quotes_ || record.size() > 1 || !record.front().text.empty();
    return false;
  }

 private:
  static constexpr int kEnd = std::char_traits<char>::eof();

  int Get() {
    const int c = in_.rdbuf()->sbumpc();
    if (c == '\n') ++line_;
    return c;
  }

  void Take(char c, std::vector<CsvCell>& record) {
    CsvCell& cell = record.back();
    if (c == '"') {
      // Twice inside quotes is one.
      if (!in_quotes_ && cell.quoted) cell.text += '"';
      in_quotes_ = !in_quotes_;
      cell.quoted = true;
    } else if (c == ',' && !in_quotes_) {
      record.emplace_back();
    } else {
      cell.text += c;
    }
  }

  static void DropCarriageReturn(CsvCell& cell) {
    if (cell.text.ends_with('\r')) cell.text.pop_back();
  }

  std::ifstream in_;
  std::int64_t line_ = 0;
  std::int64_t begin_ = 0;
  bool in_quotes_ = false;
  bool torn_ = false;
};

template <class T>
std::optional<T> WholeNumber(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// False if the text is no such value.
bool AddNumber(const std::string& text, ColumnType type, Statement& out) {
  if (type != ColumnType::kReal) {
    if (const auto number = WholeNumber<std::int64_t>(text)) {
      out.Add(*number);
      return true;
    }
    if (type == ColumnType::kInteger) return false;
  }
  const auto number = WholeNumber<double>(text);
  if (number.has_value()) out.Add(*number);
  return number.has_value();
}

bool AddCell(const CsvCell& cell, ColumnType type, bool key, Statement& out) {
  const bool is_text =
      type == ColumnType::kText || (type == ColumnType::kAny && cell.quoted);
  if (key && is_text) {
    out.AddKey(WithoutGuard(cell.text));
    return true;
  }
  if (cell.text.empty()) {
    out.AddNull();
    return true;
  }
  if (!is_text) return AddNumber(cell.text, type, out);
  out.Add(WithoutGuard(cell.text));
  return true;
}

Failure NoCsvOfOurs(const fs::path& file, std::int64_t line,
                    std::string_view what) {
  return {ExitCode::kUsage,
          fmt::format("{}:{}: {}; name another folder, or an empty one",
                      file.string(), line, what)};
}

Outcome<Done> CheckHead(const SqlTable& table, const fs::path& file,
                        CsvReader& reader) {
  std::vector<CsvCell> head;
  bool same = reader.Next(head) && head.size() == table.columns.size();
  for (std::size_t i = 0; same && i < head.size(); ++i) {
    same = head[i].text == table.columns[i].name;
  }
  if (same) return Done{};
  return NoCsvOfOurs(file, 1,
                     fmt::format("is not the head that this wiretoll gives its "
                                 "table {}",
                                 table.name));
}

// What is wrong with the record, or nothing.
std::string FillRecord(const std::vector<CsvCell>& record,
                       const SqlTable& table, Statement& insert) {
  if (record.size() != table.columns.size()) {
    return fmt::format("has {} fields, and its head {}", record.size(),
                       table.columns.size());
  }
  for (std::size_t i = 0; i < record.size(); ++i) {
    const SqlColumn& column = table.columns[i];
    if (!AddCell(record[i], column.type, i < table.key, insert)) {
      return fmt::format("its {} is no number", column.name);
    }
  }
  return {};
}

Outcome<Done> LoadTable(const fs::path& file, const SqlTable& table,
                        Database& database) {
  CsvReader reader(file);
  if (!reader.opened()) return NoCsvOfOurs(file, 1, "cannot be read");
  auto head = CheckHead(table, file, reader);
  if (!head.has_value()) return head;
  auto insert = database.Prepare(InsertStatement(table));
  if (!insert.has_value()) return insert.error();
  std::vector<CsvCell> record;
  while (reader.Next(record)) {
    const std::string problem = FillRecord(record, table, insert.value());
    if (!problem.empty()) return NoCsvOfOurs(file, reader.line(), problem);
    const auto loaded = insert.value().Run();
    if (!loaded.has_value()) return loaded.error();
  }
  if (reader.torn()) return NoCsvOfOurs(file, reader.line(), "breaks off");
  return Done{};
}

// ----------------------------------------------------------------- writing

// The shortest that reads back the same, and not as a whole number: 2.0.
std::string Fraction(double value) {
  std::string text = fmt::format("{}", value);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

void AppendCell(const Statement& row, int column, ColumnType type,
                std::string& line) {
  switch (row.KindOf(column)) {
    case Statement::Kind::kNull:
      break;
    case Statement::Kind::kInteger:
      line += fmt::format_int(row.Integer(column)).c_str();
      break;
    case Statement::Kind::kReal:
      line += Fraction(row.Real(column));
      break;
    case Statement::Kind::kText:
      // In quotes, so that the text "1" is not taken for a number.
      line += type == ColumnType::kAny ? InQuotes(row.Text(column))
                                       : CsvText(row.Text(column));
  }
}

std::string KeyList(const SqlTable& table) {
  std::string list;
  for (std::size_t i = 0; i < table.key; ++i) {
    list += (i == 0 ? "" : ", ") + table.columns[i].name;
  }
  return list;
}

Failure CannotWriteCsv(const fs::path& file, int error) {
  return {ExitCode::kNothingRan,
          fmt::format("{}: {}; {} and export again", file.string(),
                      error == 0 ? std::string("cannot be written")
                                 : std::generic_category().message(error),
                      error == ENOSPC ? "free some space" : "mend that")};
}

Outcome<Done> WriteTable(Database& database, const SqlTable& table,
                         const fs::path& file) {
  auto rows = database.Prepare(
      fmt::format("SELECT * FROM {} ORDER BY {}", table.name, KeyList(table)));
  if (!rows.has_value()) return rows.error();
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << HeadLine(table);
  std::string line;
  while (out) {
    const auto more = rows.value().Next();
    if (!more.has_value()) return more.error();
    if (!more.value()) break;
    line.clear();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) line += ',';
      AppendCell(rows.value(), static_cast<int>(i), table.columns[i].type,
                 line);
    }
    out << line.append(kLineEnd);
  }
  out.close();
  if (!out) return CannotWriteCsv(file, errno);
  return Done{};
}

// Takes the drafts away again unless they became the files.
class Drafts {
 public:
  explicit Drafts(fs::path folder) : folder_(std::move(folder)) {}
  Drafts(const Drafts&) = delete;
  Drafts& operator=(const Drafts&) = delete;
  ~Drafts() {
    std::error_code ignored;
    for (const SqlTable& table : ExportTables()) {
      fs::remove(DraftFile(folder_, table), ignored);
    }
  }

  Outcome<Done> BecomeFiles() {
    std::error_code error;
    for (const SqlTable& table : ExportTables()) {
      const fs::path file = CsvFile(folder_, table);
      fs::rename(DraftFile(folder_, table), file, error);
      if (error) return CannotWriteCsv(file, error.value());
    }
    return Done{};
  }

 private:
  fs::path folder_;
};

}  // namespace

std::string CsvText(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  if (!plain) return InQuotes(text);
  return LooksLikeFormula(text) ? '\'' + std::string(text) : std::string(text);
}

Outcome<Done> LoadCsvFiles(const fs::path& folder, Database& database) {
  for (const SqlTable& table : ExportTables()) {
    const fs::path file = CsvFile(folder, table);
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    auto loaded = LoadTable(file, table, database);
    if (!loaded.has_value()) return loaded;
  }
  return Done{};
}

Outcome<Done> WriteCsvFiles(Database& database, const fs::path& folder) {
  Drafts drafts(folder);
  for (const SqlTable& table : ExportTables()) {
    auto written = WriteTable(database, table, DraftFile(folder, table));
    if (!written.has_value()) return written;
  }
  return drafts.BecomeFiles();
}

}  // namespace wiretoll
