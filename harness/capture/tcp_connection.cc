#include "harness/capture/tcp_connection.h"

#include <algorithm>

namespace wiretoll {
namespace {

// What a peer takes that told no MSS (RFC 9293 3.7.1).
constexpr std::int64_t kDefaultMssIpv4 = 536;
constexpr std::int64_t kDefaultMssIpv6 = 1220;
// What is taken for it where no SYN was seen: an Ethernet's.
constexpr std::int64_t kEthernetMtu = 1500;
constexpr std::int64_t kTcpHeader = 20;
// Behind it a byte that is sent once more is no answer to a loss: keep-alives
// are seconds apart at least.
constexpr std::int64_t kKeepAliveNs = 1'000'000'000;
// What overtaking takes at most, where no round trip is known.
constexpr std::int64_t kOvertakingNs = 3'000'000;
constexpr std::uint8_t kMostScale = 14;  // RFC 7323 2.3.

std::int64_t HeaderBytes(const Packet& packet) {
  return packet.ip_header_bytes + packet.transport_header_bytes;
}

std::optional<std::int64_t> MssOf(const DirectionFigures& figures,
                                  const Packet& packet) {
  if (figures.mss) return *figures.mss;
  if (!figures.syn_options_seen) return std::nullopt;
  return packet.source.version == 6 ? kDefaultMssIpv6 : kDefaultMssIpv4;
}

// What fills a gap earlier is not an answer to it: the sender had not heard of
// it yet, which takes a round trip.
std::int64_t OvertakingNs(const Flow& flow) {
  const auto& server = flow.server_round_trip_ns;
  const auto& client = flow.client_round_trip_ns;
  return server && client ? *server + *client : kOvertakingNs;
}

TimelineSegment Begin(const Packet& packet, std::int64_t time_ns,
                      bool from_client) {
  TimelineSegment seen;
  seen.time_ns = time_ns;
  seen.from_client = from_client;
  seen.payload_bytes = packet.rst ? 0 : packet.payload_bytes;
  seen.ip_bytes = packet.ip_bytes;
  seen.syn = packet.syn;
  seen.fin = packet.fin;
  seen.rst = packet.rst;
  seen.psh = packet.psh;
  return seen;
}

}  // namespace

bool TcpConnection::IsOver(const Packet& packet, bool from_client) const {
  if (!packet.syn) return false;
  const End& from = ends_[from_client ? 0 : 1];
  const End& to = ends_[from_client ? 1 : 0];
  if (from.syn) return *from.syn != packet.sequence;
  if (from.sent.started()) return true;
  // Of an end that was silent so far it is the answer, or both opened at once
  // (RFC 9293 3.5); but a connection that was under way already is another.
  return !packet.ack && to.sent.started() && !to.syn;
}

TimelineSegment TcpConnection::Add(const Packet& packet, std::int64_t time_ns,
                                   bool from_client, Flow& flow) {
  Step step{packet,
            time_ns,
            ends_[from_client ? 0 : 1],
            ends_[from_client ? 1 : 0],
            flow,
            from_client ? flow.from_client : flow.from_server,
            from_client ? flow.from_server : flow.from_client,
            Begin(packet, time_ns, from_client)};
  flow.timestamps = flow.timestamps || packet.options.timestamps;
  if (packet.syn) TakeSyn(step);
  CountOnWire(step);
  Locate(step);
  TakeHandshake(step);
  if (IsProbe(step)) {
    TakeProbe(step);
  } else if (step.seen.data()) {
    TakeData(step);
  } else {
    TakePureAck(step);
  }
  TakeAck(step);
  TakeWindow(step);
  TakeEnd(step);
  return step.seen;
}

void TcpConnection::TakeSyn(Step& step) {
  End& from = step.from;
  DirectionFigures& figures = step.figures;
  step.flow.begin_seen = true;
  ++figures.syns;
  if (!from.syn) {
    from.syn = step.packet.sequence;
    from.syn_ns = step.time_ns;
    Start(from, step.packet.sequence + 1, true);
  }
  const TcpOptions& options = step.packet.options;
  figures.mss = options.mss;
  if (options.window_scale)
    figures.scale = std::min(*options.window_scale, kMostScale);
  figures.syn_options_seen = !step.packet.options_cut && !options.broken;
  step.flow.scale_known =
      figures.syn_options_seen && step.others.syn_options_seen;
}

void TcpConnection::Start(End& end, std::uint32_t first, bool syn_seen) {
  if (end.sent.started()) return;
  end.sent.Start(first, syn_seen);
  if (end.early_ack) end.acknowledged = end.sent.OffsetOf(*end.early_ack);
}

// The round trips of the handshake, where nothing of it was sent twice.
void TcpConnection::TakeHandshake(Step& step) {
  const bool answer = !step.seen.from_client && step.packet.syn;
  const bool last = step.seen.from_client && !step.packet.syn &&
                    step.packet.ack && !step.from.last_ack;
  const bool once =
      step.others.syns == 1 && step.figures.syns == 1 && !step.packet.rst;
  const std::int64_t took = step.time_ns - step.to.syn_ns;
  if (!once || took < 0) return;
  if (answer) step.flow.server_round_trip_ns = took;
  if (last) step.flow.client_round_trip_ns = took;
}

// The payload of a full segment with this one's options.
std::int64_t TcpConnection::MostPayload(Step& step) {
  const Packet& packet = step.packet;
  const auto own = MssOf(step.figures, packet);
  const auto peers = MssOf(step.others, packet);
  std::int64_t mss = 0;
  if (own && peers) {
    mss = std::min(*own, *peers);
  } else if (own || peers) {
    mss = own ? *own : *peers;
  } else {
    if (packet.ip_bytes <= kEthernetMtu) return packet.payload_bytes;
    step.flow.mss_assumed = true;
    mss = kEthernetMtu - packet.ip_header_bytes - kTcpHeader;
  }
  const std::int64_t options = packet.transport_header_bytes - kTcpHeader;
  return std::max<std::int64_t>(1, mss - options);
}

void TcpConnection::CountOnWire(Step& step) {
  DirectionFigures& figures = step.figures;
  const std::int64_t payload = step.seen.payload_bytes;
  const std::int64_t most = payload > 0 ? MostPayload(step) : 0;
  std::int64_t segments = 1;
  if (payload > most) segments = (payload + most - 1) / most;
  step.seen.frames = segments;
  ++figures.frames;
  figures.segments += segments;
  if (segments > 1) {
    ++figures.super_frames;
    figures.super_segments += segments;
  }
  step.most_payload = most;
  CountLayers(step.packet, segments, most, figures);
}

void TcpConnection::Locate(Step& step) {
  End& from = step.from;
  if (!from.sent.started()) {
    if (step.packet.rst) return;  // It may have any number.
    Start(from, step.packet.sequence, false);
  }
  std::int64_t offset =
      from.sent.OffsetOf(step.packet.sequence + (step.packet.syn ? 1 : 0));
  // The FIN has a number too, but is no byte of the stream.
  if (from.fin && step.seen.payload_bytes == 0)
    offset = std::min(offset, *from.fin);
  step.seen.offset = offset;
}

bool TcpConnection::IsProbe(const Step& step) {
  const Packet& packet = step.packet;
  const std::int64_t payload = step.seen.payload_bytes;
  if (packet.syn || packet.fin || packet.rst || payload > 1 ||
      !step.from.acknowledged) {
    return false;
  }
  const std::int64_t acknowledged = *step.from.acknowledged;
  const std::int64_t offset = step.seen.offset;
  // RFC 9293 3.8.4: one below what is acknowledged, so that an ACK must come.
  // With a byte in it, it may as well be a late repetition of a lone byte.
  if (offset == acknowledged - 1) {
    return payload == 0 || (step.from.sent.next() == acknowledged &&
                            step.time_ns - step.from.last_ns >= kKeepAliveNs);
  }
  // RFC 9293 3.8.6.1: one byte into a closed window.
  return payload == 1 && offset == acknowledged && step.to.last_ack &&
         step.to.last_window == 0;
}

void TcpConnection::TakeProbe(Step& step) {
  step.seen.probe = true;
  ++step.figures.probes;
  if (step.seen.data() && step.seen.offset >= step.from.sent.next())
    step.from.window_probe = step.seen.offset;
}

void TcpConnection::TakeData(Step& step) {
  TimelineSegment& seen = step.seen;
  DirectionFigures& figures = step.figures;
  const SequenceSpace::Placed placed =
      step.from.sent.Place(seen.offset, seen.payload_bytes, step.time_ns);
  seen.retransmission = placed.repeated > 0;
  seen.out_of_order = placed.filled > 0;
  figures.data_segments += seen.frames;
  figures.payload_bytes += seen.payload_bytes;
  figures.unique_bytes += placed.fresh + placed.filled;
  const std::int64_t full = seen.frames - 1;
  if (full > 0) figures.sizes.Add(step.most_payload, full);
  figures.sizes.Add(seen.payload_bytes - full * step.most_payload, 1);
  CountAgain(step, placed);
  TakeStall(step);
  std::optional<Timed>& timed = step.from.timed;
  const std::int64_t end = seen.offset + seen.payload_bytes;
  if (seen.retransmission && timed && seen.offset < timed->end) timed.reset();
  if (!timed && !seen.retransmission && placed.fresh > 0)
    timed = Timed{end, step.time_ns};
}

void TcpConnection::CountAgain(Step& step,
                               const SequenceSpace::Placed& placed) {
  DirectionFigures& figures = step.figures;
  const std::int64_t frames = step.seen.frames;
  const std::int64_t end = step.seen.offset + step.seen.payload_bytes;
  if (placed.repeated > 0) {
    figures.retransmissions += frames;
    figures.retransmitted_bytes += placed.repeated;
    const bool known = step.from.acknowledged && end <= *step.from.acknowledged;
    if (known && placed.filled == 0) figures.spurious_retransmissions += frames;
  }
  const bool late =
      placed.filled > 0 && placed.waited_ns >= OvertakingNs(step.flow);
  if (placed.filled > 0) figures.out_of_order += frames;
  if (late) figures.late_fills += frames;
  if (late || placed.repeated > 0) figures.resent += frames;
}

void TcpConnection::TakeStall(Step& step) {
  DirectionFigures& figures = step.figures;
  if (!figures.first_data_ns) figures.first_data_ns = step.time_ns;
  const std::int64_t since = figures.last_data_ns.value_or(step.time_ns);
  const std::int64_t gap = step.time_ns - since;
  figures.last_data_ns = step.time_ns;
  if (gap <= kStallNs) return;
  Stalls& stalls = figures.stalls;
  ++stalls.count;
  stalls.total_ns += gap;
  if (gap > stalls.longest_ns) {
    stalls.longest_ns = gap;
    stalls.longest_at_ns = since;
  }
}

void TcpConnection::TakePureAck(Step& step) {
  const Packet& packet = step.packet;
  if (!packet.ack || packet.syn || packet.fin || packet.rst) return;
  ++step.figures.pure_acks;
  if (step.from.last_ack != packet.acknowledgment) return;
  if (step.from.last_window != packet.window) {
    ++step.figures.window_updates;
  } else if (step.to.sent.started() &&
             step.to.sent.OffsetOf(packet.acknowledgment) <
                 step.to.sent.next()) {
    ++step.figures.duplicate_acks;
  }
}

// A byte that went into a closed window and was acknowledged was data.
void TcpConnection::AcceptProbe(Step& step, std::int64_t acknowledged) {
  std::optional<std::int64_t>& probe = step.to.window_probe;
  if (!probe || acknowledged <= *probe) return;
  if (*probe == step.to.sent.next()) {
    step.to.sent.Place(*probe, 1, step.time_ns);
    ++step.others.payload_bytes;
    ++step.others.unique_bytes;
  }
  probe.reset();
}

void TcpConnection::TakeAck(Step& step) {
  const Packet& packet = step.packet;
  if (!packet.ack || packet.rst) return;
  step.from.last_ack = packet.acknowledgment;
  step.from.last_window = packet.window;
  End& to = step.to;
  if (!to.sent.started()) {
    to.early_ack = packet.acknowledgment;
    return;
  }
  std::int64_t offset = to.sent.OffsetOf(packet.acknowledgment);
  if (to.fin) offset = std::min(offset, *to.fin);
  AcceptProbe(step, offset);
  to.sent.ReachTo(offset, step.time_ns);
  step.seen.acknowledged = offset;
  if (to.acknowledged && offset <= *to.acknowledged) return;
  to.acknowledged = offset;
  if (to.timed && offset >= to.timed->end) {
    step.others.data_to_ack.Add(step.time_ns - to.timed->time_ns);
    to.timed.reset();
  }
}

std::int64_t TcpConnection::WindowOf(const Step& step) {
  const std::int64_t window = step.packet.window;
  const bool scaled = !step.packet.syn && step.flow.scale_known &&
                      step.figures.scale && step.others.scale;
  return scaled ? window << *step.figures.scale : window;
}

void TcpConnection::TakeWindow(Step& step) {
  DirectionFigures& figures = step.figures;
  const std::int64_t window = WindowOf(step);
  step.seen.window_bytes = window;
  if (step.packet.rst) return;
  if (!figures.window_initial) figures.window_initial = window;
  if (step.packet.syn) return;
  figures.window_min = std::min(figures.window_min.value_or(window), window);
  figures.window_max = std::max(figures.window_max.value_or(window), window);
  if (window == 0 && !step.packet.fin) ++figures.zero_windows;
}

void TcpConnection::TakeEnd(Step& step) {
  step.from.last_ns = step.time_ns;
  if (step.packet.rst) ++step.figures.resets;
  if (!step.packet.fin || step.packet.rst) return;
  ++step.figures.fins;
  if (step.from.fin) return;
  step.from.fin = step.seen.offset + step.seen.payload_bytes;
  step.from.sent.ReachTo(*step.from.fin, step.time_ns);
}

void TcpConnection::Finish(Flow& flow) const {
  flow.from_client.missing_bytes = ends_[0].sent.Missing();
  flow.from_server.missing_bytes = ends_[1].sent.Missing();
}

void CountLayers(const Packet& packet, std::int64_t segments,
                 std::int64_t most_payload, DirectionFigures& figures) {
  // IEEE 802.3: check sequence 4; 64 bytes at least with it; preamble 8 and
  // gap 12.
  constexpr std::int64_t kCheckSequence = 4;
  constexpr std::int64_t kLeastFrame = 64;
  constexpr std::int64_t kBetween = 20;
  const std::int64_t more = segments - 1;
  const std::int64_t full = HeaderBytes(packet) + most_payload;
  const std::int64_t last = packet.ip_bytes - more * most_payload;
  figures.layer3_bytes += more * full + last;
  if (!packet.ethernet || packet.loopback) {
    figures.framing_known = false;
    return;
  }
  const std::int64_t around = packet.link_header_bytes + kCheckSequence;
  const std::int64_t layer2 = more * std::max(kLeastFrame, around + full) +
                              std::max(kLeastFrame, around + last);
  figures.layer2_bytes += layer2;
  figures.layer1_bytes += layer2 + segments * kBetween;
}

}  // namespace wiretoll
