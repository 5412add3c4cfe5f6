#include "bench/trial_cost.h"

#include <algorithm>
#include <chrono>

#include "harness/analysis/wire.h"
#include "harness/run/run.h"
#include "platform/process.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

constexpr char kStudy[] = R"(
title = "Trial cost"
question = "What does a trial cost beyond its own duration?"
[factors]
write = [1448]
[stop]
seconds = "2ms"
)";

void CountSegments(const std::filesystem::path& /*folder*/, int ip_version,
                   Sample& sample) {
  sample.wire = AccountWire(*sample.sender, *sample.receiver, ip_version);
}

}  // namespace

Outcome<TrialCost> MeasureTrialCost(const Lab& lab, int trials) {
  auto study = ParseStudy(kStudy, "trial-cost.toml");
  if (!study.has_value()) return study.error();
  const TemporaryFolder folder;
  RunSpec spec;
  spec.studies.push_back(std::move(study).value());
  for (const LabHost& host : lab.hosts())
    spec.hosts.push_back({host.name, host.address, host.agent});
  spec.pairs = {{spec.hosts[0].name, spec.hosts[1].name}};
  spec.blocks = trials;
  spec.first_port = 7001;
  spec.last_port = 7099;
  spec.folder = folder.path() / "run";
  spec.record.studies = {{spec.studies[0].name, "trial-cost.toml", kStudy}};
  spec.record.pairs = {{spec.hosts[0].name, spec.hosts[1].name}};
  spec.record.link = lab.link();
  double own_ns = 0;
  RunHooks hooks;
  hooks.guard = KeepFromChildren;
  hooks.account = CountSegments;
  hooks.seen = [&](const Sample& sample) {
    if (!sample.sender || !sample.receiver) return;
    own_ns +=
        static_cast<double>(std::max(sample.sender->elapsed_ns.value_or(0),
                                     sample.receiver->elapsed_ns.value_or(0)));
  };
  hooks.enough = [] { return false; };
  Progress progress({true, false}, [](const std::string&) {});
  const auto begun = std::chrono::steady_clock::now();
  const auto summary = Run(std::move(spec), hooks, progress);
  if (!summary.has_value()) return summary.error();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begun;
  TrialCost cost;
  cost.trials = trials;
  cost.ok = static_cast<int>(summary.value().ok);
  cost.total_seconds = took.count();
  cost.mean_trial_ms = own_ns / 1e6 / trials;
  cost.overhead_ms = (took.count() * 1e3 - own_ns / 1e6) / trials;
  return cost;
}

}  // namespace wiretoll
