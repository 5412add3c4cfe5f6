#include "platform/cpu_time.h"

#include <sched.h>

#include <ctime>

#include "platform/posix/native.h"

namespace wiretoll {
namespace {

Result<Done> SetAffinity(const cpu_set_t& cpus) {
  constexpr pid_t kThisThread = 0;
  if (::sched_setaffinity(kThisThread, sizeof cpus, &cpus) < 0) {
    return LastError();
  }
  return Done{};
}

}  // namespace

Result<Nanoseconds> ThreadCpuTime() {
  timespec used{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) < 0) return LastError();
  return std::chrono::seconds{used.tv_sec} + Nanoseconds{used.tv_nsec};
}

Nanoseconds ThreadCpuTimeStep() {
  timespec step{};
  // Fails only for a clock that there is not, which the above then says.
  ::clock_getres(CLOCK_THREAD_CPUTIME_ID, &step);
  return std::chrono::seconds{step.tv_sec} + Nanoseconds{step.tv_nsec};
}

Result<Done> PinThread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return ErrorFrom(EINVAL);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  return SetAffinity(cpus);
}

// The kernel takes of these only the CPUs that are there and allowed.
Result<Done> UnpinThread() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &cpus);
  return SetAffinity(cpus);
}

}  // namespace wiretoll
