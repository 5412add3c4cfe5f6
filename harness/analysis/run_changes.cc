#include "harness/analysis/run_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/units.h"

namespace wiretoll {
namespace {

using Names = std::vector<std::string>;
using HostPairs = std::set<std::pair<std::string, std::string>>;

// More hosts than this are matched by their order alone: their orders are too
// many to try.
constexpr std::size_t kMostToTry = 6;

// --- Hosts ----------------------------------------------------------------

std::string SystemOf(const RunRecord& run, const std::string& name) {
  const RecordedHost* host = FindHost(run, name);
  return host == nullptr ? std::string() : host->os;
}

// Hosts that take part in a pair, as the run lists them.
Names HostsOf(const RunRecord& run) {
  Names names;
  for (const RecordedHost& host : run.hosts) {
    const bool takes_part =
        std::any_of(run.pairs.begin(), run.pairs.end(), [&](const auto& pair) {
          return pair.first == host.name || pair.second == host.name;
        });
    if (takes_part) names.push_back(host.name);
  }
  return names;
}

Names NotIn(const Names& names, const Names& others) {
  Names left;
  for (const std::string& name : names) {
    if (std::find(others.begin(), others.end(), name) == others.end()) {
      left.push_back(name);
    }
  }
  return left;
}

// The ways to give each host of `from` one of `to`, all else being settled.
class Ways {
 public:
  Ways(const RunRecord& base, const RunRecord& next, HostMatch settled)
      : base_(base), next_(next), settled_(std::move(settled)) {
    wanted_.insert(next.pairs.begin(), next.pairs.end());
  }

  // The only way, else the listed order if that is one of several.
  // Empty: there is none, or only some that are no better than another.
  std::optional<HostMatch> Best(const Names& from, const Names& to) const {
    for (const bool systems : {true, false}) {
      const bool listed = Keeps(from, to, systems);
      const auto [first, ways] = Search(from, to, systems);
      if (ways == 1) return With(from, first, WhyOnly(systems));
      if (listed) {
        return With(from, to,
                    "the order in which the runs list them, for want of names "
                    "in common");
      }
    }
    return std::nullopt;
  }

 private:
  static const char* WhyOnly(bool systems) {
    return systems ? "the only way that keeps systems and directions"
                   : "the only way that keeps directions";
  }

  [[nodiscard]] std::pair<Names, int> Search(const Names& from, const Names& to,
                                             bool systems) const {
    std::pair<Names, int> found;
    if (to.size() > kMostToTry) return found;
    std::vector<std::size_t> order(to.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      Names names;
      for (const std::size_t i : order) names.push_back(to[i]);
      if (!Keeps(from, names, systems)) continue;
      if (found.second++ == 0) found.first = std::move(names);
    } while (std::next_permutation(order.begin(), order.end()));
    return found;
  }

  [[nodiscard]] HostMatch With(const Names& from, const Names& to,
                               const std::string& why) const {
    HostMatch match = settled_;
    std::string told;
    for (std::size_t i = 0; i < from.size(); ++i) {
      match.hosts[from[i]] = to[i];
      told += fmt::format("{}{} = {}", i == 0 ? "" : ", ", from[i], to[i]);
    }
    match.by_name = false;
    match.how = fmt::format(
        "Hosts are named otherwise in NEW and were matched so (BASE = NEW): "
        "{}; this is {}.",
        told, why);
    return match;
  }

  [[nodiscard]] bool Keeps(const Names& from, const Names& to,
                           bool systems) const {
    std::map<std::string, std::string> hosts = settled_.hosts;
    for (std::size_t i = 0; i < from.size(); ++i) {
      hosts[from[i]] = to[i];
      if (systems && SystemOf(base_, from[i]) != SystemOf(next_, to[i])) {
        return false;
      }
    }
    HostPairs mapped;
    for (const auto& [sender, receiver] : base_.pairs) {
      mapped.emplace(hosts[sender], hosts[receiver]);
    }
    return mapped == wanted_;
  }

  const RunRecord& base_;
  const RunRecord& next_;
  HostMatch settled_;
  HostPairs wanted_;
};

std::string NotMatched(const Names& base, const Names& next) {
  const auto list = [](const Names& names) {
    return names.empty() ? std::string("none")
                         : fmt::format("{}", fmt::join(names, ", "));
  };
  return fmt::format(
      "Not every host was matched: of BASE {}, of NEW {} are left, and no way "
      "of pairing them keeps the pairs that ran. Name hosts alike in both runs "
      "to compare them.",
      list(base), list(next));
}

// --- Facts ----------------------------------------------------------------

// Name and value, in the order of telling.
using Facts = std::vector<std::pair<std::string, ToldFact>>;

ToldFact Told(const std::string& text) {
  if (text.empty()) return {std::nullopt, "not recorded"};
  return {text, {}};
}

ToldFact Told(const RecordedFact& fact) {
  if (fact.number) return {FormatNumber(*fact.number), {}};
  if (const auto* flag = std::get_if<bool>(&fact.value)) {
    return {*flag ? "yes" : "no", {}};
  }
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    return {std::to_string(*number), {}};
  }
  if (const auto* text = std::get_if<std::string>(&fact.value)) {
    return {*text, {}};
  }
  return {std::nullopt, fact.reason.empty() ? "not observed" : fact.reason};
}

std::string Words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// The seed stands apart; with it in, no two commands would be the same.
std::string CommandOf(const RunRecord& run) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < run.command.size(); ++i) {
    if (run.command[i] == "--seed") {
      ++i;
    } else if (!run.command[i].starts_with("--seed=")) {
      kept.push_back(run.command[i]);
    }
  }
  return Words(kept);
}

Facts FactsOfRun(const RunRecord& run) {
  return {{"wiretoll", Told(run.wiretoll_version)},
          {"seed", Told(std::to_string(run.seed))},
          {"blocks asked for", Told(std::to_string(run.repeats))},
          {"precision asked for",
           run.precision ? Told(FormatNumber(*run.precision * 100) + " %")
                         : ToldFact{"none", {}}},
          {"filter", Told(run.filter.empty() ? "none" : run.filter)},
          {"command", Told(CommandOf(run))}};
}

Facts FactsOfLink(const RecordedLink& link) {
  const auto unless_missing = [](const auto& value, const auto& spell) {
    return value ? ToldFact{spell(*value), {}}
                 : ToldFact{std::nullopt, "neither set nor described"};
  };
  Facts facts{
      {"kind", Told(link.kind)},
      {"description", Told(link.description)},
      {"rate",
       unless_missing(link.rate_bits_per_second,
                      [](double rate) { return FormatBitRate({rate}); })},
      {"framing", Told(link.framing)},
      {"MTU",
       unless_missing(link.mtu,
                      [](std::int64_t mtu) { return std::to_string(mtu); })},
      {"delay, each way", unless_missing(link.delay_ns,
                                         [](std::int64_t delay) {
                                           return SpellDuration(
                                               Nanoseconds{delay});
                                         })},
      {"loss", unless_missing(link.loss, [](double loss) {
         return FormatNumber(loss * 100) + " %";
       })}};
  for (const auto& [name, value] : link.settings) {
    // What the lab's check of its line came to differs from run to run.
    if (name == "check" || name.find(" measured") != std::string::npos)
      continue;
    facts.emplace_back(name, Told(value));
  }
  return facts;
}

// A lab names its namespaces anew each time, so how its agents are started
// tells nothing.
Facts FactsOfHost(const RecordedHost& host, bool of_lab) {
  Facts facts{{"system", Told(host.os)},
              {"stack", Told(host.stack)},
              {"description", Told(host.description)},
              {"address", Told(host.address)},
              {"agent", Told(host.agent_version)}};
  if (!of_lab) facts.emplace_back("started by", Told(Words(host.agent)));
  for (const RecordedFact& fact : host.facts) {
    facts.emplace_back(fact.name, Told(fact));
  }
  return facts;
}

ToldFact Find(const Facts& facts, const std::string& name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return {std::nullopt, "not asked for"};
}

class ChangeList {
 public:
  void AddAll(const std::string& where, const Facts& base, const Facts& next) {
    for (const auto& [name, value] : base) {
      Add({where, name, value, Find(next, name)});
    }
    for (const auto& [name, value] : next) {
      // Clang before 16 captures a structured binding by another name only.
      const bool known = std::any_of(
          base.begin(), base.end(),
          [&wanted = name](const auto& fact) { return fact.first == wanted; });
      if (!known) Add({where, name, Find(base, name), value});
    }
  }
  std::vector<ChangedFact> Take() { return std::move(changes_); }

 private:
  void Add(ChangedFact change) {
    // Two reasons for not knowing are no change.
    if (change.base.value == change.next.value) return;
    for (ChangedFact& known : changes_) {
      if (known.name == change.name && known.base == change.base &&
          known.next == change.next && known.where != "run" &&
          known.where != "link") {
        known.where += ", " + change.where;
        return;
      }
    }
    changes_.push_back(std::move(change));
  }

  std::vector<ChangedFact> changes_;
};

}  // namespace

HostMatch MatchHosts(const RunRecord& base, const RunRecord& next) {
  const Names of_base = HostsOf(base);
  const Names of_next = HostsOf(next);
  HostMatch match;
  match.how = "Pairs are matched by the names of their hosts.";
  for (const std::string& name : of_base) {
    if (std::find(of_next.begin(), of_next.end(), name) != of_next.end()) {
      match.hosts.emplace(name, name);
    }
  }
  const Names base_left = NotIn(of_base, of_next);
  const Names next_left = NotIn(of_next, of_base);
  if (base_left.empty() && next_left.empty()) return match;
  if (base_left.size() == next_left.size()) {
    const auto best = Ways(base, next, match).Best(base_left, next_left);
    if (best) return *best;
  }
  match.by_name = false;
  match.how = NotMatched(base_left, next_left);
  return match;
}

std::vector<ChangedFact> ChangedFacts(const RunRecord& base,
                                      const RunRecord& next,
                                      const HostMatch& match) {
  ChangeList changes;
  changes.AddAll("run", FactsOfRun(base), FactsOfRun(next));
  changes.AddAll("link", FactsOfLink(base.link), FactsOfLink(next.link));
  for (const auto& [name, other] : match.hosts) {
    const RecordedHost* before = FindHost(base, name);
    const RecordedHost* after = FindHost(next, other);
    if (before == nullptr || after == nullptr) continue;
    changes.AddAll(name == other ? name : fmt::format("{} = {}", name, other),
                   FactsOfHost(*before, IsOnOneMachine(base.link)),
                   FactsOfHost(*after, IsOnOneMachine(next.link)));
  }
  return changes.Take();
}

}  // namespace wiretoll
