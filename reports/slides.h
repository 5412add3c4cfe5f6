// Pictures by themselves, for slides: what stands around one in the page is put
// into the file, on a light ground.
#ifndef WIRETOLL_REPORTS_SLIDES_H_
#define WIRETOLL_REPORTS_SLIDES_H_

#include <string>

#include "reports/document.h"

namespace wiretoll {

// An SVG file with title, sentence, keys and the first panel of `picture`.
// Empty if that was not drawn.
std::string SlideSvg(const Picture& picture);

// `text` in lines of at most `columns` code points, broken between words; a
// longer word stays whole.
std::vector<std::string> WrapWords(const std::string& text,
                                   std::size_t columns);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SLIDES_H_
