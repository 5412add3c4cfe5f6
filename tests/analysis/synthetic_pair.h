// Run folders of two systems that differ, for tests and for a look at how a
// report sets them side by side. Made up, and marked so in run.json: nothing
// in them was measured, on Windows or anywhere else.
#ifndef WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_PAIR_H_
#define WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_PAIR_H_

#include <functional>
#include <string>

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {

inline constexpr const char* kLinuxName = "Debian 12, Linux 6.18.44";
inline constexpr const char* kWindowsName = "Windows 11 23H2 (22631.3447)";

struct SyntheticPair {
  // With two hosts of a system, its own direction runs too.
  int linux_hosts = 2;
  int other_hosts = 2;
  std::string other_os = "windows";
  std::string other_stack = kWindowsName;
  std::string other_description = "Windows 11 23H2 (22631.3447), Professional";
  // The other system's kernel counts segments, as for an administrator.
  bool other_counts = false;
  std::string study_text = {};
  int blocks = 5;
  double noise = 0.02;
  // What a trial's time is multiplied by. Null: always 1.
  std::function<double(bool other_sends, bool other_receives, const Sample&)>
      slowness = nullptr;
};

// Pairs: every direction between two different hosts. The other system reads
// its buffers back as asked; who counted the segments comes from AccountWire.
SyntheticRun SyntheticPairRun(const SyntheticPair& pair);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_PAIR_H_
