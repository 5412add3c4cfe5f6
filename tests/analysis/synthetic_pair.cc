#include "tests/analysis/synthetic_pair.h"

#include <cmath>

#include "harness/analysis/wire.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMss = 1448;
constexpr std::int64_t kOtherDefaultBuffer = 65'536;

std::string Numbered(const std::string& name, int number, int of) {
  return of == 1 ? name : name + '-' + std::to_string(number);
}

void Scale(std::optional<std::int64_t>& time, double by) {
  if (time) time = std::llround(static_cast<double>(*time) * by);
}

void Slow(Sample& sample, double by) {
  for (EndReport* end : {&*sample.sender, &*sample.receiver}) {
    Scale(end->elapsed_ns, by);
    Scale(end->steady_elapsed_ns, by);
  }
  Scale(sample.sender->counters.busy_ns, by);
  if (!sample.sender->latency) return;
  LatencySummary& latency = *sample.sender->latency;
  for (std::int64_t* time : {&latency.p50_ns, &latency.p99_ns}) {
    *time = std::llround(static_cast<double>(*time) * by);
  }
}

// What the model leaves out at the receiving end.
void CompleteCounters(Sample& sample) {
  const std::int64_t acks = sample.wire->ack_segments.value_or(0);
  TcpCounters& sender = sample.sender->counters;
  TcpCounters& receiver = sample.receiver->counters;
  receiver.segments_out = acks;
  receiver.data_segments_out = 0;
  receiver.timestamps = 1;
  receiver.mss_bytes = kMss;
  sender.segments_in = acks + 2;  // SYN and FIN.
  sender.data_segments_in = 0;
}

// Reads back what was asked, and counts only for an administrator.
void BeOther(const SyntheticPair& pair, EndReport& end) {
  for (const char* name : {"rcvbuf", "sndbuf"}) {
    const auto option = end.options.find(name);
    if (option == end.options.end()) continue;
    OptionReading& reading = option->second;
    reading.effective = std::holds_alternative<std::int64_t>(reading.requested)
                            ? reading.requested
                            : OptionValue(kOtherDefaultBuffer);
    reading.reason.clear();
  }
  Scale(end.cpu_ns, 1.5);
  if (pair.other_counts) return;
  end.counters = {};
  end.counters.reason = "ESTATS needs an administrator: run the agent as one";
}

}  // namespace

SyntheticRun SyntheticPairRun(const SyntheticPair& pair) {
  SyntheticRun run;
  run.synthetic = "made up by tests/analysis/synthetic_pair";
  // Stands in every sample, so that a row of samples.csv alone tells.
  run.link = "made up, as a line of 100 Mbit/s";
  run.study_text = pair.study_text;
  run.blocks = pair.blocks;
  run.noise = pair.noise;
  run.hosts.clear();
  for (int i = 1; i <= pair.linux_hosts; ++i) {
    run.hosts.push_back({Numbered("linux", i, pair.linux_hosts), "linux",
                         "Linux 6.18.44", kLinuxName});
  }
  for (int i = 1; i <= pair.other_hosts; ++i) {
    run.hosts.push_back({Numbered(pair.other_os, i, pair.other_hosts),
                         pair.other_os, pair.other_stack,
                         pair.other_description});
  }
  run.adjust = [pair](Sample& sample) {
    const bool sends = sample.sender->os == pair.other_os;
    const bool receives = sample.receiver->os == pair.other_os;
    if (pair.slowness) Slow(sample, pair.slowness(sends, receives, sample));
    CompleteCounters(sample);
    if (sends) BeOther(pair, *sample.sender);
    if (receives) BeOther(pair, *sample.receiver);
    sample.wire = AccountWire(*sample.sender, *sample.receiver, 4);
  };
  return run;
}

}  // namespace wiretoll
