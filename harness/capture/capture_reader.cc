#include "harness/capture/capture_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "harness/base/words.h"
#include "harness/capture/byte_order.h"
#include "harness/capture/capture_decoder.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kPcapngMagic = 0x0A0D0D0A;
constexpr std::size_t kPcapHead = 24;
constexpr std::size_t kPcapngHead = 12;

Failure Unusable(const std::string& name, const std::string& why) {
  return {ExitCode::kUsage, name + ": " + why};
}

bool StartsWith(const BlockBuffer& bytes, std::string_view magic) {
  return bytes.available() >= magic.size() &&
         std::memcmp(bytes.at(0), magic.data(), magic.size()) == 0;
}

// Files that people take for captures, and what to do with them.
std::string WhatElse(const BlockBuffer& bytes, const std::string& name) {
  if (StartsWith(bytes, "\x1f\x8b"))
    return "is compressed with gzip; unpack it: gunzip -c FILE | wiretoll "
           "observe -";
  if (StartsWith(bytes, "\x28\xb5\x2f\xfd"))
    return "is compressed with zstd; unpack it: zstd -dc FILE | wiretoll "
           "observe -";
  if (StartsWith(bytes, "snoop") || StartsWith(bytes, "GMBU") ||
      StartsWith(bytes, "\xa1\xb2\xcd\x34") ||
      StartsWith(bytes, "\x34\xcd\xb2\xa1"))
    return "is a capture, but neither pcap nor pcapng; Wireshark's editcap "
           "makes it one: editcap -F pcapng FILE NEW.pcapng";
  if (name.ends_with(".etl") || name.ends_with(".ETL"))
    return "is a trace of Windows; pktmon makes it a capture: pktmon etl2pcap "
           "FILE --out NEW.pcapng";
  return {};
}

Failure NoCapture(const BlockBuffer& bytes, const std::string& name) {
  const std::string known = WhatElse(bytes, name);
  if (!known.empty()) return Unusable(name, known);
  const std::string_view begin(reinterpret_cast<const char*>(bytes.at(0)),
                               std::min<std::size_t>(bytes.available(), 16));
  return Unusable(name,
                  fmt::format("is no capture: neither pcap nor pcapng begins "
                              "with {}",
                              QuoteBytes(begin)));
}

bool IsPcap(std::uint32_t magic) {
  return magic == 0xA1B2C3D4 || magic == 0xA1B23C4D;
}

std::string ErrnoWords() { return std::strerror(errno); }

}  // namespace

std::optional<std::int64_t> CaptureFacts::Dropped() const {
  std::optional<std::int64_t> sum;
  for (const InterfaceFacts& interface : interfaces) {
    if (interface.dropped) sum = sum.value_or(0) + *interface.dropped;
  }
  return sum;
}

Outcome<CaptureReader> CaptureReader::Open(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error))
    return Unusable(file.string(), "is a folder, no capture");
  errno = 0;
  auto in = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*in) return Unusable(file.string(), "cannot be opened: " + ErrnoWords());
  return Read(std::move(in), file.string());
}

Outcome<CaptureReader> CaptureReader::Read(std::unique_ptr<std::istream> in,
                                           const std::string& name) {
  BlockBuffer bytes(std::move(in));
  const bool some = bytes.Have(4);
  if (bytes.failed()) return Unusable(name, "cannot be read");
  if (bytes.available() == 0)
    return Unusable(name,
                    "is empty; a capture has a header even before its first "
                    "frame. Was it stopped before it began?");
  if (!some) return NoCapture(bytes, name);
  const std::uint32_t magic = Little32(bytes.at(0));
  const bool pcapng = magic == kPcapngMagic;
  if (!pcapng && !IsPcap(magic) && !IsPcap(Big32(bytes.at(0))))
    return NoCapture(bytes, name);
  const std::size_t head = pcapng ? kPcapngHead : kPcapHead;
  if (!bytes.Have(head))
    return Unusable(name, fmt::format("is torn: of its header of {} bytes "
                                      "there are {}",
                                      head, bytes.available()));
  auto decoder = pcapng ? MakePcapngDecoder(std::move(bytes), name)
                        : MakePcapDecoder(std::move(bytes), name);
  if (!decoder.has_value()) return decoder.error();
  return CaptureReader(std::move(decoder).value());
}

CaptureReader::CaptureReader(std::unique_ptr<CaptureDecoder> decoder)
    : decoder_(std::move(decoder)) {}
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;
CaptureReader::~CaptureReader() = default;

bool CaptureReader::Next(CapturedFrame& frame) { return decoder_->Next(frame); }

const CaptureFacts& CaptureReader::facts() const { return decoder_->facts(); }

std::int64_t CaptureReader::bytes_read() const {
  return decoder_->bytes_read();
}

std::uint16_t CaptureDecoder::Number16(std::size_t offset) const {
  return big_ ? Big16(bytes_.at(offset)) : Little16(bytes_.at(offset));
}

std::uint32_t CaptureDecoder::Number32(std::size_t offset) const {
  return big_ ? Big32(bytes_.at(offset)) : Little32(bytes_.at(offset));
}

void CaptureDecoder::Give(const Found& found, CapturedFrame& frame) {
  InterfaceFacts& interface = facts_.interfaces[found.interface];
  ++interface.frames;
  frame.number = ++facts_.frames;
  if (found.time_ns) {
    CheckClock(*found.time_ns, found.interface);
    last_ns_ = *found.time_ns;
  } else {
    ++facts_.timeless;
  }
  frame.time_ns = last_ns_;
  frame.kept = {bytes_.at(found.data_at), found.kept};
  frame.original_bytes = std::max(found.original, found.kept);
  if (frame.original_bytes > found.kept) ++facts_.cut;
  frame.link_type = interface.link_type;
  given_ = found.takes;
}

void CaptureDecoder::CheckClock(std::int64_t time_ns, std::size_t interface) {
  constexpr auto kBeforeAll = std::numeric_limits<std::int64_t>::min();
  if (last_of_.size() <= interface)
    last_of_.resize(facts_.interfaces.size(), kBeforeAll);
  const std::int64_t last = std::exchange(last_of_[interface], time_ns);
  if (time_ns >= last) return;
  InterfaceFacts& facts = facts_.interfaces[interface];
  ++facts.steps_back;
  facts.largest_step_back_ns =
      std::max(facts.largest_step_back_ns, last - time_ns);
}

std::string CaptureDecoder::Where() const {
  return facts_.frames == 0 ? "before its first frame"
                            : fmt::format("after frame {}", facts_.frames);
}

bool CaptureDecoder::Ended() {
  over_ = true;
  return false;
}

bool CaptureDecoder::Torn(const std::string& what) {
  facts_.ended_early =
      bytes_.failed()
          ? fmt::format("cannot be read {} at byte {}", Where(),
                        bytes_.position())
          : fmt::format("torn {} at byte {}: the file ends inside {}", Where(),
                        bytes_.position(), what);
  return Ended();
}

bool CaptureDecoder::Damaged(const std::string& why) {
  facts_.ended_early =
      fmt::format("damaged {} at byte {}: {}", Where(), bytes_.position(), why);
  return Ended();
}

std::string LinkTypeName(std::uint16_t link_type) {
  switch (link_type) {
    case 0:
      return "loopback (BSD)";
    case 1:
      return "Ethernet";
    case 12:
    case 14:
    case 101:
    case 228:
    case 229:
      return "raw IP";
    case 113:
      return "Linux cooked v1";
    case 276:
      return "Linux cooked v2";
    default:
      return fmt::format("link type {}", link_type);
  }
}

}  // namespace wiretoll
