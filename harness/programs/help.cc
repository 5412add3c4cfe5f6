#include "harness/programs/help.h"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <string_view>

namespace wiretoll {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kLeft = 24;  // Where descriptions begin.

constexpr char kFirstSteps[] = R"(First steps:
  wiretoll run                      the quick study in a two-host lab on this
                                    machine (needs root, or user namespaces)
  wiretoll list                     which studies there are, what each asks
  wiretoll theory --payload 1,1448  what headers cost, without measuring
  wiretoll report runs/...          the report again, anywhere, from its folder
  wiretoll export runs/... --sqlite trials.db   as tables, for SQL
  wiretoll explain runs/...         what happened in one trial, and why
  wiretoll check --hosts FILE       whether hosts of yours can be measured
  wiretoll advise --hosts FILE      what limits them, and what to set
  wiretoll observe FILE.pcapng      what a capture made elsewhere shows
  wiretoll sink --port 5001         receive from ttcp, nc, iperf 2

Exit codes: 0 done; 1 some trials failed, or not all could be done, and the
rest is recorded; 2 usage or a bad file; 3 nothing could run. Standard output
is data, standard error is progress and messages. Each verb has its own
--help.)";

constexpr char kRunExamples[] = R"(Examples:
  wiretoll run                                  the quick study, 100 Mbit/s lab
  wiretoll run small-writes --link none         veth as fast as the machine
  wiretoll run tcp-efficiency --filter 'write<=256,nagle=on'
  wiretoll run small-writes --lab linux,wine    one host is Wine, not Windows
  wiretoll run small-writes --lab linux,lwip    the stack of small devices
  wiretoll run small-writes --lab linux,guest:6.1       another kernel, in QEMU
  wiretoll run small-writes --lab container,container   by podman or docker
  wiretoll run --delay 20ms --jitter 2ms --loss 1%      a line from far away
  wiretoll run packet-size --router --router-link 10mbit   from LAN to LAN
  wiretoll run my-study.toml --hosts hosts.toml --pairs alpha:beta
  wiretoll run my-flows.toml --lab linux,linux,linux    a ring, or all to all
  wiretoll run --precision 5 --repeats 30       until intervals are within 5 %
  wiretoll run write-write-read --capture       with a pcapng file a trial
  wiretoll run --resume --out runs/20260102T030405Z-quick

A hosts file names each host, its address and the command that starts its agent:
  [hosts.alpha]
  agent = ["ssh", "student@192.168.56.11", "./wiretoll-agent"]
  address = "192.168.56.11"

A study of yours is a file: title, question, [factors] with lists of what to
vary, [stop]. `wiretoll list --factors` tells every factor; docs/studies.md has
the rest.

The run folder holds run.json, samples.jsonl (one line a trial) and report/.
Exit codes: 0 done; 1 some trials failed, or the run was cut short, or its
report could not be written; 2 usage or a bad file; 3 nothing could run.)";

constexpr char kReportExamples[] = R"(Examples:
  wiretoll report runs/20260102T030405Z-quick
  wiretoll report runs/monday runs/tuesday --out both   one report of two runs
  wiretoll report runs/monday --format html,csv         only these files)";

constexpr char kCompareExamples[] = R"(Examples:
  wiretoll compare runs/monday runs/tuesday
  wiretoll compare runs/before runs/after --out both    a page with a picture
  wiretoll compare runs/before runs/after --fail-on 10% > changes.txt

Cells are matched by study, case and pair; blocks are not paired across runs.
Exit codes: 0 done; 1 --fail-on found a slower cell; 2 usage, no run folder, or
runs of different studies; 3 a file could not be written, or --fail-on found no
cell that it could judge.)";

constexpr char kExplainExamples[] = R"(Examples:
  wiretoll run write-write-read --capture --repeats 1 --out here
  wiretoll explain here                           which trials can be explained
  wiretoll explain here TRIAL --format text       TRIAL: an id, or its begin
  wiretoll explain here TRIAL                     page and slides, here/explain
  wiretoll explain here TRIAL --format json | jq '.stalls[].words'

The page has the story a sentence a line, a time-sequence diagram with each
stall and the mechanism behind it, the first 30 events as a ladder, window,
sizes and gaps; each picture is also a file by itself, for slides. A story is
made of the trial's capture and of what its programs logged (RUN/captures), so
that the hosts are not needed.
Exit codes: 0 done; 2 usage, no run folder, no such trial, or one that has no
capture (it is said why); 3 a file could not be written.)";

constexpr char kExportExamples[] = R"(Examples:
  wiretoll export runs/monday --sqlite trials.db
  wiretoll export runs/* --sqlite trials.db      adds what is not there yet
  wiretoll export runs/monday --csv tables       a file a table
  sqlite3 trials.db 'SELECT outcome, count(*) FROM trials GROUP BY outcome'

docs/export.md has the tables and worked queries, and how to read samples.jsonl
itself from pandas and DuckDB. Exporting a run again adds nothing twice; of one
that went on since, it adds the new trials.
Exit codes: 0 done; 2 usage, no run folder, or a file that is no export; 3 the
file could not be written: it is as it was, but for runs that were done before.)";

constexpr char kTheoryExamples[] = R"(Examples:
  wiretoll theory                                  a row for each usual size
  wiretoll theory --payload 1,32,1448 --link 100mbit
  wiretoll theory --ip 6 --timestamps off --format csv
  wiretoll theory --window 64KiB,256KiB --rtt 10ms --link 100mbit
  wiretoll theory --rtt 1ms,70ms --link 1gbit      every usual window)";

constexpr char kListExamples[] = R"(Examples:
  wiretoll list
  wiretoll list --json | jq -r '.[].name'
  wiretoll list --factors                    what a study of yours may vary
  wiretoll run small-writes                  one of them, by its name)";

constexpr char kCheckExamples[] = R"(Examples:
  wiretoll check --hosts hosts.toml
  wiretoll check --hosts hosts.toml --ports 7001
  wiretoll check --hosts hosts.toml --format json | jq '.hosts[].problems'

Each host: does its agent start, which version and system, is the address its
own, MTU, clock, what it can count. Each ordered pair: does a connection come
about on the data ports, round-trip time, do full segments pass. What does not
work is told with what to do about it.
Exit codes: 0 all is well; 1 a host or a pair has a problem; 2 usage or a bad
file; 3 no agent answered.)";

constexpr char kAdviseExamples[] = R"(Examples:
  wiretoll advise --hosts hosts.toml --pair alpha,beta
  wiretoll advise --link 100mbit --delay 10ms      in a lab: what would limit
  wiretoll advise --delay 10ms --sysctl net.ipv4.tcp_window_scaling=0 --verify
  wiretoll advise --delay 10ms --case rcvbuf=16KiB    of a program that asks so
  wiretoll advise --study write-write-read
      --filter request=1+1,nagle=on,quickack=unset    of a cell of a study
  wiretoll advise --hosts hosts.toml --format json | jq -r .limit
  wiretoll advise runs/20260102T030405Z-quick         of a recorded run

It measures the round trip (alone, and beside a stream), the line, and the
stream (or the case) that is diagnosed; reads what both hosts are set to; and
names the limit that holds, with the figures that show it:
  receive-window, send-buffer, window-scaling, line, loss, slow-writer,
  slow-reader, cpu, path-mtu (a black hole), slow-start (over too soon),
  nagle-delayed-ack, queue (the line's, too long), round-trip, unknown
Then what to change: host, command, the line that keeps it, how to undo it, and
what it gains by theory. It changes nothing; --verify does, in its own lab.
Exit codes: 0 found out; 1 trials failed, or it was stopped; 2 usage or a bad
file; 3 an agent cannot be had, or not a byte passes.)";

constexpr char kObserveExamples[] = R"(Examples:
  wiretoll observe web.pcapng                    the biggest flows, and notes
  wiretoll observe web.pcapng --flow 443         every figure of these flows
  wiretoll observe *.pcap --format csv --top 5 > flows.csv
  tcpdump -i eth0 -s 96 -c 10000 -w - | wiretoll observe -

How to make a capture (96 bytes of a frame hold all headers; as root or
administrator):
  Linux, BSD, macOS   tcpdump -i eth0 -s 96 -w web.pcap tcp port 443
  Wireshark           dumpcap -i eth0 -s 96 -f "tcp port 443" -w web.pcapng
  Windows itself      pktmon start --capture --comp nics --file-name web.etl
                      pktmon stop
                      pktmon etl2pcap web.etl --out web.pcapng

What the figures mean:
  a flow         the client opened the connection. The first line below it is
                 what the client sent, the second what the server sent
  with payload   segments that carry bytes of the stream; the others are SYN,
                 FIN, RST and ACKs alone
  resent         segments with bytes that were seen before, or that fill a gap
                 a round trip late: lost before they came here, and sent again
  stalls         times of over 30 ms between two segments with payload of one
                 direction. Delayed ACKs make them (40 ms on Linux), so do
                 losses, closed windows, and programs with nothing to say
  ?              could not be observed here
  notes          what is missing, doubtful or assumed. Offloads of a host hand
                 over several segments as one frame: capture on the other host,
                 or switch them off (ethtool -K eth0 tso off gso off gro off)

Exit codes: 0 done, also where a torn capture gave only a part, which a note
says; 2 usage, no capture, or no such flow.)";

constexpr char kLabExamples[] = R"(Examples:
  wiretoll lab up --link 10mbit > hosts.toml    hosts that stay
  wiretoll run small-writes --hosts hosts.toml
  wiretoll lab down                             takes them away again)";

constexpr char kLabUpExamples[] = R"(Examples:
  wiretoll lab up > hosts.toml                      100 Mbit/s, two hosts
  wiretoll lab up --lab linux,linux,linux > hosts.toml
  wiretoll lab up --lab linux,wine > hosts.toml     the Windows agent under Wine
  wiretoll lab up --lab linux,guest:6.1 > hosts.toml    a kernel in QEMU
  wiretoll lab up --link 10mbit --delay 20ms > hosts.toml
  wiretoll lab up --router --router-mtu 1400 --no-icmp > hosts.toml

Needs root. The hosts file names the namespaces; look into one with
`ip netns exec NAME tcpdump`.)";

constexpr char kLabDownExamples[] = R"(Examples:
  wiretoll lab down               all labs that `lab up` left
  wiretoll lab down 4711-1350746  one, by the name that `lab status` gives)";

constexpr char kLabStatusExamples[] = R"(Examples:
  wiretoll lab status           which labs stand, their hosts and namespaces
  wiretoll lab status --json)";

// `text` in lines that end before kColumns; from the second on, each begins
// in column kLeft. The first starts in column `used`.
std::string Wrap(const std::string& text, std::size_t used) {
  std::istringstream words(text);
  std::string wrapped;
  std::size_t column = used;
  for (std::string word; words >> word;) {
    const bool first = wrapped.empty();
    if (!first && column + 1 + word.size() > kColumns) {
      wrapped += "\n" + std::string(kLeft, ' ');
      column = kLeft;
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

}  // namespace

std::string HelpEntry(const std::string& left, const std::string& right) {
  std::string entry = "  " + left;
  if (entry.size() + 2 > kLeft) {
    entry += "\n" + std::string(kLeft, ' ');
  } else {
    entry.resize(kLeft, ' ');
  }
  return entry + Wrap(right, kLeft) + "\n";
}

namespace {

constexpr char kSinkExamples[] = R"(Examples:
  wiretoll sink --port 5001                  then, on the other machine, one of
      ttcp -t -s -n 8192 HOST                  (PCATTCP on an old Windows)
      iperf -c HOST -u -b 50m                  (iperf 2: losses by its numbers)
      head -c 8000000 /dev/zero | nc HOST 5001
  wiretoll sink --port 5001 --read 1 --rcvbuf 2 --only tcp
  wiretoll sink --port 5001 --streams 100 --json >> samples.jsonl

What a trial's receiver tells, it tells of each stream: bytes, throughput by the
receiver's clock, reads, the kernel's count of data segments, buffers. iperf 2
waits for an answer at the end of a UDP test and gets none: it warns.
Exit codes: 0 done; 1 a stream was cut short or broke; 2 usage, or a port that
cannot be had; 3 nobody came.)";

struct Examples {
  std::string_view verb;
  const char* text;
};

constexpr std::array<Examples, 12> kOfVerbs{{{"run", kRunExamples},
                                             {"report", kReportExamples},
                                             {"compare", kCompareExamples},
                                             {"export", kExportExamples},
                                             {"explain", kExplainExamples},
                                             {"theory", kTheoryExamples},
                                             {"list", kListExamples},
                                             {"check", kCheckExamples},
                                             {"advise", kAdviseExamples},
                                             {"observe", kObserveExamples},
                                             {"sink", kSinkExamples},
                                             {"lab", kLabExamples}}};
constexpr std::array<Examples, 3> kOfLab{{{"up", kLabUpExamples},
                                          {"down", kLabDownExamples},
                                          {"status", kLabStatusExamples}}};

}  // namespace

std::string Help::make_option(const CLI::Option* option,
                              bool is_positional) const {
  std::string left = make_option_name(option, is_positional);
  const bool takes_value = option->get_type_size() > 0;
  if (is_positional) {
    if (option->get_expected_max() > 1) left += "...";
  } else if (takes_value) {
    left += " " + option->get_type_name();
  }
  return HelpEntry(left, option->get_description());
}

std::string Help::make_subcommand(const CLI::App* verb) const {
  return HelpEntry(verb->get_name(), verb->get_description());
}

void AddExamples(CLI::App& app) {
  app.footer(kFirstSteps);
  for (const Examples& examples : kOfVerbs)
    app.get_subcommand(std::string(examples.verb))->footer(examples.text);
  CLI::App* lab = app.get_subcommand("lab");
  for (const Examples& examples : kOfLab)
    lab->get_subcommand(std::string(examples.verb))->footer(examples.text);
}

}  // namespace wiretoll
