// lwIP does not remember that somebody wanted a socket's calls to end.
#include <array>
#include <atomic>

#include "platform/lwip/core.h"

namespace wiretoll {
namespace {

// By socket number, of which lwIP takes the lowest that is free.
std::array<std::atomic<bool>, 4096> interrupted_sockets;

std::atomic<bool>* Flag(Socket::Handle handle) {
  const auto number = static_cast<std::size_t>(handle);
  return number < interrupted_sockets.size() ? &interrupted_sockets[number]
                                             : nullptr;
}

}  // namespace

bool WasInterrupted(Socket::Handle handle) noexcept {
  const std::atomic<bool>* flag = Flag(handle);
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

void SetInterrupted(Socket::Handle handle, bool interrupted) noexcept {
  if (std::atomic<bool>* flag = Flag(handle)) *flag = interrupted;
}

}  // namespace wiretoll
