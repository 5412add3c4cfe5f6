// pcapng: blocks of a type and a length, which stands at both ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "harness/base/words.h"
#include "harness/capture/byte_order.h"
#include "harness/capture/capture_decoder.h"

namespace wiretoll {
namespace {

constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
// Type, length, and the length again behind the body.
constexpr std::uint32_t kFrame = 12;
constexpr std::size_t kBody = 8;
// Blocks that we look into. Others may have any length: they are not held.
constexpr std::uint32_t kMostHeld = std::uint32_t{16} << 20;
constexpr std::size_t kMostInterfaces = 10'000;
constexpr std::size_t kMostComments = 8;
constexpr std::size_t kLongestText = 256;
// Sums of a few such stay within 64 bits.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 56;

enum BlockType : std::uint32_t {
  kSection = 0x0A0D0D0A,
  kInterface = 1,
  kObsoletePacket = 2,
  kSimplePacket = 3,
  kStatistics = 5,
  kEnhancedPacket = 6,
};

// What there is at least between type and second length.
constexpr std::uint32_t LeastBody(std::uint32_t type) {
  switch (type) {
    case kSection:
      return 16;
    case kInterface:
      return 8;
    case kObsoletePacket:
    case kEnhancedPacket:
      return 20;
    case kStatistics:
      return 12;
    case kSimplePacket:
      return 4;
    default:
      return 0;
  }
}

constexpr bool IsPacket(std::uint32_t type) {
  return type == kEnhancedPacket || type == kSimplePacket ||
         type == kObsoletePacket;
}

// How the times of an interface become nanoseconds (4.2, if_tsresol and
// if_tsoffset).
struct InterfaceClock {
  bool binary = false;  // Units are 2^-exponent s, else 10^-exponent s.
  unsigned exponent = 6;
  std::int64_t offset_s = 0;
};

constexpr std::uint64_t kBillion = 1'000'000'000;
constexpr auto kEndOfTime = std::numeric_limits<std::int64_t>::max();

std::uint64_t PowerOfTen(unsigned exponent) {
  std::uint64_t power = 1;
  for (unsigned i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::int64_t Saturate(std::uint64_t ns) {
  return static_cast<std::int64_t>(
      std::min(ns, static_cast<std::uint64_t>(kEndOfTime)));
}

// Units of 2^-exponent s. What is below 2^-32 s is less than a nanosecond.
std::int64_t FromBinary(std::uint64_t units, unsigned exponent) {
  if (exponent > 32) {
    units = exponent - 32 < 64 ? units >> (exponent - 32) : 0;
    exponent = 32;
  }
  const std::uint64_t seconds = units >> exponent;
  const std::uint64_t part = units & ((std::uint64_t{1} << exponent) - 1);
  if (seconds > static_cast<std::uint64_t>(kEndOfTime) / kBillion - 1)
    return kEndOfTime;
  return Saturate(seconds * kBillion + (part * kBillion >> exponent));
}

std::int64_t FromDecimal(std::uint64_t units, unsigned exponent) {
  if (exponent > 9) {
    // 10^20 is more than 64 bits hold.
    return exponent - 9 > 19 ? 0 : Saturate(units / PowerOfTen(exponent - 9));
  }
  const std::uint64_t unit_ns = PowerOfTen(9 - exponent);
  if (units > static_cast<std::uint64_t>(kEndOfTime) / unit_ns)
    return kEndOfTime;
  return Saturate(units * unit_ns);
}

std::int64_t ToNanoseconds(std::uint64_t units, const InterfaceClock& clock) {
  const std::int64_t ns = clock.binary ? FromBinary(units, clock.exponent)
                                       : FromDecimal(units, clock.exponent);
  constexpr std::int64_t kMostOffset =
      kEndOfTime / static_cast<std::int64_t>(kBillion);
  const std::int64_t offset =
      std::clamp(clock.offset_s, -kMostOffset, kMostOffset) *
      static_cast<std::int64_t>(kBillion);
  if (offset > 0 && ns > kEndOfTime - offset) return kEndOfTime;
  // No frame is of before 1970; and differences of times stay within 64 bits.
  return std::max<std::int64_t>(ns + offset, 0);
}

class PcapngDecoder : public CaptureDecoder {
 public:
  using CaptureDecoder::CaptureDecoder;

  std::optional<Failure> ReadHead(const std::string& name);

 protected:
  bool NextFrame(CapturedFrame& frame) override;

 private:
  struct Block {
    std::uint32_t type = 0;
    std::uint32_t length = 0;  // All of it.
    [[nodiscard]] std::uint32_t body_end() const { return length - 4; }
  };

  // False, as below: the reading is over.
  bool ReadBlockHead(Block& block);
  bool CheckLength(const Block& block);
  bool HoldBlock(const Block& block);
  bool SkipBlock(const Block& block);
  bool TakeByteOrder();

  bool TakeSection(const Block& block);
  bool TakeInterface(const Block& block);
  bool TakeStatistics(const Block& block);
  // A block that we look into, which is no packet.
  bool TakeOther(const Block& block);
  bool TakePacket(const Block& block, CapturedFrame& frame);

  bool FindFrame(const Block& block, Found& found);
  bool CheckFrame(const Block& block, std::size_t in_section, Found& found);
  [[nodiscard]] std::uint64_t HighLow(std::size_t offset) const {
    return std::uint64_t{Number32(offset)} << 32 | Number32(offset + 4);
  }
  [[nodiscard]] std::uint64_t Number64(std::size_t offset) const {
    const std::uint64_t first = Number32(offset), second = Number32(offset + 4);
    return big_ ? first << 32 | second : second << 32 | first;
  }

  // take(code, offset, bytes) for each option from `from` on.
  template <class Take>
  void ForEachOption(const Block& block, std::size_t from, Take take);
  void TakeClock(std::uint16_t code, std::size_t at, std::size_t bytes,
                 InterfaceClock& clock);
  [[nodiscard]] std::string TextAt(std::size_t at, std::size_t bytes) const;
  void AddComment(std::size_t at, std::size_t bytes);

  std::vector<InterfaceClock> clocks_;  // Of facts_.interfaces.
  std::size_t section_ = 0;  // Where in these the section's interfaces begin.
};

std::optional<Failure> PcapngDecoder::ReadHead(const std::string& name) {
  facts_.format = "pcapng";
  const std::uint32_t magic = Little32(bytes_.at(8));
  if (magic == kByteOrderMagic || Big32(bytes_.at(8)) == kByteOrderMagic)
    return std::nullopt;
  return Failure{
      ExitCode::kUsage,
      fmt::format("{}: is no capture: it begins as pcapng does, but where the "
                  "byte order belongs it has 0x{:08x}",
                  name, magic)};
}

bool PcapngDecoder::NextFrame(CapturedFrame& frame) {
  for (Block block; ReadBlockHead(block);) {
    if (IsPacket(block.type)) return TakePacket(block, frame);
    const bool taken =
        LeastBody(block.type) == 0 ? SkipBlock(block) : TakeOther(block);
    if (!taken) return false;
  }
  return false;
}

bool PcapngDecoder::TakePacket(const Block& block, CapturedFrame& frame) {
  Found found;
  if (!HoldBlock(block) || !FindFrame(block, found)) return false;
  Give(found, frame);
  return true;
}

bool PcapngDecoder::TakeOther(const Block& block) {
  if (!HoldBlock(block)) return false;
  const bool taken = block.type == kSection     ? TakeSection(block)
                     : block.type == kInterface ? TakeInterface(block)
                                                : TakeStatistics(block);
  if (taken) bytes_.Advance(block.length);
  return taken;
}

bool PcapngDecoder::ReadBlockHead(Block& block) {
  if (!bytes_.Have(kBody)) {
    const bool torn = bytes_.available() > 0 || bytes_.failed();
    return torn ? Torn("a block's type and length") : Ended();
  }
  // Of a section's header the type reads the same in either order, and only
  // what follows says which order its length is in.
  if (Little32(bytes_.at(0)) == kSection) {
    if (!bytes_.Have(kFrame)) return Torn("a section's header");
    if (!TakeByteOrder()) return false;
  }
  block.type = Number32(0);
  block.length = Number32(4);
  return CheckLength(block);
}

bool PcapngDecoder::TakeByteOrder() {
  big_ = Big32(bytes_.at(8)) == kByteOrderMagic;
  return big_ || Little32(bytes_.at(8)) == kByteOrderMagic ||
         Damaged("a section without a byte order");
}

bool PcapngDecoder::CheckLength(const Block& block) {
  const std::uint32_t least = kFrame + LeastBody(block.type);
  if (block.length < least || block.length % 4 != 0) {
    return Damaged(fmt::format(
        "a block of type {} and {} bytes; it has {} or more, in fours",
        block.type, block.length, least));
  }
  if (LeastBody(block.type) > 0 && block.length > kMostHeld) {
    return Damaged(
        fmt::format("a block of type {} and {} bytes, where {} are "
                    "the most",
                    block.type, block.length, kMostHeld));
  }
  return true;
}

bool PcapngDecoder::HoldBlock(const Block& block) {
  if (!bytes_.Have(block.length)) {
    return Torn(fmt::format("a block of {} bytes, of which there are {}",
                            block.length, bytes_.available()));
  }
  return Number32(block.body_end()) == block.length ||
         Damaged(fmt::format("a block begins with length {} and ends with {}",
                             block.length, Number32(block.body_end())));
}

bool PcapngDecoder::SkipBlock(const Block& block) {
  if (!bytes_.Skip(block.length - 4) || !bytes_.Have(4))
    return Torn(fmt::format("a block of {} bytes", block.length));
  if (Number32(0) != block.length) {
    return Damaged(fmt::format("a block begins with length {} and ends with {}",
                               block.length, Number32(0)));
  }
  bytes_.Advance(4);
  return true;
}

bool PcapngDecoder::TakeSection(const Block& block) {
  const std::uint16_t major = Number16(12);
  if (major != 1) {
    return Damaged(
        fmt::format("a section of version {}.{}; what can be read "
                    "is 1",
                    major, Number16(14)));
  }
  section_ = facts_.interfaces.size();
  ForEachOption(block, 24,
                [&](std::uint16_t code, std::size_t at, std::size_t bytes) {
                  if (code == 1) AddComment(at, bytes);
                });
  return true;
}

bool PcapngDecoder::TakeInterface(const Block& block) {
  if (facts_.interfaces.size() == kMostInterfaces) {
    return Damaged(fmt::format("more interfaces than {}", kMostInterfaces));
  }
  InterfaceFacts facts;
  facts.link_type = Number16(8);
  facts.snap_length = Number32(12);
  InterfaceClock clock;
  ForEachOption(block, 16,
                [&](std::uint16_t code, std::size_t at, std::size_t bytes) {
                  if (code == 2) facts.name = TextAt(at, bytes);
                  TakeClock(code, at, bytes, clock);
                });
  facts_.interfaces.push_back(std::move(facts));
  clocks_.push_back(clock);
  return true;
}

void PcapngDecoder::TakeClock(std::uint16_t code, std::size_t at,
                              std::size_t bytes, InterfaceClock& clock) {
  if (code == 9 && bytes == 1) {
    const std::uint8_t resolution = Byte(bytes_.at(at));
    clock.binary = (resolution & 0x80) != 0;
    clock.exponent = resolution & 0x7F;
  }
  if (code == 14 && bytes == 8)
    clock.offset_s = static_cast<std::int64_t>(Number64(at));
}

bool PcapngDecoder::TakeStatistics(const Block& block) {
  const std::size_t interface = section_ + Number32(8);
  if (interface >= facts_.interfaces.size()) {
    return Damaged(
        fmt::format("statistics of interface {}, which was not "
                    "described",
                    Number32(8)));
  }
  InterfaceFacts& facts = facts_.interfaces[interface];
  // Each block counts from the start of the capture (4.6): the last one holds.
  std::optional<std::int64_t> received, dropped;
  ForEachOption(
      block, 20, [&](std::uint16_t code, std::size_t at, std::size_t bytes) {
        if (code == 1) AddComment(at, bytes);
        if (bytes != 8) return;
        const auto count =
            static_cast<std::int64_t>(std::min(Number64(at), kMostCounted));
        if (code == 4) received = count;
        // By the interface, and by the system.
        if (code == 5 || code == 7) dropped = dropped.value_or(0) + count;
      });
  if (received) facts.received = received;
  if (dropped) facts.dropped = dropped;
  return true;
}

bool PcapngDecoder::FindFrame(const Block& block, Found& found) {
  if (block.type == kSimplePacket) {
    found.original = Number32(8);
    found.data_at = 12;
    const std::uint32_t room = block.length - kFrame - 4;
    const std::uint32_t snap = section_ < facts_.interfaces.size()
                                   ? facts_.interfaces[section_].snap_length
                                   : 0;
    found.kept = snap > 0 ? std::min(found.original, snap) : found.original;
    found.kept = std::min(found.kept, room);
    return CheckFrame(block, 0, found);
  }
  // The two have the same fields; the obsolete one had 16 bits of interface
  // and a count of drops there.
  const std::size_t in_section =
      block.type == kEnhancedPacket ? Number32(8) : Number16(8);
  found.kept = Number32(20);
  found.original = Number32(24);
  found.data_at = 28;
  if (!CheckFrame(block, in_section, found)) return false;
  found.time_ns = ToNanoseconds(HighLow(12), clocks_[found.interface]);
  return true;
}

bool PcapngDecoder::CheckFrame(const Block& block, std::size_t in_section,
                               Found& found) {
  if (in_section >= facts_.interfaces.size() - section_) {
    return Damaged(
        fmt::format("a frame of interface {}, which was not "
                    "described",
                    in_section));
  }
  if (found.kept > block.body_end() - found.data_at) {
    return Damaged(
        fmt::format("a frame of {} bytes in a block that has room "
                    "for {}",
                    found.kept, block.body_end() - found.data_at));
  }
  if (found.kept > kMostKept) {
    return Damaged(fmt::format("a frame of {} bytes, where {} are the most",
                               found.kept, kMostKept));
  }
  found.interface = section_ + in_section;
  found.takes = block.length;
  return true;
}

template <class Take>
void PcapngDecoder::ForEachOption(const Block& block, std::size_t from,
                                  Take take) {
  std::size_t at = from;
  const std::size_t end = block.body_end();
  while (at < end) {  // Each round goes on by four bytes or more.
    const std::uint16_t code = Number16(at);
    if (code == 0) return;
    const std::size_t bytes = Number16(at + 2);
    const std::size_t padded = (bytes + 3) / 4 * 4;
    if (padded > end - at - 4) {
      ++facts_.broken_options;
      return;
    }
    take(code, at + 4, bytes);
    at += 4 + padded;
  }
}

std::string PcapngDecoder::TextAt(std::size_t at, std::size_t bytes) const {
  return {reinterpret_cast<const char*>(bytes_.at(at)),
          std::min(bytes, kLongestText)};
}

void PcapngDecoder::AddComment(std::size_t at, std::size_t bytes) {
  if (facts_.comments.size() < kMostComments)
    facts_.comments.push_back(TextAt(at, bytes));
}

}  // namespace

Outcome<std::unique_ptr<CaptureDecoder>> MakePcapngDecoder(
    BlockBuffer bytes, const std::string& name) {
  auto decoder = std::make_unique<PcapngDecoder>(std::move(bytes));
  if (auto failure = decoder->ReadHead(name)) return *failure;
  return std::unique_ptr<CaptureDecoder>(std::move(decoder));
}

}  // namespace wiretoll
