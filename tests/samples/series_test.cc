#include "harness/samples/series.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A figure that no column names would be neither written nor read: were one
// added to the struct alone, this stops the build. Both states share a word.
static_assert(sizeof(TcpMoment) ==
              (kMomentFields.size() * sizeof(TcpMoment::Figure)) +
                  sizeof(std::int64_t));

SeriesMoment FullMoment(std::int64_t at_ns) {
  SeriesMoment moment;
  moment.at_ns = at_ns;
  moment.tcp.state = TcpState::kEstablished;
  moment.tcp.loss_state = LossState::kRecovery;
  std::int64_t next = at_ns + 1;
  for (const MomentField& field : kMomentFields) {
    moment.tcp.*field.member = next++;
  }
  return moment;
}

class SeriesFile : public testing::Test {
 protected:
  Outcome<TimeSeries> Read(const std::string& text) {
    WriteFile(file_, text);
    return ReadSeries(file_);
  }
  static std::string Head() { return SeriesHead() + "\n"; }

  TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "trial.csv";
};

TEST_F(SeriesFile, IsReadBackAsItWasWritten) {
  TimeSeries series;
  series.sender = {FullMoment(1'796'112'000'000'000'000),
                   FullMoment(1'796'112'000'001'000'000)};
  series.receiver = {FullMoment(7), SeriesMoment{8, {}}};
  const auto read = Read(SeriesText(series));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value().sender, series.sender);
  EXPECT_EQ(read.value().receiver, series.receiver);
  EXPECT_FALSE(read.value().torn_last_line);
}

// What was not told is an empty field, never 0; a 0 is a 0.
TEST_F(SeriesFile, KeepsNothingApartFromZero) {
  SeriesMoment moment;
  moment.at_ns = 5;
  moment.tcp.in_flight_bytes = 0;
  const std::string text = EndSeriesText("sender", {moment});
  // Behind end, time and two states: five columns, then the flight, and one
  // comma less than there are columns left.
  EXPECT_EQ(text, "sender,5,,,,,,,,0" +
                      std::string(kMomentFields.size() - 6, ',') + "\n");
  const auto read = Read(Head() + text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value().sender.front(), moment);
}

TEST_F(SeriesFile, OfNoMomentsIsASeriesToo) {
  const auto read = Read(Head());
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read.value().sender.empty());
}

// "12" may have been "1200" before the kill.
TEST_F(SeriesFile, LosesTheLineThatAKillTore) {
  std::string text = EndSeriesText("sender", {FullMoment(10), FullMoment(20)});
  text.resize(text.size() - 2);
  const auto read = Read(Head() + text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value().sender, std::vector{FullMoment(10)});
  EXPECT_TRUE(read.value().torn_last_line);
}

TEST_F(SeriesFile, OfAnotherVersionIsReadByItsColumnsNames) {
  const auto read = Read(
      "end,at_ns,state,loss_state,invented_bytes,rtt_ns\n"
      "receiver,5,close-wait,,77,1000\n");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  SeriesMoment expected;
  expected.at_ns = 5;
  expected.tcp.state = TcpState::kCloseWait;
  expected.tcp.rtt_ns = 1000;
  EXPECT_EQ(read.value().receiver, std::vector{expected});
}

TEST_F(SeriesFile, ThatBeginsOtherwiseIsNone) {
  for (const char* text :
       {"", "end,at_ns,state,loss_state", "end,began_ns\n"}) {
    const auto read = Read(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, ExitCode::kUsage);
    EXPECT_THAT(read.error().message, HasSubstr("no time series"));
  }
}

TEST_F(SeriesFile, ThatIsNotThereIsNamed) {
  const auto read = ReadSeries(folder_.path() / "none.csv");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("none.csv: cannot be read"));
}

class BrokenMoment : public SeriesFile,
                     public testing::WithParamInterface<const char*> {};

TEST_P(BrokenMoment, IsNamedByFileAndLine) {
  const auto read =
      Read(std::string("end,at_ns,state,loss_state,rtt_ns\nsender,5,,,\n") +
           GetParam());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ExitCode::kUsage);
  EXPECT_THAT(read.error().message,
              AllOf(HasSubstr(file_.string()), HasSubstr("line 3")));
}

INSTANTIATE_TEST_SUITE_P(AllOfThem, BrokenMoment,
                         testing::Values("\n", "third,6,,,\n", "sender,6,,\n",
                                         "sender,6,,,,\n", "sender,,,,\n",
                                         "sender,-6,,,\n", "sender,4,,,\n",
                                         "sender,6,asleep,,\n",
                                         "sender,6,,calm,\n", "sender,6,,,1x\n",
                                         "sender,6,,,-1\n",
                                         "sender,99999999999999999999,,,\n"));

}  // namespace
}  // namespace wiretoll
