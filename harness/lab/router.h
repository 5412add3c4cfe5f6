// A router between two hosts, each on a LAN of its own: what its lines carry,
// and the texts that make it. Arithmetic and strings; nothing here touches the
// system. A link without a router is taken as the one line that it is.
#ifndef WIRETOLL_HARNESS_LAB_ROUTER_H_
#define WIRETOLL_HARNESS_LAB_ROUTER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/lab/lab.h"
#include "harness/lab/layout.h"
#include "harness/lab/settings.h"

namespace wiretoll {

// Its interfaces: to the first host's LAN, and to the second's.
inline constexpr const char* kRouterNear = "near";
inline constexpr const char* kRouterFar = "far";

// kUsage: a router between other than two hosts, or one that cannot be had;
// the message names option and remedy.
Outcome<Done> CheckRouter(const LabSpec& spec);

// Of the line that `host`, 0 or 1, has to the other or to the router.
std::optional<BitsPerSecond> HostRate(const LinkSpec& link, std::size_t host);

// What the router sends to a host, and what waits for it.
struct RouterLine {
  BitsPerSecond rate;
  Bytes queue;  // As on the line, frames with preamble and gap.
};
// Nothing: no router, or one that sends as fast as the machine does.
std::optional<RouterLine> RouterLineTo(const LinkSpec& link, std::size_t host);

// The whole way as one line: the slowest rate, the smallest MTU. Both ways
// alike, since what goes there comes by the same lines.
LinkSpec PathOf(const LinkSpec& link);

std::string RouterNamespace(const Layout& layout);
// "10.77.0.0/24", the first host's; without a router every host's.
std::string NetworkOf(const Layout& layout, std::size_t host);
// "10.77.0.254", which the host's way to the other network leads by.
std::string RouterAddress(std::size_t host);
std::string RouterMac(std::size_t host);

// For `ip -n ROUTER -batch`: addresses, routes and silence, all links up.
std::string RouterBatch(const Layout& layout, const LinkSpec& link);
// What stands after `tc qdisc add dev IF root`.
std::vector<std::string> RouterShaperWords(const RouterLine& line, int mtu);

// "a router (250000 bytes of queue) to 10 Mbit/s Ethernet", for captions.
std::string SpellRouter(const LinkSpec& link);
// "router", "router queue", ...: for the record. Nothing without a router.
Settings RouterSettings(const LinkSpec& link);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_ROUTER_H_
