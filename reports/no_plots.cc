// The contract where gnuplot-iostream was not there when this was built.
#include "reports/plots.h"

namespace wiretoll {

Outcome<std::vector<std::string>> DrawPlots(const std::vector<PlotRequest>&,
                                            std::chrono::milliseconds) {
  return Failure{ExitCode::kNothingRan,
                 "this wiretoll was built without gnuplot-iostream; build it "
                 "with WIRETOLL_PLOTS=ON, or make the report from the run "
                 "folder on a machine whose wiretoll has it"};
}

}  // namespace wiretoll
