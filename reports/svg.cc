#include "reports/svg.h"

#include <fmt/format.h>

#include <charconv>

#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::string_view kOpen = "QzT";
constexpr std::string_view kClose = "zQ";

void ReplaceAll(std::string& text, std::string_view from,
                const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Takes out everything from each `open` through the next `close`.
void RemoveAll(std::string& text, std::string_view open,
               std::string_view close) {
  std::string kept;
  std::size_t from = 0;
  for (;;) {
    const std::size_t start = text.find(open, from);
    const std::size_t end = start == std::string::npos
                                ? std::string::npos
                                : text.find(close, start + open.size());
    if (end == std::string::npos) break;
    kept.append(text, from, start - from);
    from = end + close.size();
  }
  kept.append(text, from);
  text = std::move(kept);
}

// gnuplot opens a group for each change of pen and draws nothing in most.
void RemoveEmptyGroups(std::string& text) {
  std::string kept;
  std::size_t from = 0;
  constexpr std::string_view kGroup = "<g fill=\"none\"";
  constexpr std::string_view kEnd = "</g>\n";
  for (;;) {
    const std::size_t start = text.find(kGroup, from);
    if (start == std::string::npos) break;
    const std::size_t inside = text.find(">\n", start);
    if (inside == std::string::npos) break;
    const bool empty = text.compare(inside + 2, kEnd.size(), kEnd) == 0;
    kept.append(text, from, (empty ? start : inside + 2) - from);
    from = inside + 2 + (empty ? kEnd.size() : 0);
  }
  kept.append(text, from);
  text = std::move(kept);
}

void PrefixIds(std::string& text, const std::string& prefix) {
  for (const std::string_view mark :
       {"id='", "id=\"", "href='#", "href=\"#", "url(#"}) {
    ReplaceAll(text, mark, std::string(mark) + prefix);
  }
}

}  // namespace

std::string SvgTexts::Add(std::string text) {
  texts_.push_back(std::move(text));
  return fmt::format("{}{}{}", kOpen, texts_.size() - 1, kClose);
}

std::string SvgTexts::Fill(std::string_view raw) const {
  std::string out;
  std::size_t from = 0;
  for (;;) {
    const std::size_t start = raw.find(kOpen, from);
    if (start == std::string_view::npos) break;
    std::size_t index = 0;
    const char* digits = raw.data() + start + kOpen.size();
    const auto [stop, error] =
        std::from_chars(digits, raw.data() + raw.size(), index);
    const auto end = static_cast<std::size_t>(stop - raw.data());
    const bool known = error == std::errc{} && index < texts_.size() &&
                       raw.substr(end, kClose.size()) == kClose;
    out += raw.substr(from, start - from);
    out += known ? HtmlText(texts_[index]) : std::string(kOpen);
    from = known ? end + kClose.size() : start + kOpen.size();
  }
  out += raw.substr(from);
  return out;
}

std::string TidySvg(std::string_view raw, const SvgFrame& frame) {
  const std::size_t start = raw.find("<svg");
  const std::size_t end = raw.rfind("</svg>");
  if (start == std::string_view::npos || end == std::string_view::npos) {
    return {};
  }
  std::string text(raw.substr(start, end + 6 - start));
  RemoveAll(text, "<title>", "</title>");
  RemoveAll(text, "<desc>", "</desc>");
  RemoveAll(text, "<filter", "</filter>");
  RemoveAll(text, " font-family=\"Helvetica", "\"");
  // HTML knows the namespaces of SVG by itself, and the page names no address.
  RemoveAll(text, " xmlns=\"", "\"\n");
  RemoveAll(text, " xmlns:xlink=\"", "\"\n");
  RemoveEmptyGroups(text);
  PrefixIds(text, frame.prefix);
  const std::size_t body = text.find('>') + 1;
  return fmt::format(
      "<svg role=\"img\" aria-labelledby=\"{0}title {0}desc\"{1}\n"
      "<title id=\"{0}title\">{2}</title>\n<desc id=\"{0}desc\">{3}</desc>{4}",
      frame.prefix, text.substr(4, body - 4), HtmlText(frame.title),
      HtmlText(frame.description), text.substr(body));
}

}  // namespace wiretoll
