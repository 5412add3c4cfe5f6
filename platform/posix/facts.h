// What the files that gather host facts share. Included by platform/posix/ and
// platform/lwip/ only.
#ifndef WIRETOLL_PLATFORM_POSIX_FACTS_H_
#define WIRETOLL_PLATFORM_POSIX_FACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "platform/facts.h"
#include "platform/host_facts.h"

namespace wiretoll {

// The text of a small file (at most 64 KiB of it) of /proc, /sys or /etc,
// without white space at either end.
Result<std::string> ReadText(const std::string& path);

// The file's text as a fact: a number if it is one, tabs as spaces otherwise.
Fact FromFile(std::string name, const std::string& path);

// "Debian 12": the distribution's name without what all have in common, and its
// version; empty where it is not told.
std::string ShortDistribution();

// CPUs, memory, hypervisor, clocks, load, distribution: what holds of the
// machine whatever stack its programs use; machine_facts.cc, as is
// ReadHostActivity().
std::vector<Fact> ReadMachineFacts();

// Of the interface that carries `address`; interface_facts.cc.
std::vector<Fact> ReadInterfaceFacts(const std::string& address);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_FACTS_H_
