// What a trial's capture counted, for its sample.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CAPTURE_FIGURES_H_
#define WIRETOLL_HARNESS_ANALYSIS_CAPTURE_FIGURES_H_

#include "harness/capture/timeline.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Fills the counts and bytes of the direction from client to server, and the
// server's ACKs: as CaptureRecord describes them. What makes the time line
// partial is added to record.partial. Probes, SYN and FIN are no data segments.
void FillCaptureFigures(const Timeline& timeline, CaptureRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CAPTURE_FIGURES_H_
