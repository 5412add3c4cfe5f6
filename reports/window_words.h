// Studies of windows in words and rows.
#ifndef WIRETOLL_REPORTS_WINDOW_WORDS_H_
#define WIRETOLL_REPORTS_WINDOW_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "reports/document.h"
#include "reports/window_view.h"

namespace wiretoll {

// The value of a curve left to the system, and the best of those that were set.
struct BeforeAfter {
  const WindowCurve* curve = nullptr;
  const WindowPoint* before = nullptr;
  const WindowPoint* after = nullptr;
  std::optional<Ratio> ratio;  // after / before, block by block.
};
// Of each curve that has both.
std::vector<BeforeAfter> PairsOf(const StudyView& view,
                                 const std::vector<WindowCurve>& curves);

// What to see.
std::string WindowSentence(const StudyView& view,
                           const std::vector<WindowCurve>& curves);
std::string BeforeAfterSentence(const std::vector<BeforeAfter>& pairs);
// What held it: "16 KiB to 64 KiB the receiver's window, 128 KiB to unset the
// line".
std::string HeldBy(const WindowCurve& curve);
// The cards that answer a study of windows.
void AddWindowCards(const StudyView& view, std::vector<Card>& cards);

// A row for each window.
Table WindowsTable(const StudyView& view,
                   const std::vector<WindowCurve>& curves);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_WINDOW_WORDS_H_
