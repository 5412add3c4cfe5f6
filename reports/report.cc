#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <string_view>
#include <system_error>

#include "reports/csv.h"
#include "reports/directions_csv.h"
#include "reports/document.h"
#include "reports/files.h"
#include "reports/json.h"
#include "reports/plots.h"
#include "reports/predictions.h"
#include "reports/size_tables.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

// A report can be made again, elsewhere; what counts is the samples.
Failure WithWayOut(const Failure& failure, const ReportSpec& spec) {
  std::vector<std::string> command{"wiretoll", "report"};
  for (const fs::path& run : spec.runs) command.push_back(run.string());
  return {failure.code,
          fmt::format("{}\nthe samples are safe; to go on, make room or write "
                      "elsewhere:  {} --out ELSEWHERE",
                      failure.message, ShellCommand(command))};
}

std::vector<Panel*> PanelsOf(Document& document) {
  std::vector<Panel*> panels;
  const auto take = [&panels](std::vector<Picture>& pictures) {
    for (Picture& picture : pictures) {
      for (Panel& panel : picture.panels) {
        if (panel.svg.empty()) panels.push_back(&panel);
      }
    }
  };
  for (StudyPart& part : document.parts) {
    for (Section& section : part.contrasts) {
      take(section.pictures);
      take(section.later);
    }
    take(part.pictures);
  }
  return panels;
}

}  // namespace

std::optional<std::string> DrawPictures(Document& document,
                                        std::chrono::milliseconds limit) {
  const std::vector<Panel*> panels = PanelsOf(document);
  std::vector<PlotRequest> requests;
  requests.reserve(panels.size());
  for (const Panel* panel : panels) requests.push_back(panel->request);
  auto drawn = DrawPlots(requests, limit);
  if (!drawn.has_value()) {
    document.no_pictures = drawn.error().message;
    return fmt::format("pictures left out: {}", document.no_pictures);
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    panels[i]->svg = std::move(drawn.value()[i]);
  }
  return std::nullopt;
}

namespace {

struct FileToWrite {
  ReportFormat format;
  const char* name;
  FileFiller fill;
};

constexpr const char* kSamplesName = "samples.csv";
constexpr const char* kPredictionsName = "predictions.csv";
constexpr const char* kDirectionsName = "directions.csv";
constexpr const char* kKneesName = "knees.csv";

FileFiller Text(const std::function<std::string()>& make) {
  return [make](std::ostream& out) -> Outcome<Done> {
    out << make();
    return Done{};
  };
}

// One system has no directions, and some cases no rule.
bool IsEmpty(const Analysis& analysis, const FileToWrite& file) {
  const std::string_view name = file.name;
  return (name == kDirectionsName && analysis.contrasts.empty()) ||
         (name == kKneesName && KneesToTell(analysis).empty()) ||
         (name == kPredictionsName && !HasPredictions(analysis));
}

// All but samples.csv.
Outcome<WrittenReport> WritePages(const Analysis& analysis,
                                  const ReportSpec& spec) {
  Document document = MakeDocument(analysis);
  WrittenReport written;
  if (spec.formats.count(ReportFormat::kHtml) > 0) {
    const auto warning = DrawPictures(document, spec.picture_limit);
    if (warning.has_value()) written.warnings.push_back(*warning);
  }
  const std::vector<FileToWrite> files{
      {ReportFormat::kHtml, "report.html",
       Text([&] { return HtmlPage(document); })},
      {ReportFormat::kMarkdown, "report.md",
       Text([&] { return MarkdownPage(document); })},
      {ReportFormat::kJson, "report.json",
       [&](std::ostream& out) -> Outcome<Done> {
         WriteReportJson(analysis, out);
         return Done{};
       }},
      {ReportFormat::kCsv, kPredictionsName,
       [&](std::ostream& out) -> Outcome<Done> {
         WritePredictionsCsv(analysis, out);
         return Done{};
       }},
      {ReportFormat::kCsv, kDirectionsName,
       [&](std::ostream& out) -> Outcome<Done> {
         WriteDirectionsCsv(analysis, out);
         return Done{};
       }},
      {ReportFormat::kCsv, kKneesName, [&](std::ostream& out) -> Outcome<Done> {
         WriteKneesCsv(analysis, out);
         return Done{};
       }}};
  for (const FileToWrite& file : files) {
    if (spec.formats.count(file.format) == 0) continue;
    if (IsEmpty(analysis, file)) continue;
    const fs::path path = spec.out / file.name;
    const auto outcome = WriteWholeFile(path, file.fill);
    if (!outcome.has_value()) return outcome.error();
    written.files.push_back(path);
  }
  return written;
}

}  // namespace

Outcome<WrittenReport> WriteReport(const Analysis& analysis,
                                   const ReportSpec& spec) {
  std::error_code error;
  fs::create_directories(spec.out, error);
  if (error) return WithWayOut(CannotWrite(spec.out, error.message()), spec);
  // Reading the run folders again takes as long as everything else together,
  // and has nothing to do with it.
  std::optional<std::future<Outcome<Done>>> samples;
  if (spec.formats.count(ReportFormat::kCsv) > 0) {
    samples = std::async(std::launch::async, [&spec] {
      return WriteWholeFile(spec.out / kSamplesName,
                            [&spec](std::ostream& out) {
                              return WriteSamplesCsv(spec.runs, out);
                            });
    });
  }
  Outcome<WrittenReport> written = WritePages(analysis, spec);
  const Outcome<Done> outcome =
      samples.has_value() ? samples->get() : Outcome<Done>(Done{});
  if (!written.has_value()) return WithWayOut(written.error(), spec);
  if (!outcome.has_value()) return WithWayOut(outcome.error(), spec);
  if (!samples.has_value()) return written;
  // Before those that not every report has.
  std::vector<fs::path>& files = written.value().files;
  files.insert(std::find_if(files.begin(), files.end(),
                            [](const fs::path& file) {
                              return file.extension() == ".csv";
                            }),
               spec.out / kSamplesName);
  return written;
}

}  // namespace wiretoll
