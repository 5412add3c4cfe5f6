// A lab's line, measured before anything else uses it, and held against what
// was asked for.
#ifndef WIRETOLL_HARNESS_LAB_LINK_CHECK_H_
#define WIRETOLL_HARNESS_LAB_LINK_CHECK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/lab.h"
#include "harness/lab/settings.h"

namespace wiretoll {

// Beyond these a figure is a miss. Rates and round trips wander on a machine
// that has other work; shares are counts, and chance alone takes one in a
// thousand out of its interval.
inline constexpr double kRateTolerance = 0.05;
inline constexpr double kRoundTripTolerance = 0.10;
inline constexpr Nanoseconds kRoundTripSlack = std::chrono::milliseconds(1);
inline constexpr double kShareConfidence = 0.999;

struct CountRange {
  std::int64_t least = 0, most = 0;
};
// Of `trials`, each of which happens with `share`, as many as happen in all
// but 1 - `confidence` of cases; half of that on either side (quantiles of the
// binomial distribution, rounded outwards).
CountRange BinomialRange(std::int64_t trials, double share, double confidence);

// What arrived of `sent` numbered datagrams.
struct ShareCount {
  std::int64_t sent = 0;
  std::int64_t came = 0;   // Of different numbers.
  std::int64_t twice = 0;  // Second arrivals of a number.
  std::int64_t ahead = 0;  // Came before one that had been sent before it.
};

struct MeasuredDirection {
  std::string from, to;
  std::optional<double> rate_bits_per_second;  // As on a true Ethernet's line.
  std::string why_no_rate;                     // Empty: none was asked for.
  std::optional<ShareCount> shares;
  std::string why_no_shares;  // Likewise.
};

struct MeasuredLine {
  std::vector<std::int64_t> round_trips_ns;  // In ascending order.
  std::string why_no_round_trip;
  std::vector<MeasuredDirection> directions;
};

struct JudgedLine {
  LinkCheck check;
  Settings settings;  // "rate asked", "rate measured", ...: for the record.
  // Nothing came over, and that is not what was asked for.
  bool carries_nothing = false;
};

// Pure: figures against what was asked. `netem`: who does the mishaps.
JudgedLine JudgeLine(const LinkSpec& asked, bool netem,
                     const MeasuredLine& measured);

// Between each host and the next, the last and the first: each sender's shaper
// and each direction of a delay line once. Takes 0.3 s for a rate in all, 0.4 s
// a direction for shares, and a few round trips; bounded however bad the line.
// Requires hosts with namespaces that `spec.self` can run in.
MeasuredLine MeasureLine(const LabSpec& spec,
                         const std::vector<LabHost>& hosts);

// The verbs inside a host. "lab-source FROM TO PATIENCE_MS" waits for a request
// and sends what that asks for; "lab-sink FROM TO ..." asks, counts, and prints
// what came.
Outcome<Done> BurstSourceVerb(const std::vector<std::string>& words);
Outcome<Done> BurstSinkVerb(const std::vector<std::string>& words);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_LINK_CHECK_H_
