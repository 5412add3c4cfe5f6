// What text, page and JSON of a comparison say in the same words.
#ifndef WIRETOLL_REPORTS_COMPARE_WORDS_H_
#define WIRETOLL_REPORTS_COMPARE_WORDS_H_

#include <string>
#include <vector>

#include "harness/analysis/compare.h"

namespace wiretoll {

// Why ratios and intervals are what they are, in three sentences.
extern const char* const kUnpairedNote;

// "slower", "not distinguishable", "missing in NEW".
std::string VerdictOf(const ComparedCell& cell);

// "linux-1 → linux-2", as BASE names them; what is neither Linux nor Windows
// is told, for each run where that differs.
std::string PairOf(const Comparison& comparison, const ComparedCell& cell);

// With the study before it where there are several.
std::string CaseOf(const Comparison& comparison, const ComparedCell& cell);

// "throughput", "median round trip".
std::string NameOf(Compared which);
// "11.8 MB/s", "44.0 ms"; ns a byte and segments as bare numbers.
std::string SpellFigure(Compared which, double value);
// SpellFigure, or a dash.
std::string SpellFigure(Compared which, const std::optional<double>& value);

// The ratio NEW / BASE, with its interval where that leaves out 1.
std::string RatioInShort(const ComparedFigure& figure);

// How many cells are what, and what chance alone would make.
std::string Verdicts(const Comparison& comparison);

// "BASE: runs/a, quick, measured 2026-01-02T03:04:05Z, 5 blocks, ..." of run 0
// or 1.
// What must not be overlooked: which of the runs nobody measured. Empty if both
// were.
std::string SyntheticBanner(const Comparison& comparison);

std::string RunLine(const Comparison& comparison, std::size_t run);

// "not observed: why", or the value.
std::string SpellFact(const ToldFact& fact);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_COMPARE_WORDS_H_
