// What became of a trial's datagrams, from what both ends counted.
#ifndef WIRETOLL_HARNESS_SAMPLES_DATAGRAMS_H_
#define WIRETOLL_HARNESS_SAMPLES_DATAGRAMS_H_

#include "harness/base/result.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// The sum is exact: sent = received - duplicated + lost, and where the
// receiver's system tells what its buffer dropped, lost = lost_at_receiver +
// lost_on_path. What cannot be told is empty, with the reason. Fragments and
// MTU are left empty: they are no end's to count.
//
// Failures (kNothingRan): an end that did not count, or more that came than was
// sent. Of datagrams too small for a sequence number a duplicate cannot be
// told, and hides a loss.
Outcome<Datagrams> AccountDatagrams(const EndReport& sender,
                                    const EndReport& receiver);

// Of all kinds.
std::int64_t Total(const NotSent& not_sent);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_DATAGRAMS_H_
