#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/capture/capture_reader.h"
#include "tests/capture/frames.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

class PcapOfEitherKind : public testing::TestWithParam<std::tuple<bool, bool>> {
};

TEST_P(PcapOfEitherKind, IsReadFrameByFrame) {
  const auto [big, nanoseconds] = GetParam();
  const std::string file = PcapHead(1, big, nanoseconds) +
                           PcapRecord(100, 5, "first", big) +
                           PcapRecord(101, 999'999, "", big, 60);
  const ReadAll all = ReadBytes(file);
  ASSERT_EQ(all.failure, "");
  EXPECT_EQ(all.facts.format, "pcap");
  ASSERT_EQ(all.frames.size(), 2U);
  const std::int64_t unit = nanoseconds ? 1 : 1000;
  EXPECT_EQ(all.frames[0].frame.time_ns, 100 * kSecond + 5 * unit);
  EXPECT_EQ(all.frames[0].kept, "first");
  EXPECT_EQ(all.frames[0].frame.original_bytes, 5);
  EXPECT_EQ(all.frames[0].frame.number, 1);
  EXPECT_EQ(all.frames[1].frame.time_ns, 101 * kSecond + 999'999 * unit);
  EXPECT_EQ(all.frames[1].frame.original_bytes, 60);
  EXPECT_EQ(all.frames[1].frame.number, 2);
  EXPECT_EQ(all.facts.cut, 1);
  EXPECT_EQ(all.facts.ended_early, "");
  EXPECT_EQ(all.facts.Dropped(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(AllFour, PcapOfEitherKind,
                         testing::Combine(testing::Bool(), testing::Bool()));

TEST(Pcap, OfNoFramesIsACaptureOfNone) {
  const ReadAll all = ReadBytes(PcapHead());
  EXPECT_EQ(all.failure, "");
  EXPECT_TRUE(all.frames.empty());
  EXPECT_EQ(all.facts.ended_early, "");
}

TEST(Pcap, TakesTheLinkTypeWithoutTheLengthOfACheckSequence) {
  // The upper bits: a check sequence of 4 bytes is there.
  const ReadAll all =
      ReadBytes(PcapHead(0x44000000 | 101) + PcapRecord(0, 0, "x"));
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].frame.link_type, 101);
}

TEST(Pcap, TornInsideAFrameGivesWhatCameBefore) {
  const std::string good = PcapHead() + PcapRecord(1, 0, "good");
  const std::string next = PcapRecord(2, 0, "torn off");
  // 24 + 16 + 4 = 44 bytes are good; 16 + 3 of the next are there.
  const ReadAll all = ReadBytes(good + next.substr(0, 19));
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].kept, "good");
  EXPECT_EQ(all.facts.ended_early,
            "torn after frame 1 at byte 44: the file ends inside a frame of 8 "
            "bytes, of which there are 3");
}

TEST(Pcap, TornAnywhereIsSaidAndNeverRead) {
  const std::string file =
      PcapHead() + PcapRecord(1, 0, "one") + PcapRecord(2, 0, "three");
  // Frames end at 24, 43 and 64.
  for (std::size_t length = 24; length < file.size(); ++length) {
    const ReadAll all = ReadBytes(file.substr(0, length));
    const bool whole = length == 24 || length == 43;
    EXPECT_EQ(all.facts.ended_early.empty(), whole) << length;
    EXPECT_EQ(all.frames.size(), length < 43 ? 0U : 1U) << length;
  }
}

TEST(Pcap, ALengthThatNoFrameHasEndsTheReading) {
  const std::string record =
      Little(1, 4) + Little(0, 4) + Little(0xFFFFFFFF, 4) + Little(60, 4);
  const ReadAll all =
      ReadBytes(PcapHead() + PcapRecord(1, 0, "good") + record + "xxxx");
  EXPECT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.facts.ended_early,
            "damaged after frame 1 at byte 44: a frame of 4294967295 bytes, "
            "where 1048576 are the most");
}

TEST(Pcap, OfAnotherVersionIsRefusedWithTheWayOut) {
  std::string head = PcapHead();
  head[4] = 1;
  EXPECT_THAT(ReadBytes(head).failure,
              AllOf(HasSubstr("test.pcapng: is pcap of version 1.4"),
                    HasSubstr("editcap -F pcapng")));
  head = PcapHead();
  head[6] = 2;  // The two lengths stood the other way round then.
  EXPECT_THAT(ReadBytes(head).failure, HasSubstr("version 2.2"));
}

TEST(NoCapture, IsToldApartFromWhatItIs) {
  EXPECT_THAT(ReadBytes("").failure, HasSubstr("is empty"));
  EXPECT_THAT(ReadBytes("abc").failure, HasSubstr("begins with \"abc\""));
  EXPECT_THAT(ReadBytes("#!/bin/sh\necho hello, everybody").failure,
              HasSubstr("is no capture: neither pcap nor pcapng begins with "
                        "\"#!/bin/sh\\necho h\""));
  EXPECT_THAT(ReadBytes("\x1f\x8b\x08\x01").failure, HasSubstr("gunzip -c"));
  EXPECT_THAT(ReadBytes("\x28\xb5\x2f\xfd").failure, HasSubstr("zstd -dc"));
  EXPECT_THAT(ReadBytes(std::string("snoop\0\0\0", 8)).failure,
              HasSubstr("editcap"));
  EXPECT_THAT(ReadBytes("\xa1\xb2\xcd\x34").failure, HasSubstr("editcap"));
  EXPECT_EQ(ReadBytes(PcapHead().substr(0, 23)).failure,
            "test.pcapng: is torn: of its header of 24 bytes there are 23");
  EXPECT_EQ(ReadBytes(SectionBlock().substr(0, 11)).failure,
            "test.pcapng: is torn: of its header of 12 bytes there are 11");
  std::string no_order = SectionBlock();
  no_order[8] = 'x';
  EXPECT_THAT(ReadBytes(no_order).failure, HasSubstr("where the byte order"));
}

TEST(NoCapture, IsAFolderOrAFileThatIsNotThere) {
  const auto folder = std::filesystem::temp_directory_path();
  EXPECT_THAT(CaptureReader::Open(folder).error().message,
              HasSubstr("is a folder"));
  const auto missing = CaptureReader::Open("/nowhere/at-all.pcap");
  EXPECT_EQ(missing.error().code, ExitCode::kUsage);
  EXPECT_THAT(
      missing.error().message,
      HasSubstr("/nowhere/at-all.pcap: cannot be opened: No such file"));
}

TEST(NoCapture, IsATraceOfWindowsWhichPktmonConverts) {
  const auto file =
      std::filesystem::temp_directory_path() / "wiretoll-reader-test.etl";
  std::ofstream(file, std::ios::binary) << "some trace";
  EXPECT_THAT(CaptureReader::Open(file).error().message,
              HasSubstr("pktmon etl2pcap"));
  std::filesystem::remove(file);
}

class PcapngOfEitherOrder : public testing::TestWithParam<bool> {};

TEST_P(PcapngOfEitherOrder, IsReadBlockByBlock) {
  const bool big = GetParam();
  const std::string unknown = Block(0x0BAD, "whatever it is", big);
  const std::string file =
      SectionBlock(big) + unknown +
      InterfaceBlock(1, Option(2, "eth0", big), big) +
      PacketBlock(0, 0x1'0000'0002, "abcde", big) + unknown +
      Block(5,
            (big ? Big(0, 12) : Little(0, 12)) +
                Option(4, big ? Big(9, 8) : Little(9, 8), big) +
                Option(5, big ? Big(3, 8) : Little(3, 8), big),
            big);
  const ReadAll all = ReadBytes(file);
  ASSERT_EQ(all.failure, "");
  EXPECT_EQ(all.facts.ended_early, "");
  EXPECT_EQ(all.facts.format, "pcapng");
  ASSERT_EQ(all.frames.size(), 1U);
  // Microseconds, where nothing else is told.
  EXPECT_EQ(all.frames[0].frame.time_ns, 0x1'0000'0002 * 1000);
  EXPECT_EQ(all.frames[0].kept, "abcde");
  ASSERT_EQ(all.facts.interfaces.size(), 1U);
  EXPECT_EQ(all.facts.interfaces[0].name, "eth0");
  EXPECT_EQ(all.facts.interfaces[0].frames, 1);
  EXPECT_EQ(all.facts.interfaces[0].received, 9);
  EXPECT_EQ(all.facts.Dropped(), 3);
}

INSTANTIATE_TEST_SUITE_P(Both, PcapngOfEitherOrder, testing::Bool());

std::int64_t TimeOf(std::uint64_t units, const std::string& options) {
  const ReadAll all = ReadBytes(SectionBlock() + InterfaceBlock(1, options) +
                                PacketBlock(0, units, "x"));
  return all.frames.at(0).frame.time_ns;
}

std::string Resolution(unsigned char value) {
  return Option(9, std::string(1, static_cast<char>(value)));
}

TEST(Pcapng, TimesAreOfTheInterfacesResolution) {
  EXPECT_EQ(TimeOf(1234, Resolution(9)), 1234);
  EXPECT_EQ(TimeOf(1234, Resolution(3)), 1'234'000'000);
  EXPECT_EQ(TimeOf(7, Resolution(0)), 7 * kSecond);
  EXPECT_EQ(TimeOf(1'234'567, Resolution(12)), 1234);  // Picoseconds.
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(127)), 0);
  // 2^-10 s: 3 s and 512/1024 s.
  EXPECT_EQ(TimeOf(3 * 1024 + 512, Resolution(0x80 | 10)), 3'500'000'000);
  // 2^-40 s: 5 s and a quarter.
  EXPECT_EQ(TimeOf(5 * (std::uint64_t{1} << 40) + (std::uint64_t{1} << 38),
                   Resolution(0x80 | 40)),
            5'250'000'000);
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(0x80 | 127)), 0);
}

TEST(Pcapng, TimesThatNoClockShowsAreHeldToWhatTheTypeHolds) {
  constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(0)), kEnd);
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(6)), kEnd);
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(9)), kEnd);
  EXPECT_EQ(TimeOf(~std::uint64_t{0}, Resolution(0x80)), kEnd);
}

TEST(Pcapng, AnOffsetOfTheInterfaceIsAdded) {
  const std::string ns = Resolution(9);
  EXPECT_EQ(TimeOf(5, ns + Option(14, Little(100, 8))), 100 * kSecond + 5);
  const auto minus_one = ~std::uint64_t{0};
  EXPECT_EQ(TimeOf(3 * kSecond, ns + Option(14, Little(minus_one, 8))),
            2 * kSecond);
  // Before 1970 nothing was captured.
  EXPECT_EQ(TimeOf(5, ns + Option(14, Little(minus_one, 8))), 0);
  constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(TimeOf(5 * kSecond, ns + Option(14, Little(kEnd, 8))), kEnd);
}

TEST(Pcapng, EachSectionHasItsOwnOrderAndInterfaces) {
  const std::string file = SectionBlock(false) + InterfaceBlock(1) +
                           InterfaceBlock(101) + PacketBlock(1, 1, "raw") +
                           SectionBlock(true) + InterfaceBlock(113, "", true) +
                           PacketBlock(0, 2, "cooked", true);
  const ReadAll all = ReadBytes(file);
  EXPECT_EQ(all.facts.ended_early, "");
  ASSERT_EQ(all.frames.size(), 2U);
  EXPECT_EQ(all.frames[0].frame.link_type, 101);
  EXPECT_EQ(all.frames[1].frame.link_type, 113);
  EXPECT_EQ(all.frames[1].kept, "cooked");
  ASSERT_EQ(all.facts.interfaces.size(), 3U);
  EXPECT_EQ(all.facts.interfaces[0].frames, 0);
}

TEST(Pcapng, ASimplePacketHasNoTimeAndTheLengthThatTheSnapLengthLeaves) {
  // The interface keeps 96 bytes of a frame.
  const std::string file = SectionBlock() + InterfaceBlock() +
                           PacketBlock(0, 7, "timed") +
                           Block(3, Little(3, 4) + "abc") +
                           Block(3, Little(200, 4) + std::string(96, 'y'));
  const ReadAll all = ReadBytes(file);
  EXPECT_EQ(all.facts.ended_early, "");
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(all.frames[1].kept, "abc");
  EXPECT_EQ(all.frames[1].frame.time_ns, 7000);
  EXPECT_EQ(all.frames[2].kept.size(), 96U);
  EXPECT_EQ(all.frames[2].frame.original_bytes, 200);
  EXPECT_EQ(all.facts.timeless, 2);
}

TEST(Pcapng, TheObsoletePacketIsReadToo) {
  const std::string body = Little(0, 2) + Little(5, 2) + Little(0, 4) +
                           Little(9, 4) + Little(4, 4) + Little(60, 4) + "data";
  const ReadAll all =
      ReadBytes(SectionBlock() + InterfaceBlock() + Block(2, body));
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].frame.time_ns, 9000);
  EXPECT_EQ(all.frames[0].kept, "data");
  EXPECT_EQ(all.frames[0].frame.original_bytes, 60);
}

TEST(Pcapng, OfSeveralStatisticsTheLastCounts) {
  const auto statistics = [](std::uint64_t interface_drop,
                             std::uint64_t system_drop) {
    return Block(5, Little(0, 12) + Option(5, Little(interface_drop, 8)) +
                        Option(7, Little(system_drop, 8)));
  };
  const ReadAll all = ReadBytes(SectionBlock() + InterfaceBlock() +
                                statistics(1, 0) + statistics(2, 3));
  // By the interface 2, by the system 3; those of the first are in these.
  EXPECT_EQ(all.facts.Dropped(), 5);
}

std::string EndedEarly(const std::string& blocks) {
  return ReadBytes(SectionBlock() + InterfaceBlock() + blocks)
      .facts.ended_early;
}

TEST(Pcapng, WhatContradictsItselfEndsTheReading) {
  // 28 bytes of section, 20 of interface.
  EXPECT_EQ(EndedEarly(Little(6, 4) + Little(33, 4) + std::string(40, 'x')),
            "damaged before its first frame at byte 48: a block of type 6 and "
            "33 bytes; it has 32 or more, in fours");
  EXPECT_THAT(EndedEarly(Little(6, 4) + Little(12, 4) + Little(12, 4)),
              HasSubstr("of type 6 and 12 bytes; it has 32 or more"));
  EXPECT_THAT(EndedEarly(Little(0xABC, 4) + Little(8, 4) + Little(8, 4)),
              HasSubstr("it has 12 or more"));
  EXPECT_THAT(EndedEarly(Little(6, 4) + Little(0xFFFFFFF0, 4)),
              HasSubstr("where 16777216 are the most"));
  std::string wrong_end = PacketBlock(0, 1, "abcd");
  wrong_end[wrong_end.size() - 4] = 99;
  EXPECT_THAT(EndedEarly(wrong_end),
              HasSubstr("begins with length 36 and ends with 99"));
  EXPECT_THAT(EndedEarly(PacketBlock(1, 1, "abcd")),
              HasSubstr("a frame of interface 1, which was not described"));
  EXPECT_THAT(EndedEarly(Block(5, Little(4, 4) + Little(0, 8))),
              HasSubstr("statistics of interface 4, which was not described"));
  std::string too_long = PacketBlock(0, 1, "abcd");
  too_long[20] = 5;  // Kept bytes, of which the block has 4.
  EXPECT_THAT(EndedEarly(too_long),
              HasSubstr("a frame of 5 bytes in a block that has room for 4"));
  std::string version = SectionBlock();
  version[12] = 2;
  EXPECT_THAT(EndedEarly(version), HasSubstr("a section of version 2.0"));
  std::string order = SectionBlock();
  order[9] = 0;
  EXPECT_THAT(EndedEarly(order), HasSubstr("a section without a byte order"));
}

TEST(Pcapng, AFrameBeforeAnyInterfaceEndsTheReading) {
  EXPECT_THAT(ReadBytes(SectionBlock() + Block(3, Little(1, 4) + "a"))
                  .facts.ended_early,
              HasSubstr("a frame of interface 0, which was not described"));
}

TEST(Pcapng, TornAnywhereIsSaidAndNeverRead) {
  const std::string begin = SectionBlock() + InterfaceBlock();
  const std::string file = begin + PacketBlock(0, 1, "one") +
                           Block(0x0BAD, "unknown") + PacketBlock(0, 2, "two");
  const std::size_t first = begin.size() + 36, second = first + 20;
  for (std::size_t length = 12; length < file.size(); ++length) {
    const ReadAll all = ReadBytes(file.substr(0, length));
    const bool whole = length == 28 || length == begin.size() ||
                       length == first || length == second;
    EXPECT_EQ(all.facts.ended_early.empty(), whole) << length;
    EXPECT_EQ(all.frames.size(), length < first ? 0U : 1U) << length;
  }
}

TEST(Pcapng, AnUnknownBlockLongerThanAnyBufferIsSkipped) {
  const std::string file = SectionBlock() + InterfaceBlock() +
                           Block(0x0BAD, std::string(3'000'000, 'z')) +
                           PacketBlock(0, 1, "behind it");
  const ReadAll all = ReadBytes(file);
  EXPECT_EQ(all.facts.ended_early, "");
  ASSERT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.frames[0].kept, "behind it");
}

TEST(Pcapng, FramesThatLieAcrossTheBufferAreWhole) {
  // Some 1.2 MB in frames of 1000 to 1099 bytes, each of its own letter.
  std::string file = SectionBlock() + InterfaceBlock();
  for (int i = 0; i < 1200; ++i)
    file += PacketBlock(
        0, 1, std::string(1000 + i % 100, static_cast<char>('a' + i % 26)));
  const ReadAll all = ReadBytes(file);
  ASSERT_EQ(all.frames.size(), 1200U);
  for (int i = 0; i < 1200; ++i) {
    ASSERT_EQ(all.frames[static_cast<std::size_t>(i)].kept,
              std::string(1000 + i % 100, static_cast<char>('a' + i % 26)));
  }
}

TEST(Pcapng, OptionsThatDoNotFitAreLeftOutAndCounted) {
  const std::string broken = Little(2, 2) + Little(400, 2) + "eth0";
  const ReadAll all = ReadBytes(SectionBlock() + InterfaceBlock(1, broken) +
                                PacketBlock(0, 1, "x"));
  EXPECT_EQ(all.frames.size(), 1U);
  EXPECT_EQ(all.facts.broken_options, 1);
  EXPECT_EQ(all.facts.interfaces[0].name, "");
}

TEST(Pcapng, MoreInterfacesThanAnybodyHasEndTheReading) {
  std::string file = SectionBlock();
  for (int i = 0; i < 10'001; ++i) file += InterfaceBlock();
  EXPECT_THAT(ReadBytes(file).facts.ended_early,
              HasSubstr("more interfaces than 10000"));
}

TEST(Clock, StepsBackAreCountedByInterface) {
  // Of interface 0: 10, 4 (6 back), 5, 3 (2 back); interface 1 is by itself.
  const std::string ns = Resolution(9);
  const std::string file = SectionBlock() + InterfaceBlock(1, ns) +
                           InterfaceBlock(1, ns) + PacketBlock(0, 10, "x") +
                           PacketBlock(1, 2, "x") + PacketBlock(0, 4, "x") +
                           PacketBlock(0, 5, "x") + PacketBlock(1, 2, "x") +
                           PacketBlock(0, 3, "x");
  const ReadAll all = ReadBytes(file);
  EXPECT_EQ(all.facts.interfaces[0].steps_back, 2);
  EXPECT_EQ(all.facts.interfaces[0].largest_step_back_ns, 6);
  EXPECT_EQ(all.facts.interfaces[1].steps_back, 0);
}

}  // namespace
}  // namespace wiretoll
