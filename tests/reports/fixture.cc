#include "tests/reports/fixture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#if __has_include(<boost/process/v1/environment.hpp>)
#include <boost/process/v1/environment.hpp>
#else
#include <boost/process/environment.hpp>
#endif

namespace wiretoll {
namespace {

template <class T>
T Need(Outcome<T> outcome) {
  if (!outcome.has_value()) {
    std::fprintf(stderr, "fixture: %s\n", outcome.error().message.c_str());
    std::abort();
  }
  return std::move(outcome).value();
}

}  // namespace

std::string WideStudyText() {
  return R"(title = "Wide"
question = "What does the model say, buffer by buffer?"

[factors]
write = [1, 32, 1448, 16384]
read = [1, 65536]
nagle = ["on", "off"]
rcvbuf = [2, "unset"]

[stop]
bytes = 100000
)";
}

Analysis AnalysisOf(const std::filesystem::path& folder,
                    const SyntheticRun& run) {
  WriteSyntheticRun(folder / "run", run);
  return Need(Analyse({folder / "run"}));
}

WrittenReport ReportOf(const Analysis& analysis,
                       const std::filesystem::path& folder) {
  ReportSpec spec;
  spec.out = folder / "report";
  spec.runs = {folder / "run"};
  return Need(WriteReport(analysis, spec));
}

void SetFactor(Factors& factors, const std::string& name,
               const FactorValue& value) {
  for (auto& [key, old] : factors) {
    if (key != name) continue;
    old = value;
    return;
  }
  factors.emplace_back(name, value);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string PageOf(const std::filesystem::path& folder) {
  return ReadFile(folder / "report" / "report.html");
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      rows.push_back(std::move(row));
      row.assign(1, {});
    } else {
      row.back() += c;
    }
  }
  return rows;
}

PathSetting::PathSetting(const std::string& path) {
  auto environment = boost::this_process::environment();
  before_ = environment["PATH"].to_string();
  environment["PATH"] = path;
}

PathSetting::~PathSetting() {
  boost::this_process::environment()["PATH"] = before_;
}

}  // namespace wiretoll
