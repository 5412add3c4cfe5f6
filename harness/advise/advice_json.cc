#include <nlohmann/json.hpp>

#include "harness/advise/describe_advice.h"
#include "harness/base/version.h"

namespace wiretoll {
namespace {

using nlohmann::json;

template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json OrNull(const std::optional<Bytes>& value) {
  return value ? json(value->count) : json();
}

json OrNull(const std::optional<Nanoseconds>& value) {
  return value ? json(value->count()) : json();
}

json FigureJson(const std::optional<RepeatedFigure>& figure) {
  if (!figure) return {};
  return {{"median", figure->median},
          {"low", OrNull(figure->low)},
          {"high", OrNull(figure->high)},
          {"repeats", figure->repeats}};
}

json RoundsJson(const std::optional<LatencySummary>& rounds) {
  if (!rounds) return {};
  return {{"rounds", rounds->count},     {"min_ns", rounds->min_ns},
          {"median_ns", rounds->p50_ns}, {"p99_ns", rounds->p99_ns},
          {"max_ns", rounds->max_ns},    {"over_30ms", rounds->over_30ms}};
}

json FactJson(const RecordedFact& fact) {
  if (const auto* flag = std::get_if<bool>(&fact.value)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&fact.value))
    return *number;
  if (const auto* text = std::get_if<std::string>(&fact.value)) return *text;
  return OrNull(fact.number);
}

// What could not be read is null, with its reason beside it.
json HostJson(const PairHost& host) {
  json facts = json::object();
  for (const RecordedFact& fact : host.facts) {
    facts[fact.name] = FactJson(fact);
    if (!fact.reason.empty()) facts[fact.name + "_reason"] = fact.reason;
  }
  return {{"name", host.name},
          {"address", host.address},
          {"os", host.os},
          {"facts", facts}};
}

json LineJson(const Evidence& e) {
  if (!e.line)
    return {{"rate_bits_per_second", nullptr}, {"reason", e.why_no_line}};
  return {{"rate_bits_per_second", e.line->rate.value},
          {"at_least", e.line->at_least},
          {"how", e.line->how},
          {"payload_bytes_per_second", OrNull(LineCapacity(e))},
          {"bdp_bytes", OrNull(BdpOf(e))}};
}

json SubjectJson(const SubjectFigures& s) {
  return {{"name", s.name},
          {"trials", s.trials},
          {"failed", s.failed},
          {"failure", s.failed > 0 ? json(s.failure) : json()},
          {"bytes_per_second", FigureJson(s.bytes_per_second)},
          {"bytes", OrNull(s.bytes)},
          {"elapsed_ns", OrNull(s.elapsed)},
          {"round", RoundsJson(s.latency)},
          {"busy_share", OrNull(s.busy_share)},
          {"window_limited_share", OrNull(s.window_share)},
          {"sndbuf_limited_share", OrNull(s.sndbuf_share)},
          {"counters_reason", s.why_no_counters},
          {"retransmitted_segments", OrNull(s.retransmitted_segments)},
          {"data_segments", OrNull(s.data_segments)},
          {"peak_window_bytes", OrNull(s.peak_window)},
          {"peer_window_scale", OrNull(s.window_scale)},
          {"cwnd_bytes", OrNull(s.flight)},
          {"mss_bytes", OrNull(s.mss)},
          {"path_mtu_bytes", OrNull(s.path_mtu)},
          {"rtt_handshake_ns", OrNull(s.handshake)},
          {"congestion", OrNull(s.congestion)},
          {"sender_cpu_share", OrNull(s.sender_cpu)},
          {"receiver_cpu_share", OrNull(s.receiver_cpu)},
          {"gap_share", OrNull(s.gap_share)}};
}

json ChangeJson(const SettingChange& change) {
  return {{"host", change.host},
          {"words", change.words},
          {"commands", change.now},
          {"windows", change.windows},
          {"file", change.file.empty() ? json() : json(change.file)},
          {"line", change.line.empty() ? json() : json(change.line)},
          {"undo", change.undo},
          {"undo_reason",
           change.why_no_undo.empty() ? json() : json(change.why_no_undo)},
          {"of_program", change.now.empty()},
          {"from", OrNull(change.from)},
          {"to", OrNull(change.to)},
          {"gain", change.gain.empty() ? json() : json(change.gain)}};
}

const char* UnitOf(Aim aim) {
  return aim == Aim::kThroughput ? "bytes_per_second" : "ns";
}

json VerificationJson(const std::optional<Verification>& v) {
  if (!v) return {};
  json made = json::array();
  for (const SettingChange& change : v->changes)
    made.push_back(ChangeJson(change));
  return {{"made", made},
          {"not_done", v->not_done.empty() ? json() : json(v->not_done)},
          {"unit", UnitOf(v->aim)},
          {"before", FigureJson(v->before)},
          {"after", FigureJson(v->after)},
          {"ratio", FigureJson(v->ratio)},
          {"failed", v->troubles}};
}

json ToJson(const Advice& advice) {
  json findings = json::array();
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const Finding& finding = advice.findings[i];
    json changes = json::array();
    for (const SettingChange& change : advice.changes[i])
      changes.push_back(ChangeJson(change));
    findings.push_back(
        {{"limit", NameOf(finding.limit)},
         {"confidence", NameOf(finding.confidence)},
         {"headline", finding.headline},
         {"evidence", finding.evidence},
         {"theory_bytes_per_second", OrNull(finding.theory_bytes_per_second)},
         {"changes", changes}});
  }
  const Evidence& e = advice.evidence;
  return {{"v", 1},
          {"wiretoll", kVersion},
          {"limit", NameOf(advice.findings.front().limit)},
          {"findings", findings},
          {"link", e.link},
          {"sender", HostJson(e.sender)},
          {"receiver", HostJson(e.receiver)},
          {"round_trip", RoundsJson(e.first_rtt)},
          {"round_trip_last", RoundsJson(e.last_rtt)},
          {"round_trip_loaded", RoundsJson(e.loaded_rtt)},
          {"line", LineJson(e)},
          {"subject", SubjectJson(e.subject)},
          {"streams", e.streams},
          {"streams_bytes_per_second", OrNull(e.streams_bytes_per_second)},
          {"large_buffers_bytes", OrNull(e.large_buffers)},
          {"large_bytes_per_second", OrNull(e.large_bytes_per_second)},
          {"largest_packet_passed", OrNull(e.largest_passed)},
          {"least_packet_lost", OrNull(e.least_lost)},
          {"verification", VerificationJson(advice.verification)},
          {"notes", e.notes}};
}

std::string Dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string AdviceJson(const Advice& advice) { return Dump(ToJson(advice)); }

std::string RecordedJson(const std::vector<RecordedCell>& cells) {
  json list = json::array();
  for (const RecordedCell& cell : cells) {
    json advice = ToJson(cell.advice);
    advice["study"] = cell.study;
    advice["case"] = cell.case_id;
    list.push_back(std::move(advice));
  }
  return Dump(list);
}

}  // namespace wiretoll
