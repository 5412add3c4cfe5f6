#include "harness/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace wiretoll {
namespace {

// SplitMix64 (Steele, Lea and Flood, 2014): a counter through a mixer. Written
// out because the standard library's shuffle and distributions differ from one
// library to the next.
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}

  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    return Mix(state_);
  }

  // Uniform over 0 to bound - 1. Requires bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    // The lowest 2^64 mod bound numbers are drawn again: without them every
    // remainder is as likely as any other.
    const std::uint64_t surplus = (0 - bound) % bound;
    std::uint64_t drawn = Next();
    while (drawn < surplus) drawn = Next();
    return drawn % bound;
  }

  static std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

// What runs at once: a trial alone, or all flows of a group.
using Unit = std::vector<PlannedTrial>;

// Fisher and Yates.
void Shuffle(std::vector<Unit>& units, Random random) {
  for (std::size_t left = units.size(); left > 1; --left) {
    const auto drawn = static_cast<std::size_t>(random.Below(left));
    std::swap(units[left - 1], units[drawn]);
  }
}

// Pairs (indexes) that run at once, and what that is called in a group's name.
struct Together {
  std::string name;
  std::vector<std::size_t> pairs;
};

std::vector<Together> EachPair(const std::vector<Pair>& pairs) {
  std::vector<Together> sets;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    sets.push_back(
        {fmt::format("{}:{}", pairs[p].sender, pairs[p].receiver), {p}});
  }
  return sets;
}

std::vector<Together> AllOfThem(const std::vector<Pair>& pairs) {
  Together all{"all-to-all", {}};
  for (std::size_t p = 0; p < pairs.size(); ++p) all.pairs.push_back(p);
  if (all.pairs.empty()) return {};
  return {all};
}

std::vector<Together> EachSender(const Mesh& mesh) {
  std::vector<Together> sets;
  for (const std::string& host : mesh.hosts) {
    Together set{host + ":*", {}};
    for (std::size_t p = 0; p < mesh.pairs.size(); ++p) {
      if (mesh.pairs[p].sender == host) set.pairs.push_back(p);
    }
    if (!set.pairs.empty()) sets.push_back(std::move(set));
  }
  return sets;
}

std::vector<Together> RoundTheRing(const Mesh& mesh) {
  Together ring{"ring", {}};
  for (std::size_t h = 0; h < mesh.hosts.size(); ++h) {
    const Pair step{mesh.hosts[h], mesh.hosts[(h + 1) % mesh.hosts.size()]};
    const auto found = std::ranges::find(mesh.pairs, step);
    if (found == mesh.pairs.end()) continue;
    ring.pairs.push_back(static_cast<std::size_t>(found - mesh.pairs.begin()));
  }
  if (ring.pairs.empty()) return {};
  return {ring};
}

std::vector<Together> SetsOf(const Mesh& mesh, Topology topology) {
  switch (topology) {
    case Topology::kPair:
      break;
    case Topology::kAllToAll:
      return AllOfThem(mesh.pairs);
    case Topology::kOneToMany:
      return EachSender(mesh);
    case Topology::kRing:
      return RoundTheRing(mesh);
  }
  return EachPair(mesh.pairs);
}

// A cell of the plan, once.
struct Place {
  std::size_t study = 0;
  std::size_t case_index = 0;
  int block = 0;
};

Unit MakeUnit(const Study& study, const Mesh& mesh, const Place& place,
              const Together& set) {
  const Case& the_case = study.cases[place.case_index];
  const int streams = std::max(1, the_case.workload.streams);
  PlannedTrial trial;
  trial.study = place.study;
  trial.case_index = place.case_index;
  trial.repeat = place.block;
  trial.flows = static_cast<int>(set.pairs.size()) * streams;
  const std::string front = fmt::format("{}/{}/", study.name, the_case.id);
  if (HasFlowsAtOnce(the_case)) {
    trial.group = fmt::format("{}{}/{}", front, set.name, place.block);
  }
  Unit unit;
  for (const std::size_t pair : set.pairs) {
    for (int stream = 0; stream < streams; ++stream) {
      trial.pair = pair;
      trial.id = fmt::format("{}{}:{}/{}", front, mesh.pairs[pair].sender,
                             mesh.pairs[pair].receiver, place.block);
      if (streams > 1) trial.id += fmt::format("/stream-{}", stream);
      trial.index = static_cast<int>(unit.size());
      unit.push_back(trial);
    }
  }
  return unit;
}

// In how many flows of `set` the busiest host takes part.
int MostOfAHost(const Mesh& mesh, const Together& set, int streams) {
  int most = 0;
  for (const std::string& host : mesh.hosts) {
    const auto takes_part = [&](std::size_t pair) {
      return mesh.pairs[pair].sender == host ||
             mesh.pairs[pair].receiver == host;
    };
    const auto flows = std::ranges::count_if(set.pairs, takes_part);
    most = std::max(most, static_cast<int>(flows) * streams);
  }
  return most;
}

Outcome<Done> CheckCase(const Mesh& mesh, const Study& study,
                        const Case& the_case) {
  const std::vector<Together> sets = SetsOf(mesh, the_case.topology);
  const std::string where =
      fmt::format("study {}, case {}", study.name, the_case.id);
  if (sets.empty()) {
    return Failure{
        ExitCode::kUsage,
        fmt::format(
            "{}: --pairs leaves no flow of topology \"{}\"; name more "
            "pairs, or leave --pairs out",
            where,
            kTopologyNames[static_cast<std::size_t>(the_case.topology)])};
  }
  for (const Together& set : sets) {
    const int most = MostOfAHost(mesh, set, the_case.workload.streams);
    if (most <= kMostFlowsOfAHost) continue;
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: a host would take part in {} flows at "
                               "once, and {} is the most; ask for fewer "
                               "streams or pairs",
                               where, most, kMostFlowsOfAHost)};
  }
  return Done{};
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(',', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

Failure BadPair(const std::string& part, const std::string& what) {
  return {ExitCode::kUsage, fmt::format("--pairs: '{}': {}", part, what)};
}

// A host's name may hold a colon: the one that leaves two known hosts counts.
std::optional<Pair> FindPair(const std::string& part,
                             const std::vector<std::string>& hosts) {
  for (std::size_t at = part.find(':'); at != std::string::npos;
       at = part.find(':', at + 1)) {
    Pair pair{part.substr(0, at), part.substr(at + 1)};
    if (std::ranges::count(hosts, pair.sender) > 0 &&
        std::ranges::count(hosts, pair.receiver) > 0) {
      return pair;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<PlannedTrial> MakeBlock(const std::vector<Study>& studies,
                                    const Mesh& mesh, int block,
                                    std::uint64_t seed) {
  std::vector<Unit> units;
  std::int64_t trials = 0;
  for (std::size_t s = 0; s < studies.size(); ++s) {
    for (std::size_t c = 0; c < studies[s].cases.size(); ++c) {
      for (const Together& set : SetsOf(mesh, studies[s].cases[c].topology)) {
        units.push_back(MakeUnit(studies[s], mesh, {s, c, block}, set));
        trials += units.back().front().flows;
      }
    }
  }
  // Mixed, so that neighbouring seeds and blocks have nothing in common.
  const auto number = static_cast<std::uint64_t>(block);
  Shuffle(units, Random(Random::Mix(seed) + Random::Mix(~number)));
  std::vector<PlannedTrial> plan;
  plan.reserve(static_cast<std::size_t>(trials));
  std::int64_t order = trials * block;
  for (Unit& unit : units) {
    for (PlannedTrial& trial : unit) {
      trial.order = order++;
      plan.push_back(std::move(trial));
    }
  }
  return plan;
}

Outcome<Done> CheckTopologies(const std::vector<Study>& studies,
                              const Mesh& mesh) {
  for (const Study& study : studies) {
    for (const Case& the_case : study.cases) {
      if (!HasFlowsAtOnce(the_case)) continue;
      auto checked = CheckCase(mesh, study, the_case);
      if (!checked.has_value()) return checked;
    }
  }
  return Done{};
}

std::vector<Pair> AllPairs(const std::vector<std::string>& hosts) {
  std::vector<Pair> pairs;
  for (const std::string& sender : hosts) {
    for (const std::string& receiver : hosts) {
      if (sender != receiver) pairs.push_back({sender, receiver});
    }
  }
  return pairs;
}

Outcome<std::vector<Pair>> ParsePairs(const std::string& spec,
                                      const std::vector<std::string>& hosts) {
  std::vector<Pair> pairs;
  for (const std::string& part : SplitAtCommas(spec)) {
    const std::optional<Pair> pair = FindPair(part, hosts);
    if (!pair.has_value()) {
      return BadPair(part,
                     fmt::format("no sender:receiver of known hosts; they are: "
                                 "{}",
                                 fmt::join(hosts, ", ")));
    }
    if (pair->sender == pair->receiver) {
      return BadPair(part, "a host is not paired with itself; name two hosts");
    }
    if (std::ranges::count(pairs, *pair) > 0) {
      return BadPair(part, "stands there twice; name each pair once");
    }
    pairs.push_back(*pair);
  }
  return pairs;
}

}  // namespace wiretoll
