#include "platform/tcp_moment.h"

#include "platform/win32/tcp_info.h"
#include "platform/win32/tcp_readings.h"

namespace wiretoll {

TcpMoment ReadTcpMoment(const Socket& socket) {
  const Result<TcpInfoReading> taken = TakeTcpInfo(socket);
  return taken.has_value() ? MomentFrom(taken.value()) : TcpMoment{};
}

}  // namespace wiretoll
