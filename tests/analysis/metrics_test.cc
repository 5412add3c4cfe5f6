#include "harness/analysis/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/analysis/capacity.h"
#include "harness/analysis/case_theory.h"

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

constexpr TrialContext kStream{100e6, false};
constexpr TrialContext kRounds{100e6, true};

// 100,000 bytes, of which 1448 came in the first read; 10 ms for the rest.
Sample Stream() {
  Sample sample;
  EndReport& sender = sample.sender.emplace();
  sender.calls = 1000;
  sender.bytes = 100'000;
  sender.elapsed_ns = 8'000'000;
  sender.cpu_ns = 500'000;
  sender.counters.busy_ns = 9'000'000;
  sender.counters.window_limited_ns = 0;
  EndReport& receiver = sample.receiver.emplace();
  receiver.calls = 200;
  receiver.bytes = 100'000;
  receiver.first_read_bytes = 1448;
  receiver.elapsed_ns = 10'000'000;
  receiver.steady_bytes = 90'000;
  receiver.steady_elapsed_ns = 9'000'000;
  Wire& wire = sample.wire.emplace();
  wire.data_segments = 100;
  wire.retransmitted_segments = 0;
  wire.payload_bytes = 100'000;
  wire.header_bytes = 52;
  wire.l1_bytes = 109'000;  // 100,000 + 100 x 90.
  return sample;
}

std::optional<double> Of(Metric metric, const Sample& sample,
                         const TrialContext& context = kStream) {
  return FiguresOf(sample, context)[Index(metric)];
}

TEST(MetricsTest, EveryNameFindsItsMetricAndHasAUnit) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    EXPECT_EQ(MetricFromName(MetricName(metric)), metric);
    EXPECT_FALSE(MetricUnit(metric).empty());
  }
  EXPECT_EQ(MetricName(Metric::kBytesPerSegment), "bytes_per_segment");
  EXPECT_EQ(MetricFromName("speed"), std::nullopt);
}

// (100,000 - 1448) bytes in 10 ms = 9.8552 MB/s; of 12.5 MB/s 78.8416 %.
TEST(MetricsTest, ThroughputLeavesOutTheReadThatStartedTheClock) {
  EXPECT_DOUBLE_EQ(*Of(Metric::kThroughput, Stream()), 9'855'200);
  EXPECT_DOUBLE_EQ(*Of(Metric::kLineShare, Stream()), 0.788416);
  Sample unknown = Stream();
  unknown.receiver->first_read_bytes.reset();
  EXPECT_DOUBLE_EQ(*Of(Metric::kThroughput, unknown), 10'000'000);
}

TEST(MetricsTest, AStreamInOneReadHasNoThroughputAndSaysWhy) {
  Sample sample = Stream();
  sample.receiver->first_read_bytes = 100'000;
  sample.receiver->elapsed_ns = 10;
  EXPECT_EQ(Of(Metric::kThroughput, sample), std::nullopt);
  EXPECT_EQ(Of(Metric::kLineShare, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kThroughput, sample, kStream),
              HasSubstr("one read"));
  sample.receiver->elapsed_ns = 0;
  sample.receiver->first_read_bytes = 1;
  EXPECT_EQ(Of(Metric::kThroughput, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kThroughput, sample, kStream),
              HasSubstr("clock"));
}

// Each quotient of the sample above.
TEST(MetricsTest, FiguresAreQuotientsOfCounts) {
  const Sample sample = Stream();
  EXPECT_DOUBLE_EQ(*Of(Metric::kSteadyThroughput, sample), 10'000'000);
  EXPECT_DOUBLE_EQ(*Of(Metric::kEfficiency, sample), 100.0 / 109);
  EXPECT_DOUBLE_EQ(*Of(Metric::kBytesPerSegment, sample), 1000);
  EXPECT_DOUBLE_EQ(*Of(Metric::kWritesPerSegment, sample), 10);
  EXPECT_DOUBLE_EQ(*Of(Metric::kBytesPerRead, sample), 500);
  EXPECT_DOUBLE_EQ(*Of(Metric::kSenderCpu, sample), 5);
  EXPECT_DOUBLE_EQ(*Of(Metric::kSendCallRate, sample), 125'000);
  EXPECT_DOUBLE_EQ(*Of(Metric::kElapsed, sample), 10'000'000);
}

// What the receiver's kernel made of SO_RCVBUF, and what its peer saw of it.
TEST(MetricsTest, BufferAndWindowsAreThoseThatCameNotThoseAskedFor) {
  Sample sample = Stream();
  sample.receiver->options["rcvbuf"] = {std::int64_t{2}, std::int64_t{2304},
                                        "below the least"};
  sample.sender->counters.peer_window_initial_bytes = 1152;
  sample.sender->counters.peer_window_peak_bytes = 1120;
  EXPECT_DOUBLE_EQ(*Of(Metric::kReceiveBuffer, sample), 2304);
  EXPECT_DOUBLE_EQ(*Of(Metric::kWindowInitial, sample), 1152);
  EXPECT_DOUBLE_EQ(*Of(Metric::kWindowPeak, sample), 1120);
}

TEST(MetricsTest, ABufferThatWasNotReadBackIsMissingWithItsReason) {
  Sample sample = Stream();
  sample.receiver->options["rcvbuf"] = {std::int64_t{2}, {}, "no such option"};
  sample.sender->counters.reason = "no TCP_INFO";
  EXPECT_EQ(Of(Metric::kReceiveBuffer, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kReceiveBuffer, sample, kStream),
            "no such option");
  EXPECT_EQ(WhyMissing(Metric::kWindowInitial, sample, kStream), "no TCP_INFO");
  EXPECT_EQ(WhyMissing(Metric::kWindowPeak, sample, kStream), "no TCP_INFO");
}

// 108,000 and 110,000: 100,000 / 109,000.
TEST(MetricsTest, EfficiencyTakesTheMiddleOfItsBounds) {
  Sample sample = Stream();
  sample.wire->l1_bytes.reset();
  sample.wire->l1_bytes_low = 108'000;
  sample.wire->l1_bytes_high = 110'000;
  EXPECT_DOUBLE_EQ(*Of(Metric::kEfficiency, sample), 100.0 / 109);
}

TEST(MetricsTest, WhatWasNotObservedIsMissingWithTheReasonRecorded) {
  Sample sample = Stream();
  sample.sender->cpu_ns.reset();
  sample.sender->why_null["cpu_ns"] = "no thread clock";
  sample.wire->ack_segments.reset();
  sample.wire->reason = "no ESTATS without an administrator";
  EXPECT_EQ(Of(Metric::kSenderCpu, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kSenderCpu, sample, kStream), "no thread clock");
  EXPECT_EQ(Of(Metric::kAckSegments, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kAckSegments, sample, kStream),
            "no ESTATS without an administrator");
  EXPECT_EQ(Of(Metric::kLatencyP50, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kLatencyP50, sample, kStream),
              HasSubstr("no round trips"));
}

TEST(MetricsTest, ARequestResponseIsMeasuredByItsLatency) {
  Sample sample = Stream();
  sample.sender->latency = LatencySummary{
      .count = 10, .p50_ns = 50'000, .p99_ns = 90'000, .over_30ms = 9};
  EXPECT_EQ(Of(Metric::kThroughput, sample, kRounds), std::nullopt);
  EXPECT_DOUBLE_EQ(*Of(Metric::kLatencyP50, sample, kRounds), 50'000);
  EXPECT_DOUBLE_EQ(*Of(Metric::kStalls, sample, kRounds), 9);
}

TEST(MetricsTest, TrialsWithoutReportsHaveNoFiguresButReasons) {
  const Sample sample;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    EXPECT_EQ(Of(metric, sample), std::nullopt);
    EXPECT_FALSE(WhyMissing(metric, sample, kStream).empty());
  }
}

// --- Capacity ---------------------------------------------------------------

double Sum(const Capacity& shares) {
  return shares.payload + shares.headers + shares.framing +
         shares.retransmission + shares.window_wait + shares.ack_wait +
         shares.program_wait;
}

// 10 ms at 12.5 MB/s are 125,000 bytes: payload 80 %, headers 5200 = 4.16 %,
// framing 3800 = 3.04 %; 12.8 % are left. Busy 9 of 10 ms: 10 % program, the
// other 2.8 % waited for ACKs.
TEST(CapacityTest, SharesAreHandArithmeticAndSumToOne) {
  const auto capacity = CapacityOf(Stream(), 100e6);
  ASSERT_TRUE(capacity.value.has_value()) << capacity.reason;
  EXPECT_NEAR(capacity.value->payload, 0.80, 1e-9);
  EXPECT_NEAR(capacity.value->headers, 0.0416, 1e-9);
  EXPECT_NEAR(capacity.value->framing, 0.0304, 1e-9);
  EXPECT_NEAR(capacity.value->program_wait, 0.10, 1e-9);
  EXPECT_NEAR(capacity.value->ack_wait, 0.028, 1e-9);
  EXPECT_EQ(capacity.value->window_wait, 0);
  EXPECT_EQ(capacity.value->retransmission, 0);
  EXPECT_NEAR(Sum(*capacity.value), 1, 1e-12);
}

// Two of 100 segments were sent again: 2 x 1090 = 2180 of 109,000 bytes, but
// what was read is less then: 97,960. Headers of 98 are left: 5096; the rest of
// 109,000 is framing: 3764.
TEST(CapacityTest, RetransmissionsStandApart) {
  Sample sample = Stream();
  sample.wire->retransmitted_segments = 2;
  sample.receiver->bytes = 97'960;
  const Capacity shares = *CapacityOf(sample, 100e6).value;
  EXPECT_NEAR(shares.retransmission, 2180.0 / 125'000, 1e-9);
  EXPECT_NEAR(shares.payload, 97'960.0 / 125'000, 1e-9);
  EXPECT_NEAR(shares.headers, 5096.0 / 125'000, 1e-9);
  EXPECT_NEAR(shares.framing, 3764.0 / 125'000, 1e-9);
  EXPECT_NEAR(Sum(shares), 1, 1e-12);
}

// Limited by the window for 1 of 10 ms: 10 % of the 12.8 %, after the program
// had its share; nothing is taken twice.
TEST(CapacityTest, AWaitIsTakenOnceProgramFirst) {
  Sample sample = Stream();
  sample.sender->counters.window_limited_ns = 1'000'000;
  const Capacity shares = *CapacityOf(sample, 100e6).value;
  EXPECT_NEAR(shares.program_wait, 0.10, 1e-9);
  EXPECT_NEAR(shares.window_wait, 0.028, 1e-9);
  EXPECT_NEAR(shares.ack_wait, 0, 1e-9);
  EXPECT_NEAR(Sum(shares), 1, 1e-12);
}

// A burst of 109,000 bytes in 1 ms is more than 100 Mbit/s: the time is what
// the bytes take at the rate, and nothing waited.
TEST(CapacityTest, ABurstBeyondTheRateLeavesNoWait) {
  Sample sample = Stream();
  sample.sender->elapsed_ns = sample.receiver->elapsed_ns = 1'000'000;
  const Capacity shares = *CapacityOf(sample, 100e6).value;
  EXPECT_NEAR(shares.payload, 100.0 / 109, 1e-9);
  EXPECT_NEAR(shares.ack_wait + shares.program_wait + shares.window_wait, 0,
              1e-9);
  EXPECT_NEAR(Sum(shares), 1, 1e-12);
}

TEST(CapacityTest, WithoutARateOrAKernelThatTellsThereIsNoneAndAReason) {
  EXPECT_THAT(CapacityOf(Stream(), std::nullopt).reason, HasSubstr("rate"));
  Sample windows = Stream();
  windows.sender->counters.busy_ns.reset();
  windows.sender->counters.reason = "Windows does not tell";
  const auto none = CapacityOf(windows, 100e6);
  EXPECT_FALSE(none.value.has_value());
  EXPECT_EQ(none.reason, "Windows does not tell");
}

// --- Theory of a cell -------------------------------------------------------

CellFacts FactsOf(const Workload& workload) {
  CellFacts facts;
  facts.workload = &workload;
  facts.sender_os = facts.receiver_os = "linux";
  facts.rate_bits_per_second = 100e6;
  facts.negotiated = {.mss = 1448,
                      .path_mtu = 1500,
                      .header_bytes = 52,
                      .timestamps = 1,
                      .rtt_ns = 40e6,
                      .min_rtt_ns = 40e6,
                      .window = 65'160,
                      .sending_ns = 2000e6,
                      .writes = 2000,
                      .bytes = 2000,
                      .receiving_ns = std::nullopt,
                      .timed_bytes = std::nullopt,
                      .sndbuf = std::nullopt,
                      .replayed = std::nullopt,
                      .window_reopened = std::nullopt,
                      .silly_wait_ns = std::nullopt,
                      .persist_wait_ns = std::nullopt};
  return facts;
}

const CaseTheory::Prediction* Find(const CaseTheory& theory,
                                   const std::string& rule) {
  for (const auto& prediction : theory.predictions) {
    if (prediction.rule == rule) return &prediction;
  }
  return nullptr;
}

// 2000 single bytes over 2 s at a round trip of 40 ms: 2 to 2000 segments,
// Minshall 51, classic 1 byte a ms x 40 ms = 40 bytes a segment; window 65,160
// a round trip = 1.629 MB/s.
TEST(CaseTheoryTest, SmallWritesWithNagleHaveBoundsAndPredictions) {
  Workload workload;
  workload.write = Bytes{1};
  const auto theory = TheoryOf(FactsOf(workload));
  ASSERT_TRUE(theory.value.has_value()) << theory.reason;
  EXPECT_EQ(theory.value->best_segments, 2);
  EXPECT_EQ(theory.value->worst_segments, 2000);
  EXPECT_DOUBLE_EQ(theory.value->worst_efficiency, 1.0 / 91);
  EXPECT_DOUBLE_EQ(*theory.value->worst_throughput, 12.5e6 / 91);
  EXPECT_DOUBLE_EQ(Find(*theory.value, "Nagle, Minshall's variant")->value, 51);
  // The first write leaves alone, then 40 bytes each round trip: 1 + 50.
  EXPECT_DOUBLE_EQ(Find(*theory.value, "Nagle, classic")->value, 2000.0 / 51);
  const auto* window = Find(*theory.value, "window limit");
  EXPECT_DOUBLE_EQ(window->value, 1'629'000);
  EXPECT_EQ(window->kind, PredictionKind::kAtMost);
  for (const auto& prediction : theory.value->predictions) {
    EXPECT_FALSE(prediction.assumptions.empty()) << prediction.rule;
    EXPECT_FALSE(prediction.source.empty()) << prediction.rule;
    EXPECT_FALSE(prediction.limits.empty()) << prediction.rule;
  }
}

TEST(CaseTheoryTest, MinshallsRuleIsNotForWindows) {
  Workload workload;
  workload.write = Bytes{1};
  CellFacts facts = FactsOf(workload);
  facts.sender_os = "windows";
  const CaseTheory theory = *TheoryOf(facts).value;
  EXPECT_EQ(Find(theory, "Nagle, Minshall's variant"), nullptr);
  EXPECT_NE(Find(theory, "Nagle, classic"), nullptr);
}

// A round trip of 60 us is the scheduler's, not the network's.
TEST(CaseTheoryTest, MinshallsRuleIsNotForRoundTripsWithinAMachine) {
  Workload workload;
  workload.write = Bytes{1};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.rtt_ns = 60e3;
  EXPECT_EQ(Find(*TheoryOf(facts).value, "Nagle, Minshall's variant"), nullptr);
  facts.negotiated.sending_ns = 50e3;  // All within the round trip.
  EXPECT_EQ(Find(*TheoryOf(facts).value, "Nagle, Minshall's variant")->value,
            3);
}

// SO_RCVBUF 2 reads back 2304, announces 1152, and segments are 576: 131,072
// bytes in 228. Linux counts that into the MSS it tells; a full segment is
// still what the MTU takes: ceil(131,072 / 1448) = 91.
TEST(CaseTheoryTest, ATinyReceiveBufferHalvesSegmentsButNotTheBestCase) {
  Workload workload;
  workload.write = Bytes{65'536};
  workload.rcvbuf = Bytes{2};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.mss = 576;
  facts.negotiated.window = 1152;
  facts.negotiated.bytes = 131'072;
  facts.negotiated.writes = 2;
  const CaseTheory theory = *TheoryOf(facts).value;
  EXPECT_EQ(theory.mss, 1448);
  EXPECT_EQ(theory.best_segments, 91);
  EXPECT_EQ(Find(theory, "Linux half-window segments")->value, 228);
}

TEST(CaseTheoryTest, WriteWriteReadPredictsAStallInEveryRoundButTheFirst) {
  Workload workload;
  workload.pattern = Pattern::kRequestResponse;
  workload.request = {Bytes{1}, Bytes{1}};
  workload.reply = {Bytes{1}};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.writes = 400;
  facts.negotiated.bytes = 400;
  const CaseTheory theory = *TheoryOf(facts).value;
  EXPECT_EQ(Find(theory, "write-write-read stall")->value, 199);
  // 200 rounds of two bytes: together, or apart.
  EXPECT_EQ(theory.best_segments, 200);
  EXPECT_EQ(theory.worst_segments, 400);
}

// 40 ms and two ticks of 4 ms: in the middle 44 ms.
TEST(CaseTheoryTest, ADelayedAckIsPredictedByTheReceiversClock) {
  Workload workload;
  workload.pattern = Pattern::kRequestResponse;
  workload.request = {Bytes{1}, Bytes{1}};
  workload.reply = {Bytes{1}};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.writes = 400;
  EXPECT_EQ(Find(*TheoryOf(facts).value, "delayed ACK"), nullptr);
  facts.receiver_tick = std::chrono::milliseconds(4);
  const CaseTheory theory = *TheoryOf(facts).value;
  EXPECT_DOUBLE_EQ(Find(theory, "delayed ACK")->value, 44e6);
  facts.receiver_os = "windows";
  const CaseTheory windows = *TheoryOf(facts).value;
  EXPECT_EQ(Find(windows, "delayed ACK")->kind, PredictionKind::kAtLeast);
  EXPECT_EQ(Find(windows, "write-write-read stall"), nullptr);
}

// 2000 writes in 4 ms are 500,000 a second, and the line has 137,000 frames of
// 91 bytes. In 8 ms it carries 100,000 bytes; less 2000 of payload and with a
// burst of 8000 that is 106,000 / 90 frames.
TEST(CaseTheoryTest, AWriterThatOutrunsTheLineHasTheLinesFrames) {
  Workload workload;
  workload.write = Bytes{1};
  workload.nagle = false;
  CellFacts facts = FactsOf(workload);
  facts.burst = Bytes{8000};
  facts.negotiated.sending_ns = 4e6;
  facts.negotiated.receiving_ns = 8e6;
  facts.negotiated.timed_bytes = 2000;
  const CaseTheory fast = *TheoryOf(facts).value;
  ASSERT_NE(Find(fast, "line's queue"), nullptr);
  EXPECT_NEAR(Find(fast, "line's queue")->value, 106'000.0 / 90, 1e-6);
  EXPECT_NEAR(Find(fast, "line's queue")->tolerance.absolute, 1000.0 / 90,
              1e-6);
  // 300 bytes were there when the clock began, in as many frames at most.
  facts.negotiated.timed_bytes = 1700;
  EXPECT_NEAR(Find(*TheoryOf(facts).value, "line's queue")->value,
              300 + 106'300.0 / 90, 1e-6);
  facts.negotiated.sending_ns = 40e6;
  EXPECT_EQ(Find(*TheoryOf(facts).value, "line's queue"), nullptr);
}

// Minshall's 51 segments at 40 ms are all 2000 writes at 20 us.
TEST(CaseTheoryTest, AValueForTheShortestRoundTripStandsBeside) {
  Workload workload;
  workload.write = Bytes{1};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.min_rtt_ns = 20e3;
  const CaseTheory theory = *TheoryOf(facts).value;
  EXPECT_DOUBLE_EQ(*Find(theory, "Nagle, Minshall's variant")->at_shortest_rtt,
                   2000);
  EXPECT_DOUBLE_EQ(*Find(theory, "Nagle, classic")->at_shortest_rtt, 1);
}

TEST(CaseTheoryTest, ACaptureAddsTheRuleReplayedOverIt) {
  Workload workload;
  workload.write = Bytes{1};
  CellFacts facts = FactsOf(workload);
  EXPECT_EQ(Find(*TheoryOf(facts).value, "Nagle, replayed over the capture"),
            nullptr);
  facts.negotiated.replayed = 49;
  EXPECT_DOUBLE_EQ(
      Find(*TheoryOf(facts).value, "Nagle, replayed over the capture")->value,
      49);
}

// A read-back of 4608 takes 6 writes of a byte: 6 bytes each 40 ms.
TEST(CaseTheoryTest, ATinySendBufferLimitsWritesARoundTrip) {
  Workload workload;
  workload.write = Bytes{1};
  workload.nagle = false;
  workload.sndbuf = Bytes{1};
  CellFacts facts = FactsOf(workload);
  facts.negotiated.sndbuf = 4608;
  EXPECT_DOUBLE_EQ(Find(*TheoryOf(facts).value, "Linux send buffer")->value,
                   150);
  facts.negotiated.rtt_ns = 60e3;
  EXPECT_EQ(Find(*TheoryOf(facts).value, "Linux send buffer"), nullptr);
}

// A window of 1152 halves segments: 1024 bytes are two of them, not one.
TEST(CaseTheoryTest, ASmallWindowSplitsWritesBelowTheMss) {
  Workload workload;
  workload.write = Bytes{1024};
  workload.nagle = false;
  CellFacts facts = FactsOf(workload);
  facts.negotiated.window = 1152;
  EXPECT_DOUBLE_EQ(Find(*TheoryOf(facts).value, "a segment a write")->value,
                   4000);
}

TEST(CaseTheoryTest, WithoutWhatWasNegotiatedThereIsNoneAndAReason) {
  Workload workload;
  CellFacts facts = FactsOf(workload);
  facts.negotiated.mss.reset();
  EXPECT_THAT(TheoryOf(facts).reason, HasSubstr("full segment"));
  facts = FactsOf(workload);
  facts.negotiated.header_bytes.reset();
  EXPECT_THAT(TheoryOf(facts).reason, HasSubstr("headers"));
  facts.workload = nullptr;
  EXPECT_FALSE(TheoryOf(facts).value.has_value());
}

// 1000 sent, 5 lost, 10 more came twice: 1005 received, of which 995 are no
// duplicates; 199 of those were overtaken.
Sample UdpStream() {
  Sample sample = Stream();
  sample.sender->counters = {};
  sample.receiver->bytes = 100'500;
  sample.receiver->first_read_bytes = 100;
  sample.receiver->elapsed_ns = 10'000'000;
  DatagramReport& report = sample.receiver->datagrams.emplace();
  report.jitter_mean_ns = 1500.5;
  report.delay = DelaySummary{1005, 1, 20'000, 3, 40'000, 5, 6, 7.0};
  Datagrams& datagrams = sample.datagrams.emplace();
  datagrams.sent = 1000;
  datagrams.received = 1005;
  datagrams.lost = 5;
  datagrams.duplicated = 10;
  datagrams.reordered = 199;
  sample.wire->l1_bytes = 166'000;
  return sample;
}

TEST(MetricsTest, SharesOfDatagramsCountADuplicateOnce) {
  const Sample sample = UdpStream();
  EXPECT_DOUBLE_EQ(*Of(Metric::kReceivedShare, sample), 0.995);
  EXPECT_DOUBLE_EQ(*Of(Metric::kLoss, sample), 0.005);
  EXPECT_DOUBLE_EQ(*Of(Metric::kDuplicated, sample), 10.0 / 1005);
  EXPECT_DOUBLE_EQ(*Of(Metric::kReordered, sample), 0.2);
  // 99,500 of the 100,500 bytes were new, on 166,000 of line.
  EXPECT_DOUBLE_EQ(*Of(Metric::kEfficiency, sample), 99'500.0 / 166'000);
}

// The first call's datagram started the clock: 1004 in 10 ms.
TEST(MetricsTest, ADatagramRateLeavesOutTheCallThatStartedTheClock) {
  EXPECT_DOUBLE_EQ(*Of(Metric::kDatagramRate, UdpStream()), 100'400);
}

TEST(MetricsTest, DelayAndJitterAreTheReceivers) {
  EXPECT_EQ(Of(Metric::kDelayP50, UdpStream()), 20'000);
  EXPECT_EQ(Of(Metric::kDelayP99, UdpStream()), 40'000);
  EXPECT_EQ(Of(Metric::kJitter, UdpStream()), 1500.5);
}

TEST(MetricsTest, WhatDatagramsDoNotTellHasTheReceiversReason) {
  Sample sample = UdpStream();
  sample.datagrams->duplicated.reset();
  sample.receiver->datagrams->delay.reset();
  sample.receiver->why_null["datagrams.duplicated"] = "too small";
  sample.receiver->why_null["datagrams.delay"] = "two clocks";
  EXPECT_EQ(Of(Metric::kDuplicated, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kDuplicated, sample, kStream), "too small");
  EXPECT_EQ(Of(Metric::kDelayP99, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kDelayP99, sample, kStream), "two clocks");
}

TEST(MetricsTest, WhereAllIsLostTheLossIsKnownAndTheRestSaysWhy) {
  Sample sample = UdpStream();
  sample.datagrams.emplace();
  sample.datagrams->sent = sample.datagrams->lost = 1000;
  *sample.receiver = EndReport{};
  sample.receiver->why_null["elapsed_ns"] = "nothing came";
  EXPECT_EQ(Of(Metric::kLoss, sample), 1);
  EXPECT_EQ(Of(Metric::kReceivedShare, sample), 0);
  for (const Metric metric :
       {Metric::kDuplicated, Metric::kReordered, Metric::kDelayP50,
        Metric::kJitter, Metric::kDatagramRate, Metric::kThroughput}) {
    EXPECT_EQ(Of(metric, sample), std::nullopt) << MetricName(metric);
    EXPECT_THAT(WhyMissing(metric, sample, kStream),
                testing::AnyOf("no datagram came", "nothing came"));
  }
}

TEST(MetricsTest, NothingSentHasNoShares) {
  Sample sample = UdpStream();
  sample.datagrams = Datagrams{};
  EXPECT_EQ(Of(Metric::kLoss, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kLoss, sample, kStream), "no datagram was sent");
}

// Of a trial that went well it is 1, exactly; claims ask for that.
TEST(MetricsTest, OverTcpTheShareReceivedIsOfBytes) {
  Sample sample = Stream();
  sample.sender->bytes = 1000;
  sample.receiver->bytes = 1000;
  EXPECT_EQ(Of(Metric::kReceivedShare, sample), 1);
  sample.receiver->bytes = 900;
  EXPECT_DOUBLE_EQ(*Of(Metric::kReceivedShare, sample), 0.9);
  EXPECT_EQ(
      FiguresOf(sample, {std::nullopt, true})[Index(Metric::kReceivedShare)],
      std::nullopt);
}

TEST(MetricsTest, TcpHasNoDatagrams) {
  EXPECT_EQ(Of(Metric::kLoss, Stream()), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kJitter, Stream(), kStream),
            "TCP has no datagrams");
}

// --- Round trips and windows

Sample Windowed() {
  Sample sample = Stream();
  EndReport& sender = *sample.sender;
  sender.counters.peer_window_peak_bytes = 131'072;
  sender.rtt_handshake_ns = 10'500'000;
  sender.rtt_min_ns = 10'000'000;
  sender.rtt_median_ns = 17'000'000;
  sender.rtt_p99_ns = 20'000'000;
  return sample;
}

TEST(MetricsTest, RoundTripsAreTheSendersAndTheirRiseIsOverTheLeast) {
  EXPECT_EQ(Of(Metric::kRttHandshake, Windowed()), 10'500'000);
  EXPECT_EQ(Of(Metric::kRttMin, Windowed()), 10'000'000);
  EXPECT_EQ(Of(Metric::kRttP50, Windowed()), 17'000'000);
  EXPECT_EQ(Of(Metric::kRttP99, Windowed()), 20'000'000);
  EXPECT_EQ(Of(Metric::kRttRise, Windowed()), 7'000'000);
}

// What was left to the system changes after it has been read.
TEST(MetricsTest, ASendBufferIsTheOneThatWasAskedForAndReadBack) {
  Sample sample = Stream();
  OptionReading& reading = sample.sender->options["sndbuf"];
  reading.requested = std::int64_t{4096};
  reading.effective = std::int64_t{8192};
  EXPECT_EQ(Of(Metric::kSendBuffer, sample), 8192);
  reading.requested = std::monostate{};
  EXPECT_EQ(Of(Metric::kSendBuffer, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kSendBuffer, sample, kStream),
              HasSubstr("left to the system"));
}

// 90 of 120 ms busy were the window's, 6 the send buffer's.
TEST(MetricsTest, WaitsAreSharesOfTheTimeThatTheKernelHadDataToSend) {
  Sample sample = Stream();
  sample.sender->counters.busy_ns = 120'000'000;
  sample.sender->counters.window_limited_ns = 90'000'000;
  sample.sender->counters.sndbuf_limited_ns = 6'000'000;
  EXPECT_DOUBLE_EQ(*Of(Metric::kWindowWaitShare, sample), 0.75);
  EXPECT_DOUBLE_EQ(*Of(Metric::kSendBufferWaitShare, sample), 0.05);
  sample.sender->counters = {};
  sample.sender->counters.reason = "no TCP_INFO";
  EXPECT_FALSE(Of(Metric::kWindowWaitShare, sample).has_value());
  EXPECT_EQ(WhyMissing(Metric::kWindowWaitShare, sample, kStream),
            "no TCP_INFO");
}

// A window of 131,072 bytes each 10 ms is 13.1072 MB/s, and 90,000 bytes in
// 9 ms are 10 MB/s: 0.7629. One of 262,144 bytes each 17 ms is 15.4 MB/s; the
// line carries 12.5 MB/s x 100,000 / 109,000 = 11.468 MB/s, less: 0.872.
TEST(MetricsTest, SharesOfTheBoundsAreOfSteadyState) {
  Sample sample = Windowed();
  EXPECT_DOUBLE_EQ(*Of(Metric::kWindowShare, sample), 10.0 / 13.1072);
  sample.sender->counters.peer_window_peak_bytes = 262'144;
  EXPECT_NEAR(*Of(Metric::kBoundShare, sample), 0.872, 1e-12);
}

// 65,536 bytes each 17 ms, as under load, are less than the line carries.
TEST(MetricsTest, TheLesserBoundIsTheOneThatHolds) {
  Sample sample = Windowed();
  sample.sender->counters.peer_window_peak_bytes = 65'536;
  EXPECT_DOUBLE_EQ(*Of(Metric::kBoundShare, sample), 10e6 * 0.017 / 65'536);
}

TEST(MetricsTest, WhatRoundTripsAndBoundsLackIsSaid) {
  Sample sample = Windowed();
  sample.sender->rtt_median_ns.reset();
  EXPECT_EQ(Of(Metric::kRttRise, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kRttRise, sample, kStream),
              HasSubstr("--series"));
  EXPECT_THAT(WhyMissing(Metric::kBoundShare, Windowed(), {}),
              HasSubstr("no known rate"));
  EXPECT_EQ(Of(Metric::kBoundShare, sample), std::nullopt);
  EXPECT_THAT(WhyMissing(Metric::kBoundShare, sample, kStream),
              HasSubstr("--series"));
  sample.sender->rtt_min_ns.reset();
  sample.sender->counters.reason = "the kernel is too old";
  EXPECT_EQ(Of(Metric::kWindowShare, sample), std::nullopt);
  EXPECT_EQ(WhyMissing(Metric::kWindowShare, sample, kStream),
            "the kernel is too old");
  sample = Windowed();
  sample.receiver->steady_bytes.reset();
  sample.receiver->why_null["steady_elapsed_ns"] = "too short";
  EXPECT_EQ(WhyMissing(Metric::kBoundShare, sample, kStream), "too short");
}

}  // namespace
}  // namespace wiretoll
