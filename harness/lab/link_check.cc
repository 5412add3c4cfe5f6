#include "harness/lab/link_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/delay_line.h"
#include "harness/lab/layout.h"
#include "harness/lab/router.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds kProbeTimeout{10'000};
constexpr int kPings = 10;
// Waited for as often as must be only.
constexpr Nanoseconds kPingsTogether = std::chrono::seconds(1);
// Over a longer one, bursts would take longer than a person waits.
constexpr Nanoseconds kLongRoundTrip = std::chrono::seconds(2);
constexpr milliseconds kRateTime{300};   // Of all directions together.
constexpr milliseconds kLeastBurst{50};  // Of one.
constexpr milliseconds kShareTime{400};  // Of one direction.
constexpr std::int64_t kMostPerSecond = 20'000;
constexpr std::int64_t kFewFrames = 50;  // Fewer say nothing about a share.
constexpr std::int64_t kFewPaced = 10;   // Fewer say nothing about a rate.
constexpr std::int64_t kSmallPayload = 32;
// IPv4 20, UDP 8, Ethernet 14 and FCS 4, preamble 8, gap 12 (IEEE 802.3).
constexpr std::int64_t kNetworkHeaders = 28;
constexpr std::int64_t kLineHeaders = 38;
// A line that should lose more than this may well let nothing through.
constexpr double kMuchLoss = 0.5;

// --- Judging ---------------------------------------------------------------

std::string Megabits(double rate) {
  return fmt::format("{:.4g} Mbit/s", rate / 1e6);
}

std::string Share(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.3g} %", 100.0 * static_cast<double>(part) /
                                     static_cast<double>(whole));
}

std::string Percent(double share) {
  return fmt::format("{:.4g} %", share * 100);
}

// Collects what one judgement after another says.
class Judge {
 public:
  Judge(const LinkSpec& asked, bool netem, const MeasuredLine& measured)
      : asked_(asked), netem_(netem), measured_(measured) {}

  JudgedLine Run() {
    JudgeRoundTrip();
    JudgeRate();
    JudgeShares();
    JudgeCarrying();
    Conclude();
    return std::move(judged_);
  }

 private:
  void Warn(std::string warning) {
    judged_.check.warnings.push_back(std::move(warning));
  }

  // The least is what the line gives; what others have more is this machine's.
  void JudgeRoundTrip() {
    const Nanoseconds asked = 2 * asked_.delay;
    Settings& settings = judged_.settings;
    settings["rtt asked"] = SpellDuration(asked);
    const std::vector<std::int64_t>& times = measured_.round_trips_ns;
    if (times.empty()) {
      settings["rtt measured"] = "not measured: " + measured_.why_no_round_trip;
      figures_.push_back("round trip " + settings["rtt measured"]);
      if (asked_.loss < kMuchLoss) {
        Warn("the round trip was not measured: " + measured_.why_no_round_trip);
      }
      return;
    }
    const Nanoseconds least{times.front()};
    const Nanoseconds median{times[times.size() / 2]};
    settings["rtt measured"] = SpellDuration(least);
    settings["rtt measured, median"] = SpellDuration(median);
    figures_.push_back(fmt::format("round trip {} (median {})",
                                   FormatDuration(least),
                                   FormatDuration(median)));
    if (asked > Nanoseconds{0}) {
      figures_.back() += fmt::format(", {} asked", FormatDuration(asked));
    }
    HoldRoundTrip(least, asked);
  }

  void HoldRoundTrip(Nanoseconds least, Nanoseconds asked) {
    const Nanoseconds jitter = 2 * asked_.jitter;
    // Frames that are sent ahead do not wait at all.
    const Nanoseconds low =
        asked_.reorder > 0 ? Nanoseconds{0} : asked - jitter;
    const Nanoseconds share = std::chrono::duration_cast<Nanoseconds>(
        kRoundTripTolerance * Seconds(asked));
    const Nanoseconds high = asked + jitter + std::max(share, kRoundTripSlack);
    if (least >= low && least <= high) return;
    Warn(fmt::format(
        "the line's round trip is {} and should be {} to {}: {}",
        FormatDuration(least), FormatDuration(low), FormatDuration(high),
        least < low
            ? "figures that rest on the delay are wrong; take another --delay"
            : "end what else runs on this machine, or ask for a longer "
              "--delay"));
  }

  void JudgeRate() {
    if (!asked_.rate) return;
    Settings& settings = judged_.settings;
    settings["rate asked"] = Megabits(asked_.rate->value);
    std::vector<std::string> rates;
    std::vector<std::string> told;
    for (const MeasuredDirection& one : measured_.directions) {
      rates.push_back(one.rate_bits_per_second
                          ? Megabits(*one.rate_bits_per_second)
                          : "not measured: " + one.why_no_rate);
      told.push_back(
          fmt::format("{} > {}: {}", one.from, one.to, rates.back()));
      HoldRate(one);
    }
    settings["rate measured"] = fmt::format("{}", fmt::join(told, "; "));
    figures_.push_back(fmt::format("{}, {} asked", fmt::join(rates, " and "),
                                   settings["rate asked"]));
  }

  void HoldRate(const MeasuredDirection& one) {
    if (!one.rate_bits_per_second) {
      Warn(fmt::format("the rate from {} to {} was not measured: {}", one.from,
                       one.to, one.why_no_rate));
      return;
    }
    // Either end of a burst may be early or late by the jitter.
    const double jitter = 2 * Seconds(asked_.jitter) /
                          Seconds(std::max(kLeastBurst, kRateTime / 2));
    const double off = *one.rate_bits_per_second / asked_.rate->value - 1;
    if (std::abs(off) <= kRateTolerance + jitter) return;
    Warn(fmt::format(
        "the line from {} to {} carries {}, {:+.1f} % off the {} asked: {}",
        one.from, one.to, Megabits(*one.rate_bits_per_second), 100 * off,
        Megabits(asked_.rate->value),
        off < 0 ? "this machine does not keep up; end what else runs on it, or "
                  "ask for a lower --link"
                : "the shaper does not hold it back; ask for another --link"));
  }

  // A kind of mishap.
  struct Mishap {
    std::string name;
    const char* option;
    double asked;
    double expected;
    std::int64_t (*trials)(const ShareCount&);
    std::int64_t (*part)(const ShareCount&);
  };

  // Over all directions.
  void JudgeShare(const Mishap& mishap) {
    if (mishap.asked <= 0) return;
    Settings& settings = judged_.settings;
    settings[mishap.name + " asked"] = Percent(mishap.asked);
    std::vector<std::string> shares;
    shares.reserve(measured_.directions.size());
    for (const MeasuredDirection& one : measured_.directions) {
      shares.push_back(ShareOf(mishap, one));
    }
    settings[mishap.name + " measured"] =
        fmt::format("{}", fmt::join(shares, "; "));
    figures_.push_back(fmt::format("{} {}, {} asked",
                                   fmt::join(shares, " and "), mishap.name,
                                   Percent(mishap.asked)));
  }

  std::string ShareOf(const Mishap& mishap, const MeasuredDirection& one) {
    if (!one.shares || mishap.trials(*one.shares) == 0) {
      std::string why = one.shares ? "no datagram came" : one.why_no_shares;
      if (mishap.asked < kMuchLoss) {
        Warn(fmt::format("the share {} from {} to {} was not measured: {}",
                         mishap.name, one.from, one.to, why));
      }
      return "not measured: " + why;
    }
    const std::int64_t all = mishap.trials(*one.shares);
    const std::int64_t some = mishap.part(*one.shares);
    const CountRange range =
        BinomialRange(all, mishap.expected, kShareConfidence);
    if (some < range.least || some > range.most) {
      Warn(fmt::format(
          "the line from {} to {}: {} of {} frames {}, and {} to {} should be "
          "by {} {}: end what else runs on this machine and try again",
          one.from, one.to, some, all, mishap.name, range.least, range.most,
          mishap.option, Percent(mishap.asked)));
    }
    return Share(some, all);
  }

  void JudgeShares() {
    const ExpectedShares expected = SharesOf(asked_, netem_);
    const auto sent = [](const ShareCount& count) { return count.sent; };
    const auto came = [](const ShareCount& count) { return count.came; };
    JudgeShare(
        {"lost", "--loss", asked_.loss, expected.lost, sent,
         [](const ShareCount& count) { return count.sent - count.came; }});
    JudgeShare({"duplicated", "--duplicate", asked_.duplicate,
                expected.duplicated, came,
                [](const ShareCount& count) { return count.twice; }});
    TellAhead();
  }

  // How many of those sent ahead find somebody to overtake depends on how many
  // wait, so that only none at all is a miss.
  void TellAhead() {
    if (asked_.reorder <= 0) return;
    judged_.settings["reordered asked"] = Percent(asked_.reorder);
    std::vector<std::string> shares;
    for (const MeasuredDirection& one : measured_.directions) {
      const bool any = one.shares && one.shares->came > 0;
      shares.push_back(any ? Share(one.shares->ahead, one.shares->came)
                           : "not measured: " + one.why_no_shares);
      if (!any || one.shares->ahead > 0) continue;
      if (BinomialRange(one.shares->came, asked_.reorder, kShareConfidence)
              .least == 0)
        continue;
      Warn(fmt::format(
          "the line from {} to {}: none of {} frames came ahead of others, and "
          "--reorder asks for {}: take a longer --delay",
          one.from, one.to, one.shares->came, Percent(asked_.reorder)));
    }
    judged_.settings["reordered measured"] =
        fmt::format("{}", fmt::join(shares, "; "));
    figures_.push_back(fmt::format("{} came ahead of others, {} asked",
                                   fmt::join(shares, " and "),
                                   Percent(asked_.reorder)));
  }

  void JudgeCarrying() {
    const bool any_came =
        !measured_.round_trips_ns.empty() ||
        std::any_of(measured_.directions.begin(), measured_.directions.end(),
                    [](const MeasuredDirection& one) {
                      return one.rate_bits_per_second ||
                             (one.shares && one.shares->came > 0);
                    });
    judged_.carries_nothing = !any_came && asked_.loss < kMuchLoss;
  }

  void Conclude() {
    const std::vector<std::string>& warnings = judged_.check.warnings;
    judged_.check.summary =
        fmt::format("line checked: {}", fmt::join(figures_, "; "));
    judged_.settings["check"] =
        warnings.empty()
            ? fmt::format(
                  "as asked (rate within {:.0f} %; round trip within "
                  "{:.0f} % or {}; shares within the binomial {:.4g} % "
                  "interval)",
                  100 * kRateTolerance, 100 * kRoundTripTolerance,
                  FormatDuration(kRoundTripSlack), 100 * kShareConfidence)
            : fmt::format("not as asked: {}", fmt::join(warnings, "; "));
  }

  const LinkSpec& asked_;
  const bool netem_;
  const MeasuredLine& measured_;
  JudgedLine judged_;
  std::vector<std::string> figures_;
};

// --- Measuring -------------------------------------------------------------

// What one burst is to be like.
struct Burst {
  std::int64_t payload = 0;
  std::int64_t count = 0;
  std::int64_t per_second = 0;
  milliseconds most{0};
  std::int64_t skip = 0;
};

struct BurstAnswer {
  ShareCount shares;
  std::int64_t dropped_here = 0;  // At the sink's own buffer.
  std::int64_t numbers = 0;       // That `elapsed` took.
  Nanoseconds elapsed{0};
};

Nanoseconds LongestRoundTrip(const LinkSpec& link) {
  return 2 * (link.delay + link.jitter);
}

std::string Self(const LabSpec& spec) {
  return std::filesystem::absolute(spec.self).string();
}

std::vector<std::string> Inside(const LabHost& host,
                                std::vector<std::string> words) {
  words.insert(words.begin(), {"ip", "netns", "exec", host.netns});
  return words;
}

// Enough to see the least of a short round trip; a long one is little changed
// by what the machine adds.
int PingsFor(Nanoseconds round_trip, double loss) {
  const int least = loss > 0 ? 2 : 1;
  if (round_trip <= kPingsTogether / kPings) return kPings;
  return std::max(least, static_cast<int>(kPingsTogether / round_trip));
}

void MeasureRoundTrips(const LabSpec& spec, const std::vector<LabHost>& hosts,
                       MeasuredLine& line) {
  const Nanoseconds longest = LongestRoundTrip(spec.link);
  const int pings = PingsFor(longest, spec.link.loss);
  const Outcome<std::string> said = RunCommand(
      {Inside(hosts[0],
              {Self(spec), "lab-rtt", hosts[0].address, hosts[1].address,
               std::to_string(longest.count()), std::to_string(pings)}),
       "",
       kProbeTimeout + pings * std::chrono::ceil<milliseconds>(2 * longest)});
  if (!said.has_value()) {
    line.why_no_round_trip = said.error().message;
    return;
  }
  std::istringstream lines(said.value());
  for (std::int64_t time = 0; lines >> time;)
    line.round_trips_ns.push_back(time);
  std::sort(line.round_trips_ns.begin(), line.round_trips_ns.end());
  if (line.round_trips_ns.empty()) {
    line.why_no_round_trip = "no answer came back";
  }
}

// How long one such frame takes on the line; 0 without a rate.
Nanoseconds FrameTime(const LinkSpec& link, std::int64_t payload) {
  if (!link.rate) return Nanoseconds{0};
  const double bits =
      8.0 * static_cast<double>(payload + kNetworkHeaders + kLineHeaders);
  return std::chrono::duration_cast<Nanoseconds>(
      Seconds(bits / link.rate->value));
}

Outcome<BurstAnswer> RunBurst(const LabSpec& spec, const LabHost& from,
                              const LabHost& to, const Burst& burst) {
  const LinkSpec& link = spec.link;
  const auto patience = std::chrono::ceil<milliseconds>(
      LongestRoundTrip(link) + std::chrono::seconds(1));
  const auto quiet = std::chrono::ceil<milliseconds>(
      milliseconds(60) + link.delay + 2 * link.jitter +
      2 * FrameTime(link, burst.payload));
  const auto source = BackgroundProcess::Start(
      Inside(from, {Self(spec), "lab-source", from.address, to.address,
                    std::to_string(patience.count())}),
      "ready", kProbeTimeout);
  if (!source.has_value()) return source.error();
  const Outcome<std::string> said = RunCommand(
      {Inside(to, {Self(spec), "lab-sink", to.address, from.address,
                   std::to_string(burst.payload), std::to_string(burst.count),
                   std::to_string(burst.per_second),
                   std::to_string(burst.most.count()),
                   std::to_string(burst.skip), std::to_string(patience.count()),
                   std::to_string(quiet.count())}),
       "", kProbeTimeout + 4 * patience});
  if (!said.has_value()) return said.error();
  std::istringstream numbers(said.value());
  BurstAnswer answer;
  std::int64_t elapsed = 0;
  ShareCount& shares = answer.shares;
  numbers >> shares.came >> shares.twice >> shares.ahead >>
      answer.dropped_here >> answer.numbers >> elapsed;
  if (!numbers) return NothingRan("lab-sink said: " + said.value());
  answer.elapsed = Nanoseconds{elapsed};
  shares.sent = burst.count;
  return answer;
}

// Full frames, or as short ones as make some twenty of them in the time.
Burst RateBurst(const LinkSpec& link, milliseconds time) {
  constexpr double kLeastFrames = 20;
  const double bytes = link.rate->value / 8 * Seconds(time).count();
  const std::int64_t headers = kNetworkHeaders + kLineHeaders;
  const auto most = static_cast<std::int64_t>(bytes / kLeastFrames) - headers;
  Burst burst;
  burst.payload = std::clamp<std::int64_t>(
      most, kSmallPayload,
      std::max<std::int64_t>(kSmallPayload, link.mtu - kNetworkHeaders));
  const std::int64_t frame = burst.payload + headers;
  const Shaper shaper = MakeShaper(*link.rate, link.mtu, link.delay);
  burst.skip = shaper.burst_bytes / frame + 1;
  // No more than a source sends in that time on any machine, nor than may wait
  // in a router whose line is slower than the source's.
  burst.count = std::min<std::int64_t>(
      1'000'000, burst.skip + static_cast<std::int64_t>(
                                  bytes / static_cast<double>(frame)));
  for (const std::size_t to : {0u, 1u}) {
    const auto router = RouterLineTo(link, to);
    if (!router) continue;
    burst.count = std::min(burst.count, router->queue.count * 9 / 10 / frame);
  }
  burst.most = 4 * time;
  return burst;
}

void MeasureRate(const LabSpec& spec, const LabHost& from, const LabHost& to,
                 milliseconds time, MeasuredDirection& direction) {
  const Burst burst = RateBurst(spec.link, time);
  if (spec.link.router && burst.count < burst.skip + kFewPaced) {
    direction.why_no_rate = "the router's queue holds too few frames to tell";
    return;
  }
  const Outcome<BurstAnswer> answer = RunBurst(spec, from, to, burst);
  if (!answer.has_value()) {
    direction.why_no_rate = answer.error().message;
    return;
  }
  const BurstAnswer& got = answer.value();
  if (got.numbers <= 0 || got.elapsed <= Nanoseconds{0}) {
    direction.why_no_rate = "too few datagrams came";
    return;
  }
  const std::int64_t frame = burst.payload + kNetworkHeaders + kLineHeaders;
  direction.rate_bits_per_second =
      Rate(Bytes{got.numbers * frame}, got.elapsed).value;
}

bool IsOff(const MeasuredDirection& direction, BitsPerSecond asked) {
  return !direction.rate_bits_per_second ||
         std::abs(*direction.rate_bits_per_second / asked.value - 1) >
             kRateTolerance;
}

Burst ShareBurst(const LinkSpec& link) {
  Burst burst;
  burst.payload = kSmallPayload;
  burst.per_second = kMostPerSecond;
  // Half of the line, so that no queue forms.
  if (const Nanoseconds frame = FrameTime(link, kSmallPayload);
      frame > Nanoseconds{0}) {
    burst.per_second = std::min<std::int64_t>(
        kMostPerSecond, std::chrono::seconds(1) / (2 * frame));
  }
  burst.count = static_cast<std::int64_t>(
      static_cast<double>(burst.per_second) * Seconds(kShareTime).count());
  burst.most = 4 * kShareTime;
  return burst;
}

void MeasureShares(const LabSpec& spec, const LabHost& from, const LabHost& to,
                   MeasuredDirection& direction) {
  const Burst burst = ShareBurst(spec.link);
  if (burst.count < kFewFrames) {
    direction.why_no_shares = fmt::format(
        "only {} frames fit into {}", burst.count, FormatDuration(kShareTime));
    return;
  }
  const Outcome<BurstAnswer> answer = RunBurst(spec, from, to, burst);
  if (!answer.has_value()) {
    direction.why_no_shares = answer.error().message;
    return;
  }
  // What this machine dropped at the sink is no work of the line.
  ShareCount shares = answer.value().shares;
  shares.sent -= answer.value().dropped_here;
  direction.shares = shares;
}

bool WantsShares(const LinkSpec& link) {
  return link.loss > 0 || link.duplicate > 0 || link.reorder > 0;
}

MeasuredDirection MeasureDirection(const LabSpec& spec, const LabHost& from,
                                   const LabHost& to, milliseconds time) {
  MeasuredDirection direction;
  direction.from = from.name;
  direction.to = to.name;
  std::string why;
  if (LongestRoundTrip(spec.link) > kLongRoundTrip) {
    why = "the round trip is over " + FormatDuration(kLongRoundTrip);
  } else if (spec.link.loss >= 1) {
    why = "everything is lost, as asked";
  }
  direction.why_no_rate = direction.why_no_shares = why;
  if (!why.empty()) return direction;
  if (spec.link.rate) {
    MeasureRate(spec, from, to, time, direction);
    // Something else may have had the machine for a moment.
    for (int again = 0; again < 2 && IsOff(direction, *spec.link.rate); ++again)
      MeasureRate(spec, from, to, 2 * time, direction);
  }
  if (WantsShares(spec.link)) MeasureShares(spec, from, to, direction);
  return direction;
}

}  // namespace

CountRange BinomialRange(std::int64_t trials, double share, double confidence) {
  // The quantiles of what is certain are not its count.
  if (share <= 0) return {0, 0};
  if (share >= 1) return {trials, trials};
  namespace bm = boost::math;
  using Outwards = bm::policies::policy<
      bm::policies::discrete_quantile<bm::policies::integer_round_outwards>>;
  const bm::binomial_distribution<double, Outwards> counts(
      static_cast<double>(trials), share);
  const double tail = (1 - confidence) / 2;
  return {
      static_cast<std::int64_t>(bm::quantile(counts, tail)),
      static_cast<std::int64_t>(bm::quantile(bm::complement(counts, tail)))};
}

JudgedLine JudgeLine(const LinkSpec& asked, bool netem,
                     const MeasuredLine& measured) {
  return Judge(asked, netem, measured).Run();
}

MeasuredLine MeasureLine(const LabSpec& spec,
                         const std::vector<LabHost>& hosts) {
  MeasuredLine line;
  MeasureRoundTrips(spec, hosts, line);
  if (!spec.link.rate && !WantsShares(spec.link)) return line;
  const auto count = static_cast<std::int64_t>(hosts.size());
  const milliseconds time = std::max(kLeastBurst, kRateTime / count);
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    const LabHost& to = hosts[(from + 1) % hosts.size()];
    line.directions.push_back(MeasureDirection(spec, hosts[from], to, time));
  }
  return line;
}

}  // namespace wiretoll
