#include "reports/slides.h"

#include <fmt/format.h>

#include <sstream>

#include "reports/svg.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr int kMargin = 20;
constexpr int kTitleHeight = 30, kLineHeight = 22, kKeysHeight = 26;
constexpr int kFontPixels = 15, kSmallLine = 16;
constexpr double kPixelsACharacter = 7.6;

// Of the outermost element: `name`="...", as a number; 0 if there is none.
int Attribute(const std::string& svg, const std::string& name) {
  const std::size_t head = svg.find('>');
  const std::size_t at = svg.find(" " + name + "=\"");
  if (at == std::string::npos || at > head) return 0;
  return std::atoi(svg.c_str() + at + name.size() + 3);
}

// viewBox="0 0 W H".
std::pair<int, int> SizeOf(const Panel& panel) {
  const std::size_t at = panel.svg.find("viewBox=\"0 0 ");
  if (at == std::string::npos) {
    return {Attribute(panel.svg, "width"), Attribute(panel.svg, "height")};
  }
  std::istringstream numbers(panel.svg.substr(at + 13, 40));
  int width = 0, height = 0;
  numbers >> width >> height;
  return {width, height};
}

class Slide {
 public:
  explicit Slide(const Picture& picture) : picture_(picture) {}

  std::string Make() {
    const auto [width, height] = SizeOf(picture_.panels.front());
    Text(kTitleHeight - 6, 18, "bold", picture_.title);
    int top = kTitleHeight;
    const auto columns =
        static_cast<std::size_t>((width - kMargin) / kPixelsACharacter);
    for (const std::string& line : WrapWords(picture_.sentence, columns)) {
      top += kLineHeight;
      Text(top, kFontPixels, "normal", line);
    }
    top += 12;
    if (!picture_.keys.empty()) {
      Keys(top + 8, width);
      top += key_rows_ * kKeysHeight;
    }
    constexpr double kSmallPixelsACharacter = 5.8;
    const auto foot_lines =
        WrapWords(picture_.drawn,
                  static_cast<std::size_t>(width / kSmallPixelsACharacter));
    const int foot =
        kSmallLine * static_cast<int>(foot_lines.size()) + kSmallLine;
    const std::string head = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 {0} {1}\" "
        "width=\"{0}\" height=\"{1}\">\n<style>text{{fill:#3a4048;"
        "font-family:Inter,Helvetica,Arial,sans-serif}}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
        width + 2 * kMargin, top + height + foot);
    for (std::size_t i = 0; i < foot_lines.size(); ++i) {
      Text(top + height + kSmallLine * static_cast<int>(i + 1), 11, "normal",
           foot_lines[i]);
    }
    return fmt::format("{}{}<g transform=\"translate({},{})\">{}</g>\n</svg>\n",
                       head, text_, kMargin, top, Inner(width, height));
  }

 private:
  void Text(int y, int size, const char* weight, const std::string& text) {
    text_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"{}\">{}"
        "</text>\n",
        kMargin, y, size, weight, HtmlText(text));
  }

  void Keys(int y, int width) {
    int x = kMargin;
    for (const Key& key : picture_.keys) {
      const int mark = key.line ? 28 : 12;
      const int wide =
          mark + 24 +
          static_cast<int>(static_cast<double>(Length(key.text)) * 7.2);
      if (x > kMargin && x + wide > width) {
        x = kMargin;
        y += kKeysHeight;
        ++key_rows_;
      }
      Mark(key, x, y);
      text_ +=
          fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>\n",
                      x + mark + 6, y + 5, HtmlText(key.text));
      x += wide;
    }
  }

  void Mark(const Key& key, int x, int y) {
    text_ += key.line
                 ? fmt::format(
                       "<path d=\"M{} {}h28\" stroke=\"{}\" "
                       "stroke-width=\"2.2\"{}/>\n",
                       x, y, key.colour,
                       key.dashed ? " stroke-dasharray=\"6 4\"" : "")
                 : fmt::format(
                       "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" "
                       "rx=\"2\" fill=\"{}\"/>\n",
                       x, y - 6, key.colour);
  }

  // The picture's own size, where a page would let it grow.
  [[nodiscard]] std::string Inner(int width, int height) const {
    std::string svg = picture_.panels.front().svg;
    const std::size_t head = svg.find('>');
    if (svg.find(" width=\"") < head) return svg;
    svg.insert(4, fmt::format(" width=\"{}\" height=\"{}\"", width, height));
    return svg;
  }

  const Picture& picture_;
  std::string text_;
  int key_rows_ = 1;
};

}  // namespace

std::string SlideSvg(const Picture& picture) {
  if (picture.panels.empty() || picture.panels.front().svg.empty()) return {};
  return Slide(picture).Make();
}

std::vector<std::string> WrapWords(const std::string& text,
                                   std::size_t columns) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  for (std::string word; words >> word;) {
    if (!lines.empty() && Length(lines.back()) + 1 + Length(word) <= columns) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace wiretoll
