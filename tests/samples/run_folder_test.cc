#include "harness/samples/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

Sample SampleNumber(int number) {
  Sample sample = FullSample();
  sample.trial = std::string("trial-").append(std::to_string(number));
  return sample;
}

class RunFolderTest : public testing::Test {
 protected:
  // run.json with one key changed or (null pointer) taken out.
  std::string ProblemWith(const std::string& pointer, const json& value) {
    const fs::path folder = temp_.path() / "changed";
    fs::remove_all(folder);
    EXPECT_TRUE(CreateRunFolder(folder, FullRecord()).has_value());
    json record = json::parse(ReadFile(folder / "run.json"));
    record[json::json_pointer(pointer)] = value;
    WriteFile(folder / "run.json", record.dump());
    const auto read = ReadRunRecord(folder);
    if (read.has_value()) return "";
    EXPECT_EQ(read.error().code, ExitCode::kUsage);
    EXPECT_THAT(read.error().message,
                HasSubstr((folder / "run.json").string()));
    return read.error().message;
  }

  TempFolder temp_;
  fs::path run_ = temp_.path() / "runs" / "one";
};

TEST_F(RunFolderTest, EveryFieldOfTheRecordComesBack) {
  ASSERT_TRUE(CreateRunFolder(run_, FullRecord()).has_value());
  const auto read = ReadRunRecord(run_);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value(), FullRecord());
}

TEST_F(RunFolderTest, WhatTheLinkDoesNotHaveComesBackEmpty) {
  RunRecord record = FullRecord();
  record.precision.reset();
  record.link = {};
  record.link.kind = "loopback";
  ASSERT_TRUE(CreateRunFolder(run_, record).has_value());
  const auto read = ReadRunRecord(run_);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value(), record);
}

TEST_F(RunFolderTest, AFactThatIsNotKnownIsNullWithAReason) {
  RunRecord record = FullRecord();
  record.hosts[0].facts = {{"numa", std::monostate{}, std::nullopt, ""}};
  ASSERT_TRUE(CreateRunFolder(run_, record).has_value());
  const json written = json::parse(ReadFile(run_ / "run.json"));
  const json& fact = written["hosts"][0]["facts"][0];
  EXPECT_TRUE(fact["value"].is_null());
  EXPECT_EQ(fact["reason"], "not observed");
}

TEST_F(RunFolderTest, AFolderThatHoldsSomethingIsRefused) {
  fs::create_directories(run_);
  WriteFile(run_ / "precious", "x");
  const auto made = CreateRunFolder(run_, FullRecord());
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ExitCode::kUsage);
  EXPECT_THAT(made.error().message, HasSubstr(run_.string()));
  EXPECT_THAT(made.error().message, HasSubstr("--out"));
  EXPECT_FALSE(fs::exists(run_ / "run.json"));
}

TEST_F(RunFolderTest, AFolderThatCannotBeMadeIsNamed) {
  WriteFile(temp_.path() / "file", "x");
  const auto made = CreateRunFolder(temp_.path() / "file" / "run", {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(made.error().message, HasSubstr("file/run"));
}

TEST_F(RunFolderTest, AFreshRunHasNoSamplesAndIsReadable) {
  ASSERT_TRUE(CreateRunFolder(run_, FullRecord()).has_value());
  const ReadBack read = ReadAll(run_);
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  EXPECT_EQ(read.summary.value().samples, 0);
}

TEST_F(RunFolderTest, NoRunFolderIsSaidWithTheFile) {
  const auto read = ReadRunRecord(temp_.path());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ExitCode::kUsage);
  EXPECT_THAT(read.error().message, HasSubstr("run.json: No such file"));
}

TEST_F(RunFolderTest, BrokenJsonIsSaidWithItsLine) {
  WriteFile(temp_.path() / "run.json", "{\n\"v\": 1,\n oops}");
  const auto read = ReadRunRecord(temp_.path());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ExitCode::kUsage);
  EXPECT_THAT(read.error().message, HasSubstr("line 3"));
}

// A run.json that was cut short in the middle of a study's text.
TEST_F(RunFolderTest, ABrokenRecordIsNotRecitedButPlaced) {
  const std::string text =
      "{\"v\": 1,\n\"studies\": [{\"text\": \"" + std::string(5000, 's');
  WriteFile(temp_.path() / "run.json", text);
  const std::string said = ReadRunRecord(temp_.path()).error().message;
  EXPECT_THAT(said, HasSubstr("run.json: breaks off after " +
                              std::to_string(text.size()) + " bytes, line 2"));
  EXPECT_THAT(said, HasSubstr("put back a whole one"));
  EXPECT_EQ(said.find("ssss"), std::string::npos);
  EXPECT_LT(said.size() - temp_.path().string().size(), 250U);
}

// "oops" begins with the 12th byte: 2 and 8 in the lines before it, a space.
TEST_F(RunFolderTest, ABrokenRecordIsPlacedByItsByte) {
  WriteFile(temp_.path() / "run.json", "{\n\"v\": 1,\n oops}");
  EXPECT_THAT(ReadRunRecord(temp_.path()).error().message,
              HasSubstr("run.json: is no JSON from line 3 on (byte 12)"));
}

TEST_F(RunFolderTest, WhatIsWrongInTheRecordIsNamedByItsKey) {
  EXPECT_EQ(ProblemWith("/seed", 7), "");  // The helper alone breaks nothing.
  EXPECT_THAT(ProblemWith("/v", 2), HasSubstr("v is of another version"));
  EXPECT_THAT(ProblemWith("/seed", -1), HasSubstr("seed must be"));
  EXPECT_THAT(ProblemWith("/repeats", "5"), HasSubstr("repeats must be"));
  EXPECT_THAT(ProblemWith("/repeats", 5'000'000'000), HasSubstr("repeats"));
  EXPECT_THAT(ProblemWith("/hosts", 1), HasSubstr("hosts must be a list"));
  EXPECT_THAT(ProblemWith("/hosts/1", 1), HasSubstr("hosts[1] must be"));
  EXPECT_THAT(ProblemWith("/hosts/1/name", 1), HasSubstr("hosts[1].name must"));
  EXPECT_THAT(ProblemWith("/hosts/0/agent/0", 1),
              HasSubstr("hosts[0].agent[0] must be a text"));
  EXPECT_THAT(ProblemWith("/hosts/0/facts/2/value", json::array()),
              HasSubstr("hosts[0].facts[2].value must be"));
  EXPECT_THAT(ProblemWith("/pairs/0", {"a"}), HasSubstr("pairs[0] must be"));
  EXPECT_THAT(ProblemWith("/link/mtu", -1), HasSubstr("link.mtu must not"));
  EXPECT_THAT(ProblemWith("/studies/0/text", 1),
              HasSubstr("studies[0].text must"));
}

class SampleWriterTest : public RunFolderTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(CreateRunFolder(run_, FullRecord()).has_value());
    samples_ = run_ / "samples.jsonl";
  }
  void AppendOne(int number) {
    auto writer = SampleWriter::Open(run_);
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    const auto appended = writer.value().Append(SampleNumber(number));
    ASSERT_TRUE(appended.has_value()) << appended.error().message;
  }
  fs::path samples_;
};

TEST_F(SampleWriterTest, EachLineIsInTheFileWhenAppendReturns) {
  auto writer = SampleWriter::Open(run_);
  ASSERT_TRUE(writer.has_value());
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(writer.value().Append(SampleNumber(number)).has_value());
    const ReadBack read = ReadAll(run_);
    ASSERT_EQ(read.samples.size(), static_cast<std::size_t>(number + 1));
    EXPECT_EQ(read.samples.back(), SampleNumber(number));
  }
}

TEST_F(SampleWriterTest, OpeningKeepsWhatIsThere) {
  AppendOne(0);
  AppendOne(1);
  const ReadBack read = ReadAll(run_);
  ASSERT_EQ(read.samples.size(), 2U);
  EXPECT_EQ(read.samples[0].trial, "trial-0");
  EXPECT_EQ(read.samples[1].trial, "trial-1");
}

// At every place where a killed process may have stopped writing.
TEST_F(SampleWriterTest, ATornLineIsCutOffWhereverItWasTorn) {
  const std::string whole = ToLine(SampleNumber(0)) + "\n";
  const std::string next = ToLine(SampleNumber(1));
  for (std::size_t torn = 1; torn <= next.size(); torn += 97) {
    WriteFile(samples_, whole + next.substr(0, torn));
    AppendOne(2);
    const ReadBack read = ReadAll(run_);
    ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
    EXPECT_FALSE(read.summary.value().torn_last_line);
    ASSERT_EQ(read.samples.size(), 2U) << torn;
    EXPECT_EQ(read.samples[1].trial, "trial-2");
  }
}

TEST_F(SampleWriterTest, AFileOfATornLineOnlyBecomesEmpty) {
  // Longer than the blocks in which the end is searched.
  WriteFile(samples_, std::string(200'000, 'x'));
  AppendOne(0);
  EXPECT_EQ(ReadAll(run_).samples.size(), 1U);
}

// Flow `index` of three of `group`; an empty group is a trial by itself.
Sample FlowOf(const std::string& group, int index) {
  Sample sample = SampleNumber(index);
  sample.flow.reset();
  if (!group.empty()) sample.flow = TrialFlow{group, "ring", 3, index, 0.5};
  return sample;
}

std::string LineOf(const std::string& group, int index) {
  return ToLine(FlowOf(group, index)) + "\n";
}

TEST_F(SampleWriterTest, AGroupIsAppendedWhole) {
  auto writer = SampleWriter::Open(run_);
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(
      writer.value().Append({FlowOf("g", 0), FlowOf("g", 1)}).has_value());
  EXPECT_EQ(ReadFile(run_ / "samples.jsonl"), LineOf("g", 0) + LineOf("g", 1));
}

// Each place where a kill may have cut the last group of three.
TEST_F(SampleWriterTest, AGroupThatLacksAFlowIsTakenOutWhereverItWasTorn) {
  const std::string whole =
      LineOf("a", 0) + LineOf("a", 1) + LineOf("a", 2) + LineOf("", 0);
  const std::string group = LineOf("b", 0) + LineOf("b", 1) + LineOf("b", 2);
  const std::size_t one = LineOf("b", 0).size();
  for (const std::size_t torn :
       {std::size_t{0}, std::size_t{7}, one, one + 9, group.size() - 1}) {
    WriteFile(run_ / "samples.jsonl", whole + group.substr(0, torn));
    // One line with its newline is one sample; two are two.
    const std::int64_t lines = torn < one ? 0 : torn < 2 * one ? 1 : 2;
    const auto dropped = DropTornGroups(run_);
    ASSERT_TRUE(dropped.has_value()) << dropped.error().message;
    EXPECT_EQ(dropped.value(), lines) << torn;
    ASSERT_TRUE(SampleWriter::Open(run_).has_value());
    EXPECT_EQ(ReadFile(run_ / "samples.jsonl"), whole) << torn;
  }
  WriteFile(run_ / "samples.jsonl", whole + group);
  EXPECT_EQ(DropTornGroups(run_).value(), 0);
  EXPECT_EQ(ReadFile(run_ / "samples.jsonl"), whole + group);
}

TEST_F(SampleWriterTest, ATornGroupInTheMiddleIsTakenOutToo) {
  const std::string last = LineOf("b", 0) + LineOf("b", 1) + LineOf("b", 2);
  WriteFile(run_ / "samples.jsonl", LineOf("a", 0) + LineOf("a", 2) + last);
  EXPECT_EQ(DropTornGroups(run_).value(), 2);
  EXPECT_EQ(ReadFile(run_ / "samples.jsonl"), last);
}

TEST_F(SampleWriterTest, AFullDiskIsSaidWithFileAndRemedy) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full: Linux has it; in a bare chroot mknod -m 666 "
                    "/dev/full c 1 7";
  }
  fs::remove(samples_);
  fs::create_symlink("/dev/full", samples_);
  auto writer = SampleWriter::Open(run_);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  const auto appended = writer.value().Append(SampleNumber(0));
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, ExitCode::kNothingRan);
  EXPECT_EQ(appended.error().message,
            samples_.string() +
                ": No space left on device; free some space and run again "
                "with --resume");
}

TEST_F(SampleWriterTest, AFileThatCannotBeWrittenIsSaid) {
  fs::remove(samples_);
  fs::create_directory(samples_);
  const auto writer = SampleWriter::Open(run_);
  ASSERT_FALSE(writer.has_value());
  EXPECT_THAT(writer.error().message, HasSubstr("samples.jsonl: "));
}

// A disk of our own, to be filled; unmounted when it goes out of scope.
class TinyDisk {
 public:
  explicit TinyDisk(const fs::path& where) : where_(where.string()) {
    fs::create_directories(where);
    const std::string mount =
        "mount -t tmpfs -o size=64k none '" + where_ + "' 2>/dev/null";
    mounted_ = std::system(mount.c_str()) == 0;
  }
  ~TinyDisk() {
    if (!mounted_) return;
    const std::string unmount = "umount '" + where_ + "'";
    if (std::system(unmount.c_str()) != 0) ADD_FAILURE() << unmount;
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string where_;
  bool mounted_ = false;
};

TEST_F(SampleWriterTest, WhatWasWrittenBeforeTheDiskFilledStaysReadable) {
  const TinyDisk disk(temp_.path() / "disk");
  if (!disk.mounted())
    GTEST_SKIP() << "needs root, to mount a tmpfs and fill it: "
                    "sudo ./dev test";
  const fs::path run = temp_.path() / "disk" / "run";
  ASSERT_TRUE(CreateRunFolder(run, FullRecord()).has_value());
  auto writer = SampleWriter::Open(run);
  ASSERT_TRUE(writer.has_value());
  int written = 0;
  // 64 KiB hold a few dozen lines of some KiB.
  while (written < 100 &&
         writer.value().Append(SampleNumber(written)).has_value()) {
    ++written;
  }
  ASSERT_GT(written, 0);
  ASSERT_LT(written, 100);
  const ReadBack read = ReadAll(run);
  ASSERT_TRUE(read.summary.has_value()) << read.summary.error().message;
  EXPECT_EQ(read.summary.value().samples, written);
  // The part of a line that still went in has been taken out again.
  EXPECT_FALSE(read.summary.value().torn_last_line);

  // Space comes back, and the same writer goes on.
  fs::remove(run / "run.json");
  const auto appended = writer.value().Append(SampleNumber(written));
  ASSERT_TRUE(appended.has_value()) << appended.error().message;
  EXPECT_EQ(ReadAll(run).samples.size(), static_cast<std::size_t>(written + 1));
}

}  // namespace
}  // namespace wiretoll
