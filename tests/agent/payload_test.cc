#include "harness/agent/payload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>

namespace wiretoll {
namespace {

std::optional<std::int64_t> FirstWrong(const LoopBuffer& stream,
                                       std::size_t piece) {
  PayloadVerifier verifier(5);
  std::span<const std::byte> left(stream);
  while (!left.empty()) {
    const std::size_t size = std::min(piece, left.size());
    verifier.Check(left.first(size));
    left = left.subspan(size);
  }
  return verifier.first_wrong_byte();
}

TEST(PayloadTest, RepeatsAfterItsPeriodAndNotBefore) {
  const auto payload = MakePayload(1, 2 * kPayloadPeriod + 10);
  for (std::size_t i = 0; i < kPayloadPeriod + 10; ++i) {
    ASSERT_EQ(payload[i], payload[i + kPayloadPeriod]);
  }
  std::size_t equal = 0;
  for (std::size_t i = 0; i < kPayloadPeriod; ++i) {
    equal += payload[i] == payload[i + 4096] ? 1 : 0;
  }
  // Random bytes agree once in 256.
  EXPECT_LT(equal, kPayloadPeriod / 128);
}

TEST(PayloadTest, BuffersBeginAtACacheLineWhateverTheirSize) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{131072}, std::size_t{1} << 24}) {
    const LoopBuffer buffer(size);
    const auto at = reinterpret_cast<std::uintptr_t>(buffer.data());
    EXPECT_EQ(at % kCacheLine, 0U) << size;
  }
}

TEST(PayloadTest, AnotherSeedGivesOtherBytes) {
  EXPECT_NE(MakePayload(1, 100), MakePayload(2, 100));
}

TEST(PayloadTest, VerifierTakesTheStreamInAnyPieces) {
  const auto stream = MakePayload(5, 3 * kPayloadPeriod + 17);
  for (const std::size_t piece : {1UL, 7UL, 1448UL, 65536UL, 1000000UL}) {
    EXPECT_EQ(FirstWrong(stream, piece), std::nullopt) << piece;
  }
}

TEST(PayloadTest, VerifierFindsAFlippedBit) {
  auto stream = MakePayload(5, 200'000);
  stream[131'313] ^= std::byte{0x10};
  stream[140'000] ^= std::byte{0x10};  // Only the first is named.
  for (const std::size_t piece : {1UL, 1448UL, 65536UL, 1000000UL}) {
    EXPECT_EQ(FirstWrong(stream, piece), 131'313) << piece;
  }
}

// A byte lost at 100: what stands there now is the byte of 101. Should the two
// be equal, the next differs.
TEST(PayloadTest, VerifierFindsALostByte) {
  auto stream = MakePayload(5, 1000);
  stream.erase(stream.begin() + 100);
  const auto wrong = FirstWrong(stream, 64);
  ASSERT_TRUE(wrong);
  EXPECT_GE(*wrong, 100);
  EXPECT_LE(*wrong, 102);
}

}  // namespace
}  // namespace wiretoll
