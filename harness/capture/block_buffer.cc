#include "harness/capture/block_buffer.h"

#include <algorithm>
#include <utility>

namespace wiretoll {
namespace {

// Reading more at once is no faster; a pipe gives 64 KiB at most anyway.
constexpr std::size_t kAtOnce = std::size_t{256} << 10;

}  // namespace

BlockBuffer::BlockBuffer(std::unique_ptr<std::istream> in)
    : in_(std::move(in)), bytes_(kAtOnce) {}

void BlockBuffer::Advance(std::size_t bytes) {
  begin_ += bytes;
  position_ += static_cast<std::int64_t>(bytes);
}

bool BlockBuffer::Skip(std::uint64_t bytes) {
  while (bytes > available()) {
    bytes -= available();
    Advance(available());
    if (!Have(1)) return bytes == 0;
  }
  Advance(static_cast<std::size_t>(bytes));
  return true;
}

bool BlockBuffer::Fill(std::size_t bytes) {
  std::move(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
            bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
  end_ -= begin_;
  begin_ = 0;
  while (end_ < bytes && in_->good()) {
    // A length that lies takes no more memory than the stream has bytes.
    if (end_ == bytes_.size()) bytes_.resize(2 * bytes_.size());
    in_->read(reinterpret_cast<char*>(bytes_.data() + end_),
              static_cast<std::streamsize>(bytes_.size() - end_));
    end_ += static_cast<std::size_t>(in_->gcount());
  }
  return end_ >= bytes;
}

}  // namespace wiretoll
