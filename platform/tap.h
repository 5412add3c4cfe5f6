// A TAP interface: Ethernet frames to and from user space. Linux only; the
// delay line of the lab is built on it, and what lwIP has for a network.
#ifndef WIRETOLL_PLATFORM_TAP_H_
#define WIRETOLL_PLATFORM_TAP_H_

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// Ownership: the interface goes when the Tap does, also when the process is
// killed, and in whichever network namespace it was moved to meanwhile.
class Tap {
 public:
  // Creates interface `name` in this process's network namespace, or takes the
  // one that stands there without anybody who has it; that one stays.
  // Errors: permission_denied, device_or_resource_busy, no_such_file.
  static Result<Tap> Create(const std::string& name);

  Tap(Tap&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Tap& operator=(Tap&&) = delete;
  ~Tap();

  // One frame, whole. operation_would_block if there is none now (Read) or
  // the interface is down or full (Write).
  Result<Bytes> Read(std::span<std::byte> frame);
  Result<Bytes> Write(std::span<const std::byte> frame);

  // Waits until a frame may be there, at most for `patience`. False: the
  // interface is gone.
  [[nodiscard]] bool AwaitFrame(std::chrono::milliseconds patience) const;

 private:
  friend bool WaitReadable(const Tap& a, const Tap& b, SteadyTime until);
  explicit Tap(int fd) noexcept : fd_(fd) {}
  int fd_;
};

// Sleeps until a frame waits on either or `until` is there, to within
// microseconds. False if standard input was closed: time to end.
bool WaitReadable(const Tap& a, const Tap& b, SteadyTime until);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_TAP_H_
