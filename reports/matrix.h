// Every system against every other: what leads a report of three or more.
#ifndef WIRETOLL_REPORTS_MATRIX_H_
#define WIRETOLL_REPORTS_MATRIX_H_

#include <optional>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Senders by receivers, streams only: throughput and writes a segment, each the
// geometric mean over the cases that all pairs of systems have, of medians over
// blocks. Nothing where fewer than three systems met.
std::optional<Section> MatrixSection(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_MATRIX_H_
