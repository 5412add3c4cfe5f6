#include "platform/tcp_counters.h"

#include <cstdint>
#include <optional>
#include <variant>

#include "platform/win32/native.h"
#include "platform/win32/tcp_info.h"
#include "platform/win32/tcp_readings.h"

namespace wiretoll {
namespace {

// Both ends' addresses, as the ESTATS calls name a connection.
using Row = std::variant<MIB_TCPROW, MIB_TCP6ROW>;

template <class NativeRow>
using SetEstats = ULONG(WINAPI*)(NativeRow*, TCP_ESTATS_TYPE, PUCHAR, ULONG,
                                 ULONG, ULONG);
template <class NativeRow>
using GetEstats = ULONG(WINAPI*)(NativeRow*, TCP_ESTATS_TYPE, PUCHAR, ULONG,
                                 ULONG, PUCHAR, ULONG, ULONG, PUCHAR, ULONG,
                                 ULONG);

// Never linked: where iphlpapi.dll has not all of them (Wine), a program that
// links them dies at the first call.
struct EstatsCalls {
  SetEstats<MIB_TCPROW> set4;
  SetEstats<MIB_TCP6ROW> set6;
  GetEstats<MIB_TCPROW> get4;
  GetEstats<MIB_TCP6ROW> get6;

  [[nodiscard]] bool complete() const {
    return set4 != nullptr && set6 != nullptr && get4 != nullptr &&
           get6 != nullptr;
  }
  [[nodiscard]] auto set(const MIB_TCPROW& /*row*/) const { return set4; }
  [[nodiscard]] auto set(const MIB_TCP6ROW& /*row*/) const { return set6; }
  [[nodiscard]] auto get(const MIB_TCPROW& /*row*/) const { return get4; }
  [[nodiscard]] auto get(const MIB_TCP6ROW& /*row*/) const { return get6; }
};

const EstatsCalls& Calls() {
  constexpr const wchar_t* kLibrary = L"iphlpapi.dll";
  static const EstatsCalls kCalls = {
      LookUp<SetEstats<MIB_TCPROW>>(kLibrary, "SetPerTcpConnectionEStats"),
      LookUp<SetEstats<MIB_TCP6ROW>>(kLibrary, "SetPerTcp6ConnectionEStats"),
      LookUp<GetEstats<MIB_TCPROW>>(kLibrary, "GetPerTcpConnectionEStats"),
      LookUp<GetEstats<MIB_TCP6ROW>>(kLibrary, "GetPerTcp6ConnectionEStats"),
  };
  return kCalls;
}

Row RowOf(const sockaddr_in& local, const sockaddr_in& peer) {
  MIB_TCPROW row{};
  row.dwState = MIB_TCP_STATE_ESTAB;
  row.dwLocalAddr = local.sin_addr.s_addr;
  row.dwLocalPort = local.sin_port;
  row.dwRemoteAddr = peer.sin_addr.s_addr;
  row.dwRemotePort = peer.sin_port;
  return row;
}

Row RowOf(const sockaddr_in6& local, const sockaddr_in6& peer) {
  MIB_TCP6ROW row{};
  row.State = MIB_TCP_STATE_ESTAB;
  row.LocalAddr = local.sin6_addr;
  row.dwLocalScopeId = local.sin6_scope_id;
  row.dwLocalPort = local.sin6_port;
  row.RemoteAddr = peer.sin6_addr;
  row.dwRemoteScopeId = peer.sin6_scope_id;
  row.dwRemotePort = peer.sin6_port;
  return row;
}

Result<Row> FindRow(const Socket& socket) {
  sockaddr_storage local{};
  sockaddr_storage peer{};
  int local_length = sizeof local;
  int peer_length = sizeof peer;
  const SOCKET native = Native(socket.handle());
  if (::getsockname(native, reinterpret_cast<sockaddr*>(&local),
                    &local_length) != 0 ||
      ::getpeername(native, reinterpret_cast<sockaddr*>(&peer), &peer_length) !=
          0) {
    return LastError();
  }
  if (local.ss_family == AF_INET) {
    return RowOf(reinterpret_cast<const sockaddr_in&>(local),
                 reinterpret_cast<const sockaddr_in&>(peer));
  }
  return RowOf(reinterpret_cast<const sockaddr_in6&>(local),
               reinterpret_cast<const sockaddr_in6&>(peer));
}

// The groups that are counted here, each with its switch.
template <class Switch, class Values, TCP_ESTATS_TYPE kGroup>
struct Group {
  static void SwitchOn(const Row& row) {
    Switch on{};
    on.EnableCollection = TRUE;
    std::visit(
        [&on](auto native) {
          Calls().set(native)(&native, kGroup, reinterpret_cast<PUCHAR>(&on), 0,
                              sizeof on, 0);
        },
        row);
  }

  // Nothing if it is not counted; `status` then says why, and is
  // ERROR_ACCESS_DENIED where nobody was let switch it on.
  static std::optional<Values> Read(const Row& row, ULONG& status) {
    Switch on{};
    Values values{};
    status = std::visit(
        [&on, &values](auto native) {
          return Calls().get(native)(
              &native, kGroup, reinterpret_cast<PUCHAR>(&on), 0, sizeof on,
              nullptr, 0, 0, reinterpret_cast<PUCHAR>(&values), 0,
              sizeof values);
        },
        row);
    if (status != NO_ERROR) return std::nullopt;
    if (on.EnableCollection == FALSE) {
      status = ERROR_ACCESS_DENIED;
      return std::nullopt;
    }
    return values;
  }
};

using DataGroup = Group<TCP_ESTATS_DATA_RW_v0, TCP_ESTATS_DATA_ROD_v0,
                        TcpConnectionEstatsData>;
using PathGroup = Group<TCP_ESTATS_PATH_RW_v0, TCP_ESTATS_PATH_ROD_v0,
                        TcpConnectionEstatsPath>;
using PeerGroup = Group<TCP_ESTATS_OBS_REC_RW_v0, TCP_ESTATS_OBS_REC_ROD_v0,
                        TcpConnectionEstatsObsRec>;

EstatsReading ReadEstats(const Socket& socket, TcpCounters& counters) {
  if (!Calls().complete()) {
    Explain(counters,
            "segments: this system has no counters of one connection (ESTATS); "
            "the peer's may have them");
    return {};
  }
  const Result<Row> row = FindRow(socket);
  if (!row.has_value()) {
    Explain(counters, "segments: " + row.error().message());
    return {};
  }
  ULONG status = NO_ERROR;
  EstatsReading reading;
  reading.path = PathGroup::Read(row.value(), status);
  reading.peer = PeerGroup::Read(row.value(), status);
  reading.data = DataGroup::Read(row.value(), status);
  if (!reading.data) Explain(counters, "segments: " + ExplainEstats(status));
  return reading;
}

std::string InWords(const Error& error) {
  return error == boost::system::errc::operation_not_supported
             ? "this system does not have it"
             : error.message();
}

}  // namespace

void BeginTcpCounters(const Socket& socket) {
  if (!Calls().complete()) return;
  const Result<Row> row = FindRow(socket);
  if (!row.has_value()) return;
  DataGroup::SwitchOn(row.value());
  PathGroup::SwitchOn(row.value());
  PeerGroup::SwitchOn(row.value());
}

TcpCounters ReadTcpCounters(const Socket& socket) {
  TcpCounters counters;
  std::optional<TcpInfoReading> known;
  const Result<TcpInfoReading> info = TakeTcpInfo(socket);
  if (info.has_value()) {
    known = info.value();
    FillFromTcpInfo(*known, counters);
  } else {
    Explain(counters, "SIO_TCP_INFO: " + InWords(info.error()));
  }
  const EstatsReading estats = ReadEstats(socket, counters);
  FillFromEstats(estats, known, counters);
  if (known || estats.data) {
    Explain(counters, "the rest: Windows does not count it");
  }
  return counters;
}

}  // namespace wiretoll
