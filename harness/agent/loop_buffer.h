// Where the bytes of a measuring loop lie.
#ifndef WIRETOLL_HARNESS_AGENT_LOOP_BUFFER_H_
#define WIRETOLL_HARNESS_AGENT_LOOP_BUFFER_H_

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <vector>

namespace wiretoll {

inline constexpr std::size_t kCacheLine = 64;

// Begins at a cache line: the kernel copies large writes and reads up to a
// fifth faster from and to there than 16 bytes behind a page's start, where
// large allocations lie otherwise (docs/decisions/0007).
using LoopBuffer =
    std::vector<std::byte,
                boost::alignment::aligned_allocator<std::byte, kCacheLine>>;

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_LOOP_BUFFER_H_
