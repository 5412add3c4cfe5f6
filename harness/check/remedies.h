// What to do about what a check found, for each operating system.
#ifndef WIRETOLL_HARNESS_CHECK_REMEDIES_H_
#define WIRETOLL_HARNESS_CHECK_REMEDIES_H_

#include <string>
#include <vector>

#include "harness/check/check.h"

namespace wiretoll {

// One end of a pair that did not come together.
struct RemedyEnd {
  std::string name;
  std::string address;
  std::string os;  // As the agent says: "linux", "windows", "wine", ...
};

// `message`: why the agent of `host` did not come up. May be empty: the
// message has all there is to say.
std::vector<Remedy> AgentRemedies(const Host& host, const std::string& message);

// `message`: how a trial's connection failed, in the agent's words.
std::vector<Remedy> ReachRemedies(const RemedyEnd& sender,
                                  const RemedyEnd& receiver,
                                  const CheckSpec& spec,
                                  const std::string& message);

// Full segments are lost between the two.
std::vector<Remedy> SegmentRemedies(const RemedyEnd& sender,
                                    const RemedyEnd& receiver);

// `message`: why a host cannot listen on its address.
std::vector<Remedy> AddressRemedies(const RemedyEnd& host,
                                    const CheckSpec& spec,
                                    const std::string& message);

// Whether the agent's words put a failure down to a firewall.
bool MayBeAFirewall(const std::string& message);

// How to capture a host's data ports; no command where the interface
// is not known.
Remedy CaptureOn(const HostCheck& host, const CheckReport& report);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CHECK_REMEDIES_H_
