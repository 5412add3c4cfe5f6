#include "platform/host_facts.h"

#include <sys/utsname.h>

#include <utility>

#include "platform/lwip/core.h"
#include "platform/lwip/stack.h"
#include "platform/posix/facts.h"

namespace wiretoll {
namespace {

Fact Number(const char* name, std::int64_t value) { return Known(name, value); }

// What this lwIP was built with, and cannot be changed: from its headers.
std::vector<Fact> BuiltWith() {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return {
      Number("tcp_mss_bytes", TCP_MSS),
      Number("tcp_window_bytes", TCP_WND),
      Number("tcp_send_buffer_bytes", TCP_SND_BUF),
      Number("tcp_send_queue_pbufs", TCP_SND_QUEUELEN),
      Number("tcp_receive_window_scale", TCP_RCV_SCALE),
      Number("tcp_window_update_threshold_bytes", TCP_WND_UPDATE_THRESHOLD),
      Number("tcp_overwritten_segment_bytes", TCP_OVERSIZE),
      Number("tcp_fast_timer_ns", TCP_FAST_INTERVAL * kMillisecond),
      Number("tcp_slow_timer_ns", TCP_SLOW_INTERVAL * kMillisecond),
      Number("tcp_timestamps", LWIP_TCP_TIMESTAMPS),
      Number("tcp_sack", LWIP_TCP_SACK_OUT),
      Number("ip_reassembly_most_pbufs", IP_REASS_MAX_PBUFS),
  };
}

std::string Stack() { return std::string("lwIP ") + LWIP_VERSION_STRING; }

std::string Ground() {
  utsname name{};
  ::uname(&name);  // Fails only for a bad pointer.
  const std::string distribution = ShortDistribution();
  const std::string kernel = std::string("Linux ") + name.release;
  return distribution.empty() ? kernel : distribution + ", " + kernel;
}

}  // namespace

OsIdentity IdentifyOs() {
  return {"lwip", Stack(), Stack() + " in a process of " + Ground()};
}

// Nothing of the kernel's network, through which none of this goes.
std::vector<Fact> ReadHostFacts(const std::string& address) {
  std::vector<Fact> facts;
  facts.push_back(Known("stack", Stack()));
  facts.push_back(Known("ground", Ground()));
  facts.push_back(
      Known("congestion_control", std::string("NewReno, and no other")));
  for (Fact& fact : BuiltWith()) facts.push_back(std::move(fact));
  if (IsStackAddress(address)) {
    facts.push_back(Known("interface", StackInterface().empty()
                                           ? std::string("loopback")
                                           : StackInterface()));
    facts.push_back(Number("mtu_bytes", StackMtu()));
  } else {
    facts.push_back(Unknown("interface", "no interface carries " + address));
    facts.push_back(Unknown("mtu_bytes", "no interface carries " + address));
  }
  for (Fact& fact : ReadMachineFacts()) facts.push_back(std::move(fact));
  return facts;
}

}  // namespace wiretoll
