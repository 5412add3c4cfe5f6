// Theory of a cell, from what its trials really negotiated.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CASE_THEORY_H_
#define WIRETOLL_HARNESS_ANALYSIS_CASE_THEORY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/analysis/analysis.h"
#include "harness/base/result.h"

namespace wiretoll {

// What a trial (or the median of a cell's trials) had. Empty: not observed.
struct Negotiated {
  using Count = std::optional<double>;
  Count mss;           // Payload of a full segment, bytes.
  Count path_mtu;      // bytes
  Count header_bytes;  // IP and transport with options, one segment.
  Count timestamps;    // 1 or 0.
  Count rtt_ns;        // Smoothed.
  Count min_rtt_ns;
  Count window;      // Largest of the peer's seen, bytes.
  Count sending_ns;  // First write to return of the last.
  Count writes;
  Count bytes;         // Received.
  Count receiving_ns;  // First byte to end of stream.
  Count timed_bytes;   // Received in that time.
  Count sndbuf;        // The sender's, as read back.
  // Segments by Minshall's variant (CaptureRecord); of a cell only where all of
  // its trials have it.
  Count replayed;
  // Medians of what captures saw (CaptureRecord).
  Count window_reopened, silly_wait_ns, persist_wait_ns;
};
Negotiated NegotiatedIn(const Sample& sample);

// Of a cell: its workload, medians, systems and link.
struct CellFacts {
  const Workload* workload = nullptr;
  Negotiated negotiated;
  std::string sender_os, receiver_os;
  std::optional<double> rate_bits_per_second;
  // What a shaper sends ahead of its rate; 0: none, or not recorded.
  Bytes burst{0};
  // The receiver's clock tick, where it tells.
  std::optional<Nanoseconds> receiver_tick;
};
Observed<CaseTheory> TheoryOf(const CellFacts& facts);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CASE_THEORY_H_
