#include "harness/capture/call_log.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/capture/scratch_file.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kHeader[] = "end,began_ns,returned_ns,bytes\n";

CallLog Example() {
  CallLog log;
  log.sender.calls = {
      {1'796'112'000'000'000'000, 1'796'112'000'000'002'100, 1},
      {1'796'112'000'000'003'000, 1'796'112'000'000'003'900, 7}};
  log.sender.left_out = 1200;
  log.receiver.calls = {{5, 6, 8}, {7, 8, 0}};
  return log;
}

TEST(CallLog, IsWrittenALineACall) {
  EXPECT_EQ(CallLogText(Example()),
            std::string(kHeader) +
                "sender,1796112000000000000,1796112000000002100,1\n"
                "sender,1796112000000003000,1796112000000003900,7\n"
                "sender,,,1200 calls left out\n"
                "receiver,5,6,8\n"
                "receiver,7,8,0\n");
}

TEST(CallLog, IsReadBackAsItWasWritten) {
  const ScratchFile file(CallLogText(Example()));
  const auto log = ReadCallLog(file.path());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  EXPECT_EQ(log.value().sender.calls, Example().sender.calls);
  EXPECT_EQ(log.value().sender.left_out, 1200);
  EXPECT_EQ(log.value().receiver.calls, Example().receiver.calls);
  EXPECT_EQ(log.value().receiver.left_out, 0);
}

TEST(CallLog, OfNoCallsIsALogToo) {
  const ScratchFile file(CallLogText({}));
  const auto log = ReadCallLog(file.path());
  ASSERT_TRUE(log.has_value());
  EXPECT_TRUE(log.value().sender.calls.empty());
}

class BrokenLine : public testing::TestWithParam<const char*> {};

TEST_P(BrokenLine, IsNamedByFileAndNumber) {
  const ScratchFile file(std::string(kHeader) + "sender,1,2,3\n" + GetParam());
  const auto log = ReadCallLog(file.path());
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().code, ExitCode::kUsage);
  EXPECT_THAT(log.error().message,
              AllOf(HasSubstr(file.path().string()), HasSubstr("line 3")));
}

INSTANTIATE_TEST_SUITE_P(
    AllOfThem, BrokenLine,
    testing::Values("sender,1,2\n", "sender,1,2,3,4\n", "sender,1,2,-3\n",
                    "sender,,2,3\n", "sender,1,2,3x\n", "third,1,2,3\n", "\n",
                    "sender,99999999999999999999,2,3\n", "sender,1,2,\n",
                    "sender,,,0 calls left out\n", "sender,,,calls left out\n",
                    // Torn: more digits may have followed.
                    "sender,10,20,3"));

TEST(CallLog, WhatFollowsTheCallsThatWereLeftOutIsNoCall) {
  const ScratchFile file(std::string(kHeader) +
                         "sender,,,5 calls left out\nsender,1,2,3\n");
  EXPECT_THAT(ReadCallLog(file.path()).error().message, HasSubstr("line 3"));
}

TEST(CallLog, AnotherFileIsNone) {
  const ScratchFile file("a,b\n1,2\n");
  EXPECT_THAT(ReadCallLog(file.path()).error().message,
              HasSubstr("is no call log"));
  EXPECT_THAT(ReadCallLog("/nowhere/t.calls.csv").error().message,
              HasSubstr("/nowhere/t.calls.csv: cannot be read: No such file"));
}

}  // namespace
}  // namespace wiretoll
