#include "harness/sink/numbered.h"

#include <algorithm>
#include <cstdlib>

#include "harness/agent/datagram_header.h"

namespace wiretoll {
namespace {

constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kHeaderBytes = 12;  // Number, seconds, microseconds.
constexpr std::int64_t kDay = std::int64_t{24} * 3600;

std::int32_t NumberIn(std::span<const std::byte> datagram) {
  return static_cast<std::int32_t>(
      GetNetworkOrder<std::uint32_t>(datagram.data()));
}

}  // namespace

bool NumberWatch::Opens(std::span<const std::byte> datagram) const {
  if (datagram.size() < kHeaderBytes) return false;
  const std::int32_t number = NumberIn(datagram);
  const std::int64_t seconds =
      GetNetworkOrder<std::uint32_t>(datagram.data() + kNumberBytes);
  const std::uint32_t micros =
      GetNetworkOrder<std::uint32_t>(datagram.data() + 2 * kNumberBytes);
  return (number == 0 || number == 1) && std::abs(seconds - wall_) <= kDay &&
         micros < 1'000'000;
}

bool NumberWatch::Add(std::span<const std::byte> datagram) {
  if (first_) {
    first_ = false;
    numbered_ = Opens(datagram);
    if (numbered_) base_ = NumberIn(datagram);
  }
  if (!numbered_ || datagram.size() < kNumberBytes) return true;
  const std::int64_t number = NumberIn(datagram);
  const std::int64_t place = std::abs(number) - base_;
  if (place >= 0 && order_.Add(place) != Arrival::kAbsurd) {
    highest_ = std::max(highest_, place);
  }
  return number >= 0;
}

std::optional<NumberedDatagrams> NumberWatch::Numbers() const {
  if (!numbered_) return std::nullopt;
  NumberedDatagrams numbers;
  numbers.sent = highest_ + 1;
  numbers.lost = numbers.sent - order_.unique();
  numbers.duplicated = order_.duplicated();
  numbers.reordered = order_.reordered();
  return numbers;
}

}  // namespace wiretoll
