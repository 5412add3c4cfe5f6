#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "harness/analysis/story.h"
#include "harness/capture/pcapng_writer.h"
#include "tests/analysis/synthetic_run.h"
#include "tests/analysis/timelines.h"

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Big-endian, as on the wire.
void Put(std::string& bytes, std::uint64_t value, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> shift & 0xff);
  }
}

// An Ethernet frame of one timeline segment, without TCP options but the SYN's
// MSS. Windows are not scaled.
std::string FrameOf(const TimelineSegment& segment) {
  const bool client = segment.from_client;
  std::string options;
  if (segment.syn) Put(options, 0x020405b4, 4);  // MSS 1460.
  std::string tcp;
  Put(tcp, client ? 40'000 : 7001, 2);
  Put(tcp, client ? 7001 : 40'000, 2);
  // The SYN takes one number; streams begin behind it.
  Put(tcp, segment.syn ? 100 : 101 + segment.offset, 4);
  Put(tcp, segment.acknowledged ? 101 + *segment.acknowledged : 0, 4);
  Put(tcp,
      (20 + options.size()) / 4 << 12 | (segment.acknowledged ? 0x10 : 0) |
          (segment.syn ? 0x02 : 0) | (segment.fin ? 0x01 : 0),
      2);
  Put(tcp, static_cast<std::uint64_t>(segment.window_bytes), 2);
  Put(tcp, 0, 4);  // Checksum, which nobody looks at, and urgent pointer.
  tcp += options +
         std::string(static_cast<std::size_t>(segment.payload_bytes), 'x');
  std::string frame(12, '\1');
  Put(frame, 0x0800, 2);
  Put(frame, 0x4500, 2);
  Put(frame, 20 + tcp.size(), 2);
  Put(frame, 0, 4);
  Put(frame, 0x4006, 2);
  Put(frame, 0, 2);
  Put(frame, client ? 0x0a000001 : 0x0a000002, 4);
  Put(frame, client ? 0x0a000002 : 0x0a000001, 4);
  return frame + tcp;
}

void WriteCapture(const std::filesystem::path& file, const Timeline& timeline) {
  PcapngWriter writer({"lab0", kLinkEthernet, 0});
  for (const TimelineSegment& segment : timeline.segments) {
    const std::string frame = FrameOf(segment);
    writer.Add(segment.time_ns, std::as_bytes(std::span(frame)),
               static_cast<std::uint32_t>(frame.size()));
  }
  writer.Finish({timeline.segments.back().time_ns, std::nullopt, 0, {}});
  std::ofstream(file, std::ios::binary) << writer.Take();
}

// A run of a trial whose second byte waits 43 ms for a delayed ACK; `change`
// has the last word on each sample.
class RunOfOneStall {
 public:
  explicit RunOfOneStall(std::function<void(Sample&)> change = nullptr) {
    TimelineMaker maker;
    maker.Write(kMilli, 1).Data(kMilli + 10 * kMicro, 1);
    maker.Write(kMilli + 20 * kMicro, 1).Ack(44 * kMilli, 1);
    maker.Data(44 * kMilli + 10 * kMicro, 1).Ack(45 * kMilli, 2);
    maker.Fin(46 * kMilli);
    SyntheticRun run;
    run.blocks = 1;
    run.pairs = {{"linux-1", "linux-2"}};
    run.adjust = [&](Sample& sample) {
      sample.capture.emplace();
      sample.capture->file = "captures/t.pcapng";
      sample.capture->calls = "captures/t.calls.csv";
      sample.capture->host = "linux-1";
      if (change) change(sample);
    };
    WriteSyntheticRun(folder(), run);
    std::filesystem::create_directory(folder() / "captures");
    WriteCapture(folder() / "captures/t.pcapng", maker.timeline());
    std::ofstream(folder() / "captures/t.calls.csv")
        << CallLogText(maker.calls());
  }
  [[nodiscard]] std::filesystem::path folder() const {
    return temporary_.path() / "run";
  }

 private:
  TemporaryFolder temporary_;
};

constexpr const char* kTrial = "synthetic/write-1-nagle-on/linux-1:linux-2/0";

TEST(StoryReaderTest, ATrialIsToldFromItsCaptureAndItsCalls) {
  const RunOfOneStall run;
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_TRUE(story.has_value()) << story.error().message;
  ASSERT_THAT(story.value().stalls, SizeIs(1));
  EXPECT_EQ(story.value().stalls[0].words,
            "Nagle waits 43 ms for the delayed ACK");
  EXPECT_THAT(story.value().sender, HasSubstr("linux-1 (Linux 6.18.44"));
  EXPECT_EQ(story.value().captured_at, "linux-1");
  EXPECT_TRUE(story.value().sender_calls_on_clock);
  EXPECT_THAT(story.value().words, Contains(HasSubstr("2 writes of 1 byte")));
}

TEST(StoryReaderTest, TheStartOfAnIdServesWhereItIsTheOnlySuch) {
  const RunOfOneStall run;
  const auto story = TellStory(run.folder(), "synthetic/write-1-nagle-on");
  ASSERT_TRUE(story.has_value()) << story.error().message;
  EXPECT_EQ(story.value().sample.trial, kTrial);
  const auto many = TellStory(run.folder(), "synthetic/write-1");
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, ExitCode::kUsage);
  EXPECT_THAT(many.error().message, HasSubstr("more than one trial"));
  EXPECT_THAT(many.error().message, HasSubstr(kTrial));
}

TEST(StoryReaderTest, AnUnknownTrialOrRunIsRefusedByName) {
  const RunOfOneStall run;
  const auto story = TellStory(run.folder(), "other/trial");
  ASSERT_FALSE(story.has_value());
  EXPECT_THAT(story.error().message,
              AllOf(HasSubstr("other/trial"), HasSubstr("samples.jsonl")));
  EXPECT_FALSE(TellStory(run.folder(), "").has_value());
  EXPECT_FALSE(TellStory(run.folder() / "nowhere", kTrial).has_value());
}

TEST(StoryReaderTest, ATrialWithoutACaptureSaysWhyAndWhatToDo) {
  const RunOfOneStall refused([](Sample& sample) {
    sample.capture->file.clear();
    sample.capture->reason = "no permission to capture";
  });
  EXPECT_THAT(TellStory(refused.folder(), kTrial).error().message,
              HasSubstr("no permission to capture"));
  const RunOfOneStall unasked([](Sample& sample) { sample.capture.reset(); });
  EXPECT_THAT(TellStory(unasked.folder(), kTrial).error().message,
              HasSubstr("wiretoll run --capture"));
}

// Samples come from other machines.
TEST(StoryReaderTest, AFileOutsideTheRunIsNotRead) {
  for (const char* const file : {"/etc/passwd", "captures/../../secret", ""}) {
    const RunOfOneStall run(
        [&](Sample& sample) { sample.capture->file = file; });
    EXPECT_FALSE(TellStory(run.folder(), kTrial).has_value()) << file;
  }
}

TEST(StoryReaderTest, ALinkOutOfTheRunIsNotFollowed) {
  const RunOfOneStall run(
      [](Sample& sample) { sample.capture->file = "captures/out"; });
  std::filesystem::create_symlink("/etc/passwd", run.folder() / "captures/out");
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_FALSE(story.has_value());
  EXPECT_THAT(story.error().message, HasSubstr("is no file of the run"));
}

// A pipe, or a folder, would be waited for or make no sense.
TEST(StoryReaderTest, WhatIsNoPlainFileIsRefused) {
  const RunOfOneStall run(
      [](Sample& sample) { sample.capture->file = "captures"; });
  EXPECT_THAT(TellStory(run.folder(), kTrial).error().message,
              HasSubstr("is no plain file"));
}

TEST(StoryReaderTest, ATrialOverUdpIsRefusedWithWhatShowsIt) {
  const RunOfOneStall run([](Sample& sample) { sample.datagrams.emplace(); });
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_FALSE(story.has_value());
  EXPECT_THAT(story.error().message,
              AllOf(HasSubstr("went over UDP"), HasSubstr("wiretoll observe"),
                    HasSubstr("captures/t.pcapng")));
}

// The capture holds 2 data segments of 1 byte.
TEST(StoryReaderTest, ACaptureThatIsNotTheSamplesIsRefused) {
  const auto told = [](std::int64_t segments) {
    return [segments](Sample& sample) {
      sample.capture->data_segments = segments;
      sample.capture->payload_bytes = 2;
    };
  };
  EXPECT_TRUE(TellStory(RunOfOneStall(told(2)).folder(), kTrial).has_value());
  EXPECT_THAT(
      TellStory(RunOfOneStall(told(3)).folder(), kTrial).error().message,
      HasSubstr("is not the capture that the sample tells of"));
}

// Cut behind the first data segment: the second write is not told of.
TEST(StoryReaderTest, ATornCaptureEndsTheStoryAndSaysSoFirst) {
  const RunOfOneStall run([](Sample& sample) {
    sample.capture->data_segments = 2;
    sample.capture->payload_bytes = 2;
  });
  const auto file = run.folder() / "captures/t.pcapng";
  // The last three frames (ACK, FIN and what follows) and the statistics are
  // some 400 bytes; the second data segment is among what is gone.
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 400);
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_TRUE(story.has_value()) << story.error().message;
  ASSERT_FALSE(story.value().words.empty());
  EXPECT_THAT(story.value().words.front(),
              HasSubstr("The capture is not whole"));
  const std::int64_t last = story.value().timeline.segments.back().time_ns;
  for (const ProgramCall& call : story.value().calls.sender.calls) {
    EXPECT_LE(call.began_ns, last);
  }
}

TEST(StoryReaderTest, ABrokenCaptureIsRefusedByItsName) {
  const RunOfOneStall run;
  std::ofstream(run.folder() / "captures/t.pcapng") << "no capture";
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_FALSE(story.has_value());
  EXPECT_THAT(story.error().message, HasSubstr("t.pcapng"));
}

TEST(StoryReaderTest, WithoutCallsTheCaptureIsToldAlone) {
  const RunOfOneStall run;
  std::filesystem::remove(run.folder() / "captures/t.calls.csv");
  const auto story = TellStory(run.folder(), kTrial);
  ASSERT_TRUE(story.has_value()) << story.error().message;
  EXPECT_THAT(story.value().notes, Contains(HasSubstr("were not logged")));
  EXPECT_THAT(story.value().stalls, SizeIs(1));
}

}  // namespace
}  // namespace wiretoll
