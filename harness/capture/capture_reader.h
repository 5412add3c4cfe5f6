// Frames out of a capture, one after the other: pcap and pcapng, of either
// byte order, from files and pipes. Nothing of the file is held but the block
// at hand.
//
// pcap: draft-ietf-opsawg-pcap. pcapng: draft-ietf-opsawg-pcapng (section 4;
// the obsolete packet block: its appendix A).
#ifndef WIRETOLL_HARNESS_CAPTURE_CAPTURE_READER_H_
#define WIRETOLL_HARNESS_CAPTURE_CAPTURE_READER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// One frame as captured.
struct CapturedFrame {
  std::int64_t number = 0;   // From 1 on, as Wireshark counts them.
  std::int64_t time_ns = 0;  // Since 1970-01-01T00:00:00Z. Of a frame without a
                             // time (simple packet block): the last one known.
  std::span<const std::byte> kept;  // Valid until the next frame is read.
  std::int64_t original_bytes = 0;  // Length on the link; at least kept.size().
  std::uint16_t link_type = 0;      // LINKTYPE_ registry of tcpdump.org.
};

// Where frames were captured, and what the capture says of it.
struct InterfaceFacts {
  std::string name;  // Empty: not told.
  std::uint16_t link_type = 0;
  std::uint32_t snap_length = 0;  // Bytes kept of a frame; 0: no limit told.
  std::int64_t frames = 0;
  // By the last statistics block: frames that arrived, and frames that the
  // interface or the system lost. Empty: not told.
  std::optional<std::int64_t> received, dropped;
  // How often a frame was older than the one before it, and by how much at
  // most.
  std::int64_t steps_back = 0;
  std::int64_t largest_step_back_ns = 0;
};

// What is known of a capture, as far as it was read.
struct CaptureFacts {
  std::string format;  // "pcap" or "pcapng".
  std::int64_t frames = 0;
  std::int64_t cut = 0;             // Frames of which not all bytes were kept.
  std::int64_t timeless = 0;        // Frames without a time.
  std::int64_t broken_options = 0;  // Blocks with options that do not fit in.
  std::vector<InterfaceFacts> interfaces;
  std::vector<std::string> comments;  // Of sections and statistics; some.
  // Why the rest could not be read, with frame and byte; empty: it was read to
  // its end. What came before is good.
  std::string ended_early;

  // Frames lost by all interfaces that tell; empty if none does.
  [[nodiscard]] std::optional<std::int64_t> Dropped() const;
};

// Threads: one at a time. Move-only.
class CaptureReader {
 public:
  // kUsage: the file cannot be read, is empty, or is no capture; names the
  // file and, where it is something known, what to do.
  static Outcome<CaptureReader> Open(const std::filesystem::path& file);
  // The same of a stream, from where it stands; `name` is for messages.
  static Outcome<CaptureReader> Read(std::unique_ptr<std::istream> in,
                                     const std::string& name);

  CaptureReader(CaptureReader&&) noexcept;
  CaptureReader& operator=(CaptureReader&&) noexcept;
  ~CaptureReader();

  // The next frame, or false: there are no more, or facts().ended_early.
  bool Next(CapturedFrame& frame);

  // Grows with what is read.
  [[nodiscard]] const CaptureFacts& facts() const;
  // How far into the file the reading is.
  [[nodiscard]] std::int64_t bytes_read() const;

 private:
  explicit CaptureReader(std::unique_ptr<class CaptureDecoder> decoder);

  std::unique_ptr<class CaptureDecoder> decoder_;
};

// "Ethernet", "Linux cooked v2"; "link type 147" where we have no name for it.
std::string LinkTypeName(std::uint16_t link_type);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_CAPTURE_READER_H_
