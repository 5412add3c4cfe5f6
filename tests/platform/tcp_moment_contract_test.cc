#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "platform/clock.h"
#include "platform/tcp_moment.h"
#include "tests/platform/connected_pair.h"
#include "tests/platform/lacks.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// Where a skipped test can be run.
constexpr const char* kWhereTold = "; run it on Linux, or on Windows 10";

std::int64_t Got(const Result<Bytes>& received) {
  return received.has_value() ? received.value().count : 0;
}

class TcpMomentContractTest : public testing::Test {
 protected:
  // Sends `bytes` and has them read.
  void Carry(std::size_t bytes) {
    const std::vector<std::byte> data(bytes);
    std::vector<std::byte> room(bytes);
    ASSERT_EQ(pair_.near.Send(data).value(),
              Bytes{static_cast<std::int64_t>(bytes)});
    for (std::size_t got = 0; got < bytes;) {
      const auto read = pair_.far.Receive(room);
      ASSERT_TRUE(read.has_value());
      ASSERT_GT(read.value().count, 0);
      got += static_cast<std::size_t>(read.value().count);
    }
  }

  // As the near end stands once `holds` says so, or as it stood in the end.
  template <class Condition>
  TcpMoment Await(const Condition& holds) const {
    const SteadyTime until = MonotonicNow() + kPatience;
    TcpMoment moment = ReadTcpMoment(pair_.near);
    while (!holds(moment) && MonotonicNow() < until) {
      WaitUntil(MonotonicNow() + 1ms);
      moment = ReadTcpMoment(pair_.near);
    }
    return moment;
  }

  SocketPair pair_ = ConnectedPair();
};

TEST_F(TcpMomentContractTest, ConnectionThatStandsIsEstablished) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  const TcpMoment moment = ReadTcpMoment(pair_.near);
  if (moment == TcpMoment{}) {
    GTEST_SKIP() << "this system tells nothing of a connection" << kWhereTold;
  }
  EXPECT_EQ(moment.state, TcpState::kEstablished);
  EXPECT_GT(moment.mss_bytes, 0);
  EXPECT_GT(moment.cwnd_bytes, 0);
  EXPECT_GT(moment.peer_window_bytes, 0);
  EXPECT_EQ(moment.sent_bytes, 0);
}

// Of 3000 bytes read and acknowledged none is in flight, nor waits.
TEST_F(TcpMomentContractTest, WhatWasAcknowledgedIsNotInFlight) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  Carry(3000);
  if (!ReadTcpMoment(pair_.near).in_flight_bytes) {
    GTEST_SKIP() << "this system does not tell of it" << kWhereTold;
  }
  const TcpMoment moment =
      Await([](const TcpMoment& now) { return now.in_flight_bytes == 0; });
  EXPECT_EQ(moment.in_flight_bytes, 0);
  EXPECT_EQ(moment.sent_bytes, 3000);
  EXPECT_GT(moment.rtt_ns, 0);
  EXPECT_LE(moment.min_rtt_ns, moment.rtt_ns);
  if (moment.acked_bytes) {
    EXPECT_EQ(moment.acked_bytes, 3000);
  }
  EXPECT_EQ(moment.not_sent_bytes.value_or(0), 0);
  EXPECT_EQ(ReadTcpMoment(pair_.far).received_bytes, 3000);
}

// What one end offers is what the other may use.
TEST_F(TcpMomentContractTest, BothEndsTellTheSameWindow) {
  Carry(3000);
  const TcpMoment far = ReadTcpMoment(pair_.far);
  if (!far.own_window_bytes) {
    GTEST_SKIP() << "this system does not tell of it; run it on Linux 6.2 or "
                    "newer, or on Windows 10";
  }
  const TcpMoment near = Await([&](const TcpMoment& now) {
    return now.peer_window_bytes == far.own_window_bytes;
  });
  EXPECT_EQ(near.peer_window_bytes, far.own_window_bytes);
}

TEST_F(TcpMomentContractTest, EndThatClosedSaysSo) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  if (ReadTcpMoment(pair_.near) == TcpMoment{}) {
    GTEST_SKIP() << "this system tells nothing of a connection" << kWhereTold;
  }
  ASSERT_TRUE(pair_.near.ShutdownSend().has_value());
  const TcpMoment moment = Await(
      [](const TcpMoment& now) { return now.state == TcpState::kFinWait2; });
  EXPECT_EQ(moment.state, TcpState::kFinWait2);
  EXPECT_EQ(ReadTcpMoment(pair_.far).state, TcpState::kCloseWait);
  // The FIN is no payload.
  EXPECT_EQ(moment.sent_bytes, 0);
  EXPECT_EQ(ReadTcpMoment(pair_.far).received_bytes, 0);
}

TEST(TcpMomentTest, WhereThereIsNoConnectionThereAreNoFigures) {
  const Socket listener = ListeningSocket();
  TcpMoment moment = ReadTcpMoment(listener);
  moment.state = TcpState::kUnknown;
  EXPECT_EQ(moment, TcpMoment{});
}

// Looks from another thread while calls are under way: each is of one moment,
// and later ones are not less.
TEST_F(TcpMomentContractTest, MayBeAskedWhileAnotherThreadSends) {
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::array<std::byte, 65536> room{};
    while (Got(pair_.far.Receive(room)) > 0) {
    }
  });
  std::thread writer([&] {
    const std::vector<std::byte> data(65536);
    for (int i = 0; i < 200; ++i) {
      if (!pair_.near.Send(data).has_value()) break;
    }
    static_cast<void>(pair_.near.ShutdownSend());
    done = true;
  });
  std::int64_t before = 0;
  bool ascends = true;
  while (!done) {
    const std::int64_t sent =
        ReadTcpMoment(pair_.near).sent_bytes.value_or(before);
    ascends = ascends && sent >= before;
    before = sent;
  }
  writer.join();
  reader.join();
  EXPECT_TRUE(ascends);
}

}  // namespace
}  // namespace wiretoll
