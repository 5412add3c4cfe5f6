#include "harness/lab/delay_line.h"

#include <fmt/format.h>

#include <utility>

namespace wiretoll {
namespace {

constexpr Nanoseconds kNone{0};
// What netem holds; its own default, 1000 frames, is 12 ms of 1 Gbit/s.
constexpr const char* kNetemLimit = "1000000";

Failure Refused(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

// From 0 to below 1 with 53 bits, whatever the standard library at hand.
double Draw(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Nothing is drawn for what cannot happen, which costs time for each frame.
bool Happens(double share, std::mt19937_64& random) {
  return share > 0 && Draw(random) < share;
}

// Far apart for neighbouring seeds (the finalizer of SplitMix64).
std::uint64_t Mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15u;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9u;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBu;
  return seed ^ (seed >> 31);
}

Outcome<Done> CheckShare(const char* option, double share) {
  if (share >= 0 && share <= 1) return Done{};
  return Refused(fmt::format("{} {:.4g}%: a lab's line does that to 0 to 100 %",
                             option, share * 100));
}

Outcome<Done> CheckTimes(const LinkSpec& link) {
  if (link.delay < kNone || link.delay > std::chrono::seconds(10)) {
    return Refused("--delay " + SpellDuration(link.delay) +
                   ": a lab delays by 0 to 10 s each way");
  }
  if (link.jitter < kNone || link.jitter > link.delay) {
    return Refused(fmt::format(
        "--jitter {} about a delay of {}: a frame cannot arrive before it "
        "left; say --delay {}, or a jitter of at most the delay",
        SpellDuration(link.jitter), SpellDuration(link.delay),
        SpellDuration(link.jitter)));
  }
  if (link.reorder > 0 && link.delay == kNone) {
    return Refused(fmt::format(
        "--reorder {:.4g}%: frames overtake those that wait, and without a "
        "delay none waits; say --delay 5ms too",
        link.reorder * 100));
  }
  return Done{};
}

std::string SpellShare(double share) {
  return fmt::format("{:.6f}%", share * 100);
}

std::string Microseconds(Nanoseconds time) {
  return fmt::format("{:.3f}us",
                     std::chrono::duration<double, std::micro>(time).count());
}

}  // namespace

Outcome<Done> CheckDelayLine(const LinkSpec& link, std::size_t hosts) {
  for (const auto& [option, share] : {std::pair{"--loss", link.loss},
                                      {"--duplicate", link.duplicate},
                                      {"--reorder", link.reorder}}) {
    Outcome<Done> checked = CheckShare(option, share);
    if (!checked.has_value()) return checked;
  }
  Outcome<Done> times = CheckTimes(link);
  if (!times.has_value()) return times;
  if (NeedsDelayLine(link) && hosts != 2) {
    return Refused(fmt::format(
        "--delay, --jitter, --loss, --duplicate and --reorder need a lab of "
        "two hosts, this one has {}: say --lab linux,linux",
        hosts));
  }
  return Done{};
}

bool NeedsDelayLine(const LinkSpec& link) {
  return link.delay > kNone || link.loss > 0 || link.duplicate > 0;
}

std::string SpellDelayLine(const LinkSpec& link) {
  std::string text;
  if (link.delay > kNone) text += ", " + SpellDuration(link.delay);
  if (link.jitter > kNone) text += " +-" + SpellDuration(link.jitter);
  if (link.delay > kNone) text += " each way";
  if (link.loss > 0) text += fmt::format(", {:.4g} % loss", link.loss * 100);
  if (link.duplicate > 0)
    text += fmt::format(", {:.4g} % duplicated", link.duplicate * 100);
  if (link.reorder > 0)
    text += fmt::format(", {:.4g} % sent ahead", link.reorder * 100);
  return text;
}

std::vector<std::string> NetemWords(const LinkSpec& link) {
  std::vector<std::string> words{"netem", "limit", kNetemLimit, "delay",
                                 Microseconds(link.delay)};
  // Without a distribution named it is uniform, which is what ours is.
  if (link.jitter > kNone) words.push_back(Microseconds(link.jitter));
  for (const auto& [word, share] : {std::pair{"loss", link.loss},
                                    {"duplicate", link.duplicate},
                                    {"reorder", link.reorder}}) {
    if (share > 0) words.insert(words.end(), {word, SpellShare(share)});
  }
  return words;
}

FrameFates::FrameFates(const LinkSpec& link, std::uint64_t seed,
                       std::uint64_t stream)
    : link_(link),
      loss_(Mixed(seed * 8 + stream)),
      duplicate_(Mixed(seed * 8 + 2 + stream)),
      reorder_(Mixed(seed * 8 + 4 + stream)),
      jitter_(Mixed(seed * 8 + 6 + stream)) {}

FrameFate FrameFates::Next() {
  FrameFate fate;
  fate.lost = Happens(link_.loss, loss_);
  fate.duplicated = Happens(link_.duplicate, duplicate_);
  fate.ahead = Happens(link_.reorder, reorder_);
  if (!fate.ahead) fate.delay = link_.delay;
  if (link_.jitter > kNone) {
    const double either_way = 2 * Draw(jitter_) - 1;
    const auto more = std::chrono::duration_cast<Nanoseconds>(
        either_way * std::chrono::duration<double, std::nano>(link_.jitter));
    if (!fate.ahead) fate.delay += more;
  }
  return fate;
}

ExpectedShares SharesOf(const LinkSpec& link, bool netem) {
  if (!netem) return {link.loss, link.duplicate};
  const double lost = link.loss * (1 - link.duplicate);
  if (lost >= 1) return {lost, 0};
  const double both = link.duplicate * (1 - link.loss) * (1 - link.loss);
  return {lost, both / (1 - lost)};
}

}  // namespace wiretoll
