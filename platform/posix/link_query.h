// What rtnetlink says of one interface. Included by platform/posix/ only.
#ifndef WIRETOLL_PLATFORM_POSIX_LINK_QUERY_H_
#define WIRETOLL_PLATFORM_POSIX_LINK_QUERY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/base/result.h"

namespace wiretoll {

// Empty: the kernel did not say.
struct LinkAttributes {
  std::optional<std::int64_t> mtu_bytes;
  std::optional<std::int64_t> gso_max_segments;
  std::optional<std::int64_t> gso_max_bytes;
  std::optional<std::int64_t> queue_length;  // Frames.
  std::optional<std::string> qdisc;          // Kind of the root: "tbf".
};

// One RTM_GETLINK in this process's network namespace; sysfs would show the
// namespace that it was mounted in, and has no GSO limits.
Result<LinkAttributes> QueryLink(unsigned interface_index);

// The name of the interface that carries a numeric address.
Outcome<std::string> InterfaceCarrying(const std::string& address);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_LINK_QUERY_H_
