#include "harness/capture/sequence_space.h"

#include <algorithm>
#include <limits>

namespace wiretoll {
namespace {

// A window of losses seldom leaves more. Of more the lowest is forgotten, and
// what fills it then counts as repeated.
constexpr std::size_t kMostGaps = 64;
constexpr std::int64_t kBeforeAll = std::int64_t{1} << 32;
constexpr auto kNeverOpened = std::numeric_limits<std::int64_t>::max();

}  // namespace

void SequenceSpace::Start(std::uint32_t first, bool syn_seen) {
  first_ = first;
  started_ = true;
  if (!syn_seen) gaps_.push_back({-kBeforeAll, 0, kNeverOpened});
}

std::int64_t SequenceSpace::OffsetOf(std::uint32_t sequence) const {
  const auto expected = first_ + static_cast<std::uint32_t>(next_);
  return next_ + static_cast<std::int32_t>(sequence - expected);
}

SequenceSpace::Placed SequenceSpace::Place(std::int64_t offset,
                                           std::int64_t bytes,
                                           std::int64_t time_ns) {
  Placed placed;
  const std::int64_t end = offset + bytes;
  if (offset < next_) {
    const std::int64_t below = std::min(end, next_);
    Fill(offset, below, time_ns, placed);
    placed.repeated = below - offset - placed.filled;
  }
  ReachTo(offset, time_ns);
  if (end > next_) {
    placed.fresh = end - next_;
    next_ = end;
  }
  return placed;
}

void SequenceSpace::ReachTo(std::int64_t offset, std::int64_t time_ns) {
  if (offset <= next_) return;
  AddGap({next_, offset, time_ns});
  next_ = offset;
}

void SequenceSpace::AddGap(const Gap& gap) {
  if (!gaps_.empty() && gaps_.back().end == gap.begin) {
    gaps_.back().end = gap.end;
    return;
  }
  if (gaps_.size() == kMostGaps) {
    const Gap& lowest = gaps_.front();
    forgotten_ += std::max<std::int64_t>(
        0, lowest.end - std::max<std::int64_t>(0, lowest.begin));
    gaps_.erase(gaps_.begin());
  }
  gaps_.push_back(gap);
}

void SequenceSpace::Fill(std::int64_t begin, std::int64_t end,
                         std::int64_t time_ns, Placed& placed) {
  for (std::size_t i = 0; i < gaps_.size();) {
    Gap& gap = gaps_[i];
    const std::int64_t from = std::max(begin, gap.begin);
    const std::int64_t to = std::min(end, gap.end);
    if (from >= to) {
      ++i;
      continue;
    }
    if (placed.filled == 0 && gap.opened_ns != kNeverOpened)
      placed.waited_ns = std::max<std::int64_t>(0, time_ns - gap.opened_ns);
    placed.filled += to - from;
    const Gap behind{to, gap.end, gap.opened_ns};
    gap.end = from;
    const bool gone = gap.begin == gap.end;
    if (gone) {
      gap = behind;
    } else if (behind.begin < behind.end) {
      gaps_.insert(gaps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, behind);
      return;  // It lay inside this gap alone.
    }
    if (gaps_[i].begin == gaps_[i].end) {
      gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

std::int64_t SequenceSpace::Missing() const {
  std::int64_t missing = forgotten_;
  for (const Gap& gap : gaps_) {
    missing += std::max<std::int64_t>(
        0, gap.end - std::max<std::int64_t>(0, gap.begin));
  }
  return missing;
}

}  // namespace wiretoll
