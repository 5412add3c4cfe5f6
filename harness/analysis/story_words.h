// A trial told in sentences.
#ifndef WIRETOLL_HARNESS_ANALYSIS_STORY_WORDS_H_
#define WIRETOLL_HARNESS_ANALYSIS_STORY_WORDS_H_

#include <string>
#include <vector>

#include "harness/analysis/story.h"

namespace wiretoll {

// One a line, in order of time, from the story's timeline, calls and stalls.
// Stalls and what came after them are folded where they are alike in all but
// their times; `limits.lines` at most, and what is left out is said.
std::vector<std::string> StoryInWords(const Story& story,
                                      const StoryLimits& limits);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_STORY_WORDS_H_
