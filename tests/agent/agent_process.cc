#include "tests/agent/agent_process.h"

#include <gtest/gtest.h>

// Boost 1.88 and later keep the interface used here under v1/.
#if __has_include(<boost/process/v1/child.hpp>)
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/io.hpp>
#include <boost/process/v1/pipe.hpp>
namespace bp = boost::process::v1;
#else
#include <boost/process.hpp>
namespace bp = boost::process;
#endif

#include <chrono>
#include <system_error>
#include <thread>

namespace wiretoll {

struct AgentProcess::Pipes {
  bp::opstream in;
  bp::ipstream out;
  bp::child child;
};

AgentProcess::AgentProcess() : pipes_(std::make_unique<Pipes>()) {
  pipes_->child = bp::child(WIRETOLL_AGENT,
                            bp::std_in<pipes_->in, bp::std_out> pipes_->out);
}

AgentProcess::~AgentProcess() {
  std::error_code ignored;
  if (pipes_->child.running(ignored)) pipes_->child.terminate(ignored);
}

void AgentProcess::SendLine(const std::string& line) {
  pipes_->in << line << '\n' << std::flush;
}

std::int64_t AgentProcess::Send(Request request) {
  request.id = ++last_id_;
  SendLine(EncodeRequest(request));
  return request.id;
}

std::int64_t AgentProcess::SendTrial(const TrialRequest& trial) {
  Request request;
  request.verb = "trial";
  request.trial = trial;
  return Send(request);
}

void AgentProcess::Go(std::int64_t id, std::uint16_t port) {
  Request request;
  request.id = id;
  request.verb = "go";
  request.port = port;
  SendLine(EncodeRequest(request));
}

void AgentProcess::Abort(std::int64_t id) {
  Request request;
  request.id = id;
  request.verb = "abort";
  SendLine(EncodeRequest(request));
}

std::string AgentProcess::ReadLine() {
  std::string line;
  if (!std::getline(pipes_->out, line)) ADD_FAILURE() << "the agent is gone";
  return line;
}

Reply AgentProcess::Read(Role role) {
  const std::string line = ReadLine();
  Outcome<Reply> reply = DecodeReply(line, role);
  if (!reply.has_value()) {
    ADD_FAILURE() << reply.error().message << " in " << line;
    return {};
  }
  return std::move(reply).value();
}

std::optional<int> AgentProcess::End() {
  using namespace std::chrono_literals;
  pipes_->in.close();
  pipes_->in.pipe().close();
  for (int tries = 0; tries < 1000; ++tries) {
    if (!pipes_->child.running()) return pipes_->child.exit_code();
    std::this_thread::sleep_for(10ms);
  }
  return std::nullopt;
}

TrialRequest LoopbackTrial(Role role, const Workload& workload) {
  TrialRequest trial;
  trial.trial = "t";
  trial.role = role;
  trial.workload = workload;
  trial.local_address = "127.0.0.1";
  trial.peer_address = "127.0.0.1";
  trial.payload_seed = 7;
  return trial;
}

Workload Stream(Bytes write, std::int64_t messages) {
  Workload workload;
  workload.write = write;
  workload.stop_messages = messages;
  return workload;
}

BothEnds RunTrial(AgentProcess& sender, AgentProcess& receiver,
                  const Workload& workload) {
  BothEnds both;
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, workload));
  both.sender = sender.Read(Role::kSender);
  if (!both.sender.ready_port) return both;
  TrialRequest receiving = LoopbackTrial(Role::kReceiver, workload);
  receiving.peer_port = *both.sender.ready_port;
  receiver.SendTrial(receiving);
  both.receiver = receiver.Read(Role::kReceiver);
  if (!both.receiver.ready_port) {
    sender.Abort(sending);
    both.sender = sender.Read(Role::kSender);
    return both;
  }
  sender.Go(sending, *both.receiver.ready_port);
  both.receiver = receiver.Read(Role::kReceiver);
  both.sender = sender.Read(Role::kSender);
  return both;
}

}  // namespace wiretoll
