// What the tests of reports share: a run, its analysis and its report.
#ifndef WIRETOLL_TESTS_REPORTS_FIXTURE_H_
#define WIRETOLL_TESTS_REPORTS_FIXTURE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "reports/report.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {

// A study with several receive buffers and readers: small multiples.
std::string WideStudyText();

// Writes the run under `folder` and analyses it; aborts if that fails.
Analysis AnalysisOf(const std::filesystem::path& folder,
                    const SyntheticRun& run);

// The report of an analysis of the run that lies in `folder`; aborts if it
// cannot be written.
WrittenReport ReportOf(const Analysis& analysis,
                       const std::filesystem::path& folder);

// Replaces the factor, or adds it.
void SetFactor(Factors& factors, const std::string& name,
               const FactorValue& value);

std::string ReadFile(const std::filesystem::path& path);
std::string PageOf(const std::filesystem::path& folder);

int CountOf(const std::string& text, const std::string& part);

// RFC 4180.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text);

// Sets PATH for as long as it lives.
class PathSetting {
 public:
  explicit PathSetting(const std::string& path);
  PathSetting(const PathSetting&) = delete;
  PathSetting& operator=(const PathSetting&) = delete;
  ~PathSetting();

 private:
  std::string before_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_REPORTS_FIXTURE_H_
