// The published experiment as a table.
#ifndef WIRETOLL_HARNESS_NS3_TABLE_H_
#define WIRETOLL_HARNESS_NS3_TABLE_H_

#include <cstdint>
#include <cstdio>
#include <vector>

#include "harness/base/result.h"
#include "harness/ns3/world.h"

namespace wiretoll {

struct TableSpec {
  sim::WorldSpec world;
  std::vector<std::int64_t> packets = {10,    100,   10000, 20000, 30000, 40000,
                                       50000, 60000, 70000, 80000, 90000};
  std::optional<std::int64_t> segment_bytes;  // TCP.
  std::optional<std::int64_t> buffer_bytes;   // TCP.
};

// Runs the points of TCP, then those of UDP, all in this process, which must
// not have simulated before; writes each as a line of CSV as it is done. That
// order is part of the experiment: random numbers go on from point to point.
ExitCode PrintTable(const TableSpec& spec, std::FILE* out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_TABLE_H_
