#include "harness/capture/pcapng_writer.h"

#include <algorithm>
#include <concepts>

#include "harness/base/version.h"

namespace wiretoll {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr std::uint32_t kByteOrder = 0x1A2B3C4D;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kInterfaceStatistics = 5;
constexpr std::uint32_t kEnhancedPacket = 6;
// Type, length, and the length again behind the body.
constexpr std::size_t kBlockFrame = 12;

enum Option : std::uint16_t {
  kEnd = 0,
  kComment = 1,
  kInterfaceName = 2,
  kApplication = 4,  // Of a section,
  kReceived = 4,     // of statistics.
  kDropped = 5,
  kTimeResolution = 9,
};

template <std::unsigned_integral T>
void Put(T value, std::string& to) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
    to += static_cast<char>((value >> (8 * byte)) & 0xFF);
  }
}

// Bodies, options and packets alike fill whole 32-bit words.
void PutPadded(std::string_view bytes, std::string& to) {
  to += bytes;
  to.append((4 - bytes.size() % 4) % 4, '\0');
}

void PutOption(Option option, std::string_view value, std::string& to) {
  value = value.substr(0, 0xFFFF);
  Put<std::uint16_t>(option, to);
  Put(static_cast<std::uint16_t>(value.size()), to);
  PutPadded(value, to);
}

void PutOption(Option option, std::int64_t value, std::string& to) {
  std::string bytes;
  Put(static_cast<std::uint64_t>(value), bytes);
  PutOption(option, bytes, to);
}

void PutBlock(std::uint32_t type, std::string_view body, std::string& to) {
  const auto length = static_cast<std::uint32_t>(kBlockFrame + body.size());
  Put(type, to);
  Put(length, to);
  to += body;
  Put(length, to);
}

// The upper half first, whatever the byte order (4.3).
void PutTime(std::int64_t time_ns, std::string& to) {
  const auto time =
      static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  Put(static_cast<std::uint32_t>(time >> 32), to);
  Put(static_cast<std::uint32_t>(time & 0xFFFFFFFF), to);
}

std::string SectionBody() {
  std::string body;
  Put(kByteOrder, body);
  Put<std::uint16_t>(1, body);  // Version 1.0.
  Put<std::uint16_t>(0, body);
  Put(~std::uint64_t{0}, body);  // The section's length is not told.
  PutOption(kApplication, std::string("wiretoll ") + kVersion, body);
  PutOption(kEnd, "", body);
  return body;
}

std::string InterfaceBody(const CaptureInterface& at) {
  std::string body;
  Put(at.link_type, body);
  Put<std::uint16_t>(0, body);
  Put(at.snap_length, body);
  if (!at.name.empty()) PutOption(kInterfaceName, at.name, body);
  PutOption(kTimeResolution, std::string_view("\x09", 1), body);  // 10^-9 s.
  PutOption(kEnd, "", body);
  return body;
}

}  // namespace

PcapngWriter::PcapngWriter(const CaptureInterface& at) {
  PutBlock(kSectionHeader, SectionBody(), file_);
  PutBlock(kInterfaceDescription, InterfaceBody(at), file_);
}

void PcapngWriter::Add(std::int64_t time_ns, std::span<const std::byte> kept,
                       std::uint32_t original_bytes) {
  constexpr std::size_t kFields = 20;
  const std::size_t padded = (kept.size() + 3) / 4 * 4;
  // Straight into the file: this is done for each frame of a busy line.
  const auto length =
      static_cast<std::uint32_t>(kBlockFrame + kFields + padded);
  Put(kEnhancedPacket, file_);
  Put(length, file_);
  Put(std::uint32_t{0}, file_);  // The only interface.
  PutTime(time_ns, file_);
  Put(static_cast<std::uint32_t>(kept.size()), file_);
  Put(original_bytes, file_);
  PutPadded({reinterpret_cast<const char*>(kept.data()), kept.size()}, file_);
  Put(length, file_);
}

void PcapngWriter::Finish(const Statistics& statistics) {
  std::string body;
  Put(std::uint32_t{0}, body);
  PutTime(statistics.time_ns, body);
  if (!statistics.comment.empty())
    PutOption(kComment, statistics.comment, body);
  if (statistics.received) PutOption(kReceived, *statistics.received, body);
  if (statistics.dropped) PutOption(kDropped, *statistics.dropped, body);
  PutOption(kEnd, "", body);
  PutBlock(kInterfaceStatistics, body, file_);
}

}  // namespace wiretoll
