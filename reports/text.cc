#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "harness/base/units.h"

namespace wiretoll {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Decoded {
  char32_t point = 0;
  std::size_t length = 0;  // 0: no valid sequence here.
};

// Of a sequence that begins with `first`; 0 if none does.
std::size_t SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
}

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded Decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = SequenceLength(first);
  if (length == 1) return {first, 1};
  if (length == 0 || text.size() < length) return {};
  char32_t point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return {};
    point = (point << 6) | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[length] || point > 0x10FFFF) return {};
  if (point >= 0xD800 && point <= 0xDFFF) return {};
  return {point, length};
}

bool Dropped(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  // Embeddings, overrides and isolates could make a figure read backwards.
  const bool reorders = (point >= 0x202A && point <= 0x202E) ||
                        (point >= 0x2066 && point <= 0x2069);
  return control || reorders || point == 0xFEFF;
}

bool IsLineEnd(char32_t point) {
  return point == '\n' || point == '\r' || point == '\t' || point == 0x2028 ||
         point == 0x2029;
}

template <class Replace>
std::string Escape(std::string_view text, Replace replace) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    const std::string_view instead = replace(c);
    if (instead.empty()) {
      out += c;
    } else {
      out += instead;
    }
  }
  return out;
}

std::string Fixed(double value, int digits) {
  // General form would switch to exponents where thousands are expected.
  return fmt::format("{:.{}f}", value, digits);
}

bool StartsFormula(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  return !text.empty() && kFormula.find(text.front()) != std::string_view::npos;
}

bool IsByteFactor(const std::string& name) {
  return name == "write" || name == "read" || name == "rcvbuf" ||
         name == "sndbuf" || name == "mss";
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = Decode(text);
    if (next.length == 0) {
      out += kReplacement;
    } else if (IsLineEnd(next.point)) {
      out += ' ';
    } else if (!Dropped(next.point)) {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(std::max<std::size_t>(next.length, 1));
  }
  return out;
}

std::string HtmlText(std::string_view text) {
  return Escape(Printable(text), [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return {};
    }
  });
}

std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    constexpr std::string_view kMarkup = "\\`*_[]|~$#";
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kMarkup.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

bool CsvNeedsCare(std::string_view text) {
  return StartsFormula(text) ||
         text.find_first_of(",\"\r\n") != std::string_view::npos;
}

std::string CsvField(std::string_view text) {
  if (!CsvNeedsCare(text)) return std::string(text);
  std::string safe = StartsFormula(text) ? "'" : "";
  safe += text;
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  const std::string doubled = Escape(safe, [](char c) -> std::string_view {
    return c == '"' ? "\"\"" : std::string_view{};
  });
  return fmt::format("\"{}\"", doubled);
}

std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-_./:,=+@%";
  if (!word.empty() &&
      word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  const std::string inside = Escape(word, [](char c) -> std::string_view {
    return c == '\'' ? "'\\''" : std::string_view{};
  });
  return fmt::format("'{}'", inside);
}

std::string ShellCommand(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += ShellWord(word);
  }
  return line;
}

std::size_t Length(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string Shorten(std::string_view utf8, std::size_t longest) {
  if (Length(utf8) <= longest) return std::string(utf8);
  std::string out;
  std::size_t points = 0;
  for (const char c : utf8) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    if (starts && ++points >= longest) break;
    out += c;
  }
  return out + "…";
}

std::string IntervalText(const Interval& interval, double scale) {
  const double low = interval.low * scale;
  const double high = interval.high * scale;
  std::string first = FormatNumber(low);
  std::string last = FormatNumber(high);
  if (low == high) return first;  // The same in every block.
  // Two ends that read the same say nothing of the width.
  constexpr int kMostDigits = 6;
  for (int digits = 1; first == last && digits <= kMostDigits; ++digits) {
    if (Fixed(low, digits) == Fixed(high, digits)) continue;
    first = Fixed(low, digits);
    last = Fixed(high, digits);
  }
  return fmt::format("{}–{}", first, last);
}

std::string RatioRange(const Interval& interval) {
  const auto end = [](double value) {
    std::string text = FormatNumber(value);
    if (text != "1.00" || value == 1) return text;
    constexpr int kMostDigits = 6;
    for (int digits = 3; digits <= kMostDigits; ++digits) {
      text = Fixed(value, digits);
      if (text != Fixed(1, digits)) break;
    }
    return text;
  };
  return fmt::format("{}–{}", end(interval.low), end(interval.high));
}

std::string WholeNumber(double value) {
  constexpr double kThousand = 1000;
  return value < kThousand ? FormatNumber(value) : fmt::format("{:.0f}", value);
}

std::string Percent(double share) {
  return fmt::format("{} %", FormatNumber(share * 100));
}

std::string RateText(const Estimate& bytes_per_second) {
  std::string text = FormatByteRate(bytes_per_second.median);
  if (!bytes_per_second.interval.has_value()) return text;
  return fmt::format("{} ({} MB/s)", text,
                     IntervalText(*bytes_per_second.interval, kMega));
}

std::string FactorValueText(const std::string& name, const FactorValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number != nullptr && IsByteFactor(name)) {
    return FormatBytes(Bytes{*number});
  }
  std::string text = Printable(SpellFactor(value));
  // "15600us" is exact, "15.6 ms" is read.
  const std::optional<Nanoseconds> gap =
      name == "gap" ? ParseDuration(text) : std::nullopt;
  constexpr Nanoseconds kMillisecond{1'000'000};
  if (gap && *gap > kMillisecond && gap->count() % kMillisecond.count() != 0) {
    return TimeText(static_cast<double>(gap->count()));
  }
  return text;
}

std::string FactorText(const std::string& name, const FactorValue& value) {
  const std::string text = FactorValueText(name, value);
  if (name == "nagle") return "Nagle " + text;
  if (name == "write") return text + " writes";
  if (name == "read") return text + " reader";
  if (name == "transport" && text == "tcp") return "TCP";
  if (name == "transport" && text == "udp") return "UDP";
  return fmt::format("{} {}", Printable(name), text);
}

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

std::string TimeText(double nanoseconds) {
  return FormatDuration(Nanoseconds{std::llround(nanoseconds)});
}

}  // namespace wiretoll
