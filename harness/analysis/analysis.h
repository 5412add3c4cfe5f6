// From samples to figures with intervals, set against theory. Values in,
// values out: no OS, no files but the run folders it reads.
#ifndef WIRETOLL_HARNESS_ANALYSIS_ANALYSIS_H_
#define WIRETOLL_HARNESS_ANALYSIS_ANALYSIS_H_

#include <array>
#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/samples/run_folder.h"
#include "harness/study/study.h"
#include "harness/theory/predict.h"

namespace wiretoll {

// Figures of a cell. Each says its unit.
//
// Throughput is what the receiver got by its own clock. That clock starts when
// the first read has returned, so the bytes of the first read took none of its
// time and are left out: (bytes - first read) / elapsed. With them in, a short
// stream read in big pieces would seem faster than its line. A stream that came
// in one read has no throughput at all: empty, with that reason. Where the
// first read's size was not recorded, all bytes count. Streams only: a
// request-response waits by design and is measured by its latency.
//
// Efficiency takes the middle of the bounds where padding is not known; the
// bounds are at most 5 bytes of a frame's 84 apart (IPv4 and TCP without
// options), and equal with timestamps.
enum class Metric {
  kThroughput,        // bytes/s received, first byte to end of stream.
  kSteadyThroughput,  // bytes/s, the first tenth left out.
  kEfficiency,        // payload / bytes on the wire at layer 1, data direction.
  kLineShare,         // throughput / line rate. Only with a known rate.
  kBytesPerSegment,
  kWritesPerSegment,
  kBytesPerRead,
  kDataSegments,
  kAckSegments,
  kRetransmissions,  // segments
  kSenderCpu,        // ns a byte
  kReceiverCpu,      // ns a byte
  kSendCallRate,     // Send calls/s
  kLatencyP50,       // ns, request-response
  kLatencyP99,
  kStalls,   // rounds over 30 ms
  kElapsed,  // ns, receiver
  // Bytes: the receiver's SO_RCVBUF as read back, and the window it advertised
  // in its SYN-ACK and at most, as the sender saw it (sampled; sample.h).
  kReceiveBuffer,
  kWindowInitial,
  kWindowPeak,
  // Shares of the datagrams sent, duplicates not counted in; those two of the
  // datagrams received are duplicated (of all) and reordered (of those that
  // were no duplicates, as RFC 4737 4.1.3). UDP only, but for received_share:
  // over TCP it is of the bytes that a stream's sender wrote.
  kReceivedShare,
  kLoss,
  kDuplicated,
  kReordered,
  kDelayP50,  // ns, sender's call to receiver's
  kDelayP99,
  kJitter,        // ns, mean difference of one datagram's delay to the next's
  kDatagramRate,  // Received a second; the first call's left out, as of
                  // throughput.
  // Of the group that the cell's flows ran in (FlowSet), where the study has
  // flows at once; of a cell whose trials ran alone the total is its own.
  kTotalThroughput,  // bytes/s
  kFairness,         // Jain's index
  // By a capture (window_waits.h): bytes of the least window that opened a
  // closed one; ns that the sender's timer ran on a window too small, and on a
  // closed one.
  kWindowReopened,
  kSillyWait,
  kPersistWait,
  // ns, by the sender's kernel: as the handshake left it, the least, and, of
  // trials with a time series, under load in steady state; rise is the median
  // under load over the least.
  kRttHandshake,
  kRttMin,
  kRttP50,
  kRttP99,
  kRttRise,
  // Steady throughput over what the largest window seen allows in the least
  // round trip (RFC 7323 1.1), so at most 1; and over what it allows in a round
  // trip as it is under load, or what the line carries at the efficiency
  // measured, whichever is less.
  kWindowShare,
  kBoundShare,
  // Of the time that the sender's kernel had data to send or unacknowledged:
  // while the peer's window, or its own send buffer, stood in the way.
  kWindowWaitShare,
  kSendBufferWaitShare,
  // Bytes: the sender's SO_SNDBUF as read back before the first write; none
  // where it was left to the system, which then changes it as it goes.
  kSendBuffer,
  kCount,
};
inline constexpr std::size_t kMetricCount =
    static_cast<std::size_t>(Metric::kCount);

// "throughput", "bytes_per_segment"; as claims and report.json spell them.
std::string MetricName(Metric metric);
std::string MetricUnit(Metric metric);
std::optional<Metric> MetricFromName(const std::string& name);

struct Interval {
  double low = 0;
  double high = 0;
};

// A figure's value in each block. One run's blocks are numbered apart from
// every other's, so that blocks of different runs never pair.
using BlockValues = boost::container::flat_map<int, double>;

// A median over blocks, with its bootstrap 95 % interval (percentile method,
// seeded, so that the same samples give the same interval), widened where few
// blocks would make it too narrow (statistics.h). No interval with fewer than
// three values.
struct Estimate {
  double median = 0;
  std::optional<Interval> interval;
  int blocks = 0;
};

// Where the line's capacity went over a trial, as shares of the time the line
// could have carried bytes; they sum to 1. Only with a known line rate, and a
// sender whose kernel tells how long it was busy (on Linux to a clock tick).
struct Capacity {
  double payload = 0;
  double headers = 0;  // IP and TCP.
  double framing = 0;  // Ethernet, padding, preamble, gap.
  double retransmission = 0;
  double window_wait = 0;   // Kernel: limited by the peer's window.
  double ack_wait = 0;      // Kernel busy, nothing of ours on the line.
  double program_wait = 0;  // All sent is acknowledged, and no more written:
                            // the sender's program, or the receiver's that
                            // still reads what has arrived.
};

// What became of a cell's datagrams: sums over its ok trials, so that
// sent = received - duplicated + lost. UDP only.
struct DatagramTotals {
  int trials = 0;
  std::int64_t sent = 0;        // Got to the network layer of their host.
  std::int64_t received = 0;    // Duplicates included.
  std::int64_t lost = 0;        // Of those sent.
  std::int64_t not_sent = 0;    // Beside `sent`: their calls failed;
  std::int64_t no_buffers = 0;  // so many as the host's own queue was full.
  // Empty where a trial did not observe it; then `reason`.
  std::optional<std::int64_t> duplicated, reordered, late;
  std::optional<std::int64_t> lost_at_receiver, lost_on_path;
  std::optional<std::int64_t> fragments_each, mtu_bytes;  // Of every trial.
  std::optional<double> jitter_rfc3550_ns;     // Mean over the trials
  int with_jitter = 0;                         // that have one: so many.
  std::optional<std::int64_t> delay_error_ns;  // The largest of a trial.
  std::string reason;
};

// What headers and rules say about a case (harness/theory), for the pair and
// options that were really negotiated.
struct CaseTheory {
  std::int64_t mss = 0;           // Payload of a full segment, bytes.
  std::int64_t header_bytes = 0;  // IP + TCP with options, one segment.
  double best_segments = 0;       // Full segments only.
  double worst_segments = 0;      // A segment a write.
  double best_efficiency = 0;     // payload / layer 1 bytes.
  double worst_efficiency = 0;
  // Throughput in bytes/s that the line allows for each; with a known rate.
  std::optional<double> best_throughput;
  std::optional<double> worst_throughput;
  // Where a rule gives a prediction: its name, value and assumptions.
  struct Prediction {
    std::string rule;  // "Nagle, Minshall's variant", "window limit"
    Metric metric;
    double value = 0;
    std::string assumptions;
    std::string source;                            // RFC and section.
    PredictionKind kind = PredictionKind::kValue;  // Or a bound.
    std::string limits;  // Where the rule stops to hold.
    Rule id = Rule::kLineLimit;
    Tolerance tolerance = {};  // What DescribeRule(id).tolerance says.
    // The same with the shortest round trip in place of the smoothed one.
    std::optional<double> at_shortest_rtt = std::nullopt;
  };
  std::vector<Prediction> predictions;
};

// How a measurement stands to what a rule predicted of it.
enum class Explanation {
  kAsPredicted,  // Within what the rule states as its tolerance, or its bound.
  kExplained,    // Beside it, and a mechanism that was observed says why.
  kUnexplained,  // Beside it, and nothing that was observed says why.
  kNotMeasured,  // The figure that it speaks of was not observed.
};

// One for each of CaseTheory::predictions.
struct PredictionVerdict {
  std::size_t prediction = 0;      // Into CaseTheory::predictions.
  std::optional<double> measured;  // Median, in the metric's unit.
  Explanation explanation = Explanation::kNotMeasured;
  // "within 2 % of it", "explained by the delayed ACK: ...", "unexplained:
  // ...".
  std::string words;
};

// SO_RCVBUF and SO_SNDBUF as asked, as read back, and the window that came.
struct BufferRow {
  std::string host, os, stack;
  std::string buffer;     // "rcvbuf" or "sndbuf".
  std::string requested;  // "unset" or bytes.
  std::optional<std::int64_t> effective_low, effective_high;
  std::optional<std::int64_t> initial_window, peak_window;  // rcvbuf only.
  std::optional<std::int64_t> mss;
  std::string note;  // "clamped: net.core.rmem_max ...".
};

struct CourseStep {
  double seconds = 0;  // Since the first look.
  double value = 0;
};

// How the windows of one trial went on, by its sender's kernel, thinned to
// what a picture can show (course.h). A figure that was not told is empty.
struct Course {
  std::string trial;
  std::string file;                                      // In the run folder.
  std::vector<CourseStep> cwnd, in_flight, peer_window;  // Bytes.
  std::vector<CourseStep> rtt_ns;                        // Smoothed.
  std::vector<double> losses;  // When it began to repeat what was lost, s.
  double seconds = 0;          // To the last look.
};

// One case on one pair of hosts.
struct Cell {
  std::size_t study = 0;  // Into Analysis::studies.
  std::size_t run = 0;    // Into Analysis::runs; runs are not pooled.
  std::string case_id;
  Factors factors;
  std::string sender, receiver;        // Host names.
  std::string sender_os, receiver_os;  // "linux", "wine", ... as samples say.
  std::string sender_stack, receiver_stack;
  // As they are to be called: "Debian 12, Linux 6.18.44" (systems.h).
  std::string sender_system, receiver_system;
  std::string link;  // As samples say: "lab 100 Mbit/s Ethernet".
  int ok = 0, failed = 0, skipped = 0, disturbed = 0;
  // Ok trials by who counted their segments, as Wire::observer names it.
  std::map<std::string, int> observers;
  std::array<std::optional<Estimate>, kMetricCount> figures;
  // Per block, for pairing: block -> value; only ok trials.
  std::array<BlockValues, kMetricCount> by_block;
  std::optional<Capacity> capacity;  // Of the trial of median throughput.
  std::optional<DatagramTotals> datagrams;  // UDP only.
  // Of the trial with a time series whose steady throughput is the median, or
  // nearest to it.
  std::optional<Course> course;
  std::optional<CaseTheory> theory;
  std::vector<PredictionVerdict> verdicts;
  // Why figures that are missing are missing: all of them (no ok trial), each,
  // and the two above.
  std::string reason;
  std::string problem;  // Of the first trial that failed or was skipped.
  std::map<Metric, std::string> why_missing;
  std::string why_no_capacity, why_no_theory;

  [[nodiscard]] const std::optional<Estimate>& figure(Metric metric) const {
    return figures[static_cast<std::size_t>(metric)];
  }
};

enum class Verdict { kHigher, kLower, kNotDistinguishable };

// a / b, block by block (only blocks both have), median and bootstrap 95 %.
// Called higher or lower by chance, with a = b in truth, in at most 5 % of
// comparisons, with 3 blocks as with 300 (statistics.h).
struct Ratio {
  double median = 0;
  std::optional<Interval> interval;  // None below three blocks.
  int blocks = 0;
  Verdict verdict = Verdict::kNotDistinguishable;  // Interval over 1, or none.
};

// Empty if they share no block.
std::optional<Ratio> PairedRatio(const BlockValues& a, const BlockValues& b,
                                 std::uint64_t seed);

// The effect of switching one factor from `base` to `other`, all else equal.
// The base is "unset" or "off" where a factor has it and the largest room of
// "read"; each "write" is held against the next smaller; else the first value
// of the study. Factor "pair" holds the same case between two other hosts
// ("a:b") against the pair whose names come first.
struct Effect {
  std::string factor;  // "nagle"
  FactorValue base;    // "off"
  FactorValue other;   // "on"
  Metric metric = Metric::kThroughput;
  std::size_t base_cell = 0;  // Into Analysis::cells.
  std::size_t other_cell = 0;
  Ratio ratio;  // other / base.
};

// --- Two systems side by side ------------------------------------------------

// What stands in the columns of a contrast. Of streams the first is throughput
// in bytes/s, of request-responses the median round trip in ns.
enum class SideFigure {
  kSpeed,
  kSegmentsPerWrite,
  kSenderCpu,    // ns a byte
  kReceiverCpu,  // ns a byte
  kStalls,       // Rounds over 30 ms in a trial; request-responses only.
  kCount,
};
inline constexpr std::size_t kSideFigureCount =
    static_cast<std::size_t>(SideFigure::kCount);
using SideFigures = std::array<std::optional<Estimate>, kSideFigureCount>;

// Which system sends and which receives, as a number: 2 x sender + receiver,
// where 0 is the contrast's first system and 1 its second.
inline constexpr std::size_t kDirections = 4;

struct ContrastSystem {
  std::string os, stack;
  std::string name;   // "Windows 11 23H2 (22631.3447)"
  std::string brief;  // "Windows"; the stack where both are of one family.
};

// All that ran in one direction.
struct DirectionSide {
  std::vector<std::pair<std::string, std::string>> pairs;  // Of hosts.
  int ok = 0, failed = 0, skipped = 0;
  std::map<std::string, int> observers;  // Ok trials, as Cell has them.
  // Over the cases that have the figure in every direction that ran: their
  // geometric mean in each block (of stalls the sum), and of those the median.
  SideFigures figures;
  std::array<std::string, kSideFigureCount> why_missing;
  // Speed over that of the contrast's base direction; empty for the base.
  std::optional<Ratio> ratio;

  [[nodiscard]] bool ran() const { return !pairs.empty(); }
};

// One case in all directions.
struct CaseSides {
  std::string case_id;
  Factors factors;
  std::array<SideFigures, kDirections> figures;
  // Speed over that of the base direction; empty for the base.
  std::array<std::optional<Ratio>, kDirections> ratios;
};

// One end held fixed and the other changed from the first system to the second.
struct EndSwitch {
  bool receiver = false;  // The end that is changed.
  std::size_t fixed = 0;  // System of the end that stays.
  // Directions that are compared: `other` over `base`.
  std::size_t base = 0, other = 0;
  std::optional<Ratio> ratio;  // Over all cases; empty: see `missing`.
  int cases = 0, higher = 0, lower = 0;  // Case by case.
  std::vector<std::size_t> missing;      // Directions without a figure.
};

// Which end makes the difference in speed.
enum class EndAnswer {
  kNotKnown,  // No end could be changed with the other held fixed, or the one
              // that could makes no difference that can be told.
  kNeither,
  kSender,
  kReceiver,
  kBoth,
};

// Speed against the size of a write, all other factors pooled.
struct WriteRatio {
  std::int64_t write = 0;
  std::array<std::optional<Ratio>, kDirections> ratios;  // Over the base's.
};

// Two systems in one study of one run, for each direction that ran.
struct Contrast {
  std::size_t run = 0, study = 0;
  bool rounds = false;  // Request-responses, else streams.
  std::array<ContrastSystem, 2> systems;
  std::array<DirectionSide, kDirections> directions;
  std::size_t base = 0;  // The direction that the others are held against.
  int cases = 0;         // With speed in every direction that ran.
  std::vector<CaseSides> by_case;     // By rising write, then by factors.
  std::vector<WriteRatio> by_write;   // By rising write; streams only.
  std::array<EndSwitch, 4> switches;  // Receiver, then sender; of each with
                                      // the first, then the second held fixed.
  EndAnswer answer = EndAnswer::kNotKnown;
};

enum class KneeKind {
  kFound,
  kStillGrowing,  // No knee in the range: it lies at the largest size or
                  // beyond.
  kNeverGrows,    // No knee in the range: nothing beats the smallest size.
};

// Where throughput stops growing with size (knee.h has the rule).
struct Knee {
  KneeKind kind = KneeKind::kFound;
  double size = 0;  // Bytes; the end of the range where there is none.
  // Sizes measured, 95 %; empty below three blocks.
  std::optional<Interval> interval;
  // The next smaller size measured below the interval: the knee of the curve
  // itself lies above it.
  std::optional<double> more_than;
  bool open = false;  // The interval reaches the largest size measured.
  int sizes = 0;
  int blocks = 0;
};

struct KneeRow {
  std::size_t study = 0;           // Into Analysis::studies.
  std::string factor;              // "block" or "write".
  std::vector<std::size_t> cells;  // Of the curve.
  Knee knee;
};

// Flows that ran at once, and ran again in every block: one case, and of its
// topology one set of flows. A group of which a flow failed or is missing has
// no figures.
struct FlowSet {
  std::size_t run = 0, study = 0;
  std::string case_id;
  Factors factors;
  std::string topology;          // As kTopologyNames spell it.
  std::string sender, receiver;  // Of a pair both, of one-to-many the sender,
                                 // else empty.
  int flows = 0;
  std::vector<std::size_t> cells;  // The parts, into Analysis::cells.
  int whole = 0;                   // Groups with figures,
  int broken = 0;                  // and without.
  std::string reason;              // Why, of the first without.
  // Over blocks. Throughputs in bytes/s: of all flows the sum of what each got
  // in its own time, and of each group its slowest and its fastest flow.
  std::optional<Estimate> total, least, largest;
  std::optional<Estimate> fairness;  // Jain's index, 1 / flows to 1.
  // The share of its time that even the flow that was least together with the
  // others spent with all of them under way.
  std::optional<Estimate> overlap;
  BlockValues total_by_block, fairness_by_block;
  // Where all hosts are on this machine: how many CPUs the flows' loops kept
  // busy (median), of how many.
  std::optional<double> cpus_used;
  std::optional<std::int64_t> cpus;
};

enum class ClaimAnswer {
  kSupported,
  kRefuted,
  kNotDistinguishable,
  kNotTested
};

struct ClaimResult {
  std::size_t study = 0;
  Claim claim;
  ClaimAnswer answer = ClaimAnswer::kNotTested;
  std::string why;  // The figures, or what is missing: "no Windows host".
  // What the answer rests on, in the metric's unit or as a ratio; of several
  // curves (ClaimKind::kLevelsOff) the first that decided. Empty: not tested.
  std::optional<double> figure = std::nullopt;
  std::optional<Interval> interval = std::nullopt;
  int blocks = 0;
};

struct Problem {  // A kind of failed, skipped or disturbed trial.
  TrialOutcome outcome = TrialOutcome::kFailed;
  bool disturbed = false;
  std::string reason;
  int trials = 0;
  std::string example;  // A trial id.
};

// Who counted segments, and how the two ends' counts agreed.
struct Agreement {
  std::map<std::string, int> observers;  // As Wire::observer names them.
  int equal = 0;
  int different = 0;
  int one_observer = 0;
  std::map<std::string, int> causes;
  // Of ok trials that have a capture: against the kernels' counts.
  int captured = 0;
  int capture_equal = 0;  // To both ends' counts, or to the one there is.
  int capture_different = 0;
  int capture_partial = 0;  // Not whole, so not held against them.
  std::map<std::string, int> capture_causes;  // Of those that differ.
  std::map<std::string, int> not_captured;    // Reason -> trials that asked.
  // Which rule of sending showed in its packets: sender's system -> rule ->
  // trials.
  std::map<std::string, std::map<std::string, int>> followed_rules;
};

struct Analysis {
  std::vector<RunRecord> runs;  // In the order given.
  std::vector<Study> studies;   // Parsed from the runs' own texts.
  std::vector<Cell> cells;
  std::vector<Effect> effects;      // Of each factor that varies.
  std::vector<Contrast> contrasts;  // Empty with one system only.
  std::vector<ClaimResult> claims;
  std::vector<KneeRow> knees;
  std::vector<FlowSet> flow_sets;  // Empty where no flows ran at once.
  std::vector<BufferRow> buffers;
  std::vector<Problem> problems;
  Agreement agreement;
  int ok = 0, failed = 0, skipped = 0, disturbed = 0;
  int blocks = 0;                  // Complete ones, of all runs.
  std::vector<std::string> notes;  // Torn last line, block incomplete, ...
};

// Reads run folders, one sample in memory at a time: about 500 bytes a sample
// stay, and about 4 kB a cell. Cells are one only within a run. Disturbed
// trials that are ok stay in the figures. kUsage: a folder that cannot be
// read, or holds a study that cannot be parsed.
Outcome<Analysis> Analyse(const std::vector<std::filesystem::path>& folders);

// Median and 95 % interval of `values`, as Estimate describes. Requires at
// least one value.
Estimate EstimateMedian(const std::vector<double>& values, std::uint64_t seed);

// For --precision: tells, from the samples as they come, whether every cell's
// throughput (or median latency) is known to within `precision` (half-width of
// the interval over the median). Cells without values do not hold it up; while
// there is no interval at all the goal is not reached.
class PrecisionGoal {
 public:
  PrecisionGoal(double precision, std::uint64_t seed);
  void Add(const Sample& sample);
  [[nodiscard]] bool Reached() const;
  // The widest cell's half-width, as a fraction; empty before any interval.
  [[nodiscard]] std::optional<double> Widest() const;

 private:
  // Of flows at once of the same pair the mean.
  struct Block {
    double mean = 0;
    int flows = 0;
  };
  [[nodiscard]] std::vector<Estimate> Estimates() const;

  double precision_;
  std::uint64_t seed_;
  std::map<std::string, std::map<int, Block>> values_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_ANALYSIS_H_
