// How far two agents' clocks are apart, for the delays of datagrams.
#ifndef WIRETOLL_HARNESS_RUN_CLOCKS_H_
#define WIRETOLL_HARNESS_RUN_CLOCKS_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/result.h"
#include "harness/run/agent_link.h"

namespace wiretoll {

// One agent asked for its clock, by the coordinator's monotonic clock.
struct ClockExchange {
  Nanoseconds asked{0};
  Nanoseconds answered{0};
  ClockReading reading;
};

// A clock minus the coordinator's: the reading was made at some time between
// question and answer, so the middle is at most half of that off. Of several
// exchanges the shortest is the best. Requires one at least.
struct ClockOffsetSeen {
  Nanoseconds offset{0};
  Nanoseconds error{0};
};
ClockOffsetSeen TightestOffset(const std::vector<ClockExchange>& exchanges);

// The sender's clock minus the receiver's; the errors add.
SenderClock Between(const ClockOffsetSeen& sender,
                    const ClockOffsetSeen& receiver);

// Asks both agents: one exchange with each if they read the same clock, else
// five. Bounded by a few seconds; the failure says which of the two cannot
// tell, in words that name no host.
Outcome<SenderClock> CompareClocks(boost::asio::io_context& io,
                                   AgentLink& sender, AgentLink& receiver,
                                   const std::function<bool()>& cancel);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_CLOCKS_H_
