#include "harness/capture/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/words.h"
#include "harness/capture/capture_reader.h"
#include "harness/capture/dissect.h"
#include "harness/capture/flows.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

// What a first reading finds out: which connection it is, and what it is like
// as a whole.
struct Found {
  Flow flow;
  std::int64_t others_on_port = 0;
  CaptureFacts facts;
};

bool Fits(const Flow& flow, std::optional<std::uint16_t> port) {
  return flow.tcp &&
         (!port || flow.client.port == *port || flow.server.port == *port);
}

// "3 TCP connections (server ports 80, 443)".
std::string WhatThereIs(const std::vector<Flow>& flows) {
  constexpr std::size_t kMostPorts = 5;
  std::vector<std::uint16_t> ports;
  std::int64_t connections = 0;
  for (const Flow& flow : flows) {
    if (!flow.tcp) continue;
    ++connections;
    const bool known =
        std::find(ports.begin(), ports.end(), flow.server.port) != ports.end();
    if (!known && ports.size() <= kMostPorts) ports.push_back(flow.server.port);
  }
  if (connections == 0) return "no TCP connection at all";
  std::string text = Count(connections, "TCP connection") + " (server ports";
  for (std::size_t i = 0; i < std::min(ports.size(), kMostPorts); ++i)
    text += fmt::format("{}{}", i == 0 ? " " : ", ", ports[i]);
  return text + (ports.size() > kMostPorts ? ", ...)" : ")");
}

Outcome<Found> Find(const fs::path& capture,
                    std::optional<std::uint16_t> port) {
  auto reader = CaptureReader::Open(capture);
  if (!reader.has_value()) return reader.error();
  FlowTable table;
  CapturedFrame frame;
  while (reader.value().Next(frame)) table.Add(frame, Dissect(frame));
  std::vector<Flow> flows = table.Finish();
  const auto fits = [port](const Flow& flow) { return Fits(flow, port); };
  // The first has the most payload.
  const auto flow = std::find_if(flows.begin(), flows.end(), fits);
  if (flow == flows.end()) {
    const std::string& torn = reader.value().facts().ended_early;
    return Failure{
        ExitCode::kUsage,
        fmt::format(
            "{}: holds no TCP connection{}; it holds {}{}", capture.string(),
            port ? fmt::format(" of port {}", *port) : "", WhatThereIs(flows),
            torn.empty() ? "" : ", and the file is " + torn)};
  }
  Found found;
  found.others_on_port = std::count_if(flows.begin(), flows.end(), fits) - 1;
  found.flow = std::move(*flow);
  found.facts = reader.value().facts();
  return found;
}

void Add(std::string& partial, const std::string& what) {
  partial += (partial.empty() ? "" : "; ") + what;
}

// All but what the limit on segments cuts.
std::string WhatIsMissing(const Found& found) {
  std::string partial;
  const Flow& flow = found.flow;
  const std::int64_t dropped = found.facts.Dropped().value_or(0);
  if (dropped > 0)
    Add(partial, fmt::format("the capture lost {}", Count(dropped, "frame")));
  if (!found.facts.ended_early.empty())
    Add(partial, "the file is " + found.facts.ended_early);
  if (!flow.begin_seen) Add(partial, "its begin was not captured");
  if (!flow.scale_known)
    Add(partial, "not both SYNs were captured, so windows are not scaled");
  const std::int64_t missing =
      flow.from_client.missing_bytes + flow.from_server.missing_bytes;
  if (missing > 0)
    Add(partial, Count(missing, "byte") + " sent, but not captured");
  if (found.others_on_port > 0) {
    Add(partial,
        fmt::format("of {} connections that fit, the one with the most "
                    "payload",
                    found.others_on_port + 1));
  }
  return partial;
}

std::optional<std::int64_t> ScaleOf(const DirectionFigures& figures) {
  if (!figures.syn_options_seen) return std::nullopt;
  return figures.scale.value_or(0);
}

std::optional<std::int64_t> MssOf(const DirectionFigures& figures) {
  if (!figures.mss) return std::nullopt;
  return *figures.mss;
}

Timeline Describe(const Found& found) {
  const Flow& flow = found.flow;
  Timeline timeline;
  timeline.client = ToConnectionEnd(flow.client);
  timeline.server = ToConnectionEnd(flow.server);
  timeline.client_scale = ScaleOf(flow.from_client);
  timeline.server_scale = ScaleOf(flow.from_server);
  timeline.client_mss = MssOf(flow.from_client);
  timeline.server_mss = MssOf(flow.from_server);
  timeline.timestamps = flow.timestamps;
  timeline.dropped_frames = found.facts.Dropped().value_or(0);
  timeline.partial = WhatIsMissing(found);
  return timeline;
}

// A second reading, of that connection alone.
Outcome<Done> Collect(const fs::path& capture, std::size_t order,
                      std::int64_t most_segments, Timeline& timeline) {
  auto reader = CaptureReader::Open(capture);
  if (!reader.has_value()) return reader.error();
  FlowTable table;
  CapturedFrame frame;
  while (reader.value().Next(frame)) {
    const SegmentSeen* seen = table.Add(frame, Dissect(frame));
    if (seen == nullptr || seen->flow != order) continue;
    if (static_cast<std::int64_t>(timeline.segments.size()) >= most_segments) {
      Add(timeline.partial, fmt::format("cut behind its first {}",
                                        Count(most_segments, "segment")));
      break;
    }
    timeline.segments.push_back(seen->segment);
  }
  return Done{};
}

}  // namespace

Outcome<Timeline> ReadTimeline(const fs::path& capture,
                               std::optional<std::uint16_t> port,
                               std::int64_t most_segments) {
  const auto found = Find(capture, port);
  if (!found.has_value()) return found.error();
  Timeline timeline = Describe(found.value());
  const auto collected =
      Collect(capture, found.value().flow.order, most_segments, timeline);
  if (!collected.has_value()) return collected.error();
  return timeline;
}

}  // namespace wiretoll
