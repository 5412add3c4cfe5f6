// Agents as the coordinator meets them: processes with two pipes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/version.h"
#include "platform/clock.h"
#include "platform/socket.h"
#include "tests/agent/agent_process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Request Verb(const std::string& verb) {
  Request request;
  request.verb = verb;
  return request;
}

Workload RequestResponse(std::vector<Bytes> request, std::vector<Bytes> reply,
                         std::int64_t rounds) {
  Workload workload;
  workload.pattern = Pattern::kRequestResponse;
  workload.request = std::move(request);
  workload.reply = std::move(reply);
  workload.stop_messages = rounds;
  return workload;
}

// Both reports, once nothing went wrong.
std::pair<EndReport, EndReport> Reports(const BothEnds& both) {
  EXPECT_TRUE(both.sender.end) << both.sender.error.value_or("no report");
  EXPECT_TRUE(both.receiver.end) << both.receiver.error.value_or("no report");
  return {both.sender.end.value_or(EndReport{}),
          both.receiver.end.value_or(EndReport{})};
}

void ExpectWorks(AgentProcess& sender, AgentProcess& receiver) {
  const auto [sent, received] =
      Reports(RunTrial(sender, receiver, Stream(Bytes{100}, 10)));
  EXPECT_EQ(sent.bytes, 1000);
  EXPECT_EQ(received.bytes, 1000);
}

// All of it, part by part.
std::string Fetch(AgentProcess& agent, PartOf of) {
  std::string whole;
  while (true) {
    Request request = Verb("part");
    request.part = {of, static_cast<std::int64_t>(whole.size())};
    agent.Send(request);
    const Reply reply = agent.Read();
    if (!reply.part) return reply.error.value_or("no part");
    whole += reply.part->data;
    if (reply.part->left == 0) return whole;
  }
}

// Of the lines of a series, each of which must begin with `end`.
std::vector<std::int64_t> TimesIn(const std::string& series,
                                  const std::string& end) {
  std::vector<std::int64_t> times;
  std::istringstream lines(series);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.substr(0, end.size()), end);
    times.push_back(std::stoll(line.substr(end.size())));
  }
  return times;
}

TEST(AgentTest, SaysHelloWithItsVersion) {
  AgentProcess agent;
  const std::int64_t id = agent.Send(Verb("hello"));
  const Reply reply = agent.Read();
  EXPECT_EQ(reply.id, id);
  ASSERT_TRUE(reply.hello);
  EXPECT_EQ(reply.hello->version, kVersion);
  EXPECT_FALSE(reply.hello->os.empty());
}

TEST(AgentTest, TellsFactsOfItsHost) {
  AgentProcess agent;
  Request request = Verb("facts");
  request.address = "127.0.0.1";
  agent.Send(request);
  const Reply reply = agent.Read();
  ASSERT_TRUE(reply.facts);
  EXPECT_FALSE(reply.facts->empty());
}

// Both readings are of one clock, so the agent's lies between ours; its own two
// looks at a clock may be apart by what the exchange took at most.
TEST(AgentTest, TellsItsClocks) {
  AgentProcess agent;
  const SteadyTime monotonic = MonotonicNow();
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  agent.Send(Verb("clock"));
  const Reply reply = agent.Read();
  const auto after = std::chrono::system_clock::now().time_since_epoch();
  ASSERT_TRUE(reply.clock);
  EXPECT_GE(reply.clock->wall, before - (after - before));
  EXPECT_LE(reply.clock->wall, after + (after - before));
  // A child of ours, on this host.
  EXPECT_EQ(reply.clock->identity, ClockIdentity());
  EXPECT_GE(reply.clock->monotonic, monotonic.time_since_epoch());
  EXPECT_LE(reply.clock->monotonic, MonotonicNow().time_since_epoch());
}

TEST(AgentTest, OneByteStreamHasEqualBytesAtBothEnds) {
  AgentProcess sender;
  AgentProcess receiver;
  const auto [sent, received] =
      Reports(RunTrial(sender, receiver, Stream(Bytes{1}, 5000)));
  EXPECT_EQ(sent.calls, 5000);
  EXPECT_EQ(sent.bytes, 5000);
  EXPECT_EQ(received.bytes, 5000);
  EXPECT_EQ(sent.call_sizes, SizeBins{5000});
  EXPECT_LE(received.calls, 5000);
  EXPECT_GE(received.elapsed_ns.value_or(-1), 0);
  EXPECT_TRUE(received.first_read_bytes);
  EXPECT_EQ(received.strangers_refused, 0);
  EXPECT_EQ(receiver.End(), 0);
  EXPECT_EQ(sender.End(), 0);
}

TEST(AgentTest, EveryOptionIsReportedByBothEnds) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{100}, 10);
  workload.nagle = false;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  for (const EndReport& report : {sent, received}) {
    for (const char* name : {"nagle", "rcvbuf", "sndbuf", "congestion",
                             "quickack", "cork", "mss"}) {
      EXPECT_TRUE(report.options.contains(name)) << name;
    }
    EXPECT_EQ(report.options.at("nagle").requested, OptionValue(false));
    EXPECT_EQ(report.options.at("nagle").effective, OptionValue(false));
    EXPECT_EQ(report.options.at("rcvbuf").requested, OptionValue());
  }
}

TEST(AgentTest, BufferThatIsRoundedUpSaysSo) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{100}, 10);
  workload.rcvbuf = Bytes{2};
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  const OptionReading& rcvbuf = received.options.at("rcvbuf");
  EXPECT_EQ(rcvbuf.requested, OptionValue(std::int64_t{2}));
  ASSERT_TRUE(std::holds_alternative<std::int64_t>(rcvbuf.effective));
  EXPECT_EQ(sent.options.at("rcvbuf").requested, OptionValue());
  if (received.os == "wine" || received.os == "windows") {
    // As read: Wine takes Linux's doubling out again.
    EXPECT_EQ(std::get<std::int64_t>(rcvbuf.effective), 2);
    EXPECT_EQ(rcvbuf.reason, "");
  } else {
    EXPECT_GT(std::get<std::int64_t>(rcvbuf.effective), 4);
    EXPECT_EQ(rcvbuf.reason, "rounded up to the system's minimum");
  }
}

TEST(AgentTest, VerifiedStreamIsByteForByteAsSent) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{7001}, 300);
  workload.read = Bytes{333};
  workload.verify = true;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(received.bytes, 7001 * 300);
  EXPECT_EQ(received.verified, true);
  EXPECT_FALSE(received.first_wrong_byte);
}

// The receiver expects another seed's pattern: the very first bytes differ.
TEST(AgentTest, VerificationFailsOnOtherBytes) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{100}, 10);
  workload.verify = true;
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, workload));
  TrialRequest receiving = LoopbackTrial(Role::kReceiver, workload);
  receiving.payload_seed = 8;
  receiving.peer_port = sender.Read().ready_port.value_or(0);
  receiver.SendTrial(receiving);
  sender.Go(sending, receiver.Read().ready_port.value_or(0));
  const Reply received = receiver.Read(Role::kReceiver);
  ASSERT_TRUE(received.end);
  EXPECT_EQ(received.end->verified, false);
  EXPECT_EQ(received.end->first_wrong_byte, 0);
}

TEST(AgentTest, SixteenMebibytesFitInOneCall) {
  constexpr std::int64_t kLargest = std::int64_t{16} << 20;
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{kLargest}, 3);
  workload.read = Bytes{kLargest};
  workload.verify = true;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(sent.bytes, 3 * kLargest);
  EXPECT_EQ(received.bytes, 3 * kLargest);
  EXPECT_EQ(received.verified, true);
}

// 10 bytes in writes of 3: 3 + 3 + 3 + 1.
TEST(AgentTest, StopByBytesShortensTheLastWrite) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload;
  workload.write = Bytes{3};
  workload.stop_bytes = Bytes{10};
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(sent.calls, 4);
  EXPECT_EQ(sent.bytes, 10);
  EXPECT_EQ(received.bytes, 10);
  // One write of 1 byte, three of 2 to 3.
  EXPECT_EQ(sent.call_sizes, (SizeBins{1, 3}));
}

TEST(AgentTest, StopByTimeEndsNoSoonerThanAsked) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload;
  workload.stop_time = Nanoseconds(20ms);
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_GE(sent.elapsed_ns.value_or(0), Nanoseconds(20ms).count());
  EXPECT_EQ(sent.bytes, received.bytes);
  EXPECT_FALSE(received.steady_bytes);
  EXPECT_THAT(received.why_null.at("steady_bytes"), HasSubstr("not known"));
}

// 20 ms at once beats 1000 messages 1 ms apart.
TEST(AgentTest, StopByTimeEndsAPause) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1}, 10);
  workload.gap = 1h;
  workload.stop_time = Nanoseconds(20ms);
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(sent.calls, 1);
  EXPECT_EQ(received.bytes, 1);
  EXPECT_THAT(sent.why_null.at("gap_median_ns"), HasSubstr("first pause"));
}

// Steady state counts from the read that reaches a tenth to the end.
TEST(AgentTest, KnownTotalGivesSteadyState) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1000}, 1000);
  workload.read = Bytes{1000};
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  ASSERT_TRUE(received.steady_bytes);
  // A tenth is 100,000 bytes; the read that got there held at most 1,000.
  EXPECT_LE(*received.steady_bytes, 900'000);
  EXPECT_GT(*received.steady_bytes, 900'000 - 1000);
  EXPECT_LE(received.steady_elapsed_ns, received.elapsed_ns);
}

TEST(AgentTest, PauseBetweenWritesIsNeverShorterThanAsked) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1}, 20);
  workload.gap = 1ms;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_GE(sent.gap_median_ns.value_or(0), 1'000'000);
  EXPECT_GE(sent.gap_mean_ns.value_or(0), 1e6);
  // 20 writes have 19 pauses between them.
  EXPECT_GE(sent.elapsed_ns.value_or(0), 19'000'000);
}

// Message i is due at i * 1000 bytes * 8 / 8 Mbit/s = i ms.
TEST(AgentTest, PacedWritesKeepTheirSchedule) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1000}, 21);
  workload.rate = BitsPerSecond{8e6};
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_GE(sent.elapsed_ns.value_or(0), 20'000'000);
  EXPECT_EQ(received.bytes, 21'000);
}

TEST(AgentTest, WriteWriteReadWithNodelayCountsItsRounds) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = RequestResponse({Bytes{1}, Bytes{1}}, {Bytes{1}}, 200);
  workload.nagle = false;
  workload.verify = true;
  const auto [client, server] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(client.calls, 400);
  EXPECT_EQ(client.bytes, 400);
  EXPECT_EQ(server.bytes, 400);
  EXPECT_EQ(server.verified, true);
  ASSERT_TRUE(client.latency);
  EXPECT_EQ(client.latency->count, 200);
  EXPECT_LE(client.latency->min_ns, client.latency->p50_ns);
  EXPECT_LE(client.latency->p50_ns, client.latency->max_ns);
  EXPECT_FALSE(server.latency);
}

TEST(AgentTest, RequestsOfManyPartsComeWhole) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = RequestResponse({Bytes{9}, Bytes{70000}, Bytes{1}},
                                      {Bytes{4}, Bytes{100000}}, 20);
  workload.read = Bytes{4096};
  workload.nagle = false;
  workload.quickack = Quickack::kEach;
  workload.verify = true;
  BothEnds both = RunTrial(sender, receiver, workload);
  if (both.receiver
          .skip) {  // No such option here: the rest holds all the same.
    EXPECT_THAT(both.receiver.error.value_or(""), HasSubstr("quickack"));
    workload.quickack = Quickack::kUnset;
    both = RunTrial(sender, receiver, workload);
  }
  const auto [client, server] = Reports(both);
  EXPECT_EQ(client.bytes, 20 * 70010);
  EXPECT_EQ(server.bytes, 20 * 70010);
  EXPECT_EQ(server.verified, true);
}

TEST(AgentTest, StrangerIsRefusedCountedAndHarmless) {
  AgentProcess sender;
  AgentProcess receiver;
  const Workload workload = Stream(Bytes{100}, 10);
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, workload));
  TrialRequest receiving = LoopbackTrial(Role::kReceiver, workload);
  receiving.peer_port = sender.Read().ready_port.value_or(0);
  receiver.SendTrial(receiving);
  const std::uint16_t port = receiver.Read().ready_port.value_or(0);

  Result<Socket> stranger = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(stranger.has_value());
  ASSERT_TRUE(stranger.value().Connect({"127.0.0.1", port}, 10s).has_value());
  std::array<std::byte, 1> buffer{};
  const Result<Bytes> got = stranger.value().Receive(buffer);
  EXPECT_TRUE(!got.has_value() || got.value() == Bytes{0});

  sender.Go(sending, port);
  const Reply received = receiver.Read(Role::kReceiver);
  ASSERT_TRUE(received.end) << received.error.value_or("");
  EXPECT_EQ(received.end->strangers_refused, 1);
  EXPECT_EQ(received.end->bytes, 1000);
  EXPECT_TRUE(sender.Read().end);
}

TEST(AgentTest, AbortedTrialMakesRoomForTheNext) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload endless;
  endless.stop_time = 1h;
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, endless));
  TrialRequest request = LoopbackTrial(Role::kReceiver, endless);
  request.peer_port = sender.Read().ready_port.value_or(0);
  const std::int64_t receiving = receiver.SendTrial(request);
  sender.Go(sending, receiver.Read().ready_port.value_or(0));

  sender.Abort(sending);
  EXPECT_EQ(sender.Read().error, "aborted");
  receiver.Abort(receiving);
  // It may have met the sender's end before it was told.
  EXPECT_FALSE(receiver.Read(Role::kReceiver).ready_port);
  ExpectWorks(sender, receiver);
}

TEST(AgentTest, AbortEndsEveryWait) {
  AgentProcess agent;
  const Workload workload = Stream(Bytes{1}, 1);
  const std::int64_t waits_for_go =
      agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Abort(waits_for_go);
  EXPECT_EQ(agent.Read().error, "aborted");

  TrialRequest receiving = LoopbackTrial(Role::kReceiver, workload);
  receiving.peer_port = 9;
  const std::int64_t waits_for_peer = agent.SendTrial(receiving);
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Abort(waits_for_peer);
  EXPECT_EQ(agent.Read().error, "aborted");
  EXPECT_EQ(agent.End(), 0);
}

TEST(AgentTest, SecondTrialAtATimeIsRefused) {
  AgentProcess agent;
  const Workload workload = Stream(Bytes{1}, 1);
  agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  EXPECT_TRUE(agent.Read().ready_port);
  const std::int64_t second =
      agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  const Reply refused = agent.Read();
  EXPECT_EQ(refused.id, second);
  EXPECT_THAT(refused.error.value_or(""), HasSubstr("still runs"));
}

TEST(AgentTest, HelloIsAnsweredWhileATrialRuns) {
  AgentProcess agent;
  agent.SendTrial(LoopbackTrial(Role::kSender, Stream(Bytes{1}, 1)));
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Send(Verb("hello"));
  EXPECT_TRUE(agent.Read().hello);
}

TEST(AgentTest, GarbageAndLongLinesAreAnsweredAndTheAgentGoesOn) {
  AgentProcess agent;
  for (const std::string& garbage :
       {std::string("garbage"), std::string(), std::string("[1]"),
        std::string("\xff\xfe{}"), std::string(100'000, '['),
        std::string("{\"v\":1,\"id\":5,\"do\":\"rm -rf\"}")}) {
    agent.SendLine(garbage);
    EXPECT_TRUE(agent.Read().error) << garbage.substr(0, 40);
  }
  agent.SendLine(std::string(3 * kMaxLineBytes, 'x'));
  EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("longer than 262144"));
  agent.Send(Verb("hello"));
  EXPECT_TRUE(agent.Read().hello);
}

// In text mode byte 26 would end the input, and a reply end in two bytes.
TEST(AgentTest, ItsPipesAreBinary) {
  AgentProcess agent;
  agent.SendLine("\x1a");
  EXPECT_TRUE(agent.Read().error);
  agent.SendLine(R"({"v":1,"id":3,"do":"hello"})");
  const std::string reply = agent.ReadLine();
  ASSERT_FALSE(reply.empty());
  EXPECT_EQ(reply.back(), '}');
}

TEST(AgentTest, AnotherProtocolVersionIsRefusedByItsId) {
  AgentProcess agent;
  agent.SendLine(R"({"v":2,"id":17,"do":"hello"})");
  const Reply reply = agent.Read();
  EXPECT_EQ(reply.id, 17);
  EXPECT_THAT(reply.error.value_or(""),
              AllOf(HasSubstr("version 2"), HasSubstr("speaks 1")));
}

TEST(AgentTest, WordsForAnUnknownTrialAreRefused) {
  AgentProcess agent;
  agent.Go(77, 1);
  const Reply reply = agent.Read();
  EXPECT_EQ(reply.id, 77);
  EXPECT_THAT(reply.error.value_or(""), HasSubstr("no trial 77"));
}

TEST(AgentTest, EndsWithItsInputInMidTrial) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload endless;
  endless.stop_time = 1h;
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, endless));
  TrialRequest receiving = LoopbackTrial(Role::kReceiver, endless);
  receiving.peer_port = sender.Read().ready_port.value_or(0);
  receiver.SendTrial(receiving);
  sender.Go(sending, receiver.Read().ready_port.value_or(0));
  EXPECT_EQ(receiver.End(), 0);
  EXPECT_EQ(sender.End(), 0);
}

TEST(AgentTest, PeerThatNeverSendsMeetsTheDeadline) {
  AgentProcess agent;
  Result<Socket> peer = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(peer.has_value());
  TrialRequest trial = LoopbackTrial(Role::kReceiver, Stream(Bytes{10}, 2000));
  trial.peer_port = peer.value().LocalEndpoint().value().port;
  trial.deadline = 300ms;
  agent.SendTrial(trial);
  const std::uint16_t port = agent.Read().ready_port.value_or(0);
  ASSERT_TRUE(peer.value().Connect({"127.0.0.1", port}, 10s).has_value());
  EXPECT_EQ(agent.Read(Role::kReceiver).error,
            "no end of stream within 300 ms: 0 of 20000 bytes had come");
}

TEST(AgentTest, PeerThatNeverComesMeetsTheDeadline) {
  AgentProcess agent;
  TrialRequest trial = LoopbackTrial(Role::kReceiver, Stream(Bytes{1}, 1));
  trial.peer_port = 9;
  trial.deadline = 200ms;
  agent.SendTrial(trial);
  EXPECT_TRUE(agent.Read().ready_port);
  EXPECT_EQ(agent.Read(Role::kReceiver).error,
            "no connection from 127.0.0.1:9 within 200 ms");
}

// The peer's end of stream ends the trial; until then its other direction is
// open, and it learns from our close that all was read.
TEST(AgentTest, HalfClosedPeerIsReadToTheEnd) {
  AgentProcess agent;
  Result<Socket> peer = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(peer.has_value());
  TrialRequest trial = LoopbackTrial(Role::kReceiver, Stream(Bytes{5}, 2));
  trial.peer_port = peer.value().LocalEndpoint().value().port;
  agent.SendTrial(trial);
  const std::uint16_t port = agent.Read().ready_port.value_or(0);
  ASSERT_TRUE(peer.value().Connect({"127.0.0.1", port}, 10s).has_value());
  std::array<std::byte, 10> data{};
  ASSERT_EQ(peer.value().Send(data).value(), Bytes{10});
  ASSERT_TRUE(peer.value().ShutdownSend().has_value());
  EXPECT_EQ(peer.value().Receive(data).value(), Bytes{0});
  const Reply reply = agent.Read(Role::kReceiver);
  ASSERT_TRUE(reply.end) << reply.error.value_or("");
  EXPECT_EQ(reply.end->bytes, 10);
}

// A peer that reads nothing fills both buffers; the sender stays in a Send.
TEST(AgentTest, PeerThatNeverReadsMeetsTheDeadline) {
  AgentProcess agent;
  Result<Socket> peer = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(peer.has_value());
  ASSERT_TRUE(peer.value().Listen().has_value());
  TrialRequest trial =
      LoopbackTrial(Role::kSender, Stream(Bytes{1 << 20}, 1000));
  trial.deadline = 500ms;
  const std::int64_t id = agent.SendTrial(trial);
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Go(id, peer.value().LocalEndpoint().value().port);
  const Result<AcceptedSocket> accepted = peer.value().Accept(10s);
  ASSERT_TRUE(accepted.has_value());
  EXPECT_THAT(agent.Read().error.value_or(""),
              AllOf(HasSubstr("did not end within 500 ms"),
                    HasSubstr("of 1048576000 bytes were written")));
}

TEST(AgentTest, RefusedConnectionNamesAddressPortAndRemedy) {
  AgentProcess agent;
  // Bound and not listening: nobody else can take it meanwhile.
  Result<Socket> closed = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(closed.has_value());
  const std::uint16_t port = closed.value().LocalEndpoint().value().port;
  TrialRequest trial = LoopbackTrial(Role::kSender, Stream(Bytes{1}, 1));
  trial.first_port = 7001;
  trial.last_port = 7099;
  const std::int64_t id = agent.SendTrial(trial);
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Go(id, port);
  EXPECT_THAT(agent.Read().error.value_or(""),
              AllOf(HasSubstr("connect 127.0.0.1:" + std::to_string(port)),
                    HasSubstr("firewall"), HasSubstr("7001-7099")));
}

// A link-local address without its interface is an invalid argument: no
// firewall has to do with it.
TEST(AgentTest, OnlyWhatAFirewallDoesIsPutDownToOne) {
  if (!OpenTcp("::1", {}).has_value()) {
    GTEST_SKIP() << "no IPv6 here: sysctl net.ipv6.conf.lo.disable_ipv6=0";
  }
  AgentProcess agent;
  TrialRequest trial = LoopbackTrial(Role::kSender, Stream(Bytes{1}, 1));
  trial.local_address = "::1";
  trial.peer_address = "fe80::1";
  const std::int64_t id = agent.SendTrial(trial);
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Go(id, 9);
  const std::string said = agent.Read().error.value_or("");
  EXPECT_THAT(said, HasSubstr("connect [fe80::1]:9: "));
  EXPECT_THAT(said, Not(HasSubstr("firewall")));
}

TEST(AgentTest, RangeThatIsTakenIsNamed) {
  AgentProcess agent;
  Result<Socket> taken = OpenTcp("127.0.0.1", {});
  ASSERT_TRUE(taken.has_value());
  ASSERT_TRUE(taken.value().Listen().has_value());
  TrialRequest trial = LoopbackTrial(Role::kReceiver, Stream(Bytes{1}, 1));
  trial.peer_port = 9;
  trial.first_port = taken.value().LocalEndpoint().value().port;
  trial.last_port = trial.first_port;
  agent.SendTrial(trial);
  const Reply reply = agent.Read();
  const std::string port = std::to_string(trial.first_port);
  EXPECT_THAT(reply.error.value_or(""),
              HasSubstr("127.0.0.1 from " + port + " to " + port));
  EXPECT_FALSE(reply.skip);
}

TEST(AgentTest, CongestionControlThatIsNotThereIsASkip) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1}, 1);
  workload.congestion = "bbrx";
  sender.SendTrial(LoopbackTrial(Role::kSender, workload));
  const Reply reply = sender.Read();
  EXPECT_TRUE(reply.skip);
  EXPECT_THAT(reply.error.value_or(""),
              AnyOf(HasSubstr("congestion \"bbrx\""),
                    HasSubstr("does not let a program choose")));
  ExpectWorks(sender, receiver);
}

TEST(AgentTest, ManyStreamsInOneTrialAreASkip) {
  AgentProcess agent;
  Workload two = Stream(Bytes{1}, 1);
  two.streams = 2;
  agent.SendTrial(LoopbackTrial(Role::kSender, two));
  const Reply reply = agent.Read();
  EXPECT_TRUE(reply.skip);
  EXPECT_THAT(reply.error.value_or(""), HasSubstr("trials of one group"));
}

// 2 blocks of 10 bytes in writes of 3: twice 3 + 3 + 3 + 1.
TEST(AgentTest, LastWriteOfABlockIsShorter) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{3}, 8);
  workload.block = Bytes{10};
  workload.verify = true;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_EQ(sent.calls, 8);
  EXPECT_EQ(sent.bytes, 20);
  EXPECT_EQ(sent.call_sizes, (SizeBins{2, 6}));
  EXPECT_EQ(received.bytes, 20);
  EXPECT_EQ(received.verified, true);
}

// 3 blocks have 2 pauses between them, however many writes they have.
TEST(AgentTest, PausesStandBetweenBlocks) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{3}, 12);
  workload.block = Bytes{10};
  workload.gap = 50ms;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_GE(sent.elapsed_ns.value_or(0), 100'000'000);
  EXPECT_GE(sent.gap_median_ns.value_or(0), 50'000'000);
  EXPECT_EQ(received.bytes, 30);
}

TEST(AgentTest, WhatIsForUdpOnlyIsASkipOverTcp) {
  AgentProcess agent;
  Workload batches = Stream(Bytes{1}, 1);
  batches.batch = 2;
  Workload whole = Stream(Bytes{1}, 1);
  whole.dont_fragment = true;
  for (const Workload& workload : {batches, whole}) {
    agent.SendTrial(LoopbackTrial(Role::kSender, workload));
    const Reply reply = agent.Read();
    EXPECT_TRUE(reply.skip);
    EXPECT_THAT(reply.error.value_or(""), HasSubstr("for UDP"));
  }
}

TEST(AgentTest, CpuThatIsNotThereIsASkip) {
  AgentProcess agent;
  Workload workload = Stream(Bytes{1}, 1);
  workload.sender_cpu = 4095;
  agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  const Reply reply = agent.Read();
  EXPECT_TRUE(reply.skip);
  EXPECT_THAT(reply.error.value_or(""), HasSubstr("CPU 4095"));
}

TEST(AgentTest, AddressOfAnotherHostIsNamed) {
  AgentProcess agent;
  TrialRequest trial = LoopbackTrial(Role::kSender, Stream(Bytes{1}, 1));
  trial.local_address = "192.0.2.1";  // RFC 5737: nobody's.
  agent.SendTrial(trial);
  EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("192.0.2.1"));
}

TEST(AgentTest, ManyTrialsInARowLeaveNothingBehind) {
  AgentProcess sender;
  AgentProcess receiver;
  for (int trial = 0; trial < 100; ++trial) ExpectWorks(sender, receiver);
  EXPECT_EQ(receiver.End(), 0);
  EXPECT_EQ(sender.End(), 0);
}

// 40,000 lines of 50 bytes and more are some 2 MB: many parts.
TEST(AgentTest, ListsEveryCallOfATrialThatAsksForIt) {
  AgentProcess receiver;
  AgentProcess sender;
  BothEnds both;
  TrialRequest sends = LoopbackTrial(Role::kSender, Stream(Bytes{3}, 40'000));
  sends.log_calls = true;
  TrialRequest receives =
      LoopbackTrial(Role::kReceiver, Stream(Bytes{3}, 40'000));
  receives.log_calls = true;
  const std::int64_t id = sender.SendTrial(sends);
  receives.peer_port = sender.Read().ready_port.value_or(0);
  receiver.SendTrial(receives);
  sender.Go(id, receiver.Read(Role::kReceiver).ready_port.value_or(0));
  ASSERT_TRUE(sender.Read().end);
  const Reply received = receiver.Read(Role::kReceiver);
  ASSERT_TRUE(received.end);

  const std::string calls = Fetch(sender, PartOf::kCalls);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 40'000);
  EXPECT_EQ(calls.substr(0, 7), "sender,");
  // Every read that gave bytes, and the end of the stream.
  const std::string reads = Fetch(receiver, PartOf::kCalls);
  EXPECT_EQ(std::count(reads.begin(), reads.end(), '\n'),
            received.end->calls + 1);
  EXPECT_THAT(reads.substr(reads.size() - 3), ::testing::EndsWith(",0\n"));
}

// A moment on each beat of the period at most, beside the first and the last;
// over 100 ms of 5 ms each one at least lies between those.
TEST(AgentTest, LooksAtTheConnectionAsOftenAsAsked) {
  AgentProcess receiver;
  AgentProcess sender;
  Workload workload = Stream(Bytes{3000}, 11);
  workload.gap = 10ms;
  TrialRequest sends = LoopbackTrial(Role::kSender, workload);
  TrialRequest receives = LoopbackTrial(Role::kReceiver, workload);
  sends.series = receives.series = 5ms;
  const std::int64_t id = sender.SendTrial(sends);
  receives.peer_port = sender.Read().ready_port.value_or(0);
  receiver.SendTrial(receives);
  sender.Go(id, receiver.Read(Role::kReceiver).ready_port.value_or(0));
  const Reply sent = sender.Read();
  const Reply received = receiver.Read(Role::kReceiver);
  for (const auto& [agent, reply, end] :
       {std::tuple{&sender, &sent, "sender,"},
        std::tuple{&receiver, &received, "receiver,"}}) {
    ASSERT_TRUE(reply->end && reply->end->series);
    const SeriesSummary& summary = *reply->end->series;
    const std::vector<std::int64_t> times =
        TimesIn(Fetch(*agent, PartOf::kSeries), end);
    ASSERT_GE(times.size(), 3);
    EXPECT_EQ(summary.moments, static_cast<std::int64_t>(times.size()));
    EXPECT_TRUE(std::ranges::is_sorted(times));
    EXPECT_LE(summary.moments, (times.back() - times.front()) / 5'000'000 + 2);
    EXPECT_EQ(summary.period_ns, 5'000'000);
    EXPECT_EQ(summary.left_out, 0);
    EXPECT_GE(summary.period_longest_ns, summary.period_median_ns);
  }
  // Last of all nothing is in flight; a system that tells nothing says so.
  if (sent.end->counters.bytes_acked) {
    EXPECT_GT(sent.end->rtt_handshake_ns.value_or(0), 0);
    EXPECT_LE(sent.end->rtt_min_ns, sent.end->rtt_handshake_ns);
  } else {
    EXPECT_THAT(sent.end->series->reason, HasSubstr("never told: "));
  }
  EXPECT_GT(sent.end->connect_ns.value_or(0), 0);
}

TEST(AgentTest, WithoutASeriesSaysSo) {
  AgentProcess receiver;
  AgentProcess sender;
  const auto [sent, received] =
      Reports(RunTrial(sender, receiver, Stream(Bytes{100}, 10)));
  EXPECT_FALSE(sent.series);
  EXPECT_FALSE(sent.rtt_median_ns);
  EXPECT_THAT(sent.why_null.at("rtt_median_ns"), HasSubstr("no time series"));
  EXPECT_EQ(Fetch(sender, PartOf::kSeries), "");
}

// Of 11 writes, 10 ms apart, those after 30 ms are steady state: the first has
// come at 0, so 3 lie before at most, and 1000 bytes come with the one that
// ends the warm-up.
TEST(AgentTest, WhatComesAfterTheWarmUpIsSteadyState) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1000}, 11);
  workload.gap = 10ms;
  workload.warmup = 30ms;
  workload.nagle = false;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  ASSERT_TRUE(received.steady_bytes) << received.why_null.at("steady_bytes");
  EXPECT_GT(*received.steady_bytes, 0);
  EXPECT_LT(*received.steady_bytes, 10'000);
  EXPECT_LE(*received.steady_elapsed_ns, *received.elapsed_ns - 30'000'000);
}

TEST(AgentTest, TrialShorterThanItsWarmUpHasNoSteadyState) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload workload = Stream(Bytes{1000}, 3);
  workload.warmup = 1min;
  const auto [sent, received] = Reports(RunTrial(sender, receiver, workload));
  EXPECT_FALSE(received.steady_bytes);
  EXPECT_THAT(received.why_null.at("steady_bytes"),
              HasSubstr("before the warm-up was over"));
}

TEST(AgentTest, HasNothingToTakePartsOfBeforeTheFirstTrial) {
  AgentProcess agent;
  EXPECT_THAT(Fetch(agent, PartOf::kSeries), HasSubstr("nothing yet"));
  EXPECT_THAT(Fetch(agent, PartOf::kCalls), HasSubstr("nothing yet"));
  EXPECT_THAT(Fetch(agent, PartOf::kCapture), HasSubstr("nothing yet"));
  agent.Send(Verb("capture-end"));
  EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("no capture runs"));
}

}  // namespace
}  // namespace wiretoll
