#include <dirent.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "platform/posix/facts.h"
#include "platform/posix/link_query.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

// One switch that an ETHTOOL_G* command reads.
struct Offload {
  const char* name;
  std::uint32_t command;
};

constexpr std::array kOffloads = {
    Offload{"tso", ETHTOOL_GTSO},
    Offload{"gso", ETHTOOL_GGSO},
    Offload{"gro", ETHTOOL_GGRO},
    Offload{"tx_checksum_offload", ETHTOOL_GTXCSUM},
    Offload{"rx_checksum_offload", ETHTOOL_GRXCSUM},
};

// All that is reported of an interface, so that the same names come with a
// reason where there is none.
constexpr std::array kLinkNames = {"mtu_bytes", "gso_max_segments",
                                   "gso_max_bytes", "tx_queue_frames", "qdisc"};

// One ETHTOOL ioctl on `interface_name`; fills `command` in place.
template <class Command>
Result<Done> AskEthtool(const std::string& interface_name, Command& command) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return LastError();
  const Socket closes{static_cast<Socket::Handle>(fd)};
  ifreq request{};
  interface_name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&command);
  if (::ioctl(fd, SIOCETHTOOL, &request) < 0) return LastError();
  return Done{};
}

Fact ReadOffload(const std::string& interface_name, const Offload& offload) {
  ethtool_value value{};
  value.cmd = offload.command;
  const Result<Done> asked = AskEthtool(interface_name, value);
  if (!asked.has_value()) {
    return Unknown(offload.name,
                   ReasonOf("ethtool " + interface_name, asked.error()));
  }
  return Known(offload.name, value.data != 0);
}

Fact ReadDriver(const std::string& interface_name) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  const Result<Done> asked = AskEthtool(interface_name, info);
  if (!asked.has_value()) {
    return Unknown("driver",
                   ReasonOf("ethtool " + interface_name, asked.error()));
  }
  return Known(
      "driver",
      std::string{info.driver, ::strnlen(info.driver, sizeof info.driver)});
}

// Drivers without a line answer with a constant of theirs.
bool HasNoLine(const Fact& driver) {
  constexpr std::array kLineless = {"veth", "tun", "dummy", "bridge"};
  const auto* name = std::get_if<std::string>(&driver.value);
  return name != nullptr && std::find(kLineless.begin(), kLineless.end(),
                                      *name) != kLineless.end();
}

Fact ReadSpeed(const std::string& interface_name, const Fact& driver) {
  constexpr const char* kName = "speed_mbit";
  if (HasNoLine(driver)) {
    return Unknown(kName, std::get<std::string>(driver.value) +
                              " has no line, hence no speed of its own");
  }
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_GSET;
  const Result<Done> asked = AskEthtool(interface_name, settings);
  if (!asked.has_value()) {
    return Unknown(kName, ReasonOf("ethtool " + interface_name, asked.error()));
  }
  const std::uint32_t speed = ethtool_cmd_speed(&settings);
  if (speed == 0 || speed == static_cast<std::uint32_t>(SPEED_UNKNOWN)) {
    return Unknown(
        kName, "the driver of " + interface_name + " does not know its speed");
  }
  return Known(kName, std::int64_t{speed});
}

template <class T>
Fact FromOptional(const char* name, const std::optional<T>& value) {
  if (!value) return Unknown(name, "rtnetlink did not say");
  return Known(name, *value);
}

std::vector<Fact> ReadLinkFacts(unsigned index) {
  const Result<LinkAttributes> asked = QueryLink(index);
  std::vector<Fact> facts;
  if (!asked.has_value()) {
    for (const char* name : kLinkNames) {
      facts.push_back(Unknown(name, ReasonOf("rtnetlink", asked.error())));
    }
    return facts;
  }
  const LinkAttributes& link = asked.value();
  facts.push_back(FromOptional(kLinkNames[0], link.mtu_bytes));
  facts.push_back(FromOptional(kLinkNames[1], link.gso_max_segments));
  facts.push_back(FromOptional(kLinkNames[2], link.gso_max_bytes));
  facts.push_back(FromOptional(kLinkNames[3], link.queue_length));
  facts.push_back(FromOptional(kLinkNames[4], link.qdisc));
  return facts;
}

// Names of the receive queues, in order: rx-0, rx-1, ...
std::vector<std::string> ReceiveQueues(const std::string& folder) {
  std::vector<std::string> queues;
  DIR* directory = ::opendir(folder.c_str());
  if (directory == nullptr) return queues;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.starts_with("rx-")) queues.push_back(name);
  }
  ::closedir(directory);
  std::sort(queues.begin(), queues.end(), [](const auto& a, const auto& b) {
    return std::pair{a.size(), a} < std::pair{b.size(), b};
  });
  return queues;
}

// The CPU mask of each receive queue, "1" or "rx-0=1 rx-1=0".
Fact ReadRps(const std::string& interface_name, unsigned index) {
  constexpr const char* kName = "rps_cpus";
  const std::string folder = "/sys/class/net/" + interface_name;
  const Fact seen = FromFile("ifindex", folder + "/ifindex");
  // sysfs shows the network namespace that it was mounted in.
  if (seen.value != Fact::Value{std::int64_t{index}}) {
    return Unknown(kName,
                   folder + " is of another network namespace or absent");
  }
  std::string masks;
  const std::vector<std::string> queues = ReceiveQueues(folder + "/queues");
  for (const std::string& queue : queues) {
    std::string path = folder;
    path.append("/queues/").append(queue).append("/rps_cpus");
    const Result<std::string> mask = ReadText(path);
    if (!mask.has_value()) return Unknown(kName, ReasonOf(path, mask.error()));
    if (!masks.empty()) masks += ' ';
    masks += queues.size() > 1 ? queue + "=" + mask.value() : mask.value();
  }
  if (masks.empty()) return Unknown(kName, folder + "/queues has no rx queue");
  return Known(kName, masks);
}

std::vector<Fact> AllUnknown(const std::string& reason) {
  std::vector<Fact> facts;
  for (const char* name : {"interface", "driver", "speed_mbit", "rps_cpus"}) {
    facts.push_back(Unknown(name, reason));
  }
  for (const char* name : kLinkNames) facts.push_back(Unknown(name, reason));
  for (const Offload& offload : kOffloads) {
    facts.push_back(Unknown(offload.name, reason));
  }
  return facts;
}

}  // namespace

std::vector<Fact> ReadInterfaceFacts(const std::string& address) {
  const Outcome<std::string> found = InterfaceCarrying(address);
  if (!found.has_value()) return AllUnknown(found.error().message);
  const std::string& name = found.value();
  const unsigned index = ::if_nametoindex(name.c_str());

  std::vector<Fact> facts;
  facts.push_back(Known("interface", name));
  facts.push_back(ReadDriver(name));
  facts.push_back(ReadSpeed(name, facts.back()));
  facts.push_back(ReadRps(name, index));
  for (Fact& fact : ReadLinkFacts(index)) facts.push_back(std::move(fact));
  for (const Offload& offload : kOffloads) {
    facts.push_back(ReadOffload(name, offload));
  }
  return facts;
}

}  // namespace wiretoll
