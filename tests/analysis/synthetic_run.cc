#include "tests/analysis/synthetic_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMss = 1448;
constexpr double kUnshapedRate = 1e9;

template <class T>
T Need(Outcome<T> outcome) {
  if (!outcome.has_value()) {
    std::fprintf(stderr, "synthetic run: %s\n",
                 outcome.error().message.c_str());
    std::abort();
  }
  return std::move(outcome).value();
}

const SyntheticHost& HostNamed(const SyntheticRun& run,
                               const std::string& name) {
  return *std::find_if(run.hosts.begin(), run.hosts.end(),
                       [&](const auto& host) { return host.name == name; });
}

std::vector<std::pair<std::string, std::string>> PairsOf(
    const SyntheticRun& run) {
  if (!run.pairs.empty()) return run.pairs;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const SyntheticHost& sender : run.hosts) {
    for (const SyntheticHost& receiver : run.hosts) {
      if (sender.name != receiver.name) {
        pairs.emplace_back(sender.name, receiver.name);
      }
    }
  }
  return pairs;
}

Study StudyOf(const SyntheticRun& run) {
  return Need(
      ParseStudy(run.study_text.empty() ? SyntheticStudyText() : run.study_text,
                 run.study_name + ".toml"));
}

// The same trial has the same noise whatever else the run holds.
double NoiseOf(const SyntheticRun& run, const std::string& trial) {
  const std::string key = trial + '#' + std::to_string(run.seed);
  std::seed_seq seed(key.begin(), key.end());
  std::mt19937_64 engine(seed);
  return std::exp(std::normal_distribution<double>(0.0, run.noise)(engine));
}

SizeBins Bins(std::int64_t calls, std::int64_t size) {
  SizeBins bins(static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint64_t>(size))));
  bins.back() = calls;
  return bins;
}

std::int64_t CeilDivide(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

std::int64_t TotalOf(const Workload& load) {
  if (load.stop_messages) return *load.stop_messages * load.write.count;
  if (load.stop_bytes) return load.stop_bytes->count;
  return 100'000;
}

EndReport EndOf(const SyntheticRun& run, const std::string& name) {
  const SyntheticHost& host = HostNamed(run, name);
  EndReport end;
  end.host = host.name;
  end.os = host.os;
  end.stack = host.stack;
  end.options["nagle"] = {};
  return end;
}

void SetBuffer(EndReport& end, const std::string& name,
               const std::optional<Bytes>& requested) {
  OptionReading reading;
  if (requested) reading.requested = requested->count;
  reading.effective =
      requested ? LinuxReceiveBuffer(*requested).count : std::int64_t{131'072};
  if (requested && requested->count < 1152) {
    reading.reason = "raised to the least the system has";
  }
  end.options[name] = reading;
}

void FillCounters(TcpCounters& sender, std::int64_t segments,
                  std::int64_t elapsed_ns, std::int64_t window) {
  sender.data_segments_out = segments;
  sender.segments_out = segments + 2;
  sender.retransmitted_segments = 0;
  sender.bytes_retransmitted = 0;
  sender.mss_bytes = kMss;
  sender.timestamps = 1;
  sender.rtt_ns = 300'000;
  sender.min_rtt_ns = 200'000;
  sender.busy_ns = elapsed_ns;
  sender.window_limited_ns = 0;
  sender.sndbuf_limited_ns = 0;
  sender.peer_window_initial_bytes = window;
  sender.peer_window_peak_bytes = window;
}

void FillWire(Sample& sample, std::int64_t segments, std::int64_t payload) {
  const HeaderStack stack;
  const CountedCost cost =
      CostOfCounted(segments, Bytes{payload}, Bytes{kMss}, stack);
  Wire wire;
  wire.observer = "receiver-counters";
  wire.data_segments = segments;
  wire.ack_segments = CeilDivide(segments, 2);
  wire.retransmitted_segments = 0;
  wire.payload_bytes = payload;
  wire.header_bytes = NetworkHeaders(stack).count;
  wire.l3_bytes = cost.l3.count;
  wire.l2_bytes = cost.l2_low.count;
  wire.l1_bytes = cost.l1_low.count;
  wire.l1_bytes_low = cost.l1_low.count;
  wire.l1_bytes_high = cost.l1_high.count;
  wire.sender_data_segments = segments;
  wire.receiver_data_segments = segments;
  wire.agreement = "equal";
  sample.wire = wire;
}

// The stream's bytes but the first read's over the receiver's time make the
// line's rate, give or take the noise.
void FillStream(const SyntheticRun& run, const Workload& load, Sample& sample) {
  const std::int64_t total = TotalOf(load);
  const std::int64_t segment =
      load.nagle ? kMss : std::min(kMss, load.write.count);
  const std::int64_t segments = CeilDivide(total, segment);
  const std::int64_t read = std::min(load.read.count, segment);
  EndReport& receiver = *sample.receiver;
  EndReport& sender = *sample.sender;
  FillWire(sample, segments, total);
  const double line = run.rate_bits_per_second.value_or(kUnshapedRate) / 8;
  const double seconds =
      static_cast<double>(*sample.wire->l1_bytes) / line *
      (static_cast<double>(total - read) / static_cast<double>(total)) *
      NoiseOf(run, sample.trial);
  receiver.elapsed_ns = std::max<std::int64_t>(1, std::llround(seconds * 1e9));
  receiver.first_read_bytes = read;
  receiver.steady_bytes = total - total / 10;
  receiver.steady_elapsed_ns = *receiver.elapsed_ns * 9 / 10;
  receiver.bytes = sender.bytes = total;
  receiver.calls = CeilDivide(total, read);
  sender.calls = CeilDivide(total, load.write.count);
  sender.elapsed_ns = receiver.elapsed_ns;
  sender.call_sizes = Bins(sender.calls, load.write.count);
  receiver.call_sizes = Bins(receiver.calls, read);
  const std::int64_t window =
      load.rcvbuf
          ? LinuxInitialWindow(LinuxReceiveBuffer(*load.rcvbuf), Bytes{kMss})
                .count
          : 65'160;
  FillCounters(sender.counters, segments, *sender.elapsed_ns, window);
  receiver.counters.data_segments_in = segments;
}

void FillRounds(const SyntheticRun& run, const Workload& load, Sample& sample) {
  const std::int64_t rounds = load.stop_messages.value_or(100);
  const bool stalls = WriteWriteReadStalls(load, Bytes{kMss});
  const auto round_ns = static_cast<std::int64_t>((stalls ? 44e6 : 100e3) *
                                                  NoiseOf(run, sample.trial));
  std::int64_t request = 0;
  for (const Bytes write : load.request) request += write.count;
  EndReport& sender = *sample.sender;
  EndReport& receiver = *sample.receiver;
  const std::int64_t writes = static_cast<std::int64_t>(load.request.size());
  FillWire(sample, rounds * writes, rounds * request);
  sender.calls = rounds * writes;
  receiver.calls = rounds * writes;
  sender.bytes = receiver.bytes = rounds * request;
  sender.elapsed_ns = receiver.elapsed_ns = rounds * round_ns;
  LatencySummary latency;
  latency.count = rounds;
  latency.min_ns = round_ns / 2;
  latency.p50_ns = latency.p90_ns = round_ns;
  latency.p99_ns = latency.p999_ns = latency.max_ns = 2 * round_ns;
  latency.mean_ns = static_cast<double>(round_ns);
  latency.over_30ms = stalls ? rounds - 1 : 0;
  sender.latency = latency;
  FillCounters(sender.counters, rounds * writes, *sender.elapsed_ns, 65'160);
  receiver.counters.data_segments_in = rounds * writes;
}

}  // namespace

std::string SyntheticStudyText() {
  return R"(title = "Synthetic"
question = "What does the model say?"

[factors]
write = [1, 32, 1448]
nagle = ["on", "off"]

[stop]
bytes = 100000
)";
}

Sample SyntheticSample(const SyntheticRun& run, const Case& one_case,
                       const std::pair<std::string, std::string>& pair,
                       int block) {
  const Workload& load = one_case.workload;
  Sample sample;
  sample.study = run.study_name;
  sample.case_id = one_case.id;
  sample.trial = run.study_name + '/' + one_case.id + '/' + pair.first + ':' +
                 pair.second + '/' + std::to_string(block);
  sample.factors = one_case.factors;
  sample.repeat = block;
  sample.started = "2026-01-02T03:04:05Z";
  sample.link = SyntheticRecord(run).link.description;
  sample.sender = EndOf(run, pair.first);
  sample.receiver = EndOf(run, pair.second);
  sample.sender->options["nagle"] = {load.nagle, load.nagle, {}};
  sample.receiver->options["nagle"] = {load.nagle, load.nagle, {}};
  sample.sender->cpu_ns = 1'000'000;
  sample.receiver->cpu_ns = 500'000;
  SetBuffer(*sample.receiver, "rcvbuf", load.rcvbuf);
  SetBuffer(*sample.sender, "sndbuf", load.sndbuf);
  if (load.pattern == Pattern::kStream) {
    FillStream(run, load, sample);
  } else {
    FillRounds(run, load, sample);
  }
  if (run.adjust) run.adjust(sample);
  return sample;
}

RunRecord SyntheticRecord(const SyntheticRun& run) {
  RunRecord record;
  record.wiretoll_version = "0.1.0";
  record.started = "2026-01-02T03:04:05Z";
  record.command = {"wiretoll", "run", run.study_name};
  record.seed = run.seed;
  record.repeats = run.blocks;
  record.synthetic = run.synthetic;
  record.studies = {
      {run.study_name, run.study_name + ".toml",
       run.study_text.empty() ? SyntheticStudyText() : run.study_text}};
  for (const SyntheticHost& host : run.hosts) {
    RecordedHost recorded;
    recorded.name = host.name;
    recorded.os = host.os;
    recorded.stack = host.stack;
    recorded.description = host.description;
    recorded.agent_version = "0.1.0";
    record.hosts.push_back(recorded);
  }
  record.pairs = PairsOf(run);
  record.link.kind = "lab";
  record.link.rate_bits_per_second = run.rate_bits_per_second;
  record.link.description =
      run.rate_bits_per_second
          ? "lab, " + FormatBitRate({*run.rate_bits_per_second}) +
                " Ethernet, veth"
          : "lab, veth without a rate";
  if (!run.link.empty()) record.link.description = run.link;
  record.link.mtu = 1500;
  return record;
}

void WriteSyntheticRun(const std::filesystem::path& folder,
                       const SyntheticRun& run) {
  Need(CreateRunFolder(folder, SyntheticRecord(run)));
  SampleWriter writer = Need(SampleWriter::Open(folder));
  const Study study = StudyOf(run);
  const auto pairs = PairsOf(run);
  std::int64_t order = 0;
  for (int block = 0; block < run.blocks; ++block) {
    for (const auto& pair : pairs) {
      for (const Case& one_case : study.cases) {
        Sample sample = SyntheticSample(run, one_case, pair, block);
        sample.order = order++;
        Need(writer.Append(sample));
      }
    }
  }
}

TemporaryFolder::TemporaryFolder() {
  const std::filesystem::path base = std::filesystem::temp_directory_path();
  std::random_device device;
  for (int attempt = 0; attempt < 100; ++attempt) {
    path_ = base / ("wiretoll-test-" + std::to_string(device()));
    if (std::filesystem::create_directory(path_)) return;
  }
  std::fprintf(stderr, "no temporary folder in %s\n", base.c_str());
  std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace wiretoll
