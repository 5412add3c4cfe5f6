// Studies in tests: a few lines of TOML around what a test is about.
#ifndef WIRETOLL_TESTS_STUDY_PARSING_H_
#define WIRETOLL_TESTS_STUDY_PARSING_H_

#include <gtest/gtest.h>

#include <string>

#include "harness/study/study.h"

namespace wiretoll {

// `factors` begins on line 4, after title, question and [factors].
inline std::string WithFactors(const std::string& factors) {
  return "title = \"T\"\nquestion = \"Q?\"\n[factors]\n" + factors +
         "\n[stop]\nmessages = 10\n";
}

// The whole message of the failure; "" if there is none.
inline std::string Complaint(const std::string& text) {
  const Outcome<Study> study = ParseStudy(text, "cases/x.toml");
  if (study.has_value()) return "";
  EXPECT_EQ(study.error().code, ExitCode::kUsage);
  return study.error().message;
}

inline Study Parsed(const std::string& text) {
  Outcome<Study> study = ParseStudy(text, "cases/x.toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  return study.has_value() ? std::move(study).value() : Study{};
}

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_STUDY_PARSING_H_
