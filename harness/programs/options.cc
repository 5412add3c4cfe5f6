#include "harness/programs/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "harness/base/version.h"
#include "harness/base/words.h"
#include "harness/programs/help.h"

namespace wiretoll {
namespace {

constexpr char kAbout[] =
    "wiretoll measures what an operating system does with the bytes a program\n"
    "hands it: how many segments it makes of them, when, how fast, and at "
    "what\n"
    "cost on the wire, and holds that against what headers and the TCP rules "
    "say it\ncould have been.";

// A value with a parser of ours: CLI11 shows the message and exits with 2.
template <class T, class Parse, class Store>
CLI::Option* AddParsed(CLI::App* app, const std::string& name,
                       const std::string& help, Parse parse, Store store) {
  const std::function<std::string(const std::string&)> check =
      [parse, help](const std::string& text) -> std::string {
    const std::optional<T> value = parse(text);
    return value ? std::string()
                 : fmt::format("\"{}\" cannot be taken. {}", text, help);
  };
  return app
      ->add_option_function<std::string>(
          name,
          [parse, store](const std::string& text) { store(*parse(text)); },
          help)
      ->check(CLI::Validator(check, ""));
}

struct ChoiceWords {
  std::string name;  // "--format"
  std::string what;  // Of an unknown one: "format".
  std::string help;
};

// One of a few names. CLI11's own way shows the numbers behind them.
template <class T, class Store>
CLI::Option* AddChoice(CLI::App* app, const ChoiceWords& words,
                       const std::vector<std::pair<std::string, T>>& choices,
                       Store store) {
  std::vector<std::string> names;
  names.reserve(choices.size());
  for (const auto& [spelled, value] : choices) names.push_back(spelled);
  const auto check = [what = words.what,
                      names](const std::string& text) -> std::string {
    if (std::count(names.begin(), names.end(), text) > 0) return {};
    return fmt::format("unknown {} {}; there are {}", what, QuoteBytes(text),
                       fmt::join(names, ", "));
  };
  const auto take = [choices, store](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      for (const auto& [spelled, value] : choices) {
        if (spelled == text) store(value);
      }
    }
  };
  // One word each time, or the next argument would be taken for a choice too.
  return app
      ->add_option_function<std::vector<std::string>>(words.name, take,
                                                      words.help)
      ->check(CLI::Validator([check](std::string& text) { return check(text); },
                             ""))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

// Results are files in a folder; why `text` names none, or nothing.
std::string NoFolder(const std::string& text) {
  if (text.empty())
    return "an empty name is no folder; give one, or leave the option out";
  if (text == "-")
    return "\"-\" is no folder, and what is written is files in a folder, no "
           "stream: give a folder's name";
  return {};
}

CLI::Option* AddFolder(CLI::App* app, const std::string& name,
                       std::optional<std::string>& folder,
                       const std::string& help) {
  return app->add_option(name, folder, help)
      ->check(CLI::Validator(
          [](const std::string& text) { return NoFolder(text); }, ""))
      ->type_name("DIR");
}

std::optional<std::int64_t> ParseWhole(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || text.size() > 15 || !digits) return std::nullopt;
  return std::stoll(text);
}

auto WholeWithin(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::optional<int> {
    const auto number = ParseWhole(text);
    if (!number || *number < low || *number > high) return std::nullopt;
    return static_cast<int>(*number);
  };
}

std::optional<std::optional<BitsPerSecond>> ParseLink(const std::string& text) {
  if (text == "none") return std::optional<BitsPerSecond>{};
  const auto rate = ParseRate(text);
  // The shaper counts in bytes a second; below this a frame takes seconds.
  if (!rate || rate->value < 8e3 || rate->value > 400e9) return std::nullopt;
  return std::optional<BitsPerSecond>{*rate};
}

std::optional<std::chrono::milliseconds> ParseDeadline(
    const std::string& text) {
  const auto duration = ParseDuration(text);
  if (!duration || *duration < std::chrono::seconds(1) ||
      *duration > std::chrono::hours(24)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
}

// "5" and "5%" are the same here: per cent.
std::optional<double> ParsePrecision(const std::string& text) {
  const bool marked = !text.empty() && text.back() == '%';
  const auto share = ParsePercent(marked ? text : text + "%");
  if (!share || *share <= 0) return std::nullopt;
  return share;
}

// Nothing is slower by all of its speed.
std::optional<double> ParseSlower(const std::string& text) {
  const bool marked = !text.empty() && text.back() == '%';
  const auto share = ParsePercent(marked ? text : text + "%");
  return share && *share < 1 ? share : std::nullopt;
}

// At most 15 digits: programs that read JSON may keep no more.
std::optional<std::uint64_t> ParseSeed(const std::string& text) {
  const auto seed = ParseWhole(text);
  if (!seed) return std::nullopt;
  return static_cast<std::uint64_t>(*seed);
}

std::optional<Nanoseconds> ParseDelay(const std::string& text) {
  const auto delay = ParseDuration(text);
  if (!delay || *delay > std::chrono::seconds(10)) return std::nullopt;
  return delay;
}

// "7001-7099", or one port alone: a trial needs no more.
std::optional<std::pair<std::uint16_t, std::uint16_t>> ParsePorts(
    const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = ParseWhole(text.substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : ParseWhole(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last > 65535 || *first > *last)
    return std::nullopt;
  return std::pair{static_cast<std::uint16_t>(*first),
                   static_cast<std::uint16_t>(*last)};
}

// What to leave out when a command is written down to be repeated.
bool TakesNoPartInRepeating(const std::string& name) {
  static const std::set<std::string> names{"--out",   "--seed", "--resume",
                                           "--quiet", "--json", "--no-report"};
  return names.count(name) > 0;
}

std::vector<std::string> ToRepeat(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!TakesNoPartInRepeating(argument.substr(0, argument.find('=')))) {
      kept.push_back(argument);
    } else if (argument == "--out" || argument == "--seed") {
      ++i;  // Its value.
    }
  }
  return kept;
}

struct OptionText {
  const char* name;
  const char* help;
};

// One part of the line that takes a time or a share.
template <class T, class Parse>
void AddLinePart(CLI::App* app, const OptionText& text, Parse parse,
                 T LinkSpec::*part, LabOptions& lab) {
  AddParsed<T>(app, text.name, text.help, parse, [&lab, part](T value) {
    lab.link.*part = value;
    lab.link_given = true;
  })->type_name(std::is_same_v<T, double> ? "P" : "D");
}

void AddDelayLine(CLI::App* app, LabOptions& lab) {
  AddLinePart(
      app, {"--delay", "Delay of the line, each way, such as 5ms; up to 10s"},
      ParseDelay, &LinkSpec::delay, lab);
  AddLinePart(app,
              {"--jitter",
               "By how much the delay varies either way, such as 1ms; at most "
               "the delay. Frames may overtake each other"},
              ParseDelay, &LinkSpec::jitter, lab);
  AddLinePart(app,
              {"--loss",
               "Share of frames the line loses, each way, such as 5%; past one "
               "that loses 100% only datagrams have something to tell"},
              ParsePercent, &LinkSpec::loss, lab);
  AddLinePart(
      app,
      {"--duplicate", "Share of frames that pass twice, each way, such as 1%"},
      ParsePercent, &LinkSpec::duplicate, lab);
  AddLinePart(app,
              {"--reorder",
               "Share of frames, each way, that pass at once, ahead of those "
               "that wait, such as 1%; needs --delay"},
              ParsePercent, &LinkSpec::reorder, lab);
}

// Makes the router if it is not there yet: CLI11 keeps no order of options.
RouterSpec& RouterOf(LabOptions& lab) {
  lab.link_given = true;
  if (!lab.link.router) lab.link.router.emplace();
  return *lab.link.router;
}

std::optional<Bytes> ParseQueue(const std::string& text) {
  const auto queue = ParseBytes(text);
  if (!queue || queue->count > 1'000'000'000) return std::nullopt;
  return queue;
}

void AddRouterLines(CLI::App* app, LabOptions& lab) {
  AddParsed<std::optional<BitsPerSecond>>(
      app, "--far-link",
      "Line of the host behind the router, as --link, which is then the other "
      "host's; needs --router",
      ParseLink,
      [&lab](std::optional<BitsPerSecond> rate) {
        RouterOf(lab).far_given = true;
        RouterOf(lab).far_rate = rate;
      })
      ->type_name("RATE");
  AddParsed<std::optional<BitsPerSecond>>(
      app, "--router-link",
      "What the router passes each way, slower than the lines, such as "
      "10mbit; needs --router",
      ParseLink,
      [&lab](std::optional<BitsPerSecond> rate) { RouterOf(lab).rate = rate; })
      ->type_name("RATE");
}

void AddRouter(CLI::App* app, LabOptions& lab) {
  CLI::Option* router = app->add_flag_callback(
      "--router", [&lab] { RouterOf(lab); },
      "A router between the two hosts, each on a network of its own; delay, "
      "loss and the like are then behind it");
  AddRouterLines(app, lab);
  AddParsed<Bytes>(
      app, "--router-queue",
      "What may wait in the router for each line, such as 64KiB; what comes "
      "then is dropped (default: 100 ms of the line); needs --router",
      ParseQueue, [&lab](Bytes queue) { RouterOf(lab).queue = queue; })
      ->type_name("SIZE");
  AddParsed<int>(
      app, "--router-mtu",
      "The largest packet the router passes, from 576 bytes to --mtu, as a "
      "tunnel behind it would; needs --router",
      WholeWithin(576, 9000), [&lab](int mtu) { RouterOf(lab).mtu = mtu; })
      ->type_name("N");
  app->add_flag_callback(
      "--no-icmp", [&lab] { RouterOf(lab).icmp = false; },
      "The router does not say what it drops, so that path MTU discovery "
      "fails; needs --router");
  for (const char* part : {"--far-link", "--router-link", "--router-queue",
                           "--router-mtu", "--no-icmp"})
    app->get_option(part)->needs(router);
}

// "net.ipv4.tcp_rmem=4096 131072 425984".
std::optional<std::pair<std::string, std::string>> ParseSysctl(
    const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

void AddSysctl(CLI::App* app, LabOptions& lab) {
  const std::string help =
      "A setting of every lab host, as sysctl -w takes it, such as "
      "net.ipv4.tcp_window_scaling=0; may be given several times";
  const auto check = [help](const std::string& text) {
    return ParseSysctl(text)
               ? std::string()
               : fmt::format("\"{}\" cannot be taken. {}", text, help);
  };
  const auto take = [&lab](const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      lab.sysctls.insert(*ParseSysctl(text));
  };
  app->add_option_function<std::vector<std::string>>("--sysctl", take, help)
      ->check(CLI::Validator(check, ""))
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

void AddLabOptions(CLI::App* app, LabOptions& lab) {
  app->add_option("--lab", lab.kinds,
                  "Hosts to make on this machine, by kind: linux; lwip, a "
                  "stack in a process; guest:6.1, Debian's kernel of that "
                  "series in QEMU, or guest:IMAGE; gvisor, its stack in a "
                  "sandbox; ns3 or ns3-p2p, both ends simulated; wine, the "
                  "Windows agent over Linux's TCP; "
                  "container, by podman or docker (default: linux,linux)")
      ->type_name("LIST");
  AddParsed<std::optional<BitsPerSecond>>(
      app, "--link",
      "Line between lab hosts, a true Ethernet: 10mbit, 100mbit (default), "
      "1gbit, any rate, or none",
      ParseLink,
      [&lab](std::optional<BitsPerSecond> rate) {
        lab.link.rate = rate;
        lab.link_given = true;
      })
      ->type_name("RATE");
  AddDelayLine(app, lab);
  AddRouter(app, lab);
  AddParsed<int>(
      app, "--mtu", "MTU of the line, from 576 to 9000 bytes (default: 1500)",
      WholeWithin(576, 9000), [&lab](int mtu) { lab.link.mtu = mtu; })
      ->type_name("N");
  AddSysctl(app, lab);
}

void AddPrecision(CLI::App* app, RunOptions& run) {
  AddParsed<int>(app, "--repeats",
                 "Blocks to run, from 1 to 100000; with --precision, at most "
                 "that many",
                 WholeWithin(1, 100000),
                 [&run](int repeats) { run.repeats = repeats; })
      ->type_name("N");
  AddParsed<double>(
      app, "--precision",
      "Go on until every cell's 95 % interval is within this many per cent of "
      "its median (at most --repeats blocks, 30 if not given)",
      ParsePrecision, [&run](double share) { run.precision = share; })
      ->type_name("PCT");
  AddParsed<std::uint64_t>(
      app, "--seed", "Seed of the order, up to 15 digits; default: a new one",
      ParseSeed, [&run](std::uint64_t seed) { run.seed = seed; })
      ->type_name("N");
}

void AddRunOutput(CLI::App* app, RunOptions& run) {
  AddFolder(app, "--out", run.out,
            "Run folder; default: runs/TIME-STUDY. The command that a report "
            "gives for repeating leaves it out: the folder is taken");
  app->add_flag("--resume", run.resume,
                "Take up the run in --out: only what is missing");
  app->add_flag_callback(
      "--no-report", [&run] { run.report = false; }, "Do not write the report");
  app->add_flag("--quiet", run.quiet, "No progress");
  app->add_flag("--json", run.json, "Tell the outcome as JSON");
}

template <class Options>
void AddPorts(CLI::App* verb, std::shared_ptr<Options> options) {
  AddParsed<std::pair<std::uint16_t, std::uint16_t>>(
      verb, "--ports",
      "Data ports at the receiver: FIRST-LAST, or one (default: 7001-7099)",
      ParsePorts,
      [options](std::pair<std::uint16_t, std::uint16_t> ports) {
        options->first_port = ports.first;
        options->last_port = ports.second;
      })
      ->type_name("PORTS");
}

void AddCapture(CLI::App* verb, RunOptions& run) {
  verb->add_flag("--capture", run.capture,
                 "Capture every trial on the wire: RUN/captures/*.pcapng, and "
                 "beside each the program's calls. Needs root on the host that "
                 "captures, or cap_net_raw; slows small writes");
  AddParsed<int>(
      verb, "--snap",
      "Bytes kept of a captured frame, from 64 to 65535; the default, 128, "
      "holds the headers",
      WholeWithin(64, 65535),
      [&run](int bytes) { run.snap_bytes = static_cast<std::uint32_t>(bytes); })
      ->type_name("N");
}

void AddSeries(CLI::App* verb, RunOptions& run) {
  AddParsed<Nanoseconds>(
      verb, "--series",
      "Look at each TCP connection this often, from 100us to 1min, such as "
      "1ms: windows, flight and round trip over time, in RUN/series/*.csv",
      ParseSeriesPeriod, [&run](Nanoseconds period) { run.series = period; })
      ->type_name("TIME");
}

// Hosts that are there have the line that they have.
void ExcludeLab(CLI::App& verb, CLI::Option& hosts) {
  for (const char* lab_only :
       {"--lab", "--link", "--delay", "--jitter", "--loss", "--duplicate",
        "--reorder", "--mtu", "--router", "--sysctl"})
    hosts.excludes(verb.get_option(lab_only));
}

void AddRun(CLI::App& app, const std::shared_ptr<RunOptions>& run) {
  CLI::App* verb = app.add_subcommand(
      "run", "Run studies between hosts, write samples and a report");
  verb->add_option("STUDY", run->studies,
                   "Names (see `wiretoll list`) or TOML files; default: quick");
  auto* hosts = verb->add_option("--hosts", run->hosts,
                                 "Hosts to run between, a TOML file")
                    ->type_name("FILE");
  AddLabOptions(verb, run->lab);
  ExcludeLab(*verb, *hosts);
  verb->add_option("--pairs", run->pairs,
                   "sender:receiver,... ; default: every ordered pair. A "
                   "topology has these flows alone")
      ->type_name("SPEC");
  AddPrecision(verb, *run);
  verb->add_option("--filter", run->filter,
                   "Only these cells: 'write<=32,nagle=on,rcvbuf=2|unset'")
      ->type_name("EXPR");
  verb->add_flag("--quick", run->quick,
                 "A first look: 3 blocks, trials of at most 100 ms and 1 MiB");
  AddCapture(verb, *run);
  AddSeries(verb, *run);
  AddPorts(verb, run);
  AddParsed<std::chrono::milliseconds>(
      verb, "--deadline",
      "Give a trial up after this long, from 1s to 24h (default: by its size, "
      "15 s or more); also what was written has to be read by then",
      ParseDeadline,
      [run](std::chrono::milliseconds deadline) { run->deadline = deadline; })
      ->type_name("D");
  AddRunOutput(verb, *run);
}

void AddReport(CLI::App& app, const std::shared_ptr<ReportOptions>& report) {
  CLI::App* verb = app.add_subcommand(
      "report", "Write the report of run folders, without their hosts");
  verb->add_option("RUN", report->runs, "Run folders")->required();
  AddFolder(verb, "--out", report->out,
            "Folder for the report; default: RUN/report");
  AddChoice<ReportFormat>(
      verb,
      {"--format", "format",
       "What to write, several with commas; default: all four"},
      {{"html", ReportFormat::kHtml},
       {"md", ReportFormat::kMarkdown},
       {"csv", ReportFormat::kCsv},
       {"json", ReportFormat::kJson}},
      [report](ReportFormat format) { report->formats.insert(format); });
  verb->add_flag("--quiet", report->quiet, "No list of files, only warnings");
}

void AddCompare(CLI::App& app, const std::shared_ptr<CompareOptions>& compare) {
  CLI::App* verb = app.add_subcommand(
      "compare", "Set two runs of the same study side by side, cell by cell");
  verb->add_option("BASE", compare->base, "Run folder to compare with")
      ->required();
  verb->add_option("NEW", compare->next, "Run folder that is judged")
      ->required();
  using Format = CompareOptions::Format;
  AddChoice<Format>(verb,
                    {"--format", "format", "What to print (default: text)"},
                    {{"text", Format::kText},
                     {"md", Format::kMarkdown},
                     {"json", Format::kJson}},
                    [compare](Format format) { compare->format = format; });
  AddFolder(verb, "--out", compare->out,
            "Folder for compare.html (with a picture), compare.md and "
            "compare.json; default: none are written");
  AddParsed<double>(
      verb, "--fail-on",
      "End with 1 if a cell of NEW is slower than this, its whole 95 % "
      "interval: 10% means under 0.9 times as fast; from 0% to below 100%",
      ParseSlower, [compare](double share) { compare->fail_on = share; })
      ->type_name("PCT");
}

void AddExplain(CLI::App& app, const std::shared_ptr<ExplainOptions>& explain) {
  CLI::App* verb = app.add_subcommand(
      "explain", "What happened in one captured trial, when, and why");
  verb->add_option("RUN", explain->run, "Run folder")->required();
  verb->add_option("TRIAL", explain->trial,
                   "Its id, or the start of one that is the only such; "
                   "without it the trials that have a capture are listed")
      ->check([](const std::string& trial) {
        return trial.empty() ? "an empty TRIAL is no trial's start; without it "
                               "the trials that have a capture are listed"
                             : std::string();
      });
  using Format = ExplainOptions::Format;
  AddChoice<Format>(
      verb,
      {"--format", "format",
       "html: a page with pictures, and the pictures for slides, as files "
       "(default); text or json: printed"},
      {{"html", Format::kHtml},
       {"text", Format::kText},
       {"json", Format::kJson}},
      [explain](Format format) { explain->format = format; });
  AddFolder(verb, "--out", explain->out,
            "Folder for the files; default: RUN/explain. Text and JSON are "
            "then written there too, instead of being printed");
}

void AddExport(CLI::App& app, const std::shared_ptr<ExportOptions>& exported) {
  CLI::App* verb = app.add_subcommand(
      "export", "Run folders as tables: SQLite, or CSV files");
  verb->add_option("RUN", exported->runs, "Run folders")->required();
  verb->add_option("--sqlite", exported->sqlite,
                   "Database to make, or to add to: a file of SQLite's")
      ->check([](const std::string& file) {
        return file.empty() ? "an empty name is no file" : std::string();
      })
      ->type_name("FILE");
  AddFolder(verb, "--csv", exported->csv,
            "Or folder for a CSV file a table, to make or to add to");
  verb->add_flag("--quiet", exported->quiet,
                 "No progress and no counts, only warnings");
}

WindowOptions& WindowsOf(TheoryCommand& theory) {
  if (!theory.windows) theory.windows.emplace();
  return *theory.windows;
}

// A list of values of one kind, with commas.
template <class Parse, class Store>
CLI::Option* AddList(CLI::App* verb, const std::string& name,
                     const std::string& help, Parse parse, Store store) {
  const auto take = [parse, store](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) store(*parse(text));
  };
  const auto check = [parse, help](const std::string& text) {
    return parse(text) ? std::string()
                       : fmt::format("\"{}\" cannot be taken. {}", text, help);
  };
  return verb->add_option_function<std::vector<std::string>>(name, take, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->check(CLI::Validator(check, ""));
}

void AddWindows(CLI::App* verb, TheoryCommand& theory) {
  CLI::Option* window = AddList(
      verb, "--window",
      "Windows, such as 64KiB,1MiB: what each allows at each --rtt, and how "
      "slow start gets there, instead of what payloads cost (default with "
      "--rtt: 16KiB to 8MiB)",
      ParseBytes,
      [&theory](Bytes bytes) { WindowsOf(theory).windows.push_back(bytes); });
  CLI::Option* rtt = AddList(
      verb, "--rtt",
      "Round trips, such as 1ms,70ms, for --window (default: 1ms,10ms,70ms)",
      ParseDuration,
      [&theory](Nanoseconds time) { WindowsOf(theory).rtts.push_back(time); });
  for (CLI::Option* option : {window, rtt})
    option->excludes(verb->get_option("--payload"));
}

void AddPayload(CLI::App* verb, TheoryCommand& theory) {
  const auto take = [&theory](const std::vector<std::string>& sizes) {
    for (const std::string& text : sizes)
      theory.options.payloads.push_back(*ParseBytes(text));
  };
  const auto check = [](const std::string& text) -> std::string {
    if (ParseBytes(text)) return {};
    return QuoteBytes(text) + " is no size; write bytes or a unit: 1448, 64KiB";
  };
  verb->add_option_function<std::vector<std::string>>(
          "--payload", take, "Sizes, several with commas: 1,32,64KiB")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->check(CLI::Validator([check](std::string& text) { return check(text); },
                             ""));
}

void AddTheory(CLI::App& app, const std::shared_ptr<TheoryCommand>& theory) {
  CLI::App* verb = app.add_subcommand(
      "theory",
      "What payloads cost on the wire by their headers, or what windows allow");
  AddPayload(verb, *theory);
  AddWindows(verb, *theory);
  AddParsed<std::optional<BitsPerSecond>>(
      verb, "--link", "Line rate, for what it can carry: 100mbit", ParseLink,
      [theory](std::optional<BitsPerSecond> rate) {
        theory->options.link = rate;
      })
      ->type_name("RATE");
  AddChoice<int>(verb, {"--ip", "IP version", "IP version (default: 4)"},
                 {{"4", 4}, {"6", 6}},
                 [theory](int ip) { theory->options.ip_version = ip; });
  const std::vector<std::pair<std::string, bool>> on_off{{"on", true},
                                                         {"off", false}};
  AddChoice<bool>(
      verb,
      {"--timestamps", "value", "TCP timestamps in each segment (default: on)"},
      on_off, [theory](bool on) { theory->options.timestamps = on; });
  AddChoice<bool>(
      verb, {"--vlan", "value", "A VLAN tag in each frame (default: off)"},
      on_off, [theory](bool on) { theory->options.vlan = on; });
  AddParsed<int>(verb, "--mtu", "MTU, from 128 to 65535 bytes (default: 1500)",
                 WholeWithin(128, 65535),
                 [theory](int mtu) { theory->options.mtu = Bytes{mtu}; })
      ->type_name("N");
  using Format = TheoryCommand::Format;
  AddChoice<Format>(
      verb, {"--format", "format", "What to print (default: text)"},
      {{"text", Format::kText}, {"csv", Format::kCsv}, {"json", Format::kJson}},
      [theory](Format format) { theory->format = format; });
}

void AddCheck(CLI::App& app, const std::shared_ptr<CheckOptions>& check) {
  CLI::App* verb = app.add_subcommand(
      "check", "Whether hosts can be measured between, and what each can see");
  verb->add_option("--hosts", check->hosts, "Hosts to check, a TOML file")
      ->required()
      ->type_name("FILE");
  AddPorts(verb, check);
  using Format = CheckOptions::Format;
  AddChoice<Format>(verb,
                    {"--format", "format", "What to print (default: text)"},
                    {{"text", Format::kText}, {"json", Format::kJson}},
                    [check](Format format) { check->format = format; });
  verb->add_flag("--quiet", check->quiet, "No progress");
}

std::optional<Nanoseconds> ParseStreamTime(const std::string& text) {
  const auto time = ParseDuration(text);
  if (!time || *time < std::chrono::milliseconds(100) ||
      *time > std::chrono::seconds(60)) {
    return std::nullopt;
  }
  return time;
}

void AddAdviseSubject(CLI::App* verb, AdviseOptions& advise) {
  verb->add_option("--case", advise.the_case,
                   "What is diagnosed instead of a bulk stream, by factors of "
                   "a study and its stop: 'rcvbuf=16KiB,gap=1ms,bytes=1MB'")
      ->type_name("FACTORS");
  verb->add_option("--study", advise.study,
                   "Or a cell of this study, a name or a TOML file; --filter "
                   "chooses which")
      ->type_name("NAME");
  verb->add_option("--filter", advise.filter,
                   "Which cell of --study, or which of RUN's: "
                   "'request=1+1,nagle=on'")
      ->type_name("EXPR");
  AddParsed<int>(verb, "--repeats",
                 "How often it is measured, from 1 to 1000 (default: 5)",
                 WholeWithin(1, 1000),
                 [&advise](int repeats) { advise.repeats = repeats; })
      ->type_name("N");
  AddParsed<Nanoseconds>(
      verb, "--time",
      "How long a stream lasts, from 100ms to 60s (default: 1s); longer over a "
      "long path",
      ParseStreamTime, [&advise](Nanoseconds time) { advise.time = time; })
      ->type_name("D");
}

void AddAdvise(CLI::App& app, const std::shared_ptr<AdviseOptions>& advise) {
  CLI::App* verb = app.add_subcommand(
      "advise", "What limits two hosts, and what to set by which command");
  verb->add_option("RUN", advise->run,
                   "A run folder, to be diagnosed by what it holds; without "
                   "it, it is measured");
  auto* hosts = verb->add_option("--hosts", advise->hosts,
                                 "Hosts to measure between, a TOML file")
                    ->type_name("FILE");
  AddLabOptions(verb, advise->lab);
  ExcludeLab(*verb, *hosts);
  verb->add_option("--pair", advise->pair,
                   "Sender and receiver; default: the first two")
      ->type_name("A,B");
  AddAdviseSubject(verb, *advise);
  AddPorts(verb, advise);
  verb->add_flag("--verify", advise->verify,
                 "Make the first change inside the lab, measure before and "
                 "after, and undo it; never on hosts of yours");
  using Format = AdviseOptions::Format;
  AddChoice<Format>(verb,
                    {"--format", "format", "What to print (default: text)"},
                    {{"text", Format::kText}, {"json", Format::kJson}},
                    [advise](Format format) { advise->format = format; });
  verb->add_flag("--quiet", advise->quiet, "No progress");
}

void AddObserve(CLI::App& app, const std::shared_ptr<ObserveOptions>& observe) {
  CLI::App* verb = app.add_subcommand(
      "observe",
      "What a capture made elsewhere shows: flows, segments, stalls");
  verb->add_option("FILE", observe->files,
                   "Captures, pcap or pcapng; - is standard input")
      ->required();
  using Format = ObserveOptions::Format;
  AddChoice<Format>(
      verb, {"--format", "format", "What to print (default: text)"},
      {{"text", Format::kText}, {"csv", Format::kCsv}, {"json", Format::kJson}},
      [observe](Format format) { observe->format = format; });
  AddParsed<int>(verb, "--flow",
                 "Only the flows with this port, from 1 to 65535, at either "
                 "end; where none has it, the one of this number in the list",
                 WholeWithin(1, 65535),
                 [observe](int flow) { observe->flow = flow; })
      ->type_name("PORT|N");
  AddParsed<int>(
      verb, "--top",
      "At most so many flows, from 1 to 1000000, most payload first "
      "(default: 10 as text, else all)",
      WholeWithin(1, 1'000'000),
      [observe](int top) { observe->top = static_cast<std::size_t>(top); })
      ->type_name("N");
  verb->add_flag("--quiet", observe->quiet, "No progress");
}

std::optional<std::chrono::milliseconds> ParsePatience(
    const std::string& text) {
  const auto duration = ParseDuration(text);
  if (!duration || *duration < std::chrono::milliseconds(100) ||
      *duration > std::chrono::hours(24)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
}

auto SizeWithin(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::optional<Bytes> {
    const auto size = ParseBytes(text);
    if (!size || size->count < low || size->count > high) return std::nullopt;
    return size;
  };
}

void AddSinkBounds(CLI::App* verb, SinkSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  AddParsed<int>(verb, "--streams",
                 "End after so many, from 1 to 1000000 (default: 1)",
                 WholeWithin(1, 1'000'000),
                 [&spec](int streams) { spec.streams = streams; })
      ->type_name("N");
  const auto patience = [verb](const char* name, const char* help,
                               std::chrono::milliseconds& value) {
    AddParsed<std::chrono::milliseconds>(
        verb, name, help, ParsePatience,
        [&value](std::chrono::milliseconds given) { value = given; })
        ->type_name("D");
  };
  patience("--wait",
           "Give up when nobody comes for this long, from 100ms to 24h "
           "(default: 60s)",
           spec.wait);
  patience("--longest",
           "Cut a stream after this long, from 100ms to 24h (default: 60s)",
           spec.longest);
  patience("--idle",
           "A UDP stream is over when nothing came for this long, from 100ms "
           "to 24h (default: 2s)",
           spec.quiet);
  AddParsed<Bytes>(verb, "--bytes",
                   "Cut a stream at so many bytes, from 1 to 1TiB (default: "
                   "1GiB)",
                   SizeWithin(1, kMost),
                   [&spec](Bytes most) { spec.most = most; })
      ->type_name("SIZE");
}

void AddSink(CLI::App& app, const std::shared_ptr<SinkOptions>& sink) {
  CLI::App* verb = app.add_subcommand(
      "sink",
      "Receive from ttcp, nc, iperf 2 and their like, and tell figures");
  SinkSpec& spec = sink->spec;
  AddParsed<int>(
      verb, "--port", "Port to listen on, TCP and UDP, from 1 to 65535",
      WholeWithin(1, 65535),
      [&spec](int port) { spec.port = static_cast<std::uint16_t>(port); })
      ->type_name("N")
      ->required();
  using Only = std::pair<bool, bool>;
  AddChoice<Only>(verb, {"--only", "protocol", "Listen with one of them only"},
                  {{"tcp", {true, false}}, {"udp", {false, true}}},
                  [&spec](Only only) {
                    spec.tcp = only.first;
                    spec.udp = only.second;
                  });
  verb->add_option("--address", spec.address,
                   "Numeric address to listen on; :: for IPv6 (default: "
                   "0.0.0.0, all of IPv4)")
      ->type_name("ADDRESS");
  verb->add_option("--from", spec.from,
                   "Take this numeric address only (default: whoever comes)")
      ->type_name("ADDRESS");
  AddParsed<Bytes>(verb, "--read",
                   "Room handed to one call, from 1 to 16MiB (default: 64KiB)",
                   SizeWithin(1, 16 << 20),
                   [&spec](Bytes read) { spec.read = read; })
      ->type_name("SIZE");
  AddParsed<Bytes>(
      verb, "--rcvbuf", "SO_RCVBUF, from 1 to 64MiB (default: left unset)",
      SizeWithin(1, 64 << 20), [&spec](Bytes size) { spec.rcvbuf = size; })
      ->type_name("SIZE");
  AddSinkBounds(verb, spec);
  verb->add_flag("--json", sink->json,
                 "One line a stream, as in samples.jsonl");
  verb->add_flag("--quiet", sink->quiet, "No word of what is waited for");
}

void AddLab(CLI::App& app, const std::shared_ptr<LabCommand>& lab) {
  CLI::App* verb = app.add_subcommand(
      "lab", "The local hosts by themselves: up, down, status");
  verb->require_subcommand(1);
  CLI::App* up = verb->add_subcommand(
      "up",
      "Make a lab and leave it standing; prints a hosts file for --hosts");
  AddLabOptions(up, lab->lab);
  up->callback([lab] { lab->what = LabCommand::What::kUp; });
  CLI::App* down = verb->add_subcommand("down", "Take labs down");
  down->add_option("ID", lab->id, "Which (see status); default: all kept ones")
      ->check([](const std::string& id) {
        return id.empty() ? "an empty ID is no lab's; `wiretoll lab status` "
                            "lists them, and without an ID all kept ones go"
                          : std::string();
      });
  down->callback([lab] { lab->what = LabCommand::What::kDown; });
  CLI::App* status = verb->add_subcommand("status", "Which labs stand");
  status->add_flag("--json", lab->json, "As JSON");
  status->callback([lab] { lab->what = LabCommand::What::kStatus; });
}

std::vector<std::string> VerbsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb :
       app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

bool IsUnknownVerb(const CLI::App& app,
                   const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return false;
  const auto verbs = VerbsOf(app);
  return std::find(verbs.begin(), verbs.end(), arguments.front()) ==
         verbs.end();
}

Answered UnknownVerb(const CLI::App& app, const std::string& verb) {
  fmt::print(stderr,
             "wiretoll: unknown verb {}; this version has {}\n"
             "`wiretoll --help` tells more\n",
             QuoteBytes(verb), fmt::join(VerbsOf(app), ", "));
  return Answered{2};
}

void Prepare(CLI::App& app) {
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", fmt::format("wiretoll {}", kVersion));
  app.require_subcommand(1);
}

// Help and version as asked for, else what is wrong with the arguments.
Answered Answer(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return Answered{app.exit(error)};
  const CLI::App* at = &app;
  std::string verb = "wiretoll";
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    verb += " " + at->get_name();
  }
  const auto verbs = VerbsOf(*at);
  const bool no_verb =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      !verbs.empty();
  fmt::print(stderr, "wiretoll: {}\n`{} --help` tells more\n",
             no_verb ? fmt::format("what to do? `{}` needs one of {}", verb,
                                   fmt::join(verbs, ", "))
                     : std::string(error.what()),
             verb);
  return Answered{2};
}

void AddListVerb(CLI::App& app, const std::shared_ptr<ListOptions>& list) {
  CLI::App* verb =
      app.add_subcommand("list", "Which studies there are, and what each asks");
  verb->add_flag("--factors", list->factors,
                 "What a study may vary instead, with values and defaults");
  verb->add_flag("--json", list->json, "As JSON");
}

// Each by its name, with what was asked of it once the line has been parsed.
using Verbs = std::vector<std::pair<const char*, std::function<Command()>>>;

template <class Options>
std::shared_ptr<Options> AddVerb(CLI::App& app, Verbs& verbs, const char* name,
                                 void (*add)(CLI::App&,
                                             const std::shared_ptr<Options>&)) {
  auto options = std::make_shared<Options>();
  add(app, options);
  verbs.emplace_back(name, [options] { return Command(*options); });
  return options;
}

}  // namespace

Command ParseCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app(kAbout, "wiretoll");
  Prepare(app);
  Verbs verbs;
  const auto run = AddVerb(app, verbs, "run", AddRun);
  AddVerb(app, verbs, "report", AddReport);
  AddVerb(app, verbs, "compare", AddCompare);
  AddVerb(app, verbs, "export", AddExport);
  AddVerb(app, verbs, "explain", AddExplain);
  AddVerb(app, verbs, "theory", AddTheory);
  AddVerb(app, verbs, "list", AddListVerb);
  AddVerb(app, verbs, "check", AddCheck);
  const auto advise = AddVerb(app, verbs, "advise", AddAdvise);
  AddVerb(app, verbs, "observe", AddObserve);
  AddVerb(app, verbs, "sink", AddSink);
  AddVerb(app, verbs, "lab", AddLab);
  AddExamples(app);
  if (IsUnknownVerb(app, arguments)) return UnknownVerb(app, arguments.front());
  run->arguments = ToRepeat(arguments);
  advise->arguments = arguments;
  try {
    // CLI11 takes them back to front.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return Answer(app, error);
  }
  const auto chosen = std::ranges::find_if(
      verbs, [&](const auto& verb) { return app.got_subcommand(verb.first); });
  return chosen->second();
}

}  // namespace wiretoll
