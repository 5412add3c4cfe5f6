#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/study/parsing.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The ids of the cases of `study` that pass.
std::vector<std::string> Passing(const Study& study,
                                 const std::string& expression) {
  const Outcome<Filter> filter = Filter::Parse(expression);
  EXPECT_TRUE(filter.has_value()) << filter.error().message;
  std::vector<std::string> ids;
  if (!filter.has_value()) return ids;
  for (const Case& each : study.cases) {
    if (filter.value().Accepts(each.factors)) ids.push_back(each.id);
  }
  return ids;
}

Study Writes() {
  return Parsed(WithFactors("write = [1, 32, 1448]\nnagle = [\"on\"]"));
}

TEST(FilterTest, NumbersCompareAsNumbers) {
  const Study study = Writes();
  EXPECT_THAT(Passing(study, "write=32"), ElementsAre("write-32"));
  EXPECT_THAT(Passing(study, "write!=32"),
              ElementsAre("write-1", "write-1448"));
  EXPECT_THAT(Passing(study, "write<32"), ElementsAre("write-1"));
  EXPECT_THAT(Passing(study, "write<=32"), ElementsAre("write-1", "write-32"));
  EXPECT_THAT(Passing(study, "write>32"), ElementsAre("write-1448"));
  EXPECT_THAT(Passing(study, "write>=32"),
              ElementsAre("write-32", "write-1448"));
  EXPECT_THAT(Passing(study, "write>0").size(), 3U);
}

TEST(FilterTest, SizesAndDurationsCompareAsSuch) {
  EXPECT_THAT(Passing(Writes(), "write>1KiB"), ElementsAre("write-1448"));
  const Study gaps =
      Parsed(WithFactors("gap = [\"0us\", \"20us\", \"1ms\", \"1s\"]"));
  EXPECT_THAT(Passing(gaps, "gap<1ms"), ElementsAre("gap-0us", "gap-20us"));
  EXPECT_THAT(Passing(gaps, "gap>=1000us"), ElementsAre("gap-1ms", "gap-1s"));
  EXPECT_THAT(Passing(gaps, "gap=1000us"), ElementsAre("gap-1ms"));
  const Study rates = Parsed(WithFactors("rate = [\"9600bit\", \"10mbit\"]"));
  EXPECT_THAT(Passing(rates, "rate>64kbit"), ElementsAre("rate-10mbit"));
}

TEST(FilterTest, EveryPartHasToHoldAndAlternativesMay) {
  const Study study = Parsed(WithFactors(
      "write = [1, 32]\nnagle = [\"on\", \"off\"]\nrcvbuf = [2, 4096, "
      "\"unset\"]"));
  EXPECT_THAT(Passing(study, "write<=1,nagle=on,rcvbuf=2|unset"),
              ElementsAre("write-1-nagle-on-rcvbuf-2",
                          "write-1-nagle-on-rcvbuf-unset"));
  EXPECT_THAT(Passing(study, " write = 1 , nagle = on , rcvbuf != 2 | unset "),
              ElementsAre("write-1-nagle-on-rcvbuf-4096"));
}

TEST(FilterTest, UnsetHasNoPlaceInAnOrder) {
  const Study study = Parsed(WithFactors("rcvbuf = [2, \"unset\"]"));
  EXPECT_THAT(Passing(study, "rcvbuf>1"), ElementsAre("rcvbuf-2"));
  EXPECT_THAT(Passing(study, "rcvbuf<=64MiB"), ElementsAre("rcvbuf-2"));
}

TEST(FilterTest, NothingSaidLetsAllPass) {
  EXPECT_EQ(Passing(Writes(), "").size(), 3U);
}

TEST(FilterTest, AFactorThatIsNotNamedHasItsDefault) {
  EXPECT_EQ(Passing(Writes(), "gap=0us,pattern=stream,streams<2").size(), 3U);
  EXPECT_THAT(Passing(Writes(), "gap>0us"), IsEmpty());
}

TEST(FilterTest, AFactorThatMeansNothingEqualsNothing) {
  const Study study = Parsed(WithFactors("pattern = [\"request-response\"]"));
  EXPECT_THAT(Passing(study, "write=1448"), IsEmpty());
  EXPECT_THAT(Passing(study, "write>0"), IsEmpty());
  EXPECT_EQ(Passing(study, "write!=1448").size(), 1U);
  EXPECT_EQ(Passing(study, "pattern=request-response,request=1").size(), 1U);
}

TEST(FilterTest, ACommaInsideAValueIsPartOfIt) {
  const Study study =
      Parsed(WithFactors("pin = [\"0\", \"0,1\"]\nwrite = [1, 2]"));
  EXPECT_THAT(Passing(study, "pin=0,1,write=2"),
              ElementsAre("write-2-pin-0-1"));
}

std::string FilterComplaint(const std::string& expression) {
  const Outcome<Filter> filter = Filter::Parse(expression);
  if (filter.has_value()) return "";
  EXPECT_EQ(filter.error().code, ExitCode::kUsage);
  return filter.error().message;
}

TEST(FilterTest, AnUnknownFactorIsRefusedWithTheList) {
  EXPECT_EQ(FilterComplaint("nagle=on,speed>1"),
            "--filter: 'speed': unknown factor; factors are: transport, "
            "pattern, write, block, read, request, reply, nagle, rcvbuf, "
            "sndbuf, gap, warmup, rate, congestion, quickack, cork, mss, "
            "dont_fragment, batch, pin, streams, topology, messages");
}

TEST(FilterTest, APartThatIsWrongIsNamed) {
  EXPECT_THAT(FilterComplaint("write"), HasSubstr("'write': no comparison"));
  EXPECT_THAT(FilterComplaint("write=1,"), HasSubstr("'': no comparison"));
  EXPECT_THAT(FilterComplaint("write!1"), HasSubstr("no comparison"));
  EXPECT_THAT(FilterComplaint("=1"), HasSubstr("'': unknown factor"));
  EXPECT_EQ(FilterComplaint("write=big"),
            "--filter: 'write': 'big' is no size; from 1 byte to 16 MiB");
  EXPECT_THAT(FilterComplaint("write="), HasSubstr("'' is no size"));
  EXPECT_THAT(FilterComplaint("write==1"), HasSubstr("'=1' is no size"));
  EXPECT_THAT(FilterComplaint("write=1|"), HasSubstr("'' is no size"));
  EXPECT_THAT(FilterComplaint("nagle<on"), HasSubstr("no place in an order"));
  EXPECT_THAT(FilterComplaint("rcvbuf<unset"),
              HasSubstr("no place in an order"));
  EXPECT_THAT(FilterComplaint("request>1+1"),
              HasSubstr("no place in an order"));
  EXPECT_THAT(FilterComplaint("write<1|2"),
              HasSubstr("alternatives go with = and != only"));
}

}  // namespace
}  // namespace wiretoll
