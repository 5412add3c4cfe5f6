// What `wiretoll theory` prints: the cost of payloads, from header formats.
#ifndef WIRETOLL_HARNESS_THEORY_TABLES_H_
#define WIRETOLL_HARNESS_THEORY_TABLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/study/study.h"

namespace wiretoll {

struct TheoryOptions {
  std::vector<Bytes> payloads = {};  // Empty: a default list.
  // Empty: the two rates are left out.
  std::optional<BitsPerSecond> link = std::nullopt;
  int ip_version = 4;
  bool timestamps = true;  // TCP only.
  bool vlan = false;
  Bytes mtu{1500};
};

// One payload handed over in one write. Bytes are sums over its segments (TCP)
// or over the fragments of its datagram (UDP).
struct TheoryRow {
  Transport transport = Transport::kTcp;
  Bytes payload;
  std::int64_t segments = 0;  // Frames on the line.
  Bytes l4, l3, l2, l1;
  double efficiency = 0;  // payload / l1
  // On the link, one such payload after another.
  std::optional<double> payload_rate;  // bytes/s
  std::optional<double> segment_rate;  // segments/s
};

struct TheoryTable {
  TheoryOptions options;
  std::vector<TheoryRow> rows;     // TCP first.
  std::string assumptions;         // One line, with the sources.
  std::vector<std::string> notes;  // "UDP carries no 70000 B: ..."
};

// kUsage: a payload below 1, no such IP version, an MTU that leaves no room.
Outcome<TheoryTable> MakeTheoryTable(const TheoryOptions& options);

// Each ends with a newline.
std::string TheoryText(const TheoryTable& table);
std::string TheoryCsv(const TheoryTable& table);
std::string TheoryJson(const TheoryTable& table);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_TABLES_H_
