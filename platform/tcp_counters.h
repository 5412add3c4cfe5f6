// The kernel's own counts of one connection.
#ifndef WIRETOLL_PLATFORM_TCP_COUNTERS_H_
#define WIRETOLL_PLATFORM_TCP_COUNTERS_H_

#include "harness/base/tcp_counters.h"
#include "platform/socket.h"

namespace wiretoll {

// Before the first byte of a connection is sent or received, as soon as it
// stands: has the system count for it, where it does so on demand (Windows,
// which lets an administrator only: ReadTcpCounters() says so). Never fails.
void BeginTcpCounters(const Socket& socket);

// Whatever this system tells of a connected socket; never fails: what is not
// to be had is empty, with the reason. Final only once nothing is in flight:
// Socket::UnacknowledgedBytes() == 0, or after end of stream was received.
// peer_window_initial_bytes and peer_window_peak_bytes stay empty: they need
// more than one look and are filled by whoever looks.
TcpCounters ReadTcpCounters(const Socket& socket);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_TCP_COUNTERS_H_
