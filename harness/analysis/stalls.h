// Where a connection stood still, and the mechanism behind each stand-still.
#ifndef WIRETOLL_HARNESS_ANALYSIS_STALLS_H_
#define WIRETOLL_HARNESS_ANALYSIS_STALLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/analysis/story.h"

namespace wiretoll {

// "0.052 ms", "43.7 ms", "205 ms", "1696 ms".
std::string Milliseconds(std::int64_t ns);
// "1 byte", "1448 bytes".
std::string BytesInWords(std::int64_t bytes);

// Carries payload that is no window probe.
bool IsData(const TimelineSegment& segment);
// True if the server sends data: a request-response.
bool ServerSends(const Timeline& timeline);

// What passed between the SYN and the handshake's last ACK, a round trip
// wherever it was captured; 0 where those were not seen.
std::int64_t HandshakeNs(const Timeline& timeline);

// What a gap has to be longer than to be called a stall.
std::int64_t StallThresholdNs(const Timeline& timeline,
                              const StoryLimits& limits);

// By time, since `story.start_ns`, from the story's timeline and calls.
//
// A stall ends with a data segment, and is what kept that: an earlier copy was
// lost; its bytes had not been written (three quarters of the stall went by
// before they were, by the calls); the window was closed, or too small for it;
// it was a partial segment and left as the ACK of an earlier one came
// (Nagle), which is called delayed from 30 ms beyond the handshake's round
// trip on, without data of its own; or it left as another ACK came, with more
// in flight. Where nothing of that was seen it is unexplained.
std::vector<Stall> FindStalls(const Story& story, const StoryLimits& limits);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_STALLS_H_
