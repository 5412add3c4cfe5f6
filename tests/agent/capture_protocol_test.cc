// What is said about captures, and what a trial's calls look like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/agent/base64.h"
#include "harness/agent/call_recorder.h"
#include "harness/agent/protocol.h"

namespace wiretoll {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Reply ThereAndBack(const Reply& reply) {
  return DecodeReply(EncodeReply(reply, Role::kSender), Role::kSender).value();
}

std::string Refused(const std::string& line) {
  const Outcome<Reply> decoded = DecodeReply(line, Role::kSender);
  return decoded.has_value() ? "taken" : decoded.error().message;
}

// RFC 4648 10: "f", "fo", "foo", "foob" are Zg==, Zm8=, Zm9v, Zm9vYg==.
TEST(Base64Test, IsThatOfTheRfc) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  EXPECT_EQ(EncodeBase64("foob"), "Zm9vYg==");
}

TEST(Base64Test, EveryByteComesBackAtEveryLength) {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64Test, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg=", "Zm9v!mFy", "Zg==Zg==", "Z\n==", "===="})
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
}

TEST(CaptureProtocolTest, RequestsComeBackWhole) {
  Request capture;
  capture.id = 4;
  capture.verb = "capture";
  capture.capture = {"10.0.0.1", "10.0.0.2", 7001, 7099, 96};
  const Request back = DecodeRequest(EncodeRequest(capture)).value();
  EXPECT_EQ(back.capture.local_address, "10.0.0.1");
  EXPECT_EQ(back.capture.peer_address, "10.0.0.2");
  EXPECT_EQ(back.capture.first_port, 7001);
  EXPECT_EQ(back.capture.last_port, 7099);
  EXPECT_EQ(back.capture.snap_bytes, 96U);

  Request part;
  part.verb = "part";
  part.part = {PartOf::kCalls, 150'000};
  const Request part_back = DecodeRequest(EncodeRequest(part)).value();
  EXPECT_EQ(part_back.part.of, PartOf::kCalls);
  part.part.of = PartOf::kSeries;
  EXPECT_EQ(DecodeRequest(EncodeRequest(part)).value().part.of,
            PartOf::kSeries);
  EXPECT_EQ(part_back.part.offset, 150'000);
}

TEST(CaptureProtocolTest, RequestsThatAskNonsenseAreRefused) {
  Request request;
  request.verb = "capture";
  request.capture = {"10.0.0.1", "10.0.0.2", 7001, 7099, 96};
  const json whole = json::parse(EncodeRequest(request));
  const auto with = [&](const char* field, const json& value) {
    json line = whole;
    line[field] = value;
    const auto decoded = DecodeRequest(line.dump());
    return decoded.has_value() ? "taken" : decoded.error().message;
  };
  EXPECT_EQ(with("snap_bytes", 1), "taken");
  EXPECT_THAT(with("snap_bytes", 0), HasSubstr("\"snap_bytes\""));
  EXPECT_THAT(with("snap_bytes", 65536), HasSubstr("\"snap_bytes\""));
  EXPECT_THAT(with("local_address", "any"), HasSubstr("\"local_address\""));
  EXPECT_THAT(with("last_port", 7000), HasSubstr("no range of ports"));
  EXPECT_THAT(with("filter", "tcp"), HasSubstr("\"filter\" is unknown"));
}

TEST(CaptureProtocolTest, RepliesComeBackWhole) {
  Reply begun;
  begun.capturing = "v \"0\"";
  EXPECT_EQ(ThereAndBack(begun).capturing, "v \"0\"");

  Reply ended;
  ended.captured = CaptureEnd{12, 3, 4567, "3 dropped"};
  const Reply ended_back = ThereAndBack(ended);
  ASSERT_TRUE(ended_back.captured);
  EXPECT_EQ(ended_back.captured->frames, 12);
  EXPECT_EQ(ended_back.captured->dropped, 3);
  EXPECT_EQ(ended_back.captured->bytes, 4567);
  EXPECT_EQ(ended_back.captured->partial, "3 dropped");
  ended.captured->dropped.reset();  // Not told: no 0.
  EXPECT_EQ(ThereAndBack(ended).captured->dropped, std::nullopt);

  Reply part;
  part.part = Part{std::string("\0\r\n\x1a\xff", 5), 9};
  const Reply part_back = ThereAndBack(part);
  ASSERT_TRUE(part_back.part);
  EXPECT_EQ(part_back.part->data, std::string("\0\r\n\x1a\xff", 5));
  EXPECT_EQ(part_back.part->left, 9);
}

TEST(CaptureProtocolTest, TheLargestPartFitsIntoALine) {
  Reply part;
  part.part = Part{std::string(kPartBytes, '\xff'), 0};
  EXPECT_LT(EncodeReply(part, Role::kSender).size(), kMaxLineBytes);
  EXPECT_EQ(ThereAndBack(part).part->data.size(), kPartBytes);
}

TEST(CaptureProtocolTest, RepliesThatDoNotCheckOutAreRefused) {
  EXPECT_THAT(Refused(R"({"v":1,"id":1,"ok":{"part":{"data":"*","left":0}}})"),
              HasSubstr("no base64"));
  EXPECT_THAT(Refused(R"({"v":1,"id":1,"ok":{"part":{"data":""}}})"),
              HasSubstr("\"left\""));
  EXPECT_THAT(Refused(R"({"v":1,"id":1,"ok":{"captured":{"frames":-1,
      "dropped":null,"bytes":0,"partial":""}}})"),
              HasSubstr("\"frames\""));
  EXPECT_THAT(Refused(R"({"v":1,"id":1,"ok":{"capturing":{}}})"),
              HasSubstr("\"interface\""));
}

TEST(CallRecorderTest, ListsCallsInOrderOnTheClockItIsGiven) {
  CallRecorder calls(true);
  const Nanoseconds day = std::chrono::hours(24);
  const Nanoseconds before = MonotonicNow().time_since_epoch() + day;
  calls.Add(calls.Begin(), 1448);
  calls.Add(calls.Begin(), 0);
  const EndCalls made = calls.Calls(day);
  ASSERT_EQ(made.calls.size(), 2U);
  EXPECT_EQ(made.calls[0].bytes, 1448);
  EXPECT_EQ(made.calls[1].bytes, 0);
  // The first began between then and a second later.
  EXPECT_GE(made.calls[0].began_ns, before.count());
  EXPECT_LT(made.calls[0].began_ns, before.count() + 1'000'000'000);
  EXPECT_GE(made.calls[0].returned_ns, made.calls[0].began_ns);
  EXPECT_GE(made.calls[1].began_ns, made.calls[0].returned_ns);
}

TEST(CallRecorderTest, SaysHowManyItLeftOut) {
  CallRecorder calls(true);
  for (int i = 0; i < 200'003; ++i) calls.Add(calls.Begin(), 1);
  EXPECT_EQ(calls.Calls({}).calls.size(), 200'000U);
  EXPECT_EQ(calls.Calls({}).left_out, 3);
}

TEST(CallRecorderTest, ListsNothingWhereNobodyAsked) {
  CallRecorder calls(false);
  calls.Add(calls.Begin(), 1448);
  EXPECT_TRUE(calls.Calls({}).calls.empty());
}

}  // namespace
}  // namespace wiretoll
