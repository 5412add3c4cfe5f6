#include "harness/agent/payload.h"

#include <algorithm>
#include <cstring>

namespace wiretoll {
namespace {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
std::uint64_t NextRandom(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

// The same bytes on hosts of either byte order.
void FillRandom(std::uint64_t seed, std::span<std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 8 == 0) word = NextRandom(seed);
    bytes[i] = static_cast<std::byte>(word >> (8 * (i % 8)));
  }
}

}  // namespace

LoopBuffer MakePayload(std::uint64_t seed, std::size_t size) {
  LoopBuffer payload(size);
  const std::span whole(payload);
  FillRandom(seed, whole.first(std::min(size, kPayloadPeriod)));
  for (std::size_t done = kPayloadPeriod; done < size;) {
    const std::size_t part = std::min(kPayloadPeriod, size - done);
    std::memcpy(&payload[done], payload.data(), part);
    done += part;
  }
  return payload;
}

void PayloadVerifier::Check(std::span<const std::byte> received) {
  while (!received.empty() && !first_wrong_byte_) {
    const auto start = static_cast<std::size_t>(offset_) % kPayloadPeriod;
    const std::size_t size = std::min(received.size(), kPayloadPeriod - start);
    CheckPart(received.first(size));
    received = received.subspan(size);
  }
}

void PayloadVerifier::CheckPart(std::span<const std::byte> part) {
  const auto start = static_cast<std::size_t>(offset_) % kPayloadPeriod;
  const std::byte* expected = &pattern_[start];
  if (std::memcmp(part.data(), expected, part.size()) != 0) {
    const auto wrong = std::mismatch(part.begin(), part.end(), expected).first;
    first_wrong_byte_ = offset_ + (wrong - part.begin());
  }
  offset_ += static_cast<std::int64_t>(part.size());
}

}  // namespace wiretoll
