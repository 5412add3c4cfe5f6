#include "harness/ns3/agent_ns3.h"

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "harness/agent/line_reader.h"
#include "harness/agent/protocol.h"
#include "harness/base/version.h"
#include "harness/ns3/host_facts.h"
#include "harness/ns3/simulate.h"
#include "harness/ns3/simulated_trial.h"
#include "platform/clock.h"

namespace wiretoll {
namespace {

// Where the system is to choose the ports; nobody else has any.
constexpr std::uint16_t kFirstOwnPort = 49152;
constexpr std::uint16_t kOwnPorts = 16384;

class SimulatedAgent {
 public:
  SimulatedAgent(const Ns3AgentSpec& spec, boost::asio::io_context& io,
                 std::FILE* out)
      : host_(spec.host), ground_{io, spec.meet, spec.world}, out_(out) {}

  void Handle(const std::string& line);
  void RefuseLongLine() {
    Refuse(0, fmt::format("request: longer than {} bytes", kMaxLineBytes));
  }
  void End() {
    if (trial_) trial_->Break("the agent ends");
  }

 private:
  void Answer(const Request& request);
  void SayHello(std::int64_t id);
  void TellFacts(std::int64_t id);
  void TellTime(std::int64_t id);
  void StartTrial(const Request& request);
  void SteerTrial(const Request& request);
  std::uint16_t PortFor(const TrialRequest& trial);
  void Write(const Reply& reply, Role role = Role::kSender);
  void Refuse(std::int64_t id, const std::string& why, bool skip = false);

  const std::string host_;
  const SimulatedGround ground_;
  std::FILE* const out_;
  std::uint16_t ports_given_ = 0;
  std::int64_t trial_id_ = 0;
  std::shared_ptr<SimulatedTrial> trial_;  // Or the last one.
};

void SimulatedAgent::Handle(const std::string& line) {
  const Outcome<Request> decoded = DecodeRequest(line);
  if (decoded.has_value()) {
    Answer(decoded.value());
  } else {
    Refuse(IdOf(line), decoded.error().message);
  }
}

void SimulatedAgent::Answer(const Request& request) {
  const std::string& verb = request.verb;
  if (verb == "hello") {
    SayHello(request.id);
  } else if (verb == "facts") {
    TellFacts(request.id);
  } else if (verb == "clock") {
    TellTime(request.id);
  } else if (verb == "trial") {
    StartTrial(request);
  } else if (verb == "capture") {
    Refuse(request.id,
           "nothing is captured on a simulated host: its interface is in the "
           "simulation; its counters are from ns-3's own trace sources");
  } else if (verb == "capture-end") {
    Refuse(request.id, "no capture runs");
  } else if (verb == "part") {
    Refuse(request.id,
           "there is nothing to take a part of: a simulated host "
           "keeps no capture, calls or series");
  } else {
    SteerTrial(request);
  }
}

void SimulatedAgent::SayHello(std::int64_t id) {
  Reply reply;
  reply.id = id;
  reply.hello = Hello{kVersion, "ns3", SimulatedStack(),
                      DescribeSimulatedHost(host_, ground_.world)};
  Write(reply);
}

void SimulatedAgent::TellFacts(std::int64_t id) {
  Reply reply;
  reply.id = id;
  reply.facts = SimulatedHostFacts(ground_.world);
  Write(reply);
}

// Trials have the simulation's clock, which both ends read. What is told here
// is only to be the same for both.
void SimulatedAgent::TellTime(std::int64_t id) {
  Reply reply;
  reply.id = id;
  const Nanoseconds now = MonotonicNow().time_since_epoch();
  reply.clock = ClockReading{now + WallMinusMonotonic(), now,
                             "ns-3 at " + ground_.folder.string()};
  Write(reply);
}

void SimulatedAgent::StartTrial(const Request& request) {
  if (trial_ && !trial_->ended()) {
    return Refuse(request.id, fmt::format("trial {} still runs; abort it first",
                                          trial_id_));
  }
  if (const auto why_not = WhyNotSimulated(*request.trial))
    return Refuse(request.id, *why_not, true);
  trial_id_ = request.id;
  trial_ = MakeSimulatedTrial(
      ground_, *request.trial,
      [this, id = request.id, role = request.trial->role](Reply reply) {
        reply.id = id;
        Write(reply, role);
      });
  trial_->Begin(PortFor(*request.trial));
}

void SimulatedAgent::SteerTrial(const Request& request) {
  if (!trial_ || request.id != trial_id_) {
    return Refuse(request.id, fmt::format("no trial {} is known here to {}",
                                          request.id, request.verb));
  }
  if (trial_->ended()) return;
  const TrialRequest& trial = trial_->request();
  const bool sender = trial.role == Role::kSender;
  if (request.verb == "abort") {
    trial_->Break("aborted");
  } else if (request.verb == "go") {
    if (!sender)
      return Refuse(request.id, "go is for a sender; this end receives");
    trial_->Go(request.port);
  } else {
    if (sender || trial.workload.transport != Transport::kUdp) {
      return Refuse(request.id,
                    "sent is for a receiver of UDP, which this end is not");
    }
    trial_->Sent();
  }
}

// A simulated host has all its ports free; those of a sender differ from trial
// to trial, so that the receiver knows whom it waits for.
std::uint16_t SimulatedAgent::PortFor(const TrialRequest& trial) {
  if (trial.role == Role::kReceiver && trial.first_port != 0)
    return trial.first_port;
  ports_given_ = static_cast<std::uint16_t>((ports_given_ + 1) % kOwnPorts);
  return static_cast<std::uint16_t>(kFirstOwnPort + ports_given_);
}

// A pipe that nobody reads any more is no error here: standard input ends with
// it, and the agent with that.
void SimulatedAgent::Write(const Reply& reply, Role role) {
  const std::string line = EncodeReply(reply, role) + "\n";
  std::fwrite(line.data(), 1, line.size(), out_);
  std::fflush(out_);
}

void SimulatedAgent::Refuse(std::int64_t id, const std::string& why,
                            bool skip) {
  Reply reply;
  reply.id = id;
  reply.error = why;
  reply.skip = skip;
  Write(reply);
}

// Hands each line to `io`'s thread, and its end.
void ReadLines(std::FILE* in, boost::asio::io_context& io,
               SimulatedAgent& agent) {
  LineReader lines(in, kMaxLineBytes);
  std::string line;
  while (true) {
    switch (lines.Next(line)) {
      case LineRead::kLine:
        boost::asio::post(io, [&agent, line] { agent.Handle(line); });
        break;
      case LineRead::kTooLong:
        boost::asio::post(io, [&agent] { agent.RefuseLongLine(); });
        break;
      case LineRead::kEnd:
        boost::asio::post(io, [&agent, &io] {
          agent.End();
          io.stop();
        });
        return;
    }
  }
}

}  // namespace

int RunNs3Agent(const Ns3AgentSpec& spec, std::FILE* in, std::FILE* out) {
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  SimulatedAgent agent(spec, io, out);
  std::thread reader([&] { ReadLines(in, io, agent); });
  io.run();
  reader.join();
  return 0;
}

}  // namespace wiretoll
