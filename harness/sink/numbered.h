// Numbers in datagrams of iperf 2, where they are there.
#ifndef WIRETOLL_HARNESS_SINK_NUMBERED_H_
#define WIRETOLL_HARNESS_SINK_NUMBERED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "harness/agent/datagram_figures.h"
#include "harness/sink/sink.h"

namespace wiretoll {

// Looks at each datagram of a stream, the first of which decides: a number of
// 0 or 1, and a time within a day of `wall_seconds` (since 1970) behind it.
class NumberWatch {
 public:
  explicit NumberWatch(std::int64_t wall_seconds) : wall_(wall_seconds) {}

  // False: it was the sender's last one (a number below 0), which says so and
  // is sent more than once.
  bool Add(std::span<const std::byte> datagram);

  // Empty: the stream's datagrams are not numbered.
  [[nodiscard]] std::optional<NumberedDatagrams> Numbers() const;

 private:
  [[nodiscard]] bool Opens(std::span<const std::byte> datagram) const;

  std::int64_t wall_;
  bool first_ = true;
  bool numbered_ = false;
  std::int64_t base_ = 0;
  std::int64_t highest_ = -1;
  ArrivalOrder order_{std::nullopt};
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SINK_NUMBERED_H_
