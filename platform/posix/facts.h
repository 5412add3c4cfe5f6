// What the files that gather host facts share. Included by platform/posix/
// only.
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

// Of the interface that carries `address`; interface_facts.cc.
std::vector<Fact> ReadInterfaceFacts(const std::string& address);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_POSIX_FACTS_H_
