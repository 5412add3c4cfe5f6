// What Linux's TCP does exactly, found again by the agents in a lab. Each
// test is one statement; the expected number is derived in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/analysis/wire.h"
#include "tests/e2e/capture.h"
#include "tests/e2e/lab_pair.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMss = 1448;  // 1500 - 20 - 20 - 12 with timestamps.

#define REQUIRE_LAB()                                                \
  do {                                                               \
    const std::string why = WhyNoLab();                              \
    if (!why.empty()) GTEST_SKIP() << why;                           \
    if (!HaveTcpdump())                                              \
      GTEST_SKIP() << "tcpdump is missing: apt-get install tcpdump"; \
  } while (false)

std::int64_t DivideUp(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Workload Messages(std::int64_t size, std::int64_t count, bool nagle) {
  Workload work;
  work.write = Bytes{size};
  work.nagle = nagle;
  work.stop_messages = count;
  return work;
}

std::int64_t SentSegments(const TrialResult& result) {
  return result.sender ? result.sender->counters.data_segments_out.value_or(-1)
                       : -1;
}

std::int64_t ReceivedSegments(const TrialResult& result) {
  return result.receiver
             ? result.receiver->counters.data_segments_in.value_or(-1)
             : -1;
}

// Nothing merges writes but what a test asks for.
LabSpec NothingMerges() {
  LabSpec spec;
  spec.sysctls["net.ipv4.tcp_autocorking"] = "0";
  spec.initcwnd = 3000;
  return spec;
}

LabSpec Delayed(Nanoseconds each_way) {
  LabSpec spec;
  spec.link.delay = each_way;
  return spec;
}

// Holds if `observe` finds `expected` twice in up to 20 attempts: a busy
// machine holds up one side or the other now and then, and then a rule of the
// kernel does not apply. Null: this attempt was seen to be held up.
template <typename Value, typename Observe>
void ExpectTwice(const Value& expected, Observe observe) {
  std::map<Value, int> seen;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::optional<Value> value = observe();
    if (value && ++seen[*value] == 2 && *value == expected) return;
  }
  EXPECT_THAT(seen, testing::Contains(testing::Pair(expected, testing::Ge(2))));
}

// Segments with payload from linux-1.
std::vector<SeenSegment> Data(const std::vector<SeenSegment>& seen,
                              const LabPair& lab) {
  std::vector<SeenSegment> data;
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(data),
               [&](const SeenSegment& segment) {
                 return segment.source == lab.host(0).address &&
                        segment.payload > 0;
               });
  return data;
}

// --- Counters and captures --------------------------------------------------

void CountersAgree(bool nagle) {
  LabPair lab{LabSpec{}};
  ASSERT_TRUE(lab.up());
  Capture capture(lab.host(1).netns, "lab0");
  const TrialResult result = lab.Trial(Messages(1, 2000, nagle));
  const auto captured =
      static_cast<std::int64_t>(Data(capture.Stop(), lab).size());
  const Wire wire = AccountWire(*result.sender, *result.receiver, 4);
  EXPECT_EQ(wire.data_segments, captured);
  EXPECT_EQ(wire.agreement, "equal");
  EXPECT_EQ(SentSegments(result), captured);
  EXPECT_EQ(ReceivedSegments(result), captured);
  EXPECT_EQ(result.receiver->bytes, 2000);
}

TEST(ExactTest, OneByteWritesWithNagleAreCountedAsTcpdumpCountsThem) {
  REQUIRE_LAB();
  CountersAgree(true);
}

TEST(ExactTest, OneByteWritesWithoutNagleAreCountedAsTcpdumpCountsThem) {
  REQUIRE_LAB();
  CountersAgree(false);
}

// A trial in which nothing was sent twice: a busy machine may answer so late
// that the kernel tries again, and merges what it sends again.
TrialResult WithoutRetransmission(LabPair& lab, const Workload& work) {
  TrialResult result;
  for (int attempt = 0; attempt < 20; ++attempt) {
    result = lab.Trial(work);
    if (result.sender && result.sender->counters.retransmitted_segments == 0)
      return result;
  }
  ADD_FAILURE() << "something was sent again every time";
  return result;
}

TEST(ExactTest, NodelayWritesAMillisecondApartAreASegmentEach) {
  REQUIRE_LAB();
  LabPair lab(NothingMerges());
  Workload work = Messages(1, 300, false);
  work.gap = 1ms;
  const TrialResult result = WithoutRetransmission(lab, work);
  EXPECT_EQ(SentSegments(result), 300);
  EXPECT_EQ(ReceivedSegments(result), 300);
}

// A pause of 1 ms asked is never shorter than 1 ms.
TEST(ExactTest, GapsAreNeverShorterThanAsked) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  Workload work = Messages(1, 100, false);
  work.gap = 1ms;
  const TrialResult result = lab.Trial(work);
  EXPECT_GE(result.sender->gap_median_ns.value_or(0), 1000000);
}

// With room in the congestion window and no autocorking, one write is one
// segment, however fast they come.
TEST(ExactTest, NodelayWithRoomInTheCongestionWindowIsASegmentAWrite) {
  REQUIRE_LAB();
  LabPair lab(NothingMerges());
  for (const std::int64_t size : {1, 32}) {
    const TrialResult result =
        WithoutRetransmission(lab, Messages(size, 2000, false));
    EXPECT_EQ(SentSegments(result), 2000) << size << " B";
    EXPECT_EQ(ReceivedSegments(result), 2000) << size << " B";
  }
}

// --- Delay ------------------------------------------------------------------

// A trial whose writes all came within `limit`: on a busy machine the writer
// may be held up, and then the rule does not apply. Tries a few times.
TrialResult WrittenWithin(LabPair& lab, const Workload& work,
                          Nanoseconds limit) {
  TrialResult result;
  for (int attempt = 0; attempt < 20; ++attempt) {
    result = lab.Trial(work);
    if (result.sender && result.sender->elapsed_ns.value_or(0) < limit.count())
      return result;
  }
  ADD_FAILURE() << "the writer never got through within "
                << FormatDuration(limit);
  return result;
}

// Round trip 40 ms, all written within it: one byte leaves at once, the other
// 1999 wait for its ACK and leave in ceil(1999/1448) = 2 segments.
TEST(ExactTest, NagleWithinOneRoundTripIsOneSegmentAndTheRestFull) {
  REQUIRE_LAB();
  LabPair lab(Delayed(20ms));
  const TrialResult result = WrittenWithin(lab, Messages(1, 2000, true), 40ms);
  EXPECT_EQ(SentSegments(result), 1 + DivideUp(1999, kMss));
}

// Initial window 10: ten writes leave as they come, the rest wait for the
// first ACK and are merged: 10 + ceil(1990/1448) = 12 of 1 byte,
// 10 + ceil(1990 x 32/1448) = 54 of 32 bytes.
TEST(ExactTest, NodelayBeyondTheInitialWindowIsMerged) {
  REQUIRE_LAB();
  LabPair lab(Delayed(20ms));
  for (const std::int64_t size : {1, 32}) {
    Workload work = Messages(size, 2000, false);
    // 64,000 bytes are more than an unset send buffer takes before the ACK.
    work.sndbuf = Bytes{200000};
    const TrialResult result = WrittenWithin(lab, work, 40ms);
    EXPECT_EQ(SentSegments(result), 10 + DivideUp(1990 * size, kMss))
        << size << " B";
  }
}

// What left before the first ACK, which comes after 40 ms.
struct Flight {
  std::int64_t sndbuf;  // Effective.
  std::int64_t segments;
  auto operator<=>(const Flight&) const = default;
};

void PrintTo(const Flight& flight, std::ostream* out) {
  *out << flight.segments << " segments, sndbuf " << flight.sndbuf;
}

std::optional<Flight> FirstFlight(LabPair& lab, std::int64_t sndbuf) {
  Workload work = Messages(1, 60, false);
  work.sndbuf = Bytes{sndbuf};
  Capture capture(lab.host(0).netns, "lab0");
  const TrialResult result = lab.Trial(work);
  const auto data = Data(capture.Stop(), lab);
  if (data.empty()) return std::nullopt;
  const auto early = [&](const SeenSegment& one) {
    return one.time < data.front().time + 0.030;
  };
  return Flight{
      std::get<std::int64_t>(result.sender->options.at("sndbuf").effective),
      std::count_if(data.begin(), data.end(), early)};
}

// SO_SNDBUF v reads back max(4608, 2v), a queued one-byte write costs 1 + 832
// bytes of it, and one more is taken while less is queued:
// ceil(4608/833) = 6, ceil(8192/833) = 10 before the first ACK.
TEST(ExactTest, SendBufferHolds832BytesMoreForEachWrite) {
  REQUIRE_LAB();
  LabSpec spec = NothingMerges();
  spec.link.delay = 20ms;
  LabPair lab(spec);
  for (const auto& [asked, effective] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 4608},
                                                          {4096, 8192}}) {
    ExpectTwice(Flight{effective, DivideUp(effective, 833)},
                [&, size = asked] { return FirstFlight(lab, size); });
  }
}

// --- Receive buffers --------------------------------------------------------

struct BufferFacts {
  std::int64_t asked;
  std::int64_t effective;  // max(2304, 2 x asked)
  int syn_window;          // Half of it, whole segments if it holds one.
  std::int64_t segment;    // min(1448, half the largest window)
  std::int64_t segments;
  auto operator<=>(const BufferFacts&) const = default;
};

void PrintTo(const BufferFacts& facts, std::ostream* out) {
  *out << "rcvbuf " << facts.asked << ": " << facts.effective << ", SYN window "
       << facts.syn_window << ", " << facts.segments << " segments of "
       << facts.segment;
}

constexpr std::int64_t kBufferTotal = 131072;

// 1152/2 = 576, 1448/2 = 724, 2896/2 = 1448, 7240/2 > 1448.
BufferFacts Derived(std::int64_t asked, std::int64_t effective, int syn_window,
                    std::int64_t segment) {
  return {asked, effective, syn_window, segment,
          DivideUp(kBufferTotal, segment)};
}

std::optional<BufferFacts> SeenWithBuffer(LabPair& lab, std::int64_t rcvbuf) {
  Workload work;
  work.write = Bytes{65536};
  work.rcvbuf = Bytes{rcvbuf};
  work.stop_bytes = Bytes{kBufferTotal};
  Capture capture(lab.host(1).netns, "lab0");
  const TrialResult result = lab.Trial(work);
  const auto seen = capture.Stop();
  const auto answer =
      std::find_if(seen.begin(), seen.end(),
                   [](const SeenSegment& one) { return one.syn && one.ack; });
  const auto data = Data(seen, lab);
  const auto largest =
      std::max_element(data.begin(), data.end(),
                       [](auto& a, auto& b) { return a.payload < b.payload; });
  if (answer == seen.end() || largest == data.end()) return std::nullopt;
  EXPECT_EQ(answer->mss_option, 1460) << rcvbuf;
  return BufferFacts{
      rcvbuf,
      std::get<std::int64_t>(result.receiver->options.at("rcvbuf").effective),
      answer->window, largest->payload, SentSegments(result)};
}

TEST(ExactTest, ReceiveBufferDecidesWindowSegmentAndCount) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  for (const BufferFacts& expected :
       {Derived(2, 2304, 1152, 576), Derived(2304, 4608, 1448, 724),
        Derived(4096, 8192, 2896, 1448), Derived(8192, 16384, 7240, 1448)}) {
    ExpectTwice(expected, [&] { return SeenWithBuffer(lab, expected.asked); });
  }
}

TEST(ExactTest, PeakWindowOfATinyBufferIsRecorded) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  Workload work = Messages(32, 2000, true);
  work.rcvbuf = Bytes{2};
  const TrialResult result = lab.Trial(work);
  EXPECT_EQ(
      std::get<std::int64_t>(result.receiver->options.at("rcvbuf").effective),
      2304);
  const auto& counters = result.sender->counters;
  EXPECT_EQ(counters.peer_window_initial_bytes, 1152);
  ASSERT_TRUE(counters.peer_window_peak_bytes.has_value());
  EXPECT_GE(*counters.peer_window_peak_bytes, 1);
  EXPECT_LE(*counters.peer_window_peak_bytes, 1152);
}

// --- Request and response ---------------------------------------------------

std::int64_t DelayedAcks(const std::string& netns) {
  // Two lines of names and values; read inside the namespace.
  const std::string file = "/tmp/wt-netstat-" + netns;
  const std::string command =
      "ip netns exec " + netns + " cat /proc/net/netstat > " + file;
  if (std::system(command.c_str()) != 0) return -1;
  std::ifstream in(file);
  std::string names;
  std::string values;
  std::getline(in, names);
  std::getline(in, values);
  std::remove(file.c_str());
  std::istringstream name_words(names);
  std::istringstream value_words(values);
  std::string name;
  std::string value;
  while (name_words >> name && value_words >> value) {
    if (name == "DelayedACKs") return std::stoll(value);
  }
  return -1;
}

Workload WriteWriteRead(std::int64_t rounds, bool nagle) {
  Workload work;
  work.pattern = Pattern::kRequestResponse;
  work.request = {Bytes{1}, Bytes{1}};
  work.reply = {Bytes{1}};
  work.nagle = nagle;
  work.stop_messages = rounds;
  return work;
}

// Rounds that took over 30 ms, and ACKs that the server delayed meanwhile.
struct Stalls {
  std::int64_t rounds;
  std::int64_t over_30ms;
  std::int64_t delayed_acks;
  auto operator<=>(const Stalls&) const = default;
};

void PrintTo(const Stalls& stalls, std::ostream* out) {
  *out << stalls.over_30ms << " of " << stalls.rounds << " over 30 ms, "
       << stalls.delayed_acks << " delayed ACKs";
}

std::optional<Stalls> StallsOf(LabPair& lab, std::int64_t rounds, bool nagle) {
  const std::int64_t before = DelayedAcks(lab.host(1).netns);
  const TrialResult result = lab.Trial(WriteWriteRead(rounds, nagle));
  const std::int64_t delayed = DelayedAcks(lab.host(1).netns) - before;
  if (!result.sender || !result.sender->latency) return std::nullopt;
  const auto& latency = *result.sender->latency;
  return Stalls{latency.count, latency.over_30ms, delayed};
}

// The first reply ends quick ACKs at the server: from the second round on the
// second write waits for the delayed ACK of the first.
TEST(ExactTest, WriteWriteReadStallsInEveryRoundButTheFirst) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  constexpr std::int64_t kRounds = 25;
  ExpectTwice(Stalls{kRounds, kRounds - 1, kRounds - 1},
              [&] { return StallsOf(lab, kRounds, true); });
}

TEST(ExactTest, WriteWriteReadWithoutNagleDoesNotStall) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  ExpectTwice(std::int64_t{0}, [&]() -> std::optional<std::int64_t> {
    const auto stalls = StallsOf(lab, 50, false);
    return stalls ? std::optional(stalls->over_30ms) : std::nullopt;
  });
}

TEST(ExactTest, ARoundOfOneByteIsOneSegmentEachWay) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  Workload work = WriteWriteRead(1000, false);
  work.request = {Bytes{1}};
  const TrialResult result = WithoutRetransmission(lab, work);
  EXPECT_EQ(SentSegments(result), 1000);
  EXPECT_EQ(result.receiver->counters.data_segments_out, 1000);
}

// --- Acknowledgements -------------------------------------------------------

// How many ACKs of a reader that does not read came at once: each covers one
// byte more than the one before, while one that waited covers what was written
// in 40 ms. Empty if the writer was held up meanwhile, which would make the
// kernel acknowledge at once again.
std::optional<int> AcksAtOnce(const std::vector<SeenSegment>& seen,
                              const LabPair& lab) {
  const auto data = Data(seen, lab);
  for (std::size_t i = 1; i < data.size(); ++i) {
    if (data[i].time - data[i - 1].time > 0.010) return std::nullopt;
  }
  int at_once = 0;
  std::optional<std::uint32_t> before;
  for (const SeenSegment& one : seen) {
    const bool pure_ack = one.source == lab.host(1).address && !one.syn &&
                          !one.fin && one.payload == 0;
    if (!pure_ack) continue;
    if (before && one.acknowledged - *before > 10) break;
    ++at_once;
    before = one.acknowledged;
  }
  return at_once;
}

std::vector<SeenSegment> WriteToOneWhoDoesNotRead(const LabPair& lab) {
  Capture capture(lab.host(1).netns, "lab0");
  const auto inside = [&](std::size_t host, const std::string& words) {
    return "ip netns exec " + lab.host(host).netns + " " + SLEEPY_READER + " " +
           words;
  };
  const std::string peer = lab.host(1).address + " 7500 ";
  EXPECT_EQ(std::system((inside(1, peer + "600") + " &").c_str()), 0);
  EXPECT_EQ(std::system(inside(0, "write " + peer + "200").c_str()), 0);
  return capture.Stop();
}

// A fresh connection acknowledges its first 16 segments at once, whether or
// not anybody reads; from then on an unread segment waits 40 ms.
TEST(ExactTest, TheFirst16SegmentsAreAcknowledgedAtOnce) {
  REQUIRE_LAB();
  LabPair lab(NothingMerges());
  ExpectTwice(16,
              [&] { return AcksAtOnce(WriteToOneWhoDoesNotRead(lab), lab); });
}

// --- The line ---------------------------------------------------------------

// 10 Mbit/s, full segments: 1448 of 1538 bytes are payload, so
// 10e6/8 x 1448/1538 = 1.17685 MB/s, to within 0.5 % in steady state.
// A machine that is held up leaves the line idle and never makes it faster:
// the best of a few trials is what the line gives, and none is beyond it.
TEST(ExactTest, SteadyStateOfABulkStreamIsTheLinesShare) {
  REQUIRE_LAB();
  LabSpec spec;
  spec.link.rate = BitsPerSecond{10e6};
  LabPair lab(spec);
  Workload work;
  work.write = Bytes{65536};
  work.stop_bytes = Bytes{2'097'152};
  const double theory = 10e6 / 8 * 1448 / 1538;
  double best = 0;
  for (int attempt = 0; attempt < 10 && best < 0.995; ++attempt) {
    const TrialResult result = lab.Trial(work);
    ASSERT_TRUE(result.receiver->steady_bytes.has_value());
    const double measured =
        static_cast<double>(*result.receiver->steady_bytes) /
        (static_cast<double>(*result.receiver->steady_elapsed_ns) / 1e9);
    best = std::max(best, measured / theory);
  }
  EXPECT_NEAR(best, 1.0, 0.005);
}

// Whatever the sizes, what was written is what was read.
TEST(ExactTest, EveryByteArrivesWhateverTheSizes) {
  REQUIRE_LAB();
  LabPair lab{LabSpec{}};
  for (const std::int64_t write : {1, 1447, 1449, 100000}) {
    for (const std::int64_t read : {7, 65536}) {
      Workload work;
      work.write = Bytes{write};
      work.read = Bytes{read};
      work.verify = true;
      work.stop_bytes = Bytes{150001};
      work.stop_messages = 30000;
      const TrialResult result = lab.Trial(work);
      const std::int64_t expected =
          std::min<std::int64_t>(150001, 30000 * write);
      EXPECT_EQ(result.sender->bytes, expected);
      EXPECT_EQ(result.receiver->bytes, expected);
      EXPECT_EQ(result.receiver->verified, true);
    }
  }
}

}  // namespace
}  // namespace wiretoll
