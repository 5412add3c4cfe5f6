// Two hosts of a lab with their agents, for tests that count exactly.
#ifndef WIRETOLL_TESTS_E2E_LAB_PAIR_H_
#define WIRETOLL_TESTS_E2E_LAB_PAIR_H_

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "harness/lab/lab.h"
#include "harness/run/agent_link.h"
#include "harness/run/trial.h"

namespace wiretoll {

class LabPair {
 public:
  // Fails the test if the lab does not come up.
  explicit LabPair(LabSpec spec);

  // The first host sends to the second, with cubic. Fails the test unless it
  // went well.
  TrialResult Trial(Workload workload);

  [[nodiscard]] const LabHost& host(std::size_t index) const {
    return lab_->hosts()[index];
  }
  [[nodiscard]] bool up() const { return lab_.has_value(); }

 private:
  std::optional<Lab> lab_;
  boost::asio::io_context io_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<AgentLink>> links_;
};

// Why labs cannot be made here, and the remedy; empty if they can.
std::string WhyNoLab();
// Likewise for labs with a Wine host.
std::string WhyNoWine();

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_E2E_LAB_PAIR_H_
