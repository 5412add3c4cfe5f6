// What a capture shows: `wiretoll observe`.
#ifndef WIRETOLL_HARNESS_CAPTURE_OBSERVE_H_
#define WIRETOLL_HARNESS_CAPTURE_OBSERVE_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/capture/capture_reader.h"
#include "harness/capture/flows.h"

namespace wiretoll {

struct Observation {
  std::string file;  // As given.
  CaptureFacts facts;
  CaptureTotals totals;
  std::vector<Flow> flows;  // As FlowTable::Finish() has them.
  // What is missing, doubtful or assumed, a sentence each.
  std::vector<std::string> notes;
};

// Reads `reader` to its end. `on_way` is told how many bytes were read, every
// few thousand frames.
Observation Observe(CaptureReader reader, const std::string& file,
                    const std::function<void(std::int64_t)>& on_way);

// The sentences of Observation::notes; they need the rest of it.
std::vector<std::string> NotesOf(const Observation& seen);

// Which flows are shown: those with this port at either end; where none has
// it, the one with this number, from 1 in the order of `flows`.
struct FlowChoice {
  std::optional<std::int64_t> port_or_number;
  std::optional<std::size_t> top;  // At most so many.
};
// Places in `seen.flows`. Empty: there is no such flow.
std::vector<std::size_t> Choose(const Observation& seen,
                                const FlowChoice& choice);

// For people: the capture, a table of the flows shown, and every figure of the
// first of them (of all, where they were asked for). At most 80 columns, but
// for names and IPv6 addresses.
std::string ObservationText(const Observation& seen, const FlowChoice& choice);
// One object; docs/observe.md has every field.
std::string ObservationJson(const Observation& seen, const FlowChoice& choice);
// A header, and a line a flow and direction; the header is asked for once.
std::string ObservationCsvHeader();
std::string ObservationCsv(const Observation& seen, const FlowChoice& choice);

// "10.0.0.1:40000 -> 10.0.0.2:7001", client first.
std::string FlowName(const Flow& flow);
// How a TCP connection began and ended, as far as it was captured: "opened and
// closed", "begun before the capture, reset by the client".
std::string FlowLife(const Flow& flow);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_OBSERVE_H_
