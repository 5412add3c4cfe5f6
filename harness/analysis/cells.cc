#include "harness/analysis/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/analysis/capacity.h"
#include "harness/analysis/datagram_totals.h"
#include "harness/analysis/systems.h"

namespace wiretoll {
namespace {

// Blocks to make room for at once: growing as they come would copy all of them
// again and again, and hold twice as much. A run may be ended before.
constexpr std::int64_t kMostRoom = 16'384;

using HostPair = std::pair<std::string, std::string>;

void FillHosts(const RunRecord& record, const Sample& sample, Cell& cell) {
  const auto fill = [&](const std::string& name,
                        const std::optional<EndReport>& end, std::string& os,
                        std::string& stack) {
    if (end && !end->os.empty()) {
      os = end->os;
      stack = end->stack;
    } else if (const RecordedHost* host = FindHost(record, name)) {
      os = host->os;
      stack = host->stack;
    }
  };
  fill(cell.sender, sample.sender, cell.sender_os, cell.sender_stack);
  fill(cell.receiver, sample.receiver, cell.receiver_os, cell.receiver_stack);
  cell.sender_system =
      SystemOfHost(record, cell.sender, cell.sender_os, cell.sender_stack);
  cell.receiver_system = SystemOfHost(record, cell.receiver, cell.receiver_os,
                                      cell.receiver_stack);
}

// An ok trial's ends say what they ran on.
bool NamesSystems(const Sample& sample) {
  return sample.outcome == TrialOutcome::kOk && sample.sender &&
         sample.receiver && !sample.sender->os.empty() &&
         !sample.receiver->os.empty();
}

bool RanOn(const Cell& cell, const Sample& sample) {
  return cell.sender_os == sample.sender->os &&
         cell.sender_stack == sample.sender->stack &&
         cell.receiver_os == sample.receiver->os &&
         cell.receiver_stack == sample.receiver->stack;
}

bool Disturbed(const Sample& sample) {
  return (sample.sender && sample.sender->disturbance.disturbed) ||
         (sample.receiver && sample.receiver->disturbance.disturbed);
}

void CountOutcome(const Sample& sample, Cell& cell) {
  if (Disturbed(sample)) ++cell.disturbed;
  if (cell.problem.empty()) cell.problem = sample.reason;  // Empty if ok.
  switch (sample.outcome) {
    case TrialOutcome::kOk:
      ++cell.ok;
      break;
    case TrialOutcome::kFailed:
      ++cell.failed;
      break;
    case TrialOutcome::kSkipped:
      ++cell.skipped;
      break;
  }
}

std::array<float, 7> Pack(const Capacity& shares) {
  return {static_cast<float>(shares.payload),
          static_cast<float>(shares.headers),
          static_cast<float>(shares.framing),
          static_cast<float>(shares.retransmission),
          static_cast<float>(shares.window_wait),
          static_cast<float>(shares.ack_wait),
          static_cast<float>(shares.program_wait)};
}

Capacity Unpack(const std::array<float, 7>& packed) {
  Capacity shares{packed[0], packed[1], packed[2], packed[3],
                  packed[4], packed[5], packed[6]};
  return shares;
}

bool HasCapacity(const std::array<float, 7>& packed) {
  return std::any_of(packed.begin(), packed.end(),
                     [](float share) { return share > 0; });
}

// Of the trial whose throughput is nearest to the median.
template <class Trials>
std::optional<Capacity> MedianCapacity(const Trials& trials, double median) {
  std::optional<Capacity> capacity;
  double nearest = 0;
  for (const auto& trial : trials) {
    if (!HasCapacity(trial.capacity)) continue;
    const double distance = std::fabs(trial.throughput - median);
    if (capacity && distance >= nearest) continue;
    nearest = distance;
    capacity = Unpack(trial.capacity);
  }
  return capacity;
}

// With few blocks an interval can reach beyond what is possible.
void CapHigh(Cell& cell, Metric metric, double most) {
  auto& figure = cell.figures[Index(metric)];
  if (!figure || !figure->interval || figure->median > most) return;
  figure->interval->high = std::min(figure->interval->high, most);
}

void CapIntervals(Cell& cell) {
  CapHigh(cell, Metric::kEfficiency, 1);
  CapHigh(cell, Metric::kReceivedShare, 1);
  if (!cell.theory) return;
  CapHigh(cell, Metric::kBytesPerSegment,
          static_cast<double>(cell.theory->mss));
}

std::string WhyNothing(const Cell& cell) {
  if (cell.failed == 0) return "every trial was skipped";
  if (cell.skipped == 0) return "every trial failed";
  return "every trial failed or was skipped";
}

}  // namespace

void NegotiatedColumns::Add(const Negotiated& trial) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const Negotiated::Count& value = trial.*kFields[i];
    if (value) columns_[i].push_back(*value);
  }
}

Negotiated NegotiatedColumns::Medians() {
  Negotiated medians;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (!columns_[i].empty()) medians.*kFields[i] = SortedMedian(columns_[i]);
  }
  return medians;
}

CellTable::CellTable(const std::vector<Study>& studies)
    : studies_(studies), cases_(studies.size()) {
  for (std::size_t i = 0; i < studies.size(); ++i) {
    for (const Case& one_case : studies[i].cases) {
      cases_[i].emplace(one_case.id, &one_case);
    }
  }
}

void CellTable::StartRun(RunPlace place) {
  place_ = std::move(place);
  first_block_ = last_block_ + 1;
  first_draft_ = drafts_.size();
  index_.clear();
}

// A trial that failed before an end reported has its pair in its id alone.
HostPair CellTable::PairOf(const Sample& sample) const {
  if (sample.sender && sample.receiver && !sample.sender->host.empty() &&
      !sample.receiver->host.empty()) {
    return {sample.sender->host, sample.receiver->host};
  }
  const std::string front = sample.study + '/' + sample.case_id + '/';
  for (const HostPair& pair : place_.record->pairs) {
    if (sample.trial.starts_with(front + pair.first + ':' + pair.second +
                                 '/')) {
      return pair;
    }
  }
  return {};
}

CellTable::Draft CellTable::MakeDraft(const Sample& sample,
                                      const HostPair& pair) const {
  Draft draft;
  Cell& cell = draft.cell;
  cell.run = place_.run;
  cell.case_id = sample.case_id;
  cell.factors = sample.factors;
  cell.link = sample.link;
  std::tie(cell.sender, cell.receiver) = pair;
  FillHosts(*place_.record, sample, cell);
  draft.blocks_to_come = static_cast<std::size_t>(
      std::clamp<std::int64_t>(place_.record->repeats, 0, kMostRoom));
  draft.trials.reserve(draft.blocks_to_come);
  draft.signs.reserve(draft.blocks_to_come);
  draft.rate_bits_per_second = place_.record->link.rate_bits_per_second;
  draft.burst = BurstOf(place_.record->link);
  draft.autocorking =
      FactOf(*place_.record, cell.sender, "tcp_autocorking").value_or(0) > 0;
  if (const auto tick =
          FactOf(*place_.record, cell.receiver, "timer_tick_ns")) {
    draft.receiver_tick = Nanoseconds(*tick);
  }
  const auto study = place_.studies.find(sample.study);
  if (study == place_.studies.end()) return draft;
  cell.study = study->second;
  const auto found = cases_[cell.study].find(sample.case_id);
  if (found != cases_[cell.study].end()) {
    draft.workload = &found->second->workload;
    draft.at_once = HasFlowsAtOnce(*found->second);
  }
  return draft;
}

CellTable::Draft& CellTable::DraftAt(std::string key, const Sample& sample,
                                     const HostPair& pair) {
  const auto [entry, is_new] = index_.emplace(std::move(key), drafts_.size());
  if (is_new) drafts_.push_back(MakeDraft(sample, pair));
  return drafts_[entry->second];
}

CellTable::Draft& CellTable::DraftOf(const Sample& sample) {
  const HostPair pair = PairOf(sample);
  std::string key = sample.study;
  for (const std::string* part : {&sample.case_id, &pair.first, &pair.second}) {
    key += '\x1f';
    key += *part;
  }
  Draft& draft = DraftAt(key, sample, pair);
  if (!NamesSystems(sample) || RanOn(draft.cell, sample)) return draft;
  if (draft.cell.ok == 0) {
    // Trials that failed may have known their hosts from run.json only.
    FillHosts(*place_.record, sample, draft.cell);
    return draft;
  }
  // A host that came back as another system, in a resumed run: never pooled.
  for (const auto* end : {&*sample.sender, &*sample.receiver}) {
    key += '\x1f' + end->os + '\x1f' + end->stack;
  }
  return DraftAt(std::move(key), sample, pair);
}

// Of several flows at once of the same pair the mean: a block is one value.
void CellTable::AddValues(const Figures& figures, int block, Draft& draft) {
  auto* flows = draft.at_once ? &draft.flows[block] : nullptr;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (!figures[i]) continue;
    // Blocks come in their order, but for those of a run that was resumed.
    BlockValues& values = draft.cell.by_block[i];
    if (values.empty()) values.reserve(draft.blocks_to_come);
    double& value = values.emplace_hint(values.end(), block, 0.0)->second;
    const int count = flows == nullptr ? 1 : ++(*flows)[i];
    value += (*figures[i] - value) / count;
  }
}

void CellTable::AddFigures(const Sample& sample, int block, Draft& draft) {
  const TrialContext context{
      draft.rate_bits_per_second,
      draft.workload != nullptr
          ? draft.workload->pattern == Pattern::kRequestResponse
          : sample.sender && sample.sender->latency.has_value()};
  Cell& cell = draft.cell;
  ++cell.observers[sample.wire ? sample.wire->observer : "none"];
  const Figures figures = FiguresOf(sample, context);
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    if (!figures[i] && !cell.why_missing.contains(metric)) {
      cell.why_missing.emplace(metric, WhyMissing(metric, sample, context));
    }
  }
  AddValues(figures, block, draft);
  AddDatagrams(sample, cell.datagrams);
  Trial trial;
  trial.throughput = figures[Index(Metric::kThroughput)].value_or(0);
  // What the line carried for other flows would be taken for waiting.
  Observed<Capacity> capacity =
      draft.at_once ? Observed<Capacity>::Not("other flows share the line")
                    : CapacityOf(sample, draft.rate_bits_per_second);
  if (capacity.value) {
    trial.capacity = Pack(*capacity.value);
  } else if (cell.why_no_capacity.empty()) {
    cell.why_no_capacity = std::move(capacity.reason);
  }
  if (sample.series && !sample.series->file.empty()) {
    const auto& steady = figures[Index(Metric::kSteadyThroughput)];
    draft.series.push_back(
        {steady.value_or(trial.throughput), sample.trial, sample.series->file});
  }
  draft.trials.push_back(trial);
  draft.negotiated.Add(NegotiatedIn(sample));
  draft.signs.push_back(SignsOf(sample));
}

void CellTable::Add(const Sample& sample) {
  const int block = first_block_ + sample.repeat;
  last_block_ = std::max(last_block_, block);
  Draft& draft = DraftOf(sample);
  const auto place =
      std::lower_bound(draft.blocks.begin(), draft.blocks.end(), block);
  const bool is_there = place != draft.blocks.end() && *place == block;
  // A trial is in a run once; should it be there again, the first counts.
  if (is_there && !sample.flow) {
    ++draft.repeated;
    return;
  }
  if (!is_there) draft.blocks.insert(place, block);
  CountOutcome(sample, draft.cell);
  if (sample.outcome == TrialOutcome::kOk) AddFigures(sample, block, draft);
}

int CellTable::EndRun(std::vector<std::string>& notes) {
  std::map<int, std::size_t> cells_in;
  int repeated = 0;
  for (std::size_t i = first_draft_; i < drafts_.size(); ++i) {
    for (const int block : drafts_[i].blocks) ++cells_in[block];
    repeated += drafts_[i].repeated;
  }
  const std::size_t cells = drafts_.size() - first_draft_;
  int complete = 0;
  for (const auto& [block, count] : cells_in) {
    if (count == cells) {
      ++complete;
      continue;
    }
    notes.push_back(fmt::format(
        "run of {}: block {} is incomplete, {} of {} trials; `wiretoll run "
        "--resume` does the rest",
        place_.record->started, block - first_block_, count, cells));
  }
  if (repeated > 0) {
    notes.push_back(fmt::format(
        "run of {}: {} trials are recorded more than once; the first counts",
        place_.record->started, repeated));
  }
  return complete;
}

// Its files are read later: here is no folder.
void CellTable::ChooseCourse(Draft& draft) {
  if (draft.series.empty()) return;
  std::vector<SeriesFile>& all = draft.series;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(),
                   [](const SeriesFile& a, const SeriesFile& b) {
                     return a.speed < b.speed;
                   });
  Course course;
  course.trial = middle->trial;
  course.file = middle->file;
  draft.cell.course = std::move(course);
}

void CellTable::FinishDraft(MedianIntervals& intervals, Draft& draft) {
  Cell& cell = draft.cell;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    BlockValues& by_block = cell.by_block[i];
    if (by_block.empty()) continue;
    by_block.shrink_to_fit();
    std::vector<double> values;
    values.reserve(by_block.size());
    for (const auto& [block, value] : by_block) values.push_back(value);
    cell.figures[i] = intervals.Of(std::move(values));
    cell.why_missing.erase(static_cast<Metric>(i));
  }
  if (cell.ok == 0) {
    cell.reason = WhyNothing(cell);
    cell.why_no_capacity = cell.why_no_theory = cell.reason;
    return;
  }
  const auto& throughput = cell.figure(Metric::kThroughput);
  cell.capacity =
      MedianCapacity(draft.trials, throughput ? throughput->median : 0);
  if (cell.capacity) cell.why_no_capacity.clear();
  JudgeTheory(draft);
  CapIntervals(cell);
  ChooseCourse(draft);
}

void CellTable::JudgeTheory(Draft& draft) {
  Cell& cell = draft.cell;
  CellSigns signs;
  TakeMedians(draft.signs, signs);
  Negotiated negotiated = draft.negotiated.Medians();
  negotiated.replayed = signs.replay_minshall;
  // Flows that share a line share its rate, in a way that no header tells.
  const auto rate = draft.at_once ? std::nullopt : draft.rate_bits_per_second;
  Observed<CaseTheory> theory =
      TheoryOf({draft.workload, negotiated, cell.sender_os, cell.receiver_os,
                rate, draft.burst, draft.receiver_tick});
  cell.theory = std::move(theory.value);
  cell.why_no_theory = std::move(theory.reason);
  signs.trials = cell.ok;
  signs.disturbed = cell.disturbed;
  signs.rtt_ns = negotiated.rtt_ns;
  signs.min_rtt_ns = negotiated.min_rtt_ns;
  signs.bytes = negotiated.bytes;
  signs.burst = draft.burst;
  signs.autocorking = draft.autocorking;
  cell.verdicts = VerdictsOf(cell, signs);
}

std::vector<Cell> CellTable::Finish(MedianIntervals& intervals) {
  std::vector<Cell> cells;
  cells.reserve(drafts_.size());
  for (Draft& draft : drafts_) {
    FinishDraft(intervals, draft);
    cells.push_back(std::move(draft.cell));
    draft = Draft();
  }
  drafts_.clear();
  return cells;
}

}  // namespace wiretoll
