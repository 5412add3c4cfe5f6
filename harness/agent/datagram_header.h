// What opens a datagram of a trial (docs/protocol.md, "A datagram").
#ifndef WIRETOLL_HARNESS_AGENT_DATAGRAM_HEADER_H_
#define WIRETOLL_HARNESS_AGENT_DATAGRAM_HEADER_H_

#include <cstddef>
#include <cstdint>

namespace wiretoll {

// From this many bytes on a datagram carries its trial's tag and its number,
// from that many also when it was sent. Network byte order.
inline constexpr std::int64_t kNumberedBytes = 8;
inline constexpr std::int64_t kTimedBytes = 16;

// Numbers go from 0 to one less: a receiver keeps a bit for each.
inline constexpr std::int64_t kMostDatagrams = std::int64_t{1} << 30;

// Tells one trial's datagrams from another's. Trials whose seeds differ have
// the same tag once in 2^32.
constexpr std::uint32_t TrialTag(std::uint64_t payload_seed) {
  // Fibonacci hashing: seeds that follow one another are far apart.
  return static_cast<std::uint32_t>(payload_seed * 0x9e3779b97f4a7c15U >> 32U);
}

template <class Unsigned>
void PutNetworkOrder(Unsigned value, std::byte* to) {
  for (std::size_t i = sizeof value; i-- > 0; value >>= 8U) {
    to[i] = static_cast<std::byte>(value);
  }
}

template <class Unsigned>
Unsigned GetNetworkOrder(const std::byte* from) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = value << 8U | std::to_integer<Unsigned>(from[i]);
  }
  return value;
}

inline constexpr std::size_t kTagAt = 0;
inline constexpr std::size_t kNumberAt = 4;
inline constexpr std::size_t kTimeAt = 8;  // Nanoseconds, the sender's
                                           // monotonic clock.

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_DATAGRAM_HEADER_H_
