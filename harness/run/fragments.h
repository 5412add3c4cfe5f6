// Into how many fragments a trial's datagrams are cut.
#ifndef WIRETOLL_HARNESS_RUN_FRAGMENTS_H_
#define WIRETOLL_HARNESS_RUN_FRAGMENTS_H_

#include <cstdint>
#include <optional>

#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

// Fills mtu_bytes and fragments_each: of a full datagram, by the MTU of the
// sender's interface (RFC 791 3.2, RFC 8200 4.5). Empty, with the reason,
// where the MTU is not known, or a datagram of that size is refused.
void FillFragments(const Workload& workload, std::optional<std::int64_t> mtu,
                   int ip_version, Datagrams& datagrams);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_FRAGMENTS_H_
