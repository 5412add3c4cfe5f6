// What may end a trial from outside its own loop: the deadline, an abort, the
// time to stop. And what may be looked at meanwhile: the peer's window.
#ifndef WIRETOLL_HARNESS_AGENT_TRIAL_CONTROL_H_
#define WIRETOLL_HARNESS_AGENT_TRIAL_CONTROL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "harness/agent/moment_sampler.h"
#include "harness/agent/protocol.h"
#include "harness/base/units.h"
#include "platform/socket.h"

namespace wiretoll {

// Why a trial was cut short.
enum class Cut { kNone, kDeadline, kAborted };

// What a UDP sender sent, and when that was told here.
struct SentWord {
  SentNotice notice;
  SteadyTime at{};
};

// Three threads meet here: the agent's reader (Go, Sent, Abort), the trial's
// own (all else), and a watchdog thread of this object's. The measuring loop
// sees one relaxed atomic and no lock, so being watched costs it next to
// nothing.
class TrialControl {
 public:
  // The deadline of the whole trial counts from here.
  explicit TrialControl(std::chrono::milliseconds deadline);
  ~TrialControl();
  TrialControl(const TrialControl&) = delete;
  TrialControl& operator=(const TrialControl&) = delete;

  // The receiver listens on `port`. Only the first call counts.
  void Go(std::uint16_t port);
  // The sender is done, and sent this. Only the first call counts.
  void Sent(const SentNotice& notice);
  // Interrupts whatever the trial waits for. Does not wait for its end.
  void Abort();

  // The port that Go() told, or nothing if the trial was cut short.
  std::optional<std::uint16_t> AwaitGo();

  // Sent() was called.
  [[nodiscard]] bool told() const {
    return told_.load(std::memory_order_relaxed);
  }
  // Requires told().
  [[nodiscard]] SentWord sent() const;

  // The loop ends at `moment`, in its own time: a Send under way is not
  // interrupted.
  void StopAt(SteadyTime moment);
  // Set at the time to stop and when the trial is cut short.
  [[nodiscard]] bool stop() const { return stop_; }
  // What the loop asks between two calls; false once stop() is set. Looks at
  // the window of `socket`'s peer where that is due: here, because the kernel
  // keeps a socket locked while a call is under way, and another thread's look
  // would have the loop wake it again and again.
  bool GoesOn(const Socket& socket) {
    return !attention_.load(std::memory_order_relaxed) || Attend(socket);
  }

  // Whose looks are the loop's to take between two calls, while that loop runs;
  // nullptr: nobody's. What it sets as one is due.
  std::atomic<bool>* TakeLooksOf(MomentSampler* moments) {
    moments_ = moments;
    return &attention_;
  }

  // WaitUntil() that a stop ends early. False if it did.
  bool PauseUntil(SteadyTime due);

  // Until the deadline; 0 if it is past.
  [[nodiscard]] std::chrono::milliseconds Remaining() const;
  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }
  [[nodiscard]] Cut cut() const;

  // Has the window that the peer of the guarded socket advertises looked at
  // every 5 ms, and every 50 ms once a quarter of a second has gone by, until
  // EndSampling(): by the loop between two calls, or by the watchdog where the
  // loop is held up in one.
  void BeginSampling();
  // The largest window seen; nothing if none was.
  std::optional<std::int64_t> EndSampling();

 private:
  friend class SocketGuard;

  void Guard(Socket* socket);
  void Watch();
  SteadyTime NextLook(SteadyTime now) const;
  void Look(SteadyTime now);
  void Stop();
  void CutShort(Cut why);
  bool Attend(const Socket& socket);
  void LookAtWindow(const Socket& socket);

  MomentSampler* moments_ = nullptr;
  const std::chrono::milliseconds deadline_;
  const SteadyTime until_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> look_due_{false};
  std::atomic<bool> attention_{false};  // Either of them: set after them.
  std::atomic<bool> told_{false};
  static constexpr std::int64_t kNoWindow = -1;
  std::atomic<std::int64_t> window_peak_{kNoWindow};

  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  Cut cut_ = Cut::kNone;
  bool ending_ = false;
  std::optional<SteadyTime> sampling_since_;
  std::optional<std::uint16_t> port_;
  std::optional<SteadyTime> stop_at_;
  SentWord sent_;
  Socket* guarded_ = nullptr;

  std::thread watchdog_;  // Last: it uses all of the above.
};

// While it lives, a trial cut short interrupts `socket`, which must outlive
// it. One at a time for a trial.
class SocketGuard {
 public:
  SocketGuard(TrialControl& control, Socket& socket) : control_(control) {
    control_.Guard(&socket);
  }
  ~SocketGuard() { control_.Guard(nullptr); }
  SocketGuard(const SocketGuard&) = delete;
  SocketGuard& operator=(const SocketGuard&) = delete;

 private:
  TrialControl& control_;
};

// For messages: "30 s", "250 ms".
std::string DeadlineInWords(const TrialControl& control);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_TRIAL_CONTROL_H_
