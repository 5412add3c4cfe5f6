// wiretoll: the coordinator. Each verb is a few lines; read them first.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/base/words.h"
#include "harness/lab/lab.h"
#include "harness/programs/advise_verb.h"
#include "harness/programs/check_verb.h"
#include "harness/programs/compare_verb.h"
#include "harness/programs/explain_verb.h"
#include "harness/programs/export_verb.h"
#include "harness/programs/ground.h"
#include "harness/programs/help.h"
#include "harness/programs/observe_verb.h"
#include "harness/programs/options.h"
#include "harness/programs/run_verb.h"
#include "harness/programs/sink_verb.h"
#include "harness/run/hosts.h"
#include "harness/study/factors.h"
#include "harness/study/study.h"
#include "harness/theory/tables.h"
#include "harness/theory/windows.h"
#include "platform/process.h"
#include "reports/report.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

// Data that nobody got must not look like success.
bool CouldWriteOutput() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout)
    return true;
  fmt::print(stderr, "wiretoll: standard output cannot be written: {}\n",
             std::strerror(errno));
  return false;
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Outcome<ExitCode> Do(const Answered& answered) {
  return static_cast<ExitCode>(answered.exit_code);
}

Outcome<ExitCode> Do(const RunOptions& options) { return RunVerb(options); }

Outcome<ExitCode> Do(const CheckOptions& options) { return CheckVerb(options); }

Outcome<ExitCode> Do(const AdviseOptions& options) {
  return AdviseVerb(options);
}

Outcome<ExitCode> Do(const ReportOptions& options) {
  std::vector<fs::path> runs;
  for (const std::string& name : options.runs) {
    auto folder = RunFolder(name);
    if (!folder.has_value()) return folder.error();
    runs.push_back(std::move(folder).value());
  }
  ReportSpec spec;
  spec.runs = runs;
  spec.out = options.out ? fs::path(*options.out) : runs.front() / "report";
  if (!options.formats.empty()) spec.formats = options.formats;
  const auto written = WriteReport(spec);
  if (!written.has_value()) return written.error();
  for (const std::string& warning : written.value().warnings)
    fmt::print(stderr, "wiretoll: {}\n", warning);
  for (const fs::path& file : written.value().files) {
    if (!options.quiet) fmt::print("{}\n", file.string());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Do(const CompareOptions& options) {
  return CompareVerb(options);
}

Outcome<ExitCode> Do(const ExportOptions& options) {
  return ExportVerb(options);
}

Outcome<ExitCode> Do(const ObserveOptions& options) {
  return ObserveVerb(options);
}

Outcome<ExitCode> Do(const SinkOptions& options) { return SinkVerb(options); }

Outcome<ExitCode> Do(const ExplainOptions& options) {
  return ExplainVerb(options);
}

Outcome<ExitCode> PrintWindows(const TheoryCommand& theory) {
  WindowOptions options = *theory.windows;
  const TheoryOptions& asked = theory.options;
  options.link = asked.link;
  options.ip_version = asked.ip_version;
  options.timestamps = asked.timestamps;
  options.vlan = asked.vlan;
  options.mtu = asked.mtu;
  const auto table = MakeWindowTable(options);
  if (!table.has_value()) return table.error();
  using Format = TheoryCommand::Format;
  fmt::print("{}", theory.format == Format::kJson  ? WindowJson(table.value())
                   : theory.format == Format::kCsv ? WindowCsv(table.value())
                                                   : WindowText(table.value()));
  return ExitCode::kDone;
}

Outcome<ExitCode> Do(const TheoryCommand& theory) {
  if (theory.windows) return PrintWindows(theory);
  const auto table = MakeTheoryTable(theory.options);
  if (!table.has_value()) return table.error();
  using Format = TheoryCommand::Format;
  const std::string text =
      theory.format == Format::kJson  ? TheoryJson(table.value())
      : theory.format == Format::kCsv ? TheoryCsv(table.value())
                                      : TheoryText(table.value());
  fmt::print("{}", text);
  return ExitCode::kDone;
}

Outcome<std::vector<Study>> AllStudies() {
  const fs::path folder = CasesFolder();
  if (folder.empty()) {
    return Failure{ExitCode::kNothingRan,
                   "no studies found; set WIRETOLL_CASES to their folder"};
  }
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml")
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Study> studies;
  for (const std::string& file : files) {
    auto study = LoadStudy(file);
    if (!study.has_value()) return study.error();
    studies.push_back(std::move(study).value());
  }
  return studies;
}

const char* ScopeText(Scope scope) {
  switch (scope) {
    case Scope::kStream:
      return " Streams only.";
    case Scope::kRequestResponse:
      return " Request-response only.";
    case Scope::kTcp:
      return " TCP only.";
    case Scope::kUdp:
      return " UDP only.";
    case Scope::kAlways:
      break;
  }
  return "";
}

Outcome<ExitCode> ListFactors(bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  for (const FactorSpec& factor : FactorTable()) {
    const std::string fallback = SpellFactor(FallbackOf(factor));
    if (as_json) {
      json.push_back({{"name", factor.name},
                      {"meaning", factor.meaning},
                      {"values", RangeOf(factor)},
                      {"default", fallback}});
      continue;
    }
    fmt::print("{}", HelpEntry(std::string(factor.name),
                               fmt::format("{}: {} (default: {}).{}",
                                           factor.meaning, RangeOf(factor),
                                           fallback, ScopeText(factor.scope))));
  }
  if (as_json) fmt::print("{}\n", Dump(json));
  return ExitCode::kDone;
}

Outcome<ExitCode> Do(const ListOptions& options) {
  if (options.factors) return ListFactors(options.json);
  const auto studies = AllStudies();
  if (!studies.has_value()) return studies.error();
  nlohmann::json json = nlohmann::json::array();
  std::size_t width = 0;
  for (const Study& study : studies.value()) {
    width = std::max(width, study.name.size());
    json.push_back({{"name", study.name},
                    {"title", study.title},
                    {"question", study.question},
                    {"source", study.source},
                    {"file", study.file},
                    {"cases", study.cases.size()},
                    {"repeats", study.repeats},
                    {"claims", study.claims.size()}});
  }
  if (options.json) {
    fmt::print("{}\n", Dump(json));
    return ExitCode::kDone;
  }
  for (const Study& study : studies.value()) {
    const auto cases = static_cast<long long>(study.cases.size());
    const auto claims = static_cast<long long>(study.claims.size());
    fmt::print("{:{}}  {}\n{:{}}  {}, {}, {}; {}\n", study.name, width,
               study.question, "", width, Count(cases, "case"),
               Count(study.repeats, "block"), Count(claims, "claim"),
               study.file);
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> LabUp(const LabCommand& command) {
  // In a user namespace it would be gone with us.
  const LabAbility ability = ProbeLabAbility();
  if (ability.means != LabMeans::kRoot) {
    return Failure{
        ExitCode::kNothingRan,
        "a lab that stays needs root, as with sudo: " + ability.reason};
  }
  fmt::print(stderr, "{}", LongLineWarning(command.lab));
  auto lab = Lab::Up(ToLabSpec(command.lab));
  if (!lab.has_value()) return lab.error();
  fmt::print(stderr, "{}", TellLineCheck(lab.value().check(), false));
  HostsFile file;
  for (const LabHost& host : lab.value().hosts())
    file.hosts.push_back({host.name, host.address, host.agent});
  file.link = lab.value().link();
  fmt::print("{}", WriteHosts(file));
  if (!CouldWriteOutput()) return ExitCode::kNothingRan;  // It goes again.
  if (auto kept = lab.value().Keep(); !kept.has_value()) return kept.error();
  fmt::print(stderr,
             "the lab stands; what is above is its hosts file. Take it down "
             "with `wiretoll lab down`.\n");
  return ExitCode::kDone;
}

Outcome<ExitCode> LabDown(const LabCommand& command) {
  const auto taken = TakeDown(command.id);
  if (!taken.has_value()) return taken.error();
  for (const std::string& id : taken.value()) fmt::print("{} taken down\n", id);
  if (taken.value().empty()) fmt::print("no lab stands\n");
  return ExitCode::kDone;
}

Outcome<ExitCode> ShowLabs(const LabCommand& command) {
  const auto labs = ListLabs();
  if (!labs.has_value()) return labs.error();
  nlohmann::json json = nlohmann::json::array();
  for (const LabStatus& lab : labs.value()) {
    nlohmann::json hosts = nlohmann::json::array();
    for (const LabHost& host : lab.hosts)
      hosts.push_back({{"name", host.name},
                       {"address", host.address},
                       {"netns", host.netns}});
    json.push_back({{"id", lab.id},
                    {"owner", lab.owner},
                    {"link", lab.link},
                    {"hosts", hosts}});
    if (command.json) continue;
    fmt::print("{}  {}  {}{}\n", lab.id, lab.owner, lab.link,
               lab.owner == "dead" ? "  (`wiretoll lab down` removes it)" : "");
    for (const LabHost& host : lab.hosts)
      fmt::print("  {}  {}  namespace {}\n", host.name, host.address,
                 host.netns);
  }
  if (command.json) fmt::print("{}\n", Dump(json));
  if (!command.json && labs.value().empty()) fmt::print("no lab stands\n");
  return ExitCode::kDone;
}

Outcome<ExitCode> Do(const LabCommand& command) {
  switch (command.what) {
    case LabCommand::What::kUp:
      return LabUp(command);
    case LabCommand::What::kDown:
      return LabDown(command);
    case LabCommand::What::kStatus:
      return ShowLabs(command);
  }
  return ExitCode::kUsage;
}

int Main(const std::vector<std::string>& arguments) {
  if (auto ready = PrepareProcess(); !ready.has_value()) {
    fmt::print(stderr, "wiretoll: cannot start: {}\n", ready.error().message());
    return static_cast<int>(ExitCode::kNothingRan);
  }
  // A lab starts this program anew, inside its namespaces.
  if (const auto helped = RunLabHelper(arguments)) {
    return static_cast<int>(*helped);
  }
  const Command command = ParseCommandLine(arguments);
  const auto done =
      std::visit([](const auto& options) { return Do(options); }, command);
  if (done.has_value()) {
    return CouldWriteOutput() ? static_cast<int>(done.value())
                              : static_cast<int>(ExitCode::kNothingRan);
  }
  fmt::print(stderr, "wiretoll: {}\n", done.error().message);
  return static_cast<int>(done.error().code);
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  try {
    return wiretoll::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    // A mistake of ours, or no memory: said, and no stack trace.
    std::fprintf(stderr, "wiretoll: unexpected: %s\n", error.what());
    return static_cast<int>(wiretoll::ExitCode::kNothingRan);
  }
}
