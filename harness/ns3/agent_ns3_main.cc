// wiretoll-agent-ns3: a host that ns-3 simulates, spoken to as any other.
//
// ns-3 is under the GNU General Public License, version 2; a program that links
// it is so as a whole. This is that program, and no other of ours links it.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/version.h"
#include "harness/ns3/agent_ns3.h"
#include "harness/ns3/agent_options.h"
#include "harness/ns3/simulation.h"
#include "harness/ns3/table.h"
#include "platform/process.h"

namespace wiretoll {
namespace {

constexpr const char* kDescription =
    R"(wiretoll-agent-ns3: does on a host that ns-3 simulates what
wiretoll-agent does on a real one, and answers in the same samples. All times
are simulated.

It takes one JSON request a line on standard input, until its input ends. Both
ends of a pair are in one simulation, so that each simulated host needs another
one beside it, with the same options; they meet in a folder. `wiretoll run
--lab ns3,ns3` starts them by itself. By hand:

    [hosts.a]
    agent = ["wiretoll-agent-ns3", "--meet", "/tmp/ns3", "--host", "a"]
    address = "10.1.1.1"
    [hosts.b]
    agent = ["wiretoll-agent-ns3", "--meet", "/tmp/ns3", "--host", "b"]
    address = "10.1.1.2"

Where a trial sets nothing, ns-3's own defaults hold: segments of 536 bytes,
buffers of 131072, an ACK for each second segment. Nagle alone is always set, as
a study has it on unless it says off.

What is simulated is under the GPL, version 2, as ns-3 is.
)";

constexpr const char* kTable =
    R"(The published experiment, as CSV: BulkSend of N x 1472 bytes, then
UdpClient with N datagrams of 1472 bytes, one every 2 us, over CSMA with
1 Gbit/s and 2 us, for N = 10, 100, 10000 ... 90000. Throughput is IP bytes
received over the time from the first packet sent to the last received. All
points are of one process, TCP's first, as published: random numbers go on from
point to point. Takes about a minute.
)";

int Code(ExitCode code) { return static_cast<int>(code); }

int Fail(const std::string& message) {
  std::fprintf(stderr, "wiretoll-agent-ns3: %s\n", message.c_str());
  return Code(ExitCode::kUsage);
}

void AddTable(CLI::App* app, TableSpec& table) {
  AddWorldOptions(app, table.world);
  const CLI::Range above_zero(std::int64_t{1}, std::int64_t{1'000'000'000});
  app->add_option("--packets", table.packets, "N, one or more")
      ->delimiter(',')
      ->check(above_zero);
  app->add_option("--segment", table.segment_bytes,
                  "TCP: bytes of a segment; ns-3's own are 536")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65495}));
  app->add_option("--buffers", table.buffer_bytes,
                  "TCP: bytes of either buffer; ns-3's own are 131072")
      ->check(above_zero);
}

int Serve(const Ns3AgentSpec& spec) {
  if (spec.meet.empty())
    return Fail(
        "--meet is required: the folder where the simulated hosts "
        "meet; see --help");
  return RunNs3Agent(spec, stdin, stdout);
}

int Main(int argc, char** argv) {
  CLI::App app(kDescription);
  app.set_version_flag("--version",
                       std::string("wiretoll-agent-ns3 ") + kVersion);
  Ns3AgentSpec spec;
  app.add_option("--meet", spec.meet, "Folder where the simulated hosts meet");
  app.add_option("--host", spec.host, "This host's name, for people");
  AddWorldOptions(&app, spec.world);
  TableSpec table;
  CLI::App* const print = app.add_subcommand("table", kTable);
  AddTable(print, table);
  sim::WorldSpec one;
  CLI::App* const simulate = app.add_subcommand(
      "simulate",
      "One trial: a sender's and a receiver's trial request in, two "
      "replies out. The agent starts it");
  AddWorldOptions(simulate, one);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : Code(ExitCode::kUsage);
  }
  if (const Result<Done> prepared = PrepareProcess(); !prepared.has_value())
    return Fail("cannot start: " + prepared.error().message());
  if (print->parsed() && table.world.rng_run == kRunOfEachTrial)
    return Fail("the table is of one run: give --rng-run a number");
  if (print->parsed()) return Code(PrintTable(table, stdout));
  if (simulate->parsed()) return Code(RunSimulation(one, stdin, stdout));
  return Serve(spec);
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) { return wiretoll::Main(argc, argv); }
