// How a fact is made, on any system.
#ifndef WIRETOLL_PLATFORM_FACTS_H_
#define WIRETOLL_PLATFORM_FACTS_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "platform/host_facts.h"

namespace wiretoll {

Fact Known(std::string name, Fact::Value value);
Fact Unknown(std::string name, std::string reason);

// "/proc/x: No such file or directory".
std::string ReasonOf(std::string_view what, const Error& error);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_FACTS_H_
