// What a lab consists of, and the texts that make it: all of it arithmetic and
// strings, nothing here touches the system.
#ifndef WIRETOLL_HARNESS_LAB_LAYOUT_H_
#define WIRETOLL_HARNESS_LAB_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/lab/lab.h"

namespace wiretoll {

inline constexpr const char* kHostInterface = "lab0";
inline constexpr std::size_t kMostHosts = 16;
inline constexpr const char* kWineKind = "wine";
inline constexpr const char* kLwipKind = "lwip";
inline constexpr const char* kGvisorKind = "gvisor";
inline constexpr const char* kNs3Kind = "ns3";
inline constexpr const char* kNs3PointToPointKind = "ns3-p2p";
inline constexpr const char* kContainerKind = "container";
inline constexpr std::string_view kGuestPrefix = "guest:";
inline constexpr std::ptrdiff_t kMostGuests = 2;  // 256 MB and a CPU each.
// Of a host whose stack is not its namespace's kernel: what that is plugged
// into.
inline constexpr const char* kStackInterface = "stack0";

// How the hosts are joined.
enum class Wiring {
  kVethPair,  // Two hosts, nothing between.
  kBridge,    // A veth from each to a bridge in a namespace of its own.
  kRelay,     // Two hosts, two TAPs, our own delay line.
};
// With a router the first host has a veth to it, and the wiring is between it
// and the second.

// One end of a link, in any of our namespaces.
struct Port {
  std::string netns;
  std::string interface;
};

struct Layout {
  std::string prefix;  // Begins every namespace name: "wiretoll-4711".
  Wiring wiring = Wiring::kVethPair;
  bool routed = false;  // A router in a namespace of its own.
  int mtu = 1500;
  std::vector<LabHost> hosts;
};

// kUsage: a kind that is not there, a count, delay, loss, MTU or sysctl that
// cannot be had; the message says what can.
Outcome<Done> CheckLabSpec(const LabSpec& spec);

// Requires a spec that passed CheckLabSpec(). `ip` is the program's path. The
// agent of a Wine host lacks its end, which StartWine() knows, and so does that
// of a guest, which is StartGuest()'s.
Layout MakeLayout(const LabSpec& spec, const std::string& prefix,
                  const std::string& ip);

// What a host of this kind is called: the kind, and of a guest "guest-6.1".
std::string NameOfKind(const std::string& kind);
// "6.1" of "guest:6.1"; empty of what is no guest.
std::string GuestKernelOf(const std::string& kind);

// "02:77:00:00:00:01", the first host's.
std::string HostMac(std::size_t host);

std::string SwitchNamespace(const Layout& layout);
std::vector<std::string> Namespaces(const Layout& layout);
// The hosts' ends first, in order; then the router's, then the bridge's.
std::vector<Port> Ports(const Layout& layout);

// Where the relay makes its TAPs: the second goes to the second host then.
Port RelayPort(const Layout& layout);

// For `ip -batch`: links between namespaces that are there already. None for
// what the relay joins, which makes its own.
std::string LinksBatch(const Layout& layout);
// For `ip -n HOST -batch`: everything inside one host, its link up.
std::string HostBatch(const Layout& layout, std::size_t host,
                      const LabSpec& spec);
// For `ip -n HOST -batch`, of a host that has a stack of its own, once its line
// has been checked by the kernel: gives the host's address and MAC up and joins
// the line to a TAP for that stack, which has both from then on.
std::string HandOverBatch(const Layout& layout);

// For `ip -n SWITCH -batch`.
std::string SwitchBatch(const Layout& layout);

// A token bucket that passes frames at the pace of an Ethernet.
struct Shaper {
  std::int64_t rate_bits_per_second;
  std::int64_t burst_bytes;
  std::int64_t limit_bytes;  // Of the queue before it.
  int table_bytes;           // The longest frame whose cost is exact.
};

// Burst: enough for what falls due while the shaper's timer is late (640 us,
// which is the 8000 bytes measured to be right at 100 Mbit/s) and for three
// full frames (the 5000 bytes at 10 Mbit/s); more only adds credit at the
// start. Limit: 2 MB, or what the line carries in 100 ms and two round trips.
Shaper MakeShaper(BitsPerSecond rate, int mtu, Nanoseconds delay);

// What stands after `tc qdisc add dev IF root`.
std::vector<std::string> ShaperWords(const Shaper& shaper);

// One line that names the link as what it is.
std::string DescribeLink(const Layout& layout, const LinkSpec& link);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_LAYOUT_H_
