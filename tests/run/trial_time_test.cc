#include "harness/run/trial_time.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

RecordedLink Line(Nanoseconds delay) {
  RecordedLink link;
  link.rate_bits_per_second = 100e6;
  link.delay_ns = delay.count();
  return link;
}

Workload OneByteStream() {
  Workload workload;
  workload.write = Bytes{1};
  workload.stop_bytes = Bytes{1};
  return workload;
}

// To connect is a round trip, and so is the last byte with the close that
// answers it: 2 x 200 ms. One byte is far from filling the first window.
TEST(TrialTimeTest, TheFirstGuessHoldsTheRoundTripsOfAConnection) {
  const Nanoseconds near = ExpectedTime(OneByteStream(), Line(0ms));
  const Nanoseconds far = ExpectedTime(OneByteStream(), Line(100ms));
  EXPECT_GE(far - near, 400ms);
  EXPECT_LE(far - near, 401ms);
}

// Each round waits for its reply: 50 x 20 ms beside the connection's 40 ms.
TEST(TrialTimeTest, EachRequestCostsARoundTrip) {
  Workload workload;
  workload.pattern = Pattern::kRequestResponse;
  workload.request = {Bytes{1}};
  workload.reply = {Bytes{1}};
  workload.stop_messages = 50;
  const Nanoseconds near = ExpectedTime(workload, Line(0ms));
  const Nanoseconds far = ExpectedTime(workload, Line(10ms));
  EXPECT_NEAR(static_cast<double>((far - near).count()), 1.04e9, 1e6);
}

// 12.5 MB on 12.5 MB/s are a second; a stop after 100 ms cuts that to 100 ms.
TEST(TrialTimeTest, TheStopThatComesFirstCounts) {
  Workload workload;
  workload.write = Bytes{12'500};
  workload.stop_bytes = Bytes{12'500'000};
  const Nanoseconds whole = ExpectedTime(workload, Line(0ms));
  workload.stop_time = 100ms;
  const Nanoseconds cut = ExpectedTime(workload, Line(0ms));
  EXPECT_NEAR(static_cast<double>((whole - cut).count()), 0.9e9, 1e6);
}

TEST(TrialTimeTest, ATrialIsGivenUpAfterFifteenSecondsAtLeast) {
  EXPECT_EQ(DeadlineFor(OneByteStream(), Line(0ms)), 15s);
}

// 10 s each way: the two round trips that a trial has to have are 40 s.
TEST(TrialTimeTest, ALongLineIsWaitedFor) {
  EXPECT_GT(DeadlineFor(OneByteStream(), Line(10s)), 40s);
}

// The stop ends the writing after 1 s, but 16 MiB may be in the one write that
// was under way, and at 1 us a read they take 16.8 s.
TEST(TrialTimeTest, AOneByteReaderIsGivenTimeToReadWhatWasWritten) {
  Workload workload;
  workload.write = Bytes{std::int64_t{16} * 1024 * 1024};
  workload.stop_time = 1s;
  workload.read = Bytes{65536};
  EXPECT_LT(DeadlineFor(workload, Line(0ms)), 30s);
  workload.read = Bytes{1};
  EXPECT_GT(DeadlineFor(workload, Line(0ms)), 1s + 16'800ms);
}

// 10 blocks of 4 writes: the pause stands 10 times, whether the study counts
// blocks (by their bytes) or writes.
TEST(TrialTimeTest, APauseStandsBehindEachBlock) {
  Workload workload;
  workload.write = Bytes{100};
  workload.block = Bytes{400};
  workload.gap = 100ms;
  workload.stop_bytes = Bytes{4000};
  EXPECT_NEAR(static_cast<double>(ExpectedTime(workload, Line(0ms)).count()),
              1e9, 0.02e9);
  workload.stop_bytes.reset();
  workload.stop_messages = 40;
  EXPECT_NEAR(static_cast<double>(ExpectedTime(workload, Line(0ms)).count()),
              1e9, 0.02e9);
}

// Where some are lost, the receiver waits half a second for them.
TEST(TrialTimeTest, ALineThatLosesDatagramsTakesTheReceiversPatience) {
  Workload workload = OneByteStream();
  workload.transport = Transport::kUdp;
  RecordedLink lossy = Line(0ms);
  lossy.loss = 0.05;
  const Nanoseconds more =
      ExpectedTime(workload, lossy) - ExpectedTime(workload, Line(0ms));
  EXPECT_NEAR(static_cast<double>(more.count()), 0.5e9, 10);
}

}  // namespace
}  // namespace wiretoll
