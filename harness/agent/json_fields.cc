#include "harness/agent/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace wiretoll {
namespace {

using nlohmann::json;

// Enough of what was sent to recognise it, and no more.
std::string Shown(const std::string& text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

}  // namespace

FieldReader::FieldReader(const json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  if (!json_.is_object()) Fail("is no JSON object");
}

std::int64_t FieldReader::Integer(const char* name, Bounds bounds) {
  const json* value = Any(name);
  return value == nullptr ? bounds.low : CheckedInteger(name, *value, bounds);
}

std::optional<std::int64_t> FieldReader::MaybeInteger(const char* name,
                                                      Bounds bounds) {
  const json* value = Any(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return CheckedInteger(name, *value, bounds);
}

std::uint64_t FieldReader::Unsigned(const char* name) {
  const json* value = Any(name);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned()) {
    Fail(fmt::format("field \"{}\" is no integer from 0 to 2^64-1", name));
    return 0;
  }
  return value->get<std::uint64_t>();
}

std::optional<double> FieldReader::MaybePositive(const char* name,
                                                 double high) {
  const json* value = Any(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : 0;
  if (!(number > 0 && number <= high)) {
    Fail(fmt::format("field \"{}\" is no number above 0 and at most {}", name,
                     high));
  }
  return number;
}

bool FieldReader::Flag(const char* name) {
  const json* value = Any(name);
  return value != nullptr && CheckedFlag(name, *value);
}

std::optional<bool> FieldReader::MaybeFlag(const char* name) {
  const json* value = Any(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return CheckedFlag(name, *value);
}

std::string FieldReader::Text(const char* name, std::size_t longest) {
  const json* value = Any(name);
  return value == nullptr ? "" : CheckedText(name, *value, longest);
}

std::optional<std::string> FieldReader::MaybeText(const char* name,
                                                  std::size_t longest) {
  const json* value = Any(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return CheckedText(name, *value, longest);
}

std::vector<std::int64_t> FieldReader::Integers(const char* name,
                                                std::size_t most,
                                                Bounds bounds) {
  const json* value = Any(name);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() > most) {
    Fail(fmt::format("field \"{}\" is no list of at most {}", name, most));
    return {};
  }
  std::vector<std::int64_t> numbers;
  for (const json& item : *value) {
    numbers.push_back(CheckedInteger(name, item, bounds));
  }
  return numbers;
}

const json* FieldReader::Any(const char* name) {
  const json* value = IfThere(name);
  if (value == nullptr) {
    Fail(fmt::format("field \"{}\" is missing", name));
  }
  return value;
}

const json* FieldReader::IfThere(const char* name) {
  asked_.emplace_back(name);
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(name);
  return found == json_.end() ? nullptr : &*found;
}

void FieldReader::Fail(const std::string& message) {
  if (!failure_) failure_ = where_ + ": " + message;
}

std::optional<std::string> FieldReader::Finish() {
  if (!failure_) {
    for (const auto& [name, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
        Fail(fmt::format("field \"{}\" is unknown here", Shown(name)));
      }
    }
  }
  return failure_;
}

void FieldReader::FailUnknown(const char* name, const std::string& text) {
  Fail(fmt::format("field \"{}\" has the unknown value \"{}\"", name,
                   Shown(text)));
}

bool FieldReader::CheckedFlag(const char* name, const json& value) {
  if (!value.is_boolean()) {
    Fail(fmt::format("field \"{}\" is neither true nor false", name));
    return false;
  }
  return value.get<bool>();
}

std::int64_t FieldReader::CheckedInteger(const char* name, const json& value,
                                         Bounds bounds) {
  // is_number_integer() is true of unsigned values too, which may be too
  // large for the signed type.
  constexpr auto kLargest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest)) {
    Fail(fmt::format("field \"{}\" is no integer", name));
    return bounds.low;
  }
  const auto number = value.get<std::int64_t>();
  if (number < bounds.low || number > bounds.high) {
    Fail(fmt::format("field \"{}\" is {}; it must be from {} to {}", name,
                     number, bounds.low, bounds.high));
    return bounds.low;
  }
  return number;
}

std::string FieldReader::CheckedText(const char* name, const json& value,
                                     std::size_t longest) {
  if (!value.is_string()) {
    Fail(fmt::format("field \"{}\" is no text", name));
    return {};
  }
  auto text = value.get<std::string>();
  if (text.size() > longest) {
    Fail(fmt::format("field \"{}\" has {} bytes; at most {} are taken", name,
                     text.size(), longest));
    return {};
  }
  return text;
}

}  // namespace wiretoll
