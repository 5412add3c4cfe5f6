// gnuplot's SVG made fit to stand in a page beside others.
#ifndef WIRETOLL_REPORTS_SVG_H_
#define WIRETOLL_REPORTS_SVG_H_

#include <string>
#include <string_view>
#include <vector>

namespace wiretoll {

// Texts wait in the plot as tokens and are put in, escaped, only here: what
// comes from a run never passes through gnuplot, which runs commands that it
// finds in backticks.
class SvgTexts {
 public:
  // The token that stands for `text` in the script: letters and digits only.
  std::string Add(std::string text);
  // `raw` with each token replaced by its escaped text, in one pass, so that
  // a text that looks like a token stays as it is.
  [[nodiscard]] std::string Fill(std::string_view raw) const;

 private:
  std::vector<std::string> texts_;
};

struct SvgFrame {
  std::string prefix;  // Makes ids unique in the page.
  std::string title;   // For screen readers.
  std::string description;
};

// Drops the XML prolog and gnuplot's own titles, prefixes its ids; tokens stay
// for SvgTexts::Fill, also those in `frame`. Empty if `raw` is no SVG.
std::string TidySvg(std::string_view raw, const SvgFrame& frame);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SVG_H_
