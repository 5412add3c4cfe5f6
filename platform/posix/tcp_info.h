// TCP_INFO as this kernel filled it. Included by the two that read it, each
// compiled by itself.
#ifndef WIRETOLL_PLATFORM_POSIX_TCP_INFO_H_
#define WIRETOLL_PLATFORM_POSIX_TCP_INFO_H_

// <linux/tcp.h> has the fields that glibc's <netinet/tcp.h> lacks; the two
// cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "harness/base/result.h"
#include "platform/posix/native.h"
#include "platform/socket.h"

namespace wiretoll {

// tcpi_state. Only <netinet/tcp.h> names them; the numbers are kernel ABI.
enum KernelTcpState : std::uint8_t {
  kKernelEstablished = 1,
  kKernelSynSent,
  kKernelSynReceived,
  kKernelFinWait1,
  kKernelFinWait2,
  kKernelTimeWait,
  kKernelClose,
  kKernelCloseWait,
  kKernelLastAck,
  kKernelListen,
  kKernelClosing,
};

// An older kernel fills less of it, and what lies beyond is unknown, not 0; a
// newer one fills more than these headers know.
struct TcpInfoSnapshot {
  // tcpi_snd_wnd is the last field that Debian 12's headers have; behind it
  // comes tcpi_rcv_wnd, since Linux 6.2.
  struct Known {
    tcp_info info;
    std::uint32_t beyond[16];
  };
  Known filled{};
  std::size_t length = 0;

  [[nodiscard]] const tcp_info& info() const { return filled.info; }
};

inline Result<TcpInfoSnapshot> TakeTcpInfo(const Socket& socket) {
  TcpInfoSnapshot snapshot;
  socklen_t length = sizeof snapshot.filled;
  if (::getsockopt(Fd(socket.handle()), IPPROTO_TCP, TCP_INFO, &snapshot.filled,
                   &length) < 0) {
    return LastError();
  }
  snapshot.length = length;
  return snapshot;
}

// A handshake brings at least one segment in. A stack that counts none keeps
// no counts (gVisor hands out a zeroed struct), so that none of its zeros can
// be told from "don't know".
inline bool KeepsCounts(const tcp_info& info) { return info.tcpi_segs_in > 0; }

class TcpInfoReader {
 public:
  explicit TcpInfoReader(const TcpInfoSnapshot& snapshot)
      : snapshot_(snapshot), zero_is_count_(KeepsCounts(snapshot.info())) {}

  // The field `member`, times `scale` (1000: microseconds to nanoseconds).
  template <class Field>
  std::optional<std::int64_t> Get(Field tcp_info::*member,
                                  std::int64_t scale = 1) {
    const Field& field = snapshot_.info().*member;
    return Get(Offset(&field), static_cast<std::int64_t>(field), sizeof field,
               scale);
  }

  // tcpi_rcv_wnd: right behind tcpi_snd_wnd, which old headers end with.
  std::optional<std::int64_t> GetOwnWindow() {
    const auto* behind = &snapshot_.info().tcpi_snd_wnd + 1;
    std::uint32_t window = 0;
    __builtin_memcpy(&window, behind, sizeof window);
    return Get(Offset(behind), window, sizeof window, 1);
  }

  // True if a field lay beyond what this kernel filled.
  [[nodiscard]] bool met_short() const { return short_; }

 private:
  [[nodiscard]] std::size_t Offset(const void* field) const {
    return static_cast<std::size_t>(
        static_cast<const std::byte*>(field) -
        reinterpret_cast<const std::byte*>(&snapshot_.filled));
  }

  std::optional<std::int64_t> Get(std::size_t offset, std::int64_t value,
                                  std::size_t size, std::int64_t scale) {
    if (offset + size > snapshot_.length) {
      short_ = true;
      return std::nullopt;
    }
    if (value == 0 && !zero_is_count_) return std::nullopt;
    return value * scale;
  }

  const TcpInfoSnapshot& snapshot_;
  bool zero_is_count_;
  bool short_ = false;
};

// Linux counts sequence numbers, so SYN and FIN are in: each end's last byte
// too many. Payload that was never sent cannot have been acknowledged, which
// makes the count exact once nothing is in flight, and one too high at most
// before.
inline std::optional<std::int64_t> AckedPayload(TcpInfoReader& reader) {
  const auto acked = reader.Get(&tcp_info::tcpi_bytes_acked);
  const auto sent = reader.Get(&tcp_info::tcpi_bytes_sent);
  const auto again = reader.Get(&tcp_info::tcpi_bytes_retrans);
  if (!acked || !sent || !again) return std::nullopt;
  return *acked < *sent - *again ? *acked : *sent - *again;
}

// Likewise a FIN that came counts as a byte received. The state says whether
// one came, except once the connection is gone.
inline std::optional<std::int64_t> ReceivedPayload(const tcp_info& info,
                                                   TcpInfoReader& reader) {
  auto received = reader.Get(&tcp_info::tcpi_bytes_received);
  if (!received) return std::nullopt;
  switch (info.tcpi_state) {
    case kKernelCloseWait:
    case kKernelLastAck:
    case kKernelClosing:
      --*received;
      return received;
    case kKernelClose:
      return std::nullopt;
    default:
      return received;
  }
}

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_TCP_INFO_H_
