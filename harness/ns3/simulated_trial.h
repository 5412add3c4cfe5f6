// One end of a simulated trial, as its agent sees it.
#ifndef WIRETOLL_HARNESS_NS3_SIMULATED_TRIAL_H_
#define WIRETOLL_HARNESS_NS3_SIMULATED_TRIAL_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/ns3/world.h"

namespace wiretoll {

// Where the two hosts meet and what is between them; it outlives its trials.
struct SimulatedGround {
  boost::asio::io_context& io;
  std::filesystem::path folder;
  sim::WorldSpec world;
};

// All of it happens on the thread that runs the ground's `io`. Every wait ends
// with the request's deadline.
class SimulatedTrial : public std::enable_shared_from_this<SimulatedTrial> {
 public:
  // Told a reply without its id: the port once, by `ready_port`, then the last
  // word.
  using Tell = std::function<void(Reply)>;

  virtual ~SimulatedTrial() = default;
  SimulatedTrial(const SimulatedTrial&) = delete;
  SimulatedTrial& operator=(const SimulatedTrial&) = delete;

  // Says that it is ready at `port`, or why not.
  virtual void Begin(std::uint16_t port) = 0;
  // docs/protocol.md. Without effect where it is the other role's.
  virtual void Go(std::uint16_t /*port*/) {}
  virtual void Sent() {}
  // Ends it with `error` for its last word, unless that is said.
  void Break(const std::string& error);

  [[nodiscard]] bool ended() const { return tell_ == nullptr; }
  [[nodiscard]] const TrialRequest& request() const { return request_; }

 protected:
  SimulatedTrial(const SimulatedGround& ground, TrialRequest request,
                 Tell tell);

  void SayReady(std::uint16_t port);
  // Its last word; the other end sees that it has left.
  void Conclude(Reply reply);
  // The same, of a line that the simulation made.
  void ConcludeWith(const std::string& line);
  virtual void Leave() = 0;
  virtual void AtDeadline() = 0;
  // "30 s"
  [[nodiscard]] std::string DeadlineWords() const;

  const SimulatedGround& ground_;
  const TrialRequest request_;

 private:
  Tell tell_;
  boost::asio::steady_timer deadline_;
};

// Of the request's role.
std::shared_ptr<SimulatedTrial> MakeSimulatedTrial(
    const SimulatedGround& ground, const TrialRequest& request,
    SimulatedTrial::Tell tell);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_SIMULATED_TRIAL_H_
