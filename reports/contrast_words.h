// What two systems side by side show, in words. All computed; where something
// was not tested, the words say what that would take.
#ifndef WIRETOLL_REPORTS_CONTRAST_WORDS_H_
#define WIRETOLL_REPORTS_CONTRAST_WORDS_H_

#include <string>
#include <vector>

#include "reports/document.h"

namespace wiretoll {

// "Windows to Linux", and with the systems' whole names and an arrow.
std::string BriefDirection(const Contrast& contrast, std::size_t direction);
std::string FullDirection(const Contrast& contrast, std::size_t direction);

// "Linux is Debian 12, Linux 6.18.44 (linux-1, linux-2); Windows is ..."; what
// differs between hosts besides their system is said here too.
std::string WhoIsWho(const Analysis& analysis, const Contrast& contrast);

// Which end makes the difference, then each end in turn, then what is missing.
std::string EndSentence(const Contrast& contrast);

// "0.621× the throughput (0.601–0.642)", "no difference that can be told:
// 1.01× (0.98–1.03)".
std::string SwitchText(const Contrast& contrast, const Ratio& ratio);

// Of the directions' figures: the fastest and the slowest.
std::string DirectionsSentence(const Contrast& contrast);

// Where along the size of a write the directions part; of streams.
std::string WritesSentence(const Contrast& contrast);

// The figures that answer the question of a comparison: at most two.
void AddContrastCards(const Analysis& analysis, std::vector<Card>& cards);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_CONTRAST_WORDS_H_
