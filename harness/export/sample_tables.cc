#include "harness/export/sample_tables.h"

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <utility>

#include "harness/export/columns.h"
#include "harness/export/identity.h"
#include "harness/export/run_tables.h"
#include "harness/export/unobserved.h"
#include "harness/samples/fields.h"
#include "harness/study/study.h"

namespace wiretoll {
namespace {

using MaybeKey = std::optional<std::int64_t>;
using HostNames = std::pair<std::string_view, std::string_view>;

// ------------------------------------------------- what rows are made of

struct TrialRow {
  std::int64_t run;
  const Sample& sample;
  HostNames hosts;
  Goodput goodput;
  MaybeKey unobserved_set;
};

struct EndRow {
  std::int64_t run;
  const Sample& sample;
  const EndReport& end;
  bool receiver;
  MaybeKey option_set;
  MaybeKey unobserved_set;
};

// Of a part that a sample may have: flow, datagrams, capture.
template <class Part>
struct SamplePart {
  std::int64_t run;
  const Sample& sample;
  const Part& part;
};

struct SizeRow {
  std::int64_t run;
  const Sample& sample;
  bool receiver;
  std::size_t bin;
  std::int64_t calls;
};

struct OptionRow {
  std::int64_t run;
  std::int64_t set;
  const std::string& option;
  const OptionReading& reading;
};

struct UnobservedRow {
  std::int64_t run;
  std::int64_t set;
  const Unobserved& unobserved;
};

struct FactorRow {
  std::int64_t run;
  const Sample& sample;
  const std::string& factor;
  const FactorValue& value;
};

std::string_view Role(bool receiver) {
  return receiver ? "receiver" : "sender";
}

// ---------------------------------------------------------- their columns

template <class Row>
void AddTrialKey(TableColumns<Row>& table) {
  table.Integer("run", [](const Row& r) { return r.run; });
  table.Integer("number", [](const Row& r) { return r.sample.order; });
}

template <class Row>
void AddEndKey(TableColumns<Row>& table) {
  AddTrialKey(table);
  table.Text("role", [](const Row& r) { return Role(r.receiver); });
}

template <class Row, class Fields, class Get>
void AddCounts(TableColumns<Row>& table, const std::string& prefix,
               const Fields& fields, Get get) {
  for (const auto& field : fields) {
    table.Integer(prefix + std::string(field.name),
                  [get, member = field.member](const Row& r) {
                    using Value = std::optional<std::int64_t>;
                    const auto* from = get(r);
                    return from == nullptr ? Value{} : Value{from->*member};
                  });
  }
}

template <class Row, class Fields, class Get>
void AddTexts(TableColumns<Row>& table, const std::string& prefix,
              const Fields& fields, Get get) {
  for (const auto& field : fields) {
    table.Text(prefix + std::string(field.name),
               [get, member = field.member](const Row& r) {
                 const auto* from = get(r);
                 return from == nullptr ? std::string_view{}
                                        : std::string_view{from->*member};
               });
  }
}

template <class T>
const T* PointerTo(const std::optional<T>& value) {
  return value.has_value() ? &*value : nullptr;
}

const LatencySummary* LatencyOf(const TrialRow& row) {
  return row.sample.sender.has_value() ? PointerTo(row.sample.sender->latency)
                                       : nullptr;
}

void AddSampleText(TableColumns<TrialRow>& table, const char* name,
                   std::string Sample::*member) {
  table.Text(name, [member](const TrialRow& r) -> const std::string& {
    return r.sample.*member;
  });
}

void AddIdentity(TableColumns<TrialRow>& table) {
  AddSampleText(table, "trial", &Sample::trial);
  AddSampleText(table, "study", &Sample::study);
  AddSampleText(table, "case_id", &Sample::case_id);
  table.Integer("repeat", [](const TrialRow& r) {
    return std::int64_t{r.sample.repeat};
  });
  AddSampleText(table, "started", &Sample::started);
  table.Text("outcome", [](const TrialRow& r) {
    return kOutcomeNames[static_cast<std::size_t>(r.sample.outcome)];
  });
  AddSampleText(table, "reason", &Sample::reason);
  table.Text("sender", [](const TrialRow& r) { return r.hosts.first; });
  table.Text("receiver", [](const TrialRow& r) { return r.hosts.second; });
  AddSampleText(table, "link", &Sample::link);
}

void AddFigures(TableColumns<TrialRow>& table) {
  table.Real("goodput_bits_per_s",
             [](const TrialRow& r) { return r.goodput.bits_per_s; });
  table.Integer("bytes", [](const TrialRow& r) {
    const auto& end = r.sample.receiver;
    return end.has_value() ? std::optional(end->bytes) : std::nullopt;
  });
  table.Integer("elapsed_ns", [](const TrialRow& r) {
    return r.sample.receiver ? r.sample.receiver->elapsed_ns : std::nullopt;
  });
  AddCounts(table, "latency_", kLatencyFields, LatencyOf);
  table.Real("latency_mean_ns", [](const TrialRow& r) {
    const LatencySummary* latency = LatencyOf(r);
    return latency == nullptr ? std::nullopt : std::optional(latency->mean_ns);
  });
}

void AddWire(TableColumns<TrialRow>& table) {
  const auto wire = [](const TrialRow& r) { return PointerTo(r.sample.wire); };
  const auto text = [&](const char* name, std::string Wire::*member) {
    table.Text(name, [wire, member](const TrialRow& r) {
      return wire(r) == nullptr ? std::string_view{}
                                : std::string_view{wire(r)->*member};
    });
  };
  text("wire_observer", &Wire::observer);
  AddCounts(table, "wire_", kWireFields, wire);
  text("wire_agreement", &Wire::agreement);
}

TableColumns<TrialRow> MakeTrials() {
  TableColumns<TrialRow> table("trials", 2);
  AddTrialKey(table);
  AddIdentity(table);
  AddFigures(table);
  AddWire(table);
  table.Text("series_file", [](const TrialRow& r) {
    return r.sample.series ? std::string_view{r.sample.series->file}
                           : std::string_view{};
  });
  table.Integer("unobserved_set",
                [](const TrialRow& r) { return r.unobserved_set; });
  return table;
}

void AddDisturbance(TableColumns<EndRow>& table) {
  table.Integer("steal_ns",
                [](const EndRow& r) { return r.end.disturbance.steal_ns; });
  table.Integer("clock_step_ns", [](const EndRow& r) {
    return r.end.disturbance.clock_step_ns;
  });
  table.Real("load", [](const EndRow& r) { return r.end.disturbance.load; });
  table.Integer("disturbed", [](const EndRow& r) {
    return std::int64_t{r.end.disturbance.disturbed ? 1 : 0};
  });
  table.Text("disturbance_reason", [](const EndRow& r) {
    return std::string_view{r.end.disturbance.reason};
  });
}

TableColumns<EndRow> MakeEnds() {
  TableColumns<EndRow> table("ends", 3);
  const auto end = [](const EndRow& r) { return &r.end; };
  const auto series = [](const EndRow& r) { return PointerTo(r.end.series); };
  AddEndKey(table);
  AddTexts(table, "", kEndTexts, end);
  AddCounts(table, "", kEndTotals, end);
  AddCounts(table, "", kEndCounts, end);
  table.Real("gap_mean_ns", [](const EndRow& r) { return r.end.gap_mean_ns; });
  table.Integer("verified", [](const EndRow& r) {
    const auto& verified = r.end.verified;
    return verified ? std::optional<std::int64_t>(*verified ? 1 : 0)
                    : std::nullopt;
  });
  AddCounts(table, "series_", kSeriesTotals, series);
  AddCounts(table, "series_", kSeriesCounts, series);
  AddDisturbance(table);
  table.Integer("option_set", [](const EndRow& r) { return r.option_set; });
  table.Integer("unobserved_set",
                [](const EndRow& r) { return r.unobserved_set; });
  return table;
}

TableColumns<EndRow> MakeCounters() {
  TableColumns<EndRow> table("counters", 3);
  AddEndKey(table);
  AddCounts(table, "", kCounterFields,
            [](const EndRow& r) { return &r.end.counters; });
  return table;
}

TableColumns<SizeRow> MakeSizes() {
  TableColumns<SizeRow> table("call_sizes", 4);
  AddEndKey(table);
  table.Integer("least_bytes", [](const SizeRow& r) {
    return static_cast<std::int64_t>(std::uint64_t{1} << r.bin);
  });
  table.Integer("most_bytes", [](const SizeRow& r) {
    return static_cast<std::int64_t>((std::uint64_t{2} << r.bin) - 1);
  });
  table.Integer("calls", [](const SizeRow& r) { return r.calls; });
  return table;
}

TableColumns<OptionRow> MakeOptions() {
  TableColumns<OptionRow> table("option_sets", 3);
  table.Integer("run", [](const OptionRow& r) { return r.run; });
  table.Integer("option_set", [](const OptionRow& r) { return r.set; });
  table.Text("option",
             [](const OptionRow& r) -> const std::string& { return r.option; });
  table.Add(ColumnType::kAny, "requested",
            [](const OptionRow& r, Statement& out) {
              AddOptionValue(r.reading.requested, out);
            });
  table.Add(ColumnType::kAny, "effective",
            [](const OptionRow& r, Statement& out) {
              AddOptionValue(r.reading.effective, out);
            });
  table.Text("reason", [](const OptionRow& r) -> const std::string& {
    return r.reading.reason;
  });
  return table;
}

TableColumns<UnobservedRow> MakeUnobserved() {
  using Row = UnobservedRow;
  TableColumns<Row> table("unobserved_sets", 3);
  table.Integer("run", [](const Row& r) { return r.run; });
  table.Integer("unobserved_set", [](const Row& r) { return r.set; });
  table.Add(ColumnType::kText, "field", [](const Row& r, Statement& out) {
    out.AddCopy(std::string(r.unobserved.part).append(r.unobserved.field));
  });
  table.Text("reason", [](const Row& r) { return r.unobserved.reason; });
  return table;
}

TableColumns<FactorRow> MakeFactors() {
  TableColumns<FactorRow> table("factors", 4);
  table.Integer("run", [](const FactorRow& r) { return r.run; });
  table.Text("study", [](const FactorRow& r) -> const std::string& {
    return r.sample.study;
  });
  table.Text("case_id", [](const FactorRow& r) -> const std::string& {
    return r.sample.case_id;
  });
  table.Text("factor",
             [](const FactorRow& r) -> const std::string& { return r.factor; });
  table.Add(ColumnType::kAny, "value", [](const FactorRow& r, Statement& out) {
    if (const auto* number = std::get_if<std::int64_t>(&r.value)) {
      return out.Add(*number);
    }
    out.Add(std::string_view(std::get<std::string>(r.value)));
  });
  return table;
}

using FlowRow = SamplePart<TrialFlow>;

TableColumns<FlowRow> MakeFlows() {
  TableColumns<FlowRow> table("flows", 2);
  AddTrialKey(table);
  table.Text("flow_group", [](const FlowRow& r) -> const std::string& {
    return r.part.group;
  });
  table.Text("topology", [](const FlowRow& r) -> const std::string& {
    return r.part.topology;
  });
  table.Integer("flows",
                [](const FlowRow& r) { return std::int64_t{r.part.flows}; });
  table.Integer("flow_index",
                [](const FlowRow& r) { return std::int64_t{r.part.index}; });
  table.Real("overlap_share", [](const FlowRow& r) { return r.part.overlap; });
  return table;
}

using FatesRow = SamplePart<Datagrams>;

TableColumns<FatesRow> MakeDatagrams() {
  TableColumns<FatesRow> table("datagrams", 2);
  const auto part = [](const FatesRow& r) { return &r.part; };
  AddTrialKey(table);
  AddCounts(table, "", kDatagramTotals, part);
  AddCounts(table, "", kDatagramFates, part);
  return table;
}

// Its end's `datagrams` is there.
const DatagramReport& ReportOf(const EndRow& row) { return *row.end.datagrams; }

void AddNotSent(TableColumns<EndRow>& table) {
  const auto not_sent = [](const EndRow& r) {
    return PointerTo(ReportOf(r).not_sent);
  };
  AddCounts(table, "not_sent_", kNotSentFields, not_sent);
  table.Text("not_sent_first_other", [not_sent](const EndRow& r) {
    const NotSent* kinds = not_sent(r);
    return kinds == nullptr ? std::string_view{}
                            : std::string_view{kinds->first_other};
  });
}

TableColumns<EndRow> MakeDatagramEnds() {
  TableColumns<EndRow> table("datagram_ends", 3);
  const auto delay = [](const EndRow& r) {
    return PointerTo(ReportOf(r).delay);
  };
  AddEndKey(table);
  AddCounts(table, "", kDatagramCounts,
            [](const EndRow& r) { return &ReportOf(r); });
  AddNotSent(table);
  AddCounts(table, "delay_", kDelayFields, delay);
  table.Real("delay_mean_ns", [delay](const EndRow& r) {
    return delay(r) == nullptr ? std::nullopt
                               : std::optional(delay(r)->mean_ns);
  });
  table.Real("jitter_mean_ns",
             [](const EndRow& r) { return ReportOf(r).jitter_mean_ns; });
  table.Real("jitter_rfc3550_ns",
             [](const EndRow& r) { return ReportOf(r).jitter_rfc3550_ns; });
  table.Text("ended", [](const EndRow& r) -> const std::string& {
    return ReportOf(r).ended;
  });
  return table;
}

using CaptureRow = SamplePart<CaptureRecord>;

TableColumns<CaptureRow> MakeCaptures() {
  TableColumns<CaptureRow> table("captures", 2);
  const auto part = [](const CaptureRow& r) { return &r.part; };
  AddTrialKey(table);
  AddTexts(table, "", kCaptureTexts, part);
  AddCounts(table, "", kCaptureCounts, part);
  return table;
}

struct SampleTableSet {
  TableColumns<FactorRow> factors = MakeFactors();
  TableColumns<OptionRow> options = MakeOptions();
  TableColumns<UnobservedRow> unobserved = MakeUnobserved();
  TableColumns<EndRow> ends = MakeEnds();
  TableColumns<EndRow> counters = MakeCounters();
  TableColumns<SizeRow> sizes = MakeSizes();
  TableColumns<EndRow> datagram_ends = MakeDatagramEnds();
  TableColumns<FatesRow> datagrams = MakeDatagrams();
  TableColumns<FlowRow> flows = MakeFlows();
  TableColumns<CaptureRow> captures = MakeCaptures();
  TableColumns<TrialRow> trials = MakeTrials();
};

const SampleTableSet& SampleSet() {
  static const SampleTableSet tables;
  return tables;
}

// A table's columns with the statement that takes a row of them.
template <class Row>
class Insert {
 public:
  static Outcome<Insert> Into(Database& database,
                              const TableColumns<Row>& table) {
    auto statement = database.Prepare(InsertStatement(table.table()));
    if (!statement.has_value()) return statement.error();
    return Insert(table, std::move(statement).value());
  }
  // False: a row of that key is there.
  Outcome<bool> Write(const Row& row) {
    table_->FillRow(row, statement_);
    return statement_.Run();
  }

 private:
  Insert(const TableColumns<Row>& table, Statement statement)
      : table_(&table), statement_(std::move(statement)) {}
  const TableColumns<Row>* table_;
  Statement statement_;
};

// Sets that were written already, to write each once; no more of them than keep
// memory flat, since writing one again does nothing.
class KnownKeys {
 public:
  // True if `key` was not known; it is now.
  bool Note(std::int64_t key) {
    constexpr std::size_t kMost = 65'536;
    if (keys_.size() >= kMost) keys_.clear();
    return keys_.insert(key).second;
  }

 private:
  std::unordered_set<std::int64_t> keys_;
};

}  // namespace

// ----------------------------------------------------------------- writing

class SampleTables::Writer {
 public:
  Writer(Database& database, SampleSource source)
      : database_(database),
        run_(source.run),
        record_(source.record),
        file_(std::move(source.file)) {}

  Outcome<Done> Prepare();
  Outcome<bool> Write(const Sample& sample);

 private:
  template <class Row>
  using Into = std::optional<Insert<Row>>;

  template <class Row>
  bool PrepareOne(const TableColumns<Row>& table, Into<Row>& insert) {
    auto made = Insert<Row>::Into(database_, table);
    if (!made.has_value()) return Fail(made.error());
    insert.emplace(std::move(made).value());
    return true;
  }
  template <class Row>
  bool Put(Into<Row>& insert, const Row& row) {
    const auto written = insert->Write(row);
    return written.has_value() || Fail(written.error());
  }
  bool Fail(Failure failure) {
    failure_ = std::move(failure);
    return false;
  }

  // Those that give a bool: false after Fail().
  bool WriteEnd(const Sample& sample, const EndReport& end, bool receiver);
  bool WriteSizes(const Sample& sample, const EndReport& end, bool receiver);
  bool WriteParts(const Sample& sample);
  bool WriteFactors(const Sample& sample);
  bool WriteOptions(const EndReport& end, MaybeKey& set);
  // Of unobserved_.
  bool WriteUnobserved(MaybeKey& set);
  [[nodiscard]] HostNames HostsOf(const Sample& sample) const;
  // Why a trial's row was not taken: it is there, or its place is taken.
  Outcome<bool> CheckThere(const Sample& sample);

  Database& database_;
  std::int64_t run_;
  const RunRecord& record_;
  std::string file_;
  Into<TrialRow> trials_;
  Into<EndRow> ends_, counters_, datagram_ends_;
  Into<SizeRow> sizes_;
  Into<OptionRow> options_;
  Into<UnobservedRow> unobserved_rows_;
  Into<FactorRow> factors_;
  Into<FlowRow> flows_;
  Into<FatesRow> datagrams_;
  Into<CaptureRow> captures_;
  std::optional<Statement> trial_at_;
  KnownKeys known_options_, known_unobserved_, known_cases_;
  std::vector<Unobserved> unobserved_;
  Failure failure_;
};

Outcome<Done> SampleTables::Writer::Prepare() {
  const SampleTableSet& set = SampleSet();
  const bool prepared =
      PrepareOne(set.trials, trials_) && PrepareOne(set.ends, ends_) &&
      PrepareOne(set.counters, counters_) &&
      PrepareOne(set.datagram_ends, datagram_ends_) &&
      PrepareOne(set.sizes, sizes_) && PrepareOne(set.options, options_) &&
      PrepareOne(set.unobserved, unobserved_rows_) &&
      PrepareOne(set.factors, factors_) && PrepareOne(set.flows, flows_) &&
      PrepareOne(set.datagrams, datagrams_) &&
      PrepareOne(set.captures, captures_);
  if (!prepared) return failure_;
  auto trial_at = database_.Prepare(
      "SELECT trial FROM trials WHERE run = ?1 AND number = ?2");
  if (!trial_at.has_value()) return trial_at.error();
  trial_at_.emplace(std::move(trial_at).value());
  return Done{};
}

Outcome<bool> SampleTables::Writer::Write(const Sample& sample) {
  const Goodput goodput = GoodputOf(sample, record_.link.rate_bits_per_second);
  MaybeKey set;
  ListUnobserved(sample, goodput, unobserved_);
  if (!WriteUnobserved(set)) return failure_;
  const auto is_new =
      trials_->Write(TrialRow{run_, sample, HostsOf(sample), goodput, set});
  if (!is_new.has_value()) return is_new.error();
  if (!is_new.value()) return CheckThere(sample);
  const bool written =
      WriteFactors(sample) &&
      (!sample.sender || WriteEnd(sample, *sample.sender, false)) &&
      (!sample.receiver || WriteEnd(sample, *sample.receiver, true)) &&
      WriteParts(sample);
  if (!written) return failure_;
  return true;
}

bool SampleTables::Writer::WriteEnd(const Sample& sample, const EndReport& end,
                                    bool receiver) {
  EndRow row{run_, sample, end, receiver, {}, {}};
  ListUnobserved(end, unobserved_);
  return WriteUnobserved(row.unobserved_set) &&
         WriteOptions(end, row.option_set) && Put(ends_, row) &&
         Put(counters_, row) && WriteSizes(sample, end, receiver) &&
         (!end.datagrams || Put(datagram_ends_, row));
}

bool SampleTables::Writer::WriteSizes(const Sample& sample,
                                      const EndReport& end, bool receiver) {
  for (std::size_t bin = 0; bin < end.call_sizes.size(); ++bin) {
    const std::int64_t calls = end.call_sizes[bin];
    if (calls == 0) continue;
    if (!Put(sizes_, SizeRow{run_, sample, receiver, bin, calls})) return false;
  }
  return true;
}

bool SampleTables::Writer::WriteParts(const Sample& sample) {
  if (sample.flow && !Put(flows_, FlowRow{run_, sample, *sample.flow})) {
    return false;
  }
  if (sample.datagrams &&
      !Put(datagrams_, FatesRow{run_, sample, *sample.datagrams})) {
    return false;
  }
  return !sample.capture ||
         Put(captures_, CaptureRow{run_, sample, *sample.capture});
}

bool SampleTables::Writer::WriteFactors(const Sample& sample) {
  KeyMaker key;
  key.Add(sample.study);
  key.Add(sample.case_id);
  if (!known_cases_.Note(key.key())) return true;
  for (const auto& [factor, value] : sample.factors) {
    if (!Put(factors_, FactorRow{run_, sample, factor, value})) return false;
  }
  return true;
}

bool SampleTables::Writer::WriteOptions(const EndReport& end, MaybeKey& set) {
  if (end.options.empty()) return true;
  KeyMaker key;
  for (const auto& [option, reading] : end.options) {
    key.Add(option);
    key.AddValue(reading.requested);
    key.AddValue(reading.effective);
    key.Add(reading.reason);
  }
  set = key.key();
  if (!known_options_.Note(*set)) return true;
  for (const auto& [option, reading] : end.options) {
    if (!Put(options_, OptionRow{run_, *set, option, reading})) return false;
  }
  return true;
}

bool SampleTables::Writer::WriteUnobserved(MaybeKey& set) {
  if (unobserved_.empty()) return true;
  KeyMaker key;
  for (const Unobserved& one : unobserved_) {
    key.Add(one.part);
    key.Add(one.field);
    key.Add(one.reason);
  }
  set = key.key();
  if (!known_unobserved_.Note(*set)) return true;
  for (const Unobserved& one : unobserved_) {
    if (!Put(unobserved_rows_, UnobservedRow{run_, *set, one})) return false;
  }
  return true;
}

// Of a trial that failed before an end reported, from its name.
HostNames SampleTables::Writer::HostsOf(const Sample& sample) const {
  if (sample.sender && sample.receiver) {
    return {sample.sender->host, sample.receiver->host};
  }
  const std::string front = sample.study + '/' + sample.case_id + '/';
  for (const auto& [sender, receiver] : record_.pairs) {
    if (sample.trial.starts_with(front + sender + ':' + receiver + '/')) {
      return {sender, receiver};
    }
  }
  return {};
}

Outcome<bool> SampleTables::Writer::CheckThere(const Sample& sample) {
  trial_at_->Add(run_);
  trial_at_->Add(sample.order);
  const auto row = trial_at_->Next();
  if (!row.has_value()) return row.error();
  // None of that number: the trial stands under another one, twice in its run.
  const bool same = !row.value() || trial_at_->Text(0) == sample.trial;
  std::string other = same ? std::string() : std::string(trial_at_->Text(0));
  trial_at_->Reset();
  if (same) return false;
  return Failure{
      ExitCode::kUsage,
      fmt::format("{}: order {} is of two trials, {} and {}; if it was put "
                  "together from several runs, export their own folders",
                  file_, sample.order, other, sample.trial)};
}

// ------------------------------------------------------------------ public

std::vector<SqlTable> SampleTableHeads() {
  const SampleTableSet& set = SampleSet();
  return {
      set.factors.table(),       set.options.table(),   set.unobserved.table(),
      set.ends.table(),          set.counters.table(),  set.sizes.table(),
      set.datagram_ends.table(), set.datagrams.table(), set.flows.table(),
      set.captures.table(),      set.trials.table()};
}

SampleTables::SampleTables(std::unique_ptr<Writer> writer)
    : writer_(std::move(writer)) {}
SampleTables::SampleTables(SampleTables&&) noexcept = default;
SampleTables& SampleTables::operator=(SampleTables&&) noexcept = default;
SampleTables::~SampleTables() = default;

Outcome<SampleTables> SampleTables::Open(Database& database,
                                         SampleSource source) {
  auto writer = std::make_unique<Writer>(database, std::move(source));
  const auto prepared = writer->Prepare();
  if (!prepared.has_value()) return prepared.error();
  return SampleTables(std::move(writer));
}

Outcome<bool> SampleTables::Write(const Sample& sample) {
  return writer_->Write(sample);
}

}  // namespace wiretoll
