#include <nlohmann/json.hpp>

#include "harness/base/version.h"
#include "harness/check/describe.h"
#include "harness/check/remedies.h"

namespace wiretoll {
namespace {

using nlohmann::json;

json OrNull(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

// A figure stands beside its reason: "x": null, "x_reason": "why".
void Put(json& out, const std::string& name,
         const Observed<std::int64_t>& seen) {
  out[name] = OrNull(seen.value);
  if (!seen.value) out[name + "_reason"] = seen.reason;
}

json ToJson(const Remedy& remedy) {
  return {{"words", remedy.words}, {"commands", remedy.commands}};
}

json ToJson(const CheckProblem& problem) {
  json remedies = json::array();
  for (const Remedy& remedy : problem.remedies)
    remedies.push_back(ToJson(remedy));
  return {{"kind", NameOf(problem.kind)},
          {"what", problem.what},
          {"remedies", remedies}};
}

json ToJson(const Sights& sights) {
  json seen = json::object();
  for (const Sight& sight : sights.seen) seen[sight.key] = sight.seen;
  return {{"tried", sights.tried},
          {"seen", seen},
          {"reason", OrNull(sights.reason)}};
}

json ToJson(const HostCheck& host, const CheckReport& report) {
  json out{{"name", host.host.name},
           {"address", host.host.address},
           {"agent", host.host.agent},
           {"usable", host.usable},
           {"starts", host.hello.has_value()},
           {"sends", ToJson(host.sends)},
           {"receives", ToJson(host.receives)},
           {"notes", host.notes}};
  for (const char* field : {"version", "os", "stack", "description"})
    out[field] = nullptr;
  if (host.hello) {
    out["version"] = host.hello->version;
    out["os"] = host.hello->os;
    out["stack"] = host.hello->stack;
    out["description"] = host.hello->description;
    out["sees_more_by"] = ToJson(CaptureOn(host, report));
  }
  out["interface"] = OrNull(host.interface);
  Put(out, "mtu_bytes", host.mtu_bytes);
  out["offloads"] = json::object();
  for (const Offload& offload : host.offloads) {
    out["offloads"][offload.name] = OrNull(offload.on.value);
    if (!offload.on.value)
      out["offloads"][offload.name + "_reason"] = offload.on.reason;
  }
  out["clock_ahead_ns"] = out["clock_within_ns"] = nullptr;
  if (host.clock.value) {
    out["clock_ahead_ns"] = host.clock.value->ahead.count();
    out["clock_within_ns"] = host.clock.value->within.count();
  } else {
    out["clock_reason"] = host.clock.reason;
  }
  out["captures"] = OrNull(host.captures);
  if (host.captures != true) out["captures_reason"] = host.why_no_captures;
  out["problems"] = json::array();
  for (const CheckProblem& problem : host.problems)
    out["problems"].push_back(ToJson(problem));
  return out;
}

json ToJson(const Observed<LatencySummary>& seen) {
  if (!seen.value) return nullptr;
  return {{"rounds", seen.value->count},
          {"min_ns", seen.value->min_ns},
          {"median_ns", seen.value->p50_ns},
          {"max_ns", seen.value->max_ns}};
}

json ToJson(const PairCheck& pair) {
  json out{{"sender", pair.sender},
           {"receiver", pair.receiver},
           {"reaches", OrNull(pair.reaches)},
           {"not_tried", OrNull(pair.not_tried)},
           {"round_trip", ToJson(pair.round_trip)},
           {"full_segments", OrNull(pair.full_segments)},
           {"sender_counts_data_segments", OrNull(pair.sender_counts)},
           {"receiver_counts_data_segments", OrNull(pair.receiver_counts)},
           {"notes", pair.notes},
           {"problem", nullptr}};
  if (!pair.round_trip.value) out["round_trip_reason"] = pair.round_trip.reason;
  Put(out, "path_mtu_bytes", pair.path_mtu_bytes);
  if (pair.problem) out["problem"] = ToJson(*pair.problem);
  return out;
}

}  // namespace

std::string CheckJson(const CheckReport& report) {
  json out{{"v", 1},
           {"wiretoll", kVersion},
           {"hosts_file", report.file},
           {"first_port", report.first_port},
           {"last_port", report.last_port},
           {"ok", CodeOf(report) == ExitCode::kDone},
           {"interrupted", report.interrupted},
           {"hosts", json::array()},
           {"pairs", json::array()}};
  for (const HostCheck& host : report.hosts)
    out["hosts"].push_back(ToJson(host, report));
  for (const PairCheck& pair : report.pairs)
    out["pairs"].push_back(ToJson(pair));
  // Bytes that are no UTF-8 become U+FFFD.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace wiretoll
