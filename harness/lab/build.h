// A lab while it stands: made step by step, and taken down whole.
#ifndef WIRETOLL_HARNESS_LAB_BUILD_H_
#define WIRETOLL_HARNESS_LAB_BUILD_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/commands.h"
#include "harness/lab/layout.h"
#include "harness/lab/state_file.h"

namespace wiretoll {

// Ownership: takes down all that its record names when it goes, unless kept.
struct StandingLab {
  StandingLab() = default;
  StandingLab(const StandingLab&) = delete;
  StandingLab& operator=(const StandingLab&) = delete;
  ~StandingLab();

  LabRecord record;
  Layout layout;
  RecordedLink link;
  LinkCheck check;
  std::string congestion;
  bool all_choose_congestion = true;
  std::optional<BackgroundProcess> relay;
  std::vector<BackgroundProcess> wines;   // Each keeps one host's Wine.
  std::vector<BackgroundProcess> guests;  // Each keeps one host's machine.
  bool kept = false;
};

// Requires a spec that passed CheckLabSpec().
Outcome<std::unique_ptr<StandingLab>> BuildLab(const LabSpec& spec);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_BUILD_H_
