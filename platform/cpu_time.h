// CPU time of a thread, and where it runs.
#ifndef WIRETOLL_PLATFORM_CPU_TIME_H_
#define WIRETOLL_PLATFORM_CPU_TIME_H_

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// User and system time of the calling thread so far.
Result<Nanoseconds> ThreadCpuTime();

// What ThreadCpuTime() grows by at a time: a span of few of these is not
// measured. Nanoseconds on Linux; a timer tick, 15.6 ms, on Windows.
Nanoseconds ThreadCpuTimeStep();

// Keeps the calling thread on one CPU (numbered from 0).
// Errors: invalid_argument if there is no such CPU.
Result<Done> PinThread(int cpu);

// Lets the calling thread run on every CPU again.
Result<Done> UnpinThread();

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_CPU_TIME_H_
