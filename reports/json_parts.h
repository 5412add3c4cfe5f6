// What the JSON writers share.
#ifndef WIRETOLL_REPORTS_JSON_PARTS_H_
#define WIRETOLL_REPORTS_JSON_PARTS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace wiretoll {

// Keys in the order of writing: a reader of the file meets names before
// figures.
using Json = nlohmann::ordered_json;

inline std::string Dump(const Json& json) {
  // Text of a run may hold broken UTF-8; it must not break the file.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_JSON_PARTS_H_
