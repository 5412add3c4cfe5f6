// A thread whose system calls cost what a program of one thread pays.
#ifndef WIRETOLL_PLATFORM_LONE_THREAD_H_
#define WIRETOLL_PLATFORM_LONE_THREAD_H_

#include <functional>

namespace wiretoll {

// Runs `work` on a new thread and waits for it. Where the system counts uses
// of a handle table that threads share (Linux: about 30 ns on every read and
// write, a tenth of a one-byte read), the thread gets a table of its own, as
// if it were alone. So `work` must not close what others use: the handle would
// stay open with them. What others close stays open until `work` ends.
void RunAlone(const std::function<void()>& work);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_LONE_THREAD_H_
