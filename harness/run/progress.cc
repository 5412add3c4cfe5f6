#include "harness/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalInterval = 100ms;
constexpr auto kLogInterval = 10s;
// Nothing said for this long makes people wonder. A log gets its first line
// only then, so that what is over at once leaves none.
constexpr auto kPatience = 1500ms;
constexpr std::size_t kColumns = 78;

// Whole seconds are enough of a wait: "20 s", "1 min 20 s".
std::string InSeconds(Nanoseconds duration) {
  const auto whole = std::max<std::chrono::seconds>(
      std::chrono::round<std::chrono::seconds>(duration), 0s);
  return whole < 1min ? fmt::format("{} s", whole / 1s) : FormatDuration(whole);
}

std::string RunLine(const Progress::State& state, Nanoseconds under_way) {
  std::string line = fmt::format("block {}/{}, trial {}/{}", state.block,
                                 state.blocks, state.done, state.trials);
  if (state.failed > 0) line += fmt::format(", {} failed", state.failed);
  if (state.skipped > 0) line += fmt::format(", {} skipped", state.skipped);
  // Once the trial under way has outlasted it, the estimate was wrong.
  if (state.left && under_way <= *state.left) {
    line += fmt::format(", {} left", FormatDuration(*state.left));
  }
  return line;
}

// Never inside a character: names may be in any script.
void CutTo(std::size_t bytes, std::string& line) {
  if (line.size() <= bytes) return;
  while (bytes > 0 && (static_cast<unsigned char>(line[bytes]) & 0xC0) == 0x80)
    --bytes;
  line.resize(bytes);
}

}  // namespace

void TimeLeft::Account(const Cell& cell, double sign) {
  const auto left = static_cast<double>(cell.left);
  if (cell.seen == 0) {
    left_planned_ += sign * left * cell.expected;
    return;
  }
  left_measured_ += sign * left * cell.mean();
  seen_means_ += sign * cell.mean();
  seen_planned_ += sign * cell.expected;
}

void TimeLeft::Plan(Nanoseconds expected, std::int64_t trials) {
  cells_.push_back({static_cast<double>(expected.count()), 0, 0, trials});
  Account(cells_.back(), 1);
}

void TimeLeft::Finished(std::size_t cell, Nanoseconds took) {
  Cell& seen = cells_.at(cell);
  Account(seen, -1);
  seen.took += static_cast<double>(took.count());
  ++seen.seen;
  --seen.left;
  Account(seen, 1);
}

void TimeLeft::Skipped(std::size_t cell) {
  Account(cells_.at(cell), -1);
  --cells_[cell].left;
  Account(cells_[cell], 1);
}

std::optional<Nanoseconds> TimeLeft::Estimate() const {
  if (cells_.empty()) return std::nullopt;
  const double wrong_by = seen_planned_ > 0 ? seen_means_ / seen_planned_ : 1.0;
  // Sums of what came and went may end a hair below 0.
  const double left = std::max(0.0, left_measured_ + wrong_by * left_planned_);
  return Nanoseconds{static_cast<std::int64_t>(left)};
}

Progress::Progress(Look look, std::function<void(const std::string&)> write,
                   Now now)
    : look_(look), write_(std::move(write)), now_(std::move(now)) {
  next_ = now_() + (look_.terminal ? Nanoseconds{0} : Nanoseconds{kPatience});
}

Progress::~Progress() { Clear(); }

void Progress::Show(const State& state) {
  state_ = state;
  state_since_ = now_();
  Draw();
}

void Progress::Wait(const std::string& what, SteadyTime until) {
  wait_ = what;
  wait_until_ = until;
  // Another line of a log may be nine seconds away.
  next_ = std::min<SteadyTime>(next_, now_() + kPatience);
  Tick();
}

void Progress::WaitIsOver() { wait_.clear(); }

void Progress::Tick() {
  if (state_ || !wait_.empty()) Draw();
}

std::string Progress::Line(SteadyTime now) const {
  const Nanoseconds under_way =
      state_ ? Nanoseconds{now - state_since_} : Nanoseconds{0};
  std::string line = state_ ? RunLine(*state_, under_way) : std::string();
  if (!wait_.empty()) {
    return fmt::format("{}{}waiting for {}, {} more at most", line,
                       line.empty() ? "" : ", ", wait_,
                       InSeconds(wait_until_ - now));
  }
  // A trial that lasts is told from one that hangs.
  if (under_way >= kPatience) {
    line += fmt::format(", this one {} of {} at most", InSeconds(under_way),
                        InSeconds(state_->most));
  }
  return line + "  " + state_->now;
}

void Progress::Draw() {
  const SteadyTime now = now_();
  if (look_.quiet || now < next_) return;
  next_ = now + (look_.terminal ? Nanoseconds{kTerminalInterval}
                                : Nanoseconds{kLogInterval});
  std::string line = Line(now);
  if (!look_.terminal) return write_(line + "\n");
  CutTo(kColumns, line);
  const std::size_t width = line.size();
  if (shown_ > width) line.append(shown_ - width, ' ');
  write_(fmt::format("\r{}", line));
  shown_ = width;
}

void Progress::Say(const std::string& line) {
  Clear();
  write_(fmt::format("wiretoll: {}\n", line));
}

void Progress::Clear() {
  if (shown_ == 0) return;
  write_(fmt::format("\r{:{}}\r", "", shown_));
  shown_ = 0;
}

}  // namespace wiretoll
