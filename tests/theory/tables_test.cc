#include "harness/theory/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

TheoryTable Make(const TheoryOptions& options) {
  Outcome<TheoryTable> table = MakeTheoryTable(options);
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return std::move(table).value();
}

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// 1449 = 1448 + 1: frames of 1538 and 91.
TEST(TheoryTableTest, OneByteBeyondTheMssCostsASecondSegment) {
  const TheoryTable table = Make({.payloads = {Bytes{1449}}});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].segments, 2);
  EXPECT_EQ(table.rows[0].l4, Bytes{1449 + 2 * 32});
  EXPECT_EQ(table.rows[0].l1, Bytes{1538 + 91});
  EXPECT_EQ(table.rows[1].transport, Transport::kUdp);
  EXPECT_EQ(table.rows[1].segments, 1);
}

// 100 Mbit/s over 1538 bytes: 8127.4 frames/s, 11.7685 MB/s. Two segments a
// payload: 12.5e6 / (1538 + 91) x 2 = 15,346.8 segments/s.
TEST(TheoryTableTest, RatesAreThoseOfTheLink) {
  const TheoryTable table = Make(
      {.payloads = {Bytes{1448}, Bytes{1449}}, .link = BitsPerSecond{100e6}});
  EXPECT_NEAR(*table.rows[0].segment_rate, 8127.4, 0.1);
  EXPECT_NEAR(*table.rows[0].payload_rate, 11.7685e6, 50);
  EXPECT_NEAR(*table.rows[1].segment_rate, 15'346.8, 0.1);
}

TEST(TheoryTableTest, WithoutALinkThereAreNoRates) {
  const TheoryTable table = Make({.payloads = {Bytes{1}}});
  EXPECT_FALSE(table.rows[0].payload_rate.has_value());
  EXPECT_THAT(TheoryText(table), Not(HasSubstr("MB/s")));
  EXPECT_TRUE(
      nlohmann::json::parse(TheoryJson(table))["rows"][0]["payload_bytes_per_s"]
          .is_null());
}

TEST(TheoryTableTest, TheDefaultListBracketsTheLargestSegment) {
  const TheoryTable table = Make({});
  const auto has = [&](Transport transport, std::int64_t payload) {
    return std::any_of(
        table.rows.begin(), table.rows.end(), [&](const TheoryRow& row) {
          return row.transport == transport && row.payload == Bytes{payload};
        });
  };
  for (const std::int64_t payload : {1, 32, 64, 256, 536, 1024, 1448, 1449}) {
    EXPECT_TRUE(has(Transport::kTcp, payload)) << payload;
  }
  EXPECT_TRUE(has(Transport::kUdp, 1472));
  EXPECT_TRUE(has(Transport::kUdp, 1473));
}

TEST(TheoryTableTest, WhatUdpCannotCarryIsSaidAndNotShown) {
  const TheoryTable table = Make({.payloads = {Bytes{70'000}}});
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_THAT(table.notes[0], HasSubstr("ends at 65507"));
  EXPECT_THAT(TheoryText(table), HasSubstr(table.notes[0]));
}

TEST(TheoryTableTest, TextHasAlignedColumnsWithUnitsAndItsAssumptions) {
  const std::string text = TheoryText(Make({.payloads = {Bytes{1}},
                                            .link = BitsPerSecond{100e6},
                                            .timestamps = false}));
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("payload MB/s"));
  EXPECT_THAT(lines[0], HasSubstr("L1 B"));
  EXPECT_EQ(lines[0].size(), lines[1].size());
  EXPECT_EQ(lines[0].size(), lines[2].size());
  EXPECT_THAT(lines[1], HasSubstr("84"));
  EXPECT_THAT(lines[1], HasSubstr("1.19 %"));
  EXPECT_THAT(lines[1], HasSubstr("148810"));
  EXPECT_THAT(lines[4], HasSubstr("RFC 9293 3.1"));
  EXPECT_THAT(lines[4], HasSubstr("100 Mbit/s"));
}

TEST(TheoryTableTest, CsvHasAHeadAndOneRowAPayloadAndTransport) {
  const std::vector<std::string> lines = Lines(TheoryCsv(
      Make({.payloads = {Bytes{1448}}, .link = BitsPerSecond{100e6}})));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], testing::StartsWith("transport,payload_bytes,"));
  // 12.5e6 x 1448 / 1538 = 11,768,530.559; 12.5e6 / 1538 = 8127.438.
  EXPECT_EQ(lines[1],
            "tcp,1448,1,1480,1500,1518,1538,0.941482,11768530.559,8127.438");
}

TEST(TheoryTableTest, JsonSaysTheSame) {
  const nlohmann::json json = nlohmann::json::parse(TheoryJson(
      Make({.payloads = {Bytes{1}}, .ip_version = 6, .timestamps = false})));
  EXPECT_EQ(json["ip"], 6);
  EXPECT_EQ(json["timestamps"], false);
  // 1 + 20 + 40 = 61; + 18 = 79; + 20 = 99.
  EXPECT_EQ(json["rows"][0]["l1_bytes"], 99);
  EXPECT_NEAR(json["rows"][0]["efficiency"].get<double>(), 1.0 / 99, 1e-12);
}

TEST(TheoryTableTest, BadOptionsAreUsageErrorsThatNameTheOption) {
  const auto refuse = [](const TheoryOptions& options) {
    const Outcome<TheoryTable> table = MakeTheoryTable(options);
    EXPECT_FALSE(table.has_value());
    EXPECT_EQ(table.error().code, ExitCode::kUsage);
    return table.error().message;
  };
  EXPECT_THAT(refuse({.payloads = {Bytes{0}}}), HasSubstr("--payload 0"));
  EXPECT_THAT(refuse({.ip_version = 5}), HasSubstr("--ip 5"));
  EXPECT_THAT(refuse({.mtu = Bytes{60}}), HasSubstr("MTU of 60"));
}

}  // namespace
}  // namespace wiretoll
