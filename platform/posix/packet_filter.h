// Which frames a capture keeps, as a classic BPF program for Ethernet.
// Included by platform/posix/ only.
#ifndef WIRETOLL_PLATFORM_POSIX_PACKET_FILTER_H_
#define WIRETOLL_PLATFORM_POSIX_PACKET_FILTER_H_

#include <linux/filter.h>

#include <optional>
#include <vector>

#include "platform/packet_capture.h"

namespace wiretoll {

// Keeps snap_bytes of what passes between both addresses, TCP and UDP by port;
// later fragments, and protocols without ports, by address alone. The kernel
// has taken VLAN tags out by then. Empty: the addresses are not both IPv4 or
// both IPv6.
std::optional<std::vector<sock_filter>> MakePacketFilter(
    const CaptureSpec& spec);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_PACKET_FILTER_H_
