// The command line as values.
#ifndef WIRETOLL_HARNESS_PROGRAMS_OPTIONS_H_
#define WIRETOLL_HARNESS_PROGRAMS_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/lab/lab.h"
#include "harness/sink/sink.h"
#include "harness/theory/tables.h"
#include "harness/theory/windows.h"
#include "reports/report.h"

namespace wiretoll {

// What of a lab the command line says; the default is a two-host lab over a
// true 100 Mbit/s Ethernet.
struct LabOptions {
  std::string kinds = "linux,linux";
  LinkSpec link{BitsPerSecond{100e6}, Nanoseconds{0}, 0, 1500};
  bool link_given = false;  // A fallback must not drop it silently.
  std::map<std::string, std::string> sysctls;  // In every host.
};

struct RunOptions {
  std::vector<std::string> studies;  // Names or files; empty: the default.
  std::optional<std::string> hosts;  // Else a lab.
  LabOptions lab;
  std::optional<std::string> pairs;
  std::optional<int> repeats;
  std::optional<double> precision;  // A fraction.
  std::optional<std::uint64_t> seed;
  std::string filter;
  bool quick = false;
  bool capture = false;  // Every trial; a study may ask for it too.
  std::uint32_t snap_bytes = 128;
  std::optional<Nanoseconds> series;  // Every trial; a study may ask too.
  std::optional<std::string> out;
  bool resume = false;
  bool report = true;
  std::uint16_t first_port = 7001;
  std::uint16_t last_port = 7099;
  std::optional<std::chrono::milliseconds> deadline;
  bool quiet = false;
  bool json = false;
  // As given, to be written down: without --out, --resume, --quiet, --json.
  std::vector<std::string> arguments;
};

struct ReportOptions {
  std::vector<std::string> runs;
  std::optional<std::string> out;
  std::set<ReportFormat> formats;
  bool quiet = false;
};

struct CompareOptions {
  std::string base, next;  // Run folders, or run.json inside.
  enum class Format { kText, kMarkdown, kJson } format = Format::kText;
  std::optional<std::string> out;  // For page, Markdown and JSON.
  std::optional<double> fail_on;   // A fraction, from 0, below 1.
};

struct ExplainOptions {
  std::string run;    // Run folder, or run.json inside.
  std::string trial;  // An id, or the start of one; empty: list them.
  enum class Format { kHtml, kText, kJson } format = Format::kHtml;
  std::optional<std::string> out;
};

struct TheoryCommand {
  TheoryOptions options;
  // --window or --rtt: what windows allow, instead of what payloads cost.
  std::optional<WindowOptions> windows;
  enum class Format { kText, kCsv, kJson } format = Format::kText;
};

struct ListOptions {
  bool json = false;
  bool factors = false;  // What a study may vary, instead.
};

struct LabCommand {
  enum class What { kUp, kDown, kStatus } what = What::kStatus;
  LabOptions lab;
  std::string id;  // down: which; empty: all.
  bool json = false;
};

struct CheckOptions {
  std::string hosts;  // The file.
  std::uint16_t first_port = 7001;
  std::uint16_t last_port = 7099;
  enum class Format { kText, kJson } format = Format::kText;
  bool quiet = false;
};

struct ExportOptions {
  std::vector<std::string> runs;  // Run folders.
  // Exactly one of them: a file, or a folder.
  std::optional<std::string> sqlite;
  std::optional<std::string> csv;
  bool quiet = false;
};

struct AdviseOptions {
  std::string run;                   // A recorded run; else it is measured.
  std::optional<std::string> hosts;  // Else a lab.
  LabOptions lab;
  std::optional<std::string> pair;   // "A,B": sender and receiver.
  std::optional<std::string> study;  // Whose cell is diagnosed; else the_case,
  std::string filter;
  std::string the_case;  // "rcvbuf=16KiB,gap=1ms"; empty: a bulk stream.
  int repeats = 5;
  Nanoseconds time{1'000'000'000};
  std::uint16_t first_port = 7001;
  std::uint16_t last_port = 7099;
  bool verify = false;
  enum class Format { kText, kJson } format = Format::kText;
  bool quiet = false;
  std::vector<std::string> arguments;  // As given.
};

struct ObserveOptions {
  std::vector<std::string> files;  // "-": standard input.
  enum class Format { kText, kCsv, kJson } format = Format::kText;
  std::optional<std::int64_t> flow;  // A port, or a number from 1 on.
  std::optional<std::size_t> top;    // Empty: 10 as text, else all.
  bool quiet = false;
};

struct SinkOptions {
  SinkSpec spec;
  bool json = false;  // One line a stream, as in samples.jsonl.
  bool quiet = false;
};

// Nothing more to do: help or version was printed.
struct Answered {
  int exit_code = 0;
};

using Command =
    std::variant<Answered, RunOptions, ReportOptions, CompareOptions,
                 ExportOptions, ExplainOptions, TheoryCommand, ListOptions,
                 CheckOptions, AdviseOptions, ObserveOptions, SinkOptions,
                 LabCommand>;

// Prints help, version and usage errors itself; those come back as Answered
// with the exit code (0 or 2).
Command ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_OPTIONS_H_
