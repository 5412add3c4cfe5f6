#include <fmt/format.h>

#include <algorithm>

#include "reports/document.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Shown beside the large picture before the fold.
constexpr std::size_t kPanelsBeforeFold = 6;

// Attribute selectors turn gnuplot's fixed greys into the theme's.
constexpr const char* kStyle = R"css(
:root{--fg:#1f2328;--dim:#5f6672;--bg:#fff;--card:#f6f7f9;--line:#e1e4e8;
--grid:#d9dde2;--axis:#8a8f98;--mark:#fff6e0;--warn:#fdeadd}
@media (prefers-color-scheme:dark){:root{--fg:#e6e8eb;--dim:#a3abb6;
--bg:#14171b;--card:#1c2026;--line:#2f353d;--grid:#2f353d;--axis:#6d7480;
--mark:#2d2714;--warn:#3a2114}}
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{font:16px/1.55 Inter,Helvetica,Arial,sans-serif;color:var(--fg);
background:var(--bg);margin:0 auto;max-width:1080px;padding:2rem 1rem 4rem;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.25;margin:.4em 0 .2em}
h2{font-size:1.3rem;margin:2.8rem 0 .4rem}
h3{font-size:1.05rem;margin:2rem 0 .4rem}
.q{color:var(--dim);margin:.2em 0;max-width:44em}
.banner{background:var(--warn);color:var(--fg);border:2px solid #D55E00;
border-radius:10px;padding:.6rem 1rem;margin:0 0 1rem;font-weight:700}
.tags{display:flex;flex-wrap:wrap;gap:.4rem;margin:0;padding:0;list-style:none}
.tags li{font-size:.8rem;border:1px solid var(--line);border-radius:1em;
padding:.1rem .7rem;color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));
gap:.8rem;margin:1.4rem 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:.8rem 1rem;font-size:.95rem}
.card b{font-size:1.35rem;line-height:1.3;display:block}
figure{margin:2.4rem 0}
figure h3{margin:0 0 .3rem}
figcaption{margin:.2rem 0 .5rem;max-width:60em}
.drawn{margin:.4rem 0;max-width:70em;line-height:1.4}
.drawn small,.note{color:var(--dim);font-size:.84rem}
.box,.table{background:
linear-gradient(to right,var(--bg) 40%,transparent) left/2rem 100% no-repeat local,
linear-gradient(to left,var(--bg) 40%,transparent) right/2rem 100% no-repeat local,
linear-gradient(to right,var(--axis),transparent) left/.5rem 100% no-repeat scroll,
linear-gradient(to left,var(--axis),transparent) right/.5rem 100% no-repeat scroll}
.box{overflow-x:auto}
.large svg{display:block;width:100%;min-width:780px;height:auto}
.large.narrow svg{min-width:405px;max-width:620px}
.small{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));
gap:1rem 1.2rem;margin-top:1rem}
.small svg{display:block;width:100%;height:auto;max-width:420px}
.panel{margin:0;min-width:0}
.panel p,.which{color:var(--dim);font-size:.84rem;margin:.2rem 0}
.keys{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.4rem 0;padding:0;
list-style:none;color:var(--dim);font-size:.84rem}
.keys svg{vertical-align:-1px;margin-right:.4em}
svg text{fill:var(--dim);font-family:Inter,Helvetica,Arial,sans-serif}
svg [stroke="rgb(138, 143, 152)"]{stroke:var(--axis)}
svg [stroke="rgb(208, 212, 218)"]{stroke:var(--grid)}
svg [color=white]{color:var(--bg)}
.story{padding-left:2.2rem;max-width:60em}
.story li{margin:.25rem 0}
.story li::marker{color:var(--dim);font-size:.84rem}
.missing{border:1px dashed var(--axis);border-radius:10px;color:var(--dim);
padding:1.2rem 1rem}
.table{overflow:auto;max-height:36rem;margin:.4rem 0}
thead th{position:sticky;top:0;background:var(--bg)}
table{border-collapse:collapse;min-width:100%;font-size:.86rem}
td,th{padding:.32rem .5rem;border-bottom:1px solid var(--line);
text-align:right;vertical-align:top;white-space:nowrap}
th{font-weight:600;white-space:normal;overflow-wrap:normal;
vertical-align:bottom}
td.w,th.w{text-align:left}
td.l{white-space:normal;overflow-wrap:anywhere;min-width:16em;max-width:30em}
td.n{white-space:normal;min-width:11.5em}
.table.short{max-height:none}
.contrast td.w{white-space:normal;min-width:8.5em}
.contrast td.l{min-width:9em}
@media(min-width:900px){.contrast .short td:first-child{min-width:14em}}
tr.m td{background:var(--mark)}
pre{background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:.8rem 1rem;white-space:pre-wrap;font-size:.85rem}
summary{cursor:pointer;color:var(--dim);margin:.8rem 0}
footer{color:var(--dim);font-size:.84rem;margin-top:3rem}
@media print{body{max-width:none;padding:0}details>*{display:block}
figure,.card,tr{break-inside:avoid}.table{max-height:none}.large svg{min-width:0}}
)css";

// A figure and its percent sign stay on one line.
std::string Prose(const std::string& text) {
  std::string html = HtmlText(text);
  for (std::size_t at = html.find(" %"); at != std::string::npos;
       at = html.find(" %", at)) {
    html.replace(at, 1, "&nbsp;");
  }
  return html;
}

// The marker in the middle of a line, as gnuplot draws it at the curve.
const char* MarkerPath(Shape shape) {
  switch (shape) {
    case Shape::kCircle:
      return "M10 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0z";
    case Shape::kSquare:
      return "M10.5 2.5h7v7h-7z";
    case Shape::kTriangle:
      return "M14 1.5l4.5 8h-9z";
    case Shape::kDiamond:
      return "M14 1l5 5l-5 5l-5-5z";
    case Shape::kNone:
      break;
  }
  return "";
}

std::string KeyMark(const Key& key) {
  if (!key.line) {
    return fmt::format(
        "<rect width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>", key.colour);
  }
  return fmt::format(
      "<path d=\"M0 6h28\" stroke=\"{0}\" stroke-width=\"2\"{1}/><path "
      "d=\"{2}\" fill=\"{3}\" stroke=\"{0}\"/>",
      key.colour, key.dashed ? " stroke-dasharray=\"5 4\"" : "",
      MarkerPath(key.shape), key.dashed ? "none" : key.colour);
}

class Page {
 public:
  explicit Page(const Document& document) : document_(document) {}

  std::string Make() {
    Head();
    Cards();
    for (const std::string& note : document_.notes) {
      Raw(fmt::format("<p class=\"note\">{}</p>\n", HtmlText(note)));
    }
    Story();
    for (const StudyPart& part : document_.parts) Part(part);
    for (const Table& table : document_.tables) TableBlock(table, "h2");
    Repeat();
    Raw("</main>\n</body>\n</html>\n");
    return std::move(out_);
  }

 private:
  void Raw(std::string_view text) { out_ += text; }

  void Head() {
    const std::string title = HtmlText(document_.title);
    const std::string banner = HtmlText(document_.banner);
    Raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n<meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">\n");
    Raw(fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
                    banner.empty() ? title : banner + ". " + title, kStyle));
    if (!banner.empty()) {
      Raw(fmt::format("<p class=\"banner\" role=\"note\">{}</p>\n",
                      Capital(banner)));
    }
    if (!document_.tags.empty()) {
      Raw("<ul class=\"tags\">");
      for (const std::string& tag : document_.tags) {
        Raw(fmt::format("<li>{}</li>", HtmlText(tag)));
      }
      Raw("</ul>\n");
    }
    Raw(fmt::format("<main>\n<h1 dir=\"auto\">{}</h1>\n", title));
    Question(document_.question);
  }

  void Question(const std::string& question) {
    if (question.empty()) return;
    Raw(fmt::format("<p class=\"q\" dir=\"auto\">{}</p>\n",
                    HtmlText(question)));
  }

  void Cards() {
    Raw("<div class=\"cards\">\n");
    for (const Card& card : document_.cards) {
      Raw(fmt::format("<div class=\"card\"><b>{}</b>{}</div>\n",
                      Prose(card.figure), Prose(card.text)));
    }
    Raw("</div>\n");
  }

  void Story() {
    if (document_.story.empty()) return;
    Raw("<h2>What happened</h2>\n<ol class=\"story\">\n");
    for (const std::string& line : document_.story) {
      Raw(fmt::format("<li dir=\"auto\">{}</li>\n", Prose(line)));
    }
    Raw("</ol>\n");
    if (document_.story_note.empty()) return;
    Raw(fmt::format("<p class=\"note\">{}</p>\n",
                    HtmlText(document_.story_note)));
  }

  void Part(const StudyPart& part) {
    if (!part.title.empty()) {
      Raw(fmt::format("<h2 dir=\"auto\">{}</h2>\n", HtmlText(part.title)));
    }
    Question(part.question);
    for (const Section& section : part.contrasts) Chapter(section);
    for (const Picture& picture : part.pictures) Figure(picture);
    for (const Table& table : part.tables) TableBlock(table, "h3");
    if (!part.source.empty()) {
      Raw(
          fmt::format("<p class=\"note\" dir=\"auto\">Source of the study: "
                      "{}</p>\n",
                      HtmlText(part.source)));
    }
  }

  void Chapter(const Section& section) {
    Raw(
        fmt::format("<section class=\"contrast\">\n<h2>{}</h2>\n"
                    "<p class=\"note\">{}</p>\n",
                    HtmlText(section.title), HtmlText(section.note)));
    for (const Picture& picture : section.pictures) Figure(picture);
    for (const Table& table : section.tables) TableBlock(table, "h3");
    for (const Picture& picture : section.later) Figure(picture);
    for (const Table& table : section.details) TableBlock(table, "h3");
    Raw("</section>\n");
  }

  void Figure(const Picture& picture) {
    Raw(
        fmt::format("<figure class=\"picture\">\n<h3>{}</h3>\n"
                    "<figcaption><b>{}</b></figcaption>\n",
                    HtmlText(picture.title), Prose(picture.sentence)));
    const bool drawable = !picture.panels.empty();
    if (!drawable) {
      Raw(fmt::format("<div class=\"missing\">{}</div>\n",
                      HtmlText(picture.missing)));
    } else if (picture.panels[0].svg.empty()) {
      Raw(fmt::format("<div class=\"missing\">No picture: {}</div>\n",
                      HtmlText(document_.no_pictures)));
    } else {
      Keys(picture.keys);
      Large(picture.panels[0]);
    }
    Raw(fmt::format("<p class=\"drawn\"><small>{}</small></p>\n",
                    Prose(picture.drawn)));
    if (drawable && !picture.panels[0].svg.empty()) Others(picture.panels);
    Raw("</figure>\n");
  }

  void Keys(const std::vector<Key>& keys) {
    if (keys.empty()) return;
    Raw("<ul class=\"keys\">");
    for (const Key& key : keys) {
      Raw(
          fmt::format("<li><svg width=\"{}\" height=\"12\" "
                      "aria-hidden=\"true\">{}</svg>{}</li>",
                      key.line ? 28 : 12, KeyMark(key), HtmlText(key.text)));
    }
    Raw("</ul>\n");
  }

  void Large(const Panel& panel) {
    if (!panel.label.empty()) {
      Raw(fmt::format("<p class=\"which\">{}</p>\n", HtmlText(panel.label)));
    }
    // A picture made narrow stays so: its words would grow with it.
    constexpr int kNarrow = 700;
    Raw(fmt::format("<div class=\"box large{}\" tabindex=\"0\">{}</div>\n",
                    panel.request.chart.width < kNarrow ? " narrow" : "",
                    panel.svg));
  }

  void Others(const std::vector<Panel>& panels) {
    const std::size_t shown = std::min(panels.size(), 1 + kPanelsBeforeFold);
    Small(panels, 1, shown);
    if (panels.size() <= shown) return;
    Raw(fmt::format("<details><summary>{} more</summary>\n",
                    panels.size() - shown));
    Small(panels, shown, panels.size());
    Raw("</details>\n");
  }

  void Small(const std::vector<Panel>& panels, std::size_t from,
             std::size_t to) {
    if (from >= to) return;
    Raw("<div class=\"small\">\n");
    for (std::size_t i = from; i < to; ++i) {
      Raw(fmt::format("<div class=\"panel\"><p>{}</p>{}</div>\n",
                      HtmlText(panels[i].label), panels[i].svg));
    }
    Raw("</div>\n");
  }

  void TableBlock(const Table& table, const char* heading) {
    Raw(fmt::format("<{0}>{1}</{0}>\n", heading, HtmlText(table.title)));
    if (table.rows.empty()) {
      Raw(fmt::format("<p>{}</p>\n", HtmlText(table.empty)));
      return;
    }
    if (!table.sentence.empty()) {
      Raw(fmt::format("<p><b>{}</b></p>\n", Prose(table.sentence)));
    }
    Rows(table);
    if (!table.note.empty()) {
      Raw(fmt::format("<p class=\"note\">{}</p>\n", HtmlText(table.note)));
    }
  }

  void Rows(const Table& table) {
    constexpr std::size_t kShort = 12;  // Seen whole.
    Raw(fmt::format(
        "<div class=\"table{}\" tabindex=\"0\"><table>\n<thead><tr>",
        table.rows.size() <= kShort ? " short" : ""));
    for (const Column& column : table.columns) {
      Raw(fmt::format("<th scope=\"col\"{}>{}</th>",
                      column.figures ? "" : " class=\"w\"",
                      HtmlText(column.head)));
    }
    Raw("</tr></thead>\n<tbody>\n");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const bool marked = i < table.marked.size() && table.marked[i];
      Raw(marked ? "<tr class=\"m\">" : "<tr>");
      for (std::size_t k = 0; k < table.rows[i].size(); ++k) {
        Field(table.columns[k], table.rows[i][k]);
      }
      Raw("</tr>\n");
    }
    Raw("</tbody>\n</table></div>\n");
  }

  void Field(const Column& column, const std::string& text) {
    constexpr std::size_t kLong = 40;
    // The name of a case, say, that may be broken at its dashes.
    constexpr std::size_t kLongName = 22;
    const bool name =
        Length(text) > kLongName && text.find(' ') == std::string::npos;
    const char* shape = column.figures         ? ""
                        : name                 ? " class=\"w n\" dir=\"auto\""
                        : Length(text) > kLong ? " class=\"w l\" dir=\"auto\""
                                               : " class=\"w\" dir=\"auto\"";
    Raw(fmt::format("<td{}>{}</td>", shape, HtmlText(text)));
  }

  void Repeat() {
    Raw("<h2>How to repeat it</h2>\n");
    if (document_.commands.empty()) {
      Raw("<p>No command is recorded.</p>\n");
    }
    for (const std::string& command : document_.commands) {
      Raw(fmt::format("<pre>{}</pre>\n", HtmlText(command)));
    }
    Raw(fmt::format(
        "<footer>{} Beside this page: {}.</footer>\n",
        HtmlText(document_.made_by),
        HtmlText(fmt::format("{}", fmt::join(document_.beside, ", ")))));
  }

  const Document& document_;
  std::string out_;
};

}  // namespace

std::string HtmlPage(const Document& document) { return Page(document).Make(); }

}  // namespace wiretoll
