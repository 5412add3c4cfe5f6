#include "platform/lone_thread.h"

#include <sched.h>

#include <thread>

namespace wiretoll {

void RunAlone(const std::function<void()>& work) {
  std::thread([&work] {
#ifdef __linux__
    // fdget() takes no reference while a table has one user. Refused (a
    // sandbox may), the table stays shared and each call costs a little more.
    (void)::unshare(CLONE_FILES);
#endif
    work();
  }).join();
}

}  // namespace wiretoll
