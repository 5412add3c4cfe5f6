#include "harness/programs/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "harness/base/version.h"

namespace wiretoll {
namespace {

constexpr char kAbout[] =
    "wiretoll measures what an operating system does with the bytes a program "
    "hands it:\nhow many segments it makes of them, when, how fast, and at "
    "what cost on the wire,\nand holds that against what headers and the TCP "
    "rules say it could have been.";

constexpr char kExamples[] = R"(
First steps:
  wiretoll run                      the quick study in a two-host lab on this
                                    machine (needs root, or user namespaces)
  wiretoll list                     which studies there are, what each asks
  wiretoll theory --payload 1,1448  what headers cost, without measuring
  wiretoll report runs/...          the report again, anywhere, from a run folder

Exit codes: 0 done; 1 some trials failed, the rest are recorded; 2 usage or a bad
file; 3 nothing could run. Standard output is data, standard error is progress.
Each verb has its own --help.)";

constexpr char kRunExamples[] = R"(
Examples:
  wiretoll run                                  the quick study, 100 Mbit/s lab
  wiretoll run small-writes --link none         veth as fast as the machine
  wiretoll run tcp-efficiency --filter 'write<=256,nagle=on'
  wiretoll run my-study.toml --hosts hosts.toml --pairs alpha:beta
  wiretoll run --precision 5 --repeats 30       until intervals are within 5 %
  wiretoll run --resume --out runs/20260102T030405Z-quick

A hosts file names each host, its address and the command that starts its agent:
  [hosts.alpha]
  agent = ["ssh", "student@192.168.56.11", "./wiretoll-agent"]
  address = "192.168.56.11"

The run folder holds run.json, samples.jsonl (one line a trial) and report/.)";

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

// A line that loses everything carries no trial.
std::optional<double> ParseLoss(const std::string& text) {
  const auto loss = ParsePercent(text);
  return loss && *loss < 1 ? loss : std::nullopt;
}

// At most 15 digits: programs that read JSON may keep no more.
std::optional<std::uint64_t> ParseSeed(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || text.size() > 15 || !digits) return std::nullopt;
  return std::stoull(text);
}

std::optional<Nanoseconds> ParseDelay(const std::string& text) {
  const auto delay = ParseDuration(text);
  if (!delay || *delay > std::chrono::seconds(10)) return std::nullopt;
  return delay;
}

std::optional<std::pair<std::uint16_t, std::uint16_t>> ParsePorts(
    const std::string& text) {
  unsigned first = 0;
  unsigned last = 0;
  char rest = 0;
  const int fields =
      std::sscanf(text.c_str(), "%5u-%5u%c", &first, &last, &rest);
  if (fields != 2 || first < 1 || last > 65535 || first > last)
    return std::nullopt;
  return std::pair{static_cast<std::uint16_t>(first),
                   static_cast<std::uint16_t>(last)};
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

bool IsKnownVerb(const CLI::App& app, const std::string& verb) {
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* known) {
    return known->get_name() == verb;
  });
}

void AddLabOptions(CLI::App* app, LabOptions& lab) {
  app->add_option("--lab", lab.kinds, "Hosts to make on this machine, by kind")
      ->type_name("LIST")
      ->capture_default_str();
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
  AddParsed<Nanoseconds>(
      app, "--delay", "Delay of the line, each way, up to 10s: 5ms", ParseDelay,
      [&lab](Nanoseconds delay) {
        lab.link.delay = delay;
        lab.link_given = true;
      })
      ->type_name("D");
  AddParsed<double>(app, "--loss",
                    "Share of frames the line loses, each way, under 100%: 5%",
                    ParseLoss,
                    [&lab](double loss) {
                      lab.link.loss = loss;
                      lab.link_given = true;
                    })
      ->type_name("P");
  app->add_option("--mtu", lab.link.mtu, "MTU of the line, bytes")
      ->type_name("N")
      ->check(CLI::Range(576, 9000))
      ->capture_default_str();
}

void AddPrecision(CLI::App* app, RunOptions& run) {
  app->add_option("--repeats", run.repeats,
                  "Blocks to run; with --precision, at most that many")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
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
  app->add_option("--out", run.out, "Run folder; default: runs/TIME-STUDY")
      ->type_name("DIR");
  app->add_flag("--resume", run.resume,
                "Take up the run in --out: only what is missing");
  app->add_flag("!--no-report", run.report, "Do not write the report");
  app->add_flag("--quiet", run.quiet, "No progress");
  app->add_flag("--json", run.json, "Tell the outcome as JSON");
}

void AddRun(CLI::App& app, std::shared_ptr<RunOptions> run) {
  CLI::App* verb = app.add_subcommand(
      "run", "Run studies between hosts, write samples and a report");
  verb->footer(kRunExamples);
  verb->add_option("STUDY", run->studies,
                   "Names (see `wiretoll list`) or TOML files; default: quick");
  auto* hosts = verb->add_option("--hosts", run->hosts,
                                 "Hosts to run between, a TOML file")
                    ->type_name("FILE");
  AddLabOptions(verb, run->lab);
  for (const char* lab_only : {"--lab", "--link", "--delay", "--loss", "--mtu"})
    hosts->excludes(verb->get_option(lab_only));
  verb->add_option("--pairs", run->pairs,
                   "sender:receiver,... ; default: every ordered pair")
      ->type_name("SPEC");
  AddPrecision(verb, *run);
  verb->add_option("--filter", run->filter,
                   "Only these cells: 'write<=32,nagle=on,rcvbuf=2|unset'")
      ->type_name("EXPR");
  verb->add_flag("--quick", run->quick,
                 "A first look: 3 blocks, trials of at most 100 ms and 1 MiB");
  AddParsed<std::pair<std::uint16_t, std::uint16_t>>(
      verb, "--ports",
      "Data ports at the receiver, FIRST-LAST (default 7001-7099)", ParsePorts,
      [run](std::pair<std::uint16_t, std::uint16_t> ports) {
        run->first_port = ports.first;
        run->last_port = ports.second;
      })
      ->type_name("A-B");
  AddParsed<std::chrono::milliseconds>(
      verb, "--deadline",
      "Give a trial up after this long, 1s to 24h: 30s (default: by its size, "
      "15 s or more)",
      ParseDeadline,
      [run](std::chrono::milliseconds deadline) { run->deadline = deadline; })
      ->type_name("D");
  AddRunOutput(verb, *run);
}

void AddReport(CLI::App& app, std::shared_ptr<ReportOptions> report) {
  CLI::App* verb = app.add_subcommand(
      "report", "Write the report of run folders, without their hosts");
  verb->add_option("RUN", report->runs, "Run folders")->required();
  verb->add_option("--out", report->out,
                   "Folder for the report; default: RUN/report")
      ->type_name("DIR");
  const std::map<std::string, ReportFormat> formats{
      {"html", ReportFormat::kHtml},
      {"md", ReportFormat::kMarkdown},
      {"csv", ReportFormat::kCsv},
      {"json", ReportFormat::kJson}};
  verb->add_option_function<std::vector<ReportFormat>>(
          "--format",
          [report](const std::vector<ReportFormat>& chosen) {
            report->formats.insert(chosen.begin(), chosen.end());
          },
          "html, md, csv, json; default: all four")
      ->transform(CLI::CheckedTransformer(formats))
      ->delimiter(',')
      ->type_name("NAME");
  verb->add_flag("--quiet", report->quiet, "No list of files, only warnings");
}

void AddTheory(CLI::App& app, std::shared_ptr<TheoryCommand> theory) {
  CLI::App* verb = app.add_subcommand(
      "theory", "What payloads cost on the wire, from header formats alone");
  verb->footer(
      "\nExamples:\n"
      "  wiretoll theory\n"
      "  wiretoll theory --payload 1,32,1448 --link 100mbit\n"
      "  wiretoll theory --ip 6 --timestamps off --format csv");
  verb->add_option_function<std::vector<std::string>>(
          "--payload",
          [theory](const std::vector<std::string>& sizes) {
            for (const std::string& text : sizes)
              theory->options.payloads.push_back(*ParseBytes(text));
          },
          "Sizes: 1,32,64KiB")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(CLI::Validator(
          [](std::string& text) {
            return ParseBytes(text) ? std::string()
                                    : "\"" + text + "\" is no size in bytes";
          },
          ""));
  AddParsed<std::optional<BitsPerSecond>>(
      verb, "--link", "Line rate, for what it can carry: 100mbit", ParseLink,
      [theory](std::optional<BitsPerSecond> rate) {
        theory->options.link = rate;
      })
      ->type_name("RATE");
  verb->add_option("--ip", theory->options.ip_version, "IP version: 4 or 6")
      ->type_name("4|6")
      ->check(CLI::IsMember({4, 6}))
      ->capture_default_str();
  const std::map<std::string, bool> on_off{{"on", true}, {"off", false}};
  verb->add_option("--timestamps", theory->options.timestamps,
                   "TCP timestamps: on (default) or off")
      ->type_name("on|off")
      ->transform(CLI::CheckedTransformer(on_off));
  verb->add_option("--vlan", theory->options.vlan,
                   "A VLAN tag in each frame: on or off (default)")
      ->type_name("on|off")
      ->transform(CLI::CheckedTransformer(on_off));
  verb->add_option("--mtu", theory->options.mtu.count, "MTU, bytes")
      ->type_name("N")
      ->check(CLI::Range(68, 65535))
      ->capture_default_str();
  using Format = TheoryCommand::Format;
  const std::map<std::string, Format> formats{
      {"text", Format::kText}, {"csv", Format::kCsv}, {"json", Format::kJson}};
  verb->add_option("--format", theory->format, "text (default), csv, json")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(formats));
}

void AddLab(CLI::App& app, std::shared_ptr<LabCommand> lab) {
  CLI::App* verb = app.add_subcommand(
      "lab", "The local hosts by themselves: up, down, status");
  verb->require_subcommand(1);
  CLI::App* up = verb->add_subcommand(
      "up",
      "Make a lab and leave it standing; prints a hosts file for --hosts");
  AddLabOptions(up, lab->lab);
  up->callback([lab] { lab->what = LabCommand::What::kUp; });
  CLI::App* down = verb->add_subcommand("down", "Take labs down");
  down->add_option("ID", lab->id, "Which (see status); default: all kept ones");
  down->callback([lab] { lab->what = LabCommand::What::kDown; });
  CLI::App* status = verb->add_subcommand("status", "Which labs stand");
  status->add_flag("--json", lab->json, "As JSON");
  status->callback([lab] { lab->what = LabCommand::What::kStatus; });
}

}  // namespace

Command ParseCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app(kAbout, "wiretoll");
  app.footer(kExamples);
  app.set_version_flag("--version", fmt::format("wiretoll {}", kVersion));
  app.require_subcommand(1);
  const auto run = std::make_shared<RunOptions>();
  const auto report = std::make_shared<ReportOptions>();
  const auto theory = std::make_shared<TheoryCommand>();
  const auto list = std::make_shared<ListOptions>();
  const auto lab = std::make_shared<LabCommand>();
  AddRun(app, run);
  AddReport(app, report);
  AddTheory(app, theory);
  app.add_subcommand("list", "Which studies there are, and what each asks")
      ->add_flag("--json", list->json, "As JSON");
  AddLab(app, lab);
  if (!arguments.empty() && arguments.front().rfind('-', 0) != 0 &&
      !IsKnownVerb(app, arguments.front())) {
    std::fprintf(stderr,
                 "unknown verb \"%s\"; this version has run, report, theory, "
                 "list, lab (wiretoll --help)\n",
                 arguments.front().c_str());
    return Answered{2};
  }
  run->arguments = ToRepeat(arguments);
  try {
    // CLI11 takes them back to front.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return Answered{app.exit(error) == 0 ? 0 : 2};
  }
  if (app.got_subcommand("run")) return *run;
  if (app.got_subcommand("report")) return *report;
  if (app.got_subcommand("theory")) return *theory;
  if (app.got_subcommand("list")) return *list;
  return *lab;
}

}  // namespace wiretoll
