// A capture in the making: one pcapng file of one interface, in memory.
//
// draft-ietf-opsawg-pcapng: section header (4.1), interface description (4.2),
// enhanced packets (4.3), interface statistics (4.6). Written little-endian;
// readers take both. In the agent too: no library but the standard's.
#ifndef WIRETOLL_HARNESS_CAPTURE_PCAPNG_WRITER_H_
#define WIRETOLL_HARNESS_CAPTURE_PCAPNG_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace wiretoll {

// Link types as the LINKTYPE_ registry of tcpdump.org numbers them.
inline constexpr std::uint16_t kLinkEthernet = 1;

// Where frames were captured.
struct CaptureInterface {
  std::string name;  // UTF-8; cut to 65,535 bytes. Empty: not written.
  std::uint16_t link_type = kLinkEthernet;
  std::uint32_t snap_length = 0;  // Bytes kept of a frame; 0: no limit.
};

// Threads: one at a time. Does not fail but for want of memory.
class PcapngWriter {
 public:
  // Writes the section and the interface at once: a capture of no frames is a
  // file too.
  explicit PcapngWriter(const CaptureInterface& at);

  // One frame: `time_ns` since 1970-01-01T00:00:00Z, from 0; `kept` its first
  // bytes, at most 2^31 of them; `original_bytes` its length on the link, as
  // captured: without preamble and frame check sequence.
  void Add(std::int64_t time_ns, std::span<const std::byte> kept,
           std::uint32_t original_bytes);

  // What the capture says of itself, as its last block; call it once.
  struct Statistics {
    std::int64_t time_ns = 0;  // When they were read, as of Add().
    // Frames that arrived, and of those the ones lost for want of room; empty:
    // not known, and left out.
    std::optional<std::int64_t> received;
    std::optional<std::int64_t> dropped;
    std::string comment;  // UTF-8; cut to 65,535 bytes. Empty: not written.
  };
  void Finish(const Statistics& statistics);

  // What was written since the last Take(). All pieces, one behind the other,
  // are the file.
  [[nodiscard]] std::string Take() { return std::exchange(file_, {}); }
  // What the next Take() would give; valid until the next call.
  [[nodiscard]] std::string_view pending() const { return file_; }

 private:
  std::string file_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_PCAPNG_WRITER_H_
