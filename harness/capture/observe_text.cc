#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <string_view>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/capture/observe.h"

namespace wiretoll {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kSizesShown = 20;
constexpr std::size_t kInterfacesShown = 8;

std::string GroupedFrames(std::int64_t count) {
  return GroupDigits(count) + (count == 1 ? " frame" : " frames");
}

std::string Lasting(std::int64_t ns) { return FormatDuration(Nanoseconds{ns}); }

// "2026-11-30 20:00:00.123456789 UTC".
std::string Moment(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(ns / kSecond);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC", fmt::gmtime(seconds),
                     ns % kSecond);
}

// `text` after `indent` columns; further lines begin in the same column.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > kWidth) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string InterfaceLine(const InterfaceFacts& facts) {
  const std::string kept = facts.snap_length == 0
                               ? std::string("whole")
                               : fmt::format("up to {} bytes of each",
                                             GroupDigits(facts.snap_length));
  const std::string lost =
      facts.dropped
          ? fmt::format("{} lost by the capture", GroupDigits(*facts.dropped))
          : std::string("the file does not tell how many were lost");
  const std::string name =
      facts.name.empty() ? "interface" : QuoteBytes(facts.name);
  return "  " +
         Wrapped(fmt::format("{} ({}): {}, {}; {}", name,
                             LinkTypeName(facts.link_type),
                             GroupedFrames(facts.frames), kept, lost),
                 2) +
         "\n";
}

void AddKind(std::string& kinds, std::int64_t frames, std::string_view name) {
  if (frames == 0) return;
  kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", name,
                       GroupDigits(frames));
}

std::string KindsLine(const CaptureTotals& totals) {
  std::int64_t other_links = 0;
  for (const auto& [link_type, frames] : totals.other_links)
    other_links += frames;
  std::string kinds;
  AddKind(kinds, totals.tcp, "TCP");
  AddKind(kinds, totals.udp, "UDP");
  AddKind(kinds, totals.later_fragments, "later IP fragments");
  AddKind(kinds, totals.other_ip, "other IP");
  AddKind(kinds, totals.not_ip, "no IP");
  AddKind(kinds, totals.cut, "cut in headers");
  AddKind(kinds, totals.malformed, "malformed");
  AddKind(kinds, other_links, "other link types");
  return kinds.empty() ? kinds : "  " + Wrapped("frames: " + kinds, 2) + "\n";
}

std::string Head(const Observation& seen) {
  const CaptureTotals& totals = seen.totals;
  std::string head = fmt::format("{}: {}, {}", seen.file, seen.facts.format,
                                 GroupedFrames(seen.facts.frames));
  if (totals.first_ns) {
    head += fmt::format(" in {}\n  from {}",
                        Lasting(*totals.last_ns - *totals.first_ns),
                        Moment(*totals.first_ns));
  }
  head += "\n";
  const auto& interfaces = seen.facts.interfaces;
  for (std::size_t i = 0; i < std::min(interfaces.size(), kInterfacesShown);
       ++i) {
    head += InterfaceLine(interfaces[i]);
  }
  if (interfaces.size() > kInterfacesShown) {
    head += fmt::format(
        "  and {} more (--format json)\n",
        Count(static_cast<long long>(interfaces.size() - kInterfacesShown),
              "interface"));
  }
  return head + KindsLine(totals);
}

std::string TableLine(const Flow& flow, bool from_client) {
  const DirectionFigures& from =
      from_client ? flow.from_client : flow.from_server;
  const std::string again = flow.tcp ? GroupDigits(from.resent) : "";
  const std::string stalls = flow.tcp ? GroupDigits(from.stalls.count) : "";
  const std::string lasted =
      from_client ? Lasting(flow.last_ns - flow.first_ns) : "";
  std::string line =
      fmt::format("      {} {:>14} {:>12} {:>12} {:>9} {:>7} {:>12}",
                  from_client ? "->" : "<-", GroupDigits(from.payload_bytes),
                  GroupDigits(from.data_segments), GroupDigits(from.segments),
                  again, stalls, lasted);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Table(const Observation& seen,
                  const std::vector<std::size_t>& shown) {
  std::string table = fmt::format(
      "  no. flow: client -> server, most payload first\n"
      "      {:2} {:>14} {:>12} {:>12} {:>9} {:>7} {:>12}\n",
      "", "payload bytes", "with payload", "all segments", "resent", "stalls",
      "lasted");
  for (const std::size_t at : shown) {
    const Flow& flow = seen.flows[at];
    table += fmt::format("{:5} {} {}\n", at + 1, flow.tcp ? "TCP" : "UDP",
                         FlowName(flow));
    table += TableLine(flow, true) + TableLine(flow, false);
  }
  return table;
}

// One figure of both directions.
using Spell = std::string (*)(const DirectionFigures&);
struct Row {
  const char* label;
  bool tcp_only;
  Spell spell;
};

std::string Row3(std::string_view label, std::string_view client,
                 std::string_view server) {
  return fmt::format("  {:36} {:>20} {:>20}\n", label, client, server);
}

template <std::int64_t DirectionFigures::*kMember>
std::string Number(const DirectionFigures& from) {
  return GroupDigits(from.*kMember);
}

template <std::optional<std::int64_t> DirectionFigures::*kMember>
std::string MaybeNumber(const DirectionFigures& from) {
  return from.*kMember ? GroupDigits(*(from.*kMember)) : "?";
}

template <std::int64_t DirectionFigures::*kMember>
std::string FramedNumber(const DirectionFigures& from) {
  return from.framing_known ? GroupDigits(from.*kMember) : "?";
}

template <std::int64_t Stalls::*kMember>
std::string StallTime(const DirectionFigures& from) {
  return from.stalls.count > 0 ? Lasting(from.stalls.*kMember) : "-";
}

std::string AckTime(const DirectionFigures& from, std::int64_t ns) {
  return from.data_to_ack.samples > 0 ? Lasting(ns) : "?";
}

constexpr Row kRows[] = {
    {"frames captured", false, Number<&DirectionFigures::frames>},
    {"segments on the wire", true, Number<&DirectionFigures::segments>},
    {"  with payload", true, Number<&DirectionFigures::data_segments>},
    {"  ACK alone", true, Number<&DirectionFigures::pure_acks>},
    {"    duplicate", true, Number<&DirectionFigures::duplicate_acks>},
    {"    window update", true, Number<&DirectionFigures::window_updates>},
    {"  keep-alives, window probes", true, Number<&DirectionFigures::probes>},
    {"  SYN / FIN / RST", true,
     [](const DirectionFigures& from) {
       return fmt::format("{} / {} / {}", from.syns, from.fins, from.resets);
     }},
    {"  in frames longer than the MSS", true,
     Number<&DirectionFigures::super_segments>},
    {"datagrams", false, nullptr},  // UDP only; see Details().
    {"IP fragments", false, Number<&DirectionFigures::fragments>},
    {"payload, bytes", false, Number<&DirectionFigures::payload_bytes>},
    {"  each byte once", true, Number<&DirectionFigures::unique_bytes>},
    {"  sent, but not captured", true,
     Number<&DirectionFigures::missing_bytes>},
    {"sent again, segments", true, Number<&DirectionFigures::resent>},
    {"  seen before", true, Number<&DirectionFigures::retransmissions>},
    {"    bytes of that", true, Number<&DirectionFigures::retransmitted_bytes>},
    {"    acknowledged before: for nothing", true,
     Number<&DirectionFigures::spurious_retransmissions>},
    {"  filled a gap, a round trip late", true,
     Number<&DirectionFigures::late_fills>},
    {"filled a gap at all, segments", true,
     Number<&DirectionFigures::out_of_order>},
    {"window advertised first, bytes", true,
     MaybeNumber<&DirectionFigures::window_initial>},
    {"  least later", true, MaybeNumber<&DirectionFigures::window_min>},
    {"  most later", true, MaybeNumber<&DirectionFigures::window_max>},
    {"  segments with a closed window", true,
     Number<&DirectionFigures::zero_windows>},
    {"MSS, bytes", true,
     [](const DirectionFigures& from) {
       return from.mss ? GroupDigits(*from.mss) : std::string("?");
     }},
    {"window scale, bits", true,
     [](const DirectionFigures& from) {
       return from.scale ? GroupDigits(*from.scale) : std::string("?");
     }},
    {"payload to its ACK, at least", true,
     [](const DirectionFigures& from) {
       return AckTime(from, from.data_to_ack.min_ns);
     }},
    {"  mean", true,
     [](const DirectionFigures& from) {
       return AckTime(from,
                      from.data_to_ack.sum_ns /
                          std::max<std::int64_t>(1, from.data_to_ack.samples));
     }},
    {"  at most", true,
     [](const DirectionFigures& from) {
       return AckTime(from, from.data_to_ack.max_ns);
     }},
    {"stalls of over 30 ms", true,
     [](const DirectionFigures& from) {
       return GroupDigits(from.stalls.count);
     }},
    {"  together", true, StallTime<&Stalls::total_ns>},
    {"  the longest", true, StallTime<&Stalls::longest_ns>},
    {"layer 3 (IP packets), bytes", false,
     Number<&DirectionFigures::layer3_bytes>},
    {"layer 2 (Ethernet frames), bytes", false,
     FramedNumber<&DirectionFigures::layer2_bytes>},
    {"layer 1 (with preamble, gap), bytes", false,
     FramedNumber<&DirectionFigures::layer1_bytes>},
};

std::string SizesLine(std::string_view who, const DirectionFigures& from) {
  const auto bins = from.sizes.Bins();
  if (bins.empty()) return {};
  std::string sizes = fmt::format("payload sizes, {}:", who);
  for (std::size_t i = 0; i < std::min(bins.size(), kSizesShown); ++i) {
    const SizeDistribution::Bin& bin = bins[i];
    const std::string range = bin.low == bin.high
                                  ? fmt::format("{}", bin.low)
                                  : fmt::format("{}-{}", bin.low, bin.high);
    sizes += fmt::format(" {}x{}B{}", GroupDigits(bin.count), range,
                         i + 1 < bins.size() ? "," : "");
  }
  if (bins.size() > kSizesShown) sizes += " ...";
  return "  " + Wrapped(sizes, 4) + "\n";
}

std::string RoundTripLine(const Flow& flow) {
  const auto spell = [](const std::optional<std::int64_t>& ns) {
    return ns ? Lasting(*ns) : std::string("?");
  };
  return fmt::format(
      "  round trip of the handshake: {} to the server, {} to the client\n",
      spell(flow.server_round_trip_ns), spell(flow.client_round_trip_ns));
}

std::string Details(const Flow& flow, std::size_t number) {
  std::string text =
      fmt::format("Flow {}: {} {}, {}\n", number, flow.tcp ? "TCP" : "UDP",
                  FlowName(flow), Lasting(flow.last_ns - flow.first_ns));
  if (flow.tcp) text += "  " + FlowLife(flow) + "\n" + RoundTripLine(flow);
  text += Row3("", "client sent", "server sent");
  for (const Row& row : kRows) {
    if (row.tcp_only && !flow.tcp) continue;
    const bool udp_only = row.spell == nullptr;
    if (udp_only && flow.tcp) continue;
    const Spell spell =
        udp_only ? Number<&DirectionFigures::data_segments> : row.spell;
    text += Row3(row.label, spell(flow.from_client), spell(flow.from_server));
  }
  return text + SizesLine("client", flow.from_client) +
         SizesLine("server", flow.from_server);
}

std::string NotesText(const Observation& seen) {
  std::string notes;
  for (const std::string& note : seen.notes)
    notes += "note: " + Wrapped(note, 6) + "\n";
  return notes;
}

}  // namespace

std::string ObservationText(const Observation& seen, const FlowChoice& choice) {
  std::string text = Head(seen) + NotesText(seen);
  const std::vector<std::size_t> shown = Choose(seen, choice);
  if (shown.empty()) return text;
  const bool one = shown.size() == 1;
  if (!one) text += "\n" + Table(seen, shown);
  if (!choice.port_or_number && shown.size() < seen.flows.size()) {
    text += fmt::format(
        "  and {} more; --top {} shows all\n",
        Count(static_cast<long long>(seen.flows.size() - shown.size()), "flow"),
        seen.flows.size());
  }
  const std::size_t detailed = choice.port_or_number ? shown.size() : 1;
  for (std::size_t i = 0; i < detailed; ++i)
    text += "\n" + Details(seen.flows[shown[i]], shown[i] + 1);
  if (!one && !choice.port_or_number)
    text += "\n  the others' figures: --flow with a port, or a number above\n";
  return text;
}

}  // namespace wiretoll
