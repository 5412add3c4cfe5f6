#include "platform/facts.h"

#include <utility>
#include <variant>

namespace wiretoll {

Fact Known(std::string name, Fact::Value value) {
  return {std::move(name), std::move(value), {}};
}

Fact Unknown(std::string name, std::string reason) {
  return {std::move(name), std::monostate{}, std::move(reason)};
}

std::string ReasonOf(std::string_view what, const Error& error) {
  return std::string{what} + ": " + error.message();
}

}  // namespace wiretoll
