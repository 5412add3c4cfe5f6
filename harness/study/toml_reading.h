// toml++ with its errors as values, and what study files need of it. Inside
// harness/study/ only.
#ifndef WIRETOLL_HARNESS_STUDY_TOML_READING_H_
#define WIRETOLL_HARNESS_STUDY_TOML_READING_H_

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 asserts that a table header goes on with a key before it reports
// that one does not ("[[["): a debug build would end on a malformed file.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/study/reading.h"
#include "harness/study/study.h"

namespace wiretoll {

inline int LineOf(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

inline int LineOf(const toml::key& key) {
  return static_cast<int>(key.source().begin.line);
}

// "a boolean", "a list": for messages.
std::string_view KindOf(const toml::node& node);

// The value of a factor as TOML has it; empty unless an integer or a text.
std::optional<FactorValue> RawValue(const toml::node& node);

// The entries of a table as they stand in the file; toml++ sorts them by name.
struct Entry {
  const toml::key* key;
  const toml::node* node;
};
std::vector<Entry> InFileOrder(const toml::table& table);

// Complains about the first key of `table` that is not in `known`. `path`
// is "" or ends with a point: "factors.".
void RefuseUnknownKeys(const toml::table& table, std::string_view path,
                       const std::vector<std::string>& known,
                       Complaint& complaint);

// The text at `key`; "" if it is not there.
std::string ReadText(const toml::table& table, std::string_view path,
                     std::string_view key, Complaint& complaint);

// The same for one that has to be there and say something.
std::string NeedText(const toml::table& table, std::string_view path,
                     std::string_view key, Complaint& complaint);

// True or false at `key`; false if it is not there.
bool ReadSwitch(const toml::table& table, std::string_view path,
                std::string_view key, Complaint& complaint);

// The tables of [[key]], none if there is no such key.
std::vector<const toml::table*> ReadTables(const toml::table& root,
                                           std::string_view key,
                                           Complaint& complaint);

// Everything in [factors] and [stop], as the matrix they make.
struct Matrix {
  std::vector<Case> cases;
  std::vector<std::string> varying;
};
// `root` holds both tables. `verify` goes into every case.
Matrix ReadMatrix(const toml::table& root, bool verify, Complaint& complaint);

// The [[claim]]s of `root`, each checked against the cells there are.
std::vector<Claim> ReadClaims(const toml::table& root,
                              const std::vector<Case>& cases,
                              Complaint& complaint);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_STUDY_TOML_READING_H_
