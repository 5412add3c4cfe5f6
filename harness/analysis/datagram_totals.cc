#include "harness/analysis/datagram_totals.h"

#include <algorithm>

namespace wiretoll {
namespace {

using MaybeCount = std::optional<std::int64_t>;

// A sum of which a part is not known is not known.
MaybeCount Add(const MaybeCount& a, const MaybeCount& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

MaybeCount IfEqual(const MaybeCount& a, const MaybeCount& b) {
  return a == b ? a : std::nullopt;
}

DatagramTotals OfTrial(const Sample& sample) {
  const Datagrams& datagrams = *sample.datagrams;
  DatagramTotals totals;
  totals.trials = 1;
  totals.sent = datagrams.sent;
  totals.received = datagrams.received;
  totals.lost = datagrams.lost;
  totals.not_sent = datagrams.not_sent;
  if (sample.sender && sample.sender->datagrams &&
      sample.sender->datagrams->not_sent) {
    totals.no_buffers = sample.sender->datagrams->not_sent->no_buffers;
  }
  totals.duplicated = datagrams.duplicated;
  totals.reordered = datagrams.reordered;
  totals.late = datagrams.late;
  totals.lost_at_receiver = datagrams.lost_at_receiver;
  totals.lost_on_path = datagrams.lost_on_path;
  totals.fragments_each = datagrams.fragments_each;
  totals.mtu_bytes = datagrams.mtu_bytes;
  totals.reason = datagrams.reason;
  if (!sample.receiver || !sample.receiver->datagrams) return totals;
  const DatagramReport& report = *sample.receiver->datagrams;
  if (report.jitter_rfc3550_ns) {
    totals.jitter_rfc3550_ns = *report.jitter_rfc3550_ns;
    totals.with_jitter = 1;
  }
  totals.delay_error_ns = report.delay_error_ns;
  return totals;
}

// Mean over the trials that have one.
void AddJitter(const DatagramTotals& from, DatagramTotals& to) {
  if (!from.jitter_rfc3550_ns) return;
  const int trials = to.with_jitter + from.with_jitter;
  const double before = to.jitter_rfc3550_ns.value_or(0);
  to.jitter_rfc3550_ns =
      before + (*from.jitter_rfc3550_ns - before) * from.with_jitter / trials;
  to.with_jitter = trials;
}

}  // namespace

DatagramTotals Sum(const DatagramTotals& a, const DatagramTotals& b) {
  DatagramTotals sum = a;
  sum.trials += b.trials;
  sum.sent += b.sent;
  sum.received += b.received;
  sum.lost += b.lost;
  sum.not_sent += b.not_sent;
  sum.no_buffers += b.no_buffers;
  for (const auto field :
       {&DatagramTotals::duplicated, &DatagramTotals::reordered,
        &DatagramTotals::late, &DatagramTotals::lost_at_receiver,
        &DatagramTotals::lost_on_path}) {
    sum.*field = Add(a.*field, b.*field);
  }
  sum.fragments_each = IfEqual(a.fragments_each, b.fragments_each);
  sum.mtu_bytes = IfEqual(a.mtu_bytes, b.mtu_bytes);
  AddJitter(b, sum);
  // An empty one orders before all numbers.
  sum.delay_error_ns = std::max(a.delay_error_ns, b.delay_error_ns);
  if (sum.reason.empty()) sum.reason = b.reason;
  return sum;
}

void AddDatagrams(const Sample& sample, std::optional<DatagramTotals>& totals) {
  if (!sample.datagrams) return;
  const DatagramTotals trial = OfTrial(sample);
  totals = totals ? Sum(*totals, trial) : trial;
}

std::optional<DatagramFates> FatesOf(const DatagramTotals& totals) {
  const auto all = static_cast<double>(totals.sent + totals.not_sent);
  if (!(all > 0)) return std::nullopt;
  const auto share = [all](std::int64_t count) {
    return static_cast<double>(count) / all;
  };
  DatagramFates fates;
  fates.received = share(totals.sent - totals.lost);
  fates.no_buffers = share(totals.no_buffers);
  fates.not_sent_otherwise = share(totals.not_sent - totals.no_buffers);
  if (totals.lost_at_receiver && totals.lost_on_path) {
    fates.lost_at_receiver = share(*totals.lost_at_receiver);
    fates.lost_on_path = share(*totals.lost_on_path);
  } else {
    fates.lost_somewhere = share(totals.lost);
  }
  return fates;
}

}  // namespace wiretoll
