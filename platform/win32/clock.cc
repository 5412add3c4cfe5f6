#include "platform/clock.h"

#include "platform/clock_offset.h"
#include "platform/win32/native.h"
// Last: it lacks what the headers above bring.
#include <mmsystem.h>

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x00000002
#endif

namespace wiretoll {
namespace {

using std::chrono::steady_clock;
// What FILETIME and timers count in.
using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

// More than the finest timers oversleep by: half a millisecond, or with a
// coarse timer one period of the 1 ms that FineTimers asks for. What is left
// is spun, which the thread's CPU time shows.
constexpr std::chrono::microseconds kSpin{1'000};
constexpr std::chrono::microseconds kCoarseSpin{2'000};

void PauseCpu() { YieldProcessor(); }

// A timer of the calling thread's own, to be waited on. Windows 10 1803 has
// fine ones; before, a timer is as fine as the system's tick.
class WaitableTimer {
 public:
  WaitableTimer()
      : handle_(Create(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)),
        fine_(handle_ != nullptr) {
    if (handle_ == nullptr) handle_ = Create(0);
  }
  ~WaitableTimer() {
    if (handle_ != nullptr) ::CloseHandle(handle_);
  }
  WaitableTimer(const WaitableTimer&) = delete;
  WaitableTimer& operator=(const WaitableTimer&) = delete;

  [[nodiscard]] std::chrono::microseconds spin() const {
    return fine_ ? kSpin : kCoarseSpin;
  }

  // Sleeps for `time` (above 0) as nearly as the timer can, or not at all.
  void Sleep(Nanoseconds time) const {
    LARGE_INTEGER due;
    // Below 0: from now on.
    due.QuadPart = -std::chrono::duration_cast<Ticks>(time).count();
    if (handle_ == nullptr ||
        ::SetWaitableTimer(handle_, &due, 0, nullptr, nullptr, FALSE) == 0) {
      ::Sleep(1);  // The caller looks at the clock, and comes again.
      return;
    }
    // The timer ends the wait; a bound all the same, in case it does not.
    constexpr std::chrono::milliseconds kLongest{60'000};
    const auto most =
        std::min(std::chrono::ceil<std::chrono::milliseconds>(time), kLongest);
    ::WaitForSingleObject(handle_, static_cast<DWORD>(most.count()) + 1'000);
  }

 private:
  static HANDLE Create(DWORD flags) {
    return ::CreateWaitableTimerExW(nullptr, nullptr, flags, TIMER_ALL_ACCESS);
  }

  HANDLE handle_;
  const bool fine_;
};

// In milliseconds; the finest that timeBeginPeriod() takes on any system.
constexpr UINT kFinestPeriod = 1;

// GetSystemTimeAsFileTime() moves in steps of a tick, 15.6 ms, which would look
// like steps of the clock.
Nanoseconds WallNow() {
  FILETIME file_time{};
  ::GetSystemTimePreciseAsFileTime(&file_time);
  ULARGE_INTEGER ticks;
  ticks.LowPart = file_time.dwLowDateTime;
  ticks.HighPart = file_time.dwHighDateTime;
  // From 1601 to 1970, lest nanoseconds overflow.
  constexpr Ticks kToUnix{116'444'736'000'000'000};
  return Ticks{static_cast<std::int64_t>(ticks.QuadPart)} - kToUnix;
}

}  // namespace

Nanoseconds WallMinusMonotonic() { return TightestOffset(WallNow); }

// Windows has an id of neither boot nor clock.
std::string ClockIdentity() { return {}; }

void WaitUntil(SteadyTime due) {
  // Making a timer costs more than a short pause lasts: one a thread.
  thread_local const WaitableTimer timer;
  for (SteadyTime now = steady_clock::now(); due > now + timer.spin();
       now = steady_clock::now()) {
    timer.Sleep(due - now - timer.spin());
  }
  while (steady_clock::now() < due) PauseCpu();
}

FineTimers::FineTimers()
    : previous_ns_(::timeBeginPeriod(kFinestPeriod) == TIMERR_NOERROR ? 1 : 0) {
}

FineTimers::~FineTimers() {
  // Windows counts these calls in pairs and needs no former value.
  if (previous_ns_ > 0) ::timeEndPeriod(kFinestPeriod);
}

}  // namespace wiretoll
