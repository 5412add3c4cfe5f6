// Numbers out of bytes, in the order that formats say.
#ifndef WIRETOLL_HARNESS_CAPTURE_BYTE_ORDER_H_
#define WIRETOLL_HARNESS_CAPTURE_BYTE_ORDER_H_

#include <cstddef>
#include <cstdint>

namespace wiretoll {

// All need as many bytes at `at` as the number has.
constexpr std::uint8_t Byte(const std::byte* at) {
  return std::to_integer<std::uint8_t>(*at);
}

// Most significant byte first: network order.
constexpr std::uint16_t Big16(const std::byte* at) {
  return static_cast<std::uint16_t>(Byte(at) << 8 | Byte(at + 1));
}
constexpr std::uint32_t Big32(const std::byte* at) {
  return std::uint32_t{Big16(at)} << 16 | Big16(at + 2);
}

// Least significant byte first.
constexpr std::uint16_t Little16(const std::byte* at) {
  return static_cast<std::uint16_t>(Byte(at + 1) << 8 | Byte(at));
}
constexpr std::uint32_t Little32(const std::byte* at) {
  return std::uint32_t{Little16(at + 2)} << 16 | Little16(at);
}

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_BYTE_ORDER_H_
