#include "harness/base/words.h"

#include <fmt/format.h>

namespace wiretoll {
namespace {

std::string Spell(char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  const bool printable = byte >= ' ' && byte <= '~';
  return printable ? std::string(1, byte)
                   : fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace

std::string Count(long long number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string GroupDigits(long long number) {
  constexpr std::size_t kGroup = 3;
  std::string digits = fmt::format("{}", number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + kGroup;) {
    at -= kGroup;
    digits.insert(at, ",");
  }
  return digits;
}

std::string QuoteBytes(std::string_view bytes, std::size_t most) {
  std::string quoted = "\"";
  for (const char byte : bytes.substr(0, most)) quoted += Spell(byte);
  quoted += '"';
  return bytes.size() > most ? quoted + "..." : quoted;
}

void AddClause(std::string_view clause, std::string& text) {
  if (!text.empty()) text += "; ";
  text += clause;
}

}  // namespace wiretoll
