#include "platform/hypervisor.h"

#include <array>
#include <utility>

namespace wiretoll {

std::string HypervisorName(const std::string& signature) {
  constexpr std::array<std::pair<const char*, const char*>, 8> kNames = {{
      {"KVMKVMKVM", "KVM"},
      {"Linux KVM Hv", "KVM"},
      {"Microsoft Hv", "Hyper-V"},
      {"VMwareVMware", "VMware"},
      {"VBoxVBoxVBox", "VirtualBox"},
      {"XenVMMXenVMM", "Xen"},
      {"TCGTCGTCGTCG", "QEMU TCG"},
      {"bhyve bhyve ", "bhyve"},
  }};
  for (const auto& [known, name] : kNames) {
    if (signature == known) return name;
  }
  return signature.empty() ? "unnamed" : signature;
}

}  // namespace wiretoll
