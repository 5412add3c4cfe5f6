// A captured trial before the rules of sending: what the program wrote and
// what was acknowledged, as the sender's TCP had them.
#ifndef WIRETOLL_HARNESS_ANALYSIS_REPLAY_H_
#define WIRETOLL_HARNESS_ANALYSIS_REPLAY_H_

#include <cstdint>
#include <vector>

#include "harness/base/result.h"
#include "harness/capture/call_log.h"
#include "harness/capture/timeline.h"
#include "harness/samples/sample.h"
#include "harness/theory/nagle_replay.h"

namespace wiretoll {

// Payload of the client's full segments: the smaller of the MSS that both ends
// offered (RFC 9293 3.7.1), less the 12 bytes of timestamps where they are in
// use (RFC 6691 2). Without the SYNs the largest payload of one frame. Empty
// without either.
Observed<std::int64_t> FullSegmentOf(const Timeline& timeline);

// How long a frame takes between the place of the capture and the client:
// half of what passed between SYN-ACK and the handshake's ACK. 0 below 1 ms,
// which is the client's own work, and where the handshake was not seen.
std::int64_t WayToClientNs(const Timeline& timeline);

struct CapturedSend {
  ReplayInput input;
  // First sendings by rising offset, joined packets split by the MSS. Times,
  // like those of the ACKs, as the client's TCP had them.
  std::vector<ReplaySegment> seen;
};

// Of the direction from client to server, with an initial congestion window of
// 10 segments. A write that took longer than 1 ms may have waited for room: it
// counts as handed over when it returned, or when its first byte was seen, if
// that was before. Empty, with the reason, where calls were not logged or left
// out, the begin is not in the capture, or the calls are by another clock: a
// segment on the wire more than 1 ms before its bytes were written, or the
// first later than 1 s after that.
Observed<CapturedSend> CapturedSendOf(const Timeline& timeline,
                                      const CallLog& calls);

// Fills replay_at_once, replay_classic, replay_minshall and followed_rule.
// Where they stay empty `reason` gets why.
void FillReplay(const Timeline& timeline, const CallLog& calls,
                CaptureRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_REPLAY_H_
