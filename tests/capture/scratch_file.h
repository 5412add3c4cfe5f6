// A file for one test, gone with it.
#ifndef WIRETOLL_TESTS_CAPTURE_SCRATCH_FILE_H_
#define WIRETOLL_TESTS_CAPTURE_SCRATCH_FILE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace wiretoll {

class ScratchFile {
 public:
  // Named for the test that runs: others run beside it.
  explicit ScratchFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / Name()) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static std::string Name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("wiretoll-") + test->test_suite_name() +
                       "-" + test->name() + ".scratch";
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
  }

  std::filesystem::path path_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_CAPTURE_SCRATCH_FILE_H_
