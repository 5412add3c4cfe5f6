#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "platform/options.h"
#include "platform/tcp_counters.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

// Where a skipped test can be run.
constexpr const char* kWhereCounted =
    "; run it on Linux, or on Windows as administrator";

using Member = TcpCounters::Count TcpCounters::*;

constexpr std::array kMembers = {
    &TcpCounters::data_segments_out,
    &TcpCounters::data_segments_in,
    &TcpCounters::segments_out,
    &TcpCounters::segments_in,
    &TcpCounters::retransmitted_segments,
    &TcpCounters::bytes_acked,
    &TcpCounters::bytes_received,
    &TcpCounters::bytes_retransmitted,
    &TcpCounters::dsack_duplicates,
    &TcpCounters::out_of_order_segments,
    &TcpCounters::rtt_ns,
    &TcpCounters::rtt_variation_ns,
    &TcpCounters::min_rtt_ns,
    &TcpCounters::cwnd_segments,
    &TcpCounters::mss_bytes,
    &TcpCounters::received_mss_bytes,
    &TcpCounters::path_mtu_bytes,
    &TcpCounters::peer_window_bytes,
    &TcpCounters::peer_window_scale,
    &TcpCounters::busy_ns,
    &TcpCounters::window_limited_ns,
    &TcpCounters::sndbuf_limited_ns,
    &TcpCounters::timestamps,
    &TcpCounters::sack,
};

constexpr std::array kSegmentCounts = {
    &TcpCounters::data_segments_out, &TcpCounters::data_segments_in,
    &TcpCounters::segments_out, &TcpCounters::segments_in};

bool TellsWhatIsUnacknowledged(const Socket& socket) {
  return socket.UnacknowledgedBytes().error() !=
         boost::system::errc::operation_not_supported;
}

class TcpCountersContractTest : public testing::Test {
 protected:
  void SetUp() override {
    BeginTcpCounters(pair_.near);
    BeginTcpCounters(pair_.far);
  }

  // Sends `count` single bytes, each acknowledged before the next, as far as
  // the system tells.
  void SendApart(int count) {
    const std::array<std::byte, 1> one{};
    std::array<std::byte, 1> room{};
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(pair_.near.Send(one).value(), Bytes{1});
      ASSERT_EQ(pair_.far.Receive(room).value(), Bytes{1});
      if (TellsWhatIsUnacknowledged(pair_.near)) {
        ASSERT_TRUE(AllAcknowledged(pair_.near));
      }
    }
  }

  // Until the peer has acknowledged all. Where the system does not tell, an
  // ACK is delayed by at most half a second (RFC 9293 3.8.6.3).
  void AwaitAcknowledgement() {
    if (TellsWhatIsUnacknowledged(pair_.near)) {
      ASSERT_TRUE(AllAcknowledged(pair_.near));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds{600});
    }
  }

  SocketPair pair_ = ConnectedPair();
};

TEST_F(TcpCountersContractTest, WhatIsEmptyHasAReason) {
  const TcpCounters counters = ReadTcpCounters(pair_.near);
  for (const Member member : kMembers) {
    EXPECT_TRUE((counters.*member).has_value() || !counters.reason.empty());
  }
}

TEST_F(TcpCountersContractTest, NothingIsNegative) {
  const TcpCounters counters = ReadTcpCounters(pair_.near);
  for (const Member member : kMembers) {
    EXPECT_GE((counters.*member).value_or(0), 0);
  }
}

TEST_F(TcpCountersContractTest, WindowHistoryIsLeftToWhoeverWatchesIt) {
  const TcpCounters counters = ReadTcpCounters(pair_.near);
  EXPECT_FALSE(counters.peer_window_initial_bytes.has_value());
  EXPECT_FALSE(counters.peer_window_peak_bytes.has_value());
}

TEST_F(TcpCountersContractTest, OneByteWrittenAloneIsOneDataSegment) {
  ASSERT_TRUE(SetOption(pair_.near, SocketOption::kNagle, 0).has_value());
  const TcpCounters before = ReadTcpCounters(pair_.near);
  if (!before.data_segments_out) {
    EXPECT_FALSE(before.reason.empty());
    GTEST_SKIP() << before.reason << kWhereCounted;
  }
  SendApart(1);
  EXPECT_EQ(*ReadTcpCounters(pair_.near).data_segments_out,
            *before.data_segments_out + 1);
}

TEST_F(TcpCountersContractTest, BothEndsCountTheSameDataSegments) {
  ASSERT_TRUE(SetOption(pair_.near, SocketOption::kNagle, 0).has_value());
  SendApart(7);
  const TcpCounters near = ReadTcpCounters(pair_.near);
  const TcpCounters far = ReadTcpCounters(pair_.far);
  if (!near.data_segments_out || !far.data_segments_in) {
    GTEST_SKIP() << near.reason << "; " << far.reason << kWhereCounted;
  }
  // What the kernel thought lost and sent again, both ends count again.
  EXPECT_EQ(*near.data_segments_out, 7 + near.retransmitted_segments.value());
  EXPECT_EQ(*far.data_segments_in, *near.data_segments_out);
}

// A FIN takes a sequence number and a SYN does too, but neither is payload.
TEST_F(TcpCountersContractTest, ByteCountsHoldPayloadOnlyAlsoAfterTheEnd) {
  SendApart(5);
  ASSERT_TRUE(pair_.near.ShutdownSend().has_value());
  std::array<std::byte, 1> room{};
  ASSERT_EQ(pair_.far.Receive(room).value(), Bytes{0});
  AwaitAcknowledgement();
  const TcpCounters near = ReadTcpCounters(pair_.near);
  const TcpCounters far = ReadTcpCounters(pair_.far);
  if (!near.bytes_acked || !far.bytes_received) {
    GTEST_SKIP() << near.reason << "; " << far.reason << kWhereCounted;
  }
  EXPECT_EQ(*near.bytes_acked, 5);
  EXPECT_EQ(*far.bytes_received, 5);
  EXPECT_EQ(far.bytes_acked.value(), 0);
}

TEST_F(TcpCountersContractTest, ConnectionThatNeverWasHasNoCounts) {
  const Socket fresh = OpenTcp(kLoopback, {}).value();
  const TcpCounters counters = ReadTcpCounters(fresh);
  for (const Member member : kSegmentCounts) {
    EXPECT_FALSE((counters.*member).has_value());
  }
  EXPECT_FALSE(counters.reason.empty());
}

TEST_F(TcpCountersContractTest, SocketThatIsNoneGivesAReasonOnly) {
  const Socket none{Socket::Handle::kNone};
  const TcpCounters counters = ReadTcpCounters(none);
  for (const Member member : kMembers) {
    EXPECT_FALSE((counters.*member).has_value());
  }
  EXPECT_FALSE(counters.reason.empty());
}

}  // namespace
}  // namespace wiretoll
