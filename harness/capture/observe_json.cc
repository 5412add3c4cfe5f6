#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/capture/observe.h"
#include "harness/capture/observe_fields.h"

namespace wiretoll {
namespace {

using Json = nlohmann::ordered_json;

// null, with the reason in the same object, where there is no value.
void Put(Json& object, const std::string& name, const Figure& figure,
         const char* why_null) {
  if (figure) {
    object[name] = *figure;
    return;
  }
  object[name] = nullptr;
  object["why_null"][name] = why_null;
}

Json InterfaceJson(const InterfaceFacts& facts) {
  Json json{{"name", facts.name.empty() ? Json() : Json(facts.name)},
            {"link_type", facts.link_type},
            {"link", LinkTypeName(facts.link_type)},
            {"snap_length_bytes", facts.snap_length},
            {"frames", facts.frames}};
  if (facts.name.empty()) json["why_null"]["name"] = "the file does not tell";
  Put(json, "received_frames", facts.received, "the file does not tell");
  Put(json, "dropped_frames", facts.dropped, "the file does not tell");
  json["clock_steps_back"] = facts.steps_back;
  json["largest_step_back_ns"] = facts.largest_step_back_ns;
  return json;
}

Json TotalsJson(const CaptureTotals& totals) {
  std::int64_t other_links = 0;
  for (const auto& [link_type, frames] : totals.other_links)
    other_links += frames;
  return {{"tcp_frames", totals.tcp},
          {"udp_frames", totals.udp},
          {"later_fragment_frames", totals.later_fragments},
          {"other_ip_frames", totals.other_ip},
          {"not_ip_frames", totals.not_ip},
          {"cut_frames", totals.cut},
          {"malformed_frames", totals.malformed},
          {"other_link_frames", other_links},
          {"untracked_frames", totals.untracked_frames}};
}

Json SizesJson(const SizeDistribution& sizes) {
  Json list = Json::array();
  for (const SizeDistribution::Bin& bin : sizes.Bins()) {
    list.push_back({{"low_bytes", bin.low},
                    {"high_bytes", bin.high},
                    {"count", bin.count}});
  }
  return list;
}

Json DirectionJson(const DirectionFigures& from, bool tcp) {
  Json json = Json::object();
  for (const DirectionField& field : kDirectionFields) {
    if (field.tcp_only && !tcp) continue;
    Put(json, field.name, field.of(from), field.why_null);
  }
  json["payload_sizes"] = SizesJson(from.sizes);
  return json;
}

Json FlowJson(const Flow& flow, std::size_t number) {
  constexpr char kNoHandshake[] =
      "this part of the handshake was not captured, or was sent twice";
  Json json{{"number", number},
            {"transport", flow.tcp ? "tcp" : "udp"},
            {"client", AddressText(flow.client.address)},
            {"client_port", flow.client.port},
            {"server", AddressText(flow.server.address)},
            {"server_port", flow.server.port},
            {"first_ns", flow.first_ns},
            {"last_ns", flow.last_ns}};
  if (flow.tcp) {
    json["life"] = FlowLife(flow);
    json["begin_seen"] = flow.begin_seen;
    json["windows_scaled"] = flow.scale_known;
    json["timestamps"] = flow.timestamps;
    json["mss_assumed"] = flow.mss_assumed;
    Put(json, "server_round_trip_ns", flow.server_round_trip_ns, kNoHandshake);
    Put(json, "client_round_trip_ns", flow.client_round_trip_ns, kNoHandshake);
  }
  json["from_client"] = DirectionJson(flow.from_client, flow.tcp);
  json["from_server"] = DirectionJson(flow.from_server, flow.tcp);
  return json;
}

}  // namespace

std::string ObservationJson(const Observation& seen, const FlowChoice& choice) {
  Json interfaces = Json::array();
  for (const InterfaceFacts& facts : seen.facts.interfaces)
    interfaces.push_back(InterfaceJson(facts));
  Json flows = Json::array();
  for (const std::size_t at : Choose(seen, choice))
    flows.push_back(FlowJson(seen.flows[at], at + 1));
  Json json{{"v", 1},
            {"file", seen.file},
            {"format", seen.facts.format},
            {"frames", seen.facts.frames},
            {"whole", seen.facts.ended_early.empty()}};
  constexpr char kNoFrame[] = "there is no frame";
  Put(json, "first_ns", seen.totals.first_ns, kNoFrame);
  Put(json, "last_ns", seen.totals.last_ns, kNoFrame);
  json["interfaces"] = std::move(interfaces);
  json["totals"] = TotalsJson(seen.totals);
  json["notes"] = seen.notes;
  json["flow_count"] = seen.flows.size();
  json["flows"] = std::move(flows);
  // Names out of files may be no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace wiretoll
