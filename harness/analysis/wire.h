// What a trial put on the wire, from whoever saw it (docs/design.md 7).
#ifndef WIRETOLL_HARNESS_ANALYSIS_WIRE_H_
#define WIRETOLL_HARNESS_ANALYSIS_WIRE_H_

#include "harness/samples/sample.h"

namespace wiretoll {

// Prefers the receiving end's counters, else takes the sending end's, and
// reconciles both where both are there. So one end that counts is enough: it
// sees for a peer that does not. Where the sender does not tell its
// retransmissions, payload is what was read, and the reason says so. Layer 2
// and 1 are exact where no segment can have been padded (with timestamps even
// one byte of payload fills a minimum frame) and bounds otherwise. Counts the
// direction that carries the sender's payload; handshake and FIN are left out.
Wire AccountWire(const EndReport& sender, const EndReport& receiver,
                 int ip_version);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_WIRE_H_
