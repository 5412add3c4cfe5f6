// Which fields of a sample are null, and why.
#ifndef WIRETOLL_HARNESS_EXPORT_UNOBSERVED_H_
#define WIRETOLL_HARNESS_EXPORT_UNOBSERVED_H_

#include <optional>
#include <string_view>
#include <vector>

#include "harness/samples/sample.h"

namespace wiretoll {

// Views of the sample, or of what lives as long as the program. The field's
// name is `part` and `field`: "counters." and "rtt_ns", as samples.jsonl has
// it.
struct Unobserved {
  std::string_view part;
  std::string_view field;
  std::string_view reason;
};

// Throughput as reports have it: what the receiver got after its first read,
// by its own clock (docs/samples.md).
struct Goodput {
  std::optional<double> bits_per_s;
  std::string_view reason;  // Set exactly where there is none.
};

// `line_bits_per_s`: what the link carries. None of a trial that is not ok, of
// a request-response, and where it came faster than the line.
Goodput GoodputOf(const Sample& sample, std::optional<double> line_bits_per_s);

// Each replaces what `out` held.
void ListUnobserved(const EndReport& end, std::vector<Unobserved>& out);
// Of what is neither end's.
void ListUnobserved(const Sample& sample, const Goodput& goodput,
                    std::vector<Unobserved>& out);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_UNOBSERVED_H_
