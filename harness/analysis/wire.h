// What a trial put on the wire, from whoever saw it (docs/design.md 7).
#ifndef WIRETOLL_HARNESS_ANALYSIS_WIRE_H_
#define WIRETOLL_HARNESS_ANALYSIS_WIRE_H_

#include <string>

#include "harness/samples/sample.h"

namespace wiretoll {

// Prefers the receiving end's counters, else takes the sending end's, and
// reconciles both where both are there. So one end that counts is enough: it
// sees for a peer that does not. Where the sender does not tell its
// retransmissions, payload is what was read, and the reason says so. Layer 2
// and 1 are exact where no segment can have been padded (with timestamps even
// one byte of payload fills a minimum frame) and bounds otherwise. Counts the
// direction that carries the sender's payload; handshake and FIN are left out.
//
// With a capture that is whole, not partial, the figures are the capture's, and
// exact to layer 1; the ends' counts stand beside them. Null: there is none.
Wire AccountWire(const EndReport& sender, const EndReport& receiver,
                 int ip_version, const CaptureRecord* capture = nullptr);

// How a capture's count of data segments stands to the ends' own.
enum class CaptureMatch {
  kNotHeld,  // There is no capture, or no end counted: nothing to hold it
             // against.
  kPartial,  // It is not whole.
  kEqual,    // To both ends' counts, or to the one there is.
  kDifferent,
};
struct CaptureAgreement {
  CaptureMatch match = CaptureMatch::kNotHeld;
  // "equal", or what differs and why: loss before or behind the capture and
  // retransmissions for it, packets that an offload had joined, segments that
  // the capture missed. Where nothing that was counted tells: "cause not
  // known".
  std::string words;
};
CaptureAgreement HoldAgainstCapture(const Wire& wire,
                                    const CaptureRecord& capture);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_WIRE_H_
