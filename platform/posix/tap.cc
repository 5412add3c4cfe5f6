#include "platform/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "platform/posix/native.h"

namespace wiretoll {
namespace {

// Whatever is said on standard input is not for us; only its end is.
bool InputIsOpen(short events) {
  if ((events & POLLIN) == 0) return false;
  std::array<char, 256> ignored{};
  const ssize_t got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

Result<Tap> Tap::Create(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) return ErrorFrom(EINVAL);
  Tap tap{::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (tap.fd_ < 0) return LastError();
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (::ioctl(tap.fd_, TUNSETIFF, &request) < 0) return LastError();
  return tap;
}

Tap::~Tap() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Bytes> Tap::Read(std::span<std::byte> frame) {
  const ssize_t length = ::read(fd_, frame.data(), frame.size());
  if (length < 0) return LastError();
  return Bytes{length};
}

Result<Bytes> Tap::Write(std::span<const std::byte> frame) {
  const ssize_t length = ::write(fd_, frame.data(), frame.size());
  if (length >= 0) return Bytes{length};
  // EIO is how a TAP says that its interface is down.
  return errno == EIO ? ErrorFrom(EAGAIN) : LastError();
}

bool Tap::AwaitFrame(std::chrono::milliseconds patience) const {
  pollfd waiting{fd_, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  return ready <= 0 || (waiting.revents & (POLLERR | POLLNVAL)) == 0;
}

bool WaitReadable(const Tap& a, const Tap& b, SteadyTime until) {
  const SteadyTime now = std::chrono::steady_clock::now();
  const Nanoseconds left = std::max(until, now) - now;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  std::array<pollfd, 3> waiting{
      {{a.fd_, POLLIN, 0}, {b.fd_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  if (::ppoll(waiting.data(), waiting.size(), &timeout, nullptr) <= 0) {
    return true;  // Time is up, or a signal: the caller looks at the clock.
  }
  return waiting[2].revents == 0 || InputIsOpen(waiting[2].revents);
}

}  // namespace wiretoll
