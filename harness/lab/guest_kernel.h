// Kernels for guests: Debian's, fetched and unpacked and never installed, or a
// person's own image.
#ifndef WIRETOLL_HARNESS_LAB_GUEST_KERNEL_H_
#define WIRETOLL_HARNESS_LAB_GUEST_KERNEL_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

struct GuestKernel {
  std::filesystem::path image;
  // A guest loads them in this order; empty: all is built in.
  std::vector<std::filesystem::path> modules;
  std::string origin;  // "linux-image-6.1.0-57-cloud-amd64", or the image.
};

// `which`: "6.1", a Debian kernel of that series, which is fetched at its first
// use (27 MB; `say` is told) and kept in the cache folder; or a kernel image's
// path, whose modules are looked for as a package has them (../lib/modules
// beside the image's folder) and else taken to be built in.
// kUsage: neither. kNothingRan: not to be fetched, with the remedy.
Outcome<GuestKernel> FindGuestKernel(
    const std::string& which,
    const std::function<void(const std::string&)>& say);

// Of package names, those that are a cloud kernel of `series` for this machine,
// newest first: "linux-image-6.1.0-57-cloud-amd64" of "6.1".
std::vector<std::string> CloudKernels(const std::string& names,
                                      std::string_view series);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_GUEST_KERNEL_H_
