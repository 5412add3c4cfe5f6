#include "harness/agent/disturbance.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "harness/base/words.h"
#include "platform/clock.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kStolenAtLeast = 20ms;
constexpr std::int64_t kStolenShareDivisor = 20;  // 5 % is one in 20.
constexpr Nanoseconds kStep = 5ms;

void Disturb(Disturbance& found, const std::string& reason) {
  found.disturbed = true;
  AddClause(reason, found.reason);
}

void CompareSteal(const HostLook& before, const HostLook& after,
                  Disturbance& found) {
  const auto& from = before.activity.steal_ns;
  const auto& to = after.activity.steal_ns;
  if (!from.value || !to.value) {
    AddClause("steal_ns: " + (from.value ? to.reason : from.reason),
              found.reason);
    return;
  }
  found.steal_ns = *to.value - *from.value;
  const Nanoseconds stolen(*found.steal_ns);
  const Nanoseconds elapsed = after.at - before.at;
  if (stolen > kStolenAtLeast && stolen > elapsed / kStolenShareDivisor) {
    Disturb(found, fmt::format("the hypervisor took {} ms of CPU time within "
                               "{} ms",
                               stolen / 1ms, elapsed / 1ms));
  }
}

void CompareClocks(const HostLook& before, const HostLook& after,
                   Disturbance& found) {
  const Nanoseconds step =
      after.wall_minus_monotonic - before.wall_minus_monotonic;
  found.clock_step_ns = step.count();
  if (step > kStep || step < -kStep) {
    Disturb(found,
            fmt::format("the wall clock was stepped by {} ms", step / 1ms));
  }
}

}  // namespace

HostLook LookAtHost() {
  return {ReadHostActivity(), WallMinusMonotonic(), MonotonicNow()};
}

Disturbance Compare(const HostLook& before, const HostLook& after) {
  Disturbance found;
  CompareSteal(before, after, found);
  CompareClocks(before, after, found);
  found.load = after.activity.load.value;
  if (!found.load)
    AddClause("load: " + after.activity.load.reason, found.reason);
  return found;
}

}  // namespace wiretoll
