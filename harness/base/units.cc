#include "harness/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace wiretoll {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t scale;  // In the smallest unit of its kind.
};

constexpr std::array<Unit, 8> kByteUnits{{{"", 1},
                                          {"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"KiB", std::int64_t{1} << 10},
                                          {"MiB", std::int64_t{1} << 20},
                                          {"GiB", std::int64_t{1} << 30}}};
constexpr std::array<Unit, 5> kTimeUnits{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000}}};
constexpr std::array<Unit, 4> kRateUnits{{{"bit", 1},
                                          {"kbit", 1'000},
                                          {"mbit", 1'000'000},
                                          {"gbit", 1'000'000'000}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Splits "1.5 ms" into "1.5" and "ms". Empty number: the text does not start
// with a digit, or a point is not between digits.
struct Quantity {
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

std::string_view TakeDigits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && IsDigit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::optional<Quantity> Split(std::string_view text) {
  Quantity parts;
  parts.whole = TakeDigits(text);
  if (parts.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
    if (parts.fraction.empty()) return std::nullopt;
  }
  if (text.starts_with(' ')) {
    text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
  }
  parts.unit = text;
  return parts;
}

std::optional<std::int64_t> ParseInteger(std::string_view digits) {
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// 0.fraction * scale, or nothing where it is no whole number: half a byte is
// a mistake of whoever wrote it.
std::optional<std::int64_t> ScaleFraction(std::string_view fraction,
                                          std::int64_t scale) {
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  constexpr std::size_t kMostDigits = 18;  // Of 10^18, still an int64.
  if (fraction.size() > kMostDigits) return std::nullopt;
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  for (const char digit : fraction) {
    numerator = 10 * numerator + (digit - '0');
    denominator *= 10;
  }
  const std::int64_t common = std::gcd(numerator, denominator);
  denominator /= common;
  if (scale % denominator != 0) return std::nullopt;
  return numerator / common * (scale / denominator);
}

std::optional<std::int64_t> ScaleWhole(std::string_view digits,
                                       std::int64_t scale) {
  const std::optional<std::int64_t> value = ParseInteger(digits);
  if (!value.has_value()) return std::nullopt;
  if (*value > std::numeric_limits<std::int64_t>::max() / scale) {
    return std::nullopt;
  }
  return *value * scale;
}

std::optional<std::int64_t> ParseScaled(std::string_view text,
                                        std::span<const Unit> units) {
  const std::optional<Quantity> parts = Split(text);
  if (!parts.has_value()) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != parts->unit) continue;
    const auto whole = ScaleWhole(parts->whole, unit.scale);
    const auto fraction = ScaleFraction(parts->fraction, unit.scale);
    if (!whole.has_value() || !fraction.has_value()) return std::nullopt;
    if (*whole > std::numeric_limits<std::int64_t>::max() - *fraction) {
      return std::nullopt;
    }
    return *whole + *fraction;
  }
  return std::nullopt;
}

struct Rounded {
  double value;  // To three significant digits.
  int exponent;  // Decimal.
};

Rounded RoundToThree(double value) {
  const std::string text = fmt::format("{:.2e}", value);
  const std::size_t mark = text.find('e');
  if (mark == std::string::npos) return {value, 0};  // Not finite.
  Rounded rounded{};
  const char* end = text.data() + text.size();
  std::from_chars(text.data(), end, rounded.value);
  const std::size_t sign = text[mark + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + mark + sign, end, rounded.exponent);
  return rounded;
}

// Three significant digits with the largest SI prefix that leaves at least 1.
std::string FormatSi(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  double shown = RoundToThree(value).value;
  while (std::abs(shown) >= 1000 && prefix + 1 < kPrefixes.size()) {
    shown /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", FormatNumber(shown), kPrefixes[prefix], unit);
}

std::string FormatLongDuration(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  if (seconds >= kHour) {
    return fmt::format("{} h {} min", seconds / kHour,
                       seconds % kHour / kMinute);
  }
  return fmt::format("{} min {} s", seconds / kMinute, seconds % kMinute);
}

std::string FormatShortDuration(std::int64_t nanoseconds) {
  constexpr std::array<std::string_view, 4> kNames{"ns", "us", "ms", "s"};
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  std::size_t unit = 0;
  double shown = RoundToThree(static_cast<double>(nanoseconds)).value;
  while (shown >= 1000 && unit + 1 < kNames.size()) {
    shown /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", FormatNumber(shown), kNames[unit]);
}

}  // namespace

std::optional<Bytes> ParseBytes(std::string_view text) {
  const auto count = ParseScaled(text, kByteUnits);
  if (!count.has_value()) return std::nullopt;
  return Bytes{*count};
}

std::optional<Nanoseconds> ParseDuration(std::string_view text) {
  if (text == "0") return Nanoseconds{0};
  const auto count = ParseScaled(text, kTimeUnits);
  if (!count.has_value()) return std::nullopt;
  return Nanoseconds{*count};
}

std::optional<BitsPerSecond> ParseRate(std::string_view text) {
  const auto bits = ParseScaled(text, kRateUnits);
  if (!bits.has_value() || *bits == 0) return std::nullopt;
  return BitsPerSecond{static_cast<double>(*bits)};
}

std::optional<double> ParsePercent(std::string_view text) {
  const std::optional<Quantity> parts = Split(text);
  if (!parts.has_value() || parts->unit != "%") return std::nullopt;
  double percent = 0;
  // Split() has checked the syntax, so that no sign, exponent, "nan" or hex
  // digit gets here.
  const char* start = text.data();
  const auto [stop, error] =
      std::from_chars(start, start + text.size(), percent);
  if (error != std::errc{} || percent > 100) return std::nullopt;
  return percent / 100;
}

std::string SpellBytes(Bytes size) {
  for (std::size_t i = kByteUnits.size(); i-- > 0;) {
    const Unit& unit = kByteUnits[i];
    if (!unit.name.ends_with("iB")) break;
    if (size.count != 0 && size.count % unit.scale == 0) {
      return fmt::format("{}{}", size.count / unit.scale, unit.name);
    }
  }
  return fmt::format("{}", size.count);
}

std::string SpellDuration(Nanoseconds duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0us";
  for (const std::string_view name : {"s", "ms", "us"}) {
    for (const Unit& unit : kTimeUnits) {
      if (unit.name == name && count % unit.scale == 0) {
        return fmt::format("{}{}", count / unit.scale, name);
      }
    }
  }
  return fmt::format("{}ns", count);
}

std::string FormatByteRate(double bytes_per_second) {
  return FormatSi(bytes_per_second, "B/s");
}

std::string FormatBitRate(BitsPerSecond rate) {
  return FormatSi(rate.value, "bit/s");
}

std::string FormatDuration(Nanoseconds duration) {
  const std::int64_t count = duration.count();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (count < 0) {
    return fmt::format("-{}",
                       FormatDuration(Nanoseconds{-std::max(count, -kMost)}));
  }
  // From 59.95 s on, three digits would read "60.0 s".
  constexpr std::int64_t kLong = 59'950'000'000;
  if (count < kLong) return FormatShortDuration(count);
  // std::chrono::round looks at the next second, which may not be there.
  constexpr std::int64_t kSecond = 1'000'000'000;
  return FormatLongDuration(count / kSecond +
                            (count % kSecond >= kSecond / 2 ? 1 : 0));
}

std::string FormatBytes(Bytes size) {
  // Up to here every byte is shown: the difference between 1448 and 1460, or
  // 65483 and 65536, is what is being looked at.
  constexpr std::int64_t kExact = 100'000;
  constexpr std::array<Unit, 3> kIec{{{"GiB", std::int64_t{1} << 30},
                                      {"MiB", std::int64_t{1} << 20},
                                      {"KiB", std::int64_t{1} << 10}}};
  for (const Unit& unit : kIec) {
    if (size.count < unit.scale) continue;
    if (size.count % unit.scale == 0) {
      return fmt::format("{} {}", size.count / unit.scale, unit.name);
    }
    if (size.count >= kExact) {
      const double shown =
          static_cast<double>(size.count) / static_cast<double>(unit.scale);
      return fmt::format("{} {}", FormatNumber(shown), unit.name);
    }
  }
  return fmt::format("{} B", size.count);
}

std::string FormatNumber(double value) {
  if (value == 0) return "0";
  const Rounded rounded = RoundToThree(value);
  constexpr int kLargestPlain = 5;
  constexpr int kSmallestPlain = -6;
  if (rounded.exponent > kLargestPlain || rounded.exponent < kSmallestPlain) {
    return fmt::format("{:.2e}", value);
  }
  return fmt::format("{:.{}f}", rounded.value,
                     std::max(0, 2 - rounded.exponent));
}

}  // namespace wiretoll
