#include "harness/samples/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "harness/samples/fields.h"
#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string ProblemWith(const json& end) {
  const auto read = EndReportFromJson(end, true);
  return read.has_value() ? "" : read.error().message;
}

TEST(SampleLineTest, CarriesTheNamesOfTheDesign) {
  const json line = json::parse(ToLine(FullSample()));
  EXPECT_EQ(line["v"], 1);
  EXPECT_EQ(line["trial"], "small-writes/write-1-nagle-on/linux-1:linux-2/3");
  EXPECT_EQ(line["case"], "write-1-nagle-on");
  EXPECT_EQ(line["factors"]["write"], 1);
  EXPECT_EQ(line["factors"]["nagle"], "on");
  EXPECT_EQ(line["outcome"], "failed");
  EXPECT_EQ(line["sender"]["options"]["rcvbuf"]["requested"], 2);
  EXPECT_EQ(line["sender"]["options"]["rcvbuf"]["effective"], 2304);
  // The first counter of the sender: 1000 + 3 totals + 12 counts + 100.
  EXPECT_EQ(line["sender"]["counters"]["data_segments_out"], 1115);
  EXPECT_EQ(line["wire"]["observer"], "receiver-counters");
  EXPECT_EQ(line["wire"]["data_segments"], 3000);
}

// sent = 5000, received, lost and not_sent after it, then what may be empty.
TEST(SampleLineTest, CarriesWhatBecameOfDatagramsAndTheFlow) {
  const json line = json::parse(ToLine(FullUdpSample()));
  EXPECT_EQ(line["datagrams"]["sent"], 5000);
  EXPECT_EQ(line["datagrams"]["received"], 5001);
  EXPECT_EQ(line["datagrams"]["lost"], 5002);
  EXPECT_EQ(line["datagrams"]["duplicated"], 5004);
  EXPECT_EQ(line["datagrams"]["reordered"], 5005);
  EXPECT_EQ(line["flow"]["topology"], "ring");
  EXPECT_EQ(line["flow"]["flows"], 6);
  EXPECT_EQ(line["flow"]["overlap"], 0.75);
}

TEST(SampleLineTest, SaysNothingOfDatagramsOrFlowsWhereThereAreNone) {
  const json line = json::parse(ToLine(FullSample()));
  EXPECT_FALSE(line.contains("datagrams"));
  EXPECT_FALSE(line.contains("flow"));
}

TEST(SampleLineTest, EmptyCountsOfDatagramsAreNullWithAReason) {
  Sample sample = FullUdpSample();
  sample.datagrams->duplicated.reset();
  sample.datagrams->reason.clear();
  const json line = json::parse(ToLine(sample));
  EXPECT_TRUE(line["datagrams"]["duplicated"].is_null());
  EXPECT_TRUE(line["datagrams"]["reason"].is_string());
}

// 5 calls of 1 byte, none of 2 or 3, 7 of 4 to 7, 11 of 8 to 15.
TEST(SampleLineTest, SizesAreNamedByTheirRangeAndEmptyBinsLeftOut) {
  const json line = json::parse(ToLine(FullSample()));
  const json sizes = {{"1", 5}, {"4-7", 7}, {"8-15", 11}};
  EXPECT_EQ(line["receiver"]["read_sizes"], sizes);
  EXPECT_EQ(line["sender"]["write_sizes"], sizes);
  EXPECT_FALSE(line["sender"].contains("read_sizes"));
}

TEST(SampleLineTest, IsOneLineWhateverTheTextsHold) {
  Sample sample = FullSample();
  sample.reason = "two\nlines\r\n and \xff no UTF-8";
  const std::string line = ToLine(sample);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line)["reason"],
            "two\nlines\r\n and \xEF\xBF\xBD no UTF-8");
}

TEST(SampleLineTest, KeepsTheOrderOfTheFactors) {
  const std::string line = ToLine(FullSample());
  EXPECT_THAT(line, HasSubstr(R"("factors":{"write":1,"nagle":"on",)"
                              R"("gap":"20us","rcvbuf":"unset"})"));
}

TEST(SampleLineTest, UnknownIsNullWithItsReasonAndNeverZero) {
  EndReport end;
  end.why_null["elapsed_ns"] = "nothing came";
  const json written = ToJson(end, true);
  EXPECT_TRUE(written["elapsed_ns"].is_null());
  EXPECT_EQ(written["why_null"]["elapsed_ns"], "nothing came");
  for (const CounterField& field : kCounterFields) {
    const std::string name(field.name);
    ASSERT_TRUE(written["counters"].contains(name)) << name;
    EXPECT_TRUE(written["counters"][name].is_null()) << name;
  }
  EXPECT_NE(written["counters"]["reason"], json());
  EXPECT_TRUE(written["disturbance"]["load"].is_null());
  EXPECT_NE(written["disturbance"]["reason"], json());
}

TEST(SampleLineTest, EveryNullOfAnEndHasAReason) {
  for (const bool receiver : {false, true}) {
    const json end = ToJson(EndReport{}, receiver);
    for (const auto& [name, value] : end.items()) {
      if (!value.is_null()) continue;
      ASSERT_TRUE(end["why_null"].contains(name)) << name;
      EXPECT_NE(end["why_null"][name], "") << name;
    }
  }
}

TEST(SampleLineTest, LeavesOutWhatIsTheOtherEndsBusiness) {
  const json sender = ToJson(EndReport{}, false);
  EXPECT_FALSE(sender.contains("first_read_bytes"));
  EXPECT_FALSE(sender.contains("verified"));
  EXPECT_TRUE(sender["gap_median_ns"].is_null());
  const json receiver = ToJson(EndReport{}, true);
  EXPECT_FALSE(receiver.contains("gap_median_ns"));
  EXPECT_FALSE(receiver.contains("latency"));
  EXPECT_TRUE(receiver["first_read_bytes"].is_null());
}

TEST(SampleLineTest, LongTextsAreCutBetweenCharacters) {
  Sample sample = FullSample();
  sample.reason.clear();
  // Two bytes each: 4093, the cut, falls inside the 2047th of them.
  for (int i = 0; i < 4000; ++i) sample.reason += "\u00e9";
  const json line = json::parse(ToLine(sample));
  const auto reason = line["reason"].get<std::string>();
  EXPECT_EQ(reason.size(), 4092U + 3U);
  EXPECT_TRUE(reason.ends_with("\u00e9..."));
}

TEST(EndReportTest, EveryFieldComesBack) {
  for (const bool receiver : {false, true}) {
    const EndReport end = FullEnd(receiver);
    const auto read = EndReportFromJson(ToJson(end, receiver), receiver);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read.value(), end);
  }
}

TEST(EndReportTest, AnEmptyFieldComesBackEmptyWithItsReason) {
  EndReport end = FullEnd(true);
  end.elapsed_ns.reset();
  end.why_null["elapsed_ns"] = "nothing came";
  end.counters.rtt_ns.reset();
  end.latency.reset();
  end.why_null["latency"] = "no rounds";
  const auto read = EndReportFromJson(ToJson(end, true), true);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value(), end);
}

TEST(EndReportTest, EveryFieldOfDatagramsComesBack) {
  for (const bool receiver : {false, true}) {
    const EndReport end = FullUdpEnd(receiver);
    const auto read = EndReportFromJson(ToJson(end, receiver), receiver);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read.value(), end);
  }
}

TEST(EndReportTest, SaysNothingOfDatagramsWhereThereAreNone) {
  EXPECT_FALSE(ToJson(FullEnd(true), true).contains("datagrams"));
  EXPECT_TRUE(ToJson(FullUdpEnd(true), true).contains("datagrams"));
}

// The sender cannot know what came, the receiver not what was sent.
TEST(EndReportTest, AnEndLeavesOutTheOtherEndsDatagrams) {
  EndReport end;
  end.datagrams.emplace();
  const json sender = ToJson(end, false)["datagrams"];
  EXPECT_TRUE(sender["sent"].is_null());
  EXPECT_TRUE(sender["not_sent"].is_null());
  EXPECT_FALSE(sender.contains("received"));
  EXPECT_FALSE(sender.contains("delay"));
  const json receiver = ToJson(end, true)["datagrams"];
  EXPECT_TRUE(receiver["received"].is_null());
  EXPECT_TRUE(receiver["jitter_mean_ns"].is_null());
  EXPECT_FALSE(receiver.contains("sent"));
}

TEST(EndReportTest, EveryNullOfDatagramsHasItsReason) {
  for (const bool receiver : {false, true}) {
    EndReport end;
    end.datagrams.emplace();
    end.why_null["datagrams.delay"] = "two clocks";
    const json written = ToJson(end, receiver);
    for (const auto& [name, value] : written["datagrams"].items()) {
      if (!value.is_null()) continue;
      ASSERT_TRUE(written["why_null"].contains("datagrams." + name)) << name;
      EXPECT_NE(written["why_null"]["datagrams." + name], "") << name;
    }
    EXPECT_EQ(written["why_null"]["datagrams.delay"], "two clocks");
    EXPECT_FALSE(written["why_null"].contains("delay"));
  }
}

TEST(EndReportTest, AnEmptyFieldOfDatagramsComesBackEmpty) {
  EndReport end = FullUdpEnd(true);
  end.datagrams->duplicated.reset();
  end.datagrams->delay.reset();
  end.datagrams->jitter_rfc3550_ns.reset();
  end.why_null = {{"datagrams.duplicated", "too small for a number"},
                  {"datagrams.delay", "two clocks"},
                  {"datagrams.jitter_rfc3550_ns", "too small for a time"}};
  const auto read = EndReportFromJson(ToJson(end, true), true);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value(), end);
}

TEST(EndReportTest, NamesTheFieldOfDatagramsThatIsWrong) {
  const json good = ToJson(FullUdpEnd(true), true);
  const std::vector<std::tuple<std::string, json, std::string>> all = {
      {"/datagrams", 1, "datagrams must be an object"},
      {"/datagrams/received", -1, "datagrams.received must not be negative"},
      {"/datagrams/received", 0.5, "datagrams.received must be an integer"},
      {"/datagrams/not_sent/refused", "x",
       "datagrams.not_sent.refused must be an integer"},
      {"/datagrams/delay", json::array(), "datagrams.delay must be an object"},
      {"/datagrams/delay/p50_ns", nullptr,
       "datagrams.delay.p50_ns must be an integer"},
      {"/datagrams/jitter_mean_ns", "x",
       "datagrams.jitter_mean_ns must be a number"},
      {"/datagrams/ended", 7, "datagrams.ended must be a text"},
  };
  for (const auto& [pointer, value, message] : all) {
    json end = good;
    end[json::json_pointer(pointer)] = value;
    EXPECT_THAT(ProblemWith(end), HasSubstr(message)) << pointer;
  }
  json end = good;
  end["datagrams"]["not_sent"].erase("too_large");
  EXPECT_THAT(ProblemWith(end),
              HasSubstr("datagrams.not_sent.too_large is missing"));
}

TEST(EndReportTest, NamesTheFieldThatIsMissing) {
  json end = ToJson(FullEnd(true), true);
  end.erase("bytes");
  EXPECT_THAT(ProblemWith(end), HasSubstr("bytes is missing"));
  end = ToJson(FullEnd(true), true);
  end.erase("counters");
  EXPECT_THAT(ProblemWith(end), HasSubstr("counters is missing"));
}

TEST(EndReportTest, NamesTheFieldOfTheWrongType) {
  const json good = ToJson(FullEnd(true), true);
  struct Wrong {
    std::string pointer;
    json value;
    std::string message;
  };
  const std::vector<Wrong> all = {
      {"/bytes", "12", "bytes must be an integer"},
      {"/bytes", 12.5, "bytes must be an integer"},
      {"/bytes", 1e300, "bytes must be an integer"},
      {"/bytes", 18446744073709551615U, "bytes must be an integer"},
      {"/bytes", nullptr, "bytes must be an integer"},
      {"/bytes", -1, "bytes must not be negative"},
      {"/elapsed_ns", -1, "elapsed_ns must not be negative"},
      {"/elapsed_ns", true, "elapsed_ns must be an integer"},
      {"/host", 1, "host must be a text"},
      {"/verified", 1, "verified must be true or false"},
      {"/gap_mean_ns", "x", "gap_mean_ns must be a number"},
      {"/counters", 1, "counters must be an object"},
      {"/counters/rtt_ns", -1, "counters.rtt_ns must not be negative"},
      {"/latency/p50_ns", "x", "latency.p50_ns must be an integer"},
      {"/latency", json::array(), "latency must be an object"},
      {"/options/nagle", 1, "options.nagle must be an object"},
      {"/options/nagle/effective", 0.5, "options.nagle.effective must be"},
      {"/read_sizes/3-4", 1, "read_sizes.3-4 is no range"},
      {"/read_sizes/02-3", 1, "read_sizes.02-3 is no range"},
      {"/read_sizes/2", 1, "read_sizes.2 is no range"},
      {"/read_sizes/1", -1, "read_sizes.1 must not be negative"},
      {"/disturbance/disturbed", "no", "disturbance.disturbed must be true"},
      {"/why_null", {{"x", 1}}, "why_null.x must be a text"},
  };
  for (const Wrong& wrong : all) {
    json end = good;
    end[json::json_pointer(wrong.pointer)] = wrong.value;
    EXPECT_THAT(ProblemWith(end), HasSubstr(wrong.message)) << wrong.pointer;
  }
}

TEST(EndReportTest, RefusesWhatIsNoObject) {
  EXPECT_THAT(ProblemWith(json(7)), HasSubstr("must be an object"));
  EXPECT_THAT(ProblemWith(json::array()), HasSubstr("must be an object"));
}

TEST(EndReportTest, RefusesEndlessTextsAndMaps) {
  json end = ToJson(FullEnd(true), true);
  end["stack"] = std::string(kMaxTextBytes + 1, 'x');
  EXPECT_THAT(ProblemWith(end), HasSubstr("stack is too long"));
  end = ToJson(FullEnd(true), true);
  for (std::size_t i = 0; i <= kMaxEntries; ++i) {
    end["options"][std::to_string(i)] = end["options"]["nagle"];
  }
  EXPECT_THAT(ProblemWith(end), HasSubstr("one entry too many"));
}

TEST(SizeBinTest, EveryLabelIsReadBack) {
  EXPECT_EQ(SizeBinLabel(0), "1");
  EXPECT_EQ(SizeBinLabel(1), "2-3");
  EXPECT_EQ(SizeBinLabel(16), "65536-131071");
  for (std::size_t bin = 0; bin < kMostBins; ++bin) {
    EXPECT_EQ(SizeBinFromLabel(SizeBinLabel(bin)), bin);
  }
}

}  // namespace
}  // namespace wiretoll
