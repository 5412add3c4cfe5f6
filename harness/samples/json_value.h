// nlohmann-json's values as ObjectReader (decode.h) wants them.
#ifndef WIRETOLL_HARNESS_SAMPLES_JSON_VALUE_H_
#define WIRETOLL_HARNESS_SAMPLES_JSON_VALUE_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace wiretoll {

// Refers to a value that must outlive it; default: no value.
class JsonValue {
 public:
  JsonValue() = default;
  explicit JsonValue(const nlohmann::json& json) : json_(&json) {}

  [[nodiscard]] bool exists() const { return json_ != nullptr; }
  [[nodiscard]] bool IsNull() const { return json_->is_null(); }
  [[nodiscard]] bool IsObject() const { return json_->is_object(); }
  [[nodiscard]] bool IsArray() const { return json_->is_array(); }

  [[nodiscard]] std::optional<std::int64_t> Integer() const {
    if (!json_->is_number_integer()) return std::nullopt;
    if (json_->is_number_unsigned() &&
        json_->get<std::uint64_t>() >
            std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      return std::nullopt;
    }
    return json_->get<std::int64_t>();
  }
  [[nodiscard]] std::optional<std::uint64_t> Unsigned() const {
    if (!json_->is_number_unsigned()) return std::nullopt;
    return json_->get<std::uint64_t>();
  }
  [[nodiscard]] std::optional<double> Number() const {
    if (!json_->is_number()) return std::nullopt;
    return json_->get<double>();
  }
  [[nodiscard]] std::optional<bool> Boolean() const {
    if (!json_->is_boolean()) return std::nullopt;
    return json_->get<bool>();
  }
  [[nodiscard]] std::optional<std::string_view> Text() const {
    if (!json_->is_string()) return std::nullopt;
    return std::string_view{json_->get_ref<const std::string&>()};
  }

  [[nodiscard]] JsonValue Find(std::string_view key) const {
    const auto member = json_->find(key);
    return member == json_->end() ? JsonValue() : JsonValue(*member);
  }
  template <class Function>
  void ForEachMember(const Function& each) const {
    for (auto member = json_->begin(); member != json_->end(); ++member) {
      each(std::string_view{member.key()}, JsonValue(*member));
    }
  }
  template <class Function>
  void ForEachElement(const Function& each) const {
    for (const nlohmann::json& element : *json_) each(JsonValue(element));
  }

 private:
  const nlohmann::json* json_ = nullptr;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_JSON_VALUE_H_
