// A Linux end sees for an end that cannot: pairs of which one is Wine, whose
// own counters are not to be had, counted by Linux and held against tcpdump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/analysis/wire.h"
#include "tests/e2e/capture.h"
#include "tests/e2e/lab_pair.h"

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

#define REQUIRE_WINE()                                               \
  do {                                                               \
    const std::string why = WhyNoWine();                             \
    if (!why.empty()) GTEST_SKIP() << why;                           \
    if (!HaveTcpdump())                                              \
      GTEST_SKIP() << "tcpdump is missing: apt-get install tcpdump"; \
  } while (false)

constexpr std::int64_t kMessages = 2000;

LabSpec Kinds(std::vector<std::string> kinds) {
  LabSpec spec;
  spec.kinds = std::move(kinds);
  return spec;
}

Workload OneByteWrites(bool nagle) {
  Workload work;
  work.write = Bytes{1};
  work.nagle = nagle;
  work.stop_messages = kMessages;
  return work;
}

struct Carried {
  std::int64_t segments = 0;
  std::int64_t payload = 0;
  std::int64_t l3_bytes = 0;
};

// What left the first host with payload in it.
Carried CarriedFrom(const LabHost& sender,
                    const std::vector<SeenSegment>& seen) {
  Carried carried;
  for (const SeenSegment& segment : seen) {
    if (segment.source != sender.address || segment.payload == 0) continue;
    ++carried.segments;
    carried.payload += segment.payload;
    carried.l3_bytes += segment.ip_bytes;
  }
  return carried;
}

struct Counted {
  TrialResult result;
  Wire wire;
  Carried captured;
};

// Segments agree always. Bytes can be derived from their count where nothing
// was sent twice, which a busy machine makes happen now and then: that is what
// further attempts are for.
Counted CountAtLinux(LabPair& lab, std::size_t linux_host, bool nagle) {
  Counted counted;
  for (int attempt = 0; attempt < 20; ++attempt) {
    Capture capture(lab.host(linux_host).netns, "lab0");
    counted.result = lab.Trial(OneByteWrites(nagle));
    counted.captured = CarriedFrom(lab.host(0), capture.Stop());
    if (!counted.result.sender || !counted.result.receiver) break;
    counted.wire =
        AccountWire(*counted.result.sender, *counted.result.receiver, 4);
    EXPECT_EQ(counted.wire.data_segments, counted.captured.segments);
    if (counted.captured.payload == kMessages) return counted;
  }
  ADD_FAILURE() << "no attempt without retransmission";
  return counted;
}

TEST(WineExactTest, WireBytesOfWineToLinuxAreWhatTcpdumpCounts) {
  REQUIRE_WINE();
  LabPair lab{Kinds({"wine", "linux"})};
  ASSERT_TRUE(lab.up());
  for (const bool nagle : {true, false}) {
    const Counted counted = CountAtLinux(lab, 1, nagle);
    EXPECT_EQ(counted.result.sender->os, "wine");
    EXPECT_EQ(counted.result.sender->counters.data_segments_out, std::nullopt);
    EXPECT_EQ(counted.wire.observer, "receiver-counters");
    EXPECT_EQ(counted.wire.agreement, "one observer");
    EXPECT_EQ(counted.wire.l3_bytes, counted.captured.l3_bytes);
  }
}

TEST(WineExactTest, WireBytesOfLinuxToWineAreWhatTcpdumpCounts) {
  REQUIRE_WINE();
  LabPair lab{Kinds({"linux", "wine"})};
  ASSERT_TRUE(lab.up());
  for (const bool nagle : {true, false}) {
    const Counted counted = CountAtLinux(lab, 0, nagle);
    EXPECT_EQ(counted.result.receiver->os, "wine");
    EXPECT_EQ(counted.result.receiver->counters.data_segments_in, std::nullopt);
    EXPECT_EQ(counted.wire.observer, "sender-counters");
    EXPECT_EQ(counted.wire.l3_bytes, counted.captured.l3_bytes);
  }
}

TEST(WineExactTest, BetweenTwoWinesNobodySeesTheWireAndItSaysSo) {
  REQUIRE_WINE();
  LabPair lab{Kinds({"wine", "wine"})};
  ASSERT_TRUE(lab.up());
  const TrialResult result = lab.Trial(OneByteWrites(false));
  ASSERT_TRUE(result.sender && result.receiver);
  EXPECT_EQ(result.receiver->bytes, kMessages);
  const Wire wire = AccountWire(*result.sender, *result.receiver, 4);
  EXPECT_EQ(wire.observer, "none");
  EXPECT_EQ(wire.data_segments, std::nullopt);
  EXPECT_EQ(wire.l3_bytes, std::nullopt);
  EXPECT_THAT(wire.reason, HasSubstr("no end counts segments: "));
}

}  // namespace
}  // namespace wiretoll
