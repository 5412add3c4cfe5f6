// Settings that make counts predictable: made, read back, and written down.
#ifndef WIRETOLL_HARNESS_LAB_SETTINGS_H_
#define WIRETOLL_HARNESS_LAB_SETTINGS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/layout.h"

namespace wiretoll {

using Settings = std::map<std::string, std::string>;

// One file under /proc/sys/net or /sys/class/net, as a namespace sees it.
struct KernelFile {
  std::string setting;  // Its name in the record.
  std::string path;
  std::string value;  // To write; empty: only to read.
};

// Writes and reads back inside `netns`, all in one process, and adds what is
// in force to `into` as Merge() does. What did not take is recorded as
// "not set: ..." with the reason, what cannot be read as "not there".
// kNothingRan: nothing could be run in that namespace at all.
Outcome<Done> ApplyFiles(const std::string& netns,
                         const std::vector<KernelFile>& files, Settings& into);

// sysctls of every host; before its link is up.
std::vector<KernelFile> HostFiles(const LabSpec& spec);

// Receive packet steering to the first CPU. Otherwise each CPU has a backlog
// of its own and veth reorders, which shows as retransmissions nobody caused.
KernelFile SteeringFile(const Port& port);

// Has a namespace pass on what is for others. Recorded as router ip_forward.
KernelFile ForwardingFile();

// Segmentation, merging and checksum offloads off. kNothingRan: one is still
// on, so that counts of frames would silently be wrong.
Outcome<Settings> SwitchOffloadsOff(const Port& port);

// What is on and off now: tso, gso, gro, tx_checksum. kNothingRan: ethtool
// cannot tell.
Outcome<Settings> ReadOffloads(const Port& port);

// Puts `from` into `into`; a value that differs from the one there is added
// beside it, with the port or host it belongs to.
void Merge(const Settings& from, const std::string& where, Settings& into);

// "cubic" where the kernel has it, else the kernel's own default.
Outcome<std::string> ChooseCongestion();

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_SETTINGS_H_
