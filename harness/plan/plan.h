// Which trials, in which order.
#ifndef WIRETOLL_HARNESS_PLAN_PLAN_H_
#define WIRETOLL_HARNESS_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/study/study.h"

namespace wiretoll {

struct Pair {
  std::string sender;  // Host names.
  std::string receiver;
  bool operator==(const Pair&) const = default;
};

// One trial: a case, on a pair, once. Indexes point into what the plan was
// made of.
struct PlannedTrial {
  std::string id;  // "small-writes/write-1-nagle-on/linux-1:linux-2/0"
  std::size_t study = 0;
  std::size_t case_index = 0;
  std::size_t pair = 0;
  int repeat = 0;          // The block.
  std::int64_t order = 0;  // Position in the whole run, from 0.
};

// One block holds every cell once, shuffled by (seed, block): the same seed
// gives the same order everywhere, on every platform and library.
std::vector<PlannedTrial> MakeBlock(const std::vector<Study>& studies,
                                    const std::vector<Pair>& pairs, int block,
                                    std::uint64_t seed);

// Every ordered pair of different hosts, in the order given.
std::vector<Pair> AllPairs(const std::vector<std::string>& hosts);

// "a:b,b:a" over known hosts. kUsage for an unknown host, a host paired with
// itself, a duplicate.
Outcome<std::vector<Pair>> ParsePairs(const std::string& spec,
                                      const std::vector<std::string>& hosts);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PLAN_PLAN_H_
