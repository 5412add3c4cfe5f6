#include "harness/programs/observe_verb.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/capture/capture_reader.h"
#include "harness/capture/observe.h"
#include "harness/programs/standard_error.h"
#include "platform/terminal.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Format = ObserveOptions::Format;

constexpr std::size_t kFlowsShown = 10;  // As text.

// How far the reading of a file is: over and over the same line on a terminal,
// else one every ten seconds; none of what is over within a second and a half.
class ReadingProgress {
 public:
  ReadingProgress(std::string file, bool quiet)
      : file_(std::move(file)),
        quiet_(quiet),
        terminal_(StandardErrorIsTerminal()) {
    std::error_code none;
    if (fs::is_regular_file(file_, none)) {
      const auto size = fs::file_size(file_, none);
      if (!none) whole_ = static_cast<double>(size);
    }
  }
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;
  ~ReadingProgress() {
    if (shown_ > 0) WriteError(fmt::format("\r{:{}}\r", "", shown_));
  }

  void Read(std::int64_t bytes) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (quiet_ || now < next_) return;
    next_ = now + (terminal_ ? 100ms : 10s);
    std::string line = Line(static_cast<double>(bytes), now - began_);
    if (!terminal_) return WriteError(line + "\n");
    const std::size_t width = line.size();
    if (shown_ > width) line.append(shown_ - width, ' ');
    WriteError("\r" + line);
    shown_ = width;
  }

 private:
  [[nodiscard]] std::string Line(double bytes, Nanoseconds took) const {
    const double megabytes = bytes / 1e6;
    if (whole_ <= 0) {
      return fmt::format("{:.0f} MB read in {}", megabytes,
                         FormatDuration(took));
    }
    const double share = std::min(1.0, bytes / whole_);
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(
        took * ((1 - share) / std::max(share, 1e-9)));
    return fmt::format("{:.0f} of {:.0f} MB read, {:.0f} %, {} left", megabytes,
                       whole_ / 1e6, 100 * share,
                       left < 1s ? "under 1 s" : FormatDuration(left));
  }

  std::string file_;
  bool quiet_;
  bool terminal_;
  double whole_ = 0;  // Bytes; 0: not known.
  SteadyTime began_ = std::chrono::steady_clock::now();
  SteadyTime next_ = began_ + 1500ms;
  std::size_t shown_ = 0;  // Columns of the line that stands.
};

Outcome<CaptureReader> OpenFile(const std::string& file) {
  if (file != "-") return CaptureReader::Open(file);
  // Shares std::cin's buffer, which is nobody else's here.
  return CaptureReader::Read(std::make_unique<std::istream>(std::cin.rdbuf()),
                             "standard input");
}

Failure NoSuchFlow(const Observation& seen, std::int64_t wanted) {
  const auto flows = static_cast<long long>(seen.flows.size());
  return {ExitCode::kUsage,
          fmt::format("{}: no flow has port {}, nor that number; {} ({})",
                      seen.file, wanted,
                      flows == 0 ? std::string("it holds no flow")
                                 : "it holds " + Count(flows, "flow"),
                      "without --flow the biggest are listed")};
}

class Printer {
 public:
  explicit Printer(Format format) : format_(format) {}

  void Print(const Observation& seen, const FlowChoice& choice) {
    const bool first = std::exchange(first_, false);
    switch (format_) {
      case Format::kText:
        fmt::print("{}{}", first ? "" : "\n", ObservationText(seen, choice));
        return;
      case Format::kCsv:
        fmt::print("{}{}", first ? ObservationCsvHeader() : "",
                   ObservationCsv(seen, choice));
        return;
      case Format::kJson:
        fmt::print("{}{}", first ? "[\n" : ",\n",
                   ObservationJson(seen, choice));
        return;
    }
  }
  void End() {
    if (format_ == Format::kJson) fmt::print("{}]\n", first_ ? "[" : "\n");
  }

 private:
  Format format_;
  bool first_ = true;
};

Outcome<Done> ObserveFile(const ObserveOptions& options,
                          const std::string& file, Printer& printer) {
  auto reader = OpenFile(file);
  if (!reader.has_value()) return reader.error();
  Observation seen;
  {
    ReadingProgress progress(file, options.quiet);
    seen = Observe(std::move(reader).value(),
                   file == "-" ? "standard input" : file,
                   [&progress](std::int64_t bytes) { progress.Read(bytes); });
  }  // Its last line goes before the figures come.
  FlowChoice choice{options.flow, options.top};
  if (!options.top && !options.flow && options.format == Format::kText)
    choice.top = kFlowsShown;
  if (options.flow && Choose(seen, choice).empty())
    return NoSuchFlow(seen, *options.flow);
  printer.Print(seen, choice);
  return Done{};
}

}  // namespace

Outcome<ExitCode> ObserveVerb(const ObserveOptions& options) {
  Printer printer(options.format);
  ExitCode code = ExitCode::kDone;
  for (const std::string& file : options.files) {
    const auto observed = ObserveFile(options, file, printer);
    if (observed.has_value()) continue;
    std::fflush(stdout);  // In the order of the files where both are one.
    fmt::print(stderr, "wiretoll: {}\n", observed.error().message);
    code = observed.error().code;
  }
  printer.End();
  return code;
}

}  // namespace wiretoll
