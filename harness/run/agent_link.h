// One agent, started by us, spoken to over its pipes.
#ifndef WIRETOLL_HARNESS_RUN_AGENT_LINK_H_
#define WIRETOLL_HARNESS_RUN_AGENT_LINK_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

// Runs `io` until `done()` or `until`. True if done.
template <class Predicate>
bool PumpUntil(boost::asio::io_context& io, SteadyTime until, Predicate done) {
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    io.run_one_until(until);
    if (io.stopped()) io.restart();
  }
  return true;
}

// Keeps a pipe's end of ours from other programs we start: an agent that
// inherited another's input would keep that one waiting after we closed it.
using HandleGuard = std::function<void(std::intptr_t)>;

// Everything on one thread: the caller's, inside PumpUntil.
class AgentLink {
 public:
  // Starts `command` at once; whether it answers shows later.
  AgentLink(boost::asio::io_context& io,
            const std::vector<std::string>& command, const HandleGuard& guard);
  // Closes the agent's input, gives it a moment to end, then kills it.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // False once it has ended, said what is no protocol, or never started.
  [[nodiscard]] bool alive() const;
  // Why it is not alive, with what it last said on standard error.
  [[nodiscard]] std::string Trouble() const;
  // Declares it dead for `reason` and kills it.
  void Kill(const std::string& reason);

  void Send(const Request& request);
  // The oldest line that came and was not taken yet.
  std::optional<std::string> TakeLine();
  [[nodiscard]] bool HasLine() const;
  // Of several trials at once: the oldest line that answers request `id`, or
  // that says for which it is in no way that can be read. Others stay.
  std::optional<std::string> TakeLineFor(std::int64_t id);
  // Forgets late words of requests given up, so that they do not pile up.
  void ForgetAnswers();

  [[nodiscard]] std::int64_t NextId() { return ++last_id_; }

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::int64_t last_id_ = 0;
};

// Sends one request and waits for its answer, while no trial runs there;
// `cancel`, if there is one, is looked at whenever anything happens on `io`.
// The failure says what went wrong in words that name no host: the caller knows
// which.
Outcome<Reply> Ask(boost::asio::io_context& io, AgentLink& link,
                   Request request, SteadyTime until,
                   const std::function<bool()>& cancel = {});

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_AGENT_LINK_H_
