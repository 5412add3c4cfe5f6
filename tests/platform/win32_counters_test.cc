// What becomes of Windows' readings of a connection, where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/win32/tcp_readings.h"

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

TcpInfoReading Info(DWORD version) {
  TcpInfoReading info;
  info.version = version;
  info.values.Mss = 1'460;
  info.values.Cwnd = 14'600;
  info.values.SndWnd = 65'536;
  info.values.RttUs = 250;
  info.values.MinRttUs = 200;
  info.values.BytesIn = 1'000;
  info.values.BytesRetrans = 1'460;
  info.values.TimestampsEnabled = TRUE;
  info.values.SndLimTimeRwin = 7;
  return info;
}

EstatsReading Estats(ULONG64 bytes_in) {
  EstatsReading estats;
  estats.data.emplace();
  estats.data->DataSegsOut = 12;
  estats.data->DataSegsIn = 3;
  estats.data->SegsOut = 20;
  estats.data->SegsIn = 15;
  estats.data->DataBytesIn = bytes_in;
  estats.data->ThruBytesAcked = 500;
  estats.data->ThruBytesReceived = 1'000;
  return estats;
}

// 14600 / 1460 = 10 segments; 250 us = 250,000 ns; 7 ms = 7,000,000 ns.
TEST(Win32CountersTest, TcpInfoIsInBytesSegmentsAndNanoseconds) {
  TcpCounters counters;
  FillFromTcpInfo(Info(1), counters);
  EXPECT_EQ(counters.mss_bytes, 1'460);
  EXPECT_EQ(counters.cwnd_segments, 10);
  EXPECT_EQ(counters.peer_window_bytes, 65'536);
  EXPECT_EQ(counters.rtt_ns, 250'000);
  EXPECT_EQ(counters.min_rtt_ns, 200'000);
  EXPECT_EQ(counters.bytes_received, 1'000);
  EXPECT_EQ(counters.bytes_retransmitted, 1'460);
  EXPECT_EQ(counters.timestamps, 1);
  EXPECT_EQ(counters.window_limited_ns, 7'000'000);
  EXPECT_FALSE(counters.data_segments_out) << "it counts bytes, not segments";
}

// What Windows does not tell stays empty, above all what was acknowledged.
TEST(Win32CountersTest, TcpInfoIsAMomentToo) {
  TcpInfoReading info = Info(1);
  info.values.State = TCPSTATE_ESTABLISHED;
  info.values.RcvWnd = 131'072;
  info.values.BytesInFlight = 4'380;
  info.values.BytesOut = 20'000;
  const TcpMoment moment = MomentFrom(info);
  EXPECT_EQ(moment.state, TcpState::kEstablished);
  EXPECT_EQ(moment.cwnd_bytes, 14'600);
  EXPECT_EQ(moment.cwnd_segments, 10);
  EXPECT_EQ(moment.peer_window_bytes, 65'536);
  EXPECT_EQ(moment.own_window_bytes, 131'072);
  EXPECT_EQ(moment.in_flight_bytes, 4'380);
  EXPECT_EQ(moment.sent_bytes, 20'000);
  EXPECT_EQ(moment.received_bytes, 1'000);
  EXPECT_EQ(moment.rtt_ns, 250'000);
  EXPECT_EQ(moment.min_rtt_ns, 200'000);
  EXPECT_EQ(moment.window_limited_ns, 7'000'000);
  EXPECT_FALSE(moment.acked_bytes);
  EXPECT_FALSE(moment.not_sent_bytes);
  EXPECT_EQ(moment.loss_state, LossState::kUnknown);
}

TEST(Win32CountersTest, EachStateHasItsName) {
  TcpInfoReading info = Info(0);
  info.values.State = TCPSTATE_TIME_WAIT;
  EXPECT_EQ(MomentFrom(info).state, TcpState::kTimeWait);
  info.values.State = TCPSTATE_MAX;
  EXPECT_EQ(MomentFrom(info).state, TcpState::kUnknown);
  EXPECT_FALSE(MomentFrom(info).window_limited_ns);
}

TEST(Win32CountersTest, Version0DoesNotTellWhatLimitedTheSender) {
  TcpCounters counters;
  FillFromTcpInfo(Info(0), counters);
  EXPECT_FALSE(counters.window_limited_ns);
  EXPECT_THAT(counters.reason, HasSubstr("window_limited: "));
  EXPECT_EQ(counters.rtt_ns, 250'000);
}

TEST(Win32CountersTest, RoundTripThatWasNotTimedIsNone) {
  TcpInfoReading info = Info(1);
  info.values.RttUs = 0;
  TcpCounters counters;
  FillFromTcpInfo(info, counters);
  EXPECT_FALSE(counters.rtt_ns);
  EXPECT_FALSE(counters.min_rtt_ns);
  EXPECT_THAT(counters.reason, HasSubstr("rtt"));
}

TEST(Win32CountersTest, EstatsCountSegments) {
  TcpCounters counters;
  FillFromEstats(Estats(1'000), Info(1), counters);
  EXPECT_EQ(counters.data_segments_out, 12);
  EXPECT_EQ(counters.data_segments_in, 3);
  EXPECT_EQ(counters.segments_out, 20);
  EXPECT_EQ(counters.segments_in, 15);
  EXPECT_EQ(counters.bytes_acked, 500);
  EXPECT_EQ(counters.bytes_received, 1'000);
  EXPECT_EQ(counters.reason, "");
}

// 1000 bytes came in all and 999 while it was counted: one byte came before.
TEST(Win32CountersTest, CountsThatBeganTooLateAreNotTaken) {
  TcpCounters counters;
  FillFromEstats(Estats(999), Info(1), counters);
  EXPECT_EQ(counters.data_segments_out, 12);
  EXPECT_FALSE(counters.data_segments_in);
  EXPECT_FALSE(counters.segments_in);
  EXPECT_FALSE(counters.segments_out);
  EXPECT_THAT(counters.reason, HasSubstr("before the counting could begin"));
}

TEST(Win32CountersTest, WithoutTheTotalNobodyKnowsWhetherAllIsCounted) {
  TcpCounters counters;
  FillFromEstats(Estats(1'000), std::nullopt, counters);
  EXPECT_FALSE(counters.data_segments_in);
  EXPECT_EQ(counters.data_segments_out, 12);
}

TEST(Win32CountersTest, PathAndPeerFillTheirOwn) {
  EstatsReading estats;
  estats.path.emplace();
  estats.path->PktsRetrans = 4;
  estats.path->BytesRetrans = 5'840;
  estats.path->DsackDups = 2;
  estats.path->CountRtt = 1;
  estats.path->RttVar = 3;
  estats.peer.emplace();
  estats.peer->WinScaleRcvd = 8;
  TcpCounters counters;
  FillFromEstats(estats, std::nullopt, counters);
  EXPECT_EQ(counters.retransmitted_segments, 4);
  EXPECT_EQ(counters.bytes_retransmitted, 5'840);
  EXPECT_EQ(counters.dsack_duplicates, 2);
  EXPECT_EQ(counters.rtt_variation_ns, 3'000'000);
  EXPECT_EQ(counters.peer_window_scale, 8);
  EXPECT_FALSE(counters.data_segments_out);
}

TEST(Win32CountersTest, WhoIsNoAdministratorIsToldTheRemedy) {
  EXPECT_THAT(ExplainEstats(ERROR_ACCESS_DENIED),
              HasSubstr("run the agent as administrator"));
  EXPECT_THAT(ExplainEstats(ERROR_NOT_FOUND),
              HasSubstr("the connection is gone"));
}

}  // namespace
}  // namespace wiretoll
