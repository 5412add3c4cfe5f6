// Units as types, and their spelling in studies, flags and reports.
#ifndef WIRETOLL_HARNESS_BASE_UNITS_H_
#define WIRETOLL_HARNESS_BASE_UNITS_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wiretoll {

using Nanoseconds = std::chrono::nanoseconds;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return {count + other.count}; }
  constexpr Bytes operator-(Bytes other) const { return {count - other.count}; }
};

struct BitsPerSecond {
  double value = 0;
  auto operator<=>(const BitsPerSecond&) const = default;
};

// Requires elapsed > 0.
constexpr BitsPerSecond Rate(Bytes moved, Nanoseconds elapsed) {
  const std::chrono::duration<double> seconds = elapsed;
  return {8.0 * static_cast<double>(moved.count) / seconds.count()};
}

// The parsers take the whole text or give nothing: no sign, no white space
// inside a number, no overflow, no fraction of the smallest unit ("1.5KiB" is
// 1536 bytes, "1.5B" is nothing). A space before the unit is allowed.

// "4096", "64KiB", "2MiB", "1GiB", "8kB", "8MB", "1GB", "100B".
std::optional<Bytes> ParseBytes(std::string_view text);

// "20us", "1.5ms", "2s", "0us", "100ns", "3min". A bare number is refused
// (except "0"): durations carry their unit.
std::optional<Nanoseconds> ParseDuration(std::string_view text);

// "10mbit", "100mbit", "1gbit", "2.5gbit", "64kbit", "9600bit". Above 0.
std::optional<BitsPerSecond> ParseRate(std::string_view text);

// "5%", "0.1 %"; gives the fraction, 0.05. Between 0 % and 100 %.
std::optional<double> ParsePercent(std::string_view text);

// The shortest exact spelling: "2304", "64KiB", "16MiB". Bare bytes if no IEC
// unit divides it. ParseBytes reads it back.
std::string SpellBytes(Bytes size);

// The shortest exact spelling: "0us", "20us", "1ms", "15600us". ParseDuration
// reads it back.
std::string SpellDuration(Nanoseconds duration);

// For people, three significant digits: "11.8 MB/s", "936 kB/s" (SI, bytes).
std::string FormatByteRate(double bytes_per_second);

// For people: "100 Mbit/s", "94.1 Mbit/s".
std::string FormatBitRate(BitsPerSecond rate);

// For people: "44.0 ms", "12.0 us", "1 min 20 s".
std::string FormatDuration(Nanoseconds duration);

// For people: "64 KiB", "1448 B", "16 MiB" (IEC, as buffers are).
std::string FormatBytes(Bytes size);

// Three significant digits, no exponent below 1e6: "0.131", "11.8", "1450".
std::string FormatNumber(double value);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_UNITS_H_
