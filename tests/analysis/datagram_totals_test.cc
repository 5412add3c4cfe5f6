#include "harness/analysis/datagram_totals.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

// 1000 sent, 100 of them lost, 60 at the receiver's buffer; 5 came twice, so
// 905 were received. 50 more were not sent, 30 of them for a full queue.
Sample UdpTrial() {
  Sample sample;
  NotSent& not_sent =
      sample.sender.emplace().datagrams.emplace().not_sent.emplace();
  not_sent.no_buffers = 30;
  not_sent.other = 20;
  DatagramReport& report = sample.receiver.emplace().datagrams.emplace();
  report.jitter_rfc3550_ns = 1000;
  report.delay_error_ns = 20;
  Datagrams& datagrams = sample.datagrams.emplace();
  datagrams.sent = 1000;
  datagrams.received = 905;
  datagrams.lost = 100;
  datagrams.duplicated = 5;
  datagrams.reordered = 2;
  datagrams.late = 1;
  datagrams.not_sent = 50;
  datagrams.lost_at_receiver = 60;
  datagrams.lost_on_path = 40;
  datagrams.fragments_each = 2;
  datagrams.mtu_bytes = 1500;
  return sample;
}

DatagramTotals TotalsOf(const std::vector<Sample>& samples) {
  std::optional<DatagramTotals> totals;
  for (const Sample& sample : samples) AddDatagrams(sample, totals);
  return totals.value();
}

TEST(DatagramTotalsTest, TrialsAddUp) {
  Sample second = UdpTrial();
  second.receiver->datagrams->jitter_rfc3550_ns = 4000;
  second.receiver->datagrams->delay_error_ns = 50;
  const DatagramTotals totals = TotalsOf({UdpTrial(), UdpTrial(), second});
  EXPECT_EQ(totals.trials, 3);
  EXPECT_EQ(totals.sent, 3000);
  EXPECT_EQ(totals.received, 2715);
  EXPECT_EQ(totals.lost, 300);
  EXPECT_EQ(totals.duplicated, 15);
  EXPECT_EQ(totals.sent, totals.received - *totals.duplicated + totals.lost);
  EXPECT_EQ(totals.not_sent, 150);
  EXPECT_EQ(totals.no_buffers, 90);
  EXPECT_EQ(totals.lost_at_receiver, 180);
  // (1000 + 1000 + 4000) / 3; the clocks are as good as the worst.
  EXPECT_DOUBLE_EQ(*totals.jitter_rfc3550_ns, 2000);
  EXPECT_EQ(totals.delay_error_ns, 50);
  EXPECT_EQ(totals.fragments_each, 2);
}

// 900 of 1050 arrived; 60 and 40 were lost, 30 and 20 never sent.
TEST(DatagramTotalsTest, FatesAreSharesOfAllThatWasHandedOver) {
  const DatagramFates fates = FatesOf(TotalsOf({UdpTrial()})).value();
  EXPECT_DOUBLE_EQ(fates.received, 900.0 / 1050);
  EXPECT_DOUBLE_EQ(fates.lost_at_receiver, 60.0 / 1050);
  EXPECT_DOUBLE_EQ(fates.lost_on_path, 40.0 / 1050);
  EXPECT_DOUBLE_EQ(fates.lost_somewhere, 0);
  EXPECT_DOUBLE_EQ(fates.no_buffers, 30.0 / 1050);
  EXPECT_DOUBLE_EQ(fates.not_sent_otherwise, 20.0 / 1050);
}

TEST(DatagramTotalsTest, OneTrialThatDoesNotTellLeavesTheSumUnknown) {
  Sample silent = UdpTrial();
  silent.datagrams->lost_at_receiver.reset();
  silent.datagrams->lost_on_path.reset();
  silent.datagrams->reason = "Windows does not tell";
  const DatagramTotals totals = TotalsOf({UdpTrial(), silent, UdpTrial()});
  EXPECT_EQ(totals.lost_at_receiver, std::nullopt);
  EXPECT_EQ(totals.reason, "Windows does not tell");
  const DatagramFates fates = FatesOf(totals).value();
  EXPECT_EQ(fates.lost_at_receiver, 0);
  EXPECT_DOUBLE_EQ(fates.lost_somewhere, 300.0 / 3150);
}

TEST(DatagramTotalsTest, SizesThatDifferHaveNoCommonFragments) {
  Sample other = UdpTrial();
  other.datagrams->fragments_each = 3;
  EXPECT_EQ(TotalsOf({UdpTrial(), other}).fragments_each, std::nullopt);
}

TEST(DatagramTotalsTest, NothingHandedOverHasNoFates) {
  Sample nothing = UdpTrial();
  nothing.datagrams = Datagrams{};
  nothing.sender->datagrams->not_sent = NotSent{};
  EXPECT_FALSE(FatesOf(TotalsOf({nothing})).has_value());
}

TEST(DatagramTotalsTest, TcpHasNone) {
  std::optional<DatagramTotals> totals;
  AddDatagrams(Sample{}, totals);
  EXPECT_FALSE(totals.has_value());
}

}  // namespace
}  // namespace wiretoll
