#include "harness/base/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(ParseBytesTest, ReadsBareBytesAndBothFamiliesOfUnits) {
  EXPECT_EQ(ParseBytes("4096"), Bytes{4096});
  EXPECT_EQ(ParseBytes("0"), Bytes{0});
  EXPECT_EQ(ParseBytes("100B"), Bytes{100});
  EXPECT_EQ(ParseBytes("64KiB"), Bytes{65536});      // 64 * 1024
  EXPECT_EQ(ParseBytes("2MiB"), Bytes{2097152});     // 2 * 1024^2
  EXPECT_EQ(ParseBytes("1GiB"), Bytes{1073741824});  // 1024^3
  EXPECT_EQ(ParseBytes("8kB"), Bytes{8000});
  EXPECT_EQ(ParseBytes("8MB"), Bytes{8000000});
  EXPECT_EQ(ParseBytes("1GB"), Bytes{1000000000});
  EXPECT_EQ(ParseBytes("64 KiB"), Bytes{65536});
}

TEST(ParseBytesTest, AFractionMustBeWholeBytes) {
  EXPECT_EQ(ParseBytes("1.5KiB"), Bytes{1536});
  EXPECT_EQ(ParseBytes("1.50kB"), Bytes{1500});
  EXPECT_EQ(ParseBytes("1.25KiB"), Bytes{1280});       // 5/4 * 1024
  EXPECT_EQ(ParseBytes("0.0009765625KiB"), Bytes{1});  // 1/1024
  EXPECT_EQ(ParseBytes("1.3KiB"), std::nullopt);       // 1331.2
  EXPECT_EQ(ParseBytes("1.5B"), std::nullopt);
  EXPECT_EQ(ParseBytes("1.0001kB"), std::nullopt);
}

TEST(ParseBytesTest, RefusesWhatIsNoSize) {
  for (const char* text :
       {"",     " ",      "B",      "KiB",    "-1",    "+1",     " 1",
        "1 ",   "1  KiB", "1 2",    "12abc",  "64kib", "64KB",   "64K",
        "0x10", "1e3",    "1.",     ".5KiB",  "1.KiB", "1..5kB", "nan",
        "inf",  "1,000",  "64KiB ", "64KiBx", "1\n"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << '"' << text << '"';
  }
  EXPECT_EQ(ParseBytes(std::string("1\0", 2)), std::nullopt);
}

TEST(ParseBytesTest, RefusesOverflow) {
  // 2^63 - 1 is the last that fits; 2^33 GiB is 2^63.
  EXPECT_EQ(ParseBytes("9223372036854775807"),
            Bytes{std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(ParseBytes("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseBytes("8589934591GiB"), Bytes{8589934591LL << 30});
  EXPECT_EQ(ParseBytes("8589934592GiB"), std::nullopt);
  EXPECT_EQ(ParseBytes("99999999999999999999999KiB"), std::nullopt);
}

TEST(ParseDurationTest, ReadsEveryUnit) {
  EXPECT_EQ(ParseDuration("100ns"), Nanoseconds{100});
  EXPECT_EQ(ParseDuration("20us"), Nanoseconds{20'000});
  EXPECT_EQ(ParseDuration("1.5ms"), Nanoseconds{1'500'000});
  EXPECT_EQ(ParseDuration("2s"), Nanoseconds{2'000'000'000});
  EXPECT_EQ(ParseDuration("3min"), Nanoseconds{180'000'000'000});
  EXPECT_EQ(ParseDuration("0us"), Nanoseconds{0});
  EXPECT_EQ(ParseDuration("0"), Nanoseconds{0});
  EXPECT_EQ(ParseDuration("5 ms"), Nanoseconds{5'000'000});
}

TEST(ParseDurationTest, RefusesBareNumbersSignsFractionsAndOverflow) {
  for (const char* text :
       {"", "20", "us", "-1us", "+1us", "1.5ns", "1usec", "1m", "1h", "1 us ",
        "0.0000001ms", "nan", "infs", "1e3us", "00:01", "1,5ms"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << '"' << text << '"';
  }
  // (2^63 - 1) ns is 9223372036.85 s.
  EXPECT_EQ(ParseDuration("9223372036s"),
            Nanoseconds{9223372036LL * 1'000'000'000});
  EXPECT_EQ(ParseDuration("9223372036.9s"), std::nullopt);
  EXPECT_EQ(ParseDuration("9223372037s"), std::nullopt);
}

TEST(ParseRateTest, ReadsBitsPerSecond) {
  EXPECT_EQ(ParseRate("9600bit"), BitsPerSecond{9600});
  EXPECT_EQ(ParseRate("64kbit"), BitsPerSecond{64e3});
  EXPECT_EQ(ParseRate("10mbit"), BitsPerSecond{10e6});
  EXPECT_EQ(ParseRate("2.5gbit"), BitsPerSecond{2.5e9});
  EXPECT_EQ(ParseRate("100 mbit"), BitsPerSecond{100e6});
}

TEST(ParseRateTest, RefusesZeroAndWhatIsNoRate) {
  for (const char* text : {"", "0mbit", "100", "mbit", "-1mbit", "10Mbit",
                           "10mb", "nan", "10mbit/s", "1.5bit"}) {
    EXPECT_EQ(ParseRate(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(ParsePercentTest, GivesTheFraction) {
  EXPECT_EQ(ParsePercent("5%"), 0.05);
  EXPECT_EQ(ParsePercent("0.1 %"), 0.001);
  EXPECT_EQ(ParsePercent("0%"), 0.0);
  EXPECT_EQ(ParsePercent("100%"), 1.0);
}

TEST(ParsePercentTest, RefusesWhatIsNotBetween0And100) {
  for (const char* text : {"", "5", "%", "-1%", "+1%", "100.1%", "101%", "nan%",
                           "inf%", "1e1%", "5%%", "5 % ", "0x5%"}) {
    EXPECT_EQ(ParsePercent(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(SpellTest, BytesTakeTheLargestIecUnitThatDivides) {
  EXPECT_EQ(SpellBytes({0}), "0");
  EXPECT_EQ(SpellBytes({2304}), "2304");  // 2.25 KiB
  EXPECT_EQ(SpellBytes({65536}), "64KiB");
  EXPECT_EQ(SpellBytes({16777216}), "16MiB");
  EXPECT_EQ(SpellBytes({1025}), "1025");
}

TEST(SpellTest, DurationsAreWholeNumbersOfTheLargestUnitThatDivides) {
  EXPECT_EQ(SpellDuration(Nanoseconds{0}), "0us");
  EXPECT_EQ(SpellDuration(Nanoseconds{20'000}), "20us");
  EXPECT_EQ(SpellDuration(milliseconds{1}), "1ms");
  EXPECT_EQ(SpellDuration(Nanoseconds{15'600'000}), "15600us");
  EXPECT_EQ(SpellDuration(minutes{3}), "180s");
  EXPECT_EQ(SpellDuration(Nanoseconds{1}), "1ns");
}

TEST(SpellTest, WhatIsSpelledIsReadBack) {
  for (const std::int64_t count : std::initializer_list<std::int64_t>{
           0, 1, 1023, 1024, 1448, 65536, 999'999'999, 60'000'000'000}) {
    EXPECT_EQ(ParseBytes(SpellBytes({count})), Bytes{count});
    EXPECT_EQ(ParseDuration(SpellDuration(Nanoseconds{count})),
              Nanoseconds{count});
  }
}

TEST(FormatTest, NumbersHaveThreeSignificantDigits) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(0.13149), "0.131");
  EXPECT_EQ(FormatNumber(11.76), "11.8");
  EXPECT_EQ(FormatNumber(1448), "1450");
  EXPECT_EQ(FormatNumber(999.6), "1000");
  EXPECT_EQ(FormatNumber(9.996), "10.0");
  EXPECT_EQ(FormatNumber(999499), "999000");
  EXPECT_EQ(FormatNumber(2e6), "2.00e+06");
  EXPECT_EQ(FormatNumber(-0.0119), "-0.0119");
  EXPECT_EQ(FormatNumber(std::nan("")), "nan");
}

TEST(FormatTest, RatesUseSiPrefixes) {
  EXPECT_EQ(FormatByteRate(11.77e6), "11.8 MB/s");
  EXPECT_EQ(FormatByteRate(936'000), "936 kB/s");
  EXPECT_EQ(FormatByteRate(999'600), "1.00 MB/s");  // Not "1000 kB/s".
  EXPECT_EQ(FormatByteRate(0), "0 B/s");
  EXPECT_EQ(FormatBitRate({100e6}), "100 Mbit/s");
  EXPECT_EQ(FormatBitRate({94.148e6}), "94.1 Mbit/s");
  EXPECT_EQ(FormatBitRate({2.5e9}), "2.50 Gbit/s");
}

TEST(FormatTest, DurationsAreReadable) {
  EXPECT_EQ(FormatDuration(Nanoseconds{250}), "250 ns");
  EXPECT_EQ(FormatDuration(Nanoseconds{12'000}), "12.0 us");
  EXPECT_EQ(FormatDuration(milliseconds{44}), "44.0 ms");
  EXPECT_EQ(FormatDuration(Nanoseconds{999'999}), "1.00 ms");
  EXPECT_EQ(FormatDuration(milliseconds{1500}), "1.50 s");
  EXPECT_EQ(FormatDuration(seconds{80}), "1 min 20 s");
  EXPECT_EQ(FormatDuration(milliseconds{59'960}), "1 min 0 s");
  EXPECT_EQ(FormatDuration(seconds{3900}), "1 h 5 min");
  EXPECT_EQ(FormatDuration(milliseconds{-44}), "-44.0 ms");
  // 2^63 - 1 ns are 9,223,372,036.85 s: 2,562,047 h and 2,837 s.
  EXPECT_EQ(FormatDuration(Nanoseconds::max()), "2562047 h 47 min");
  EXPECT_EQ(FormatDuration(Nanoseconds::min()), "-2562047 h 47 min");
}

TEST(FormatTest, BytesAreExactWhereSegmentsAreComparedAndRoundedBeyond) {
  EXPECT_EQ(FormatBytes({1448}), "1448 B");
  EXPECT_EQ(FormatBytes({65483}), "65483 B");
  EXPECT_EQ(FormatBytes({65536}), "64 KiB");
  EXPECT_EQ(FormatBytes({16777216}), "16 MiB");
  EXPECT_EQ(FormatBytes({1'500'000}),
            "1.43 MiB");  // 1500000 / 1048576 = 1.4305
  EXPECT_EQ(FormatBytes({0}), "0 B");
}

}  // namespace
}  // namespace wiretoll
