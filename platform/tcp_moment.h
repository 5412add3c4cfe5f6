// One connection at one moment: windows, flight, round trip.
#ifndef WIRETOLL_PLATFORM_TCP_MOMENT_H_
#define WIRETOLL_PLATFORM_TCP_MOMENT_H_

#include "harness/base/tcp_moment.h"
#include "platform/socket.h"

namespace wiretoll {

// Whatever this system tells of a connected socket, in one call into it
// (Linux: TCP_INFO; Windows: SIO_TCP_INFO, and twice where that is of version
// 0). Never fails: what is not to be had is empty, all but the state where
// there is no connection. From any thread; the kernel holds the socket for
// about a microsecond, and waits while a call of another thread's has it.
TcpMoment ReadTcpMoment(const Socket& socket);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_TCP_MOMENT_H_
