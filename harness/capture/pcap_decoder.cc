// pcap: a header of 24 bytes, then records of 16 bytes and a frame each.
#include <fmt/format.h>

#include <limits>

#include "harness/capture/byte_order.h"
#include "harness/capture/capture_decoder.h"

namespace wiretoll {
namespace {

constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr std::uint32_t kNanoseconds = 0xA1B23C4D;
constexpr std::size_t kFileHead = 24;
constexpr std::size_t kRecordHead = 16;

class PcapDecoder : public CaptureDecoder {
 public:
  using CaptureDecoder::CaptureDecoder;

  std::optional<Failure> ReadHead(const std::string& name);

 protected:
  bool NextFrame(CapturedFrame& frame) override;

 private:
  std::int64_t unit_ns_ = 1000;  // Of a record's second half of the time.
};

std::optional<Failure> PcapDecoder::ReadHead(const std::string& name) {
  const std::uint32_t magic = Big32(bytes_.at(0));
  big_ = magic == kMicroseconds || magic == kNanoseconds;
  unit_ns_ = Number32(0) == kNanoseconds ? 1 : 1000;
  const std::uint16_t major = Number16(4);
  // Before 2.3 the two lengths of a record stood the other way round.
  const std::uint16_t minor = Number16(6);
  if (major != 2 || minor < 3) {
    return Failure{
        ExitCode::kUsage,
        fmt::format("{}: is pcap of version {}.{}; what can be read is 2.3 and "
                    "2.4. Wireshark's editcap makes it one: editcap -F pcapng "
                    "FILE NEW.pcapng",
                    name, major, minor)};
  }
  facts_.format = "pcap";
  InterfaceFacts interface;
  interface.snap_length = Number32(16);
  // The upper half says how long the frame check sequence is, if any.
  interface.link_type = static_cast<std::uint16_t>(Number32(20) & 0xFFFF);
  facts_.interfaces.push_back(interface);
  bytes_.Advance(kFileHead);
  return std::nullopt;
}

bool PcapDecoder::NextFrame(CapturedFrame& frame) {
  if (!bytes_.Have(kRecordHead)) {
    const bool torn = bytes_.available() > 0 || bytes_.failed();
    return torn ? Torn("a frame's header") : Ended();
  }
  Found found;
  // Below 2^32 seconds and 2^32 us: far from what 64 bits hold.
  found.time_ns = std::int64_t{Number32(0)} * 1'000'000'000 +
                  std::int64_t{Number32(4)} * unit_ns_;
  found.kept = Number32(8);
  found.original = Number32(12);
  found.data_at = kRecordHead;
  found.takes = kRecordHead + found.kept;
  if (found.kept > kMostKept) {
    return Damaged(fmt::format("a frame of {} bytes, where {} are the most",
                               found.kept, kMostKept));
  }
  if (!bytes_.Have(found.takes)) {
    return Torn(fmt::format("a frame of {} bytes, of which there are {}",
                            found.kept, bytes_.available() - kRecordHead));
  }
  Give(found, frame);
  return true;
}

}  // namespace

Outcome<std::unique_ptr<CaptureDecoder>> MakePcapDecoder(
    BlockBuffer bytes, const std::string& name) {
  auto decoder = std::make_unique<PcapDecoder>(std::move(bytes));
  if (auto failure = decoder->ReadHead(name)) return *failure;
  return std::unique_ptr<CaptureDecoder>(std::move(decoder));
}

}  // namespace wiretoll
