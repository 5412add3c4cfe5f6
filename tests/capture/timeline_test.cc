#include "harness/capture/timeline.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/capture/frames.h"
#include "tests/capture/scratch_file.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Line {
  bool client;
  std::int64_t sequence, acknowledgment;
  std::size_t payload;
  const char* flags;
};

// A connection of client port `port`, a frame a millisecond; with a SYN of
// scale 3 at both ends unless `midway`.
std::string Connection(std::uint16_t port, std::size_t payload,
                       bool midway = false) {
  const Line lines[] = {
      {true, 99, 0, 0, "S"},
      {false, 499, 100, 0, "SA"},
      {true, 100, 500, 0, "A"},
      {true, 100, 500, payload, "AP"},
      {false, 500, 100 + static_cast<std::int64_t>(payload), 0, "A"}};
  std::string records;
  std::uint32_t time = 0;
  for (const Line& line : lines) {
    time += 1000;
    const bool syn = line.flags[0] == 'S';
    if (syn && midway) continue;
    TcpSpec spec;
    spec.client_port = port;
    spec.from_client = line.client;
    spec.sequence = static_cast<std::uint32_t>(line.sequence);
    spec.acknowledgment = static_cast<std::uint32_t>(line.acknowledgment);
    spec.payload = line.payload;
    spec.flags = line.flags;
    if (syn) spec.options = SynOptions(1460, 3);
    records += PcapRecord(50, time, TcpFrame(spec));
  }
  return records;
}

TEST(Timeline, HasEverySegmentInItsPlace) {
  const ScratchFile file(PcapHead() + Connection(40000, 20));
  const auto read = ReadTimeline(file.path(), std::nullopt);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Timeline& timeline = read.value();
  EXPECT_EQ(timeline.client, (ConnectionEnd{"10.0.0.1", 40000}));
  EXPECT_EQ(timeline.server, (ConnectionEnd{"10.0.0.2", 80}));
  EXPECT_EQ(timeline.client_scale, 3);
  EXPECT_EQ(timeline.server_scale, 3);
  EXPECT_EQ(timeline.client_mss, 1460);
  EXPECT_FALSE(timeline.timestamps);
  EXPECT_EQ(timeline.partial, "");
  ASSERT_EQ(timeline.segments.size(), 5U);
  const TimelineSegment& syn = timeline.segments[0];
  EXPECT_TRUE(syn.syn && syn.from_client);
  EXPECT_EQ(syn.offset, 0);
  EXPECT_EQ(syn.acknowledged, std::nullopt);
  EXPECT_EQ(syn.window_bytes, 1000);
  EXPECT_EQ(syn.time_ns, 50'001'000'000);
  const TimelineSegment& data = timeline.segments[3];
  EXPECT_TRUE(data.data() && data.psh && data.from_client);
  EXPECT_EQ(data.offset, 0);
  EXPECT_EQ(data.payload_bytes, 20);
  EXPECT_EQ(data.acknowledged, 0);
  EXPECT_EQ(data.ip_bytes, 60);
  EXPECT_EQ(data.frames, 1);
  const TimelineSegment& ack = timeline.segments[4];
  EXPECT_FALSE(ack.from_client);
  EXPECT_EQ(ack.acknowledged, 20);
  EXPECT_EQ(ack.window_bytes, 8000);  // Scaled by 3 bits.
}

TEST(Timeline, IsOfThePortOrOfTheMostPayload) {
  const ScratchFile file(PcapHead() + Connection(40000, 20) +
                         Connection(40001, 500) + Connection(40002, 30));
  const auto biggest = ReadTimeline(file.path(), std::nullopt);
  EXPECT_EQ(biggest.value().client.port, 40001);
  EXPECT_THAT(biggest.value().partial,
              HasSubstr("of 3 connections that fit, the one with the most"));
  const auto chosen = ReadTimeline(file.path(), 40002);
  EXPECT_EQ(chosen.value().client.port, 40002);
  EXPECT_EQ(chosen.value().partial, "");
  EXPECT_EQ(chosen.value().segments.size(), 5U);
}

TEST(Timeline, SaysWhatThereIsWhereThePortIsNot) {
  const ScratchFile file(PcapHead() + Connection(40000, 20));
  const auto none = ReadTimeline(file.path(), 7001);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ExitCode::kUsage);
  EXPECT_THAT(
      none.error().message,
      AllOf(HasSubstr(file.path().string()),
            HasSubstr("holds no TCP connection of port 7001; it holds 1 "
                      "TCP connection (server ports 80)")));
}

TEST(Timeline, OfACaptureWithoutTcpSaysSo) {
  const ScratchFile file(PcapHead());
  EXPECT_THAT(ReadTimeline(file.path(), std::nullopt).error().message,
              HasSubstr("it holds no TCP connection at all"));
}

TEST(Timeline, OfNoCaptureIsTheReadersFailure) {
  const ScratchFile file("not at all");
  EXPECT_THAT(ReadTimeline(file.path(), std::nullopt).error().message,
              HasSubstr("is no capture"));
}

TEST(Timeline, TellsWhatIsMissing) {
  const std::string whole = PcapHead() + Connection(40000, 20, true);
  const ScratchFile file(whole + "torn");
  const Timeline timeline = ReadTimeline(file.path(), std::nullopt).value();
  EXPECT_EQ(timeline.client_scale, std::nullopt);
  EXPECT_EQ(timeline.client_mss, std::nullopt);
  EXPECT_THAT(timeline.partial, AllOf(HasSubstr("its begin was not captured"),
                                      HasSubstr("windows are not scaled"),
                                      HasSubstr("torn after frame 3")));
  EXPECT_EQ(timeline.segments.size(), 3U);
}

TEST(Timeline, TellsWhatTheCaptureLost) {
  const std::string drops = Block(5, Little(0, 12) + Option(5, Little(4, 8)));
  TcpSpec spec;
  spec.payload = 5;
  const ScratchFile file(SectionBlock() + InterfaceBlock() +
                         PacketBlock(0, 1, TcpFrame(spec)) + drops);
  const Timeline timeline = ReadTimeline(file.path(), 80).value();
  EXPECT_EQ(timeline.dropped_frames, 4);
  EXPECT_THAT(timeline.partial, HasSubstr("the capture lost 4 frames"));
}

TEST(Timeline, IsCutAtTheLimitAndSaysWhere) {
  const ScratchFile file(PcapHead() + Connection(40000, 20));
  const Timeline cut = ReadTimeline(file.path(), std::nullopt, 3).value();
  EXPECT_EQ(cut.segments.size(), 3U);
  EXPECT_THAT(cut.partial, HasSubstr("cut behind its first 3 segments"));
  const Timeline exact = ReadTimeline(file.path(), std::nullopt, 5).value();
  EXPECT_EQ(exact.partial, "");
}

}  // namespace
}  // namespace wiretoll
