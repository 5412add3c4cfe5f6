#include "reports/json.h"

#include <array>
#include <ostream>

#include "harness/analysis/contrast.h"
#include "harness/analysis/systems.h"
#include "reports/contrast_words.h"
#include "reports/flow_sets.h"
#include "reports/json_parts.h"
#include "reports/predictions.h"
#include "reports/size_tables.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

Json ToJson(const FactorValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return std::get<std::string>(value);
}

Json ToJson(const Factors& factors) {
  Json json = Json::object();
  for (const auto& [name, value] : factors) json[name] = ToJson(value);
  return json;
}

void PutInterval(Json& json, const std::optional<Interval>& interval,
                 int blocks) {
  json["low"] = interval ? Json(interval->low) : Json(nullptr);
  json["high"] = interval ? Json(interval->high) : Json(nullptr);
  json["blocks"] = blocks;
  if (!interval) json["why_null"] = "fewer than three blocks give no interval";
}

Json ToJson(const Ratio& ratio) {
  constexpr std::array<const char*, 3> kVerdicts{"higher", "lower",
                                                 "not distinguishable"};
  Json json{{"median", ratio.median}};
  PutInterval(json, ratio.interval, ratio.blocks);
  json["verdict"] = kVerdicts[static_cast<std::size_t>(ratio.verdict)];
  return json;
}

Json FiguresOf(const Cell& cell) {
  Json figures = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const auto metric = static_cast<Metric>(m);
    const auto& figure = cell.figures[m];
    if (!figure.has_value()) {
      figures[JsonMetricName(metric)] = nullptr;
      continue;
    }
    Json json{{"median", figure->median}};
    PutInterval(json, figure->interval, figure->blocks);
    Json blocks = Json::array(), values = Json::array();
    for (const auto& [block, value] : cell.by_block[m]) {
      blocks.push_back(block);
      values.push_back(value);
    }
    json["by_block"] = {{"block", std::move(blocks)},
                        {"value", std::move(values)}};
    figures[JsonMetricName(metric)] = std::move(json);
  }
  return figures;
}

Json WhyNull(const Cell& cell) {
  Json why = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const auto metric = static_cast<Metric>(m);
    if (cell.figures[m].has_value()) continue;
    const auto own = cell.why_missing.find(metric);
    const std::string& reason =
        own == cell.why_missing.end() ? cell.reason : own->second;
    why[JsonMetricName(metric)] = reason.empty() ? "not observed" : reason;
  }
  if (!cell.capacity) {
    why["capacity"] =
        cell.why_no_capacity.empty() ? "not observed" : cell.why_no_capacity;
  }
  if (!cell.theory) {
    why["theory"] =
        cell.why_no_theory.empty() ? "no rule applies" : cell.why_no_theory;
  }
  return why;
}

Json ToJson(const Capacity& capacity) {
  return {{"payload_share", capacity.payload},
          {"headers_share", capacity.headers},
          {"framing_share", capacity.framing},
          {"retransmission_share", capacity.retransmission},
          {"window_wait_share", capacity.window_wait},
          {"ack_wait_share", capacity.ack_wait},
          {"program_wait_share", capacity.program_wait}};
}

Json ToJson(const CaseTheory::Prediction& prediction) {
  constexpr std::array<const char*, 3> kKinds{"value", "at most", "at least"};
  return {{"rule", prediction.rule},
          {"metric", JsonMetricName(prediction.metric)},
          {"kind", kKinds[static_cast<std::size_t>(prediction.kind)]},
          {"value", prediction.value},
          {"assumptions", prediction.assumptions},
          {"limits", prediction.limits},
          {"source", prediction.source}};
}

Json ToJson(const CaseTheory& theory) {
  Json json{{"mss_bytes", theory.mss},
            {"header_bytes", theory.header_bytes},
            {"best_segments", theory.best_segments},
            {"worst_segments", theory.worst_segments},
            {"best_efficiency", theory.best_efficiency},
            {"worst_efficiency", theory.worst_efficiency},
            {"best_throughput_bytes_per_s", OrNull(theory.best_throughput)},
            {"worst_throughput_bytes_per_s", OrNull(theory.worst_throughput)}};
  if (!theory.best_throughput || !theory.worst_throughput) {
    json["why_null"] = "the line's rate is not known";
  }
  Json predictions = Json::array();
  for (const auto& prediction : theory.predictions) {
    predictions.push_back(ToJson(prediction));
  }
  json["predictions"] = std::move(predictions);
  return json;
}

Json SendingRulesJson(const Agreement& agreement) {
  Json list = Json::array();
  for (const auto& [system, rules] : agreement.followed_rules) {
    for (const auto& [rule, trials] : rules) {
      list.push_back({{"sender_system", system},
                      {"rule", rule.empty() ? Json(nullptr) : Json(rule)},
                      {"trials", trials}});
      if (rule.empty()) list.back()["why_null"] = "not told apart";
    }
  }
  return list;
}

Json CapturesJson(const Agreement& agreement) {
  return {{"captured_trials", agreement.captured},
          {"equal_trials", agreement.capture_equal},
          {"different_trials", agreement.capture_different},
          {"partial_trials", agreement.capture_partial},
          {"causes", agreement.capture_causes},
          {"not_captured", agreement.not_captured},
          {"sending_rules", SendingRulesJson(agreement)}};
}

// Beside each prediction of `theory`: what was measured, and the verdict.
void PutVerdicts(const Cell& cell, Json& theory) {
  Json& predictions = theory["predictions"];
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const PredictionVerdict* verdict = VerdictOn(cell, i);
    predictions[i]["measured"] =
        verdict ? OrNull(verdict->measured) : Json(nullptr);
    predictions[i]["verdict"] =
        verdict ? ExplanationName(verdict->explanation) : "not judged";
    predictions[i]["why"] = verdict ? verdict->words : "";
  }
}

Json ToJson(const Cell& cell) {
  Json json{{"study", cell.study},
            {"run", cell.run},
            {"case", cell.case_id},
            {"factors", ToJson(cell.factors)},
            {"sender",
             {{"host", cell.sender},
              {"os", cell.sender_os},
              {"stack", cell.sender_stack},
              {"system", cell.sender_system}}},
            {"receiver",
             {{"host", cell.receiver},
              {"os", cell.receiver_os},
              {"stack", cell.receiver_stack},
              {"system", cell.receiver_system}}},
            {"link", cell.link},
            {"ok_trials", cell.ok},
            {"failed_trials", cell.failed},
            {"skipped_trials", cell.skipped},
            {"disturbed_trials", cell.disturbed},
            {"observers", cell.observers}};
  json["figures"] = FiguresOf(cell);
  if (cell.datagrams) json["datagrams"] = DatagramsJson(*cell.datagrams);
  json["capacity"] = cell.capacity ? ToJson(*cell.capacity) : Json(nullptr);
  json["theory"] = cell.theory ? ToJson(*cell.theory) : Json(nullptr);
  if (cell.theory) PutVerdicts(cell, json["theory"]);
  json["why_null"] = WhyNull(cell);
  return json;
}

Json ToJson(const Effect& effect) {
  return {{"factor", effect.factor},
          {"base", ToJson(effect.base)},
          {"other", ToJson(effect.other)},
          {"metric", JsonMetricName(effect.metric)},
          {"base_cell", effect.base_cell},
          {"other_cell", effect.other_cell},
          {"ratio", ToJson(effect.ratio)}};
}

// --- Two systems side by side -----------------------------------------------

std::string UnitOf(SideFigure figure, bool rounds) {
  switch (figure) {
    case SideFigure::kSpeed:
      return rounds ? "_ns" : "_bytes_per_s";
    case SideFigure::kSenderCpu:
    case SideFigure::kReceiverCpu:
      return "_ns_per_byte";
    case SideFigure::kStalls:
      return "_rounds";
    case SideFigure::kSegmentsPerWrite:
    case SideFigure::kCount:
      break;
  }
  return {};
}

std::string SideName(SideFigure figure, bool rounds) {
  const std::string name = figure == SideFigure::kSpeed
                               ? (rounds ? "latency_p50" : "throughput")
                               : SideFigureName(figure);
  return name + UnitOf(figure, rounds);
}

Json SidesJson(const SideFigures& figures, bool rounds) {
  Json json = Json::object();
  for (std::size_t f = 0; f < kSideFigureCount; ++f) {
    const std::string name = SideName(static_cast<SideFigure>(f), rounds);
    if (!figures[f]) {
      json[name] = nullptr;
      continue;
    }
    Json figure{{"median", figures[f]->median}};
    PutInterval(figure, figures[f]->interval, figures[f]->blocks);
    json[name] = std::move(figure);
  }
  return json;
}

Json RatioJson(const std::optional<Ratio>& ratio) {
  return ratio ? ToJson(*ratio) : Json(nullptr);
}

Json DirectionJson(const Contrast& contrast, std::size_t d) {
  const DirectionSide& side = contrast.directions[d];
  Json json{{"sender", contrast.systems[d / 2].name},
            {"receiver", contrast.systems[d % 2].name},
            {"ran", side.ran()},
            {"pairs", Json::array()},
            {"ok_trials", side.ok},
            {"failed_trials", side.failed},
            {"skipped_trials", side.skipped},
            {"observers", side.observers},
            {"figures", SidesJson(side.figures, contrast.rounds)},
            {"ratio_to_base", RatioJson(side.ratio)}};
  for (const auto& [sender, receiver] : side.pairs) {
    json["pairs"].push_back({{"sender", sender}, {"receiver", receiver}});
  }
  Json why = Json::object();
  for (std::size_t f = 0; f < kSideFigureCount; ++f) {
    if (side.figures[f]) continue;
    const std::string& reason = side.why_missing[f];
    why[SideName(static_cast<SideFigure>(f), contrast.rounds)] =
        !side.ran()      ? "no pair of hosts ran in this direction"
        : reason.empty() ? "not observed"
                         : reason;
  }
  if (!side.ratio) {
    why["ratio_to_base"] = d == contrast.base
                               ? "it is the base"
                               : "no block has it in both directions";
  }
  json["why_null"] = std::move(why);
  return json;
}

Json ToJson(const EndSwitch& one) {
  Json json{{"changed_end", one.receiver ? "receiver" : "sender"},
            {"fixed_system", one.fixed},
            {"base_direction", one.base},
            {"other_direction", one.other},
            {"ratio", RatioJson(one.ratio)},
            {"cases", one.cases},
            {"higher_cases", one.higher},
            {"lower_cases", one.lower},
            {"missing_directions", one.missing}};
  if (!one.ratio) json["why_null"] = "a direction it takes has no figure";
  return json;
}

Json ToJson(const Contrast& contrast, const CaseSides& one) {
  Json directions = Json::array();
  for (std::size_t d = 0; d < kDirections; ++d) {
    const bool ran = contrast.directions[d].ran();
    Json side{{"figures", SidesJson(one.figures[d], contrast.rounds)},
              {"ratio_to_base", RatioJson(one.ratios[d])}};
    side["why_null"] = !ran ? "no pair of hosts ran in this direction"
                            : "the cells of this case have the reasons; the "
                              "base has no ratio";
    directions.push_back(std::move(side));
  }
  return {{"case", one.case_id},
          {"factors", ToJson(one.factors)},
          {"directions", std::move(directions)}};
}

Json WritesJson(const Contrast& contrast) {
  Json writes = Json::array();
  for (const WriteRatio& at : contrast.by_write) {
    Json ratios = Json::array();
    for (const auto& ratio : at.ratios) ratios.push_back(RatioJson(ratio));
    writes.push_back({{"write_bytes", at.write},
                      {"ratios_to_base", std::move(ratios)},
                      {"why_null",
                       "the base, or a direction that has no "
                       "figure at this size"}});
  }
  return writes;
}

// Directions are numbered 2 x sender + receiver.
Json ToJson(const Contrast& contrast) {
  constexpr std::array<const char*, 5> kAnswers{"not known", "neither",
                                                "sender", "receiver", "both"};
  Json systems = Json::array(), directions = Json::array();
  for (const ContrastSystem& system : contrast.systems) {
    systems.push_back(
        {{"os", system.os}, {"stack", system.stack}, {"name", system.name}});
  }
  for (std::size_t d = 0; d < kDirections; ++d) {
    directions.push_back(DirectionJson(contrast, d));
  }
  Json json{{"run", contrast.run},
            {"study", contrast.study},
            {"pattern", contrast.rounds ? "request-response" : "stream"},
            {"systems", std::move(systems)},
            {"which_end", kAnswers[static_cast<std::size_t>(contrast.answer)]},
            {"sentence", EndSentence(contrast)},
            {"base_direction", contrast.base},
            {"directions", std::move(directions)},
            {"switches", Json::array()},
            {"by_write", WritesJson(contrast)},
            {"cases", Json::array()}};
  for (const EndSwitch& one : contrast.switches) {
    json["switches"].push_back(ToJson(one));
  }
  for (const CaseSides& one : contrast.by_case) {
    json["cases"].push_back(ToJson(contrast, one));
  }
  return json;
}

Json ToJson(const ClaimResult& result) {
  constexpr std::array<const char*, 4> kAnswers{
      "supported", "refuted", "not distinguishable", "not tested"};
  return {{"study", result.study},
          {"id", result.claim.id},
          {"text", result.claim.text},
          {"metric", result.claim.metric},
          {"expected", OrNull(result.claim.expected)},
          {"tolerance", result.claim.tolerance},
          {"at_least", OrNull(result.claim.at_least)},
          {"at_most", OrNull(result.claim.at_most)},
          {"every_cell", result.claim.every},
          {"answer", kAnswers[static_cast<std::size_t>(result.answer)]},
          {"why", result.why}};
}

Json ToJson(const FlowSet& set) {
  Json json = FlowSetJson(set);
  json["factors"] = ToJson(set.factors);
  return json;
}

Json ToJson(const KneeRow* row) { return KneeJson(*row); }

Json ToJson(const BufferRow& row) {
  Json json{{"host", row.host},
            {"os", row.os},
            {"stack", row.stack},
            {"buffer", row.buffer},
            {"requested", row.requested},
            {"effective_low_bytes", OrNull(row.effective_low)},
            {"effective_high_bytes", OrNull(row.effective_high)},
            {"initial_window_bytes", OrNull(row.initial_window)},
            {"peak_window_bytes", OrNull(row.peak_window)},
            {"mss_bytes", OrNull(row.mss)},
            {"note", row.note}};
  const bool complete = row.effective_low && row.effective_high &&
                        row.initial_window && row.peak_window && row.mss;
  if (!complete) {
    json["why_null"] = row.buffer == "sndbuf"
                           ? "a send buffer has no window"
                           : (row.note.empty() ? "not observed" : row.note);
  }
  return json;
}

Json ToJson(const Problem& problem) {
  constexpr std::array<const char*, 3> kOutcomes{"ok", "failed", "skipped"};
  return {{"outcome", kOutcomes[static_cast<std::size_t>(problem.outcome)]},
          {"disturbed", problem.disturbed},
          {"reason", problem.reason},
          {"trials", problem.trials},
          {"example", problem.example}};
}

Json ToJson(const RecordedFact& fact) {
  Json json = nullptr;
  if (fact.number.has_value()) {
    json = *fact.number;
  } else if (const auto* flag = std::get_if<bool>(&fact.value)) {
    json = *flag;
  } else if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    json = *number;
  } else if (const auto* text = std::get_if<std::string>(&fact.value)) {
    json = *text;
  }
  Json entry{{"name", fact.name}, {"value", std::move(json)}};
  if (!fact.reason.empty() || entry["value"].is_null()) {
    entry["reason"] = fact.reason.empty() ? "not observed" : fact.reason;
  }
  return entry;
}

Json ToJson(const RecordedHost& host) {
  Json facts = Json::array();
  for (const RecordedFact& fact : host.facts) facts.push_back(ToJson(fact));
  return {{"name", host.name},
          {"os", host.os},
          {"stack", host.stack},
          {"system", SystemText({host.os, host.stack, host.description})},
          {"description", host.description},
          {"address", host.address},
          {"agent", host.agent},
          {"agent_version", host.agent_version},
          {"facts", std::move(facts)}};
}

Json ToJson(const RecordedLink& link) {
  Json json{{"kind", link.kind},
            {"description", link.description},
            {"rate_bits_per_s", OrNull(link.rate_bits_per_second)},
            {"framing", link.framing},
            {"mtu_bytes", OrNull(link.mtu)},
            {"delay_ns", OrNull(link.delay_ns)},
            {"loss_share", OrNull(link.loss)},
            {"settings", link.settings}};
  if (!link.rate_bits_per_second || !link.mtu || !link.delay_ns || !link.loss) {
    json["why_null"] = "neither set nor described";
  }
  return json;
}

Json ToJson(const RunRecord& run) {
  Json hosts = Json::array(), pairs = Json::array();
  for (const RecordedHost& host : run.hosts) hosts.push_back(ToJson(host));
  for (const auto& [sender, receiver] : run.pairs) {
    pairs.push_back({{"sender", sender}, {"receiver", receiver}});
  }
  Json json{{"wiretoll_version", run.wiretoll_version},
            {"started", run.started},
            {"command", run.command},
            {"seed", run.seed},
            {"repeats", run.repeats},
            {"precision_share", OrNull(run.precision)},
            {"filter", run.filter},
            {"hosts", std::move(hosts)},
            {"pairs", std::move(pairs)},
            {"link", ToJson(run.link)}};
  if (!run.synthetic.empty()) json["synthetic"] = run.synthetic;
  if (!run.precision) json["why_null"] = "no precision was asked for";
  return json;
}

Json ToJson(const Study& study) {
  return {{"name", study.name},       {"file", study.file},
          {"title", study.title},     {"question", study.question},
          {"source", study.source},   {"cases", study.cases.size()},
          {"varying", study.varying}, {"text", study.text}};
}

template <class List>
void WriteList(const char* name, const List& list, std::ostream& out) {
  out << ",\n\"" << name << "\":[";
  const char* separator = "\n";
  for (const auto& entry : list) {
    out << separator << Dump(ToJson(entry));
    separator = ",\n";
  }
  out << "]";
}

Json Totals(const Analysis& analysis) {
  Json causes = Json::object();
  for (const auto& [cause, trials] : analysis.agreement.causes) {
    causes[cause] = trials;
  }
  return {{"ok_trials", analysis.ok},
          {"failed_trials", analysis.failed},
          {"skipped_trials", analysis.skipped},
          {"disturbed_trials", analysis.disturbed},
          {"complete_blocks", analysis.blocks},
          {"agreement",
           {{"equal_trials", analysis.agreement.equal},
            {"different_trials", analysis.agreement.different},
            {"one_observer_trials", analysis.agreement.one_observer},
            {"observers", analysis.agreement.observers},
            {"causes", std::move(causes)}}},
          {"captures", CapturesJson(analysis.agreement)}};
}

// What ends a metric's name, in the order of Metric: report.json's names end in
// their unit.
constexpr std::array<const char*, kMetricCount> kUnitEndings{"_bytes_per_s",
                                                             "_bytes_per_s",
                                                             "_ratio",
                                                             "_ratio",
                                                             "",
                                                             "",
                                                             "",
                                                             "",
                                                             "",
                                                             "",
                                                             "_ns_per_byte",
                                                             "_ns_per_byte",
                                                             "_per_s",
                                                             "_ns",
                                                             "_ns",
                                                             "_rounds",
                                                             "_ns",
                                                             "_bytes",
                                                             "_bytes",
                                                             "_bytes",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_per_s",
                                                             "_bytes_per_s",
                                                             "_ratio",
                                                             "_bytes",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_ns",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_ratio",
                                                             "_bytes"};
static_assert(kUnitEndings.back() != nullptr, "a metric has no unit here");

}  // namespace

std::string JsonMetricName(Metric metric) {
  return MetricName(metric) + kUnitEndings[static_cast<std::size_t>(metric)];
}

void WriteReportJson(const Analysis& analysis, std::ostream& out) {
  out << "{\"v\":" << kReportVersion;
  if (IsSynthetic(analysis.runs)) {
    out << ",\n\"banner\":" << Dump(Json(kSyntheticData));
  }
  out << ",\n\"totals\":" << Dump(Totals(analysis));
  WriteList("runs", analysis.runs, out);
  WriteList("studies", analysis.studies, out);
  WriteList("cells", analysis.cells, out);
  WriteList("effects", analysis.effects, out);
  if (!analysis.contrasts.empty()) {
    WriteList("contrasts", analysis.contrasts, out);
  }
  if (!analysis.flow_sets.empty()) {
    WriteList("flow_sets", analysis.flow_sets, out);
  }
  const std::vector<const KneeRow*> knees = KneesToTell(analysis);
  if (!knees.empty()) WriteList("knees", knees, out);
  WriteList("claims", analysis.claims, out);
  WriteList("buffers", analysis.buffers, out);
  WriteList("problems", analysis.problems, out);
  out << ",\n\"notes\":" << Dump(Json(analysis.notes)) << "}\n";
}

}  // namespace wiretoll
