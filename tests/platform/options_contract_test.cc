#include <gtest/gtest.h>

#include "platform/options.h"
#include "tests/platform/connected_pair.h"
#include "tests/platform/lacks.h"

namespace wiretoll {
namespace {

using boost::system::errc::invalid_argument;
using boost::system::errc::operation_not_supported;

class OptionsContractTest : public testing::Test {
 protected:
  SocketPair pair_ = ConnectedPair();
};

TEST_F(OptionsContractTest, NagleIsOnUnlessSwitchedOff) {
  EXPECT_EQ(GetOption(pair_.near, SocketOption::kNagle).value(), 1);
}

TEST_F(OptionsContractTest, NagleReadsBackAsSwitched) {
  for (const std::int64_t wanted : {0, 1, 0}) {
    ASSERT_TRUE(
        SetOption(pair_.near, SocketOption::kNagle, wanted).has_value());
    EXPECT_EQ(GetOption(pair_.near, SocketOption::kNagle).value(), wanted);
  }
}

TEST_F(OptionsContractTest, BuffersOfAnySizeAreTakenAndReadBackAsWhatTheyAre) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  for (const SocketOption buffer :
       {SocketOption::kRcvbuf, SocketOption::kSndbuf}) {
    for (const std::int64_t wanted : {1, 2, 65'536, 1 << 30}) {
      ASSERT_TRUE(SetOption(pair_.near, buffer, wanted).has_value()) << wanted;
      EXPECT_GT(GetOption(pair_.near, buffer).value(), 0) << wanted;
    }
  }
}

TEST_F(OptionsContractTest, LargerBufferNeverReadsBackSmaller) {
  WIRETOLL_SKIP_WHAT_IT_LACKS();
  for (const SocketOption buffer :
       {SocketOption::kRcvbuf, SocketOption::kSndbuf}) {
    std::int64_t before = 0;
    for (const std::int64_t wanted : {1, 4096, 65'536}) {
      ASSERT_TRUE(SetOption(pair_.near, buffer, wanted).has_value());
      const std::int64_t now = GetOption(pair_.near, buffer).value();
      EXPECT_GE(now, before) << wanted;
      before = now;
    }
  }
}

TEST_F(OptionsContractTest, EveryOptionIsEitherThereOrSaidNotToBe) {
  for (const SocketOption option :
       {SocketOption::kNagle, SocketOption::kRcvbuf, SocketOption::kSndbuf,
        SocketOption::kQuickack, SocketOption::kCork, SocketOption::kMss,
        SocketOption::kDontFragment}) {
    const Result<std::int64_t> read = GetOption(pair_.near, option);
    EXPECT_TRUE(read.has_value() || read.error() == operation_not_supported)
        << static_cast<int>(option) << ": " << read.error().message();
  }
}

TEST_F(OptionsContractTest, OptionThatDoesNotExistIsNotSupported) {
  const auto none = static_cast<SocketOption>(99);
  EXPECT_EQ(SetOption(pair_.near, none, 1).error(), operation_not_supported);
  EXPECT_EQ(GetOption(pair_.near, none).error(), operation_not_supported);
}

TEST_F(OptionsContractTest, ValueThatTheSystemCannotHoldIsRefused) {
  EXPECT_EQ(SetOption(pair_.near, SocketOption::kRcvbuf, std::int64_t{1} << 40)
                .error(),
            invalid_argument);
}

TEST_F(OptionsContractTest, CongestionControlInForceCanBeSetAgain) {
  const Result<std::string> name = GetCongestion(pair_.near);
  if (name.error() == operation_not_supported) {
    GTEST_SKIP() << "this system lets nobody choose a congestion control: "
                    "Linux does; run it there";
  }
  EXPECT_FALSE(name.value().empty());
  EXPECT_TRUE(SetCongestion(pair_.near, name.value()).has_value());
  EXPECT_EQ(GetCongestion(pair_.near).value(), name.value());
}

TEST_F(OptionsContractTest, CongestionControlThatNobodyHasIsRefused) {
  EXPECT_FALSE(SetCongestion(pair_.near, "nosuchcontrol").has_value());
}

}  // namespace
}  // namespace wiretoll
