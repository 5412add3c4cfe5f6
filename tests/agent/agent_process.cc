#include "tests/agent/agent_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "platform/process.h"
#include "tests/agent/child_process.h"

namespace wiretoll {
namespace {

class Prepared : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }
};

// GoogleTest's main() is not ours, so that it cannot prepare the process.
[[maybe_unused]] const testing::Environment* const kPrepared =
    testing::AddGlobalTestEnvironment(new Prepared);

// Elsewhere than where it was built, the environment says where the agent is.
std::string AgentProgram() {
  const char* moved = std::getenv("WIRETOLL_AGENT");
  return moved == nullptr ? WIRETOLL_AGENT : moved;
}

}  // namespace

AgentProcess::AgentProcess()
    : child_(std::make_unique<ChildProcess>(AgentProgram())) {}

AgentProcess::~AgentProcess() = default;

void AgentProcess::SendLine(const std::string& line) {
  child_->Write(line + "\n");
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

void AgentProcess::Sent(std::int64_t id, const SentNotice& notice) {
  Request request;
  request.id = id;
  request.verb = "sent";
  request.sent = notice;
  SendLine(EncodeRequest(request));
}

void AgentProcess::Abort(std::int64_t id) {
  Request request;
  request.id = id;
  request.verb = "abort";
  SendLine(EncodeRequest(request));
}

std::string AgentProcess::ReadLine() {
  std::optional<std::string> line = child_->ReadLine();
  if (!line) ADD_FAILURE() << "the agent is gone";
  return std::move(line).value_or("");
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
  child_->CloseInput();
  return child_->WaitForEnd(std::chrono::seconds{10});
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

Workload Datagrams(Bytes write, std::int64_t messages) {
  Workload workload = Stream(write, messages);
  workload.transport = Transport::kUdp;
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
  const std::int64_t id = receiver.SendTrial(receiving);
  both.receiver = receiver.Read(Role::kReceiver);
  if (!both.receiver.ready_port) {
    sender.Abort(sending);
    both.sender = sender.Read(Role::kSender);
    return both;
  }
  sender.Go(sending, *both.receiver.ready_port);
  if (workload.transport == Transport::kUdp) {
    both.sender = sender.Read(Role::kSender);
    if (both.sender.end) {
      receiver.Sent(id, {both.sender.end->datagrams->sent.value_or(0),
                         both.sender.end->bytes});
    } else {
      receiver.Abort(id);
    }
    both.receiver = receiver.Read(Role::kReceiver);
    return both;
  }
  both.receiver = receiver.Read(Role::kReceiver);
  both.sender = sender.Read(Role::kSender);
  return both;
}

}  // namespace wiretoll
