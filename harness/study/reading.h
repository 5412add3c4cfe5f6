// How the parts of a study file are read: what stands where, and what to say
// about it. Inside harness/study/ only.
#ifndef WIRETOLL_HARNESS_STUDY_READING_H_
#define WIRETOLL_HARNESS_STUDY_READING_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// The first thing that is wrong with a file. The parts go on reading past it,
// each with what it has, and nobody uses the outcome; so no part has to unwind.
class Complaint {
 public:
  explicit Complaint(std::string file) : file_(std::move(file)) {}

  // "FILE:LINE: KEY: WHAT"; only the first one counts. An empty key is left
  // out.
  void Note(int line, std::string_view key, std::string_view what);

  [[nodiscard]] bool any() const { return first_.has_value(); }
  // Requires any().
  [[nodiscard]] const Failure& first() const { return *first_; }

 private:
  std::string file_;
  std::optional<Failure> first_;
};

// The parts between separators; "" has one, empty.
std::vector<std::string_view> Split(std::string_view text, char separator);

// In single quotes on one line: control characters escaped, long text cut.
std::string Quote(std::string_view text);

// What to do about an unknown word: "; did you mean \"write\"?" where a known
// one is near, else "; known: write, read".
std::string Hint(std::string_view word, const std::vector<std::string>& known);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_STUDY_READING_H_
