// What advice rests on: what trials on one pair showed and what its hosts are
// set to. Plain values, however they were come by.
#ifndef WIRETOLL_HARNESS_ADVISE_EVIDENCE_H_
#define WIRETOLL_HARNESS_ADVISE_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

struct PairHost {
  std::string name;
  std::string address;
  std::string os;  // As the agent says: "linux", "windows", "wine", ...
  std::vector<RecordedFact> facts;
  std::string why_no_facts;  // Where `facts` is empty.
};

// The fact's value; empty if it is not there, not observed or of another kind.
std::optional<std::int64_t> NumberFact(const PairHost& host,
                                       std::string_view name);
std::optional<std::string> TextFact(const PairHost& host,
                                    std::string_view name);
std::optional<bool> SwitchFact(const PairHost& host, std::string_view name);

// A switch that systems spell as a number or as true and false.
std::optional<bool> OnOffFact(const PairHost& host, std::string_view name);

// The third of "4096 131072 6291456": as far as Linux grows a buffer by itself.
std::optional<std::int64_t> LargestOf(const PairHost& host,
                                      std::string_view name);

// What the line between the two carries, on it (layer 1).
struct LineFigure {
  BitsPerSecond rate;
  // True: no less than this was seen to pass; what it could carry is not known.
  bool at_least = false;
  std::string how;  // "declared", "by datagrams back to back", ...
};

// A median over repeats, with its 95 % interval where there are three or more.
struct RepeatedFigure {
  double median = 0;
  std::optional<double> low, high;
  int repeats = 0;
};

// The trials that are diagnosed: what they did, medians over those that ended
// well. What was not observed is empty.
struct SubjectFigures {
  std::string name;  // For people: "a stream of 64 KiB writes".
  Workload workload;
  int trials = 0;
  int failed = 0;
  std::string failure;  // Why the first of those failed.
  std::optional<RepeatedFigure> bytes_per_second;  // Payload, at the receiver.
  std::optional<std::int64_t> bytes;               // Of a trial.
  std::optional<Nanoseconds> elapsed;              // At the receiver.
  // --- The sender's kernel.
  std::optional<Nanoseconds> busy;      // With data unacknowledged or to send.
  std::optional<double> busy_share;     // Of the sender's time, at most 1.
  std::optional<double> window_share;   // Of busy: held by the peer's window,
  std::optional<double> sndbuf_share;   // and by its own send buffer.
  std::optional<double> retransmitted;  // Share of the data segments.
  std::optional<std::int64_t> retransmitted_segments;  // Sum over the trials.
  std::optional<std::int64_t> data_segments;           // Likewise.
  std::optional<Bytes> peak_window;  // Largest that the peer advertised.
  std::optional<std::int64_t> window_scale;
  std::optional<Bytes> flight;  // Congestion window at the end.
  std::optional<Bytes> mss;
  std::optional<Nanoseconds> srtt;  // Smoothed, at the trial's end.
  std::optional<Nanoseconds> min_rtt;
  std::optional<Nanoseconds> handshake;
  std::optional<std::int64_t> path_mtu;
  std::string why_no_counters;
  // --- Programs and CPUs.
  std::optional<double> sender_cpu;  // Share of the loop's time, at most 1.
  std::optional<double> receiver_cpu;
  std::optional<double> gap_share;  // Of the sender's time: pauses it was
                                    // told to make.
  std::optional<double> bytes_a_read;
  std::optional<double> bytes_a_write;
  // --- What the sockets said.
  std::optional<OptionReading> rcvbuf;  // Receiver's.
  std::optional<OptionReading> sndbuf;  // Sender's.
  std::optional<std::string> congestion;
  std::optional<LatencySummary> latency;  // Request-response.
};

struct Evidence {
  PairHost sender;
  PairHost receiver;
  std::string link;  // In words.
  bool in_lab = false;

  // Of one byte and its answer: before all else, after it, and beside a stream.
  std::optional<LatencySummary> first_rtt;
  std::optional<LatencySummary> last_rtt;
  std::optional<LatencySummary> loaded_rtt;
  std::optional<LineFigure> line;
  std::string why_no_line;
  std::optional<double> declared_loss;

  SubjectFigures subject;
  // As many streams as `streams` at once, together, bytes/s of payload.
  int streams = 0;
  std::optional<double> streams_bytes_per_second;
  std::string why_no_streams;
  // The same stream with both buffers asked for large.
  std::optional<Bytes> large_buffers;
  std::optional<double> large_bytes_per_second;
  // The largest packet (layer 3) that went through whole, of those tried where
  // full segments did not; and the least that did not.
  std::optional<std::int64_t> largest_passed;
  std::optional<std::int64_t> least_lost;

  std::vector<std::string> notes;  // What was not to be had, and what is odd.
};

// --- What follows from it by arithmetic.

// The round trip with nothing else on the path: the least median of the two
// alone, else the least that the sender's kernel saw.
std::optional<Nanoseconds> BaseRtt(const Evidence& evidence);
// While a stream sends: the median beside it, or its own smoothed one at its
// end, whichever is longer.
std::optional<Nanoseconds> LoadedRtt(const Evidence& evidence);
// Payload bytes/s that the line carries in full segments.
std::optional<double> LineCapacity(const Evidence& evidence);
// Line x round trip.
std::optional<Bytes> BdpOf(const Evidence& evidence);
// Payload of a full segment: as seen, else by the MTU and timestamps.
Bytes SegmentOf(const Evidence& evidence);

// A host's trial figures from what both ends reported. `failed`: how many did
// not end well, and why the first did not.
struct EndPair {
  EndReport sender;
  EndReport receiver;
};
SubjectFigures FiguresOf(std::string name, const Workload& workload,
                         const std::vector<EndPair>& trials);

// Median and interval; empty without values.
std::optional<RepeatedFigure> RepeatedOf(const std::vector<double>& values);

// For people: "a stream of 64 KiB writes".
std::string SpellWorkload(const Workload& workload);

// Says so if the first and the last round trip differ much.
std::optional<std::string> RttChange(const Evidence& evidence);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ADVISE_EVIDENCE_H_
