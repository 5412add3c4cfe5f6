#include "platform/cpu_time.h"

#include <bit>

#include "platform/win32/native.h"

namespace wiretoll {
namespace {

constexpr int kCpusInGroup = sizeof(KAFFINITY) * 8;

// FILETIME counts 100 ns.
Nanoseconds Duration(const FILETIME& file_time) {
  ULARGE_INTEGER ticks;
  ticks.LowPart = file_time.dwLowDateTime;
  ticks.HighPart = file_time.dwHighDateTime;
  return Nanoseconds{static_cast<std::int64_t>(ticks.QuadPart) * 100};
}

Result<Done> SetAffinity(const GROUP_AFFINITY& cpus) {
  if (::SetThreadGroupAffinity(::GetCurrentThread(), &cpus, nullptr) == 0) {
    const DWORD number = ::GetLastError();
    // Boost has no portable word for this one; the contract has.
    return ErrorFrom(number == ERROR_INVALID_PARAMETER ? WSAEINVAL : number);
  }
  return Done{};
}

// The CPUs of the group that the calling thread may run on.
KAFFINITY Allowed(WORD group) {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  // Gives 0 for a process whose threads are in more than one group.
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) != 0 &&
      process != 0) {
    return process;
  }
  const DWORD cpus = ::GetActiveProcessorCount(group);
  return cpus >= kCpusInGroup ? ~KAFFINITY{0} : (KAFFINITY{1} << cpus) - 1;
}

}  // namespace

// Charged at each timer interrupt to the thread that it finds: steps of one
// tick, 15.6 ms as a rule, and right only over many of them. The thread's
// cycles (QueryThreadCycleTime) are finer, but Microsoft says that they cannot
// be turned into time.
Result<Nanoseconds> ThreadCpuTime() {
  FILETIME created{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (::GetThreadTimes(::GetCurrentThread(), &created, &ended, &kernel,
                       &user) == 0) {
    return ErrorFrom(::GetLastError());
  }
  return Duration(kernel) + Duration(user);
}

Nanoseconds ThreadCpuTimeStep() {
  constexpr DWORD kUsualTick = 156'250;  // In 100 ns, like what is asked for.
  DWORD adjustment = 0;
  DWORD tick = 0;
  BOOL unused = FALSE;
  if (::GetSystemTimeAdjustment(&adjustment, &tick, &unused) == 0 ||
      tick == 0) {
    tick = kUsualTick;
  }
  return Nanoseconds{std::int64_t{tick} * 100};
}

// Windows numbers CPUs within groups; ours go on from group to group.
Result<Done> PinThread(int cpu) {
  if (cpu < 0) return ErrorFrom(WSAEINVAL);
  auto left = static_cast<DWORD>(cpu);
  const WORD groups = ::GetActiveProcessorGroupCount();
  for (WORD group = 0; group < groups; ++group) {
    const DWORD cpus = ::GetActiveProcessorCount(group);
    if (left < cpus) {
      GROUP_AFFINITY one{};
      one.Mask = KAFFINITY{1} << left;
      one.Group = group;
      return SetAffinity(one);
    }
    left -= cpus;
  }
  return ErrorFrom(WSAEINVAL);
}

Result<Done> UnpinThread() {
  GROUP_AFFINITY all{};
  if (::GetThreadGroupAffinity(::GetCurrentThread(), &all) == 0) {
    return ErrorFrom(::GetLastError());
  }
  all.Mask = Allowed(all.Group);
  return SetAffinity(all);
}

}  // namespace wiretoll
