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

// Fisher and Yates.
void Shuffle(std::vector<PlannedTrial>& trials, Random random) {
  for (std::size_t left = trials.size(); left > 1; --left) {
    const auto drawn = static_cast<std::size_t>(random.Below(left));
    std::swap(trials[left - 1], trials[drawn]);
  }
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
                                    const std::vector<Pair>& pairs, int block,
                                    std::uint64_t seed) {
  std::vector<PlannedTrial> trials;
  for (std::size_t s = 0; s < studies.size(); ++s) {
    for (std::size_t c = 0; c < studies[s].cases.size(); ++c) {
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        trials.push_back({fmt::format("{}/{}/{}:{}/{}", studies[s].name,
                                      studies[s].cases[c].id, pairs[p].sender,
                                      pairs[p].receiver, block),
                          s, c, p, block, 0});
      }
    }
  }
  // Mixed, so that neighbouring seeds and blocks have nothing in common.
  const auto number = static_cast<std::uint64_t>(block);
  Shuffle(trials, Random(Random::Mix(seed) + Random::Mix(~number)));
  std::int64_t order = static_cast<std::int64_t>(trials.size()) *
                       static_cast<std::int64_t>(block);
  for (PlannedTrial& trial : trials) trial.order = order++;
  return trials;
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
