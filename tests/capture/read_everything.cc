#include "tests/capture/read_everything.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>

#include "harness/capture/capture_reader.h"
#include "harness/capture/flows.h"
#include "harness/capture/observe.h"

namespace wiretoll {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::int64_t SumOfSizes(const SizeDistribution& sizes) {
  std::int64_t sum = 0;
  for (const SizeDistribution::Bin& bin : sizes.Bins()) sum += bin.count;
  return sum;
}

void CheckDirection(const DirectionFigures& from) {
  Require(from.segments >= from.frames, "a frame is a segment or more");
  Require(from.segments >= from.data_segments, "data segments are segments");
  Require(from.payload_bytes >= from.unique_bytes, "unique bytes are payload");
  Require(from.unique_bytes >= 0 && from.missing_bytes >= 0,
          "no count is below 0");
  Require(from.data_segments == SumOfSizes(from.sizes),
          "each data segment has a size");
  Require(from.pure_acks >= from.duplicate_acks + from.window_updates,
          "an ACK is at most one of both");
  Require(from.stalls.total_ns >= from.stalls.longest_ns,
          "the longest stall is one of them");
  Require(from.window_min.value_or(0) <= from.window_max.value_or(0),
          "the least window is the least");
}

void CheckTotals(const Observation& seen) {
  const CaptureTotals& totals = seen.totals;
  std::int64_t sum = totals.tcp + totals.udp + totals.other_ip + totals.not_ip +
                     totals.later_fragments + totals.cut + totals.malformed;
  for (const auto& [link_type, frames] : totals.other_links) sum += frames;
  Require(sum == totals.frames, "each frame is of one kind");
  Require(totals.frames == seen.facts.frames, "each frame is counted");
  std::int64_t in_flows = totals.untracked_frames + totals.stray_fragments;
  for (const Flow& flow : seen.flows) {
    CheckDirection(flow.from_client);
    CheckDirection(flow.from_server);
    Require(flow.last_ns >= flow.first_ns, "a flow lasts 0 or more");
    in_flows += flow.from_client.frames + flow.from_server.frames;
  }
  Require(in_flows == totals.tcp + totals.udp + totals.later_fragments,
          "each frame of TCP and UDP is in a flow, or untracked");
}

}  // namespace

long long ReadEverything(const std::string& file) {
  auto reader = CaptureReader::Read(std::make_unique<std::istringstream>(file),
                                    "fuzzed.pcapng");
  if (!reader.has_value()) {
    Require(!reader.error().message.empty(), "a failure has words");
    return -1;
  }
  const Observation seen =
      Observe(std::move(reader).value(), "fuzzed.pcapng", nullptr);
  CheckTotals(seen);
  const FlowChoice few{std::nullopt, 3};
  Require(!ObservationText(seen, few).empty(), "there is always text");
  Require(!ObservationJson(seen, few).empty(), "there is always JSON");
  const std::string csv = ObservationCsv(seen, few);
  Require(csv.empty() == seen.flows.empty(), "each flow has its lines");
  return seen.facts.frames;
}

}  // namespace wiretoll
