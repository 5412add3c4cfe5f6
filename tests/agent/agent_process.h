// A real agent, started as a child and spoken to over its pipes.
#ifndef WIRETOLL_TESTS_AGENT_AGENT_PROCESS_H_
#define WIRETOLL_TESTS_AGENT_AGENT_PROCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/agent/protocol.h"

namespace wiretoll {

class ChildProcess;

// What one exchange of a trial left: each end's last reply.
struct BothEnds {
  Reply sender;
  Reply receiver;
};

// An agent inherits the pipes of those started before it: end the last one
// first, lest it keeps the others' input open.
class AgentProcess {
 public:
  AgentProcess();
  ~AgentProcess();  // Ends it if it still runs.

  void SendLine(const std::string& line);
  // The id given to it.
  std::int64_t Send(Request request);
  std::int64_t SendTrial(const TrialRequest& trial);
  void Go(std::int64_t id, std::uint16_t port);
  void Sent(std::int64_t id, const SentNotice& notice);
  void Abort(std::int64_t id);

  // The next line; a failure of the test and an empty text if there is none.
  std::string ReadLine();
  Reply Read(Role role = Role::kSender);

  // Closes its standard input and waits. Its exit code; nothing if it did not
  // end within ten seconds.
  std::optional<int> End();

 private:
  std::unique_ptr<ChildProcess> child_;
  std::int64_t last_id_ = 0;
};

// On loopback, ports as the system chooses.
TrialRequest LoopbackTrial(Role role, const Workload& workload);

// A stream of `messages` writes.
Workload Stream(Bytes write, std::int64_t messages);

// The same over UDP.
Workload Datagrams(Bytes write, std::int64_t messages);

// Sender and receiver of `workload`, in the order the coordinator keeps. An
// end that refuses before "ready" leaves the other's reply empty.
BothEnds RunTrial(AgentProcess& sender, AgentProcess& receiver,
                  const Workload& workload);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_AGENT_AGENT_PROCESS_H_
