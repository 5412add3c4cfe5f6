// Studies of sizes in words and figures: knees, limits of the line, and what
// was not received.
#ifndef WIRETOLL_REPORTS_SIZE_WORDS_H_
#define WIRETOLL_REPORTS_SIZE_WORDS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/datagram_totals.h"
#include "harness/analysis/knee.h"
#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// "80,000 B": sizes of studies are seldom round in KiB.
std::string PayloadText(double bytes);

// "99.9987 %": never 100 % of what is less.
std::string ShareText(double share);

bool IsUdp(const Series& series);

// Of what all pairs of the series measured; of flows at once that of their
// total. Empty below four sizes.
std::optional<Knee> KneeOf(const StudyView& view, const Series& series);

// What the rule says, in a sentence.
std::string KneeRule();

// The pause after each block of the facet's cases, in seconds; empty: none.
std::optional<double> PauseOf(const Facet& facet);

// Sums of the group's pairs; empty over TCP.
std::optional<DatagramTotals> TotalsOf(const StudyView& view,
                                       const Group& group);

// How many flows share the line with a flow of the group, itself counted in.
double FlowsOnTheLine(const StudyView& view, const Group& group);

// Bytes/s that the line leaves each flow; empty where its rate is not known,
// or where theory has no word on the case. UDP: of blocks of `size` bytes, in
// datagrams with their fragments.
std::optional<double> TcpLimit(const StudyView& view, const Series& series);
std::optional<double> UdpLimit(const StudyView& view, const Series& series,
                               std::int64_t size);
// Largest payload of one frame, for the guide; empty where that is not known.
std::optional<std::int64_t> WholeDatagram(const StudyView& view,
                                          const Series& series);

// What to see in each picture.
std::string KneeSentence(const StudyView& view);
std::string ReceivedSentence(const StudyView& view);
std::string FatesSentence(const StudyView& view);
std::string DelaySentence(const StudyView& view);

// "Duplicates: ..." with a space before it.
std::string DuplicatesLine(const StudyView& view);

// Why a figure of datagrams is missing: the commonest reason of UDP's cells.
std::string WhyNoDatagramFigure(const StudyView& view, Metric metric);

// The cards that answer a study of sizes: knees, and the least that arrived.
void AddSizeCards(const StudyView& view, std::vector<Card>& cards);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SIZE_WORDS_H_
