#include "harness/theory/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

HeaderStack StackOf(const TheoryOptions& options, Transport transport) {
  return {.ip_version = options.ip_version,
          .transport = transport,
          .timestamps = options.timestamps,
          .vlan = options.vlan};
}

std::string NameOf(Transport transport) {
  return transport == Transport::kUdp ? "udp" : "tcp";
}

Failure Usage(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

// Room for a header stack and, for fragments, their header and 8 bytes.
constexpr Bytes kLeastMtu{128};

std::optional<Failure> Check(const TheoryOptions& options) {
  if (options.ip_version != 4 && options.ip_version != 6) {
    return Usage(fmt::format("--ip {}: there are 4 and 6", options.ip_version));
  }
  if (options.mtu < kLeastMtu) {
    return Usage(
        fmt::format("an MTU of {} bytes may leave no room beside the longest "
                    "headers and a fragment's; take {} or more",
                    options.mtu.count, kLeastMtu.count));
  }
  for (const Bytes payload : options.payloads) {
    if (payload.count < 1) {
      return Usage(fmt::format("--payload {}: a payload has at least 1 byte",
                               payload.count));
    }
  }
  return std::nullopt;
}

// Around the largest segment, because one byte more costs a frame.
std::vector<Bytes> DefaultPayloads(Bytes largest) {
  std::vector<Bytes> payloads;
  for (const int size : {1, 32, 64, 256, 536, 1024}) {
    if (Bytes{size} < largest) payloads.push_back({size});
  }
  payloads.push_back(largest);
  payloads.push_back(largest + Bytes{1});
  for (const int size : {4096, 16384, 65507}) {
    if (Bytes{size} > largest + Bytes{1}) payloads.push_back({size});
  }
  return payloads;
}

void Add(FrameCost& sum, const FrameCost& cost, std::int64_t times) {
  sum.payload.count += times * cost.payload.count;
  sum.l4.count += times * cost.l4.count;
  sum.l3.count += times * cost.l3.count;
  sum.l2.count += times * cost.l2.count;
  sum.l1.count += times * cost.l1.count;
}

DatagramCost CostOfTcp(Bytes payload, Bytes mtu, const HeaderStack& stack) {
  const Bytes mss = LargestPayload(mtu, stack);
  const std::int64_t full = payload.count / mss.count;
  const Bytes rest{payload.count % mss.count};
  DatagramCost sum{full, {}};
  Add(sum.cost, CostOfFrame(mss, stack), full);
  if (rest.count > 0) {
    Add(sum.cost, CostOfFrame(rest, stack), 1);
    ++sum.fragments;
  }
  return sum;
}

std::optional<DatagramCost> CostOf(Bytes payload, Bytes mtu,
                                   const HeaderStack& stack) {
  if (stack.transport == Transport::kUdp) {
    return CostOfDatagram(payload, mtu, stack);
  }
  return CostOfTcp(payload, mtu, stack);
}

TheoryRow RowOf(const DatagramCost& sum, Transport transport,
                const std::optional<BitsPerSecond>& link) {
  TheoryRow row;
  row.transport = transport;
  row.payload = sum.cost.payload;
  row.segments = sum.fragments;
  row.l4 = sum.cost.l4;
  row.l3 = sum.cost.l3;
  row.l2 = sum.cost.l2;
  row.l1 = sum.cost.l1;
  row.efficiency = Efficiency(sum.cost);
  if (link) {
    row.payload_rate = LineLimit(*link, row.efficiency);
    row.segment_rate =
        FrameRateLimit(*link, row.l1) * static_cast<double>(row.segments);
  }
  return row;
}

void AddRows(TheoryTable& table, Transport transport) {
  const HeaderStack stack = StackOf(table.options, transport);
  const Bytes mtu = table.options.mtu;
  const std::vector<Bytes> payloads =
      table.options.payloads.empty()
          ? DefaultPayloads(LargestPayload(mtu, stack))
          : table.options.payloads;
  for (const Bytes payload : payloads) {
    const std::optional<DatagramCost> sum = CostOf(payload, mtu, stack);
    if (sum) {
      table.rows.push_back(RowOf(*sum, transport, table.options.link));
    } else {
      table.notes.push_back(fmt::format(
          "UDP over IPv{} carries no {} bytes: a datagram ends at {}",
          stack.ip_version, payload.count,
          LargestDatagram(stack.ip_version).count));
    }
  }
}

std::string AssumptionsOf(const TheoryOptions& options) {
  return fmt::format(
      "{}, TCP 20 B (RFC 9293 3.1){}, UDP 8 B (RFC 768), Ethernet 14 + 4 B{}, "
      "frame at least 64 B, preamble and gap 8 + 12 B (IEEE 802.3 3.2, 4.4.2), "
      "MTU {} B; no loss, no ACKs, no IP options{}.",
      options.ip_version == 6 ? "IPv6 40 B (RFC 8200 3)"
                              : "IPv4 20 B (RFC 791 3.1)",
      options.timestamps ? " + timestamps 12 B (RFC 7323 appendix A)" : "",
      options.vlan ? " + VLAN tag 4 B (IEEE 802.1Q 9.3)" : "",
      options.mtu.count,
      options.link ? fmt::format("; link {}", FormatBitRate(*options.link))
                   : "");
}

nlohmann::ordered_json OrNull(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

Outcome<TheoryTable> MakeTheoryTable(const TheoryOptions& options) {
  if (std::optional<Failure> wrong = Check(options)) return *std::move(wrong);
  TheoryTable table{options, {}, AssumptionsOf(options), {}};
  AddRows(table, Transport::kTcp);
  AddRows(table, Transport::kUdp);
  return table;
}

std::string TheoryText(const TheoryTable& table) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:<9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
                 "transport", "payload B", "segments", "L4 B", "L3 B", "L2 B",
                 "L1 B", "efficiency");
  const bool rates = table.options.link.has_value();
  if (rates)
    fmt::format_to(out, " {:>12} {:>10}", "payload MB/s", "segments/s");
  text += '\n';
  for (const TheoryRow& row : table.rows) {
    fmt::format_to(out, "{:<9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8.2f} %",
                   NameOf(row.transport), row.payload.count, row.segments,
                   row.l4.count, row.l3.count, row.l2.count, row.l1.count,
                   100 * row.efficiency);
    if (rates) {
      fmt::format_to(out, " {:>12.4f} {:>10.0f}", *row.payload_rate / 1e6,
                     *row.segment_rate);
    }
    text += '\n';
  }
  text += '\n' + table.assumptions + '\n';
  for (const std::string& note : table.notes) text += note + '\n';
  return text;
}

std::string TheoryCsv(const TheoryTable& table) {
  std::string text =
      "transport,payload_bytes,segments,l4_bytes,l3_bytes,l2_bytes,l1_bytes,"
      "efficiency,payload_bytes_per_s,segments_per_s\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : std::string();
  };
  for (const TheoryRow& row : table.rows) {
    fmt::format_to(std::back_inserter(text),
                   "{},{},{},{},{},{},{},{:.6f},{},{}\n", NameOf(row.transport),
                   row.payload.count, row.segments, row.l4.count, row.l3.count,
                   row.l2.count, row.l1.count, row.efficiency,
                   number(row.payload_rate), number(row.segment_rate));
  }
  return text;
}

std::string TheoryJson(const TheoryTable& table) {
  using Json = nlohmann::ordered_json;
  const TheoryOptions& options = table.options;
  Json rows = Json::array();
  for (const TheoryRow& row : table.rows) {
    rows.push_back({{"transport", NameOf(row.transport)},
                    {"payload_bytes", row.payload.count},
                    {"segments", row.segments},
                    {"l4_bytes", row.l4.count},
                    {"l3_bytes", row.l3.count},
                    {"l2_bytes", row.l2.count},
                    {"l1_bytes", row.l1.count},
                    {"efficiency", row.efficiency},
                    {"payload_bytes_per_s", OrNull(row.payload_rate)},
                    {"segments_per_s", OrNull(row.segment_rate)}});
  }
  const Json json = {
      {"ip", options.ip_version},
      {"timestamps", options.timestamps},
      {"vlan", options.vlan},
      {"mtu_bytes", options.mtu.count},
      {"link_bits_per_s", options.link ? Json(options.link->value) : Json()},
      {"assumptions", table.assumptions},
      {"notes", table.notes},
      {"rows", rows}};
  return json.dump(2) + '\n';
}

}  // namespace wiretoll
