#include "platform/clock.h"

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "platform/clock_offset.h"
#include "platform/posix/facts.h"

namespace wiretoll {
namespace {

using std::chrono::steady_clock;

// Longer than a sleep with fine timers usually oversleeps, shorter than what
// a pause between writes is worth burning CPU for.
constexpr std::chrono::microseconds kSpin{150};

void PauseCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ __volatile__("yield");
#endif
}

timespec ToTimespec(SteadyTime moment) {
  const auto since_boot = moment.time_since_epoch();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  timespec native{};
  native.tv_sec = seconds.count();
  native.tv_nsec = Nanoseconds{since_boot - seconds}.count();
  return native;
}

}  // namespace

Nanoseconds WallMinusMonotonic() {
  return TightestOffset([] {
    return Nanoseconds{std::chrono::system_clock::now().time_since_epoch()};
  });
}

std::string ClockIdentity() {
  const Result<std::string> boot = ReadText("/proc/sys/kernel/random/boot_id");
  if (!boot.has_value()) return {};
  std::error_code error;
  const auto space =
      std::filesystem::read_symlink("/proc/self/ns/time", error);  // "time:[N]"
  // Linux before 5.6 has one clock for all.
  if (error == std::errc::no_such_file_or_directory) return boot.value();
  return error ? std::string() : boot.value() + " " + space.string();
}

void WaitUntil(SteadyTime due) {
  if (due > steady_clock::now() + kSpin) {
    const timespec nearly = ToTimespec(due - kSpin);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &nearly,
                             nullptr) == EINTR) {
    }
  }
  while (steady_clock::now() < due) PauseCpu();
}

FineTimers::FineTimers() : previous_ns_(::prctl(PR_GET_TIMERSLACK)) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
}

FineTimers::~FineTimers() {
  // 0 would mean "the default" to the kernel, -1 was an error.
  if (previous_ns_ > 0) {
    ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(previous_ns_));
  }
}

}  // namespace wiretoll
