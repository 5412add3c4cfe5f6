// Names of hypervisors.
#ifndef WIRETOLL_PLATFORM_HYPERVISOR_H_
#define WIRETOLL_PLATFORM_HYPERVISOR_H_

#include <string>

namespace wiretoll {

// What the signature of CPUID leaf 0x40000000 stands for: "KVM", "Hyper-V",
// ... One that nobody registered here is given back as it is, none "unnamed".
std::string HypervisorName(const std::string& signature);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_HYPERVISOR_H_
