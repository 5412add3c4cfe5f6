// One trial's outcome, and its line in samples.jsonl (docs/design.md 6).
#ifndef WIRETOLL_HARNESS_SAMPLES_SAMPLE_H_
#define WIRETOLL_HARNESS_SAMPLES_SAMPLE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/tcp_counters.h"

namespace wiretoll {

inline constexpr int kSampleVersion = 1;

using OptionValue =
    std::variant<std::monostate, bool, std::int64_t, std::string>;

// monostate: not requested, or not observed (then `reason`).
struct OptionReading {
  OptionValue requested;
  OptionValue effective;
  std::string reason;  // Also where a value was clamped: what and why.
  bool operator==(const OptionReading&) const = default;
};

// Sizes of what calls moved, in powers of two: bin k counts sizes from 2^k to
// 2^(k+1)-1. In JSON: {"1":n,"2-3":n,"4-7":n}, empty bins left out.
using SizeBins = std::vector<std::int64_t>;

// Round trips of a request-response, at the client.
struct LatencySummary {
  std::int64_t count = 0;
  std::int64_t min_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0, p999_ns = 0,
               max_ns = 0;
  double mean_ns = 0;
  std::int64_t over_30ms = 0;  // Rounds that look like a delayed-ACK stall.
  bool operator==(const LatencySummary&) const = default;
};

// Times of datagrams, in nanoseconds.
struct DelaySummary {
  std::int64_t count = 0;
  std::int64_t min_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0, p999_ns = 0,
               max_ns = 0;
  double mean_ns = 0;
  bool operator==(const DelaySummary&) const = default;
};

// Datagrams that a sender's calls did not get away, by what the call said.
struct NotSent {
  std::int64_t no_buffers = 0;   // ENOBUFS: the host's own queue dropped it.
  std::int64_t would_block = 0;  // No room in the socket's send buffer.
  std::int64_t too_large = 0;    // EMSGSIZE.
  std::int64_t refused = 0;      // An ICMP error had come back.
  std::int64_t other = 0;
  std::string first_other;  // What the first of `other` said.
  bool operator==(const NotSent&) const = default;
};

// What one end counted of its datagrams. Sender: `sent`, `not_sent` and what
// its socket told of the path. Receiver: the rest. A field that could not be
// observed is empty, its reason in EndReport::why_null under
// "datagrams.FIELD".
struct DatagramReport {
  // --- Sender
  std::optional<std::int64_t> sent;  // Calls' successes: got to the network
                                     // layer of this host.
  std::optional<NotSent> not_sent;
  std::optional<std::int64_t> path_payload_bytes;  // Largest datagram that
                                                   // its path takes whole.
  // --- Receiver
  std::optional<std::int64_t> received;  // Of this trial, duplicates included.
  // By sequence number; empty where datagrams are too small to carry one.
  std::optional<std::int64_t> duplicated;  // Came once more.
  std::optional<std::int64_t> reordered;   // RFC 4737 4.1.
  // Reordered behind at least three that were sent after it, so that a TCP
  // sender would take it for lost (RFC 5681 3.2).
  std::optional<std::int64_t> late;
  std::optional<std::int64_t> cut;    // Longer than the room given.
  std::optional<std::int64_t> stale;  // From the right peer and port, but of
                                      // another trial, or none of ours.
  std::optional<std::int64_t> strangers;             // From somebody else.
  std::optional<std::int64_t> receive_buffer_drops;  // Of this socket.
  // From the sender's call to the receiver's, by one clock or two whose offset
  // is known to within `delay_error_ns` (0: one clock).
  std::optional<DelaySummary> delay;
  std::optional<std::int64_t> delay_error_ns;
  // The difference in delay from one datagram to the next to arrive: its mean
  // size, and RFC 3550 6.4.1's running estimate at the end. The clocks' offset
  // cancels.
  std::optional<double> jitter_mean_ns;
  std::optional<double> jitter_rfc3550_ns;
  std::string ended;  // "all came", "nothing came for 500 ms", "deadline".
  bool operator==(const DatagramReport&) const = default;
};

// How one end's time series was taken (harness/samples/series.h), beside it.
struct SeriesSummary {
  std::int64_t period_ns = 0;  // Asked for, from moment to moment.
  std::int64_t moments = 0;    // Taken.
  std::int64_t left_out = 0;   // Due after there was room for no more.
  // Kept, from moment to moment; empty with fewer than two.
  std::optional<std::int64_t> period_median_ns, period_longest_ns;
  std::optional<std::int64_t> cpu_ns;  // Of the thread that took them.
  std::string reason;  // Why fields are empty, and which columns are always.
  bool operator==(const SeriesSummary&) const = default;
};

// What disturbs a trial from outside, over its time.
struct Disturbance {
  std::optional<std::int64_t> steal_ns;
  std::optional<std::int64_t> clock_step_ns;
  std::optional<double> load;
  bool disturbed = false;
  std::string reason;  // Why it is called disturbed, or why a field is empty.
  bool operator==(const Disturbance&) const = default;
};

// What one end of a trial saw. Integers are bytes, nanoseconds or counts.
struct EndReport {
  std::string host;
  std::string os;
  std::string stack;
  std::int64_t calls = 0;  // Send calls, or Receive calls that gave bytes.
  std::int64_t bytes = 0;  // Payload written, or read.
  // Sender: first Send to return of the last. Receiver: first byte to end of
  // stream, by its own clock; empty if nothing came.
  std::optional<std::int64_t> elapsed_ns;
  std::optional<std::int64_t> cpu_ns;  // Of the loop's thread.
  // Receiver: bytes of the first read, which elapsed_ns does not cover.
  std::optional<std::int64_t> first_read_bytes;
  // Receiver, where the trial's bytes were known before: what came after the
  // first tenth, and how long that took. Steady state.
  std::optional<std::int64_t> steady_bytes;
  std::optional<std::int64_t> steady_elapsed_ns;
  // Sender: median and mean pause really kept between writes, if one was asked.
  std::optional<std::int64_t> gap_median_ns;
  std::optional<double> gap_mean_ns;
  // Sender over TCP: how long Connect() took, and the round trip as the kernel
  // had timed it when the connection stood.
  std::optional<std::int64_t> connect_ns;
  std::optional<std::int64_t> rtt_handshake_ns;
  // Sender, where a time series was taken: the kernel's smoothed round trip in
  // the moments of steady state, which is under load. The least is of the
  // whole trial and known without a series.
  std::optional<std::int64_t> rtt_min_ns;
  std::optional<std::int64_t> rtt_median_ns;
  std::optional<std::int64_t> rtt_p99_ns;
  // Receiver: every byte came as it was sent. Empty: not asked for.
  std::optional<bool> verified;
  std::optional<std::int64_t> first_wrong_byte;
  // Connections from who was not announced.
  std::int64_t strangers_refused = 0;
  SizeBins call_sizes;  // Bytes each call moved: read_sizes, write_sizes.
  std::optional<LatencySummary> latency;
  std::optional<DatagramReport> datagrams;  // UDP only.
  std::optional<SeriesSummary> series;      // Where one was asked for.
  std::map<std::string, OptionReading> options;
  TcpCounters counters;
  Disturbance disturbance;
  std::map<std::string, std::string> why_null;  // Field -> reason.
  bool operator==(const EndReport&) const = default;
};

// Who saw the wire and what (docs/design.md 7). The direction that carries
// payload; what the ACKs cost stands apart.
struct Wire {
  std::string observer;  // capture, receiver-counters, sender-counters, none.
  std::optional<std::int64_t> data_segments;
  std::optional<std::int64_t> ack_segments;
  std::optional<std::int64_t> retransmitted_segments;
  std::optional<std::int64_t> payload_bytes;  // Retransmissions included.
  std::optional<std::int64_t> header_bytes;   // IP + TCP with its options, one
                                              // segment.
  std::optional<std::int64_t> l3_bytes, l2_bytes, l1_bytes;
  std::optional<std::int64_t> l1_bytes_low, l1_bytes_high;
  std::optional<std::int64_t> ack_l1_bytes;
  // Both ends' counts of the same thing: equal, or the cause.
  std::optional<std::int64_t> sender_data_segments, receiver_data_segments;
  std::string agreement;  // "equal", "different: ...", "one observer",
                          // "no observer".
  std::string reason;     // Why fields are empty.
  bool operator==(const Wire&) const = default;
};

// What a capture of the trial holds, of the direction that carries the
// sender's payload unless it says otherwise (harness/capture).
struct CaptureRecord {
  std::string file;   // Relative to the run folder: captures/TRIAL.pcapng.
  std::string calls;  // captures/TRIAL.calls.csv
  std::string host;   // Who captured, and on which interface.
  std::string interface;
  std::optional<std::int64_t> frames;   // In the file, both directions.
  std::optional<std::int64_t> dropped;  // By the kernel: seen and not kept.
  std::optional<std::int64_t> data_segments;  // On the wire: packets that an
                                              // offload had joined are split.
  std::optional<std::int64_t> ack_segments;   // Without payload, the other way.
  std::optional<std::int64_t> retransmitted_segments;
  std::optional<std::int64_t> payload_bytes;   // Retransmissions included.
  std::optional<std::int64_t> joined_packets;  // Longer than the MSS.
  std::optional<std::int64_t> l3_bytes;        // Of the data segments.
  std::optional<std::int64_t> l1_bytes;
  // Segments that each rule of sending would have made of the same writes and
  // ACKs (harness/theory/nagle_replay.h), and which the sender followed.
  std::optional<std::int64_t> replay_at_once, replay_classic, replay_minshall;
  std::string followed_rule;  // "Minshall", "classic", "at once"; or empty.
  // What the peer's window had the sender wait for (analysis/window_waits.h);
  // empty where the capture shows no such wait.
  std::optional<std::int64_t> window_reopened_bytes, silly_wait_ns,
      persist_wait_ns;
  // Not whole: what is missing and why ("12 frames dropped by the kernel").
  std::string partial;
  std::string reason;  // Why fields are empty, or there is no capture at all.
  bool operator==(const CaptureRecord&) const = default;
};

// A trial's time series, both ends in one file; how it was taken each end says.
struct SeriesRecord {
  std::string file;    // Relative to the run folder: series/TRIAL.csv.
  std::string reason;  // Why there is none.
  bool operator==(const SeriesRecord&) const = default;
};

// What became of a trial's datagrams, from both ends. Always
// sent = received - duplicated + lost; and where it is known,
// lost = lost_at_receiver + lost_on_path.
struct Datagrams {
  std::int64_t sent = 0;
  std::int64_t received = 0;  // Duplicates included.
  std::int64_t lost = 0;
  // Empty where datagrams carry no sequence number: then lost is the
  // difference of two counts, and a duplicate would hide a loss.
  std::optional<std::int64_t> duplicated, reordered, late;
  std::int64_t not_sent = 0;  // Beside `sent`: see the sender's own report.
  std::optional<std::int64_t> lost_at_receiver;  // Its buffer had no room.
  std::optional<std::int64_t> lost_on_path;      // The rest.
  // Of one datagram, by the MTU of the sender's interface; 1: it is whole.
  std::optional<std::int64_t> fragments_each;
  std::optional<std::int64_t> mtu_bytes;
  std::string reason;  // Why fields are empty.
  bool operator==(const Datagrams&) const = default;
};

// One of several flows that ran at once.
struct TrialFlow {
  std::string group;     // The same for all of them: a trial's name.
  std::string topology;  // "pair", "all-to-all", "one-to-many", "ring".
  int flows = 1;         // Of the group, this one included.
  int index = 0;         // From 0.
  // How much of this flow's time all flows of its group were sending; by the
  // coordinator's clock, empty if an end gave no time.
  std::optional<double> overlap;
  bool operator==(const TrialFlow&) const = default;
};

enum class TrialOutcome { kOk, kFailed, kSkipped };

struct Sample {
  std::string trial;
  std::string study;
  std::string case_id;
  std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>>
      factors;
  int repeat = 0;
  std::int64_t order = 0;
  std::string started;  // RFC 3339, UTC.
  TrialOutcome outcome = TrialOutcome::kOk;
  std::string reason;  // Set unless ok.
  std::string link;    // "lab 100 Mbit/s Ethernet, veth", "loopback", ...
  std::optional<EndReport> sender;
  std::optional<EndReport> receiver;
  std::optional<Wire> wire;
  std::optional<Datagrams> datagrams;    // UDP only.
  std::optional<TrialFlow> flow;         // Where several ran at once.
  std::optional<CaptureRecord> capture;  // Where one was asked for.
  std::optional<SeriesRecord> series;    // Likewise.
  bool operator==(const Sample&) const = default;
};

// The JSON of one end, as the agent sends it and as a sample holds it; of the
// sender or of the `receiver`, which names the size bins. An empty field is
// null with its reason in "why_null", and left out where it is the other
// end's business. Texts over 4096 bytes are cut.
nlohmann::json ToJson(const EndReport& end, bool receiver);
// kNothingRan: names the field that is missing, of the wrong type or absurd.
Outcome<EndReport> EndReportFromJson(const nlohmann::json& json, bool receiver);

// One line, no newline inside or at the end.
std::string ToLine(const Sample& sample);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_SAMPLE_H_
