#include "platform/process.h"

#include <fcntl.h>

#include <csignal>

#include "platform/posix/native.h"

namespace wiretoll {

Result<Done> PrepareProcess() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  if (::sigaction(SIGPIPE, &ignore, nullptr) < 0) return LastError();
  return Done{};
}

void KeepFromChildren(std::intptr_t handle) {
  ::fcntl(static_cast<int>(handle), F_SETFD, FD_CLOEXEC);
}

}  // namespace wiretoll
