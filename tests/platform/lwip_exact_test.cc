// What lwIP does exactly, on loopback.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "platform/host_facts.h"
#include "platform/options.h"
#include "platform/tcp_counters.h"
#include "platform/tcp_moment.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

using boost::system::errc::operation_not_supported;

class LwipExactTest : public testing::Test {
 protected:
  SocketPair pair_ = ConnectedPair();
};

TEST(LwipIdentityTest, IsLwipAndNamesTheSystemItRunsOn) {
  const OsIdentity identity = IdentifyOs();
  EXPECT_EQ(identity.os, "lwip");
  EXPECT_TRUE(identity.stack.starts_with("lwIP 2.")) << identity.stack;
  EXPECT_NE(identity.description.find("Linux"), std::string::npos);
}

TEST_F(LwipExactTest, FreshConnectionHasTheWindowItWasBuiltWith) {
  const TcpMoment moment = ReadTcpMoment(pair_.near);
  EXPECT_EQ(moment.state, TcpState::kEstablished);
  EXPECT_EQ(moment.loss_state, LossState::kOpen);
  EXPECT_EQ(moment.mss_bytes, 1460);
  EXPECT_EQ(moment.peer_window_bytes, 65'535);
  EXPECT_EQ(moment.in_flight_bytes, 0);
  EXPECT_EQ(moment.not_sent_bytes, 0);
  EXPECT_EQ(moment.ssthresh_bytes, std::nullopt) << "no loss has set one";
}

// Nobody reads: 65,535 bytes are the window and as many the send buffer.
TEST_F(LwipExactTest, WhatNobodyReadsFillsTheWindowThenTheSendBuffer) {
  std::thread writer([this] {
    const std::vector<std::byte> data(200'000);
    static_cast<void>(pair_.near.Send(data));
  });
  const SteadyTime until = std::chrono::steady_clock::now() + kPatience;
  TcpMoment moment;
  while (std::chrono::steady_clock::now() < until) {
    moment = ReadTcpMoment(pair_.near);
    if (moment.peer_window_bytes == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  EXPECT_EQ(moment.peer_window_bytes, 0);
  EXPECT_EQ(ReadTcpMoment(pair_.far).own_window_bytes, 0);
  EXPECT_LE(pair_.near.UnacknowledgedBytes().value().count, 65'535);
  pair_.near.Interrupt();
  writer.join();
}

TEST_F(LwipExactTest, WhatItDoesNotHaveIsSaidAndNotMistakenForAnotherOption) {
  for (const SocketOption option :
       {SocketOption::kSndbuf, SocketOption::kQuickack, SocketOption::kCork,
        SocketOption::kMss, SocketOption::kDontFragment}) {
    EXPECT_EQ(SetOption(pair_.near, option, 536).error(),
              operation_not_supported);
    EXPECT_EQ(GetOption(pair_.near, option).error(), operation_not_supported);
  }
}

// The window stays what it was: only datagrams are held back by it.
TEST_F(LwipExactTest, ReceiveBufferReadsBackAsSetAndLeavesTheWindow) {
  ASSERT_TRUE(SetOption(pair_.far, SocketOption::kRcvbuf, 2).has_value());
  EXPECT_EQ(GetOption(pair_.far, SocketOption::kRcvbuf).value(), 2);
  // 65,535 with a scale of 1: the last bit does not go out.
  EXPECT_EQ(ReadTcpMoment(pair_.far).own_window_bytes, 65'534);
}

TEST_F(LwipExactTest, ConnectionTellsItsStateAndNoCounts) {
  const TcpCounters counters = ReadTcpCounters(pair_.near);
  EXPECT_EQ(counters.mss_bytes, 1460);
  EXPECT_EQ(counters.timestamps, 0);
  EXPECT_EQ(counters.sack, 0);
  EXPECT_EQ(counters.data_segments_out, std::nullopt);
  EXPECT_NE(counters.reason.find("keeps no counts"), std::string::npos);
}

}  // namespace
}  // namespace wiretoll
