// Hosts that are another kernel: a virtual machine of QEMU's on the lab's line.
// It has one port to us beside the network, a virtio serial one, which carries
// its agent's standard input and output.
#ifndef WIRETOLL_HARNESS_LAB_GUEST_H_
#define WIRETOLL_HARNESS_LAB_GUEST_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/commands.h"
#include "harness/lab/guest_kernel.h"
#include "harness/lab/layout.h"
#include "harness/lab/settings.h"

namespace wiretoll {

// Full paths.
struct GuestTools {
  std::string qemu;
  std::string busybox;
};

// kNothingRan: something that a guest needs is missing; with the remedy.
Outcome<GuestTools> FindGuestTools(const LabSpec& spec);

// What host `host` does inside itself before its agent runs, for busybox's
// shell: its interface, address, neighbours, routes, and `files`.
std::string GuestScript(const Layout& layout, std::size_t host,
                        const std::vector<KernelFile>& files);

struct StartedGuest {
  std::string description;         // For the record of the link.
  std::vector<std::string> agent;  // The whole command.
  // Ends the machine when it goes, or when this process dies of whatever cause.
  BackgroundProcess keeper;
};

// Boots `kernel` in the namespace of host `host`, on the TAP that
// HandOverBatch() made, with `folder`, of this host alone, for its files.
// kNothingRan: it was not ready in time; its console's last words, and where
// the whole of it is kept.
Outcome<StartedGuest> StartGuest(const LabSpec& spec, const Layout& layout,
                                 std::size_t host, const GuestKernel& kernel,
                                 const std::filesystem::path& folder);

// "lab-guest FOLDER ACCELERATORS QEMU...": runs QEMU until standard input
// closes, and says "ready" once the guest has; tries one accelerator after the
// other, "kvm,tcg", and leaves the name of the one that worked in FOLDER.
Outcome<Done> GuestVerb(const std::vector<std::string>& words);

// "lab-guest-port SOCKET": standard input to the port, what it says to standard
// output, until either ends.
Outcome<Done> GuestPortVerb(const std::vector<std::string>& words);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_GUEST_H_
