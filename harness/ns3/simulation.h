// A simulation in a process of its own: this program, started once more. ns-3
// keeps what it knows in globals, random numbers among them, and cannot be
// interrupted; a process is new each time and can be ended.
#ifndef WIRETOLL_HARNESS_NS3_SIMULATION_H_
#define WIRETOLL_HARNESS_NS3_SIMULATION_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/streambuf.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "harness/agent/protocol.h"
#include "harness/base/boost_process.h"
#include "harness/base/result.h"
#include "harness/ns3/world.h"

namespace wiretoll {

// The two ends' last replies, as lines.
struct SimulatedReplies {
  std::string sender;
  std::string receiver;
};

class Simulation : public std::enable_shared_from_this<Simulation> {
 public:
  using Handler = std::function<void(Result<SimulatedReplies, std::string>)>;

  // `done` is called once, from `io`; not after End(). `sender` and `receiver`
  // are lines with the two requests.
  static std::shared_ptr<Simulation> Start(boost::asio::io_context& io,
                                           const sim::WorldSpec& world,
                                           const SimulatedReplies& requests,
                                           Handler done);
  ~Simulation();

  // Ends the process, whatever it is doing.
  void End();

 private:
  Simulation(boost::asio::io_context& io, Handler done);

  std::string Launch(const sim::WorldSpec& world);
  void Write();
  void ReadLine();
  void Take(const std::string& line);
  void Finish(Result<SimulatedReplies, std::string> result);

  bp::async_pipe in_, out_;
  bp::child child_;
  boost::asio::streambuf buffer_;
  std::string text_;
  SimulatedReplies replies_;
  Handler done_;
};

// What that process does: two requests in, two replies out. It ends at once
// when its input does, for then nobody wants them any more.
ExitCode RunSimulation(const sim::WorldSpec& world, std::FILE* in,
                       std::FILE* out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_SIMULATION_H_
