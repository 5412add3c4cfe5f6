// What a program of ours needs from the system before anything else.
#ifndef WIRETOLL_PLATFORM_PROCESS_H_
#define WIRETOLL_PLATFORM_PROCESS_H_

#include "harness/base/result.h"

namespace wiretoll {

// Once, first thing in main(): sockets usable (Winsock start-up), a torn pipe
// or connection is an error and not a signal (SIGPIPE ignored), standard
// input and output carry bytes unchanged (binary mode).
Result<Done> PrepareProcess();

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_PROCESS_H_
