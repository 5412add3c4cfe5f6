// Evidence made up by hand, for tests: two Linux hosts over 100 Mbit/s and
// 20 ms, and a stream that nothing is wrong with.
#ifndef WIRETOLL_TESTS_ADVISE_EVIDENCE_MAKERS_H_
#define WIRETOLL_TESTS_ADVISE_EVIDENCE_MAKERS_H_

#include <chrono>
#include <string>

#include "harness/advise/evidence.h"

namespace wiretoll {

using std::chrono::milliseconds;

inline RecordedFact TextOf(const std::string& name, const std::string& value) {
  return {name, value, {}, {}};
}

inline RecordedFact NumberOf(const std::string& name, std::int64_t value) {
  return {name, value, {}, {}};
}

inline PairHost LinuxHost(const std::string& name, const std::string& address) {
  return {
      name,
      address,
      "linux",
      {TextOf("interface", "eth0"), NumberOf("mtu_bytes", 1500),
       TextOf("tcp_rmem", "4096\t131072\t6291456"),
       TextOf("tcp_wmem", "4096\t16384\t4194304"), NumberOf("rmem_max", 212992),
       NumberOf("wmem_max", 212992), NumberOf("tcp_window_scaling", 1),
       NumberOf("tcp_moderate_rcvbuf", 1), NumberOf("tcp_timestamps", 1),
       NumberOf("tcp_sack", 1), NumberOf("tcp_mtu_probing", 0),
       TextOf("qdisc", "fq_codel"), TextOf("tcp_congestion_control", "cubic"),
       TextOf("tcp_available_congestion_control", "reno cubic bbr")},
      ""};
}

inline PairHost WindowsHost(const std::string& name,
                            const std::string& address) {
  return {name,
          address,
          "windows",
          {TextOf("interface", "Ethernet 2"),
           NumberOf("mtu_bytes", 1500),
           TextOf("tcp_autotuning_level", "highlyrestricted"),
           {"tcp_window_scaling_heuristics", true, {}, {}},
           NumberOf("tcp_initial_window_segments", 10),
           TextOf("tcp_congestion_control", "cubic"),
           {"rss", false, {}, {}}},
          ""};
}

inline void SetFact(PairHost& host, const RecordedFact& fact) {
  for (RecordedFact& one : host.facts) {
    if (one.name == fact.name) one = fact;
  }
}

inline LatencySummary Rounds(Nanoseconds median) {
  LatencySummary rounds;
  rounds.count = 50;
  rounds.min_ns = rounds.p50_ns = rounds.p90_ns = rounds.p99_ns =
      rounds.max_ns = median.count();
  return rounds;
}

// MSS 1448: 1500 - 20 - 20 - 12. The line carries 1448 of 1538 bytes of
// 12.5 MB/s, which are 11.77 MB/s.
inline Evidence HealthyEvidence() {
  Evidence e;
  e.sender = LinuxHost("a", "10.0.0.1");
  e.receiver = LinuxHost("b", "10.0.0.2");
  e.first_rtt = e.last_rtt = Rounds(milliseconds(20));
  e.loaded_rtt = Rounds(milliseconds(24));
  e.line = LineFigure{BitsPerSecond{100e6}, false, "as declared"};
  SubjectFigures& s = e.subject;
  s.workload.write = Bytes{65536};
  s.name = "a stream of 64 KiB writes";
  s.trials = 5;
  s.bytes_per_second = RepeatedFigure{11.7e6, 11.6e6, 11.8e6, 5};
  s.bytes = 11'700'000;
  s.elapsed = milliseconds(1000);
  s.busy_share = 1;
  s.window_share = 0.02;
  s.sndbuf_share = 0.01;
  s.retransmitted = 0;
  s.retransmitted_segments = 0;
  s.data_segments = 40000;
  s.peak_window = Bytes{3'145'728};
  s.window_scale = 10;
  s.mss = Bytes{1448};
  s.sender_cpu = 0.05;
  s.receiver_cpu = 0.1;
  s.gap_share = 0;
  s.bytes_a_read = 20000;
  s.bytes_a_write = 65536;
  s.congestion = "cubic";
  return e;
}

inline void SetSpeed(Evidence& e, double bytes_per_second) {
  e.subject.bytes_per_second =
      RepeatedFigure{bytes_per_second, bytes_per_second, bytes_per_second, 5};
}

// 65,535 B / 20 ms = 3.277 MB/s, of which 3.2 came.
inline Evidence WindowLimited(Bytes window) {
  Evidence e = HealthyEvidence();
  e.subject.peak_window = window;
  e.subject.window_share = 0.93;
  SetSpeed(e, 0.977 * static_cast<double>(window.count) / 0.02);
  return e;
}

// Three rounds in four wait for a delayed ACK.
inline Evidence Stalling() {
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(milliseconds(1));
  Workload& work = e.subject.workload;
  work.pattern = Pattern::kRequestResponse;
  work.request = {Bytes{1}, Bytes{1}};
  work.reply = {Bytes{1}};
  e.subject.bytes_per_second.reset();
  e.subject.latency = Rounds(milliseconds(44));
  e.subject.latency->over_30ms = 49;
  return e;
}

inline Evidence BlackHole() {
  Evidence e = HealthyEvidence();
  e.largest_passed = 1400;
  e.least_lost = 1401;
  e.subject.bytes_per_second.reset();
  e.subject.trials = e.subject.failed = 1;
  e.subject.failure = "the receiver did not close";
  return e;
}

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_ADVISE_EVIDENCE_MAKERS_H_
