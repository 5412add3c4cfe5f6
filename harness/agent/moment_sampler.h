// A connection looked at every so often while its trial runs
// (harness/samples/series.h).
#ifndef WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_
#define WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/sample.h"
#include "harness/samples/series.h"
#include "platform/socket.h"

namespace wiretoll {

// At most this many moments of one end: a minute of one a millisecond.
inline constexpr std::size_t kMostMoments = 60'000;

// A thread of its own keeps the time. Whose turn a look is follows from the
// kernel's lock on a socket: another thread's look at one that is always in a
// call has the loop wake it again and again, an eighth of the speed at a look
// each millisecond. So a busy loop looks itself, between two calls, as soon as
// a look is due; where it is held up in a call, which waits unlocked, the
// thread does. The trial's thread begins, ends and reads; moments are read
// after End().
class MomentSampler {
 public:
  // Takes what memory it needs at once: for `longest`, which is the trial's.
  // Without a period it does nothing, and costs nothing.
  MomentSampler(std::optional<Nanoseconds> period, Nanoseconds longest);
  ~MomentSampler() { End(); }
  MomentSampler(const MomentSampler&) = delete;
  MomentSampler& operator=(const MomentSampler&) = delete;

  // Looks at `socket` now and then every period until End(); `attention`,
  // where there is one, is set as a look is due. Both outlive that.
  void Begin(const Socket& socket, std::atomic<bool>* attention = nullptr);
  // The loop, between two calls.
  void LookIfDue() {
    if (due_.load(std::memory_order_relaxed)) TakeDueLook();
  }
  // Looks once more. Nothing if it was not begun, or ended before.
  void End();

  [[nodiscard]] bool on() const { return period_.has_value(); }
  // Times are the monotonic clock's plus `wall`.
  [[nodiscard]] std::vector<SeriesMoment> Moments(Nanoseconds wall) const;
  // Of round trips (TcpMoment::rtt_ns) with bytes in flight after `warmup`,
  // which counts from the first moment, or without one after the first tenth
  // of the time; ascending.
  [[nodiscard]] std::vector<std::int64_t> RoundTrips(Nanoseconds warmup) const;
  // The largest that the peer advertised; nothing if none was seen.
  [[nodiscard]] std::optional<std::int64_t> PeakWindow() const;
  // Nothing where it is off.
  [[nodiscard]] std::optional<SeriesSummary> Summary() const;

 private:
  void Watch();
  void Tick();
  void TakeDueLook();
  void Look();
  [[nodiscard]] std::string NeverTold() const;

  const std::optional<Nanoseconds> period_;
  std::size_t room_ = 0;
  const Socket* socket_ = nullptr;
  std::atomic<bool>* attention_ = nullptr;
  std::atomic<bool> due_{false};
  std::mutex looking_;                 // Guards the next two.
  std::vector<SeriesMoment> moments_;  // By the monotonic clock.
  std::int64_t left_out_ = 0;
  std::optional<std::int64_t> cpu_ns_;
  std::string why_no_cpu_;

  std::mutex mutex_;  // Guards ending_.
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

// While it lives, `sampler` looks at `socket`.
class Sampling {
 public:
  Sampling(MomentSampler& sampler, const Socket& socket,
           std::atomic<bool>* attention = nullptr)
      : sampler_(sampler) {
    sampler_.Begin(socket, attention);
  }
  ~Sampling() { sampler_.End(); }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

 private:
  MomentSampler& sampler_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_
