// Tables and paragraphs for a terminal of 80 columns. Texts are UTF-8.
#ifndef WIRETOLL_HARNESS_BASE_TERMINAL_TEXT_H_
#define WIRETOLL_HARNESS_BASE_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace wiretoll::terminal {

using Row = std::vector<std::string>;

// What a stranger said, without what a terminal would obey: control characters
// are blanks.
std::string Printable(std::string text);

// The columns that `text` takes, near enough.
std::size_t Width(const std::string& text);

// Columns as wide as what is in them; where that is over 80, the widest give
// way and their texts wrap. The first row is the head. Requires one.
std::string Table(const std::vector<Row>& rows);

// A paragraph whose lines begin after `left`, the first with it. A word that
// is longer than a line is cut.
std::string Paragraph(const std::string& left, const std::string& text);

}  // namespace wiretoll::terminal

#endif  // WIRETOLL_HARNESS_BASE_TERMINAL_TEXT_H_
