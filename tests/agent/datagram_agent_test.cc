// Trials over UDP: two agents, or one against a socket of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/agent/datagram_header.h"
#include "harness/agent/protocol.h"
#include "platform/clock.h"
#include "platform/datagram.h"
#include "tests/agent/agent_process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 7;  // LoopbackTrial()'s.

struct TwoReports {
  EndReport sender;
  EndReport receiver;
  // Both have them, once nothing went wrong.
  DatagramReport sent;
  DatagramReport came;
};

TwoReports ReportsOf(const Workload& workload) {
  AgentProcess sender;
  AgentProcess receiver;
  const BothEnds both = RunTrial(sender, receiver, workload);
  EXPECT_TRUE(both.sender.end) << both.sender.error.value_or("no report");
  EXPECT_TRUE(both.receiver.end) << both.receiver.error.value_or("no report");
  TwoReports reports;
  reports.sender = both.sender.end.value_or(EndReport{});
  reports.receiver = both.receiver.end.value_or(EndReport{});
  reports.sent = reports.sender.datagrams.value_or(DatagramReport{});
  reports.came = reports.receiver.datagrams.value_or(DatagramReport{});
  return reports;
}

// A receiving agent, and a sender that does what the test says.
class DatagramReceiverTest : public testing::Test {
 protected:
  void Begin(const Workload& workload,
             std::chrono::milliseconds deadline = 30s) {
    TrialRequest trial = LoopbackTrial(Role::kReceiver, workload);
    trial.peer_port = sender_.LocalEndpoint().value().port;
    trial.deadline = deadline;
    id_ = agent_.SendTrial(trial);
    port_ = agent_.Read(Role::kReceiver).ready_port.value_or(0);
    ASSERT_TRUE(sender_.Connect({"127.0.0.1", port_}, 1s).has_value());
  }

  // One datagram of `size` bytes.
  void Send(std::uint32_t number, std::uint64_t seed = kSeed,
            std::size_t size = 16) {
    std::vector<std::byte> data(size);
    if (size >= 8) {
      PutNetworkOrder(TrialTag(seed), data.data() + kTagAt);
      PutNetworkOrder(number, data.data() + kNumberAt);
    }
    ASSERT_TRUE(sender_.Send(data).has_value());
  }

  DatagramReport End(std::int64_t sent) {
    agent_.Sent(id_, {sent, 16 * sent});
    return Report();
  }

  DatagramReport Report() {
    const Reply reply = agent_.Read(Role::kReceiver);
    EXPECT_TRUE(reply.end) << reply.error.value_or("no report");
    report_ = reply.end.value_or(EndReport{});
    return report_.datagrams.value_or(DatagramReport{});
  }

  AgentProcess agent_;
  Socket sender_ = OpenUdp("127.0.0.1", {}).value();
  std::int64_t id_ = 0;
  std::uint16_t port_ = 0;
  EndReport report_;
};

// Few enough for any receive buffer.
TEST(DatagramAgentTest, EveryDatagramIsCountedAtBothEnds) {
  const TwoReports both = ReportsOf(Datagrams(Bytes{100}, 50));
  EXPECT_EQ(both.sent.sent, 50);
  EXPECT_EQ(both.sent.not_sent, NotSent{});
  EXPECT_EQ(both.sender.calls, 50);
  EXPECT_EQ(both.sender.bytes, 5000);
  EXPECT_EQ(both.came.received, 50);
  EXPECT_EQ(both.came.duplicated, 0);
  EXPECT_EQ(both.came.reordered, 0);
  EXPECT_EQ(both.came.late, 0);
  EXPECT_EQ(both.came.cut, 0);
  EXPECT_EQ(both.came.stale, 0);
  EXPECT_EQ(both.came.ended, "all came");
  EXPECT_EQ(both.receiver.calls, 50);
  EXPECT_EQ(both.receiver.bytes, 5000);
  EXPECT_EQ(both.receiver.first_read_bytes, 100);
  EXPECT_GE(both.receiver.elapsed_ns.value_or(-1), 0);
  // A tenth is 500 bytes, which the fifth of them ends.
  EXPECT_EQ(both.receiver.steady_bytes, 4500);
}

// A figure, or why there is none.
TEST(DatagramAgentTest, WhatASystemDoesNotTellHasItsReason) {
  const TwoReports both = ReportsOf(Datagrams(Bytes{100}, 5));
  const auto told = [](const EndReport& report, const char* field, bool there) {
    return there != report.why_null.contains(std::string("datagrams.") + field);
  };
  EXPECT_TRUE(told(both.receiver, "strangers", both.came.strangers == 0));
  EXPECT_TRUE(told(both.receiver, "receive_buffer_drops",
                   both.came.receive_buffer_drops == 0));
  EXPECT_TRUE(told(both.sender, "path_payload_bytes",
                   both.sent.path_payload_bytes.has_value()));
  EXPECT_FALSE(both.sender.counters.reason.empty());
  for (const EndReport& report : {both.sender, both.receiver}) {
    for (const char* name :
         {"nagle", "congestion", "quickack", "cork", "mss"}) {
      EXPECT_EQ(report.options.at(name).effective, OptionValue()) << name;
      EXPECT_EQ(report.options.at(name).reason, "UDP has none") << name;
    }
    EXPECT_TRUE(report.options.contains("rcvbuf"));
    EXPECT_TRUE(report.options.contains("dont_fragment"));
  }
}

TEST(DatagramAgentTest, DatagramsTooSmallForANumberAreOnlyCounted) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7}) {
    const TwoReports both = ReportsOf(Datagrams(Bytes{size}, 20));
    EXPECT_EQ(both.sent.sent, 20);
    EXPECT_EQ(both.came.received, 20);
    EXPECT_EQ(both.receiver.bytes, 20 * size);
    EXPECT_EQ(both.came.ended, "all came");
    for (const auto& [field, value] :
         {std::pair{"duplicated", both.came.duplicated},
          std::pair{"reordered", both.came.reordered},
          std::pair{"late", both.came.late},
          std::pair{"stale", both.came.stale}}) {
      EXPECT_FALSE(value) << field;
      EXPECT_THAT(both.receiver.why_null.at(std::string("datagrams.") + field),
                  HasSubstr("8 have"));
    }
    EXPECT_FALSE(both.came.jitter_mean_ns);
  }
}

// With 8 bytes there is a number and no time, with 16 both.
TEST(DatagramAgentTest, DatagramsOf16BytesCarryTheTime) {
  const TwoReports numbered = ReportsOf(Datagrams(Bytes{15}, 20));
  EXPECT_EQ(numbered.came.duplicated, 0);
  EXPECT_FALSE(numbered.came.jitter_mean_ns);
  EXPECT_THAT(numbered.receiver.why_null.at("datagrams.jitter_mean_ns"),
              HasSubstr("16 have"));
  const TwoReports timed = ReportsOf(Datagrams(Bytes{16}, 20));
  EXPECT_TRUE(timed.came.jitter_mean_ns);
  EXPECT_TRUE(timed.came.jitter_rfc3550_ns);
  EXPECT_FALSE(timed.came.delay);
  EXPECT_THAT(timed.receiver.why_null.at("datagrams.delay"),
              HasSubstr("not known"));
}

// Both agents read this host's monotonic clock.
TEST(DatagramAgentTest, DelaysAreGivenWhereTheClocksAreKnown) {
  AgentProcess sender;
  AgentProcess receiver;
  const Workload workload = Datagrams(Bytes{100}, 20);
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, workload));
  TrialRequest receiving = LoopbackTrial(Role::kReceiver, workload);
  receiving.sender_clock = SenderClock{};
  receiving.peer_port = sender.Read().ready_port.value_or(0);
  const SteadyTime begun = MonotonicNow();
  const std::int64_t id = receiver.SendTrial(receiving);
  sender.Go(sending, receiver.Read(Role::kReceiver).ready_port.value_or(0));
  ASSERT_TRUE(sender.Read().end);
  receiver.Sent(id, {20, 2000});
  const Reply reply = receiver.Read(Role::kReceiver);
  const Nanoseconds took = MonotonicNow() - begun;
  ASSERT_TRUE(reply.end) << reply.error.value_or("");
  ASSERT_TRUE(reply.end->datagrams->delay);
  const DelaySummary delay = *reply.end->datagrams->delay;
  EXPECT_EQ(delay.count, 20);
  EXPECT_GT(delay.min_ns, 0);
  EXPECT_LE(delay.min_ns, delay.p50_ns);
  EXPECT_LE(delay.max_ns, took.count());
  EXPECT_EQ(reply.end->datagrams->delay_error_ns, 0);
}

TEST(DatagramAgentTest, VerifiedDatagramsAreByteForByteAsSent) {
  for (const std::int64_t size : {5, 12, 1000, 65'507}) {
    Workload workload = Datagrams(Bytes{size}, 3);
    workload.verify = true;
    const TwoReports both = ReportsOf(workload);
    EXPECT_EQ(both.receiver.verified, true) << size;
    EXPECT_EQ(both.receiver.bytes, 3 * size);
  }
}

TEST(DatagramAgentTest, LargestDatagramGoesAndALargerOneIsASkip) {
  EXPECT_EQ(ReportsOf(Datagrams(Bytes{65'507}, 1)).came.received, 1);
  AgentProcess agent;
  agent.SendTrial(LoopbackTrial(Role::kSender, Datagrams(Bytes{65'508}, 1)));
  const Reply reply = agent.Read();
  EXPECT_TRUE(reply.skip);
  EXPECT_THAT(reply.error.value_or(""),
              AllOf(HasSubstr("at most 65507 bytes"), HasSubstr("block")));
}

TEST(DatagramAgentTest, RequestResponseIsASkip) {
  AgentProcess agent;
  Workload workload = Datagrams(Bytes{1}, 1);
  workload.pattern = Pattern::kRequestResponse;
  workload.request = {Bytes{1}};
  workload.reply = {Bytes{1}};
  agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  const Reply reply = agent.Read();
  EXPECT_TRUE(reply.skip);
  EXPECT_EQ(reply.error, "over UDP only streams are measured");
}

TEST(DatagramAgentTest, StopByTimeAndPausesAreKept) {
  Workload workload = Datagrams(Bytes{100}, 1'000'000);
  workload.gap = 5ms;
  workload.stop_time = Nanoseconds(30ms);
  const TwoReports both = ReportsOf(workload);
  EXPECT_GE(both.sender.elapsed_ns.value_or(0), 30'000'000);
  EXPECT_GE(both.sender.gap_median_ns.value_or(0), 5'000'000);
  // Not before 0, 5, 10 ... ms, however late the stop is seen.
  EXPECT_LE(both.sent.sent, both.sender.elapsed_ns.value_or(0) / 5'000'000 + 1);
  EXPECT_EQ(both.came.received, both.sent.sent);
}

// 10,000 = 6 x 1472 + 1168, over and over.
TEST(DatagramAgentTest, LastDatagramOfABlockIsShorter) {
  AgentProcess agent;
  Result<Socket> receiver = OpenUdp("127.0.0.1", {});
  ASSERT_TRUE(receiver.has_value());
  Workload workload = Datagrams(Bytes{1472}, 8);
  workload.block = Bytes{10'000};
  const std::int64_t id =
      agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Go(id, receiver.value().LocalEndpoint().value().port);
  ASSERT_TRUE(agent.Read().end);
  ASSERT_TRUE(SetReceiveTimeout(receiver.value(), 10s).has_value());
  std::vector<std::int64_t> sizes;
  std::vector<std::byte> room(65536);
  for (int i = 0; i < 8; ++i) {
    const Result<Datagram> got = ReceiveDatagram(receiver.value(), room);
    ASSERT_TRUE(got.has_value()) << got.error().message();
    sizes.push_back(got.value().kept.count);
  }
  EXPECT_THAT(sizes,
              ElementsAre(1472, 1472, 1472, 1472, 1472, 1472, 1168, 1472));
}

TEST(DatagramAgentTest, BatchesGiveTheSameCounts) {
  Workload workload = Datagrams(Bytes{100}, 50);
  workload.batch = 16;
  workload.verify = true;
  if (!HasDatagramBatches()) {
    AgentProcess agent;
    agent.SendTrial(LoopbackTrial(Role::kSender, workload));
    const Reply reply = agent.Read();
    EXPECT_TRUE(reply.skip);
    EXPECT_THAT(reply.error.value_or(""), HasSubstr("leave batch 1"));
    return;
  }
  const TwoReports both = ReportsOf(workload);
  EXPECT_EQ(both.sent.sent, 50);
  EXPECT_EQ(both.sender.bytes, 5000);
  // 50 = 3 x 16 + 2.
  EXPECT_EQ(both.sender.calls, 4);
  EXPECT_EQ(both.came.received, 50);
  EXPECT_EQ(both.came.duplicated, 0);
  EXPECT_EQ(both.came.reordered, 0);
  EXPECT_EQ(both.receiver.bytes, 5000);
  EXPECT_EQ(both.receiver.verified, true);
  EXPECT_LE(both.receiver.calls, 50);
}

TEST(DatagramAgentTest, DatagramsLongerThanTheRoomAreCutAndCounted) {
  Workload workload = Datagrams(Bytes{100}, 20);
  workload.read = Bytes{60};
  const TwoReports both = ReportsOf(workload);
  EXPECT_EQ(both.came.received, 20);
  EXPECT_EQ(both.came.cut, 20);
  EXPECT_EQ(both.came.duplicated, 0);
  EXPECT_EQ(both.receiver.bytes, 20 * 60);
}

TEST(DatagramAgentTest, SenderLearnsThatThePortIsClosed) {
  AgentProcess agent;
  std::uint16_t closed = 0;
  {
    const Result<Socket> gone = OpenUdp("127.0.0.1", {});
    ASSERT_TRUE(gone.has_value());
    closed = gone.value().LocalEndpoint().value().port;
  }
  Workload workload = Datagrams(Bytes{100}, 100);
  workload.gap = 1ms;
  const std::int64_t id =
      agent.SendTrial(LoopbackTrial(Role::kSender, workload));
  EXPECT_TRUE(agent.Read().ready_port);
  agent.Go(id, closed);
  const Reply reply = agent.Read();
  EXPECT_THAT(reply.error.value_or("sent it all"),
              HasSubstr("receiver's port is closed: ICMP port unreachable"));
  EXPECT_FALSE(reply.skip);
}

TEST(DatagramAgentTest, AbortEndsBothEnds) {
  AgentProcess sender;
  AgentProcess receiver;
  Workload endless = Datagrams(Bytes{100}, 1);
  endless.stop_messages.reset();
  endless.stop_time = 1h;
  const std::int64_t sending =
      sender.SendTrial(LoopbackTrial(Role::kSender, endless));
  TrialRequest request = LoopbackTrial(Role::kReceiver, endless);
  request.peer_port = sender.Read().ready_port.value_or(0);
  const std::int64_t receiving = receiver.SendTrial(request);
  sender.Go(sending, receiver.Read(Role::kReceiver).ready_port.value_or(0));
  sender.Abort(sending);
  EXPECT_EQ(sender.Read().error, "aborted");
  receiver.Abort(receiving);
  EXPECT_EQ(receiver.Read(Role::kReceiver).error, "aborted");
  const BothEnds both = RunTrial(sender, receiver, Datagrams(Bytes{100}, 10));
  EXPECT_TRUE(both.sender.end);
  EXPECT_TRUE(both.receiver.end);
}

TEST(DatagramAgentTest, SentIsForReceiversOfUdp) {
  AgentProcess agent;
  agent.Sent(77, {});
  EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("no trial 77"));
  for (const Transport transport : {Transport::kTcp, Transport::kUdp}) {
    Workload workload = Stream(Bytes{1}, 1);
    workload.transport = transport;
    const std::int64_t id =
        agent.SendTrial(LoopbackTrial(Role::kSender, workload));
    EXPECT_TRUE(agent.Read().ready_port);
    agent.Sent(id, {1, 1});
    EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("sent is for"));
    agent.Abort(id);
    EXPECT_EQ(agent.Read().error, "aborted");
  }
}

TEST_F(DatagramReceiverTest, DuplicatesHideNoLoss) {
  Begin(Datagrams(Bytes{16}, 4));
  for (const std::uint32_t number : {0U, 1U, 1U, 1U}) Send(number);
  const DatagramReport came = End(4);
  EXPECT_EQ(came.received, 4);
  EXPECT_EQ(came.duplicated, 2);
  EXPECT_EQ(came.ended, "nothing came for 500 ms");
  // Lost: 4 - (4 - 2). Throughput has each datagram once.
  EXPECT_EQ(report_.bytes, 2 * 16);
}

TEST_F(DatagramReceiverTest, ReorderedAndLateAreToldApart) {
  Begin(Datagrams(Bytes{16}, 6));
  // 4 is one behind 5; 0 behind five.
  for (const std::uint32_t number : {1U, 2U, 3U, 5U, 4U, 0U}) Send(number);
  const DatagramReport came = End(6);
  EXPECT_EQ(came.received, 6);
  EXPECT_EQ(came.reordered, 2);
  EXPECT_EQ(came.late, 1);
  EXPECT_EQ(came.ended, "all came");
}

// Of another trial, shorter than ours are, of a number never planned.
TEST_F(DatagramReceiverTest, WhatIsNotOfThisTrialIsStale) {
  Begin(Datagrams(Bytes{16}, 2));
  Send(0);
  Send(1, kSeed + 1);
  Send(1, kSeed, 12);
  Send(1, kSeed, 0);
  Send(2);
  Send(1);
  const DatagramReport came = End(2);
  EXPECT_EQ(came.received, 2);
  EXPECT_EQ(came.stale, 4);
  EXPECT_EQ(came.duplicated, 0);
  EXPECT_EQ(report_.bytes, 32);
}

TEST_F(DatagramReceiverTest, StrangersAreCountedApart) {
  Begin(Datagrams(Bytes{16}, 2));
  Result<Socket> stranger = OpenUdp("127.0.0.1", {});
  ASSERT_TRUE(stranger.has_value());
  ASSERT_TRUE(stranger.value().Connect({"127.0.0.1", port_}, 1s).has_value());
  const std::vector<std::byte> data(16);
  // Where nothing catches them the second is told that the port is closed.
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(stranger.value().Send(data));
  }
  Send(0);
  Send(1);
  const DatagramReport came = End(2);
  EXPECT_EQ(came.received, 2);
  EXPECT_EQ(came.stale, 0);
  if (came.strangers) {
    EXPECT_EQ(came.strangers, 3);
  } else {
    EXPECT_TRUE(report_.why_null.contains("datagrams.strangers"));
  }
}

TEST_F(DatagramReceiverTest, LossAtTheTailCounts) {
  Begin(Datagrams(Bytes{16}, 5));
  for (const std::uint32_t number : {0U, 1U, 2U}) Send(number);
  const DatagramReport came = End(5);
  EXPECT_EQ(came.received, 3);
  EXPECT_EQ(came.duplicated, 0);
  EXPECT_EQ(came.ended, "nothing came for 500 ms");
}

TEST_F(DatagramReceiverTest, AllMayBeLost) {
  Begin(Datagrams(Bytes{16}, 5));
  const DatagramReport came = End(5);
  EXPECT_EQ(came.received, 0);
  EXPECT_EQ(report_.bytes, 0);
  EXPECT_FALSE(report_.elapsed_ns);
  EXPECT_EQ(report_.why_null.at("elapsed_ns"), "nothing came");
  EXPECT_FALSE(came.jitter_mean_ns);
}

TEST_F(DatagramReceiverTest, NothingSentIsAllThatCame) {
  Begin(Datagrams(Bytes{16}, 5));
  const DatagramReport came = End(0);
  EXPECT_EQ(came.received, 0);
  EXPECT_EQ(came.ended, "all came");
}

TEST_F(DatagramReceiverTest, OneDatagramTakesNoTime) {
  Begin(Datagrams(Bytes{16}, 1));
  Send(0);
  EXPECT_EQ(End(1).received, 1);
  EXPECT_FALSE(report_.elapsed_ns);
  EXPECT_EQ(report_.first_read_bytes, 16);
}

TEST_F(DatagramReceiverTest, WithoutAWordItEndsAtItsDeadline) {
  Begin(Datagrams(Bytes{16}, 5), 300ms);
  Send(0);
  const DatagramReport came = Report();
  EXPECT_EQ(came.received, 1);
  EXPECT_EQ(came.stale, 0);
  EXPECT_EQ(came.ended, "deadline");
}

// Every byte of it is 0, and the pattern is not.
TEST_F(DatagramReceiverTest, VerificationFailsOnOtherBytes) {
  Workload workload = Datagrams(Bytes{40}, 2);
  workload.verify = true;
  Begin(workload);
  Send(0, kSeed, 40);
  EXPECT_EQ(End(1).received, 1);
  EXPECT_EQ(report_.verified, false);
  EXPECT_GE(report_.first_wrong_byte.value_or(0), 16);
}

// --- Groups

TrialRequest InGroup(Role role, const Workload& workload,
                     const std::string& group) {
  TrialRequest trial = LoopbackTrial(role, workload);
  trial.group = group;
  return trial;
}

// Both directions at once, over either transport.
TEST(TrialGroupTest, TrialsOfOneGroupRunAtOnce) {
  for (const Transport transport : {Transport::kTcp, Transport::kUdp}) {
    AgentProcess near;
    AgentProcess far;
    Workload workload = Stream(Bytes{100}, 20);
    workload.transport = transport;
    const std::int64_t out =
        near.SendTrial(InGroup(Role::kSender, workload, "g"));
    const std::uint16_t out_port = near.Read().ready_port.value_or(0);
    const std::int64_t back =
        far.SendTrial(InGroup(Role::kSender, workload, "g"));
    const std::uint16_t back_port = far.Read().ready_port.value_or(0);
    TrialRequest receiving = InGroup(Role::kReceiver, workload, "g");
    receiving.peer_port = out_port;
    const std::int64_t at_far = far.SendTrial(receiving);
    const std::uint16_t far_port = far.Read().ready_port.value_or(0);
    receiving.peer_port = back_port;
    const std::int64_t at_near = near.SendTrial(receiving);
    const std::uint16_t near_port = near.Read().ready_port.value_or(0);
    ASSERT_NE(near_port, 0);
    ASSERT_NE(far_port, 0);
    near.Go(out, far_port);
    far.Go(back, near_port);
    for (const auto& [agent, sends, receives] :
         {std::tuple{&near, out, at_near}, std::tuple{&far, back, at_far}}) {
      // Either may end first over TCP; over UDP the receiver waits for word.
      if (transport == Transport::kUdp) {
        const Reply sent = agent->Read(Role::kSender);
        EXPECT_EQ(sent.id, sends);
        EXPECT_TRUE(sent.end) << sent.error.value_or("");
      } else {
        const std::string first = agent->ReadLine();
        const std::string second = agent->ReadLine();
        for (const std::string& line : {first, second}) {
          EXPECT_THAT(line, HasSubstr("\"bytes\":2000"));
        }
      }
    }
    if (transport == Transport::kTcp) continue;
    near.Sent(at_near, {20, 2000});
    far.Sent(at_far, {20, 2000});
    for (const auto& [agent, id] :
         {std::pair{&near, at_near}, std::pair{&far, at_far}}) {
      const Reply received = agent->Read(Role::kReceiver);
      EXPECT_EQ(received.id, id);
      ASSERT_TRUE(received.end) << received.error.value_or("");
      EXPECT_EQ(received.end->datagrams->received, 20);
    }
  }
}

TEST(TrialGroupTest, OnlyTrialsOfTheSameGroupRunAtOnce) {
  AgentProcess agent;
  const Workload workload = Datagrams(Bytes{1}, 1);
  agent.SendTrial(InGroup(Role::kSender, workload, "g"));
  EXPECT_TRUE(agent.Read().ready_port);
  for (const char* group : {"h", ""}) {
    const std::int64_t id =
        agent.SendTrial(InGroup(Role::kSender, workload, group));
    const Reply refused = agent.Read();
    EXPECT_EQ(refused.id, id);
    EXPECT_THAT(refused.error.value_or(""), HasSubstr("still runs"));
    EXPECT_FALSE(refused.skip);
  }
  const std::int64_t id =
      agent.SendTrial(InGroup(Role::kSender, workload, "g"));
  EXPECT_EQ(agent.Read().id, id);
}

// Of a group too; one call is one line.
TEST(TrialGroupTest, CallsAreThoseOfTheTrialThatEndedLast) {
  AgentProcess agent;
  const Result<Socket> sink = OpenUdp("127.0.0.1", {});
  ASSERT_TRUE(sink.has_value());
  const std::uint16_t port = sink.value().LocalEndpoint().value().port;
  std::vector<std::int64_t> ids;
  for (const std::int64_t datagrams : {3, 5}) {
    TrialRequest trial =
        InGroup(Role::kSender, Datagrams(Bytes{1}, datagrams), "g");
    trial.log_calls = true;
    ids.push_back(agent.SendTrial(trial));
    ASSERT_TRUE(agent.Read().ready_port);
  }
  for (const auto& [id, lines] : {std::pair{ids[1], 5}, std::pair{ids[0], 3}}) {
    agent.Go(id, port);
    ASSERT_TRUE(agent.Read().end);
    Request part;
    part.verb = "part";
    part.part = {PartOf::kCalls, 0};
    agent.Send(part);
    const std::string calls = agent.Read().part.value_or(Part{}).data;
    EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), lines);
  }
}

TEST(TrialGroupTest, AGroupHasAtMost64AtOnceAndEachIsAbortedByItself) {
  AgentProcess agent;
  const Workload workload = Datagrams(Bytes{1}, 1);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 64; ++i) {
    ids.push_back(agent.SendTrial(InGroup(Role::kSender, workload, "g")));
    const Reply ready = agent.Read();
    EXPECT_EQ(ready.id, ids.back());
    EXPECT_TRUE(ready.ready_port) << ready.error.value_or("");
  }
  agent.SendTrial(InGroup(Role::kSender, workload, "g"));
  EXPECT_THAT(agent.Read().error.value_or(""), HasSubstr("64 trials"));
  agent.Abort(ids[5]);
  const Reply aborted = agent.Read();
  EXPECT_EQ(aborted.id, ids[5]);
  EXPECT_EQ(aborted.error, "aborted");
  // Which makes room for one more; the agent ends with all of them.
  agent.SendTrial(InGroup(Role::kSender, workload, "g"));
  EXPECT_TRUE(agent.Read().ready_port);
  EXPECT_EQ(agent.End(), 0);
}

}  // namespace
}  // namespace wiretoll
