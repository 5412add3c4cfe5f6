#include "tests/e2e/lab_pair.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "harness/lab/wine.h"
#include "platform/process.h"

namespace wiretoll {

namespace {

LabSpec WithPrograms(LabSpec spec) {
  const char* told = std::getenv("WIRETOLL_WINDOWS_AGENT");
  spec.agent = WIRETOLL_AGENT;
  spec.windows_agent = told != nullptr ? told : BUILT_WINDOWS_AGENT;
  spec.self = WIRETOLL_PROGRAM;
  return spec;
}

}  // namespace

LabPair::LabPair(LabSpec spec) {
  spec = WithPrograms(std::move(spec));
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
  // Empty where a Wine host cannot set it: its route has it.
  if (!workload.congestion && !lab_->congestion().empty()) {
    workload.congestion = "cubic";
  }
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
             : "labs need root here (sudo ./dev test): " + ability.reason;
}

std::string WhyNoWine() {
  std::string why = WhyNoLab();
  if (!why.empty()) return why;
  const auto tools = FindWine(WithPrograms({}));
  return tools.has_value() ? std::string() : tools.error().message;
}

}  // namespace wiretoll
