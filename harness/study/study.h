// A study: one question as data. Factors make a matrix, its cells are cases.
#ifndef WIRETOLL_HARNESS_STUDY_STUDY_H_
#define WIRETOLL_HARNESS_STUDY_STUDY_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

enum class Transport { kTcp, kUdp };
enum class Pattern { kStream, kRequestResponse };

// Who sends to whom at once. Of the pairs that a run has: each by itself; all
// of them together; all that one host sends, each host in turn; each host to
// the next in the order of the hosts, and the last to the first.
enum class Topology { kPair, kAllToAll, kOneToMany, kRing };

// In the order of Topology; as studies and samples spell them.
inline constexpr std::array<std::string_view, 4> kTopologyNames = {
    "pair", "all-to-all", "one-to-many", "ring"};

// TCP_QUICKACK at the receiving end: left alone, or set once after the
// connection stands ("on", "off"), or set again after each read ("each").
enum class Quickack { kUnset, kOff, kOn, kEach };

// What one trial does: the typed form of a case's factors, for the agent.
// Sender and receiver are client and server of a request-response.
struct Workload {
  Transport transport = Transport::kTcp;
  Pattern pattern = Pattern::kStream;
  Bytes write{1448};            // Stream: handed to one Send call.
  Bytes read{65536};            // Room handed to one Receive call, both ends.
  std::vector<Bytes> request;   // Request-response: the client's writes.
  std::vector<Bytes> reply;     // And the server's.
  bool nagle = true;            // Both ends.
  std::optional<Bytes> rcvbuf;  // Receiver's SO_RCVBUF; empty leaves it unset.
  std::optional<Bytes> sndbuf;  // Sender's SO_SNDBUF; empty leaves it unset.
  Nanoseconds gap{0};           // Pause after a block (stream), or between two
                                // rounds (request-response).
  std::optional<BitsPerSecond> rate;      // Stream: paced writing.
  std::optional<std::string> congestion;  // Both ends; empty leaves it unset.
  Quickack quickack = Quickack::kUnset;   // Receiver.
  bool cork = false;                      // Sender.
  std::optional<Bytes> mss;               // Sender's TCP_MAXSEG.
  std::optional<int> sender_cpu;          // Pin the loop.
  std::optional<int> receiver_cpu;
  int streams = 1;      // Flows of this pair at once; an agent is given each
                        // as a trial of its own, with 1 here.
  bool verify = false;  // Check every payload byte at the receiver.
  // Stream: what a program hands over at once, in as many writes of `write`
  // bytes as it takes, the last of them shorter; `gap` is kept between blocks
  // then. Empty: every write is a block of its own.
  std::optional<Bytes> block;
  // Stream: what came later than this after the first byte is steady state; 0:
  // what came after the first tenth, where the trial's bytes are known before.
  Nanoseconds warmup{0};
  // UDP: `write` is the datagram's payload. Asked of both ends' IP header;
  // empty leaves it as the system has it.
  std::optional<bool> dont_fragment;
  int batch = 1;  // UDP: datagrams in one call at most (sendmmsg, recvmmsg).

  // The trial ends at whichever comes first; at least one is set. The sender
  // stops writing there, what is buffered still drains and counts.
  std::optional<Bytes> stop_bytes;            // Stream only; whole writes.
  std::optional<std::int64_t> stop_messages;  // Send calls, or rounds.
  std::optional<Nanoseconds> stop_time;       // Since the first Send.
};

// What a program hands over at once: `block`, or else a write.
Bytes BlockOf(const Workload& workload);
// In how many writes; above 0.
std::int64_t WritesInBlock(const Workload& workload);

// A factor's value as samples and reports carry it: bytes and counts as
// integers, all else as text in its canonical spelling ("on", "unset",
// "20us", "9+4").
using FactorValue = std::variant<std::int64_t, std::string>;

// In the order of FactorTable() (factors.h), so that the same case has the
// same text everywhere.
using Factors = std::vector<std::pair<std::string, FactorValue>>;

std::string SpellFactor(const FactorValue& value);

// nullptr if `factors` has no `name`.
const FactorValue* FindFactor(const Factors& factors, const std::string& name);

// One row of the matrix: what to do, never how a given OS does it.
struct Case {
  std::string id;  // "write-32-nagle-on": stable key, lower-kebab.
  Factors factors;
  Workload workload;
  // Which flows run at once, each of them with that workload: the coordinator's
  // business alone. Every flow of a topology is there `workload.streams` times.
  Topology topology = Topology::kPair;
};

// True if trials of the case are flows that run at once.
bool HasFlowsAtOnce(const Case& the_case);

// Some of the cells of a study. Keys are factor names or sender.os,
// receiver.os, sender.host, receiver.host, or say what link a run had:
// link.kind, link.rate, link.delay, link.loss, link.mtu, link.router; each with
// the values that match.
// A key that is not there matches everything; an empty selection is the study.
using Selection = std::map<std::string, std::vector<FactorValue>>;

// What claims may speak of, in the order of analysis' Metric; throughput in
// bytes/s, shares as fractions, times in nanoseconds.
inline constexpr std::array<std::string_view, 43> kMetricNames = {
    "throughput",
    "steady_throughput",
    "efficiency",
    "line_share",
    "bytes_per_segment",
    "writes_per_segment",
    "bytes_per_read",
    "data_segments",
    "ack_segments",
    "retransmissions",
    "sender_cpu",
    "receiver_cpu",
    "send_call_rate",
    "latency_p50",
    "latency_p99",
    "stalls",
    "elapsed",
    "receive_buffer",
    "window_initial",
    "window_peak",
    "received_share",
    "loss",
    "duplicated",
    "reordered",
    "delay_p50",
    "delay_p99",
    "jitter",
    "datagram_rate",
    "total_throughput",
    "fairness",
    "window_reopened",
    "silly_wait",
    "persist_wait",
    "rtt_handshake",
    "rtt_min",
    "rtt_p50",
    "rtt_p99",
    "rtt_rise",
    "window_share",
    "bound_share",
    "window_wait_share",
    "sndbuf_wait_share",
    "send_buffer"};

// What a claim's figure is; the check is on that figure.
enum class ClaimKind {
  // The metric, over the cells of `a`: the median of their medians, or with
  // `every` in each of them by itself.
  kValue,
  // The metric in `a` over that in `b`. A cell of `a` is set against the
  // cells of `b` that have the same value of every factor but those in which
  // the selections differ (a factor that both name with the same values is
  // held equal, like one that neither names), block by block; the figure is
  // the median over those pairs of cells. Likewise hosts: those that no
  // selection names should be the same in both cells; with two hosts they
  // cannot be, and then the answer says so.
  kRatio,
  // The level that the metric reaches along `across`, in the cells of `a`:
  // its value at the largest `across`. Beside the check on the level, the
  // metric must rise in proportion before: for the cells under
  // (1 - tolerance) x level, metric / across is the same to within
  // `tolerance` of its median. Cells that differ in another factor or in
  // their hosts are curves of their own, and each must hold.
  kLevelsOff,
  // How much more `across` matters than `against`, in the cells of `a`: the
  // effect of the one over the effect of the other. A factor's effect is the
  // largest over the smallest median of the metric along it, all else equal,
  // as the geometric mean over what else varies. Over 1: `across` matters
  // more.
  kEffectLarger,
  // The size along `across` beyond which the metric no longer grows, in the
  // cells of `a` (analysis/knee.h has the rule). Cells that differ in another
  // factor or in their hosts are curves of their own, and each must hold. No
  // knee in the range is one at its end or beyond.
  kKnee,
};

// A sentence that somebody published, and how to check it: the figure is
// `expected` to within `tolerance` of it, or lies within bounds. Never both.
// Each stands for the figure's interval: wholly inside supports, wholly
// outside refutes, else not distinguishable; no cell that ran: not tested.
struct Claim {
  std::string id;    // "1b", unique in a study.
  std::string text;  // In our words.
  ClaimKind kind = ClaimKind::kValue;
  std::string metric;  // One of kMetricNames.
  Selection a;
  Selection b;                     // kRatio only.
  std::string across;              // kLevelsOff, kEffectLarger, kKnee: a
                                   // factor.
  std::string against;             // kEffectLarger: another.
  std::optional<double> expected;  // In the metric's unit, or a plain ratio.
  double tolerance = 0.1;          // Share of `expected`; of kLevelsOff also
                                   // the share that is no difference.
  std::optional<double> at_least;  // Unit as `expected`; 1 of a ratio says
  std::optional<double> at_most;   // "more than", within its interval.
  bool every = false;  // kValue only: each cell by itself; the answer is the
                       // least favourable one.
  int line = 0;        // In the study file.
};

// Pictures that a study may ask the report to lead with.
inline constexpr std::array<std::string_view, 6> kPlotKinds = {
    "throughput", "efficiency", "segments", "effects", "capacity", "latency"};

struct Plot {
  std::string kind;  // One of kPlotKinds.
  std::string title;
  int line = 0;
};

struct Study {
  std::string name;  // The file's stem: "tcp-efficiency".
  std::string file;  // As the user named it.
  std::string text;  // The whole file, for run.json.
  std::string title;
  std::string question;
  std::string source;
  std::vector<Case> cases;           // The matrix, in file order.
  std::vector<std::string> varying;  // Factors with more than one value.
  std::vector<Claim> claims;
  std::vector<Plot> plots;
  int repeats = 5;       // Blocks, unless the command line says.
  bool capture = false;  // Every trial, whatever the command line says.
  // A time series of every trial over TCP, a moment this often; the command
  // line may say another period.
  std::optional<Nanoseconds> series;
};

// Of a time series' moments, from one to the next; both may be asked for.
inline constexpr Nanoseconds kShortestSeriesPeriod{100'000};
inline constexpr Nanoseconds kLongestSeriesPeriod{60'000'000'000};
// "1ms"; nothing if it is no duration, or beyond those.
std::optional<Nanoseconds> ParseSeriesPeriod(std::string_view text);

// Parses one study. The failure (kUsage) names file, line, key and remedy:
// unknown key, wrong type, empty list, absurd value, duplicate value, claim
// that names no cell. `file` is for messages and for `name`.
Outcome<Study> ParseStudy(const std::string& text, const std::string& file);

// Reads and parses a study file.
Outcome<Study> LoadStudy(const std::string& path);

// True if `factors` (with the extra keys given) lies in `selection`.
bool Matches(const Selection& selection, const Factors& factors,
             const std::map<std::string, std::string>& extra);

// "write<=32,nagle=on,rcvbuf=2|unset": every part must hold. kUsage names the
// part that is wrong.
class Filter {
 public:
  static Outcome<Filter> Parse(const std::string& expression);
  [[nodiscard]] bool Accepts(const Factors& factors) const;

 private:
  struct Part {
    std::string factor;
    std::string op;
    std::vector<FactorValue> values;
  };
  std::vector<Part> parts_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_STUDY_STUDY_H_
