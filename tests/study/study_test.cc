#include "harness/study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/study/parsing.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::string> Ids(const Study& study) {
  std::vector<std::string> ids;
  for (const Case& each : study.cases) ids.push_back(each.id);
  return ids;
}

// --- The matrix

// 3 x 2 x 2 = 12.
TEST(StudyTest, TheMatrixIsTheCrossProduct) {
  const Study study = Parsed(WithFactors(
      "write = [1, 2, 3]\nnagle = [\"on\", \"off\"]\nrcvbuf = [2, \"unset\"]"));
  EXPECT_EQ(study.cases.size(), 12U);
  EXPECT_THAT(study.varying, ElementsAre("write", "nagle", "rcvbuf"));
}

TEST(StudyTest, CasesStandInFileOrderWithTheLastFactorFastest) {
  const Study study =
      Parsed(WithFactors("nagle = [\"on\", \"off\"]\nwrite = [32, 1]"));
  EXPECT_THAT(Ids(study),
              ElementsAre("write-32-nagle-on", "write-1-nagle-on",
                          "write-32-nagle-off", "write-1-nagle-off"));
}

TEST(StudyTest, AnIdNamesWhatVariesInCanonicalOrder) {
  const Study study = Parsed(WithFactors(
      "rcvbuf = [\"unset\", 2]\nread = [1]\nwrite = [\"64KiB\", 32]\n"
      "pin = [\"0,1\", \"unset\"]"));
  EXPECT_EQ(study.cases[0].id, "write-65536-rcvbuf-unset-pin-0-1");
  EXPECT_EQ(study.cases[7].id, "write-32-rcvbuf-2-pin-unset");
}

TEST(StudyTest, ACaseAloneIsCalledCase) {
  EXPECT_THAT(Ids(Parsed(WithFactors("write = [1]"))), ElementsAre("case"));
}

// "a_b" and "a-b" both are a-b in kebab.
TEST(StudyTest, IdsAreUniqueAlsoWhereSpellingsMeet) {
  const Study study =
      Parsed(WithFactors("congestion = [\"a_b\", \"a-b\", \"c\"]"));
  EXPECT_THAT(Ids(study), ElementsAre("congestion-a-b", "congestion-a-b-2",
                                      "congestion-c"));
}

TEST(StudyTest, TheSameTextGivesTheSameStudyWhateverTheFileIsCalled) {
  const std::string text =
      WithFactors("write = [1, 2]\nnagle = [\"on\", \"off\"]");
  const Study one = ParseStudy(text, "cases/one.toml").value();
  const Study two = ParseStudy(text, "/elsewhere/two.toml").value();
  EXPECT_EQ(Ids(one), Ids(two));
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.file, "cases/one.toml");
  EXPECT_EQ(two.name, "two");
  EXPECT_EQ(one.text, text);
}

TEST(StudyTest, DefaultsAreListedAndNamedFactorsAlsoWithOneValue) {
  const Study study = Parsed(WithFactors("gap = [\"1ms\"]"));
  EXPECT_THAT(study.cases[0].factors,
              ElementsAre(Pair("transport", FactorValue("tcp")),
                          Pair("write", FactorValue(1448)),
                          Pair("read", FactorValue(65536)),
                          Pair("nagle", FactorValue("on")),
                          Pair("rcvbuf", FactorValue("unset")),
                          Pair("gap", FactorValue("1ms"))));
}

TEST(StudyTest, RequestResponseListsItsWritesInPlaceOfWrite) {
  const Study study = Parsed(
      WithFactors("pattern = [\"request-response\"]\nrequest = [\"1+1\"]"));
  const Case& only = study.cases.at(0);
  EXPECT_EQ(FindFactor(only.factors, "write"), nullptr);
  EXPECT_EQ(*FindFactor(only.factors, "request"), FactorValue("1+1"));
  EXPECT_EQ(*FindFactor(only.factors, "reply"), FactorValue("1"));
  EXPECT_THAT(only.workload.request, ElementsAre(Bytes{1}, Bytes{1}));
  EXPECT_THAT(only.workload.reply, ElementsAre(Bytes{1}));
}

// Stream: 2 writes (request does not apply), 2 cases. Request-response: 3
// requests (write does not apply), 3 cases. Not 2 x 2 x 3 = 12.
TEST(StudyTest, CasesThatDifferOnlyInWhatMeansNothingAreMerged) {
  const Study study = Parsed(WithFactors(
      "pattern = [\"stream\", \"request-response\"]\nwrite = [1, 2]\n"
      "request = [\"1\", \"1+1\", \"2\"]"));
  EXPECT_THAT(Ids(study),
              ElementsAre("pattern-stream-write-1", "pattern-stream-write-2",
                          "pattern-request-response-request-1",
                          "pattern-request-response-request-1-1",
                          "pattern-request-response-request-2"));
}

// TCP 2 (nagle on, off) and UDP 1.
TEST(StudyTest, NagleMeansNothingOverUdp) {
  const Study study = Parsed(
      WithFactors("transport = [\"tcp\", \"udp\"]\nnagle = [\"on\", \"off\"]"));
  ASSERT_EQ(study.cases.size(), 3U);
  EXPECT_EQ(study.cases[2].id, "transport-udp");
  EXPECT_EQ(FindFactor(study.cases[2].factors, "nagle"), nullptr);
}

// TCP 1 and UDP 2 x 3: what only datagrams have makes no case of TCP.
TEST(StudyTest, DontFragmentAndBatchMeanNothingOverTcp) {
  const Study study =
      Parsed(WithFactors("transport = [\"tcp\", \"udp\"]\nbatch = [1, 8]\n"
                         "dont_fragment = [\"unset\", \"on\", \"off\"]"));
  ASSERT_EQ(study.cases.size(), 7U);
  EXPECT_EQ(study.cases[0].id, "transport-tcp");
  EXPECT_EQ(FindFactor(study.cases[0].factors, "batch"), nullptr);
  EXPECT_EQ(study.cases[1].id, "transport-udp-dont-fragment-unset-batch-1");
  EXPECT_THAT(Complaint(WithFactors("batch = [8]")),
              HasSubstr("factors.batch: means nothing in any case"));
}

TEST(StudyTest, ATopologyReachesTheCaseAndItsId) {
  const Study study =
      Parsed(WithFactors("streams = [4]\ntopology = [\"pair\", \"ring\"]"));
  ASSERT_EQ(study.cases.size(), 2U);
  EXPECT_EQ(study.cases[0].topology, Topology::kPair);
  EXPECT_EQ(study.cases[0].id, "topology-pair");
  EXPECT_EQ(study.cases[1].topology, Topology::kRing);
  EXPECT_EQ(study.cases[1].id, "topology-ring");
  EXPECT_TRUE(HasFlowsAtOnce(study.cases[0]));  // By its streams.
  EXPECT_FALSE(
      HasFlowsAtOnce(Parsed(WithFactors("topology = [\"pair\"]")).cases[0]));
}

TEST(StudyTest, AnUnknownTopologyIsRefusedWithTheList) {
  EXPECT_EQ(Complaint(WithFactors("topology = [\"star\"]")),
            "cases/x.toml:4: factors.topology: 'star' is none of its values; "
            "\"pair\", \"all-to-all\", \"one-to-many\" or \"ring\", in "
            "quotes");
}

TEST(StudyTest, ARequestResponseOverUdpIsRefused) {
  EXPECT_EQ(
      Complaint(WithFactors("transport = [\"udp\"]\n"
                            "pattern = [\"stream\", \"request-response\"]")),
      "cases/x.toml:5: factors.pattern: case pattern-request-response is a "
      "request-response over UDP, and only TCP has those; make two studies of "
      "it");
}

TEST(StudyTest, AFactorThatMeansNothingAnywhereIsRefused) {
  EXPECT_EQ(
      Complaint(WithFactors("write = [1]\nrequest = [\"1+1\"]")),
      "cases/x.toml:5: factors.request: means nothing in any case of "
      "this transport and pattern; leave it out, or name the transport or "
      "pattern it is for");
}

// 101 x 100 x 10 = 101,000; 100 x 100 x 10 = 100,000.
TEST(StudyTest, MoreThan100000CellsAreRefusedAndSoManyAreNot) {
  const auto numbers = [](int count) {
    std::string list = "[1";
    for (int i = 2; i <= count; ++i) list += ", " + std::to_string(i);
    return list + "]";
  };
  const std::string rest =
      "\nread = " + numbers(100) + "\nstreams = " + numbers(10);
  EXPECT_EQ(Complaint(WithFactors("write = " + numbers(101) + rest)),
            "cases/x.toml:3: factors: more than 100000 cells; name fewer "
            "values");
  const Study most = Parsed(WithFactors("write = " + numbers(100) + rest));
  EXPECT_EQ(most.cases.size(), 100'000U);
  const std::vector<std::string> ids = Ids(most);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 100'000U);
}

// --- [stop]

std::string WithStop(const std::string& factors, const std::string& stop) {
  return "title = \"T\"\nquestion = \"Q?\"\n[factors]\n" + factors +
         "\n[stop]\n" + stop + "\n";
}

Workload OnlyWorkload(const std::string& factors, const std::string& stop) {
  return Parsed(WithStop(factors, stop)).cases.at(0).workload;
}

TEST(StudyTest, StopsReachTheWorkload) {
  const Workload workload = OnlyWorkload(
      "write = [1]", "bytes = \"1MiB\"\nmessages = 7\nseconds = \"100ms\"");
  EXPECT_EQ(workload.stop_bytes, Bytes{1'048'576});
  EXPECT_EQ(workload.stop_messages, 7);
  EXPECT_EQ(workload.stop_time, Nanoseconds{100'000'000});
}

TEST(StudyTest, SecondsMayBeANumber) {
  EXPECT_EQ(OnlyWorkload("write = [1]", "seconds = 2").stop_time,
            Nanoseconds{2'000'000'000});
  EXPECT_EQ(OnlyWorkload("write = [1]", "seconds = 0.25").stop_time,
            Nanoseconds{250'000'000});
}

// 1 MiB / 1448 = 724.2: 725 writes, 1,049,800 bytes.
TEST(StudyTest, BytesAreRoundedUpToWholeWrites) {
  EXPECT_EQ(OnlyWorkload("write = [1448]", "bytes = \"1MiB\"").stop_bytes,
            Bytes{1'049'800});
}

// A 1-byte reader: 40,000 reads are 40,000 bytes. One of 64 KiB: the bytes
// come first.
TEST(StudyTest, ReadsCapTheBytes) {
  const std::string stop = "bytes = \"1MiB\"\nreads = 40000";
  EXPECT_EQ(OnlyWorkload("write = [1]\nread = [1]", stop).stop_bytes,
            Bytes{40'000});
  EXPECT_EQ(OnlyWorkload("write = [1]\nread = [65536]", stop).stop_bytes,
            Bytes{1'048'576});
  EXPECT_EQ(OnlyWorkload("write = [1]\nread = [3]", "reads = 100").stop_bytes,
            Bytes{300});
}

// 2 + 3 = 5 bytes a request, so 12 bytes are 3 rounds.
TEST(StudyTest, BytesOfRequestResponseAreRounds) {
  const Workload workload = OnlyWorkload(
      "pattern = [\"request-response\"]\nrequest = [\"2+3\"]", "bytes = 12");
  EXPECT_EQ(workload.stop_messages, 3);
  EXPECT_EQ(workload.stop_bytes, std::nullopt);
}

// 100 blocks of 4096; of a block that is a write, 100 writes.
TEST(StudyTest, BlocksAreWholeBlocks) {
  EXPECT_EQ(
      OnlyWorkload("write = [1448]\nblock = [4096]", "blocks = 100").stop_bytes,
      Bytes{409'600});
  EXPECT_EQ(OnlyWorkload("write = [1448]", "blocks = 100").stop_bytes,
            Bytes{144'800});
  EXPECT_EQ(
      OnlyWorkload("write = [1]\nblock = [\"1GiB\"]", "blocks = 3\nbytes = 10")
          .stop_bytes,
      Bytes{1'073'741'824});
}

// 10,000 / 4096 = 2.4: 3 blocks.
TEST(StudyTest, BytesAreRoundedUpToWholeBlocks) {
  EXPECT_EQ(OnlyWorkload("write = [1448]\nblock = [4096]", "bytes = 10000")
                .stop_bytes,
            Bytes{12'288});
}

// One read takes one datagram, whatever room it has.
TEST(StudyTest, AReadTakesADatagramOfUdp) {
  EXPECT_EQ(OnlyWorkload("transport = [\"udp\"]\nwrite = [100]\nread = [65536]",
                         "reads = 50")
                .stop_bytes,
            Bytes{5'000});
}

TEST(StudyTest, BlocksOfARequestResponseDoNotEndIt) {
  EXPECT_THAT(
      Complaint(WithStop("pattern = [\"request-response\"]", "blocks = 10")),
      HasSubstr("could never end"));
}

// 1000 writes are 500 blocks of two: 499 gaps of 60 s.
TEST(StudyTest, AGapStandsBetweenBlocks) {
  EXPECT_THAT(
      Complaint(WithStop("write = [100]\nblock = [150]\ngap = [\"60s\"]",
                         "messages = 1000")),
      HasSubstr("would take 29940 s at least"));
}

TEST(StudyTest, AStopThatCouldNeverEndIsRefused) {
  EXPECT_EQ(
      Complaint(WithStop("pattern = [\"request-response\"]", "reads = 10")),
      "cases/x.toml:5: stop: case case could never end; give bytes, "
      "messages or seconds");
  // 999,999 gaps of 1 s.
  EXPECT_EQ(Complaint(WithStop("gap = [\"1s\"]", "messages = 1000000")),
            "cases/x.toml:5: stop: case case would take 999999 s at least; "
            "give less, or seconds (up to 3600)");
  // 1 GiB at 9600 bit/s: 8 x 2^30 / 9600 = 894,785 s, in whole writes of
  // 1 MiB.
  EXPECT_THAT(Complaint(WithStop("write = [\"1MiB\"]\nrate = [\"9600bit\"]",
                                 "bytes = \"1GiB\"")),
              HasSubstr("would take 894785 s at least"));
  EXPECT_EQ(
      Complaint(WithStop("gap = [\"1s\"]", "messages = 1000000\nseconds = 1")),
      "");
}

TEST(StudyTest, AbsurdStopsAreRefused) {
  const auto stop = [](const std::string& line) {
    return Complaint(WithStop("write = [1]", line));
  };
  EXPECT_THAT(stop("bytes = 0"), HasSubstr("cases/x.toml:6: stop.bytes: must"));
  EXPECT_THAT(stop("bytes = -5"), HasSubstr("stop.bytes: must"));
  EXPECT_THAT(stop("bytes = \"2TB\""), HasSubstr("stop.bytes: must"));
  EXPECT_THAT(stop("bytes = true"), HasSubstr("stop.bytes: must"));
  EXPECT_THAT(stop("messages = 1.5"), HasSubstr("stop.messages: must"));
  EXPECT_THAT(stop("messages = \"10\""), HasSubstr("stop.messages: must"));
  EXPECT_THAT(stop("seconds = 0"), HasSubstr("stop.seconds: must"));
  EXPECT_THAT(stop("seconds = -1"), HasSubstr("stop.seconds: must"));
  EXPECT_THAT(stop("seconds = nan"), HasSubstr("stop.seconds: must"));
  EXPECT_THAT(stop("seconds = inf"), HasSubstr("stop.seconds: must"));
  EXPECT_THAT(stop("seconds = \"61min\""), HasSubstr("stop.seconds: must"));
  EXPECT_THAT(stop("reads = 0"), HasSubstr("stop.reads: must"));
  EXPECT_THAT(stop("blocks = 0"), HasSubstr("stop.blocks: must"));
  EXPECT_THAT(stop("blocks = \"9\""), HasSubstr("stop.blocks: must"));
}

TEST(StudyTest, AGapAndARateInOneCaseAreRefused) {
  EXPECT_THAT(
      Complaint(WithFactors("gap = [\"1ms\"]\nrate = [\"10mbit\"]")),
      HasSubstr("cases/x.toml:5: factors.rate: case case has a gap too"));
  EXPECT_EQ(Complaint(WithFactors("gap = [\"0us\"]\nrate = [\"10mbit\"]")), "");
}

TEST(StudyTest, ATimeSeriesIsOfEveryTrialOrOfNone) {
  EXPECT_FALSE(Parsed(WithFactors("write = [1]")).series);
  EXPECT_EQ(
      Parsed(WithFactors("write = [1]") + "[observe]\nseries = \"2ms\"").series,
      Nanoseconds{2'000'000});
}

// --- Files that are wrong: the whole message

struct Wrong {
  std::string text;
  std::string message;
};

TEST(StudyTest, WhatIsWrongIsNamedWithFileLineKeyAndRemedy) {
  const std::string top = "title = \"T\"\nquestion = \"Q?\"\n";
  const std::string end = "\n[stop]\nmessages = 10\n";
  const std::vector<Wrong> wrongs{
      {WithFactors("wirte = [1]"),
       "4: factors.wirte: unknown key; did you mean \"write\"?"},
      {"titel = \"T\"\n", "1: titel: unknown key; did you mean \"title\"?"},
      {top + "speed = 1\n",
       "3: speed: unknown key; known: title, question, source, repeats, "
       "verify, capture, observe, factors, stop, claim, plot"},
      {top + "[factors]\nwrite = [1]\n[stop]\nmesages = 1\n",
       "6: stop.mesages: unknown key; did you mean \"messages\"?"},
      {WithFactors("write = 1"),
       "4: factors.write: an integer; write a list, [...], also of one value"},
      {WithFactors("write = []"),
       "4: factors.write: empty list; from 1 byte to 16 MiB, or leave the "
       "factor out"},
      {WithFactors("read = [1]\nwrite = [\n  1,\n  0,\n]"),
       "7: factors.write: 0 is too small; from 1 byte to 16 MiB"},
      {WithFactors("write = [-9223372036854775808]"),
       "4: factors.write: -9223372036854775808 is too small; from 1 byte to "
       "16 MiB"},
      {WithFactors("nagle = [true]"),
       "4: factors.nagle: a boolean is no value of it; \"on\" or \"off\""},
      {WithFactors("write = [1.5]"),
       "4: factors.write: a number with a point is no value of it; from 1 "
       "byte to 16 MiB"},
      {WithFactors("write = [[1]]"),
       "4: factors.write: a list is no value of it; from 1 byte to 16 MiB"},
      {WithFactors("write = [1979-05-27]"),
       "4: factors.write: a date or time is no value of it; from 1 byte to 16 "
       "MiB"},
      {WithFactors("write = [1024,\n\"1KiB\"]"),
       "5: factors.write: 1024 stands there twice; name each value once"},
      {"question = \"Q?\"\n[factors]\nwrite = [1]" + end,
       "1: title: missing; add title = \"...\""},
      {"\ntitle = \"\"\n", "2: title: empty; add title = \"...\""},
      {"title = 7\n", "1: title: an integer; write a text in quotes"},
      {"title = \"T\"\n[factors]\nwrite = [1]" + end,
       "1: question: missing; add question = \"...\""},
      {top + "source = [1]\n[factors]\nwrite = [1]" + end,
       "3: source: a list; write a text in quotes"},
      {top + "observe = 1\n", "3: observe: must be a table, [observe]"},
      {top + "[observe]\nserie = \"1ms\"\n",
       "4: observe.serie: unknown key; did you mean \"series\"?"},
      {top + "[observe]\n",
       "3: observe.series: missing; add series = "
       "\"...\""},
      {top + "[observe]\nseries = \"1\"\n",
       "4: observe.series: '1' is no time between two moments; it is from "
       "100us to 60s, such as \"1ms\""},
      {top + "[observe]\nseries = \"99us\"\n",
       "4: observe.series: '99us' is no time between two moments; it is from "
       "100us to 60s, such as \"1ms\""},
      {top + "[stop]\nmessages = 1\n",
       "1: factors: missing; add [factors] with lists such as write = [1, "
       "1448]"},
      {top + "[factors]\n" + end,
       "3: factors: empty; add [factors] with lists such as write = [1, 1448]"},
      {top + "[factors]\nwrite = [1]\n",
       "1: stop: missing; add [stop] with bytes, messages or seconds"},
      {top + "stop = 10\n[factors]\nwrite = [1]\n",
       "3: stop: an integer; add [stop] with bytes, messages or seconds"},
      {top + "repeats = 0\n[factors]\nwrite = [1]" + end,
       "3: repeats: must be an integer from 1 to 1000"},
      {top + "repeats = 1001\n[factors]\nwrite = [1]" + end,
       "3: repeats: must be an integer from 1 to 1000"},
      {top + "verify = \"on\"\n[factors]\nwrite = [1]" + end,
       "3: verify: a text; write true or false, without quotes"},
      {top + "[factors]\nwrite = [1]" + end + "[plot]\nkind = \"capacity\"\n",
       "7: plot: no list of tables; begin each with [[plot]]"},
      {top + "[factors]\nwrite = [1]" + end + "[[plot]]\nkind = \"capasity\"\n",
       "8: plot.kind: no picture of ours; did you mean \"capacity\"?"}};
  for (const Wrong& wrong : wrongs) {
    EXPECT_EQ(Complaint(wrong.text), "cases/x.toml:" + wrong.message)
        << wrong.text;
  }
}

TEST(StudyTest, AKeyGivenTwiceIsRefusedAtItsSecondLine) {
  const std::string message =
      Complaint(WithFactors("write = [1]\nread = [1]\nwrite = [2]"));
  EXPECT_THAT(message, HasSubstr("cases/x.toml:6: malformed TOML: "));
  EXPECT_THAT(message, HasSubstr("'write'; give every key once"));
}

TEST(StudyTest, MalformedTomlIsRefusedAtItsLine) {
  EXPECT_THAT(Complaint("title = \"T\"\nquestion = \"Q\n"),
              HasSubstr("cases/x.toml:2: malformed TOML: "));
  EXPECT_THAT(Complaint("title = \"T\"\n\n[factors\n"),
              HasSubstr("cases/x.toml:3: malformed TOML: "));
  EXPECT_THAT(Complaint(WithFactors("write = [99999999999999999999]")),
              HasSubstr("cases/x.toml:4: malformed TOML: "));
  EXPECT_THAT(Complaint("[[["), HasSubstr("cases/x.toml:1: malformed TOML: "));
  EXPECT_THAT(Complaint("[]"), HasSubstr("cases/x.toml:1: malformed TOML: "));
  EXPECT_THAT(Complaint("["), HasSubstr("cases/x.toml:1: malformed TOML: "));
  EXPECT_THAT(Complaint("x = " + std::string(100'000, '[')),
              HasSubstr("cases/x.toml:1: malformed TOML: "));
  EXPECT_THAT(Complaint(std::string(100'000, '[')),
              HasSubstr("cases/x.toml:1: malformed TOML: "));
}

TEST(StudyTest, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT(Complaint("title = \"caf\xE9\"\n"),
              HasSubstr("cases/x.toml:1: malformed TOML: "));
}

TEST(StudyTest, AMessageIsOneLineWhateverTheKeySays) {
  const std::string message = Complaint(WithFactors("\"a\\nb\\u0007\" = [1]"));
  EXPECT_THAT(message,
              HasSubstr("cases/x.toml:4: factors.a\\x0ab\\x07: unknown key"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(StudyTest, TextsAreKeptAsTheyAre) {
  const std::string odd = "`rm` $(x) <script> \"q\" 'q' \n привет 漢字";
  const Study study = Parsed(
      "title = \"\"\"`rm` $(x) <script> \"q\" 'q' \n привет 漢字\"\"\"\n"
      "question = 'Q'\nsource = 'S'\n[factors]\nwrite = [1]\n[stop]\n"
      "messages = 1\n[[plot]]\nkind = \"capacity\"\ntitle = \"\\\"\"\n");
  EXPECT_EQ(study.title, odd);
  EXPECT_EQ(study.source, "S");
  EXPECT_EQ(study.plots.at(0).title, "\"");
  EXPECT_EQ(study.plots.at(0).line, 9);
}

TEST(StudyTest, WindowsLineEndsAndAByteOrderMarkAreRead) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBFtitle = 'T'\r\nquestion = 'Q'\r\n[factors]\r\n"
                   "write = [1]\r\n[stop]\r\nmessages = 1\r\n")
                .title,
            "T");
}

TEST(StudyTest, SwitchesAndRepeatsAreRead) {
  const Study study = Parsed(
      "title = 'T'\nquestion = 'Q'\nrepeats = 1000\n"
      "verify = true\n[factors]\nwrite = [1]\n[stop]\nmessages = 1\n");
  EXPECT_EQ(study.repeats, 1000);
  EXPECT_TRUE(study.cases.at(0).workload.verify);
  const Study plain = Parsed(WithFactors("write = [1]"));
  EXPECT_EQ(plain.repeats, 5);
  EXPECT_FALSE(plain.cases.at(0).workload.verify);
}

// --- Files

class StudyFileTest : public testing::Test {
 protected:
  StudyFileTest() {
    std::string name =
        (std::filesystem::temp_directory_path() / "wiretoll-study-XXXXXX")
            .string();
    folder_ = ::mkdtemp(name.data());
  }
  ~StudyFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  std::filesystem::path folder_;
};

std::string LoadComplaint(const std::string& path) {
  const Outcome<Study> study = LoadStudy(path);
  if (study.has_value()) return "";
  EXPECT_EQ(study.error().code, ExitCode::kUsage);
  return study.error().message;
}

TEST_F(StudyFileTest, AFileIsLoadedAndItsStemIsItsName) {
  const std::string path = Write("my-study.toml", WithFactors("write = [1]"));
  const Outcome<Study> study = LoadStudy(path);
  ASSERT_TRUE(study.has_value()) << study.error().message;
  EXPECT_EQ(study.value().name, "my-study");
  EXPECT_EQ(study.value().file, path);
}

TEST_F(StudyFileTest, WhatIsNoFileIsNamed) {
  EXPECT_THAT(LoadComplaint("/no/such.toml"),
              HasSubstr("/no/such.toml: no such file"));
  EXPECT_THAT(LoadComplaint(folder_.string()), HasSubstr("no regular file"));
  EXPECT_THAT(LoadComplaint("/dev/zero"), HasSubstr("no regular file"));
}

// 1 MiB is read, one byte more is not.
TEST_F(StudyFileTest, AFileOverOneMebibyteIsRefused) {
  const std::string study = WithFactors("write = [1]");
  const std::string room(std::size_t{1024} * 1024 - study.size() - 1, ' ');
  EXPECT_EQ(LoadComplaint(Write("most.toml", study + "#" + room)), "");
  EXPECT_THAT(LoadComplaint(Write("more.toml", study + "# " + room)),
              HasSubstr("more.toml: is larger than 1 MiB"));
}

TEST_F(StudyFileTest, ErrorsNameTheFileAsTheUserDid) {
  const std::string path = Write("x.toml", "titel = 1\n");
  EXPECT_THAT(LoadComplaint(path), HasSubstr(path + ":1: titel"));
}

// --- Factors as values

TEST(FactorValueTest, SpellsIntegersAndTexts) {
  EXPECT_EQ(SpellFactor(FactorValue{2304}), "2304");
  EXPECT_EQ(SpellFactor(FactorValue{"unset"}), "unset");
}

TEST(MatchesTest, EveryKeyHasToHoldAndAnyOfItsValuesMay) {
  const Factors factors{{"write", 32}, {"nagle", "on"}};
  const std::map<std::string, std::string> hosts{{"sender.os", "linux"}};
  EXPECT_TRUE(Matches({}, factors, {}));
  EXPECT_TRUE(Matches({{"write", {1, 32}}}, factors, {}));
  EXPECT_FALSE(Matches({{"write", {1}}}, factors, {}));
  EXPECT_FALSE(Matches({{"write", {"32"}}}, factors, {}));
  EXPECT_FALSE(Matches({{"write", {32}}, {"nagle", {"off"}}}, factors, {}));
  EXPECT_FALSE(Matches({{"gap", {"0us"}}}, factors, {}));
  EXPECT_TRUE(Matches({{"sender.os", {"linux"}}}, factors, hosts));
  EXPECT_FALSE(Matches({{"sender.os", {"windows"}}}, factors, hosts));
  EXPECT_FALSE(Matches({{"receiver.os", {"linux"}}}, factors, hosts));
}

}  // namespace
}  // namespace wiretoll
