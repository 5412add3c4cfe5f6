// A table's columns, once: what makes the table also fills its rows.
#ifndef WIRETOLL_HARNESS_EXPORT_COLUMNS_H_
#define WIRETOLL_HARNESS_EXPORT_COLUMNS_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/export/schema.h"
#include "harness/export/sqlite.h"

namespace wiretoll {

// `Row` is what a row is made of.
template <class Row>
class TableColumns {
 public:
  using Fill = std::function<void(const Row&, Statement&)>;

  // The first `key` columns that are added are the primary key.
  TableColumns(std::string name, std::size_t key) : table_{} {
    table_.name = std::move(name);
    table_.key = key;
  }

  void Add(ColumnType type, std::string_view name, Fill fill) {
    table_.columns.push_back({std::string(name), type});
    fills_.push_back(std::move(fill));
  }
  // `value` gives what a Statement takes.
  template <class Value>
  void Integer(std::string_view name, Value value) {
    AddValue(ColumnType::kInteger, name, std::move(value));
  }
  template <class Value>
  void Real(std::string_view name, Value value) {
    AddValue(ColumnType::kReal, name, std::move(value));
  }
  // `value` gives a reference into the row, or a view of it.
  template <class Value>
  void Text(std::string_view name, Value value) {
    const bool key = table_.columns.size() < table_.key;
    Add(ColumnType::kText, name,
        [value, key](const Row& row, Statement& statement) {
          const std::string_view text(value(row));
          key ? statement.AddKey(text) : statement.Add(text);
        });
  }

  [[nodiscard]] const SqlTable& table() const { return table_; }

  void FillRow(const Row& row, Statement& statement) const {
    for (const Fill& fill : fills_) fill(row, statement);
  }

 private:
  template <class Value>
  void AddValue(ColumnType type, std::string_view name, Value value) {
    Add(type, name, [value](const Row& row, Statement& statement) {
      statement.Add(value(row));
    });
  }

  SqlTable table_;
  std::vector<Fill> fills_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_COLUMNS_H_
