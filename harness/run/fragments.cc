#include "harness/run/fragments.h"

#include <algorithm>

#include "harness/base/words.h"
#include "harness/theory/overhead.h"

namespace wiretoll {

void FillFragments(const Workload& workload, std::optional<std::int64_t> mtu,
                   int ip_version, Datagrams& datagrams) {
  datagrams.mtu_bytes = mtu;
  // No link of IP has less: RFC 791 3.2.
  constexpr std::int64_t kLeastMtu = 68;
  if (!mtu || *mtu < kLeastMtu) {
    return AddClause("the MTU of the sender's interface is not known",
                     datagrams.reason);
  }
  const HeaderStack stack{ip_version, Transport::kUdp, false, false};
  const Bytes size = std::min(workload.write, BlockOf(workload));
  const auto cost = CostOfDatagram(size, Bytes{*mtu}, stack);
  if (!cost) {
    return AddClause("no datagram of IP is that large", datagrams.reason);
  }
  if (cost->fragments > 1 && workload.dont_fragment.value_or(false)) {
    return AddClause(
        "larger than the MTU takes, and not to be cut into fragments",
        datagrams.reason);
  }
  datagrams.fragments_each = cost->fragments;
}

}  // namespace wiretoll
