#include "harness/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalInterval = 100ms;
constexpr auto kLogInterval = 10s;
constexpr std::size_t kColumns = 78;

std::string Line(const Progress::State& state) {
  std::string line = fmt::format("block {}/{}, trial {}/{}", state.block,
                                 state.blocks, state.done, state.trials);
  if (state.failed > 0) line += fmt::format(", {} failed", state.failed);
  if (state.skipped > 0) line += fmt::format(", {} skipped", state.skipped);
  if (state.left) {
    line += fmt::format(", {} left", FormatDuration(*state.left));
  }
  return line + "  " + state.now;
}

// Never inside a character: names may be in any script.
void CutTo(std::size_t bytes, std::string& line) {
  if (line.size() <= bytes) return;
  while (bytes > 0 && (static_cast<unsigned char>(line[bytes]) & 0xC0) == 0x80)
    --bytes;
  line.resize(bytes);
}

}  // namespace

void TimeLeft::Finished(const std::string& cell, Nanoseconds took) {
  Mean& mean = by_cell_[cell];
  if (mean.count > 0) {
    seen_mean_sum_ -= mean.sum / static_cast<double>(mean.count);
  }
  mean.sum += static_cast<double>(took.count());
  ++mean.count;
  seen_mean_sum_ += mean.sum / static_cast<double>(mean.count);
  --left_;
}

std::optional<Nanoseconds> TimeLeft::Estimate() const {
  if (by_cell_.empty()) return std::nullopt;
  // Every cell counts once, however often it was seen, and cells not seen yet
  // are taken to be as long as those that were.
  const double mean = seen_mean_sum_ / static_cast<double>(by_cell_.size());
  return Nanoseconds{static_cast<std::int64_t>(
      mean * static_cast<double>(std::max<std::int64_t>(0, left_)))};
}

Progress::Progress(Look look, std::function<void(const std::string&)> write)
    : look_(look), write_(std::move(write)) {}

Progress::~Progress() { Clear(); }

void Progress::Show(const State& state) {
  if (look_.quiet) return;
  const auto now = std::chrono::steady_clock::now();
  const Nanoseconds interval = look_.terminal ? Nanoseconds{kTerminalInterval}
                                              : Nanoseconds{kLogInterval};
  if (last_ && now - *last_ < interval) return;
  // The first trials say nothing about the time left.
  if (!look_.terminal && !last_ && !state.left) {
    last_ = now - kLogInterval + 2s;
    return;
  }
  last_ = now;
  std::string line = Line(state);
  if (!look_.terminal) return write_(line + "\n");
  CutTo(kColumns, line);
  const std::size_t width = line.size();
  if (shown_ > width) line.append(shown_ - width, ' ');
  write_(fmt::format("\r{}", line));
  shown_ = width;
}

void Progress::Say(const std::string& line) {
  Clear();
  write_(line + "\n");
}

void Progress::Clear() {
  if (shown_ == 0) return;
  write_(fmt::format("\r{:{}}\r", "", shown_));
  shown_ = 0;
}

}  // namespace wiretoll
