// The agent: requests in, replies out, at most one trial at a time.
#ifndef WIRETOLL_HARNESS_AGENT_AGENT_H_
#define WIRETOLL_HARNESS_AGENT_AGENT_H_

#include <cstdio>

namespace wiretoll {

// Serves requests (docs/protocol.md) from `in` until it ends, and gives the
// exit code of the process. A trial that still runs then is interrupted; if
// it has not ended within a second, the process is ended at once from in
// here. Requires PrepareProcess().
int RunAgent(std::FILE* in, std::FILE* out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_AGENT_H_
