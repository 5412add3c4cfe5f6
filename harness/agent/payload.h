// What is sent, so that the far end can tell every byte.
#ifndef WIRETOLL_HARNESS_AGENT_PAYLOAD_H_
#define WIRETOLL_HARNESS_AGENT_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "harness/agent/loop_buffer.h"

namespace wiretoll {

// The pattern's length: a prime, so that no power of two, no buffer and no
// segment size hides a byte that is lost, doubled or moved.
inline constexpr std::size_t kPayloadPeriod = 65521;

// `size` bytes of the endless stream that `seed` makes, from its start: byte
// i is that of i modulo kPayloadPeriod.
LoopBuffer MakePayload(std::uint64_t seed, std::size_t size);

// Holds what arrives against the stream that `seed` makes.
class PayloadVerifier {
 public:
  explicit PayloadVerifier(std::uint64_t seed)
      : pattern_(MakePayload(seed, kPayloadPeriod)) {}

  // The bytes that follow those of the last call. After the first wrong byte
  // nothing more is compared.
  void Check(std::span<const std::byte> received);

  // Counted from the start of the stream; empty if all bytes were right.
  [[nodiscard]] std::optional<std::int64_t> first_wrong_byte() const {
    return first_wrong_byte_;
  }

 private:
  void CheckPart(std::span<const std::byte> part);

  LoopBuffer pattern_;
  std::int64_t offset_ = 0;
  std::optional<std::int64_t> first_wrong_byte_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_PAYLOAD_H_
