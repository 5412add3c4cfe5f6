// What this host is, so that a figure can be understood later.
#ifndef WIRETOLL_PLATFORM_HOST_FACTS_H_
#define WIRETOLL_PLATFORM_HOST_FACTS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// One fact. monostate: could not be observed, and `reason` says why.
// Integers are bytes or nanoseconds where the name ends in the unit.
struct Fact {
  using Value =
      std::variant<std::monostate, bool, std::int64_t, double, std::string>;
  std::string name;  // lower_snake: "tcp_rmem", "mtu_bytes".
  Value value;
  std::string reason;
};

struct OsIdentity {
  std::string os;           // "linux", "windows", "wine", "lwip", ...
  std::string stack;        // "Linux 6.18.44"
  std::string description;  // "Debian 12, Linux 6.18.44"
};

OsIdentity IdentifyOs();

// Facts of the host and of the interface that carries `address`: kernel,
// distribution, hypervisor, CPUs, memory, NIC, MTU, offloads, qdisc,
// congestion control, buffers' limits, TCP switches, load. Never fails.
std::vector<Fact> ReadHostFacts(const std::string& address);

// How busy the host was, to tell a disturbed trial. Sums since boot.
struct HostActivity {
  Observed<std::int64_t> steal_ns;  // CPU time the hypervisor took away.
  Observed<std::int64_t> busy_ns;   // All CPUs together.
  Observed<double> load;            // One-minute load average.
};

HostActivity ReadHostActivity();

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_HOST_FACTS_H_
