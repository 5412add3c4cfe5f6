// What the sink's two kinds of stream share.
#ifndef WIRETOLL_HARNESS_SINK_PARTS_H_
#define WIRETOLL_HARNESS_SINK_PARTS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/sink/sink.h"
#include "platform/clock.h"
#include "platform/socket.h"

namespace wiretoll {

// How often a blocked call returns to be asked whether it is over.
inline constexpr std::chrono::milliseconds kLook{100};

// What ends a stream from outside.
class SinkBounds {
 public:
  SinkBounds(const SinkSpec& spec, const std::function<bool()>& stop)
      : spec_(spec), stop_(stop), until_(MonotonicNow() + spec.longest) {}

  // Why it is over with `bytes` taken; empty: it goes on.
  [[nodiscard]] std::string Over(std::int64_t bytes) const;

 private:
  const SinkSpec& spec_;
  const std::function<bool()>& stop_;
  SteadyTime until_;
};

// "2026-01-02T03:04:05Z"
std::string UtcNow();

// Waits `patience` in all for what `next` (which blocks kLook at most) gives;
// empty: nobody came, or stop().
template <class Next>
auto AwaitNext(std::chrono::milliseconds patience,
               const std::function<bool()>& stop, Next next)
    -> decltype(next()) {
  const SteadyTime until = MonotonicNow() + patience;
  while (!stop() && MonotonicNow() < until) {
    if (auto got = next()) return got;
  }
  return std::nullopt;
}

// The options of a receiver, read back.
void FillOptions(const Socket& socket, const SinkSpec& spec, bool udp,
                 EndReport& end);

// One stream each; empty: nobody came in time, or stop().
std::optional<SunkStream> TakeTcp(Socket& listener, const SinkSpec& spec,
                                  const std::function<bool()>& stop);
std::optional<SunkStream> TakeUdp(Socket& socket, const SinkSpec& spec,
                                  const std::function<bool()>& stop);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SINK_PARTS_H_
