#include "harness/study/toml_reading.h"

#include <fmt/format.h>

#include <algorithm>

namespace wiretoll {

std::string_view KindOf(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

std::optional<FactorValue> RawValue(const toml::node& node) {
  if (const auto* number = node.as_integer()) return FactorValue{number->get()};
  if (const auto* text = node.as_string()) return FactorValue{text->get()};
  return std::nullopt;
}

std::vector<Entry> InFileOrder(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table) entries.push_back({&key, &node});
  const auto place = [](const Entry& entry) {
    const toml::source_position& begin = entry.key->source().begin;
    return std::pair{begin.line, begin.column};
  };
  std::ranges::stable_sort(entries, {}, place);
  return entries;
}

void RefuseUnknownKeys(const toml::table& table, std::string_view path,
                       const std::vector<std::string>& known,
                       Complaint& complaint) {
  for (const auto& [key, node] : InFileOrder(table)) {
    if (std::ranges::count(known, key->str()) > 0) continue;
    complaint.Note(LineOf(*key), fmt::format("{}{}", path, key->str()),
                   "unknown key" + Hint(key->str(), known));
  }
}

std::string ReadText(const toml::table& table, std::string_view path,
                     std::string_view key, Complaint& complaint) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return "";
  if (const auto* text = node->as_string()) return text->get();
  complaint.Note(LineOf(*node), fmt::format("{}{}", path, key),
                 fmt::format("{}; write a text in quotes", KindOf(*node)));
  return "";
}

std::string NeedText(const toml::table& table, std::string_view path,
                     std::string_view key, Complaint& complaint) {
  std::string text = ReadText(table, path, key, complaint);
  if (!text.empty()) return text;
  const toml::node* node = table.get(key);
  const toml::node& place = node != nullptr ? *node : table;
  complaint.Note(std::max(1, LineOf(place)), fmt::format("{}{}", path, key),
                 fmt::format("{}; add {} = \"...\"",
                             node != nullptr ? "empty" : "missing", key));
  return text;
}

bool ReadSwitch(const toml::table& table, std::string_view path,
                std::string_view key, Complaint& complaint) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return false;
  if (const auto* value = node->as_boolean()) return value->get();
  complaint.Note(
      LineOf(*node), fmt::format("{}{}", path, key),
      fmt::format("{}; write true or false, without quotes", KindOf(*node)));
  return false;
}

std::vector<const toml::table*> ReadTables(const toml::table& root,
                                           std::string_view key,
                                           Complaint& complaint) {
  std::vector<const toml::table*> tables;
  const toml::node* node = root.get(key);
  if (node == nullptr) return tables;
  const toml::array* list = node->as_array();
  if (list != nullptr) {
    for (const toml::node& item : *list) tables.push_back(item.as_table());
  }
  if (list == nullptr || std::ranges::count(tables, nullptr) > 0) {
    complaint.Note(
        LineOf(*node), key,
        fmt::format("no list of tables; begin each with [[{}]]", key));
    tables.clear();
  }
  return tables;
}

}  // namespace wiretoll
