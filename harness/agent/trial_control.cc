#include "harness/agent/trial_control.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/clock.h"
#include "platform/tcp_counters.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// A window opens within the first round trips and grows ever more slowly: looks
// begin this close together and go apart.
constexpr Nanoseconds kFirstSamples = 5ms;
constexpr Nanoseconds kLaterSamples = 50ms;
constexpr int kSampleShare = 5;  // Of the time gone by, in between.
// An interrupt that came between two calls of the trial's thread found
// nothing to end: repeat it.
constexpr auto kInterruptEvery = 5ms;
// Nothing to watch for; any long but finite time will do.
constexpr auto kIdle = 1h;
// A condition variable is late by less than this; the rest of a pause is for
// the platform's exact wait.
constexpr auto kCoarse = 10ms;

}  // namespace

TrialControl::TrialControl(std::chrono::milliseconds deadline)
    : deadline_(deadline),
      until_(MonotonicNow() + deadline),
      watchdog_([this] { Watch(); }) {}

TrialControl::~TrialControl() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watchdog_.join();
}

void TrialControl::Go(std::uint16_t port) {
  {
    const std::lock_guard lock(mutex_);
    if (!port_) port_ = port;
  }
  changed_.notify_all();
}

void TrialControl::Sent(const SentNotice& notice) {
  const std::lock_guard lock(mutex_);
  if (told_) return;
  sent_ = {notice, MonotonicNow()};
  told_ = true;
}

void TrialControl::Abort() {
  const std::lock_guard lock(mutex_);
  CutShort(Cut::kAborted);
}

std::optional<std::uint16_t> TrialControl::AwaitGo() {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until_,
                      [this] { return port_ || cut_ != Cut::kNone; });
  return cut_ == Cut::kNone ? port_ : std::nullopt;
}

SentWord TrialControl::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

void TrialControl::StopAt(SteadyTime moment) {
  {
    const std::lock_guard lock(mutex_);
    stop_at_ = moment;
  }
  changed_.notify_all();
}

bool TrialControl::PauseUntil(SteadyTime due) {
  if (due - MonotonicNow() > 2 * kCoarse) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, due - kCoarse, [this] { return stop_.load(); });
  }
  if (stop_) return false;
  WaitUntil(due);
  return true;
}

std::chrono::milliseconds TrialControl::Remaining() const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until_ - MonotonicNow());
  return std::max(left, std::chrono::milliseconds{0});
}

Cut TrialControl::cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

void TrialControl::BeginSampling() {
  {
    const std::lock_guard lock(mutex_);
    sampling_since_ = MonotonicNow();
  }
  changed_.notify_all();
}

std::optional<std::int64_t> TrialControl::EndSampling() {
  const std::lock_guard lock(mutex_);
  sampling_since_.reset();
  const std::int64_t peak = window_peak_;
  return peak == kNoWindow ? std::nullopt : std::optional(peak);
}

void TrialControl::Guard(Socket* socket) {
  const std::lock_guard lock(mutex_);
  guarded_ = socket;
  if (guarded_ != nullptr && cut_ != Cut::kNone) guarded_->Interrupt();
}

void TrialControl::Watch() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_until(lock, NextLook(MonotonicNow()));
    Look(MonotonicNow());
  }
}

SteadyTime TrialControl::NextLook(SteadyTime now) const {
  if (cut_ != Cut::kNone) {
    return now + (guarded_ != nullptr ? Nanoseconds(kInterruptEvery)
                                      : Nanoseconds(kIdle));
  }
  SteadyTime next = until_;
  if (stop_at_ && !stop_) next = std::min(next, *stop_at_);
  if (sampling_since_) {
    const Nanoseconds apart = std::clamp<Nanoseconds>(
        (now - *sampling_since_) / kSampleShare, kFirstSamples, kLaterSamples);
    next = std::min<SteadyTime>(next, now + apart);
  }
  return next;
}

void TrialControl::Look(SteadyTime now) {
  if (cut_ != Cut::kNone && guarded_ != nullptr) guarded_->Interrupt();
  if (cut_ == Cut::kNone && now >= until_) CutShort(Cut::kDeadline);
  if (stop_at_ && now >= *stop_at_ && !stop_) Stop();
  if (!sampling_since_ || guarded_ == nullptr) return;
  // Still due since the last time: the loop is in a call that lasts, or in a
  // pause, and the socket is not locked then.
  if (look_due_.exchange(false)) {
    LookAtWindow(*guarded_);
  } else {
    look_due_ = true;
    attention_ = true;
  }
}

// The loop's thread. What is set after attention_ was taken back sets it again.
bool TrialControl::Attend(const Socket& socket) {
  attention_ = false;
  if (look_due_.exchange(false)) LookAtWindow(socket);
  if (moments_ != nullptr) moments_->LookIfDue();
  if (!stop_) return true;
  attention_ = true;
  return false;
}

void TrialControl::LookAtWindow(const Socket& socket) {
  const auto window = ReadTcpCounters(socket).peer_window_bytes;
  if (!window) return;
  std::int64_t peak = window_peak_;
  while (*window > peak && !window_peak_.compare_exchange_weak(peak, *window)) {
  }
}

// Requires the lock.
void TrialControl::Stop() {
  stop_ = true;
  attention_ = true;
  changed_.notify_all();
}

// Requires the lock.
void TrialControl::CutShort(Cut why) {
  if (cut_ == Cut::kNone) cut_ = why;
  // First, so that whoever is interrupted knows that it was no empty datagram.
  Stop();
  if (guarded_ != nullptr) guarded_->Interrupt();
}

std::string DeadlineInWords(const TrialControl& control) {
  const auto deadline = control.deadline();
  return deadline % 1s == 0ms ? fmt::format("{} s", deadline / 1s)
                              : fmt::format("{} ms", deadline / 1ms);
}

}  // namespace wiretoll
