#include "tests/samples/full_sample.h"

#include <fstream>
#include <random>
#include <sstream>

#include "harness/samples/fields.h"

namespace wiretoll {
namespace {

TcpCounters FullCounters(std::int64_t first) {
  TcpCounters counters;
  for (const CounterField& field : kCounterFields) {
    counters.*field.member = first++;
  }
  counters.reason = "said anyway";
  return counters;
}

// A counter that no table names would be neither written nor read: were one
// added to the struct alone, this stops the build.
static_assert(sizeof(TcpCounters) ==
              kCounterFields.size() * sizeof(TcpCounters::Count) +
                  sizeof(std::string));
// Likewise: observer, agreement and reason are the texts.
static_assert(sizeof(Wire) ==
              kWireFields.size() * sizeof(std::optional<std::int64_t>) +
                  3 * sizeof(std::string));
static_assert(sizeof(LatencySummary) ==
              kLatencyFields.size() * sizeof(std::int64_t) + sizeof(double));
// The five that no table names: not_sent and delay, both jitters, ended.
static_assert(sizeof(DatagramReport) ==
              kDatagramCounts.size() * sizeof(std::optional<std::int64_t>) +
                  sizeof(std::optional<NotSent>) +
                  sizeof(std::optional<DelaySummary>) +
                  2 * sizeof(std::optional<double>) + sizeof(std::string));
static_assert(sizeof(NotSent) == kNotSentFields.size() * sizeof(std::int64_t) +
                                     sizeof(std::string));
static_assert(sizeof(DelaySummary) ==
              kDelayFields.size() * sizeof(std::int64_t) + sizeof(double));
static_assert(sizeof(Datagrams) ==
              kDatagramTotals.size() * sizeof(std::int64_t) +
                  kDatagramFates.size() * sizeof(std::optional<std::int64_t>) +
                  sizeof(std::string));

static_assert(sizeof(SeriesSummary) ==
              kSeriesTotals.size() * sizeof(std::int64_t) +
                  kSeriesCounts.size() * sizeof(std::optional<std::int64_t>) +
                  sizeof(std::string));

SeriesSummary FullSeries(std::int64_t next) {
  SeriesSummary series;
  for (const auto& field : kSeriesTotals) series.*field.member = next++;
  for (const auto& field : kSeriesCounts) series.*field.member = next++;
  series.reason = "never told: own_window_bytes";
  return series;
}

DatagramReport FullDatagramReport() {
  DatagramReport report;
  std::int64_t next = 4000;
  for (const DatagramCountField& field : kDatagramCounts) {
    report.*field.member = next++;
  }
  NotSent& not_sent = report.not_sent.emplace();
  for (const auto& field : kNotSentFields) not_sent.*field.member = next++;
  not_sent.first_other = "Network is unreachable";
  DelaySummary& delay = report.delay.emplace();
  for (const auto& field : kDelayFields) delay.*field.member = next++;
  delay.mean_ns = 1.5;
  report.jitter_mean_ns = 2.25;
  report.jitter_rfc3550_ns = 2.125;
  report.ended = "nothing came for 500 ms";
  return report;
}

Datagrams FullDatagrams() {
  Datagrams datagrams;
  std::int64_t next = 5000;
  for (const auto& field : kDatagramTotals) datagrams.*field.member = next++;
  for (const auto& field : kDatagramFates) datagrams.*field.member = next++;
  datagrams.reason = "said anyway";
  return datagrams;
}

}  // namespace

EndReport FullEnd(bool receiver) {
  EndReport end;
  end.host = receiver ? "linux-2" : "linux-1";
  end.os = "linux";
  end.stack = "Linux 6.18.44";
  std::int64_t next = receiver ? 2000 : 1000;
  for (const auto& field : kEndTotals) end.*field.member = next++;
  for (const EndCountField& field : kEndCounts) end.*field.member = next++;
  end.gap_mean_ns = 20123.25;
  end.verified = false;
  end.call_sizes = {5, 0, 7, 11};
  end.latency = LatencySummary{next + 1, next + 2, next + 3, next + 4, next + 5,
                               next + 6, next + 7, 0.1,      next + 8};
  end.options["nagle"] = {true, false, "the system would not"};
  end.options["rcvbuf"] = {std::int64_t{2}, std::int64_t{2304}, "clamped"};
  end.options["congestion"] = {std::monostate{}, "cubic", ""};
  end.counters = FullCounters(next + 100);
  end.series = FullSeries(next + 300);
  end.disturbance = {next + 200, -17, 0.25, true, "CPU time was stolen"};
  return end;
}

Sample FullSample() {
  Sample sample;
  sample.trial = "small-writes/write-1-nagle-on/linux-1:linux-2/3";
  sample.study = "small-writes";
  sample.case_id = "write-1-nagle-on";
  // Not in alphabetical order: the order is the study's.
  sample.factors = {{"write", std::int64_t{1}},
                    {"nagle", "on"},
                    {"gap", "20us"},
                    {"rcvbuf", "unset"}};
  sample.repeat = 3;
  sample.order = 17;
  sample.started = "2026-01-02T03:04:05Z";
  sample.outcome = TrialOutcome::kFailed;
  sample.reason = "a \"quoted\"\nreason with `ticks`, <b> and \u00e9";
  sample.link = "lab 100 Mbit/s Ethernet, veth";
  sample.sender = FullEnd(false);
  sample.receiver = FullEnd(true);
  Wire& wire = sample.wire.emplace();
  wire.observer = "receiver-counters";
  std::int64_t next = 3000;
  for (const WireField& field : kWireFields) wire.*field.member = next++;
  wire.agreement = "different: 3 lost";
  wire.reason = "said anyway";
  sample.series = {"series/00017-a.csv", "said anyway"};
  return sample;
}

EndReport FullUdpEnd(bool receiver) {
  EndReport end = FullEnd(receiver);
  end.datagrams = FullDatagramReport();
  return end;
}

Sample FullUdpSample() {
  Sample sample = FullSample();
  sample.sender = FullUdpEnd(false);
  sample.receiver = FullUdpEnd(true);
  sample.datagrams = FullDatagrams();
  sample.flow = TrialFlow{"a-trial", "ring", 6, 2, 0.75};
  return sample;
}

RunRecord FullRecord() {
  RunRecord record;
  record.wiretoll_version = "0.1.0";
  record.started = "2026-01-02T03:04:05Z";
  record.command = {"wiretoll", "run", "--seed", "18446744073709551615"};
  record.seed = 18446744073709551615U;  // 2^64 - 1: beyond a signed integer.
  record.repeats = 5;
  record.precision = 0.05;
  record.filter = "write<=32";
  record.studies = {{"small-writes", "cases/small-writes.toml",
                     std::string(10'000, '#') + "\n`$(rm)` <script>\n"}};
  RecordedHost host{"linux-1",  "linux",   "Linux 6.18.44", "Debian 12",
                    "10.0.0.1", {"agent"}, "0.1.0",         {}};
  host.facts = {
      {"kernel", "6.18.44", std::nullopt, ""},
      {"mtu_bytes", std::int64_t{1500}, std::nullopt, ""},
      {"sack", true, std::nullopt, ""},
      {"load", std::monostate{}, 2.0, ""},
      {"hypervisor", std::monostate{}, std::nullopt, "no DMI to be read"}};
  record.hosts = {host, host};
  record.hosts[1].name = "linux-2";
  record.pairs = {{"linux-1", "linux-2"}, {"linux-2", "linux-1"}};
  record.link = {"lab", "100 Mbit/s", 100e6, "ethernet",
                 1500,  5'000'000,    0.01,  {{"rps_cpus", "1"}}};
  return record;
}

TempFolder::TempFolder() {
  std::random_device random;
  std::string name = "wiretoll-test";
  for (int i = 0; i < 2; ++i) name.append("-").append(std::to_string(random()));
  path_ = std::filesystem::temp_directory_path() / name;
  std::filesystem::create_directory(path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ReadFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteFile(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

ReadBack ReadAll(const std::filesystem::path& folder) {
  std::vector<Sample> samples;
  auto summary = ForEachSample(
      folder, [&](Sample&& sample) { samples.push_back(std::move(sample)); });
  return {std::move(samples), std::move(summary)};
}

}  // namespace wiretoll
