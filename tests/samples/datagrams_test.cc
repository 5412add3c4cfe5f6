#include "harness/samples/datagrams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using testing::HasSubstr;

EndReport Sender(std::int64_t sent) {
  EndReport end;
  end.host = "a";
  end.datagrams.emplace().sent = sent;
  end.datagrams->not_sent.emplace();
  return end;
}

EndReport Receiver(std::int64_t received, std::int64_t duplicated,
                   std::int64_t drops) {
  EndReport end;
  end.host = "b";
  DatagramReport& report = end.datagrams.emplace();
  report.received = received;
  report.duplicated = duplicated;
  report.reordered = 0;
  report.late = 0;
  report.receive_buffer_drops = drops;
  return end;
}

std::string ProblemWith(const EndReport& sender, const EndReport& receiver) {
  const auto counted = AccountDatagrams(sender, receiver);
  return counted.has_value() ? "" : counted.error().message;
}

// 1000 = 990 - 4 + 14, and 14 = 6 + 8.
TEST(DatagramsTest, WhatWasSentCameOnceOrWasLost) {
  EndReport sender = Sender(1000);
  sender.datagrams->not_sent = NotSent{1, 2, 3, 4, 5, "odd"};
  EndReport receiver = Receiver(990, 4, 6);
  receiver.datagrams->reordered = 20;
  receiver.datagrams->late = 7;
  const Datagrams datagrams = AccountDatagrams(sender, receiver).value();
  EXPECT_EQ(datagrams.sent, 1000);
  EXPECT_EQ(datagrams.received, 990);
  EXPECT_EQ(datagrams.duplicated, 4);
  EXPECT_EQ(datagrams.lost, 14);
  EXPECT_EQ(datagrams.lost_at_receiver, 6);
  EXPECT_EQ(datagrams.lost_on_path, 8);
  EXPECT_EQ(datagrams.reordered, 20);
  EXPECT_EQ(datagrams.late, 7);
  EXPECT_EQ(datagrams.not_sent, 15);
  EXPECT_EQ(datagrams.reason, "");
}

// 10 received of 10 sent, but one of them twice: one is lost all the same.
TEST(DatagramsTest, ADuplicateHidesNoLoss) {
  EXPECT_EQ(AccountDatagrams(Sender(10), Receiver(10, 1, 0)).value().lost, 1);
}

TEST(DatagramsTest, NothingSentIsNothingLost) {
  const Datagrams datagrams =
      AccountDatagrams(Sender(0), Receiver(0, 0, 0)).value();
  EXPECT_EQ(datagrams.lost, 0);
  EXPECT_EQ(datagrams.lost_on_path, 0);
}

TEST(DatagramsTest, AllMayBeLost) {
  const Datagrams datagrams =
      AccountDatagrams(Sender(500), Receiver(0, 0, 0)).value();
  EXPECT_EQ(datagrams.received, 0);
  EXPECT_EQ(datagrams.lost, 500);
  EXPECT_EQ(datagrams.lost_on_path, 500);
}

TEST(DatagramsTest, CountsAloneGiveALossAndSayWhatTheyCannotTell) {
  EndReport receiver = Receiver(7, 0, 0);
  receiver.datagrams->duplicated.reset();
  receiver.datagrams->reordered.reset();
  receiver.datagrams->late.reset();
  receiver.why_null["datagrams.duplicated"] = "1 byte holds no number";
  const Datagrams datagrams = AccountDatagrams(Sender(10), receiver).value();
  EXPECT_EQ(datagrams.lost, 3);
  EXPECT_EQ(datagrams.duplicated, std::nullopt);
  EXPECT_EQ(datagrams.reordered, std::nullopt);
  EXPECT_THAT(datagrams.reason, HasSubstr("1 byte holds no number"));
}

TEST(DatagramsTest, WhereTheSystemTellsNoDropsThePlaceOfLossIsNotKnown) {
  EndReport receiver = Receiver(7, 0, 0);
  receiver.datagrams->receive_buffer_drops.reset();
  receiver.why_null["datagrams.receive_buffer_drops"] = "Windows has no count";
  const Datagrams datagrams = AccountDatagrams(Sender(10), receiver).value();
  EXPECT_EQ(datagrams.lost, 3);
  EXPECT_EQ(datagrams.lost_at_receiver, std::nullopt);
  EXPECT_EQ(datagrams.lost_on_path, std::nullopt);
  EXPECT_THAT(datagrams.reason, HasSubstr("Windows has no count"));
}

// 9 dropped with 3 lost would make -6 lost on the path.
TEST(DatagramsTest, MoreDropsThanLossesAreSaidAndMakeNoNegativeFigure) {
  const Datagrams datagrams =
      AccountDatagrams(Sender(10), Receiver(7, 0, 9)).value();
  EXPECT_EQ(datagrams.lost, 3);
  EXPECT_EQ(datagrams.lost_at_receiver, std::nullopt);
  EXPECT_EQ(datagrams.lost_on_path, std::nullopt);
  EXPECT_THAT(datagrams.reason, HasSubstr("dropped 9, more than the 3 lost"));
}

TEST(DatagramsTest, MoreThanWasSentIsRefused) {
  EXPECT_EQ(ProblemWith(Sender(10), Receiver(12, 1, 0)),
            "more came than was sent: 10 datagrams sent, 11 received, "
            "duplicates not counted");
  EXPECT_EQ(ProblemWith(Sender(10), Receiver(12, 2, 0)), "");
  EndReport small = Receiver(12, 0, 0);
  small.datagrams->duplicated.reset();
  EXPECT_THAT(ProblemWith(Sender(10), small), HasSubstr("too small"));
  EXPECT_EQ(ProblemWith(Sender(10), Receiver(3, 4, 0)),
            "receiver b counts 4 duplicates among 3 datagrams");
}

TEST(DatagramsTest, AnEndThatDidNotCountIsNamed) {
  EndReport sender = Sender(10);
  sender.datagrams->sent.reset();
  sender.why_null["datagrams.sent"] = "no reason at all";
  EXPECT_EQ(ProblemWith(sender, Receiver(1, 0, 0)),
            "sender a did not tell how many datagrams it sent: no reason at "
            "all");
  EndReport receiver;
  receiver.host = "b";
  EXPECT_EQ(ProblemWith(Sender(10), receiver),
            "receiver b did not tell how many datagrams came: not observed");
}

}  // namespace
}  // namespace wiretoll
