#include "harness/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/study/toml_reading.h"

namespace wiretoll {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

const std::vector<std::string>& TopLevelKeys() {
  static const std::vector<std::string> keys{
      "title",   "question", "source", "repeats", "verify", "capture",
      "observe", "factors",  "stop",   "claim",   "plot"};
  return keys;
}

int ReadRepeats(const toml::table& root, Complaint& complaint) {
  constexpr int kDefault = 5;
  constexpr std::int64_t kMost = 1000;
  const toml::node* node = root.get("repeats");
  if (node == nullptr) return kDefault;
  const auto* number = node->as_integer();
  if (number != nullptr && number->get() >= 1 && number->get() <= kMost) {
    return static_cast<int>(number->get());
  }
  complaint.Note(LineOf(*node), "repeats",
                 fmt::format("must be an integer from 1 to {}", kMost));
  return kDefault;
}

std::optional<Nanoseconds> ReadSeries(const toml::table& root,
                                      Complaint& complaint) {
  const toml::node* node = root.get("observe");
  if (node == nullptr) return std::nullopt;
  const toml::table* observe = node->as_table();
  if (observe == nullptr) {
    complaint.Note(LineOf(*node), "observe", "must be a table, [observe]");
    return std::nullopt;
  }
  RefuseUnknownKeys(*observe, "observe.", {"series"}, complaint);
  const std::string text = NeedText(*observe, "observe.", "series", complaint);
  if (complaint.any()) return std::nullopt;
  const auto period = ParseSeriesPeriod(text);
  if (!period) {
    complaint.Note(
        LineOf(*observe->get("series")), "observe.series",
        fmt::format("{} is no time between two moments; it is from "
                    "{} to {}, such as \"1ms\"",
                    Quote(text), SpellDuration(kShortestSeriesPeriod),
                    SpellDuration(kLongestSeriesPeriod)));
  }
  return period;
}

std::vector<Plot> ReadPlots(const toml::table& root, Complaint& complaint) {
  const std::vector<std::string> kinds(kPlotKinds.begin(), kPlotKinds.end());
  std::vector<Plot> plots;
  for (const toml::table* table : ReadTables(root, "plot", complaint)) {
    RefuseUnknownKeys(*table, "plot.", {"kind", "title"}, complaint);
    Plot plot{NeedText(*table, "plot.", "kind", complaint),
              ReadText(*table, "plot.", "title", complaint), LineOf(*table)};
    if (std::ranges::count(kinds, plot.kind) == 0) {
      complaint.Note(LineOf(*table->get("kind")), "plot.kind",
                     "no picture of ours" + Hint(plot.kind, kinds));
    }
    plots.push_back(std::move(plot));
  }
  return plots;
}

Study ReadStudy(const toml::table& root, Complaint& complaint) {
  RefuseUnknownKeys(root, "", TopLevelKeys(), complaint);
  Study study;
  study.title = NeedText(root, "", "title", complaint);
  study.question = NeedText(root, "", "question", complaint);
  study.source = ReadText(root, "", "source", complaint);
  study.repeats = ReadRepeats(root, complaint);
  study.capture = ReadSwitch(root, "", "capture", complaint);
  study.series = ReadSeries(root, complaint);
  const bool verify = ReadSwitch(root, "", "verify", complaint);
  Matrix matrix = ReadMatrix(root, verify, complaint);
  study.cases = std::move(matrix.cases);
  study.varying = std::move(matrix.varying);
  if (!complaint.any()) study.claims = ReadClaims(root, study.cases, complaint);
  study.plots = ReadPlots(root, complaint);
  return study;
}

std::string Malformed(const toml::parse_error& error) {
  const std::string_view what = error.description();
  const bool twice = what.find("redefine") != std::string_view::npos;
  return fmt::format(
      "malformed TOML: {}; {}", what,
      twice ? "give every key once" : "see toml.io for how it is written");
}

Failure FileFailure(const std::string& path, std::string_view what) {
  return {ExitCode::kUsage, fmt::format("{}: {}", path, what)};
}

}  // namespace

std::optional<Nanoseconds> ParseSeriesPeriod(std::string_view text) {
  const auto period = ParseDuration(text);
  if (!period || *period < kShortestSeriesPeriod ||
      *period > kLongestSeriesPeriod) {
    return std::nullopt;
  }
  return period;
}

Outcome<Study> ParseStudy(const std::string& text, const std::string& file) {
  Complaint complaint(file);
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    complaint.Note(static_cast<int>(error.source().begin.line), "",
                   Malformed(error));
    return complaint.first();
  }
  Study study = ReadStudy(parsed.table(), complaint);
  if (complaint.any()) return complaint.first();
  study.name = std::filesystem::path(file).stem().string();
  study.file = file;
  study.text = text;
  return study;
}

Outcome<Study> LoadStudy(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return FileFailure(path, "no such file; `wiretoll list` shows the studies");
  }
  // A pipe or a device may never end.
  if (!std::filesystem::is_regular_file(path, error)) {
    return FileFailure(path, "is no regular file; name a study's .toml");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(
      static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  if (!in.is_open() || in.bad()) {
    return FileFailure(path, "cannot be read; check its permissions");
  }
  if (text.size() > kLargestFile) {
    return FileFailure(path, "is larger than 1 MiB, which no study is");
  }
  return ParseStudy(text, path);
}

}  // namespace wiretoll
