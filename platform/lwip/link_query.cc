#include "platform/posix/link_query.h"

#include "platform/lwip/stack.h"

namespace wiretoll {

// The TAP, which the kernel has and whose frames it sees; the address is the
// stack's own, of which the kernel knows nothing.
Outcome<std::string> InterfaceCarrying(const std::string& address) {
  if (!StackInterface().empty() && IsStackAddress(address))
    return StackInterface();
  return Failure{ExitCode::kNothingRan, "no interface carries " + address};
}

}  // namespace wiretoll
