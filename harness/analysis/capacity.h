// Where one trial's line capacity went.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CAPACITY_H_
#define WIRETOLL_HARNESS_ANALYSIS_CAPACITY_H_

#include <string>

#include "harness/analysis/analysis.h"
#include "harness/base/result.h"

namespace wiretoll {

// The line could have carried rate x time bytes, the time being the longest of
// the sender's, the receiver's and what the bytes on the line took (a shaper's
// first burst is faster than its rate). What it carried is told apart by
// counts: payload that was read, headers, retransmissions (each at the mean
// size of a frame), and the rest of layer 1. What it did not carry goes, as
// far as there is of it, to
//   the program:  time with nothing unacknowledged or unsent (not busy): the
//                 sender's, or the receiver's that reads on after the last
//                 byte has come,
//   the window:   time that the kernel counted as limited by the peer's window,
//   the ACK:      all that is left: busy, and nothing on the line. The send
//                 buffer's limit is here too: room in it comes with an ACK.
Observed<Capacity> CapacityOf(const Sample& sample,
                              std::optional<double> rate_bits_per_second);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CAPACITY_H_
