// A report as values: what stands in it, in order, before any format. Texts
// are plain; whoever writes a format escapes them.
#ifndef WIRETOLL_REPORTS_DOCUMENT_H_
#define WIRETOLL_REPORTS_DOCUMENT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/analysis.h"
#include "reports/plots.h"

namespace wiretoll {

struct Card {
  std::string figure;  // "7.1 writes"
  std::string text;    // "share one segment ..."
};

struct Column {
  std::string head;
  bool figures = true;  // Figures stand to the right, words to the left.
};

using Row = std::vector<std::string>;

// A page with more rows is no longer read, and browsers get slow.
inline constexpr std::size_t kMostRows = 200;

struct Table {
  std::string title;
  std::string sentence;  // What to see in it; may be empty.
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<bool> marked;  // Rows to set off; empty or one a row.
  std::string note;          // Under the table: what was left out.
  std::string empty;         // Stands in place of a table without rows.
};

// What a colour of a picture means; drawn as a patch, or as a line with the
// marker of its curve.
struct Key {
  std::string colour;
  std::string text;
  bool line = false;
  bool dashed = false;
  Shape shape = Shape::kNone;
};

struct Panel {
  std::string label;  // Of a small multiple.
  PlotRequest request;
  std::string svg;  // Filled when drawn; there before, it is left alone.
};

struct Picture {
  std::string kind;  // "throughput"; as a study's [[plot]] names it.
  std::string title;
  std::string sentence;  // What to see, computed from the data.
  std::string drawn;     // What is drawn, small.
  std::vector<Key> keys;
  std::vector<Panel> panels;  // The first is large. Empty: see `missing`.
  std::string folded;         // Heading of what follows the first panels.
  std::string missing;        // Why there is nothing to draw.
};

// A chapter that goes before the others: in the order of its members.
struct Section {
  std::string title;
  std::string note;
  std::vector<Picture> pictures;
  std::vector<Table> tables;
  std::vector<Picture> later;
  std::vector<Table> details;
};

struct StudyPart {
  std::string title;
  std::string question;
  std::string source;
  std::vector<Section> contrasts;  // Two systems side by side.
  std::vector<Picture> pictures;
  std::vector<Table> tables;
};

struct Document {
  std::string banner;  // What must not be overlooked; may be empty.
  std::vector<std::string> tags;
  std::string title;
  std::string question;
  std::vector<Card> cards;
  std::vector<std::string> story;  // What happened, in order.
  std::string story_note;          // What of it is left out.
  std::vector<StudyPart> parts;    // One a study.
  std::vector<Table> tables;       // Of the whole report.
  std::vector<std::string> notes;
  std::vector<std::string> commands;  // To repeat it.
  std::string made_by;
  std::vector<std::string> beside;   // "samples.csv (a row a trial)"
  std::string no_pictures;           // Why none could be drawn, and the remedy.
  std::string page = "report.html";  // Where the pictures are; may be empty.
  bool samples_csv = true;           // Its columns are told in the Markdown.
};

// Where the samples are from: emulated, synthetic, loopback, Wine. Stands
// wherever their figures do.
std::vector<std::string> SourceTags(const Analysis& analysis);

Document MakeDocument(const Analysis& analysis);

// Has gnuplot draw all panels, for at most `limit`. If it cannot, the document
// says so in their place, and so does the warning that comes back.
std::optional<std::string> DrawPictures(Document& document,
                                        std::chrono::milliseconds limit);

// One self-contained page: no script, no address outside.
std::string HtmlPage(const Document& document);
std::string MarkdownPage(const Document& document);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_DOCUMENT_H_
