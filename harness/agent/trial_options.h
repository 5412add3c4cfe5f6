// Socket options of a trial: what was asked for is set, what the system made
// of it is read back and explained.
#ifndef WIRETOLL_HARNESS_AGENT_TRIAL_OPTIONS_H_
#define WIRETOLL_HARNESS_AGENT_TRIAL_OPTIONS_H_

#include <map>
#include <optional>
#include <string>

#include "harness/agent/protocol.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"
#include "platform/socket.h"

namespace wiretoll {

// Sets on a socket not yet connected or listening what `workload` asks of
// this role. Gives why that is not possible on this host, naming the option
// and the remedy; nothing if all is set.
std::optional<std::string> SetTrialOptions(const Socket& socket, Role role,
                                           const Workload& workload);

// What is asked of the connection itself: TCP_QUICKACK, where it is to be set
// once, and the congestion control, which a route may have changed. Gives as
// SetTrialOptions().
std::optional<std::string> SetConnectedOptions(const Socket& socket, Role role,
                                               const Workload& workload);

// Every option, by its factor's name: nagle, rcvbuf, sndbuf, congestion,
// quickack, cork, mss, and over UDP dont_fragment. `os` as IdentifyOs() gives
// it.
std::map<std::string, OptionReading> ReadTrialOptions(const Socket& socket,
                                                      Role role,
                                                      const Workload& workload,
                                                      const std::string& os);

// Why a buffer of `requested` bytes reads back as `effective`; empty if it is
// what was asked. Linux keeps twice the value for its own overhead (socket(7))
// and stops at net.core.rmem_max or wmem_max (`limit`).
std::string ExplainBuffer(std::int64_t requested, std::int64_t effective,
                          const std::string& os, const std::string& limit);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_TRIAL_OPTIONS_H_
