// The studies that come with the product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/study/study.h"

namespace wiretoll {
namespace {

std::vector<std::string> CaseFiles() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(WIRETOLL_CASES)) {
    files.push_back(entry.path().string());
  }
  return files;
}

Study Load(const std::string& name) {
  Outcome<Study> study =
      LoadStudy(std::string(WIRETOLL_CASES) + "/" + name + ".toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  return study.has_value() ? std::move(study).value() : Study{};
}

TEST(CasesTest, EveryFileInCasesLoadsWithIdsThatAreUnique) {
  ASSERT_GE(CaseFiles().size(), 8U);
  for (const std::string& file : CaseFiles()) {
    const Outcome<Study> study = LoadStudy(file);
    ASSERT_TRUE(study.has_value()) << study.error().message;
    std::set<std::string> ids;
    for (const Case& each : study.value().cases) ids.insert(each.id);
    EXPECT_EQ(ids.size(), study.value().cases.size()) << file;
  }
}

TEST(CasesTest, EveryFileOpensWithACommentThatSaysWhatToSee) {
  for (const std::string& file : CaseFiles()) {
    const std::string text = LoadStudy(file).value().text;
    EXPECT_TRUE(text.starts_with("# ")) << file;
    EXPECT_NE(text.find("# What to see:"), std::string::npos) << file;
  }
}

// A pattern is no study without something that it could be wrong about.
TEST(CasesTest, EveryStudyHasClaims) {
  for (const std::string& file : CaseFiles()) {
    EXPECT_FALSE(LoadStudy(file).value().claims.empty()) << file;
  }
}

// `wiretoll list` shows the questions: by them people choose.
TEST(CasesTest, NoTwoStudiesAskTheSameQuestion) {
  std::set<std::string> questions;
  for (const std::string& file : CaseFiles()) {
    const std::string question = LoadStudy(file).value().question;
    EXPECT_TRUE(questions.insert(question).second) << file << ": " << question;
  }
}

// 15 writes x 2 reads x 2 Nagle x 3 rcvbuf = 180; 5 x 2 x 2 x 3 = 60;
// 3 x 3 x 2 = 18; 2 x 2 x 2 = 8; 10 buffers; 4 x 4 = 16; 2 x 2 x 5 = 20;
// 4 writes; 2 x 14; 2 x 3; 2 transports x 10 blocks x 2 gaps = 40.
TEST(CasesTest, MatricesHaveTheSizeOfTheirCrossProduct) {
  EXPECT_EQ(Load("tcp-efficiency").cases.size(), 180U);
  EXPECT_EQ(Load("quick").cases.size(), 60U);
  EXPECT_EQ(Load("small-writes").cases.size(), 18U);
  EXPECT_EQ(Load("write-write-read").cases.size(), 8U);
  EXPECT_EQ(Load("buffer-truth").cases.size(), 10U);
  EXPECT_EQ(Load("nodelay-limits").cases.size(), 16U);
  EXPECT_EQ(Load("silly-window").cases.size(), 20U);
  EXPECT_EQ(Load("header-cost").cases.size(), 4U);
  EXPECT_EQ(Load("packet-size").cases.size(), 28U);
  EXPECT_EQ(Load("packet-size-1gb").cases.size(), 6U);
  EXPECT_EQ(Load("p2p-block-size").cases.size(), 40U);
  EXPECT_EQ(Load("window-bdp").cases.size(), 11U);
  EXPECT_EQ(Load("congestion").cases.size(), 3U);
  EXPECT_EQ(Load("send-buffer").cases.size(), 9U);
}

// Of both publications, whatever came to be answered.
TEST(CasesTest, ThePublishedClaimsOfSizesAreAllThere) {
  const auto ids = [](const std::string& name) {
    std::set<std::string> all;
    for (const Claim& claim : Load(name).claims) all.insert(claim.id);
    return all;
  };
  EXPECT_THAT(ids("p2p-block-size"),
              testing::IsSupersetOf({"2a", "2b", "2c", "2d", "2e"}));
  EXPECT_THAT(ids("packet-size"),
              testing::IsSupersetOf({"4a", "4b", "4c", "4d", "4e-lan",
                                     "4e-lan-to-lan", "4f", "4g"}));
}

std::set<char> SentencesOf(const Study& study) {
  std::set<char> sentences;
  for (const Claim& claim : study.claims) sentences.insert(claim.id.at(1));
  return sentences;
}

TEST(CasesTest, AllSevenClaimsOfTheThesisAreThereInBothForms) {
  const std::set<char> all{'a', 'b', 'c', 'd', 'e', 'f', 'g'};
  EXPECT_EQ(SentencesOf(Load("tcp-efficiency")), all);
  EXPECT_EQ(SentencesOf(Load("quick")), all);
}

TEST(CasesTest, TheQuickFormIsPartOfTheWholeMatrix) {
  std::set<std::string> whole;
  for (const Case& each : Load("tcp-efficiency").cases) whole.insert(each.id);
  for (const Case& each : Load("quick").cases) {
    EXPECT_EQ(whole.count(each.id), 1U) << each.id;
  }
}

// With two hosts, five blocks of both directions and the 100 Mbit/s that the
// lab has, no trial may be told to last longer than a tenth of a second.
TEST(CasesTest, NoQuickTrialIsToldToLastOverATenthOfASecond) {
  constexpr double kLine = 100e6 / 8 * 1448 / 1538;  // Payload, bytes/s.
  for (const Case& each : Load("quick").cases) {
    ASSERT_TRUE(each.workload.stop_time && each.workload.stop_bytes);
    EXPECT_LE(each.workload.stop_time->count(), 100'000'000) << each.id;
    EXPECT_LE(static_cast<double>(each.workload.stop_bytes->count) / kLine, 0.1)
        << each.id;
  }
}

}  // namespace
}  // namespace wiretoll
