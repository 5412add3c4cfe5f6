// Advice for people and for programs.
#ifndef WIRETOLL_HARNESS_ADVISE_DESCRIBE_ADVICE_H_
#define WIRETOLL_HARNESS_ADVISE_DESCRIBE_ADVICE_H_

#include <string>
#include <vector>

#include "harness/advise/advise.h"

namespace wiretoll {

// At most 80 columns; commands stand whole on their lines. Whatever agents said
// is safe on a terminal.
std::string AdviceText(const Advice& advice);

// docs/advise.md has every field. Ends with a newline.
std::string AdviceJson(const Advice& advice);

// Of a recorded run: a table, and of a single cell all there is to say.
std::string RecordedText(const std::vector<RecordedCell>& cells);
std::string RecordedJson(const std::vector<RecordedCell>& cells);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ADVISE_DESCRIBE_ADVICE_H_
