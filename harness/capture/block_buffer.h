// A stream, looked at in pieces that lie in one, without holding more of it
// than the piece at hand.
#ifndef WIRETOLL_HARNESS_CAPTURE_BLOCK_BUFFER_H_
#define WIRETOLL_HARNESS_CAPTURE_BLOCK_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <vector>

namespace wiretoll {

class BlockBuffer {
 public:
  explicit BlockBuffer(std::unique_ptr<std::istream> in);

  // Makes `bytes` bytes from here on available at at(0); false if fewer are
  // left, or the stream failed. Moves what at() gave before.
  bool Have(std::size_t bytes) { return end_ - begin_ >= bytes || Fill(bytes); }
  // Bytes from here on that need no more reading.
  [[nodiscard]] std::size_t available() const { return end_ - begin_; }
  [[nodiscard]] const std::byte* at(std::size_t offset) const {
    return bytes_.data() + begin_ + offset;
  }
  // Requires bytes <= available().
  void Advance(std::size_t bytes);
  // Leaves out `bytes`; false if the stream ended before.
  bool Skip(std::uint64_t bytes);

  // Of at(0), from where the stream stood at first.
  [[nodiscard]] std::int64_t position() const { return position_; }
  // The system could not read, which is not the end of the stream.
  [[nodiscard]] bool failed() const { return in_->bad(); }

 private:
  bool Fill(std::size_t bytes);

  std::unique_ptr<std::istream> in_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_BLOCK_BUFFER_H_
