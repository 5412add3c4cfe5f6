#include <gmock/gmock.h>

#include <string>

#include "harness/base/version.h"
#include "harness/capture/pcapng_writer.h"
#include "tests/capture/frames.h"

namespace wiretoll {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(PcapngWriter, WritesWhatTheFormatSaysByteByByte) {
  PcapngWriter writer({"v0", 1, 96});
  writer.Add(0x0000'0001'0000'0002, BytesOf("abcde"), 60);
  writer.Finish({3, 7, 1, ""});
  const std::string application = std::string("wiretoll ") + kVersion;
  const std::string expected =
      Block(0x0A0D0D0A, Little(0x1A2B3C4D, 4) + Little(1, 2) + Little(0, 2) +
                            Little(~std::uint64_t{0}, 8) +
                            Option(4, application) + Option(0, "")) +
      Block(1, Little(1, 2) + Little(0, 2) + Little(96, 4) + Option(2, "v0") +
                   Option(9, "\x09") + Option(0, "")) +
      // The time's upper half stands first. Five bytes are padded to eight.
      Block(6, Little(0, 4) + Little(1, 4) + Little(2, 4) + Little(5, 4) +
                   Little(60, 4) + "abcde") +
      Block(5, Little(0, 4) + Little(0, 4) + Little(3, 4) +
                   Option(4, Little(7, 8)) + Option(5, Little(1, 8)) +
                   Option(0, ""));
  EXPECT_EQ(writer.Take(), expected);
}

TEST(PcapngWriter, ComesInPiecesThatAreTheFile) {
  PcapngWriter whole({"v0", 1, 96});
  PcapngWriter pieces({"v0", 1, 96});
  std::string file = pieces.Take();
  EXPECT_FALSE(file.empty());
  EXPECT_EQ(pieces.pending(), "");
  for (PcapngWriter* writer : {&whole, &pieces})
    writer->Add(1, BytesOf("abcd"), 4);
  file += pieces.Take();
  for (PcapngWriter* writer : {&whole, &pieces})
    writer->Finish({2, std::nullopt, std::nullopt, "all of it"});
  file += pieces.Take();
  EXPECT_EQ(whole.pending(), file);
  EXPECT_EQ(whole.Take(), file);
}

TEST(PcapngWriter, IsReadBackAsItWasWritten) {
  PcapngWriter writer({"eth0", kLinkEthernet, 96});
  const std::int64_t time = 1'796'112'000'123'456'789;
  writer.Add(time, BytesOf("0123456789"), 1514);
  writer.Add(time + 1, BytesOf(""), 60);
  writer.Finish({time + 2, 12, 10, "stopped by the watchdog"});
  const ReadAll all = ReadBytes(writer.Take());
  ASSERT_EQ(all.failure, "");
  ASSERT_EQ(all.frames.size(), 2U);
  EXPECT_EQ(all.frames[0].frame.time_ns, time);
  EXPECT_EQ(all.frames[0].kept, "0123456789");
  EXPECT_EQ(all.frames[0].frame.original_bytes, 1514);
  EXPECT_EQ(all.frames[1].frame.time_ns, time + 1);
  EXPECT_EQ(all.frames[1].kept, "");
  EXPECT_EQ(all.facts.ended_early, "");
  ASSERT_EQ(all.facts.interfaces.size(), 1U);
  EXPECT_EQ(all.facts.interfaces[0].name, "eth0");
  EXPECT_EQ(all.facts.interfaces[0].snap_length, 96U);
  EXPECT_EQ(all.facts.interfaces[0].received, 12);
  EXPECT_EQ(all.facts.interfaces[0].dropped, 10);
  EXPECT_THAT(all.facts.comments,
              testing::ElementsAre("stopped by the watchdog"));
}

TEST(PcapngWriter, LeavesOutWhatWasNotObserved) {
  PcapngWriter writer({"", kLinkEthernet, 0});
  writer.Finish({});
  const ReadAll all = ReadBytes(writer.Take());
  ASSERT_EQ(all.facts.interfaces.size(), 1U);
  EXPECT_EQ(all.facts.interfaces[0].name, "");
  EXPECT_EQ(all.facts.interfaces[0].received, std::nullopt);
  EXPECT_EQ(all.facts.interfaces[0].dropped, std::nullopt);
  EXPECT_EQ(all.facts.Dropped(), std::nullopt);
}

TEST(PcapngWriter, CutsACommentThatNoOptionCanHold) {
  PcapngWriter writer({"v0", kLinkEthernet, 0});
  writer.Finish({0, 1, 0, std::string(70'000, 'c')});
  const ReadAll all = ReadBytes(writer.Take());
  EXPECT_EQ(all.facts.ended_early, "");
  EXPECT_EQ(all.facts.broken_options, 0);
  EXPECT_EQ(all.facts.interfaces[0].received, 1);
}

}  // namespace
}  // namespace wiretoll
