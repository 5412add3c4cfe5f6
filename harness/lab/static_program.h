// Programs for where there are no libraries: guests and sandboxes.
#ifndef WIRETOLL_HARNESS_LAB_STATIC_PROGRAM_H_
#define WIRETOLL_HARNESS_LAB_STATIC_PROGRAM_H_

#include <filesystem>

#include "harness/base/result.h"

namespace wiretoll {

// Of an ELF program: no loader is named near its start.
bool IsStatic(const std::filesystem::path& program);

// kNothingRan: the agent is not static, and how to build one that is.
Outcome<Done> CheckStatic(const std::filesystem::path& agent);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_STATIC_PROGRAM_H_
