// What a program of ours needs from the system before anything else.
#ifndef WIRETOLL_PLATFORM_PROCESS_H_
#define WIRETOLL_PLATFORM_PROCESS_H_

#include <cstdint>

#include "harness/base/result.h"

namespace wiretoll {

// Once, first thing in main(): sockets usable (Winsock start-up), a torn pipe
// or connection is an error and not a signal (SIGPIPE ignored), standard
// input and output carry bytes unchanged (binary mode).
Result<Done> PrepareProcess();

// Keeps a handle of ours (a descriptor on POSIX) from programs started from
// now on: a pipe that one of them holds open too does not end when we close it.
void KeepFromChildren(std::intptr_t handle);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_PROCESS_H_
