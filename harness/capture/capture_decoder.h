// What reading pcap and pcapng have in common. For capture_reader.cc and its
// two formats only.
#ifndef WIRETOLL_HARNESS_CAPTURE_CAPTURE_DECODER_H_
#define WIRETOLL_HARNESS_CAPTURE_CAPTURE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/capture/block_buffer.h"
#include "harness/capture/capture_reader.h"

namespace wiretoll {

// No frame of a link that we know is longer, offloads' super-frames (BIG TCP:
// 512 KiB) included.
inline constexpr std::uint32_t kMostKept = std::uint32_t{1} << 20;

class CaptureDecoder {
 public:
  explicit CaptureDecoder(BlockBuffer bytes) : bytes_(std::move(bytes)) {}
  CaptureDecoder(const CaptureDecoder&) = delete;
  CaptureDecoder& operator=(const CaptureDecoder&) = delete;
  virtual ~CaptureDecoder() = default;

  // As CaptureReader::Next().
  bool Next(CapturedFrame& frame) {
    bytes_.Advance(std::exchange(given_, 0));
    return !over_ && NextFrame(frame);
  }
  [[nodiscard]] const CaptureFacts& facts() const { return facts_; }
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_.position(); }

 protected:
  virtual bool NextFrame(CapturedFrame& frame) = 0;

  // In the byte order of the file.
  [[nodiscard]] std::uint16_t Number16(std::size_t offset) const;
  [[nodiscard]] std::uint32_t Number32(std::size_t offset) const;

  // Counts the frame that stands `data_at` bytes from here, and gives it.
  // `takes` is how far the next thing is from here.
  struct Found {
    std::size_t interface = 0;
    std::optional<std::int64_t> time_ns;
    std::uint32_t kept = 0, original = 0;
    std::size_t data_at = 0, takes = 0;
  };
  void Give(const Found& found, CapturedFrame& frame);

  // The reading is over, here: always false.
  bool Ended();                        // As it should.
  bool Torn(const std::string& what);  // The file ends inside `what`.
  bool Damaged(const std::string& why);

  BlockBuffer bytes_;
  CaptureFacts facts_;
  bool big_ = false;  // Most significant byte first.

 private:
  void CheckClock(std::int64_t time_ns, std::size_t interface);
  [[nodiscard]] std::string Where() const;

  bool over_ = false;
  std::size_t given_ = 0;  // What the last frame takes.
  std::int64_t last_ns_ = 0;
  std::vector<std::int64_t> last_of_;  // By interface.
};

// Both take `bytes` at the very start, where Have(24) and Have(12) holds, and
// the magic number was looked at. The first may find it no file for us.
Outcome<std::unique_ptr<CaptureDecoder>> MakePcapDecoder(
    BlockBuffer bytes, const std::string& name);
Outcome<std::unique_ptr<CaptureDecoder>> MakePcapngDecoder(
    BlockBuffer bytes, const std::string& name);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_CAPTURE_DECODER_H_
