#include "harness/agent/moment_sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/trial_loop.h"
#include "harness/base/words.h"
#include "platform/clock.h"
#include "platform/tcp_moment.h"

namespace wiretoll {
namespace {

std::size_t RoomFor(Nanoseconds longest, Nanoseconds period) {
  // One more at either end.
  const std::int64_t due = (longest / period) + 2;
  return std::min(kMostMoments,
                  static_cast<std::size_t>(std::max<std::int64_t>(due, 2)));
}

}  // namespace

MomentSampler::MomentSampler(std::optional<Nanoseconds> period,
                             Nanoseconds longest)
    : period_(period) {
  if (!period_) return;
  room_ = RoomFor(longest, *period_);
  moments_.reserve(room_);
}

void MomentSampler::Begin(const Socket& socket, std::atomic<bool>* attention) {
  if (!period_ || thread_.joinable()) return;
  socket_ = &socket;
  attention_ = attention;
  due_ = false;
  ending_ = false;
  Look();
  thread_ = std::thread([this] { Watch(); });
}

void MomentSampler::End() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  Look();
}

// Moments that were missed are not made up for: the next one is on time.
void MomentSampler::Watch() {
  const FineTimers fine;
  const CpuSpan cpu;
  SteadyTime due = MonotonicNow() + *period_;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_until(lock, due, [this] { return ending_; })) {
    lock.unlock();
    Tick();
    const Nanoseconds late = MonotonicNow() - due;
    due += *period_ * (1 + std::max<std::int64_t>(late / *period_, 0));
    lock.lock();
  }
  const auto used = cpu.Elapsed();
  cpu_ns_ = used.value;
  why_no_cpu_ = used.reason;
}

// A look that nobody took since the last tick is the thread's, and so is every
// one after it until the loop takes one again: one a tick at most.
void MomentSampler::Tick() {
  if (due_.exchange(true)) {
    Look();
  } else if (attention_ != nullptr) {
    *attention_ = true;
  }
}

void MomentSampler::TakeDueLook() {
  if (due_.exchange(false)) Look();
}

void MomentSampler::Look() {
  const std::lock_guard lock(looking_);
  if (moments_.size() == room_) {
    ++left_out_;
    return;
  }
  const SteadyTime at = MonotonicNow();
  moments_.push_back(
      {Nanoseconds{at.time_since_epoch()}.count(), ReadTcpMoment(*socket_)});
}

std::vector<SeriesMoment> MomentSampler::Moments(Nanoseconds wall) const {
  std::vector<SeriesMoment> moments = moments_;
  for (SeriesMoment& moment : moments) moment.at_ns += wall.count();
  return moments;
}

std::vector<std::int64_t> MomentSampler::RoundTrips(Nanoseconds warmup) const {
  std::vector<std::int64_t> times;
  if (moments_.empty()) return times;
  const std::int64_t first = moments_.front().at_ns;
  const std::int64_t from =
      first + (warmup.count() > 0 ? warmup.count()
                                  : (moments_.back().at_ns - first) / 10);
  for (const SeriesMoment& moment : moments_) {
    const TcpMoment& tcp = moment.tcp;
    if (moment.at_ns < from || !tcp.rtt_ns || tcp.in_flight_bytes == 0) {
      continue;
    }
    times.push_back(*tcp.rtt_ns);
  }
  std::ranges::sort(times);
  return times;
}

std::optional<std::int64_t> MomentSampler::PeakWindow() const {
  std::optional<std::int64_t> peak;
  for (const SeriesMoment& moment : moments_) {
    peak = std::max(peak, moment.tcp.peer_window_bytes);
  }
  return peak;
}

std::optional<SeriesSummary> MomentSampler::Summary() const {
  if (!period_) return std::nullopt;
  SeriesSummary summary;
  summary.period_ns = period_->count();
  summary.moments = static_cast<std::int64_t>(moments_.size());
  summary.left_out = left_out_;
  summary.cpu_ns = cpu_ns_;
  if (!cpu_ns_) AddClause("cpu_ns: " + why_no_cpu_, summary.reason);
  std::vector<std::int64_t> apart;
  for (std::size_t i = 1; i < moments_.size(); ++i) {
    apart.push_back(moments_[i].at_ns - moments_[i - 1].at_ns);
  }
  if (!apart.empty()) {
    std::ranges::sort(apart);
    summary.period_median_ns = apart[apart.size() / 2];
    summary.period_longest_ns = apart.back();
  }
  if (left_out_ > 0) {
    AddClause(fmt::format("room for {} moments only: those after them are not "
                          "there; ask for a longer period",
                          room_),
              summary.reason);
  }
  AddClause(NeverTold(), summary.reason);
  return summary;
}

std::string MomentSampler::NeverTold() const {
  std::string names;
  for (const MomentField& field : kMomentFields) {
    const bool told = std::ranges::any_of(moments_, [&](const auto& moment) {
      return (moment.tcp.*field.member).has_value();
    });
    if (told) continue;
    names.append(names.empty() ? "never told: " : ", ").append(field.name);
  }
  return names;
}

}  // namespace wiretoll
