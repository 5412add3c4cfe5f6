#include "harness/analysis/flow_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "harness/analysis/metrics.h"

namespace wiretoll {
namespace {

// What a group is called without its block: "study/case/a:*".
std::string SetName(const std::string& group) {
  return group.substr(0, group.rfind('/'));
}

// Nothing that one flow lacks can be told of all.
void AddIfKnown(const std::optional<double>& value,
                std::optional<double>& sum) {
  if (!value || !sum) {
    sum.reset();
  } else {
    *sum += *value;
  }
}

std::optional<double> CpuOf(const Sample& sample) {
  const auto& sender = sample.sender->cpu_ns;
  const auto& receiver = sample.receiver->cpu_ns;
  if (!sender || !receiver) return std::nullopt;
  return static_cast<double>(*sender) + static_cast<double>(*receiver);
}

std::optional<std::int64_t> CpusOf(const RunRecord& record) {
  for (const RecordedHost& host : record.hosts) {
    for (const RecordedFact& fact : host.facts) {
      const auto* count = std::get_if<std::int64_t>(&fact.value);
      if (fact.name == "cpus_online" && count != nullptr) return *count;
    }
  }
  return std::nullopt;
}

// Which hosts its name tells: "a:b" of a pair, "a:*" of one to many.
void NameHosts(const RunRecord& record, std::string_view name, FlowSet& set) {
  if (name.ends_with(":*")) {
    set.sender = name.substr(0, name.size() - 2);
    return;
  }
  for (const auto& [sender, receiver] : record.pairs) {
    if (name == fmt::format("{}:{}", sender, receiver)) {
      std::tie(set.sender, set.receiver) = std::tie(sender, receiver);
    }
  }
}

// With few blocks an interval can reach beyond what is possible.
void CapFairness(FlowSet& set) {
  if (!set.fairness || !set.fairness->interval) return;
  Interval& interval = *set.fairness->interval;
  interval.low = std::max(interval.low, 1.0 / set.flows);
  interval.high = std::min(interval.high, 1.0);
}

// A cell is a part of a set.
bool IsPart(const Cell& cell, const FlowSet& set) {
  return cell.run == set.run && cell.study == set.study &&
         cell.case_id == set.case_id &&
         (set.sender.empty() || set.sender == cell.sender) &&
         (set.receiver.empty() || set.receiver == cell.receiver);
}

void Give(Metric metric, const std::optional<Estimate>& estimate,
          const BlockValues& by_block, Cell& cell) {
  if (!estimate) return;
  cell.figures[Index(metric)] = estimate;
  cell.by_block[Index(metric)] = by_block;
  cell.why_missing.erase(metric);
}

// Of a cell whose trials ran alone, beside others that did not: so that they
// can be held against each other.
void GiveOwn(Cell& cell) {
  cell.why_missing[Metric::kFairness] = "its trials ran alone";
  Give(Metric::kTotalThroughput, cell.figure(Metric::kThroughput),
       cell.by_block[Index(Metric::kThroughput)], cell);
}

void FindParts(std::vector<Cell>& cells, FlowSet& set) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!IsPart(cells[i], set)) continue;
    set.cells.push_back(i);
    for (const Metric metric : {Metric::kTotalThroughput, Metric::kFairness}) {
      cells[i].why_missing[metric] = set.reason;
    }
    Give(Metric::kTotalThroughput, set.total, set.total_by_block, cells[i]);
    Give(Metric::kFairness, set.fairness, set.fairness_by_block, cells[i]);
  }
}

}  // namespace

std::optional<double> JainFairness(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  if (squares <= 0) return std::nullopt;
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

void FlowSetTable::StartRun(RunPlace place, int first_block) {
  place_ = std::move(place);
  first_block_ = first_block;
  index_.clear();
}

FlowSetTable::Draft& FlowSetTable::DraftOf(const Sample& sample) {
  const TrialFlow& flow = *sample.flow;
  const std::string name = SetName(flow.group);
  const auto [entry, is_new] = index_.emplace(name, drafts_.size());
  if (!is_new) return drafts_[entry->second];
  FlowSet& set = drafts_.emplace_back().set;
  set.run = place_.run;
  const auto study = place_.studies.find(sample.study);
  if (study != place_.studies.end()) set.study = study->second;
  set.case_id = sample.case_id;
  set.factors = sample.factors;
  set.topology = flow.topology;
  set.flows = flow.flows;
  const std::string front = sample.study + '/' + sample.case_id + '/';
  const std::string_view whole = name;
  if (whole.starts_with(front)) {
    NameHosts(*place_.record, whole.substr(front.size()), set);
  }
  if (IsOnOneMachine(place_.record->link)) set.cpus = CpusOf(*place_.record);
  return drafts_.back();
}

void FlowSetTable::Add(const Sample& sample) {
  if (!sample.flow) return;
  Draft& draft = DraftOf(sample);
  auto& [group, at] = open_[sample.flow->group];
  if (group.seen == 0) {
    group.flow = *sample.flow;
    group.block = first_block_ + sample.repeat;
    at = static_cast<std::size_t>(&draft - drafts_.data());
  }
  AddTo(group, sample);
  if (group.seen < group.flow.flows) return;
  Close(group, draft);
  open_.erase(sample.flow->group);
}

void FlowSetTable::AddTo(Group& group, const Sample& sample) const {
  ++group.seen;
  const auto lacks = [&](const std::string& why) {
    if (group.reason.empty()) {
      group.reason = fmt::format("flow {}: {}", sample.trial, why);
    }
  };
  if (sample.outcome != TrialOutcome::kOk || !sample.sender ||
      !sample.receiver) {
    return lacks(sample.reason);
  }
  const TrialContext context{place_.record->link.rate_bits_per_second,
                             sample.sender->latency.has_value()};
  const auto rate = FiguresOf(sample, context)[Index(Metric::kThroughput)];
  if (!rate) return lacks(WhyMissing(Metric::kThroughput, sample, context));
  group.rates.push_back(*rate);
  const auto& overlap = sample.flow->overlap;
  group.overlap = overlap && group.overlap
                      ? std::optional(std::min(*overlap, *group.overlap))
                      : std::nullopt;
  AddIfKnown(CpuOf(sample), group.cpu_ns);
  group.longest_ns = std::max(group.longest_ns,
                              Number(sample.receiver->elapsed_ns).value_or(0));
}

void FlowSetTable::Close(Group& group, Draft& draft) {
  FlowSet& set = draft.set;
  if (group.seen < group.flow.flows && group.reason.empty()) {
    group.reason = fmt::format("{} of its {} flows are not recorded",
                               group.flow.flows - group.seen, group.flow.flows);
  }
  const std::optional<double> fairness = JainFairness(group.rates);
  if (group.reason.empty() && !fairness) group.reason = "no flow got a byte";
  if (!group.reason.empty()) {
    ++set.broken;
    if (set.reason.empty()) set.reason = group.reason;
    return;
  }
  ++set.whole;
  double total = 0;
  for (const double rate : group.rates) total += rate;
  set.total_by_block[group.block] = total;
  set.fairness_by_block[group.block] = *fairness;
  const auto [least, largest] = std::ranges::minmax(group.rates);
  draft.least[group.block] = least;
  draft.largest[group.block] = largest;
  if (group.overlap) draft.overlap[group.block] = *group.overlap;
  if (group.cpu_ns && group.longest_ns > 0) {
    draft.cpus_used[group.block] = *group.cpu_ns / group.longest_ns;
  }
}

void FlowSetTable::EndRun() {
  for (auto& [name, open] : open_) Close(open.first, drafts_[open.second]);
  open_.clear();
}

std::vector<FlowSet> FlowSetTable::Finish(MedianIntervals& intervals,
                                          std::vector<Cell>& cells) {
  std::set<std::size_t> studies;
  for (const Draft& draft : drafts_) studies.insert(draft.set.study);
  for (Cell& cell : cells) {
    if (studies.contains(cell.study)) GiveOwn(cell);
  }
  std::vector<FlowSet> sets;
  for (Draft& draft : drafts_) {
    FlowSet& set = draft.set;
    set.total = EstimateOf(set.total_by_block, intervals);
    set.fairness = EstimateOf(set.fairness_by_block, intervals);
    CapFairness(set);
    set.least = EstimateOf(draft.least, intervals);
    set.largest = EstimateOf(draft.largest, intervals);
    set.overlap = EstimateOf(draft.overlap, intervals);
    const auto used = EstimateOf(draft.cpus_used, intervals);
    if (used && set.cpus) set.cpus_used = used->median;
    FindParts(cells, set);
    sets.push_back(std::move(set));
  }
  drafts_.clear();
  return sets;
}

}  // namespace wiretoll
