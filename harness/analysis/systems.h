// What a system is called wherever a report names one.
#ifndef WIRETOLL_HARNESS_ANALYSIS_SYSTEMS_H_
#define WIRETOLL_HARNESS_ANALYSIS_SYSTEMS_H_

#include <string>
#include <vector>

#include "harness/samples/run_folder.h"

namespace wiretoll {

// The kind of system, in a word: "Linux", "Windows", "Wine", "ns-3". What is
// not known stays as it is; empty is "unknown system".
std::string FamilyName(const std::string& os);

// The same where it could be taken for what it is not: "Wine (not Windows)",
// "ns-3 (simulated)".
std::string SystemName(const std::string& os);

// A system as its host describes itself.
struct SystemWords {
  std::string os, stack, description;
};

// "Debian 12, Linux 6.18.44", "Windows 11 23H2 (22631.3447)", "Wine 8.0 on
// Linux 6.18", "ns-3.37 (simulated)". The os decides what it is: words that do
// not say so get it in front, so that a host that calls itself Windows over
// Wine is still named Wine. Text as recorded; whoever shows it escapes it.
std::string SystemText(const SystemWords& system);

// The same of the named host of a run. Its description counts only where it
// stands for the system that the samples name.
std::string SystemOfHost(const RunRecord& record, const std::string& host,
                         const std::string& os, const std::string& stack);

// What must be said wherever figures stand that nobody measured.
inline constexpr const char* kSyntheticData =
    "synthetic data: nothing here was measured";

// True if any of the runs says so of itself.
bool IsSynthetic(const std::vector<RunRecord>& runs);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_SYSTEMS_H_
