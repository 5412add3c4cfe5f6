#include "harness/export/run_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/export/columns.h"
#include "harness/export/identity.h"

namespace wiretoll {
namespace {

struct RunRow {
  std::int64_t run;
  const RunRecord& record;
  const std::string& folder;
};

// Something of a run's: a study, a host.
template <class Part>
struct PartRow {
  std::int64_t run;
  const Part& part;
};

struct FactRow {
  std::int64_t run;
  const std::string& host;
  const RecordedFact& fact;
};

using Setting = std::pair<const std::string, std::string>;

std::string JsonList(const std::vector<std::string>& words) {
  return nlohmann::json(words).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

void AddLink(TableColumns<RunRow>& table) {
  const auto text = [&table](const char* name,
                             std::string RecordedLink::*member) {
    table.Text(name, [member](const RunRow& r) -> const std::string& {
      return r.record.link.*member;
    });
  };
  text("link_kind", &RecordedLink::kind);
  text("link_description", &RecordedLink::description);
  text("link_framing", &RecordedLink::framing);
  table.Real("link_rate_bits_per_s", [](const RunRow& r) {
    return r.record.link.rate_bits_per_second;
  });
  table.Integer("link_mtu_bytes",
                [](const RunRow& r) { return r.record.link.mtu; });
  table.Integer("link_delay_ns",
                [](const RunRow& r) { return r.record.link.delay_ns; });
  table.Real("link_loss_share",
             [](const RunRow& r) { return r.record.link.loss; });
}

TableColumns<RunRow> MakeRuns() {
  TableColumns<RunRow> table("runs", 1);
  const auto text = [&table](const char* name, std::string RunRecord::*member) {
    table.Text(name, [member](const RunRow& r) -> const std::string& {
      return r.record.*member;
    });
  };
  table.Integer("run", [](const RunRow& r) { return r.run; });
  table.Text("folder",
             [](const RunRow& r) -> const std::string& { return r.folder; });
  text("started", &RunRecord::started);
  // As text: it may be beyond what an integer of SQL holds.
  table.Add(ColumnType::kText, "seed", [](const RunRow& r, Statement& out) {
    out.AddCopy(std::to_string(r.record.seed));
  });
  table.Integer("repeats",
                [](const RunRow& r) { return std::int64_t{r.record.repeats}; });
  table.Real("precision_share",
             [](const RunRow& r) { return r.record.precision; });
  text("filter", &RunRecord::filter);
  text("synthetic", &RunRecord::synthetic);
  text("wiretoll_version", &RunRecord::wiretoll_version);
  table.Add(ColumnType::kText, "command", [](const RunRow& r, Statement& out) {
    out.AddCopy(JsonList(r.record.command));
  });
  AddLink(table);
  return table;
}

TableColumns<PartRow<Setting>> MakeSettings() {
  using Row = PartRow<Setting>;
  TableColumns<Row> table("link_settings", 2);
  table.Integer("run", [](const Row& r) { return r.run; });
  table.Text("setting",
             [](const Row& r) -> const std::string& { return r.part.first; });
  table.Text("value",
             [](const Row& r) -> const std::string& { return r.part.second; });
  return table;
}

TableColumns<PartRow<RecordedStudy>> MakeStudies() {
  using Row = PartRow<RecordedStudy>;
  TableColumns<Row> table("studies", 2);
  const auto text = [&table](const char* name,
                             std::string RecordedStudy::*member) {
    table.Text(name, [member](const Row& r) -> const std::string& {
      return r.part.*member;
    });
  };
  table.Integer("run", [](const Row& r) { return r.run; });
  text("study", &RecordedStudy::name);
  text("file", &RecordedStudy::file);
  text("text", &RecordedStudy::text);
  return table;
}

TableColumns<PartRow<RecordedHost>> MakeHosts() {
  using Row = PartRow<RecordedHost>;
  TableColumns<Row> table("hosts", 2);
  const auto text = [&table](const char* name,
                             std::string RecordedHost::*member) {
    table.Text(name, [member](const Row& r) -> const std::string& {
      return r.part.*member;
    });
  };
  table.Integer("run", [](const Row& r) { return r.run; });
  text("host", &RecordedHost::name);
  text("os", &RecordedHost::os);
  text("stack", &RecordedHost::stack);
  text("description", &RecordedHost::description);
  text("address", &RecordedHost::address);
  table.Add(ColumnType::kText, "agent", [](const Row& r, Statement& out) {
    out.AddCopy(JsonList(r.part.agent));
  });
  text("agent_version", &RecordedHost::agent_version);
  return table;
}

TableColumns<FactRow> MakeFacts() {
  TableColumns<FactRow> table("host_facts", 3);
  table.Integer("run", [](const FactRow& r) { return r.run; });
  table.Text("host",
             [](const FactRow& r) -> const std::string& { return r.host; });
  table.Text("fact", [](const FactRow& r) -> const std::string& {
    return r.fact.name;
  });
  table.Add(ColumnType::kAny, "value", [](const FactRow& r, Statement& out) {
    if (r.fact.number.has_value()) return out.Add(*r.fact.number);
    AddOptionValue(r.fact.value, out);
  });
  table.Text("reason", [](const FactRow& r) -> const std::string& {
    return r.fact.reason;
  });
  return table;
}

struct RunTableSet {
  TableColumns<RunRow> runs = MakeRuns();
  TableColumns<PartRow<Setting>> settings = MakeSettings();
  TableColumns<PartRow<RecordedStudy>> studies = MakeStudies();
  TableColumns<PartRow<RecordedHost>> hosts = MakeHosts();
  TableColumns<FactRow> facts = MakeFacts();
};

const RunTableSet& RunSet() {
  static const RunTableSet tables;
  return tables;
}

// One statement for few rows, each of which `each` is called with a function
// to write it by.
template <class Row, class Each>
Outcome<Done> WriteRows(Database& database, const TableColumns<Row>& table,
                        const Each& each) {
  auto insert = database.Prepare(InsertStatement(table.table()));
  if (!insert.has_value()) return insert.error();
  std::optional<Failure> failed;
  each([&](const Row& row) {
    if (failed.has_value()) return;
    table.FillRow(row, insert.value());
    if (const auto run = insert.value().Run(); !run.has_value()) {
      failed = run.error();
    }
  });
  if (failed.has_value()) return *failed;
  return Done{};
}

template <class Part, class Parts>
Outcome<Done> WriteParts(Database& database,
                         const TableColumns<PartRow<Part>>& table,
                         std::int64_t run, const Parts& parts) {
  return WriteRows(database, table, [&](const auto& write) {
    for (const auto& part : parts) write(PartRow<Part>{run, part});
  });
}

Outcome<Done> WriteFacts(Database& database, std::int64_t run,
                         const RunRecord& record) {
  return WriteRows(database, RunSet().facts, [&](const auto& write) {
    for (const RecordedHost& host : record.hosts) {
      for (const RecordedFact& fact : host.facts) {
        write(FactRow{run, host.name, fact});
      }
    }
  });
}

// Two runs of one key would be mixed up.
Outcome<Done> CheckSameRun(Database& database, std::int64_t run,
                           const RunRecord& record) {
  auto found =
      database.Prepare("SELECT started, seed FROM runs WHERE run = ?1");
  if (!found.has_value()) return found.error();
  Statement& statement = found.value();
  statement.Add(run);
  const auto row = statement.Next();
  if (!row.has_value()) return row.error();
  if (row.value() && statement.Text(0) == record.started &&
      statement.Text(1) == std::to_string(record.seed)) {
    return Done{};
  }
  return Failure{
      ExitCode::kUsage,
      fmt::format("{}: holds another run under the key {}; export this one to "
                  "another file",
                  database.file(), run)};
}

}  // namespace

std::vector<SqlTable> RunTableHeads() {
  const RunTableSet& set = RunSet();
  return {set.runs.table(), set.settings.table(), set.studies.table(),
          set.hosts.table(), set.facts.table()};
}

void AddOptionValue(const OptionValue& value, Statement& statement) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return statement.Add(std::string_view(*flag ? "on" : "off"));
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return statement.Add(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return statement.Add(std::string_view(*text));
  }
  statement.AddNull();
}

Outcome<std::int64_t> WriteRun(Database& database, const RunRecord& record,
                               const std::string& folder) {
  const std::int64_t run = RunKey(record);
  const RunTableSet& set = RunSet();
  // Nothing more after a failure: SQLite may have ended the transaction.
  Outcome<Done> done = WriteRows(database, set.runs, [&](const auto& write) {
    write(RunRow{run, record, folder});
  });
  if (done.has_value()) done = CheckSameRun(database, run, record);
  if (done.has_value()) {
    done = WriteParts(database, set.settings, run, record.link.settings);
  }
  if (done.has_value()) {
    done = WriteParts(database, set.studies, run, record.studies);
  }
  if (done.has_value()) {
    done = WriteParts(database, set.hosts, run, record.hosts);
  }
  if (done.has_value()) done = WriteFacts(database, run, record);
  if (!done.has_value()) return done.error();
  return run;
}

}  // namespace wiretoll
