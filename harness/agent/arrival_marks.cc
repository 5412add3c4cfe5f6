#include "harness/agent/arrival_marks.h"

namespace wiretoll {

void ArrivalMarks::Mark(std::int64_t bytes, SteadyTime now) {
  if (!first_) {
    first_ = now;
    first_bytes_ = bytes;
    // Rounded up: the first tenth has wholly come.
    next_ = expected_ ? *expected_ / 10 + (*expected_ % 10 > 0) : kNever;
    if (warmup_.count() > 0) next_ = bytes;
  }
  if (bytes >= next_ && now - *first_ >= warmup_) {
    steady_from_ = now;
    steady_after_ = bytes;
    next_ = kNever;
  }
}

void ArrivalMarks::Fill(std::int64_t bytes, SteadyTime ended,
                        EndReport& report) const {
  if (first_) {
    report.elapsed_ns = Nanoseconds{ended - *first_}.count();
    report.first_read_bytes = first_bytes_;
  } else {
    report.why_null["elapsed_ns"] = "nothing came";
    report.why_null["first_read_bytes"] = "nothing came";
  }
  FillSteady(bytes, ended, report);
}

void ArrivalMarks::FillSteady(std::int64_t bytes, SteadyTime ended,
                              EndReport& report) const {
  if (steady_from_ && bytes > steady_after_) {
    report.steady_bytes = bytes - steady_after_;
    report.steady_elapsed_ns = Nanoseconds{ended - *steady_from_}.count();
    return;
  }
  report.why_null["steady_bytes"] = WhyNotSteady();
  report.why_null["steady_elapsed_ns"] = WhyNotSteady();
}

const char* ArrivalMarks::WhyNotSteady() const {
  if (warmup_.count() > 0) {
    return steady_from_ ? "nothing came after the warm-up"
                        : "the trial ended before the warm-up was over";
  }
  if (!expected_) return "how many bytes would come was not known before";
  return steady_from_
             ? "all of it came with the read that ended the first tenth"
             : "less than a tenth of what was planned came";
}

}  // namespace wiretoll
