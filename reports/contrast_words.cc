#include "reports/contrast_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

const ContrastSystem& SenderOf(const Contrast& contrast,
                               std::size_t direction) {
  return contrast.systems[direction / 2];
}
const ContrastSystem& ReceiverOf(const Contrast& contrast,
                                 std::size_t direction) {
  return contrast.systems[direction % 2];
}

std::string Brief(const ContrastSystem& system) {
  return Printable(system.brief);
}

bool Told(const std::optional<Ratio>& ratio) {
  return ratio.has_value() && ratio->verdict != Verdict::kNotDistinguishable;
}

std::string InBrackets(const Ratio& ratio) {
  if (!ratio.interval.has_value()) return " (too few blocks for an interval)";
  return fmt::format(" ({})", RatioRange(*ratio.interval));
}

// How far the ratio is from 1 at least and at most, as logarithms.
Interval SizeOf(const Ratio& ratio) {
  const double a = std::abs(std::log(ratio.interval->low));
  const double b = std::abs(std::log(ratio.interval->high));
  return {std::min(a, b), std::max(a, b)};
}

// The switch of that end whose effect is surest.
const EndSwitch* Strongest(const Contrast& contrast, bool receiver) {
  const EndSwitch* strongest = nullptr;
  for (const EndSwitch& one : contrast.switches) {
    if (one.receiver != receiver || !Told(one.ratio)) continue;
    if (strongest == nullptr ||
        SizeOf(*one.ratio).low > SizeOf(*strongest->ratio).low) {
      strongest = &one;
    }
  }
  return strongest;
}

bool Tested(const Contrast& contrast, bool receiver) {
  return std::any_of(contrast.switches.begin(), contrast.switches.end(),
                     [receiver](const EndSwitch& one) {
                       return one.receiver == receiver && one.ratio;
                     });
}

std::string BothText(const Contrast& contrast) {
  const EndSwitch* receiver = Strongest(contrast, true);
  const EndSwitch* sender = Strongest(contrast, false);
  const Interval r = SizeOf(*receiver->ratio), s = SizeOf(*sender->ratio);
  const std::string text = "Both ends make a difference";
  if (r.low > s.high) return text + ", the receiver the larger";
  if (s.low > r.high) return text + ", the sender the larger";
  return text + "; which makes more cannot be told";
}

// One end makes a difference; the other makes none, or was not tested.
std::string OneText(const Contrast& contrast, bool receiver) {
  const char* end = receiver ? "receiver" : "sender";
  const char* other = receiver ? "sender" : "receiver";
  if (Tested(contrast, !receiver)) {
    return fmt::format("The {} makes the difference, not the {}", end, other);
  }
  return fmt::format(
      "The {} makes a difference; whether the {} does as well was not tested",
      end, other);
}

std::string NotKnownText(const Contrast& contrast) {
  for (const bool receiver : {true, false}) {
    if (!Tested(contrast, receiver)) continue;
    return fmt::format(
        "The {} makes no difference that can be told; whether the {} does was "
        "not tested",
        receiver ? "receiver" : "sender", receiver ? "sender" : "receiver");
  }
  return "Which end makes the difference was not tested";
}

std::string AnswerText(const Contrast& contrast) {
  switch (contrast.answer) {
    case EndAnswer::kBoth:
      return BothText(contrast);
    case EndAnswer::kReceiver:
      return OneText(contrast, true);
    case EndAnswer::kSender:
      return OneText(contrast, false);
    case EndAnswer::kNeither:
      return "Not distinguishable: neither end makes a difference that can be "
             "told";
    case EndAnswer::kNotKnown:
      break;
  }
  return NotKnownText(contrast);
}

// A ratio of one or two blocks says neither that there is a difference nor that
// there is none.
constexpr const char* kTooFew = ", too few blocks to tell it from 1";

// "0.621× (0.601–0.642) with Linux sending".
std::string OneSwitch(const Contrast& contrast, const EndSwitch& one) {
  const Ratio& ratio = *one.ratio;
  const std::string who =
      fmt::format("with {} {}", Brief(contrast.systems[one.fixed]),
                  one.receiver ? "sending" : "receiving");
  const std::string figure = FormatNumber(ratio.median) + "×";
  if (Told(one.ratio)) {
    return fmt::format("{}{} {}", figure, InBrackets(ratio), who);
  }
  if (!ratio.interval) return fmt::format("{} {}{}", figure, who, kTooFew);
  return fmt::format("no difference that can be told {}, {}{}", who, figure,
                     InBrackets(ratio));
}

// Of one end, with each system held fixed at the other.
std::vector<std::string> SwitchesOf(const Contrast& contrast, bool receiver) {
  std::vector<std::string> parts;
  for (const EndSwitch& one : contrast.switches) {
    if (one.receiver == receiver && one.ratio) {
      parts.push_back(OneSwitch(contrast, one));
    }
  }
  return parts;
}

// "Throughput with Windows in place of Linux as the receiver: ...; as the
// sender: ...". Empty where no end was changed alone.
std::string Switches(const Contrast& contrast) {
  const std::string what =
      fmt::format("{} with {} in place of {}",
                  contrast.rounds ? "Median round trip" : "Throughput",
                  Brief(contrast.systems[1]), Brief(contrast.systems[0]));
  std::string text;
  for (const bool receiver : {true, false}) {
    const std::vector<std::string> parts = SwitchesOf(contrast, receiver);
    if (parts.empty()) continue;
    text +=
        fmt::format("{} as the {}: {}", text.empty() ? what : ";",
                    receiver ? "receiver" : "sender", fmt::join(parts, ", "));
  }
  return text;
}

// Directions that stand in the way of a switch.
std::string MissingText(const Contrast& contrast) {
  std::set<std::size_t> missing;
  for (const EndSwitch& one : contrast.switches) {
    if (one.ratio) continue;
    missing.insert(one.missing.begin(), one.missing.end());
  }
  if (missing.empty()) return {};
  std::vector<std::string> names;
  bool same = false;
  for (const std::size_t direction : missing) {
    names.push_back(BriefDirection(contrast, direction));
    same = same || direction == 0 || direction == 3;
  }
  return fmt::format(
      " Missing: {}.{}", fmt::join(names, ", "),
      same ? " A direction between two hosts of one system takes a second such "
             "host."
           : "");
}

// All that can be said where no end could be changed alone.
std::string AgainstBase(const Contrast& contrast) {
  std::string text;
  for (std::size_t d = 0; d < kDirections; ++d) {
    const auto& ratio = contrast.directions[d].ratio;
    if (!ratio.has_value()) continue;
    text += fmt::format(
        " {} gives {}, against {}.", BriefDirection(contrast, d),
        SwitchText(contrast, *ratio), BriefDirection(contrast, contrast.base));
  }
  return text;
}

std::string HostNames(const RunRecord& run, const ContrastSystem& system) {
  std::vector<std::string> names;
  for (const RecordedHost& host : run.hosts) {
    if (host.os == system.os && host.stack == system.stack) {
      names.push_back(Printable(host.name));
    }
  }
  return names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
}

std::string SpeedText(const Contrast& contrast, double value) {
  if (!contrast.rounds) return FormatByteRate(value);
  return FormatDuration(Nanoseconds{std::llround(value)});
}

Card CardOf(const Contrast& contrast, const EndSwitch& one) {
  const std::string end = one.receiver ? "receiver" : "sender";
  const std::string what = contrast.rounds ? "median round trip" : "throughput";
  const std::string where = fmt::format(
      "with {} in place of {} as the {}, {} {}", Brief(contrast.systems[1]),
      Brief(contrast.systems[0]), end, Brief(contrast.systems[one.fixed]),
      one.receiver ? "sending" : "receiving");
  const std::string range = one.ratio->interval.has_value()
                                ? "; 95 %: " + RatioRange(*one.ratio->interval)
                                : kTooFew;
  if (!Told(one.ratio) && one.ratio->interval.has_value()) {
    return {"no difference",
            fmt::format("of {} can be told {}{}", what, where, range)};
  }
  return {fmt::format("{}×", FormatNumber(one.ratio->median)),
          fmt::format("the {} {}{}", what, where, range)};
}

// Of the switches of one end the surest, else any that was made.
const EndSwitch* ForCard(const Contrast& contrast, bool receiver) {
  if (const EndSwitch* strongest = Strongest(contrast, receiver)) {
    return strongest;
  }
  for (const EndSwitch& one : contrast.switches) {
    if (one.receiver == receiver && one.ratio) return &one;
  }
  return nullptr;
}

// Where no end was changed alone, what the other direction is to the base.
void AddDirectionCard(const Contrast& contrast, std::vector<Card>& cards) {
  for (std::size_t d = 0; d < kDirections; ++d) {
    const auto& ratio = contrast.directions[d].ratio;
    if (!ratio.has_value()) continue;
    const std::string words = fmt::format(
        "{} from {} against {}{}",
        contrast.rounds ? "median round trip" : "throughput",
        BriefDirection(contrast, d), BriefDirection(contrast, contrast.base),
        ratio->interval.has_value() ? "; 95 %: " + RatioRange(*ratio->interval)
                                    : kTooFew);
    cards.push_back(
        Told(ratio) || !ratio->interval
            ? Card{FormatNumber(ratio->median) + "×", "the " + words}
            : Card{"no difference", "can be told: " + words});
    return;
  }
}

}  // namespace

std::string BriefDirection(const Contrast& contrast, std::size_t direction) {
  return fmt::format("{} to {}", Brief(SenderOf(contrast, direction)),
                     Brief(ReceiverOf(contrast, direction)));
}

std::string FullDirection(const Contrast& contrast, std::size_t direction) {
  return fmt::format("{} → {}", Printable(SenderOf(contrast, direction).name),
                     Printable(ReceiverOf(contrast, direction).name));
}

std::string WhoIsWho(const Analysis& analysis, const Contrast& contrast) {
  const RunRecord& run = analysis.runs[contrast.run];
  std::vector<std::string> parts;
  for (const ContrastSystem& system : contrast.systems) {
    parts.push_back(fmt::format("{} is {}{}", Brief(system),
                                Printable(system.name),
                                HostNames(run, system)));
  }
  return fmt::format(
      "{}. Two hosts may differ in more than their systems: see Hosts.",
      fmt::join(parts, "; "));
}

std::string SwitchText(const Contrast& contrast, const Ratio& ratio) {
  const std::string figure = fmt::format("{}×", FormatNumber(ratio.median));
  if (!ratio.interval) return figure + kTooFew;
  if (ratio.verdict == Verdict::kNotDistinguishable) {
    return fmt::format("no difference that can be told: {}{}", figure,
                       InBrackets(ratio));
  }
  return fmt::format("{} the {}{}", figure,
                     contrast.rounds ? "median round trip" : "throughput",
                     InBrackets(ratio));
}

std::string EndSentence(const Contrast& contrast) {
  const std::string switches = Switches(contrast);
  const std::string figures =
      switches.empty() ? AgainstBase(contrast) : fmt::format(" {}.", switches);
  return AnswerText(contrast) + "." + figures + MissingText(contrast);
}

std::string DirectionsSentence(const Contrast& contrast) {
  std::optional<std::size_t> high, low;
  const auto median = [&](std::size_t d) {
    return contrast.directions[d].figures[0]->median;
  };
  for (std::size_t d = 0; d < kDirections; ++d) {
    if (!contrast.directions[d].figures[0].has_value()) continue;
    if (!high || median(d) > median(*high)) high = d;
    if (!low || median(d) < median(*low)) low = d;
  }
  if (!high) {
    return fmt::format("No direction has a {} to compare.",
                       contrast.rounds ? "round trip" : "throughput");
  }
  const char* what = contrast.rounds ? "median round trip" : "throughput";
  if (*high == *low) {
    return fmt::format("Only {} has a {}: {}.", BriefDirection(contrast, *high),
                       what, SpeedText(contrast, median(*high)));
  }
  return fmt::format(
      "The {} is highest from {} ({}) and lowest from {} ({}), the geometric "
      "mean over {}.",
      what, BriefDirection(contrast, *high), SpeedText(contrast, median(*high)),
      BriefDirection(contrast, *low), SpeedText(contrast, median(*low)),
      Count(contrast.cases, "case"));
}

// Directions at sizes of write, and the one that parts most from the base.
struct WritesApart {
  const Ratio* most = nullptr;  // Empty: none can be told from it.
  std::size_t direction = 0;
  std::int64_t write = 0;
  std::size_t points = 0, told = 0;  // With an interval; of these, told apart.

  void Take(const WriteRatio& at, std::size_t d) {
    const auto& ratio = at.ratios[d];
    if (!ratio || !ratio->interval) return;
    ++points;
    if (!Told(ratio)) return;
    ++told;
    if (most != nullptr && SizeOf(*ratio).low <= SizeOf(*most).low) return;
    most = &*ratio;
    direction = d;
    write = at.write;
  }
};

std::string WritesSentence(const Contrast& contrast) {
  WritesApart apart;
  for (const WriteRatio& at : contrast.by_write) {
    for (std::size_t d = 0; d < kDirections; ++d) apart.Take(at, d);
  }
  if (apart.points == 0) {
    return "No size of write has the three blocks that an interval takes.";
  }
  const std::string points =
      Count(static_cast<long long>(apart.points), "comparison");
  if (apart.most == nullptr) {
    return fmt::format(
        "At no size of write can a direction be told from {}, in {}.",
        BriefDirection(contrast, contrast.base), points);
  }
  return fmt::format(
      "{} parts most from {} at {} a write: {}×{}; told apart in {} of {}.",
      BriefDirection(contrast, apart.direction),
      BriefDirection(contrast, contrast.base), FormatBytes(Bytes{apart.write}),
      FormatNumber(apart.most->median), InBrackets(*apart.most), apart.told,
      points);
}

void AddContrastCards(const Analysis& analysis, std::vector<Card>& cards) {
  if (analysis.contrasts.empty()) return;
  const Contrast& contrast = analysis.contrasts.front();
  for (const bool receiver : {true, false}) {
    const EndSwitch* one = ForCard(contrast, receiver);
    if (one != nullptr) cards.push_back(CardOf(contrast, *one));
  }
  if (cards.empty()) AddDirectionCard(contrast, cards);
}

}  // namespace wiretoll
