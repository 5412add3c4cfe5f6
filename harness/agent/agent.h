// The agent: requests in, replies out, one trial or group of trials at a time.
#ifndef WIRETOLL_HARNESS_AGENT_AGENT_H_
#define WIRETOLL_HARNESS_AGENT_AGENT_H_

#include <cstdio>

namespace wiretoll {

// Serves requests (docs/protocol.md) from `in` until it ends, and gives the
// exit code of the process. Trials that still run then are interrupted; if
// they have not ended within a second, the process is ended at once from in
// here. Requires PrepareProcess().
int RunAgent(std::FILE* in, std::FILE* out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_AGENT_H_
