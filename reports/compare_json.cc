#include <array>
#include <ostream>

#include "reports/compare_report.h"
#include "reports/compare_words.h"
#include "reports/json_parts.h"

namespace wiretoll {
namespace {

constexpr std::array<const char*, kComparedCount> kNames{
    "throughput_bytes_per_s", "latency_p50_ns", "sender_cpu_ns_per_byte",
    "receiver_cpu_ns_per_byte", "segments_per_write"};

const char* NameOf(Change change) {
  switch (change) {
    case Change::kFaster:
      return "faster";
    case Change::kSlower:
      return "slower";
    case Change::kNotDistinguishable:
      return "not distinguishable";
    case Change::kMissing:
      break;
  }
  return "missing";
}

const char* NameOf(Verdict verdict) {
  return verdict == Verdict::kHigher  ? "higher"
         : verdict == Verdict::kLower ? "lower"
                                      : "not distinguishable";
}

Json ToJson(const UnpairedRatio& ratio) {
  Json json{
      {"median", ratio.median},
      {"low", ratio.interval ? Json(ratio.interval->low) : Json(nullptr)},
      {"high", ratio.interval ? Json(ratio.interval->high) : Json(nullptr)},
      {"base_blocks", ratio.base_blocks},
      {"new_blocks", ratio.next_blocks},
      {"verdict", NameOf(ratio.verdict)}};
  if (!ratio.interval) {
    json["why_null"] = "fewer than three blocks give no interval";
  }
  return json;
}

Json ToJson(const ComparedFigure& figure, const std::string& why_else) {
  Json json{{"base", OrNull(figure.base)},
            {"new", OrNull(figure.next)},
            {"ratio", figure.ratio ? ToJson(*figure.ratio) : Json(nullptr)}};
  if (!figure.ratio) {
    json["why_null"] = figure.why.empty() ? why_else : figure.why;
  }
  return json;
}

// The same cell in one of the runs; null where that has none.
Json EndsOf(const Analysis& analysis, const std::optional<std::size_t>& index) {
  if (!index) return nullptr;
  const Cell& cell = analysis.cells[*index];
  return {{"sender", {{"host", cell.sender}, {"os", cell.sender_os}}},
          {"receiver", {{"host", cell.receiver}, {"os", cell.receiver_os}}},
          {"link", cell.link},
          {"ok_trials", cell.ok},
          {"failed_trials", cell.failed},
          {"skipped_trials", cell.skipped},
          {"disturbed_trials", cell.disturbed}};
}

Json FactorsOf(const Cell& cell) {
  Json json = Json::object();
  for (const auto& [name, value] : cell.factors) {
    const auto* number = std::get_if<std::int64_t>(&value);
    json[name] =
        number != nullptr ? Json(*number) : Json(std::get<std::string>(value));
  }
  return json;
}

Json ToJson(const Comparison& comparison, const ComparedCell& cell) {
  const Analysis& analysis = comparison.analysis;
  const Cell& some = analysis.cells[cell.base ? *cell.base : *cell.next];
  Json json{{"study", cell.study},
            {"case", cell.case_id},
            {"factors", FactorsOf(some)},
            {"base", EndsOf(analysis, cell.base)},
            {"new", EndsOf(analysis, cell.next)},
            {"judged_by", kNames[static_cast<std::size_t>(cell.judged_by)]},
            {"verdict", NameOf(cell.change)}};
  if (!cell.missing_in.empty()) json["missing_in"] = cell.missing_in;
  if (!cell.why.empty()) json["why"] = cell.why;
  Json figures = Json::object();
  for (std::size_t i = 0; i < kComparedCount; ++i) {
    figures[kNames[i]] = ToJson(cell.figures[i], cell.why);
  }
  json["figures"] = std::move(figures);
  return json;
}

Json ToJson(const ChangedFact& fact) {
  Json json{{"of", fact.where},
            {"fact", fact.name},
            {"before", OrNull(fact.base.value)},
            {"after", OrNull(fact.next.value)}};
  if (!fact.base.value) json["why_null"] = fact.base.why;
  if (!fact.next.value) json["why_null"] = fact.next.why;
  return json;
}

Json ToJson(const Comparison& comparison, std::size_t run) {
  const RunRecord& record = comparison.analysis.runs[run];
  Json studies = Json::array();
  for (const RecordedStudy& study : record.studies) {
    studies.push_back(study.name);
  }
  return {{"folder", comparison.folders[run].string()},
          {"studies", std::move(studies)},
          {"started", record.started},
          {"wiretoll_version", record.wiretoll_version},
          {"seed", record.seed},
          {"link", record.link.description},
          {"link_kind", record.link.kind},
          {"command", record.command}};
}

template <class List, class Make>
void WriteList(const char* name, const List& list, const Make& make,
               std::ostream& out) {
  out << ",\n\"" << name << "\":[";
  const char* separator = "\n";
  for (const auto& entry : list) {
    out << separator << Dump(make(entry));
    separator = ",\n";
  }
  out << "]";
}

Json Counts(const Comparison& comparison) {
  return {
      {"faster", comparison.CountOf(Change::kFaster)},
      {"slower", comparison.CountOf(Change::kSlower)},
      {"not_distinguishable", comparison.CountOf(Change::kNotDistinguishable)},
      {"missing", comparison.CountOf(Change::kMissing)}};
}

}  // namespace

void WriteComparisonJson(const Comparison& comparison, std::ostream& out) {
  out << "{\"v\":" << kComparisonVersion;
  out << ",\n\"base\":" << Dump(ToJson(comparison, 0));
  out << ",\n\"new\":" << Dump(ToJson(comparison, 1));
  const std::string banner = SyntheticBanner(comparison);
  if (!banner.empty()) out << ",\n\"banner\":" << Dump(Json(banner));
  out << ",\n\"tags\":" << Dump(Json(SourceTags(comparison.analysis)));
  out << ",\n\"blocks_are_paired\":false,\n\"method\":"
      << Dump(Json(kUnpairedNote));
  out << ",\n\"hosts\":"
      << Dump({{"by_name", comparison.match.by_name},
               {"new_of_base", comparison.match.hosts},
               {"how", comparison.match.how}});
  out << ",\n\"notes\":" << Dump(Json(comparison.notes));
  out << ",\n\"cells_by_verdict\":" << Dump(Counts(comparison));
  WriteList(
      "cells", comparison.cells,
      [&](const ComparedCell& cell) { return ToJson(comparison, cell); }, out);
  WriteList(
      "changed_facts", comparison.changed,
      [](const ChangedFact& fact) { return ToJson(fact); }, out);
  out << "}\n";
}

}  // namespace wiretoll
