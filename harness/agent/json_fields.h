// Strict reading of one JSON object: every field is there, of its type and in
// its range, and no other field is.
#ifndef WIRETOLL_HARNESS_AGENT_JSON_FIELDS_H_
#define WIRETOLL_HARNESS_AGENT_JSON_FIELDS_H_

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wiretoll {

// Inclusive.
struct Bounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// Ask for each field once, then Finish(). The first thing that is wrong is
// kept and names the field; what a getter gives after that is a placeholder,
// so callers need no check until Finish(). "Maybe" getters take null for
// empty; the field must be there all the same.
//
// Ownership: refers to `json`, which must outlive the reader.
class FieldReader {
 public:
  // `where` opens every message: "workload".
  FieldReader(const nlohmann::json& json, std::string where);

  std::int64_t Integer(const char* name, Bounds bounds);
  std::optional<std::int64_t> MaybeInteger(const char* name, Bounds bounds);
  std::uint64_t Unsigned(const char* name);
  // Above 0 and at most `high`.
  std::optional<double> MaybePositive(const char* name, double high);
  bool Flag(const char* name);
  std::optional<bool> MaybeFlag(const char* name);
  // At most `longest` bytes of UTF-8.
  std::string Text(const char* name, std::size_t longest);
  std::optional<std::string> MaybeText(const char* name, std::size_t longest);
  // An array of integers, at most `most` of them.
  std::vector<std::int64_t> Integers(const char* name, std::size_t most,
                                     Bounds bounds);

  // One of `names`, by its text.
  template <class Enum, std::size_t kCount>
  Enum Choice(
      const char* name,
      const std::array<std::pair<std::string_view, Enum>, kCount>& names) {
    const std::string text = Text(name, 64);
    for (const auto& [spelling, value] : names) {
      if (spelling == text) return value;
    }
    FailUnknown(name, text);
    return names.front().second;
  }

  // The value whatever its type; nullptr (and a failure) if it is missing.
  const nlohmann::json* Any(const char* name);
  // nullptr, and no failure, if it is missing.
  const nlohmann::json* IfThere(const char* name);

  // Records a failure of the caller's, unless there is one already.
  void Fail(const std::string& message);
  [[nodiscard]] bool ok() const { return !failure_.has_value(); }

  // What was wrong, first of all; a field nobody asked for is wrong too.
  std::optional<std::string> Finish();

 private:
  void FailUnknown(const char* name, const std::string& text);
  bool CheckedFlag(const char* name, const nlohmann::json& value);
  std::int64_t CheckedInteger(const char* name, const nlohmann::json& value,
                              Bounds bounds);
  std::string CheckedText(const char* name, const nlohmann::json& value,
                          std::size_t longest);

  const nlohmann::json& json_;
  std::string where_;
  std::vector<std::string_view> asked_;
  std::optional<std::string> failure_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_JSON_FIELDS_H_
