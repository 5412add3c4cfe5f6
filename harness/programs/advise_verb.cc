#include "harness/programs/advise_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "harness/advise/advise.h"
#include "harness/advise/describe_advice.h"
#include "harness/programs/ground.h"
#include "harness/programs/run_verb.h"
#include "harness/programs/standard_error.h"
#include "harness/programs/stop_signals.h"
#include "harness/run/progress.h"
#include "harness/study/study.h"
#include "platform/process.h"
#include "platform/terminal.h"

namespace wiretoll {
namespace {

Failure Usage(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

// --- What is diagnosed -------------------------------------------------------

struct Subject {
  Workload workload;
  std::string name;  // Empty: spelled from the workload.
};

// "rcvbuf=16KiB,gap=1ms,bytes=1MB" as the text of a study of one case.
Outcome<std::string> StudyOfCase(const std::string& text, Nanoseconds time) {
  static const std::set<std::string> stops{"bytes", "messages", "seconds"};
  std::string factors;
  std::string stop;
  bool writes = false;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals == std::string::npos || name.empty() ||
        part.find_first_of("\"\\\n", equals) != std::string::npos) {
      return Usage(
          fmt::format("--case: \"{}\" is no NAME=VALUE, such as "
                      "rcvbuf=16KiB",
                      part));
    }
    const std::string value = part.substr(equals + 1);
    writes = writes || name == "write" || name == "pattern";
    const bool is_stop = stops.count(name) > 0;
    // How many is a number; sizes and times carry their unit.
    const char* const quote = name == "messages" ? "" : "\"";
    (is_stop ? stop : factors) +=
        is_stop ? fmt::format("{} = {}{}{}\n", name, quote, value, quote)
                : fmt::format("{} = [\"{}\"]\n", name, value);
  }
  if (!writes) factors += "write = [\"64KiB\"]\n";
  if (stop.empty())
    stop = fmt::format("seconds = \"{}\"\n", SpellDuration(time));
  return fmt::format(
      "title = \"case\"\nquestion = \"-\"\nsource = \"-\"\n[factors]\n{}"
      "[stop]\n{}",
      factors, stop);
}

Outcome<Subject> SubjectOfCase(const AdviseOptions& options) {
  const auto text = StudyOfCase(options.the_case, options.time);
  if (!text.has_value()) return text.error();
  auto study = ParseStudy(text.value(), "--case");
  if (!study.has_value()) return study.error();
  return Subject{study.value().cases.front().workload, ""};
}

Outcome<Subject> SubjectOfStudy(const AdviseOptions& options) {
  auto study = FindStudy(*options.study);
  if (!study.has_value()) return study.error();
  std::vector<Study> studies{std::move(study).value()};
  if (auto kept = KeepFiltered(options.filter, studies); !kept.has_value())
    return kept.error();
  const auto& cases = studies.front().cases;
  if (cases.size() == 1) {
    return Subject{
        cases.front().workload,
        fmt::format("{} of {}: {}", cases.front().id, studies.front().name,
                    SpellWorkload(cases.front().workload))};
  }
  constexpr std::size_t kShown = 4;
  std::vector<std::string> ids;
  for (const Case& the_case : cases) {
    if (ids.size() < kShown) ids.push_back(the_case.id);
  }
  return Usage(
      fmt::format("--study {}: {} cells, and one is diagnosed: choose it by "
                  "--filter ({}{})",
                  *options.study, cases.size(), fmt::join(ids, ", "),
                  cases.size() > kShown ? ", ..." : ""));
}

Outcome<Subject> ChooseSubject(const AdviseOptions& options) {
  Subject subject{BulkStream(options.time), ""};
  if (!options.the_case.empty()) {
    auto chosen = SubjectOfCase(options);
    if (!chosen.has_value()) return chosen;
    subject = std::move(chosen).value();
  } else if (options.study) {
    auto chosen = SubjectOfStudy(options);
    if (!chosen.has_value()) return chosen;
    subject = std::move(chosen).value();
  }
  if (subject.workload.transport == Transport::kTcp) return subject;
  return Usage(
      "advise diagnoses TCP; what becomes of datagrams, `wiretoll run` of a "
      "study with transport = [\"udp\"] tells");
}

// --- Between whom ------------------------------------------------------------

struct NamedPair {
  std::string sender, receiver;
};

Outcome<NamedPair> SplitPair(const std::string& text) {
  // As --pairs spells it, or with a comma.
  const std::size_t split = text.find_first_of(",:");
  if (split == std::string::npos || split == 0 || split + 1 == text.size() ||
      text.find_first_of(",:", split + 1) != std::string::npos) {
    return Usage(fmt::format(
        "--pair {}: two hosts are needed, sender and receiver: --pair A,B",
        text));
  }
  return NamedPair{text.substr(0, split), text.substr(split + 1)};
}

Outcome<NamedPair> ChoosePair(const AdviseOptions& options,
                              const std::vector<Host>& hosts) {
  const std::string from = options.hosts.value_or("--lab " + options.lab.kinds);
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const Host& host : hosts) names.push_back(host.name);
  if (!options.pair) {
    if (hosts.size() == 2 || (!options.hosts && hosts.size() > 2))
      return NamedPair{names[0], names[1]};
    return Usage(
        fmt::format("{} has {} hosts: name sender and receiver by "
                    "--pair A,B",
                    from, hosts.size()));
  }
  auto pair = SplitPair(*options.pair);
  if (!pair.has_value()) return pair;
  for (const std::string& name : {pair.value().sender, pair.value().receiver}) {
    if (std::count(names.begin(), names.end(), name) > 0) continue;
    return Usage(fmt::format("--pair {}: {} has no host {}; there are {}",
                             *options.pair, from, name,
                             fmt::join(names, ", ")));
  }
  if (pair.value().sender != pair.value().receiver) return pair;
  return Usage(
      fmt::format("--pair {}: a host and itself have no path between; "
                  "name two of {}",
                  *options.pair, fmt::join(names, ", ")));
}

const Host& HostNamed(const std::vector<Host>& hosts, const std::string& name) {
  return *std::find_if(hosts.begin(), hosts.end(),
                       [&](const Host& host) { return host.name == name; });
}

// --- A recorded run ----------------------------------------------------------

Outcome<ExitCode> AdviseOnRecorded(const AdviseOptions& options) {
  const auto folder = RunFolder(options.run);
  if (!folder.has_value()) return folder.error();
  const auto filter = Filter::Parse(options.filter);
  if (!options.filter.empty() && !filter.has_value()) return filter.error();
  std::optional<NamedPair> pair;
  if (options.pair) {
    auto split = SplitPair(*options.pair);
    if (!split.has_value()) return split.error();
    pair = split.value();
  }
  auto cells = AdviseOnRun(folder.value());
  if (!cells.has_value()) return cells.error();
  auto& list = cells.value();
  const auto unwanted = [&](const RecordedCell& cell) {
    const Evidence& evidence = cell.advice.evidence;
    const bool other = pair && (pair->sender != evidence.sender.name ||
                                pair->receiver != evidence.receiver.name);
    return other ||
           (!options.filter.empty() && !filter.value().Accepts(cell.factors));
  };
  list.erase(std::remove_if(list.begin(), list.end(), unwanted), list.end());
  if (list.empty()) {
    return Usage(
        fmt::format("{}: no cell of TCP trials that both ends reported "
                    "on is left to advise on",
                    options.run));
  }
  fmt::print("{}", options.format == AdviseOptions::Format::kJson
                       ? RecordedJson(list)
                       : RecordedText(list));
  return ExitCode::kDone;
}

// --- The verb ----------------------------------------------------------------

// Only where the hosts are ours may they be changed.
Outcome<ApplyCommand> VerifyIn(const AdviseOptions& options, Ground& ground) {
  if (!options.verify) return ApplyCommand{};
  const bool ours =
      ground.lab &&
      std::none_of(ground.lab->hosts().begin(), ground.lab->hosts().end(),
                   [](const LabHost& host) {
                     return host.netns.empty() || host.kind != "linux";
                   });
  if (!ours) {
    return Failure{ExitCode::kNothingRan,
                   "--verify changes settings, which it does in a lab of Linux "
                   "namespaces alone, and none could be made"};
  }
  return ApplyCommand{
      [&ground](const std::string& host, const std::string& command) {
        return ground.lab->RunIn(host, command);
      }};
}

Outcome<AdviseSpec> MakeAdviseSpec(const AdviseOptions& options,
                                   const Subject& subject, Ground& ground) {
  const auto pair = ChoosePair(options, ground.hosts);
  if (!pair.has_value()) return pair.error();
  const auto verify = VerifyIn(options, ground);
  if (!verify.has_value()) return verify.error();
  AdviseSpec spec;
  spec.sender = HostNamed(ground.hosts, pair.value().sender);
  spec.receiver = HostNamed(ground.hosts, pair.value().receiver);
  spec.link = ground.link;
  spec.congestion = ground.congestion;
  spec.subject = subject.workload;
  spec.name = subject.name;
  spec.repeats = options.repeats;
  spec.time = options.time;
  spec.first_port = options.first_port;
  spec.last_port = options.last_port;
  spec.guard = KeepFromChildren;
  spec.trouble = [&ground] {
    return ground.lab ? ground.lab->Trouble() : std::string();
  };
  spec.verify = verify.value();
  return spec;
}

Outcome<Done> CheckTogether(const AdviseOptions& options) {
  if (options.verify && options.hosts) {
    return Usage(
        "--verify changes settings, and does so in a lab of its own alone "
        "(--lab): of your hosts it tells the commands, and how to undo them");
  }
  if (!options.filter.empty() && !options.study && options.run.empty())
    return Usage("--filter chooses a cell of --study NAME, or of RUN");
  if (!options.the_case.empty() && options.study)
    return Usage("--case and --study both say what is diagnosed: give one");
  if (!options.run.empty() && (options.hosts || options.study ||
                               !options.the_case.empty() || options.verify)) {
    return Usage(
        "RUN is diagnosed by what it holds; leave out --hosts, --study, --case "
        "and --verify");
  }
  return Done{};
}

}  // namespace

Outcome<ExitCode> AdviseVerb(const AdviseOptions& options) {
  if (auto fits = CheckTogether(options); !fits.has_value())
    return fits.error();
  if (!options.run.empty()) return AdviseOnRecorded(options);
  // First: a mistake there must cost nothing.
  const auto subject = ChooseSubject(options);
  if (!subject.has_value()) return subject.error();
  if (options.pair) {
    if (auto split = SplitPair(*options.pair); !split.has_value())
      return split.error();
  }
  NoteStopSignals();
  auto ground = FindGround(
      {options.hosts, options.lab, options.quiet, options.arguments});
  if (!ground.has_value()) return ground.error();
  if (StopRequested())
    return Failure{ExitCode::kNothingRan, "stopped before the first trial"};
  const auto spec = MakeAdviseSpec(options, subject.value(), ground.value());
  if (!spec.has_value()) return spec.error();
  WriteError(ground.value().line_check);
  Outcome<Advice> advice = Failure{};
  {
    Progress progress({options.quiet, StandardErrorIsTerminal()}, WriteError);
    advice = Advise(spec.value(), progress);
  }  // Its last line goes before the advice comes.
  NoteStopSignals();
  if (!advice.has_value()) return advice.error();
  fmt::print("{}", options.format == AdviseOptions::Format::kJson
                       ? AdviceJson(advice.value())
                       : AdviceText(advice.value()));
  return CodeOf(advice.value());
}

}  // namespace wiretoll
