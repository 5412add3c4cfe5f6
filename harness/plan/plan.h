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
  // "small-writes/write-1-nagle-on/linux-1:linux-2/0"; of several streams
  // "... /0/stream-2".
  std::string id;
  std::size_t study = 0;
  std::size_t case_index = 0;
  std::size_t pair = 0;
  int repeat = 0;          // The block.
  std::int64_t order = 0;  // Position in the whole run, from 0.
  // Flows that run at once stand together in a block and have this name in
  // common: "s/case/all-to-all/0", "s/case/a:*/0", "s/case/a:b/0". Empty: it
  // runs by itself.
  std::string group;
  int flows = 1;  // Of the group, this one included.
  int index = 0;  // Among them, from 0.
};

// Who may send to whom.
struct Mesh {
  std::vector<std::string> hosts;  // In the order that a ring goes round.
  std::vector<Pair> pairs;
};

// An agent runs so many ends of trials at once at most.
inline constexpr int kMostFlowsOfAHost = 64;

// One block holds every flow of every cell once, groups shuffled by (seed,
// block): the same seed gives the same order everywhere, on every platform and
// library.
std::vector<PlannedTrial> MakeBlock(const std::vector<Study>& studies,
                                    const Mesh& mesh, int block,
                                    std::uint64_t seed);

// kUsage names the case whose topology no pair is left for, or that would have
// a host take part in too many flows at once.
Outcome<Done> CheckTopologies(const std::vector<Study>& studies,
                              const Mesh& mesh);

// Every ordered pair of different hosts, in the order given.
std::vector<Pair> AllPairs(const std::vector<std::string>& hosts);

// "a:b,b:a" over known hosts. kUsage for an unknown host, a host paired with
// itself, a duplicate.
Outcome<std::vector<Pair>> ParsePairs(const std::string& spec,
                                      const std::vector<std::string>& hosts);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PLAN_PLAN_H_
