// The contract where there are no labs: not on Linux. Every answer says so.
#include "harness/lab/lab.h"

namespace wiretoll {
namespace {

Failure NoLabs() {
  return Failure{ExitCode::kNothingRan,
                 "a lab is made of Linux's network namespaces, and this is no "
                 "Linux: name machines in a hosts file (--hosts FILE)"};
}

}  // namespace

// Never made, since Up() always fails.
struct Lab::State {
  std::vector<LabHost> hosts;
  RecordedLink link;
  LinkCheck check;
  std::string congestion;
};

Lab::Lab(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lab::Lab(Lab&&) noexcept = default;
Lab& Lab::operator=(Lab&&) noexcept = default;
Lab::~Lab() = default;

Outcome<Lab> Lab::Up(const LabSpec&) { return NoLabs(); }
const std::vector<LabHost>& Lab::hosts() const { return state_->hosts; }
const RecordedLink& Lab::link() const { return state_->link; }
const LinkCheck& Lab::check() const { return state_->check; }
std::string Lab::Trouble() { return {}; }
const std::string& Lab::congestion() const { return state_->congestion; }
Outcome<Done> Lab::RunIn(const std::string&, const std::string&) {
  return NoLabs();
}
Outcome<Done> Lab::Keep() { return NoLabs(); }

bool HasWine(const LabSpec&) { return false; }
bool HasLwip(const LabSpec&) { return false; }
bool HasGvisor(const LabSpec&) { return false; }
bool HasSimulation(const LabSpec&) { return false; }
bool HasGuest(const LabSpec&) { return false; }
bool HasContainers(const LabSpec&) { return false; }

LabAbility ProbeLabAbility() { return {LabMeans::kLoopback, NoLabs().message}; }

std::vector<std::string> UserNamespaceCommand(std::vector<std::string> own) {
  return own;
}

Outcome<std::vector<LabStatus>> ListLabs() { return std::vector<LabStatus>{}; }
Outcome<std::vector<std::string>> TakeDown(const std::string&) {
  return NoLabs();
}
Outcome<int> RemoveDeadLabs() { return 0; }
Outcome<Done> RunRelay(const RelaySpec&) { return NoLabs(); }

std::optional<ExitCode> RunLabHelper(const std::vector<std::string>&) {
  return std::nullopt;
}

}  // namespace wiretoll
