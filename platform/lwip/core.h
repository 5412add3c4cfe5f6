// lwIP's headers, and a look into its structures under its lock. Included by
// platform/lwip/ only, which includes none of lwIP's by itself: two of them do
// not say that their functions are C.
#ifndef WIRETOLL_PLATFORM_LWIP_CORE_H_
#define WIRETOLL_PLATFORM_LWIP_CORE_H_

#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>

extern "C" {
#include <lwip/sys.h>
}
#include <lwip/api.h>
#include <lwip/etharp.h>
#include <lwip/ethip6.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/sockets.h>
#include <lwip/tcpip.h>
#include <netif/ethernet.h>
extern "C" {
#include <lwip/priv/sockets_priv.h>
}

#include "platform/socket.h"

namespace wiretoll {

// Held by whatever touches the stack; lwIP's own calls take it themselves.
class CoreLock {
 public:
  CoreLock() { LOCK_TCPIP_CORE(); }
  ~CoreLock() { UNLOCK_TCPIP_CORE(); }
  CoreLock(const CoreLock&) = delete;
  CoreLock& operator=(const CoreLock&) = delete;
};

// Nothing where the handle is no open socket.
inline netconn* ConnectionOf(Socket::Handle handle) {
  if (handle == Socket::Handle::kNone) return nullptr;
  lwip_sock* sock = lwip_socket_dbg_get_socket(static_cast<int>(handle));
  return sock == nullptr ? nullptr : sock->conn;
}

// A connection that stands, or once did; nothing else. Requires a CoreLock for
// as long as it is used.
inline tcp_pcb* TcpBlockOf(Socket::Handle handle) {
  netconn* connection = ConnectionOf(handle);
  if (connection == nullptr || connection->type != NETCONN_TCP) return nullptr;
  tcp_pcb* block = connection->pcb.tcp;
  const bool stands =
      block != nullptr && block->state != CLOSED && block->state != LISTEN;
  return stands ? block : nullptr;
}

// Whether Interrupt() was called on the socket that has this handle now.
bool WasInterrupted(Socket::Handle handle) noexcept;
void SetInterrupted(Socket::Handle handle, bool interrupted) noexcept;

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_LWIP_CORE_H_
