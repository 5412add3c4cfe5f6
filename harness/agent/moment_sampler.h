// A connection looked at every so often while its trial runs
// (harness/samples/series.h).
#ifndef WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_
#define WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_

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

// Looks from a thread of its own, so that the measured loop is not in it. The
// trial's thread begins, ends and reads; moments are read after End().
class MomentSampler {
 public:
  // Takes what memory it needs at once: for `longest`, which is the trial's.
  // Without a period it does nothing, and costs nothing.
  MomentSampler(std::optional<Nanoseconds> period, Nanoseconds longest);
  ~MomentSampler() { End(); }
  MomentSampler(const MomentSampler&) = delete;
  MomentSampler& operator=(const MomentSampler&) = delete;

  // Looks at `socket` now and then every period until End(). The socket
  // outlives that.
  void Begin(const Socket& socket);
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
  void Look();
  [[nodiscard]] std::string NeverTold() const;

  const std::optional<Nanoseconds> period_;
  std::size_t room_ = 0;
  const Socket* socket_ = nullptr;
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
  Sampling(MomentSampler& sampler, const Socket& socket) : sampler_(sampler) {
    sampler_.Begin(socket);
  }
  ~Sampling() { sampler_.End(); }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

 private:
  MomentSampler& sampler_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_MOMENT_SAMPLER_H_
