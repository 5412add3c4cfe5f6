// wiretoll-bench: every figure that docs/benchmarks.md publishes, in one run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "bench/programs.h"
#include "bench/report_cost.h"
#include "bench/rounds.h"
#include "bench/trial_cost.h"
#include "harness/base/units.h"
#include "harness/lab/lab.h"
#include "platform/host_facts.h"
#include "platform/process.h"
#include "platform/terminal.h"

namespace wiretoll {
namespace {

std::string Verdict(bool reached) { return reached ? "yes" : "**no**"; }

std::string Spell(double value, const std::string& unit) {
  if (unit.rfind("B/s", 0) == 0) return FormatByteRate(value);
  return fmt::format("{:.0f} {}", value, unit);
}

std::string Spell(const Estimate& estimate) {
  if (!estimate.interval) return "no interval";
  return fmt::format("{:.2f} to {:.2f}", estimate.interval->low,
                     estimate.interval->high);
}

// What the median says, and whether the interval allows to say it.
std::string Verdict(const Figure& figure) {
  if (!figure.goal) return "";
  const bool reached = figure.ratio.median >= *figure.goal;
  const auto& interval = figure.ratio.interval;
  const bool sure = interval && (reached ? interval->low >= *figure.goal
                                         : interval->high < *figure.goal);
  return Verdict(reached) + (sure ? "" : ", not surely");
}

void PrintRounds(const std::vector<Figure>& figures, int rounds) {
  fmt::print(
      "| what | wiretoll | other | ratio | goal | reached |\n"
      "|---|---|---|---|---|---|\n");
  for (const Figure& figure : figures) {
    const std::string goal =
        figure.goal ? fmt::format("{}", *figure.goal) : "none, to compare";
    if (!figure.note.empty()) {
      fmt::print("| {} | | | {} | {} | |\n", figure.what, figure.note, goal);
      continue;
    }
    fmt::print("| {} | {} | {} | {:.3f} ({}) | {} | {} |\n", figure.what,
               Spell(figure.ours, figure.unit),
               Spell(figure.theirs, figure.unit), figure.ratio.median,
               Spell(figure.ratio), goal, Verdict(figure));
  }
  fmt::print(
      "\nMedians of {} interleaved rounds with 95 % intervals; in each, "
      "wiretoll runs before and after every turn of the\nother, and means "
      "count. The ratio is that of the rounds' own ratios. \"Not surely\": the "
      "interval holds the goal.\n\n",
      rounds);
}

void PrintTrialCost(const TrialCost& cost) {
  fmt::print(
      "| {} trials of 2 ms | value | goal | reached |\n"
      "|---|---|---|---|\n"
      "| ok | {} | {} | {} |\n"
      "| whole run | {:.2f} s | under 8 s | {} |\n"
      "| beyond a trial's own {:.2f} ms | {:.2f} ms | under 5 ms | {} "
      "|\n\n",
      cost.trials, cost.ok, cost.trials, Verdict(cost.ok == cost.trials),
      cost.total_seconds, Verdict(cost.total_seconds < 8), cost.mean_trial_ms,
      cost.overhead_ms, Verdict(cost.overhead_ms < 5));
}

void PrintReportCost(const ReportCost& small, const ReportCost& large) {
  const double growth = large.cost.seconds / small.cost.seconds;
  fmt::print(
      "| `wiretoll report` over | file | time | memory | goal | reached "
      "|\n|---|---|---|---|---|---|\n");
  fmt::print(
      "| {} samples | {:.0f} MB | {:.2f} s | {:.0f} MiB | 5 s, 300 MB | "
      "{} |\n",
      small.samples, small.megabytes, small.cost.seconds, small.cost.peak_mib,
      Verdict(small.cost.exit_code == 0 && small.cost.seconds < 5 &&
              small.cost.peak_mib * 1.048576 < 300));
  fmt::print(
      "| {} samples | {:.0f} MB | {:.2f} s | {:.0f} MiB | 11 times the "
      "time | {} ({:.1f} times) |\n\n",
      large.samples, large.megabytes, large.cost.seconds, large.cost.peak_mib,
      Verdict(large.cost.exit_code == 0 && growth <= 11), growth);
}

// Of two measurements of the same; the worse in what is not a time.
ReportCost MeanOf(ReportCost one, const ReportCost& other) {
  one.cost.seconds = (one.cost.seconds + other.cost.seconds) / 2;
  one.cost.peak_mib = std::max(one.cost.peak_mib, other.cost.peak_mib);
  one.cost.exit_code = std::max(one.cost.exit_code, other.cost.exit_code);
  return one;
}

// A lab switches offloads off, because counts matter there. Here speed does:
// back to what the kernel gives a veth pair.
void SwitchOffloadsOn(const Lab& lab) {
  for (const LabHost& host : lab.hosts()) {
    Output({"ip", "netns", "exec", host.netns, "ethtool", "-K", "lab0", "tso",
            "on", "gso", "on", "gro", "on", "tx", "on"});
    Output({"ip", "-n", host.netns, "link", "set", "lab0", "gso_max_segs",
            "65535"});
  }
}

// For every contestant alike, by the route: a tool may not be able to choose,
// and a namespace may not be allowed to. BBR, the default of some systems,
// sends by timers and looks for more bandwidth every so often, which moves a
// second's figure by a tenth.
std::string ChooseCubic(const Lab& lab) {
  for (const LabHost& host : lab.hosts()) {
    const std::string route =
        Output({"ip", "-n", host.netns, "route", "show", "dev", "lab0"});
    const std::string subnet = route.substr(0, route.find(' '));
    Output({"ip", "-n", host.netns, "route", "change", subnet, "dev", "lab0",
            "scope", "link", "congctl", "cubic"});
    if (Output({"ip", "-n", host.netns, "route", "show", "dev", "lab0"})
            .find("congctl cubic") == std::string::npos)
      return "the system's own congestion control";
  }
  return "cubic";
}

void PrintHead(const std::string& congestion) {
  fmt::print(
      "# Benchmarks\n\nMade by `./dev bench` on {:%Y-%m-%d}, {}, on a "
      "veth pair between two namespaces,\nnot shaped, offloads on, {}; writers "
      "on CPU 1, readers on CPU 0. "
      "Timed figures live here and never decide a test.\n\n",
      fmt::gmtime(std::time(nullptr)), IdentifyOs().description, congestion);
}

// The small one before and after, so that a machine that becomes slower is not
// taken for a growth.
void BenchReports(const std::filesystem::path& wiretoll) {
  fmt::print(stderr, "bench: reports over 100,000 and 1,000,000 samples\n");
  const auto before = MeasureReportCost(wiretoll, 100000);
  const auto large = MeasureReportCost(wiretoll, 1000000);
  const auto after = MeasureReportCost(wiretoll, 100000);
  PrintReportCost(MeanOf(before, after), large);
}

// What to measure.
struct Parts {
  int rounds = 5;
  bool loops = true;
  bool reports = true;
  std::string only;  // Lines of the rounds that hold this text.
};

int BenchLoops(const BenchSpec& spec) {
  LabSpec lab_spec;
  lab_spec.agent = spec.programs / "wiretoll-agent";
  lab_spec.self = spec.programs / "wiretoll";
  const auto lab = Lab::Up(lab_spec);
  if (!lab.has_value()) {
    fmt::print(stderr, "bench: {}\n", lab.error().message);
    return 3;
  }
  SwitchOffloadsOn(lab.value());
  PrintHead(ChooseCubic(lab.value()));
  PrintRounds(RunRounds(lab.value(), spec), spec.rounds);
  if (!spec.only.empty()) return 0;
  fmt::print(stderr, "bench: 1000 trials of 2 ms\n");
  const auto trials = MeasureTrialCost(lab.value(), 1000);
  if (!trials.has_value()) {
    fmt::print(stderr, "bench: {}\n", trials.error().message);
    return 1;
  }
  PrintTrialCost(trials.value());
  return 0;
}

int Main(const Parts& parts) {
  if (auto ready = PrepareProcess(); !ready.has_value()) return 3;
  const auto here = ProgramFile().parent_path();
  BenchSpec spec;
  spec.programs = here / "../harness/programs";
  spec.bare = here / "bare-loop";
  spec.rounds = parts.rounds;
  spec.only = parts.only;
  if (parts.loops) {
    const int code = BenchLoops(spec);
    if (code != 0) return code;
  }
  if (parts.reports) BenchReports(spec.programs / "wiretoll");
  return 0;
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  wiretoll::Parts parts;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-report") {
      parts.reports = false;
    } else if (argument == "--only-report") {
      parts.loops = false;
    } else if (argument.rfind("--only=", 0) == 0) {
      parts.only = argument.substr(7);
      parts.reports = false;
    } else if (argument.rfind("--rounds=", 0) == 0) {
      parts.rounds = std::max(1, std::atoi(argument.c_str() + 9));
    } else {
      std::fprintf(
          stderr,
          "usage: wiretoll-bench [--rounds=N] [--no-report] [--only-report]\n"
          "                      [--only=TEXT]\n"
          "Prints the table of docs/benchmarks.md. Needs root.\n"
          "--only: those lines of the loops' table that hold the text, as in\n"
          "--only='32 B, Nagle off' or --only=nuttcp.\n");
      return argument == "--help" ? 0 : 2;
    }
  }
  return wiretoll::Main(parts);
}
