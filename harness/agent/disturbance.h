// Whether anything but the trial kept the host busy while it ran.
#ifndef WIRETOLL_HARNESS_AGENT_DISTURBANCE_H_
#define WIRETOLL_HARNESS_AGENT_DISTURBANCE_H_

#include "harness/base/units.h"
#include "harness/samples/sample.h"
#include "platform/host_facts.h"

namespace wiretoll {

// One look at the host, before or after.
struct HostLook {
  HostActivity activity;
  Nanoseconds wall_minus_monotonic{0};
  SteadyTime at{};
};

HostLook LookAtHost();

// Disturbed: the hypervisor took more than 20 ms and more than 5 % of one CPU
// over the time between the looks, or the wall clock was stepped by more than
// 5 ms (slewing moves it by far less).
Disturbance Compare(const HostLook& before, const HostLook& after);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_DISTURBANCE_H_
