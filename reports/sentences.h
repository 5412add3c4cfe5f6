// What the report says of its data. Every sentence is computed; where the
// data do not show an effect, the sentence says that.
#ifndef WIRETOLL_REPORTS_SENTENCES_H_
#define WIRETOLL_REPORTS_SENTENCES_H_

#include <string>
#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Of the first facet of the view. Require at least one facet.
std::string ThroughputSentence(const StudyView& view);
std::string EfficiencySentence(const StudyView& view);
std::string SegmentsSentence(const StudyView& view);

// Of the effects of one factor. `noun` names it: "Nagle", "the receive buffer".
std::string EffectSentence(const std::vector<EffectSeries>& effects,
                           const std::string& noun);

// How many of so many comparisons of equals may be told apart by chance: 5 %,
// rounded up.
std::size_t ByChance(std::size_t comparisons);

// Of the groups that have a capacity. Requires one.
std::string CapacitySentence(const StudyView& view,
                             const std::vector<const Group*>& drawn);
std::string LatencySentence(const StudyView& view);
std::string BufferSentence(const std::vector<BufferRow>& rows);

// Who counted, in words: "the receiving end's kernel", "nobody". Takes what
// Wire::observer holds.
std::string ObserverText(const std::string& observer);
std::string ObserverSentence(const Agreement& agreement);

// Three or four figures that answer the question, with their intervals.
std::vector<Card> AnswerCards(const Analysis& analysis,
                              const std::vector<StudyView>& views);

// Why a figure is missing throughout: the commonest reason of the cells.
std::string WhyMissing(const StudyView& view, Metric metric);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SENTENCES_H_
