#include "reports/report.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <future>
#include <optional>

#include "reports/csv.h"
#include "reports/document.h"
#include "reports/json.h"
#include "reports/plots.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

Failure CannotWrite(const fs::path& path, const std::string& why) {
  return {ExitCode::kNothingRan,
          fmt::format("{} cannot be written: {}; choose another folder with "
                      "--out",
                      path.string(), why)};
}

using Filler = std::function<Outcome<Done>(std::ostream&)>;

Outcome<Done> WriteFile(const fs::path& path, const Filler& fill) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return CannotWrite(path, "it could not be opened");
  Outcome<Done> filled = fill(out);
  if (!filled.has_value()) return filled;
  out.close();
  if (!out) return CannotWrite(path, "the disk may be full");
  return Done{};
}

std::vector<Panel*> PanelsOf(Document& document) {
  std::vector<Panel*> panels;
  for (StudyPart& part : document.parts) {
    for (Picture& picture : part.pictures) {
      for (Panel& panel : picture.panels) panels.push_back(&panel);
    }
  }
  return panels;
}

// Gives the warning if there are none.
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

struct FileToWrite {
  ReportFormat format;
  const char* name;
  Filler fill;
};

constexpr const char* kSamplesName = "samples.csv";

Filler Text(const std::function<std::string()>& make) {
  return [make](std::ostream& out) -> Outcome<Done> {
    out << make();
    return Done{};
  };
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
       }}};
  for (const FileToWrite& file : files) {
    if (spec.formats.count(file.format) == 0) continue;
    const fs::path path = spec.out / file.name;
    const auto outcome = WriteFile(path, file.fill);
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
  if (error) return CannotWrite(spec.out, error.message());
  // Reading the run folders again takes as long as everything else together,
  // and has nothing to do with it.
  std::optional<std::future<Outcome<Done>>> samples;
  if (spec.formats.count(ReportFormat::kCsv) > 0) {
    samples = std::async(std::launch::async, [&spec] {
      return WriteFile(spec.out / kSamplesName, [&spec](std::ostream& out) {
        return WriteSamplesCsv(spec.runs, out);
      });
    });
  }
  Outcome<WrittenReport> written = WritePages(analysis, spec);
  if (!samples.has_value()) return written;
  const Outcome<Done> outcome = samples->get();
  if (!written.has_value()) return written;
  if (!outcome.has_value()) return outcome.error();
  written.value().files.push_back(spec.out / kSamplesName);
  return written;
}

}  // namespace wiretoll
