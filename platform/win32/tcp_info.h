// SIO_TCP_INFO, as far as this Windows has it. Included by the two that read
// it.
#ifndef WIRETOLL_PLATFORM_WIN32_TCP_INFO_H_
#define WIRETOLL_PLATFORM_WIN32_TCP_INFO_H_

#include "platform/win32/native.h"
#include "platform/win32/tcp_readings.h"

namespace wiretoll {

// Version 1 came with Windows 10 1809, version 0 with 1703.
inline Result<TcpInfoReading> TakeTcpInfo(const Socket& socket) {
  TcpInfoReading reading;
  for (const DWORD version : {DWORD{1}, DWORD{0}}) {
    reading.version = version;
    DWORD asked = version;
    DWORD filled = 0;
    const DWORD room = version == 1 ? sizeof(TCP_INFO_v1) : sizeof(TCP_INFO_v0);
    if (::WSAIoctl(Native(socket.handle()), SIO_TCP_INFO, &asked, sizeof asked,
                   &reading.values, room, &filled, nullptr, nullptr) == 0) {
      return reading;
    }
  }
  return LastError();
}

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_TCP_INFO_H_
