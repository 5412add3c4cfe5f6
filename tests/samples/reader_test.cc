#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>

#include "harness/samples/fields.h"
#include "harness/samples/run_folder.h"
#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReaderTest : public testing::Test {
 protected:
  void Write(const std::string& text) { WriteFile(file_, text); }

  // The message about `text`; empty if it is good.
  std::string ProblemWith(const std::string& text) {
    Write(text);
    const ReadBack read = ReadAll(temp_.path());
    if (read.summary.has_value()) return "";
    EXPECT_EQ(read.summary.error().code, ExitCode::kUsage);
    return read.summary.error().message;
  }

  TempFolder temp_;
  std::filesystem::path file_ = temp_.path() / "samples.jsonl";
  std::string good_ = ToLine(FullSample()) + "\n";
};

TEST_F(ReaderTest, EveryFieldComesBack) {
  Write(good_);
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0], FullSample());
}

TEST_F(ReaderTest, EveryFieldOfAUdpTrialComesBack) {
  Write(ToLine(FullUdpSample()) + "\n");
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0], FullUdpSample());
}

TEST_F(ReaderTest, WhatIsWrongInAUdpTrialIsNamedByItsKey) {
  const json good = json::parse(ToLine(FullUdpSample()));
  const std::vector<std::tuple<std::string, json, std::string>> all = {
      {"/datagrams", 1, "datagrams must be an object"},
      {"/datagrams/lost", -1, "datagrams.lost must not be negative"},
      {"/datagrams/lost", nullptr, "datagrams.lost must be an integer"},
      {"/datagrams/late", 0.5, "datagrams.late must be an integer"},
      {"/receiver/datagrams/cut", "x",
       "receiver.datagrams.cut must be an integer"},
      {"/sender/datagrams/not_sent/other", -1,
       "sender.datagrams.not_sent.other must not be negative"},
      {"/flow/flows", 5'000'000'000, "flow.flows is absurd"},
      {"/flow/overlap", "x", "flow.overlap must be a number"},
      {"/flow", "x", "flow must be an object"},
  };
  for (const auto& [pointer, value, message] : all) {
    json line = good;
    line[json::json_pointer(pointer)] = value;
    EXPECT_THAT(ProblemWith(line.dump() + "\n"), HasSubstr(message)) << pointer;
  }
}

TEST_F(ReaderTest, EveryOutcomeComesBack) {
  for (const TrialOutcome outcome :
       {TrialOutcome::kOk, TrialOutcome::kFailed, TrialOutcome::kSkipped}) {
    Sample sample = FullSample();
    sample.outcome = outcome;
    Write(ToLine(sample) + "\n");
    const ReadBack read = ReadAll(temp_.path());
    ASSERT_EQ(read.samples.size(), 1U);
    EXPECT_EQ(read.samples[0].outcome, outcome);
  }
}

TEST_F(ReaderTest, EmptyFieldsComeBackEmptyAndNotZero) {
  Sample sample = FullSample();
  sample.receiver->elapsed_ns.reset();
  sample.receiver->why_null["elapsed_ns"] = "nothing came";
  sample.receiver->counters.rtt_ns.reset();
  sample.wire->l1_bytes.reset();
  sample.receiver->disturbance.clock_step_ns.reset();
  sample.sender.reset();
  Write(ToLine(sample) + "\n");
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0], sample);
}

// A reader that finds fields in any order, as another program may write them.
TEST_F(ReaderTest, TheOrderOfTheFieldsDoesNotMatter) {
  // Sorted by name, unlike ToLine; the factors become sorted with the rest.
  Sample sample = FullSample();
  sample.factors = {{"a", std::int64_t{1}}, {"b", "2"}};
  Write(json::parse(ToLine(sample)).dump() + "\n");
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0], sample);
}

// Each field alone with those that a sample must have: what is not there is
// not taken for what is, and what is there is found after all that is not.
TEST_F(ReaderTest, AFieldIsFoundAmongThoseThatAreNotThere) {
  json line = json::parse(ToLine(FullSample()));
  json& counters = line["sender"]["counters"];
  for (const CounterField& kept : kCounterFields) {
    counters = {{kept.name, 7}};
    Write(line.dump() + "\n");
    const ReadBack read = ReadAll(temp_.path());
    ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
    ASSERT_EQ(read.samples.size(), 1U);
    for (const CounterField& field : kCounterFields) {
      const auto expected = field.name == kept.name ? TcpCounters::Count(7)
                                                    : TcpCounters::Count();
      EXPECT_EQ(read.samples[0].sender->counters.*field.member, expected)
          << field.name << " where only " << kept.name << " is";
    }
  }
}

TEST_F(ReaderTest, ATornLastLineIsToleratedAndSaid) {
  Write(good_ + good_ + good_.substr(0, good_.size() / 2));
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  EXPECT_EQ(read.samples.size(), 2U);
  EXPECT_EQ(read.summary.value().samples, 2);
  EXPECT_TRUE(read.summary.value().torn_last_line);
}

TEST_F(ReaderTest, AWholeFileIsNotCalledTorn) {
  Write(good_);
  EXPECT_FALSE(ReadAll(temp_.path()).summary.value().torn_last_line);
  Write("");
  EXPECT_FALSE(ReadAll(temp_.path()).summary.value().torn_last_line);
}

TEST_F(ReaderTest, ABadLineIsNamedByFileAndLine) {
  const std::string where = file_.string() + ":2: ";
  EXPECT_THAT(ProblemWith(good_ + "garbage\n" + good_),
              HasSubstr(where + "no JSON"));
  EXPECT_THAT(ProblemWith(good_ + "\n" + good_), HasSubstr(where + "no JSON"));
  EXPECT_THAT(ProblemWith(good_ + "[1]\n"),
              HasSubstr(where + "the whole must"));
  EXPECT_THAT(ProblemWith(good_ + good_.substr(0, 100) + "\n" + good_),
              HasSubstr(where + "no JSON"));
  EXPECT_THAT(ProblemWith(good_ + std::string("\0\0\0\n", 4)),
              HasSubstr(where + "no JSON"));
  EXPECT_THAT(ProblemWith(good_ + "{}\n"), HasSubstr(where + "v is missing"));
}

TEST_F(ReaderTest, WhatStandsBeforeABadLineWasHandedOver) {
  Write(good_ + good_ + "garbage\n" + good_);
  EXPECT_EQ(ReadAll(temp_.path()).samples.size(), 2U);
}

TEST_F(ReaderTest, WhatIsWrongInALineIsNamedByItsKey) {
  struct Wrong {
    std::string pointer;
    json value;
    std::string message;
  };
  const std::vector<Wrong> all = {
      {"/v", 2, "v is of another version"},
      {"/v", "1", "v must be an integer"},
      {"/outcome", "fine", "outcome must be ok, failed or skipped"},
      {"/trial", 7, "trial must be a text"},
      {"/trial", nullptr, "trial must be a text"},
      {"/repeat", -1, "repeat must not be negative"},
      {"/repeat", 5'000'000'000, "repeat is absurd"},
      {"/order", 1.5, "order must be an integer"},
      {"/order", 18446744073709551615U, "order must be an integer"},
      {"/factors/nagle", 1.5, "factors.nagle must be a text"},
      {"/factors", "x", "factors must be an object"},
      {"/sender", 3, "sender must be an object"},
      {"/sender/bytes", -1, "sender.bytes must not be negative"},
      {"/sender/bytes", 10.0, "sender.bytes must be an integer"},
      {"/receiver/counters/rtt_ns", "1",
       "receiver.counters.rtt_ns must be an integer"},
      {"/receiver/options/rcvbuf/effective", json::array(),
       "receiver.options.rcvbuf.effective must be"},
      {"/wire/l1_bytes", true, "wire.l1_bytes must be an integer"},
      {"/link", std::string(5000, 'x'), "link is too long"},
  };
  for (const Wrong& wrong : all) {
    json line = json::parse(good_);
    line[json::json_pointer(wrong.pointer)] = wrong.value;
    EXPECT_THAT(ProblemWith(line.dump() + "\n"),
                HasSubstr(file_.string() + ":1: " + wrong.message))
        << wrong.pointer;
  }
}

TEST_F(ReaderTest, ALineOfOver4MibIsRefused) {
  json line = json::parse(good_);
  line["padding"] = std::string(std::size_t{4} << 20, 'x');
  EXPECT_THAT(ProblemWith(good_ + line.dump() + "\n" + good_),
              HasSubstr(":2: a line of over 4 MiB"));
  // Not taken for a torn line either.
  EXPECT_THAT(ProblemWith(good_ + std::string(std::size_t{5} << 20, 'x')),
              HasSubstr(":2: a line of over 4 MiB"));
}

TEST_F(ReaderTest, ALineLongerThanTheBufferIsRead) {
  json line = json::parse(good_);
  line["padding"] = std::string(std::size_t{3} << 20, 'x');
  EXPECT_EQ(ProblemWith(good_ + line.dump() + "\n" + good_), "");
}

TEST_F(ReaderTest, AMissingFileIsNamed) {
  const ReadBack read = ReadAll(temp_.path());
  ASSERT_FALSE(read.summary.has_value());
  EXPECT_EQ(read.summary.error().code, ExitCode::kUsage);
  EXPECT_THAT(read.summary.error().message, HasSubstr(file_.string()));
}

// The most memory this process ever held, or empty where Linux does not say
// so. AddressSanitizer keeps what was freed, so its figure says nothing.
std::optional<std::int64_t> PeakMemoryKib() {
#ifndef __SANITIZE_ADDRESS__
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
#endif
  return std::nullopt;
}

// Lines of many lengths, so that they lie across the buffer's edges in every
// way; each is known again by its order.
TEST_F(ReaderTest, ManyLinesComeInOrderOneAtATime) {
  constexpr std::int64_t kLines = 30'000;
  {
    std::ofstream out(file_, std::ios::binary);
    Sample sample = FullSample();
    sample.sender.reset();
    sample.receiver.reset();
    for (std::int64_t line = 0; line < kLines; ++line) {
      sample.order = line;
      sample.reason.assign(static_cast<std::size_t>(line % 301), 'x');
      out << ToLine(sample) << '\n';
    }
  }
  // Each line has at least the 13 wire counts with their names.
  ASSERT_GT(std::filesystem::file_size(file_), 15U << 20);
  const std::optional<std::int64_t> before = PeakMemoryKib();
  std::int64_t expected = 0;
  const auto summary = ForEachSample(temp_.path(), [&](Sample&& sample) {
    ASSERT_EQ(sample.order, expected);
    ASSERT_EQ(sample.reason.size(), static_cast<std::size_t>(expected % 301));
    ++expected;
  });
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary.value().samples, kLines);
  EXPECT_EQ(expected, kLines);
  // A buffer of 1 MiB and a parser for one line, whatever the file's length.
  if (before.has_value()) {
    EXPECT_LT(*PeakMemoryKib() - *before, 8 * 1024);
  }
}

TEST_F(ReaderTest, TrialsAloneAreReadForResume) {
  Sample ok = FullSample();
  ok.trial = "a";
  ok.outcome = TrialOutcome::kOk;
  Sample skipped = FullSample();
  skipped.trial = "b";
  skipped.outcome = TrialOutcome::kSkipped;
  Write(ToLine(ok) + "\n" + ToLine(skipped) + "\n" + "{\"v\":1,\"tri");
  std::vector<std::pair<std::string, TrialOutcome>> seen;
  const auto summary = ForEachTrial(
      temp_.path(), [&](std::string_view trial, TrialOutcome outcome) {
        seen.emplace_back(trial, outcome);
      });
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_TRUE(summary.value().torn_last_line);
  EXPECT_THAT(seen,
              testing::ElementsAre(std::pair("a", TrialOutcome::kOk),
                                   std::pair("b", TrialOutcome::kSkipped)));
}

}  // namespace
}  // namespace wiretoll
