#include "harness/base/terminal_text.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace wiretoll::terminal {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kGap = 2;        // Between the columns of a table.
constexpr std::size_t kNarrowest = 8;  // Of a column that must give way.

bool Continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// `word` in pieces of at most `width` characters.
std::vector<std::string> Pieces(const std::string& word, std::size_t width) {
  std::vector<std::string> pieces(1);
  for (const char byte : word) {
    if (!Continues(byte) && Width(pieces.back()) == width)
      pieces.emplace_back();
    pieces.back() += byte;
  }
  return pieces;
}

std::vector<std::string> Wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    for (const std::string& piece : Pieces(word, width)) {
      std::string& line = lines.back();
      if (line.empty()) {
        line = piece;
      } else if (Width(line) + 1 + Width(piece) <= width) {
        line += " " + piece;
      } else {
        lines.push_back(piece);
      }
    }
  }
  return lines;
}

// Columns as wide as what is in them; where that is over 80, the widest give
// way.
std::vector<std::size_t> ColumnWidths(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], Width(row[i]));
  }
  const std::size_t room = kColumns - kGap * (widths.size() - 1);
  while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > room) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
  }
  return widths;
}

}  // namespace

// Control characters are those below space, DEL, and U+0080 to U+009F (0xC2
// and a byte).
std::string Printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) text[i] = ' ';
    if (byte != 0xC2 || i + 1 == text.size()) continue;
    if (static_cast<unsigned char>(text[i + 1]) < 0xA0)
      text[i] = text[i + 1] = ' ';
  }
  return text;
}

std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return !Continues(byte); }));
}

std::string Table(const std::vector<Row>& rows) {
  const auto widths = ColumnWidths(rows);
  std::string text;
  for (const Row& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(Wrap(row[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string& part =
            line < cells[i].size() ? cells[i][line] : std::string();
        out += part + std::string(widths[i] + kGap - Width(part), ' ');
      }
      out.erase(out.find_last_not_of(' ') + 1);
      text += out + "\n";
    }
  }
  return text;
}

std::string Paragraph(const std::string& left, const std::string& text) {
  std::string out;
  std::string before = left;
  for (const std::string& line : Wrap(text, kColumns - Width(left))) {
    out += before + line + "\n";
    before = std::string(Width(left), ' ');
  }
  return out;
}

}  // namespace wiretoll::terminal
