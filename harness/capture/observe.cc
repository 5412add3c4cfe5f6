#include "harness/capture/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/base/units.h"
#include "harness/base/words.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kFramesBetweenNews = 8192;

using Notes = std::vector<std::string>;

// "1 frame was", "2 frames were".
std::string Were(std::int64_t count, std::string_view noun) {
  return Count(count, noun) + (count == 1 ? " was" : " were");
}

std::string Frames(std::int64_t count) { return Count(count, "frame"); }

std::string InterfaceName(const Observation& seen, std::size_t index) {
  const InterfaceFacts& facts = seen.facts.interfaces[index];
  return facts.name.empty() ? fmt::format("interface {}", index)
                            : QuoteBytes(facts.name);
}

void NoteReading(const Observation& seen, Notes& notes) {
  const CaptureFacts& facts = seen.facts;
  if (!facts.ended_early.empty()) {
    notes.push_back(
        fmt::format("Partial: the file is {}. What came before is counted.",
                    facts.ended_early));
  }
  if (facts.timeless > 0) {
    notes.push_back(fmt::format(
        "Without a time (in simple packet blocks): {}; taken to be that of the "
        "frame before.",
        Frames(facts.timeless)));
  }
  if (facts.broken_options > 0) {
    notes.push_back(fmt::format(
        "Options that do not fit into their block were left out, in {}.",
        Count(facts.broken_options, "block")));
  }
}

void NoteInterfaces(const Observation& seen, Notes& notes) {
  for (std::size_t i = 0; i < seen.facts.interfaces.size(); ++i) {
    const InterfaceFacts& facts = seen.facts.interfaces[i];
    if (facts.dropped.value_or(0) > 0) {
      notes.push_back(fmt::format(
          "Partial: the capture lost {} on {} before they were written; counts "
          "are low by what they held.",
          Frames(*facts.dropped), InterfaceName(seen, i)));
    }
    if (facts.steps_back > 0) {
      notes.push_back(fmt::format(
          "The clock of {} went back {}, by up to {}: durations across that "
          "are wrong.",
          InterfaceName(seen, i), Count(facts.steps_back, "time"),
          FormatDuration(Nanoseconds{facts.largest_step_back_ns})));
    }
  }
  const auto with_frames = std::count_if(
      seen.facts.interfaces.begin(), seen.facts.interfaces.end(),
      [](const InterfaceFacts& facts) { return facts.frames > 0; });
  if (with_frames > 1) {
    notes.push_back(
        "Frames of several interfaces: a packet that passed two of them counts "
        "twice, the second time as sent again.");
  }
}

void NoteLeftOut(const Observation& seen, Notes& notes) {
  const CaptureTotals& totals = seen.totals;
  for (const auto& [link_type, frames] : totals.other_links) {
    notes.push_back(
        fmt::format("{} left out for link type {}; what can be read is {}.",
                    Were(frames, "frame"), link_type, kSupportedLinks));
  }
  if (totals.cut > 0) {
    notes.push_back(fmt::format(
        "{} left out, cut inside the headers by the capture's snap length; 96 "
        "bytes hold all headers (tcpdump -s 96).",
        Were(totals.cut, "frame")));
  }
  if (totals.options_cut > 0) {
    notes.push_back(fmt::format(
        "{} cut inside the options of a SYN: MSS and window scale of such a "
        "connection are not known.",
        Were(totals.options_cut, "frame")));
  }
  if (totals.malformed > 0) {
    notes.push_back(fmt::format("{} left out as malformed, first frame {}: {}.",
                                Were(totals.malformed, "frame"),
                                totals.first_malformed, totals.first_trouble));
  }
  if (totals.untracked_frames > 0) {
    notes.push_back(fmt::format(
        "Partial: more than {} flows; {} with {} bytes of payload of further "
        "ones are in no flow.",
        kMostFlows, Frames(totals.untracked_frames),
        totals.untracked_payload_bytes));
  }
}

struct FlowSums {
  std::int64_t super_frames = 0, super_segments = 0, missing_bytes = 0;
  std::int64_t begun_before = 0, unscaled = 0, assumed = 0, fragments = 0;
};

FlowSums SumUp(const std::vector<Flow>& flows) {
  FlowSums sums;
  for (const Flow& flow : flows) {
    for (const DirectionFigures* from :
         {&flow.from_client, &flow.from_server}) {
      sums.super_frames += from->super_frames;
      sums.super_segments += from->super_segments;
      sums.missing_bytes += from->missing_bytes;
      if (flow.tcp) sums.fragments += from->fragments;
    }
    if (!flow.tcp) continue;
    sums.begun_before += flow.begin_seen ? 0 : 1;
    sums.unscaled += flow.scale_known ? 0 : 1;
    sums.assumed += flow.mss_assumed ? 1 : 0;
  }
  return sums;
}

void NoteOffloads(const Observation& seen, const FlowSums& sums, Notes& notes) {
  if (sums.super_frames > 0) {
    notes.push_back(fmt::format(
        "{} longer than the MSS: an offload (TSO, GSO, GRO, LRO) had not cut "
        "such a frame yet, or had joined it. Counted by the MSS: {}.",
        Were(sums.super_frames, "frame"),
        Count(sums.super_segments, "segment")));
  }
  if (sums.assumed > 0) {
    notes.push_back(fmt::format(
        "In {} no SYN told the MSS: it was taken to be that of an Ethernet of "
        "MTU 1500.",
        Count(sums.assumed, "connection")));
  }
  if (seen.totals.length_from_frame > 0) {
    notes.push_back(fmt::format(
        "Length 0, as before an offload has cut a packet: {}; taken to be as "
        "long as the frame.",
        Count(seen.totals.length_from_frame, "IP packet")));
  }
}

void NoteFlows(const Observation& seen, const FlowSums& sums, Notes& notes) {
  if (sums.begun_before > 0) {
    notes.push_back(fmt::format(
        "{} had begun before the capture: the client is a guess (the higher "
        "port).",
        Count(sums.begun_before, "connection")));
  }
  if (sums.unscaled > 0) {
    notes.push_back(fmt::format(
        "In {} the SYNs of both ends were not seen: windows are as in the "
        "header, not scaled.",
        Count(sums.unscaled, "connection")));
  }
  if (sums.missing_bytes > 0) {
    notes.push_back(fmt::format(
        "Partial: of TCP streams {} sent and not captured, as later segments "
        "and ACKs show.",
        Were(sums.missing_bytes, "byte")));
  }
  if (sums.fragments > 0) {
    notes.push_back(
        fmt::format("{} of TCP: the payload of later ones is in no count.",
                    Count(sums.fragments, "IP fragment")));
  }
  if (seen.totals.stray_fragments > 0) {
    notes.push_back(
        fmt::format("{} in no flow, for want of a first fragment before.",
                    Were(seen.totals.stray_fragments, "IP fragment")));
  }
  if (seen.totals.loopback > 0) {
    notes.push_back(fmt::format(
        "Loopback, which is no network: {}, of which no bytes at layers 2 and "
        "1 are given.",
        Frames(seen.totals.loopback)));
  }
}

bool HasPort(const Flow& flow, std::int64_t port) {
  return flow.client.port == port || flow.server.port == port;
}

std::string WhoReset(const Flow& flow) {
  const bool client = flow.from_client.resets > 0;
  const bool server = flow.from_server.resets > 0;
  if (client && server) return "reset by both ends";
  return client ? "reset by the client" : "reset by the server";
}

}  // namespace

Observation Observe(CaptureReader reader, const std::string& file,
                    const std::function<void(std::int64_t)>& on_way) {
  FlowTable table;
  CapturedFrame frame;
  while (reader.Next(frame)) {
    table.Add(frame, Dissect(frame));
    if (frame.number % kFramesBetweenNews == 0 && on_way)
      on_way(reader.bytes_read());
  }
  Observation seen;
  seen.file = file;
  seen.facts = reader.facts();
  seen.totals = table.totals();
  seen.flows = table.Finish();
  seen.notes = NotesOf(seen);
  return seen;
}

std::vector<std::string> NotesOf(const Observation& seen) {
  Notes notes;
  const FlowSums sums = SumUp(seen.flows);
  NoteReading(seen, notes);
  NoteInterfaces(seen, notes);
  NoteLeftOut(seen, notes);
  NoteOffloads(seen, sums, notes);
  NoteFlows(seen, sums, notes);
  for (const std::string& comment : seen.facts.comments)
    notes.push_back("The capture says: " + QuoteBytes(comment, 200));
  return notes;
}

std::vector<std::size_t> Choose(const Observation& seen,
                                const FlowChoice& choice) {
  std::vector<std::size_t> chosen;
  const std::size_t most = choice.top.value_or(seen.flows.size());
  for (std::size_t i = 0; i < seen.flows.size() && chosen.size() < most; ++i) {
    if (!choice.port_or_number ||
        HasPort(seen.flows[i], *choice.port_or_number))
      chosen.push_back(i);
  }
  if (!choice.port_or_number || !chosen.empty()) return chosen;
  const std::int64_t number = *choice.port_or_number;
  if (number >= 1 && number <= static_cast<std::int64_t>(seen.flows.size()))
    chosen.push_back(static_cast<std::size_t>(number - 1));
  return chosen;
}

std::string FlowName(const Flow& flow) {
  return EndpointText(flow.client) + " -> " + EndpointText(flow.server);
}

std::string FlowLife(const Flow& flow) {
  const std::string begin =
      flow.begin_seen ? "opened" : "begun before the capture";
  if (flow.from_client.resets + flow.from_server.resets > 0)
    return begin + ", " + WhoReset(flow);
  const bool client = flow.from_client.fins > 0;
  const bool server = flow.from_server.fins > 0;
  if (client && server) return begin + ", closed by both ends";
  if (client) return begin + ", closed by the client alone";
  if (server) return begin + ", closed by the server alone";
  return begin + ", not closed";
}

}  // namespace wiretoll
