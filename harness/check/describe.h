// What a check found, for people and for programs.
#ifndef WIRETOLL_HARNESS_CHECK_DESCRIBE_H_
#define WIRETOLL_HARNESS_CHECK_DESCRIBE_H_

#include <string>

#include "harness/check/check.h"

namespace wiretoll {

// Tables of at most 80 columns, then each problem with its remedies. Commands
// stand whole on their lines. Whatever agents said is safe on a terminal.
std::string CheckText(const CheckReport& report);

// docs/check.md has every field. Ends with a newline.
std::string CheckJson(const CheckReport& report);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CHECK_DESCRIBE_H_
