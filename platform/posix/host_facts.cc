#include "platform/host_facts.h"

#include <sys/klog.h>
#include <sys/utsname.h>

#include <array>
#include <utility>

#include "platform/posix/facts.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

// Files whose text is the fact.
struct FactFile {
  const char* name;
  const char* path;
};

constexpr std::array kFactFiles = {
    FactFile{"rmem_default", "/proc/sys/net/core/rmem_default"},
    FactFile{"rmem_max", "/proc/sys/net/core/rmem_max"},
    FactFile{"wmem_default", "/proc/sys/net/core/wmem_default"},
    FactFile{"wmem_max", "/proc/sys/net/core/wmem_max"},
    FactFile{"netdev_max_backlog", "/proc/sys/net/core/netdev_max_backlog"},
};

// Each a file of /proc/sys/net/ipv4; they hold for IPv6 too.
constexpr std::array kTcpSettings = {
    "tcp_congestion_control",
    "tcp_available_congestion_control",
    "tcp_rmem",
    "tcp_wmem",
    "tcp_mem",
    "tcp_moderate_rcvbuf",
    "tcp_autocorking",
    "tcp_timestamps",
    "tcp_sack",
    "tcp_window_scaling",
    "tcp_adv_win_scale",
    "tcp_no_metrics_save",
    "tcp_slow_start_after_idle",
    "tcp_limit_output_bytes",
    "tcp_notsent_lowat",
    "tcp_min_tso_segs",
    "tcp_pingpong_thresh",
    "tcp_mtu_probing",
    "tcp_ecn",
};

utsname Uname() {
  utsname name{};
  ::uname(&name);  // Fails only for a bad pointer.
  return name;
}

// "6.18.44" of "6.18.44-cloud-amd64".
std::string PlainVersion(const std::string& release) {
  const std::string plain =
      release.substr(0, release.find_first_not_of("0123456789."));
  return plain.empty() ? release : plain;
}

// gVisor answers uname as Linux 4.4.0, but its kernel log is its own.
bool IsGvisor(const utsname& name) {
  const std::string release = name.release;
  if (release.find("gvisor") != std::string::npos) return true;
  if (release != "4.4.0") return false;
  constexpr int kReadAll = 3;
  std::string log(std::size_t{64} * 1024, '\0');
  const int length =
      ::klogctl(kReadAll, log.data(), static_cast<int>(log.size()));
  return length > 0 && log.find("gVisor") != std::string::npos;
}

}  // namespace

OsIdentity IdentifyOs() {
  const utsname name = Uname();
  const std::string version = PlainVersion(name.release);
  OsIdentity identity;
  if (IsGvisor(name)) {
    identity.os = "gvisor";
    identity.stack = "gVisor (as Linux " + version + ")";
  } else {
    identity.os = "linux";
    identity.stack = "Linux " + version;
  }
  const std::string distribution = ShortDistribution();
  identity.description = distribution.empty()
                             ? identity.stack
                             : distribution + ", " + identity.stack;
  return identity;
}

std::vector<Fact> ReadHostFacts(const std::string& address) {
  const utsname name = Uname();
  std::vector<Fact> facts;
  facts.push_back(Known("kernel", std::string{name.release}));
  facts.push_back(Known("kernel_build", std::string{name.version}));
  for (Fact& fact : ReadMachineFacts()) facts.push_back(std::move(fact));
  for (const FactFile& file : kFactFiles) {
    facts.push_back(FromFile(file.name, file.path));
  }
  for (const char* setting : kTcpSettings) {
    facts.push_back(
        FromFile(setting, std::string{"/proc/sys/net/ipv4/"} + setting));
  }
  for (Fact& fact : ReadInterfaceFacts(address)) {
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace wiretoll
