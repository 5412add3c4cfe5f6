#include "harness/lab/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/lab/build.h"
#include "harness/lab/commands.h"
#include "harness/lab/layout.h"
#include "harness/lab/state_file.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

// Agents end with their standard input; this is how long they may take.
constexpr milliseconds kGrace{1000};

bool IsDead(const LabRecord& record) {
  return !record.kept && !IsAlive(record.owner);
}

std::string SpellOwner(const LabRecord& record) {
  if (record.kept) return "kept";
  if (!IsAlive(record.owner)) return "dead";
  return fmt::format("pid {}, alive", record.owner.pid);
}

std::string SpellIds(const std::vector<LabRecord>& records) {
  std::string ids;
  for (const LabRecord& record : records) {
    ids += (ids.empty() ? "" : ", ") + record.id;
  }
  return ids.empty() ? "none" : ids;
}

// Clears away those that `chosen` picks; gives their IDs.
template <class Chosen>
Outcome<std::vector<std::string>> ClearAll(
    const std::vector<LabRecord>& records, Chosen chosen) {
  std::vector<std::string> cleared_away;
  for (const LabRecord& record : records) {
    if (!chosen(record)) continue;
    // Nobody waits for a kept lab's processes to finish something.
    const Outcome<Done> cleared =
        ClearAway(record, record.kept ? milliseconds(0) : kGrace);
    if (!cleared.has_value()) return cleared.error();
    cleared_away.push_back(record.id);
  }
  return cleared_away;
}

// What ends when its input closes needs somebody who holds that open. Inside a
// namespace, so that taking the lab down finds it.
Outcome<Done> HoldOpen(const StandingLab& lab, BackgroundProcess& process) {
  const LabHost& host = lab.layout.hosts[0];
  return process.HandOver({"setsid", FindProgram("ip").value(), "netns", "exec",
                           host.netns, "sleep", "infinity"});
}

}  // namespace

struct Lab::State {
  std::unique_ptr<StandingLab> standing;
};

Lab::Lab(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lab::Lab(Lab&&) noexcept = default;
Lab& Lab::operator=(Lab&&) noexcept = default;
Lab::~Lab() = default;

Outcome<Lab> Lab::Up(const LabSpec& spec) {
  if (Outcome<Done> checked = CheckLabSpec(spec); !checked.has_value()) {
    return checked.error();
  }
  const Outcome<int> removed = RemoveDeadLabs();
  if (!removed.has_value()) return removed.error();
  Outcome<std::unique_ptr<StandingLab>> standing = BuildLab(spec);
  if (!standing.has_value()) return standing.error();
  auto state = std::make_unique<State>();
  state->standing = std::move(standing.value());
  return Lab(std::move(state));
}

const std::vector<LabHost>& Lab::hosts() const {
  return state_->standing->layout.hosts;
}

const RecordedLink& Lab::link() const { return state_->standing->link; }

const LinkCheck& Lab::check() const { return state_->standing->check; }

std::string Lab::Trouble() {
  StandingLab& lab = *state_->standing;
  if (!lab.relay || lab.relay->IsRunning()) return {};
  return "the delay line (our own relay between the hosts) has ended, so that "
         "the line carries nothing: was it killed? Run again";
}

Outcome<Done> Lab::RunIn(const std::string& host, const std::string& command) {
  const auto found =
      std::find_if(hosts().begin(), hosts().end(),
                   [&](const LabHost& one) { return one.name == host; });
  if (found == hosts().end() || found->netns.empty())
    return NothingRan("host " + host + " of this lab has no namespace");
  const auto ran =
      TryCommand({{"ip", "netns", "exec", found->netns, "sh", "-c", command}});
  if (!ran.has_value()) return ran.error();
  if (ran.value().exit_code == 0) return Done{};
  return NothingRan("on " + host + ": " + command + ": " + ran.value().errors);
}

const std::string& Lab::congestion() const {
  static const std::string none;
  const StandingLab& lab = *state_->standing;
  return lab.all_choose_congestion ? lab.congestion : none;
}

Outcome<Done> Lab::Keep() {
  StandingLab& lab = *state_->standing;
  lab.record.kept = true;
  if (Outcome<Done> written = WriteRecord(lab.record); !written.has_value()) {
    return written;
  }
  if (lab.relay) {
    Outcome<Done> handed = HoldOpen(lab, *lab.relay);
    if (!handed.has_value()) return handed;
  }
  for (auto* keepers : {&lab.wines, &lab.guests}) {
    for (BackgroundProcess& keeper : *keepers) {
      Outcome<Done> handed = HoldOpen(lab, keeper);
      if (!handed.has_value()) return handed;
    }
  }
  lab.kept = true;
  return Done{};
}

Outcome<std::vector<LabStatus>> ListLabs() {
  const Outcome<std::vector<LabRecord>> records = ReadRecords();
  if (!records.has_value()) return records.error();
  std::vector<LabStatus> labs;
  for (const LabRecord& record : records.value()) {
    labs.push_back({record.id, SpellOwner(record), record.hosts, record.link});
  }
  return labs;
}

Outcome<std::vector<std::string>> TakeDown(const std::string& id) {
  const Outcome<std::vector<LabRecord>> records = ReadRecords();
  if (!records.has_value()) return records.error();
  if (id.empty()) {
    return ClearAll(records.value(), [](const LabRecord& record) {
      return record.kept || IsDead(record);
    });
  }
  const auto found =
      std::find_if(records.value().begin(), records.value().end(),
                   [&](const LabRecord& record) { return record.id == id; });
  if (found == records.value().end()) {
    return Failure{ExitCode::kUsage,
                   fmt::format("there is no lab '{}'; there are: {}", id,
                               SpellIds(records.value()))};
  }
  if (!found->kept && !IsDead(*found)) {
    return Failure{ExitCode::kUsage,
                   fmt::format("lab '{}' is in use by pid {}; end that first",
                               id, found->owner.pid)};
  }
  return ClearAll({*found}, [](const LabRecord&) { return true; });
}

Outcome<int> RemoveDeadLabs() {
  const Outcome<std::vector<LabRecord>> records = ReadRecords();
  if (!records.has_value()) return records.error();
  const auto cleared = ClearAll(records.value(), &IsDead);
  if (!cleared.has_value()) return cleared.error();
  return static_cast<int>(cleared.value().size());
}

}  // namespace wiretoll
