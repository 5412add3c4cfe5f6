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
constexpr const char* kSamplesPart = "samples.csv.part";
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

// samples.csv under way. Reading the run folders takes as long as everything
// else together, and has nothing to do with it: it goes on beside, under
// another name until it is known that there will be a report.
class SamplesFile {
 public:
  // Nothing, where the report has no tables.
  explicit SamplesFile(const ReportSpec& spec)
      : path_(spec.out / kSamplesName), part_(spec.out / kSamplesPart) {
    if (spec.formats.count(ReportFormat::kCsv) == 0) return;
    written_ = std::async(std::launch::async, [part = part_, runs = spec.runs] {
      return WriteWholeFile(part, [&runs](std::ostream& out) {
        return WriteSamplesCsv(runs, out);
      });
    });
  }

  // Waits for it, and names it among the files, before those that not every
  // report has.
  Outcome<Done> AddTo(std::vector<fs::path>& files) {
    if (!written_.valid()) return Done{};
    if (auto outcome = written_.get(); !outcome.has_value()) {
      return outcome.error();
    }
    std::error_code error;
    fs::rename(part_, path_, error);
    if (error) {
      std::error_code ignored;
      fs::remove(part_, ignored);
      return CannotWrite(path_, error.message());
    }
    files.insert(std::find_if(files.begin(), files.end(),
                              [](const fs::path& file) {
                                return file.extension() == ".csv";
                              }),
                 path_);
    return Done{};
  }

  // For a report that there will not be.
  void TakeBack() {
    if (!written_.valid()) return;
    written_.wait();
    std::error_code ignored;
    fs::remove(part_, ignored);
  }

 private:
  fs::path path_, part_;
  std::future<Outcome<Done>> written_;
};

// True if it was made, false if it was there.
Outcome<bool> MakeFolder(const ReportSpec& spec) {
  std::error_code error;
  const bool made = fs::create_directories(spec.out, error);
  if (error) return WithWayOut(CannotWrite(spec.out, error.message()), spec);
  return made;
}

Outcome<WrittenReport> Finish(const Analysis& analysis, const ReportSpec& spec,
                              SamplesFile& samples) {
  Outcome<WrittenReport> written = WritePages(analysis, spec);
  if (!written.has_value()) {
    samples.TakeBack();
    return WithWayOut(written.error(), spec);
  }
  const auto outcome = samples.AddTo(written.value().files);
  if (!outcome.has_value()) return WithWayOut(outcome.error(), spec);
  return written;
}

}  // namespace

Outcome<WrittenReport> WriteReport(const Analysis& analysis,
                                   const ReportSpec& spec) {
  if (auto made = MakeFolder(spec); !made.has_value()) return made.error();
  SamplesFile samples(spec);
  return Finish(analysis, spec, samples);
}

Outcome<WrittenReport> WriteReport(const ReportSpec& spec) {
  const auto made = MakeFolder(spec);
  if (!made.has_value()) return made.error();
  SamplesFile samples(spec);
  const auto analysis = Analyse(spec.runs);
  if (analysis.has_value()) return Finish(analysis.value(), spec, samples);
  samples.TakeBack();
  std::error_code not_empty;
  if (made.value()) fs::remove(spec.out, not_empty);
  return analysis.error();
}

}  // namespace wiretoll
