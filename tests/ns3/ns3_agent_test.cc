// Two agents of simulated hosts, started as wiretoll starts them and spoken to
// over their pipes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/agent/protocol.h"
#include "platform/process.h"
#include "tests/agent/child_process.h"

namespace wiretoll {
namespace {

class Prepared : public testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }
};

[[maybe_unused]] const testing::Environment* const kPrepared =
    testing::AddGlobalTestEnvironment(new Prepared);

constexpr const char* kSenderAddress = "10.1.1.1";
constexpr const char* kReceiverAddress = "10.1.1.2";

class Agent {
 public:
  explicit Agent(const std::string& options)
      : child_(std::make_unique<ChildProcess>(std::string(WIRETOLL_AGENT_NS3) +
                                              " " + options)) {}

  std::int64_t Send(Request request) {
    if (request.id == 0) request.id = ++last_id_;
    child_->Write(EncodeRequest(request) + "\n");
    return request.id;
  }
  std::int64_t Send(const std::string& verb, std::int64_t id = 0) {
    Request request;
    request.verb = verb;
    request.id = id;
    return Send(request);
  }
  std::int64_t SendTrial(const TrialRequest& trial) {
    Request request;
    request.verb = "trial";
    request.trial = trial;
    return Send(request);
  }
  void Go(std::int64_t id, std::uint16_t port) {
    Request request;
    request.verb = "go";
    request.id = id;
    request.port = port;
    Send(request);
  }
  Reply Read(Role role) {
    const std::optional<std::string> line = child_->ReadLine();
    if (!line) {
      ADD_FAILURE() << "the agent is gone";
      return {};
    }
    Outcome<Reply> reply = DecodeReply(*line, role);
    if (!reply.has_value()) ADD_FAILURE() << reply.error().message;
    return reply.has_value() ? std::move(reply).value() : Reply();
  }
  // It has read all that was sent to it before.
  void Settle() {
    Send("hello");
    EXPECT_TRUE(Read(Role::kSender).hello);
  }
  std::optional<int> End() {
    child_->CloseInput();
    return child_->WaitForEnd(std::chrono::seconds{10});
  }
  void Kill() { child_.reset(); }

 private:
  std::unique_ptr<ChildProcess> child_;
  std::int64_t last_id_ = 0;
};

Workload Stream(std::int64_t write, std::int64_t messages) {
  Workload workload;
  workload.write = Bytes{write};
  workload.nagle = false;
  workload.stop_messages = messages;
  return workload;
}

Workload Datagrams(std::int64_t write, std::int64_t messages) {
  Workload workload = Stream(write, messages);
  workload.transport = Transport::kUdp;
  workload.gap = Nanoseconds(2'000);
  return workload;
}

// Longer than any test waits.
Workload Endless() { return Stream(1448, 1'000'000'000); }

TrialRequest Trial(Role role, const Workload& workload,
                   std::uint64_t seed = 7) {
  const bool sender = role == Role::kSender;
  TrialRequest trial;
  trial.trial = "t";
  trial.role = role;
  trial.workload = workload;
  trial.local_address = sender ? kSenderAddress : kReceiverAddress;
  trial.peer_address = sender ? kReceiverAddress : kSenderAddress;
  trial.payload_seed = seed;
  return trial;
}

class Ns3AgentTest : public testing::Test {
 protected:
  struct Ids {
    std::int64_t sender = 0;
    std::int64_t receiver = 0;
  };

  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("ns3-") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    sender_ = std::make_unique<Agent>(Options());
    receiver_ = std::make_unique<Agent>(Options());
  }
  // The last one first: it has inherited the other's pipes.
  void TearDown() override {
    receiver_.reset();
    sender_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string Options(const std::string& more = "") const {
    return "--meet " + folder_.string() + " --host h " + more;
  }

  // Both are ready, and the sender has been told to go.
  Ids Begin(const Workload& workload) {
    Ids ids;
    ids.sender = sender_->SendTrial(Trial(Role::kSender, workload, seed_));
    const Reply sender = sender_->Read(Role::kSender);
    TrialRequest receiving = Trial(Role::kReceiver, workload, seed_);
    receiving.peer_port = sender.ready_port.value_or(0);
    ids.receiver = receiver_->SendTrial(receiving);
    const Reply receiver = receiver_->Read(Role::kReceiver);
    EXPECT_TRUE(sender.ready_port) << sender.error.value_or("");
    EXPECT_TRUE(receiver.ready_port) << receiver.error.value_or("");
    sender_->Go(ids.sender, receiver.ready_port.value_or(0));
    return ids;
  }

  struct Ends {
    Reply sender;
    Reply receiver;
  };

  Ends RunTrial(const Workload& workload) {
    const Ids ids = Begin(workload);
    Ends ends;
    ends.sender = sender_->Read(Role::kSender);
    if (workload.transport == Transport::kUdp && ends.sender.end) {
      Request sent;
      sent.verb = "sent";
      sent.id = ids.receiver;
      sent.sent = {*ends.sender.end->datagrams->sent, ends.sender.end->bytes};
      receiver_->Send(sent);
    }
    ends.receiver = receiver_->Read(Role::kReceiver);
    EXPECT_TRUE(ends.sender.end) << ends.sender.error.value_or("");
    EXPECT_TRUE(ends.receiver.end) << ends.receiver.error.value_or("");
    return ends;
  }

  // The next trial runs as if nothing had been.
  void ExpectNextTrial() {
    const Ends ends = RunTrial(Stream(1000, 10));
    ASSERT_TRUE(ends.receiver.end);
    EXPECT_EQ(ends.receiver.end->bytes, 10'000);
  }

  std::uint64_t seed_ = 7;
  std::filesystem::path folder_;
  std::unique_ptr<Agent> sender_;
  std::unique_ptr<Agent> receiver_;
};

#define EXPECT_SAYS(reply, words)                                              \
  EXPECT_NE((reply).error.value_or("no error").find(words), std::string::npos) \
      << (reply).error.value_or("no error")

TEST_F(Ns3AgentTest, MovesAStreamFromOneAgentsHostToTheOthers) {
  Workload workload = Stream(1472, 1000);
  workload.verify = true;
  const Ends ends = RunTrial(workload);
  ASSERT_TRUE(ends.sender.end && ends.receiver.end);
  const EndReport& sender = *ends.sender.end;
  const EndReport& receiver = *ends.receiver.end;
  EXPECT_EQ(sender.bytes, 1'472'000);
  EXPECT_EQ(sender.calls, 1000);
  EXPECT_EQ(receiver.bytes, 1'472'000);
  EXPECT_EQ(receiver.verified, true);
  EXPECT_EQ(sender.os, "ns3");
  EXPECT_EQ(receiver.stack.substr(0, 7), "ns-3 3.");
  // Segments of 536 bytes, the last one shorter.
  EXPECT_EQ(*receiver.counters.data_segments_in, (1'472'000 + 535) / 536);
  EXPECT_EQ(sender.counters.data_segments_out,
            receiver.counters.data_segments_in);
  EXPECT_EQ(sender.cpu_ns, std::nullopt);
  EXPECT_EQ(sender.why_null.at("cpu_ns"), "no CPU is simulated");
  EXPECT_EQ(sender.options.at("rng_run").effective,
            OptionValue(std::int64_t{1}));
}

// 97 of 100 in a simulation of its own, whatever ran before.
TEST_F(Ns3AgentTest, LosesTheSameDatagramsInEachTrial) {
  for (int i = 0; i < 2; ++i) {
    const Ends ends = RunTrial(Datagrams(1472, 100));
    ASSERT_TRUE(ends.sender.end && ends.receiver.end);
    EXPECT_EQ(ends.sender.end->datagrams->sent, 100);
    EXPECT_EQ(ends.receiver.end->datagrams->received, 3);
    EXPECT_EQ(ends.receiver.end->bytes, 3 * 1472);
    EXPECT_EQ(ends.receiver.end->datagrams->ended, "nothing came for 500 ms");
    EXPECT_EQ(ends.receiver.end->datagrams->delay_error_ns, 0);
    EXPECT_EQ(ends.sender.end->options.at("flow_packets_lost").effective,
              OptionValue(std::int64_t{97}));
  }
}

// Repeats have other random numbers then; the sample says which.
TEST_F(Ns3AgentTest, GivesEachTrialARunOfItsOwnWhereAsked) {
  sender_ = std::make_unique<Agent>(Options("--rng-run each"));
  receiver_ = std::make_unique<Agent>(Options("--rng-run each"));
  seed_ = 41;
  const Ends ends = RunTrial(Datagrams(1472, 100));
  ASSERT_TRUE(ends.sender.end && ends.receiver.end);
  EXPECT_EQ(ends.sender.end->options.at("rng_run").effective,
            OptionValue(std::int64_t{42}));
  EXPECT_EQ(ends.receiver.end->options.at("rng_run").effective,
            OptionValue(std::int64_t{42}));
}

TEST_F(Ns3AgentTest, AnswersRequestsOverTheLink) {
  Workload workload = Stream(1, 50);
  workload.pattern = Pattern::kRequestResponse;
  workload.request = {Bytes{9}};
  workload.reply = {Bytes{13}};
  workload.verify = true;
  const Ends ends = RunTrial(workload);
  ASSERT_TRUE(ends.sender.end && ends.receiver.end);
  EXPECT_EQ(ends.sender.end->latency->count, 50);
  // 2 us each way, and at 1 Gbit/s some 0.6 us a packet.
  EXPECT_GE(ends.sender.end->latency->min_ns, 4'000);
  EXPECT_EQ(ends.receiver.end->bytes, 50 * 9);
  EXPECT_EQ(ends.receiver.end->verified, true);
}

TEST_F(Ns3AgentTest, SkipsWhatNs3CannotDoAndSaysWhatItCan) {
  Workload workload = Stream(1, 1);
  workload.congestion = "no-such";
  sender_->SendTrial(Trial(Role::kSender, workload));
  Reply reply = sender_->Read(Role::kSender);
  EXPECT_TRUE(reply.skip);
  EXPECT_SAYS(reply, "no congestion control \"no-such\"");
  EXPECT_SAYS(reply, "cubic");
  workload = Stream(1, 1);
  workload.cork = true;
  sender_->SendTrial(Trial(Role::kSender, workload));
  reply = sender_->Read(Role::kSender);
  EXPECT_TRUE(reply.skip);
  EXPECT_SAYS(reply, "no option cork");
}

// Silly window avoidance without its time-out: ns-3 3.37 stands still.
TEST_F(Ns3AgentTest, SkipsAWindowThatNs3sSenderNeverSendsInto) {
  Workload workload = Stream(1, 10);
  workload.rcvbuf = Bytes{2};
  Begin(workload);
  const Reply reply = sender_->Read(Role::kSender);
  EXPECT_TRUE(reply.skip);
  EXPECT_SAYS(reply, "stands still with an rcvbuf of 2 bytes");
  EXPECT_SAYS(reply, "a whole segment (536 bytes)");
  EXPECT_TRUE(receiver_->Read(Role::kReceiver).skip);
  workload.mss = Bytes{1};
  const Ends ends = RunTrial(workload);
  ASSERT_TRUE(ends.receiver.end);
  EXPECT_EQ(ends.receiver.end->bytes, 10);
  EXPECT_EQ(ends.sender.end->counters.peer_window_initial_bytes, 2);
}

TEST_F(Ns3AgentTest, FailsTheTrialWhoseSenderIsKilledAndTakesTheNext) {
  Begin(Endless());
  sender_->Settle();
  sender_->Kill();
  EXPECT_SAYS(receiver_->Read(Role::kReceiver), "went away in mid-trial");
  sender_ = std::make_unique<Agent>(Options());
  ExpectNextTrial();
}

TEST_F(Ns3AgentTest, FailsTheTrialWhoseReceiverIsKilledAndTakesTheNext) {
  Begin(Endless());
  sender_->Settle();
  receiver_->Kill();
  EXPECT_SAYS(sender_->Read(Role::kSender), "went away");
  receiver_ = std::make_unique<Agent>(Options());
  ExpectNextTrial();
}

TEST_F(Ns3AgentTest, AbortsATrialAtBothEnds) {
  const Ids ids = Begin(Endless());
  sender_->Settle();
  sender_->Send("abort", ids.sender);
  EXPECT_SAYS(sender_->Read(Role::kSender), "aborted");
  EXPECT_SAYS(receiver_->Read(Role::kReceiver), "went away in mid-trial");
  ExpectNextTrial();
}

TEST_F(Ns3AgentTest, EndsWithItsInputInMidTrial) {
  Begin(Endless());
  sender_->Settle();
  // The other one ends first: it holds the sender's input open.
  EXPECT_EQ(receiver_->End(), 0);
  EXPECT_SAYS(sender_->Read(Role::kSender), "went away");
  EXPECT_EQ(sender_->End(), 0);
}

TEST_F(Ns3AgentTest, RefusesToMeetOneThatSimulatesAnotherLink) {
  receiver_ = std::make_unique<Agent>(Options("--delay 5us"));
  Begin(Stream(1, 1));
  EXPECT_SAYS(sender_->Read(Role::kSender), "started with different links");
}

TEST_F(Ns3AgentTest, SaysThatNobodyIsThereToMeet) {
  const std::int64_t id =
      sender_->SendTrial(Trial(Role::kSender, Stream(1, 1)));
  sender_->Read(Role::kSender);
  sender_->Go(id, 7001);
  EXPECT_SAYS(sender_->Read(Role::kSender), "with the same --meet?");
}

TEST_F(Ns3AgentTest, EndsASimulationAtTheDeadline) {
  TrialRequest sending = Trial(Role::kSender, Endless());
  sending.deadline = std::chrono::milliseconds(500);
  const std::int64_t id = sender_->SendTrial(sending);
  TrialRequest receiving = Trial(Role::kReceiver, Endless());
  receiving.peer_port = *sender_->Read(Role::kSender).ready_port;
  receiver_->SendTrial(receiving);
  sender_->Go(id, *receiver_->Read(Role::kReceiver).ready_port);
  EXPECT_SAYS(sender_->Read(Role::kSender), "within 0.5 s");
  EXPECT_TRUE(receiver_->Read(Role::kReceiver).error);
  ExpectNextTrial();
}

TEST_F(Ns3AgentTest, ShowsBothHostsOneClock) {
  sender_->Send("clock");
  receiver_->Send("clock");
  const Reply one = sender_->Read(Role::kSender);
  const Reply other = receiver_->Read(Role::kSender);
  ASSERT_TRUE(one.clock && other.clock);
  EXPECT_FALSE(one.clock->identity.empty());
  EXPECT_EQ(one.clock->identity, other.clock->identity);
}

TEST_F(Ns3AgentTest, RefusesToCapture) {
  Request request;
  request.verb = "capture";
  request.capture = {kSenderAddress, kReceiverAddress, 7001, 7001, 128};
  sender_->Send(request);
  EXPECT_SAYS(sender_->Read(Role::kSender), "nothing is captured");
}

}  // namespace
}  // namespace wiretoll
