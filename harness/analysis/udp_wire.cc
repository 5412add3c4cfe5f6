#include "harness/analysis/udp_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/words.h"
#include "harness/capture/capture_reader.h"
#include "harness/capture/dissect.h"
#include "harness/capture/flows.h"
#include "harness/study/study.h"
#include "harness/theory/overhead.h"

namespace wiretoll {
namespace {

// How many datagrams were sent of which size.
struct SizeGroup {
  Bytes payload;
  std::int64_t count = 0;
};

std::optional<std::int64_t> SizeFactor(const Sample& sample,
                                       const std::string& name) {
  for (const auto& [key, value] : sample.factors) {
    const auto* size = std::get_if<std::int64_t>(&value);
    if (key == name && size != nullptr) return *size;
  }
  return std::nullopt;
}

// Full ones, and the shorter last one of each block. The case names both sizes,
// the sender its bytes: how many there were of each follows. Empty where no
// whole numbers do.
std::optional<std::vector<SizeGroup>> SizesSent(const Sample& sample) {
  const auto write = SizeFactor(sample, "write");
  if (!write || *write < 1) return std::nullopt;
  const std::int64_t block = SizeFactor(sample, "block").value_or(*write);
  const std::int64_t full = std::min(*write, block);
  const std::int64_t rest = block % full;
  const std::int64_t sent = sample.datagrams->sent;
  const std::int64_t lacking = sent * full - sample.sender->bytes;
  if (lacking == 0) return std::vector<SizeGroup>{{Bytes{full}, sent}};
  const std::int64_t each = full - rest;
  if (rest == 0 || lacking < 0 || lacking % each != 0) return std::nullopt;
  const std::int64_t shorter = lacking / each;
  if (shorter > sent) return std::nullopt;
  return std::vector<SizeGroup>{{Bytes{full}, sent - shorter},
                                {Bytes{rest}, shorter}};
}

// Packets and bytes of so many datagrams; false if one is larger than any.
bool AddGroup(const SizeGroup& group, Bytes mtu, const HeaderStack& stack,
              Wire& wire) {
  const auto cost = CostOfDatagram(group.payload, mtu, stack);
  if (!cost) return false;
  const auto add = [&](std::optional<std::int64_t>& sum, std::int64_t each) {
    sum = sum.value_or(0) + group.count * each;
  };
  add(wire.data_segments, cost->fragments);
  add(wire.l3_bytes, cost->cost.l3.count);
  add(wire.l2_bytes, cost->cost.l2.count);
  add(wire.l1_bytes, cost->cost.l1.count);
  return true;
}

std::string EndsAgree(const Datagrams& datagrams) {
  std::string words;
  if (datagrams.lost_at_receiver.value_or(0) > 0) {
    AddClause(fmt::format("{} had no room in the receiver's buffer",
                          *datagrams.lost_at_receiver),
              words);
  }
  if (datagrams.lost_on_path.value_or(0) > 0) {
    AddClause(fmt::format("{} lost on the way", *datagrams.lost_on_path),
              words);
  } else if (datagrams.lost > 0 && !datagrams.lost_at_receiver) {
    AddClause(fmt::format("{} lost, where is not known", datagrams.lost),
              words);
  }
  const std::int64_t twice = datagrams.duplicated.value_or(0);
  if (twice > 0) {
    AddClause(fmt::format("{} came once more", twice), words);
  }
  return words.empty() ? "equal" : "different: " + words;
}

void FillLayers(const Sample& sample, int ip_version, Wire& wire) {
  const Datagrams& datagrams = *sample.datagrams;
  if (!datagrams.mtu_bytes || !datagrams.fragments_each) {
    return AddClause(datagrams.reason, wire.reason);
  }
  const auto sizes = SizesSent(sample);
  if (!sizes) {
    return AddClause(
        "how many datagrams of which size were sent cannot be told from their "
        "sum",
        wire.reason);
  }
  const HeaderStack stack{ip_version, Transport::kUdp, false, false};
  for (const SizeGroup& group : *sizes) {
    if (AddGroup(group, Bytes{*datagrams.mtu_bytes}, stack, wire)) continue;
    return AddClause("no datagram of IP is that large", wire.reason);
  }
  wire.l1_bytes_low = wire.l1_bytes_high = wire.l1_bytes;
  wire.sender_data_segments = wire.data_segments;
  if (*datagrams.fragments_each == 1) {
    wire.header_bytes = NetworkHeaders(stack).count;
    wire.receiver_data_segments = datagrams.received;
  } else {
    AddClause(
        "a fragment's headers are not a first one's, and the receiver counts "
        "datagrams, not fragments",
        wire.reason);
  }
}

void TakeUdpCapture(const CaptureRecord& capture, Wire& wire) {
  wire.observer = "capture";
  wire.data_segments = capture.data_segments;
  wire.payload_bytes = capture.payload_bytes;
  wire.l3_bytes = capture.l3_bytes;
  wire.l1_bytes = wire.l1_bytes_low = wire.l1_bytes_high = capture.l1_bytes;
  wire.l2_bytes.reset();
  if (!capture.l1_bytes) return;
  wire.l2_bytes =
      *capture.l1_bytes - *capture.data_segments * kPreambleAndGap.count;
}

bool IsWholeUdp(const std::optional<CaptureRecord>& capture) {
  return capture && capture->partial.empty() && capture->data_segments &&
         capture->payload_bytes;
}

// --- The capture

std::string WhatUdpLacks(const CaptureFacts& facts, std::int64_t others) {
  std::string partial;
  const std::int64_t dropped = facts.Dropped().value_or(0);
  if (dropped > 0) {
    AddClause(fmt::format("the capture lost {}", Count(dropped, "frame")),
              partial);
  }
  if (!facts.ended_early.empty()) {
    AddClause("the file is " + facts.ended_early, partial);
  }
  if (others > 0) {
    AddClause(fmt::format("of {} UDP flows the one with the most payload",
                          others + 1),
              partial);
  }
  return partial;
}

void FillFromFlow(const DirectionFigures& sent, CaptureRecord& record) {
  record.data_segments = sent.segments;
  record.payload_bytes = sent.payload_bytes;
  record.joined_packets = 0;
  record.l3_bytes = sent.layer3_bytes;
  if (sent.framing_known) record.l1_bytes = sent.layer1_bytes;
}

}  // namespace

Wire AccountUdpWire(const Sample& sample, int ip_version) {
  Wire wire;
  wire.observer = "sender-counters";
  wire.payload_bytes = sample.sender->bytes;
  wire.agreement = EndsAgree(*sample.datagrams);
  wire.reason = "UDP has no ACKs and sends nothing again";
  FillLayers(sample, ip_version, wire);
  if (IsWholeUdp(sample.capture)) TakeUdpCapture(*sample.capture, wire);
  return wire;
}

Outcome<Done> FillUdpCaptureFigures(const std::filesystem::path& capture,
                                    CaptureRecord& record) {
  auto reader = CaptureReader::Open(capture);
  if (!reader.has_value()) return reader.error();
  FlowTable table;
  CapturedFrame frame;
  while (reader.value().Next(frame)) table.Add(frame, Dissect(frame));
  const std::int64_t strays = table.totals().stray_fragments;
  const std::vector<Flow> flows = table.Finish();
  const auto udp = [](const Flow& flow) { return !flow.tcp; };
  // The first has the most payload.
  const auto flow = std::find_if(flows.begin(), flows.end(), udp);
  if (flow == flows.end()) {
    return Failure{ExitCode::kUsage,
                   capture.string() + ": holds no UDP datagram"};
  }
  FillFromFlow(flow->from_client, record);
  const std::int64_t others =
      std::count_if(flows.begin(), flows.end(), udp) - 1;
  std::string lacks = WhatUdpLacks(reader.value().facts(), others);
  if (strays > 0) {
    AddClause(fmt::format("{} without a first one", Count(strays, "fragment")),
              lacks);
  }
  if (!lacks.empty()) AddClause(lacks, record.partial);
  return Done{};
}

}  // namespace wiretoll
