// What Windows tells of a connection, made into counters: no call in here, so
// that it can be tested where Windows is not. Included by platform/win32/ and
// its tests only.
#ifndef WIRETOLL_PLATFORM_WIN32_TCP_READINGS_H_
#define WIRETOLL_PLATFORM_WIN32_TCP_READINGS_H_

#include <optional>
#include <string>

#include "harness/base/tcp_counters.h"
#include "harness/base/tcp_moment.h"
#include "platform/win32/native.h"
// Each lacks what those before it bring.
// clang-format off
#include <mstcpip.h>
#include <iphlpapi.h>
#include <tcpestats.h>
// clang-format on

namespace wiretoll {

// SIO_TCP_INFO. Version 0 fills the front of `values` only.
struct TcpInfoReading {
  TCP_INFO_v1 values{};
  DWORD version = 0;
};

// Per-connection ESTATS (RFC 4898), each group only where it is counted. All
// of them count from the moment that they were switched on.
struct EstatsReading {
  std::optional<TCP_ESTATS_DATA_ROD_v0> data;
  std::optional<TCP_ESTATS_PATH_ROD_v0> path;
  std::optional<TCP_ESTATS_OBS_REC_ROD_v0> peer;
};

void FillFromTcpInfo(const TcpInfoReading& info, TcpCounters& counters);

// Windows does not tell what was acknowledged, nor what waits in the send
// buffer. cwnd_segments: whole ones.
TcpMoment MomentFrom(const TcpInfoReading& info);

// `info` says how much came in all, and so whether data came before the
// counting began: then what is short of it stays empty, with the reason.
void FillFromEstats(const EstatsReading& estats,
                    const std::optional<TcpInfoReading>& info,
                    TcpCounters& counters);

// What the failure `status` of an ESTATS call means and, where there is one,
// the remedy.
std::string ExplainEstats(ULONG status);

// Adds `why` to the counters' reason.
void Explain(TcpCounters& counters, const std::string& why);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_TCP_READINGS_H_
