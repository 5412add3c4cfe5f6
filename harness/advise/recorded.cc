// Advice on a run that was recorded: its samples are the evidence.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "harness/advise/advise.h"

namespace wiretoll {
namespace {

// A case on a pair.
using CellKey = std::tuple<std::string, std::string, std::string, std::string>;

struct CellTrials {
  std::vector<EndPair> trials;
  int failed = 0;
  std::string failure;
};

CellKey KeyOf(const Sample& sample) {
  return {sample.study, sample.case_id,
          sample.sender ? sample.sender->host : "",
          sample.receiver ? sample.receiver->host : ""};
}

void Take(Sample&& sample, std::map<CellKey, CellTrials>& cells) {
  if (!sample.sender || !sample.receiver) return;
  CellTrials& cell = cells[KeyOf(sample)];
  if (sample.outcome == TrialOutcome::kOk) {
    cell.trials.push_back(
        {std::move(*sample.sender), std::move(*sample.receiver)});
  } else if (++cell.failed == 1) {
    cell.failure = std::move(sample.reason);
  }
}

PairHost RecordedPairHost(const RunRecord& record, const std::string& name) {
  const RecordedHost* host = FindHost(record, name);
  if (host == nullptr) return {name, "", "", {}, "run.json does not have it"};
  return {name, host->address, host->os, host->facts, ""};
}

Evidence EvidenceOf(const RunRecord& record, const Case& the_case,
                    const std::pair<std::string, std::string>& pair,
                    const CellTrials& cell) {
  Evidence evidence;
  evidence.sender = RecordedPairHost(record, pair.first);
  evidence.receiver = RecordedPairHost(record, pair.second);
  evidence.link = record.link.description;
  evidence.in_lab = record.link.kind == "lab";
  evidence.declared_loss = record.link.loss;
  if (record.link.rate_bits_per_second) {
    evidence.line = LineFigure{BitsPerSecond{*record.link.rate_bits_per_second},
                               false, "as recorded"};
  }
  evidence.subject = FiguresOf(SpellWorkload(the_case.workload),
                               the_case.workload, cell.trials);
  evidence.subject.failed = cell.failed;
  evidence.subject.trials += cell.failed;
  evidence.subject.failure = cell.failure;
  return evidence;
}

void AddCells(const RunRecord& record, const Study& study,
              const std::map<CellKey, CellTrials>& cells,
              std::vector<RecordedCell>& advised) {
  for (const Case& the_case : study.cases) {
    if (the_case.workload.transport != Transport::kTcp) continue;
    for (const auto& pair : record.pairs) {
      const auto found =
          cells.find({study.name, the_case.id, pair.first, pair.second});
      if (found == cells.end()) continue;
      advised.push_back(
          {study.name, the_case.id, the_case.factors,
           Diagnose(EvidenceOf(record, the_case, pair, found->second))});
    }
  }
}

}  // namespace

Outcome<std::vector<RecordedCell>> AdviseOnRun(
    const std::filesystem::path& folder) {
  const auto record = ReadRunRecord(folder);
  if (!record.has_value()) return record.error();
  std::map<CellKey, CellTrials> cells;
  const auto read = ForEachSample(
      folder, [&](Sample&& sample) { Take(std::move(sample), cells); });
  if (!read.has_value()) return read.error();
  std::vector<RecordedCell> advised;
  for (const RecordedStudy& recorded : record.value().studies) {
    const auto study = ParseStudy(recorded.text, recorded.file);
    if (!study.has_value()) return study.error();
    AddCells(record.value(), study.value(), cells, advised);
  }
  return advised;
}

}  // namespace wiretoll
