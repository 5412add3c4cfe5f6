#include <fmt/format.h>

#include <string_view>

#include "harness/capture/observe.h"
#include "harness/capture/observe_fields.h"

namespace wiretoll {
namespace {

// RFC 4180 2: in quotes, and quotes inside doubled.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string Spelled(const Figure& figure) {
  return figure ? fmt::format("{}", *figure) : std::string();
}

std::string Line(const Observation& seen, std::size_t at, bool from_client) {
  const Flow& flow = seen.flows[at];
  const IpEndpoint& source = from_client ? flow.client : flow.server;
  const IpEndpoint& destination = from_client ? flow.server : flow.client;
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{}", Quoted(seen.file), at + 1,
                  flow.tcp ? "tcp" : "udp", from_client ? "client" : "server",
                  AddressText(source.address), source.port,
                  AddressText(destination.address), destination.port,
                  flow.first_ns, flow.last_ns,
                  Spelled(from_client ? flow.server_round_trip_ns
                                      : flow.client_round_trip_ns));
  const DirectionFigures& from =
      from_client ? flow.from_client : flow.from_server;
  for (const DirectionField& field : kDirectionFields) {
    line += ',';
    if (flow.tcp || !field.tcp_only) line += Spelled(field.of(from));
  }
  return line + "\n";
}

}  // namespace

std::string ObservationCsvHeader() {
  std::string header =
      "file,flow,transport,end,source,source_port,destination,"
      "destination_port,first_ns,last_ns,handshake_round_trip_ns";
  for (const DirectionField& field : kDirectionFields)
    header += fmt::format(",{}", field.name);
  return header + "\n";
}

std::string ObservationCsv(const Observation& seen, const FlowChoice& choice) {
  std::string lines;
  for (const std::size_t at : Choose(seen, choice)) {
    lines += Line(seen, at, true);
    lines += Line(seen, at, false);
  }
  return lines;
}

}  // namespace wiretoll
