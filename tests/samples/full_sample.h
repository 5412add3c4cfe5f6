// Samples and folders for tests.
#ifndef WIRETOLL_TESTS_SAMPLES_FULL_SAMPLE_H_
#define WIRETOLL_TESTS_SAMPLES_FULL_SAMPLE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Every field set, each number another one, so that two fields that change
// places are seen.
EndReport FullEnd(bool receiver);
Sample FullSample();
// The same of a UDP trial, one of several flows.
EndReport FullUdpEnd(bool receiver);
Sample FullUdpSample();
RunRecord FullRecord();

// A folder that goes with its contents when it goes out of scope.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string ReadFile(const std::filesystem::path& file);
void WriteFile(const std::filesystem::path& file, const std::string& text);

struct ReadBack {
  std::vector<Sample> samples;
  Outcome<ReadSummary> summary;
};
ReadBack ReadAll(const std::filesystem::path& folder);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_SAMPLES_FULL_SAMPLE_H_
