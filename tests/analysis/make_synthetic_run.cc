// Writes a made-up run of two systems, to look at its report:
//   make_synthetic_run OUT [LINUX_HOSTS WINDOWS_HOSTS]
#include <cstdio>
#include <cstdlib>

#include "tests/analysis/synthetic_pair.h"

namespace {

constexpr const char* kStudy = R"(title = "Two systems, made up"
question = "Which end makes the difference?"

[factors]
write = [1, 32, 256, 1448, 16384]
nagle = ["on", "off"]
rcvbuf = [2, "unset"]

[stop]
bytes = 200000

[[claim]]
id = "c1"
text = "Linux sends small writes faster than Windows."
kind = "ratio"
metric = "throughput"
a = { "sender.os" = "linux", write = 1, nagle = "on" }
b = { "sender.os" = "windows", write = 1, nagle = "on" }
at_least = 1
)";

// A Windows receiver is slow; a Windows sender with small writes a little.
double Slowness(bool windows_sends, bool windows_receives,
                const wiretoll::Sample& sample) {
  const auto* write = wiretoll::FindFactor(sample.factors, "write");
  const bool small = std::get<std::int64_t>(*write) < 256;
  return (windows_receives ? 1.6 : 1) * (windows_sends && small ? 1.15 : 1);
}

int HostsFrom(const char* text) {
  const int hosts = std::atoi(text);
  return hosts < 1 || hosts > 4 ? 2 : hosts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fputs("use: make_synthetic_run OUT [LINUX_HOSTS WINDOWS_HOSTS]\n",
               stderr);
    return 2;
  }
  wiretoll::SyntheticPair pair;
  pair.study_text = kStudy;
  pair.slowness = Slowness;
  if (argc == 4) {
    pair.linux_hosts = HostsFrom(argv[2]);
    pair.other_hosts = HostsFrom(argv[3]);
  }
  wiretoll::WriteSyntheticRun(argv[1], wiretoll::SyntheticPairRun(pair));
  return 0;
}
