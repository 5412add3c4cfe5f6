// What a UDP trial put on the wire (docs/design.md 7).
#ifndef WIRETOLL_HARNESS_ANALYSIS_UDP_WIRE_H_
#define WIRETOLL_HARNESS_ANALYSIS_UDP_WIRE_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Exact at layers 3 to 1 from the datagrams that the sender's calls handed to
// its network layer, their sizes and the fragments that its MTU makes of them
// (RFC 768, RFC 791 3.2); what the host itself dropped behind that without a
// word is counted in. data_segments are IP packets: fragments count one each.
// With a capture that is whole the figures are the capture's. UDP has neither
// ACKs nor retransmissions: those stay empty, with that reason. Requires both
// ends' reports and sample.datagrams.
Wire AccountUdpWire(const Sample& sample, int ip_version);

// Fills the figures of the capture's UDP flow with the most payload, in the
// direction that sent first. kUsage: the file cannot be read, is no capture, or
// holds no such flow.
Outcome<Done> FillUdpCaptureFigures(const std::filesystem::path& capture,
                                    CaptureRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_UDP_WIRE_H_
