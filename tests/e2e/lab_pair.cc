#include "tests/e2e/lab_pair.h"

#include <gtest/gtest.h>

#include <utility>

#include "platform/process.h"

namespace wiretoll {

LabPair::LabPair(LabSpec spec) {
  spec.agent = WIRETOLL_AGENT;
  spec.self = WIRETOLL_PROGRAM;
  auto lab = Lab::Up(spec);
  if (!lab.has_value()) {
    ADD_FAILURE() << lab.error().message;
    return;
  }
  lab_.emplace(std::move(lab).value());
  for (const LabHost& host : lab_->hosts()) {
    hosts_.push_back({host.name, host.address, host.agent});
    links_.push_back(
        std::make_unique<AgentLink>(io_, host.agent, KeepFromChildren));
  }
}

TrialResult LabPair::Trial(Workload workload) {
  if (!up()) return {};
  if (!workload.congestion) workload.congestion = "cubic";
  TrialSpec spec;
  spec.id = "exact";
  spec.workload = std::move(workload);
  spec.first_port = 7001;
  spec.last_port = 7099;
  spec.deadline = std::chrono::seconds(60);
  auto result =
      RunTrial(io_, {&hosts_[0], links_[0].get()},
               {&hosts_[1], links_[1].get()}, spec, [] { return false; });
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.reason;
  return result;
}

std::string WhyNoLab() {
  const LabAbility ability = ProbeLabAbility();
  return ability.means == LabMeans::kRoot
             ? std::string()
             : "labs need root here: " + ability.reason;
}

}  // namespace wiretoll
