#include "harness/ns3/congestion.h"

#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-l4-protocol.h>
#include <ns3/type-id.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

constexpr const char* kPrefix = "ns3::Tcp";

// "ns3::TcpCubic" is "cubic". TcpLinuxReno is what Linux calls reno.
std::string NameOf(const ns3::TypeId& type) {
  std::string name = type.GetName().substr(std::string(kPrefix).size());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return name == "linuxreno" ? "reno" : name;
}

// TcpCubic says of itself that it is a socket factory (ns-3 3.37), so that it
// is not found by its kind. TcpBbr is left out: over this link it comes to a
// standstill after some 50 kB.
std::map<std::string, ns3::TypeId> Congestions() {
  std::map<std::string, ns3::TypeId> found;
  found.emplace("cubic", ns3::TcpCubic::GetTypeId());
  const ns3::TypeId kind = ns3::TcpCongestionOps::GetTypeId();
  for (std::uint16_t i = 0; i < ns3::TypeId::GetRegisteredN(); ++i) {
    const ns3::TypeId type = ns3::TypeId::GetRegistered(i);
    const bool named = type.GetName().rfind(kPrefix, 0) == 0 &&
                       type.GetName() != "ns3::TcpBbr";
    if (named && type.HasConstructor() && type != kind &&
        type.IsChildOf(kind)) {
      found.emplace(NameOf(type), type);
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> CongestionNames() {
  std::vector<std::string> names;
  for (const auto& [name, type] : Congestions()) names.push_back(name);
  return names;
}

void SetCongestion(const ns3::Ptr<ns3::Node>& node, const std::string& name) {
  const auto all = Congestions();
  const auto found = all.find(name);
  if (found == all.end())
    throw std::invalid_argument("ns-3 has no congestion control " + name);
  node->GetObject<ns3::TcpL4Protocol>()->SetAttribute(
      "SocketType", ns3::TypeIdValue(found->second));
}

std::string CongestionOf(const ns3::Ptr<ns3::Node>& node) {
  ns3::TypeIdValue type;
  node->GetObject<ns3::TcpL4Protocol>()->GetAttribute("SocketType", type);
  return NameOf(type.Get());
}

}  // namespace wiretoll::sim
