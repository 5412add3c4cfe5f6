// What a receiver's window had a captured sender wait for: how a closed window
// opens, and what ends the wait for a larger one.
#ifndef WIRETOLL_HARNESS_ANALYSIS_WINDOW_WAITS_H_
#define WIRETOLL_HARNESS_ANALYSIS_WINDOW_WAITS_H_

#include "harness/capture/timeline.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Of the direction from client to server. Fills
//   window_reopened_bytes: of the windows that opened a closed one, the least
//     (RFC 9293 3.8.6.2.2);
//   silly_wait_ns: of the waits for a larger window that the sender's timer
//     ended, since with nothing new from the peer for 100 ms or more it sent
//     just what there was room for, the shortest (RFC 9293 3.8.6.2.1);
//   persist_wait_ns: from a window's closing, or the last byte sent into it, to
//     the first probe of it, the shortest (RFC 9293 3.8.6.1).
// Each stays empty where the capture shows no such thing.
void FillWindowWaits(const Timeline& timeline, CaptureRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_WINDOW_WAITS_H_
