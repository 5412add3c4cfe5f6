#include <fmt/format.h>

#include <algorithm>

#include "reports/document.h"
#include "reports/tables.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

void AddTable(std::string& out, const Table& table, const char* heading) {
  out += fmt::format("{} {}\n\n", heading, MarkdownText(table.title));
  if (table.rows.empty()) {
    out += MarkdownText(table.empty) + "\n\n";
    return;
  }
  if (!table.sentence.empty()) {
    out += fmt::format("**{}**\n\n", MarkdownText(table.sentence));
  }
  std::string heads = "|", lines = "|";
  for (const Column& column : table.columns) {
    heads += fmt::format(" {} |", MarkdownText(column.head));
    lines += column.figures ? "---:|" : "---|";
  }
  out += heads + '\n' + lines + '\n';
  for (const auto& row : table.rows) {
    out += '|';
    for (const std::string& field : row) {
      out += fmt::format(" {} |", MarkdownText(field));
    }
    out += '\n';
  }
  out += '\n';
  if (!table.note.empty()) out += MarkdownText(table.note) + "\n\n";
}

void AddPicture(std::string& out, const Picture& picture) {
  out += fmt::format(
      "- {}: **{}** {}{}\n", MarkdownText(picture.title),
      MarkdownText(picture.sentence), MarkdownText(picture.drawn),
      picture.missing.empty() ? "" : " " + MarkdownText(picture.missing));
}

void AddSection(std::string& out, const Section& section) {
  out += fmt::format("## {}\n\n{}\n\n", MarkdownText(section.title),
                     MarkdownText(section.note));
  for (const Picture& picture : section.pictures) AddPicture(out, picture);
  for (const Picture& picture : section.later) AddPicture(out, picture);
  out += '\n';
  for (const Table& table : section.tables) AddTable(out, table, "###");
  for (const Table& table : section.details) AddTable(out, table, "###");
}

void AddPart(std::string& out, const StudyPart& part, const std::string& page) {
  if (!part.title.empty()) {
    out += fmt::format("## {}\n\n", MarkdownText(part.title));
  }
  if (!part.question.empty()) out += MarkdownText(part.question) + "\n\n";
  for (const Section& section : part.contrasts) AddSection(out, section);
  for (const Picture& picture : part.pictures) AddPicture(out, picture);
  if (!part.pictures.empty()) {
    out += page.empty() ? "\n"
                        : fmt::format("\nThe pictures are in {}.\n\n", page);
  }
  for (const Table& table : part.tables) AddTable(out, table, "###");
  if (!part.source.empty()) {
    out +=
        fmt::format("Source of the study: {}\n\n", MarkdownText(part.source));
  }
}

// As code, in a fence longer than any run of backticks inside.
void AddCommand(std::string& out, const std::string& command) {
  std::size_t longest = 2, run = 0;
  for (const char c : command) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  out += fmt::format("{0}\n{1}\n{0}\n\n", fence, Printable(command));
}

}  // namespace

std::string MarkdownPage(const Document& document) {
  std::string out = fmt::format("# {}\n\n", MarkdownText(document.title));
  if (!document.banner.empty()) {
    out += fmt::format("> **{}**\n\n", MarkdownText(document.banner));
  }
  for (const std::string& tag : document.tags) {
    out += fmt::format("- {}\n", MarkdownText(tag));
  }
  out += '\n';
  if (!document.question.empty()) {
    out += MarkdownText(document.question) + "\n\n";
  }
  for (const Card& card : document.cards) {
    out += fmt::format("- **{}** {}\n", MarkdownText(card.figure),
                       MarkdownText(card.text));
  }
  out += '\n';
  for (const std::string& note : document.notes) {
    out += fmt::format("Note: {}\n\n", MarkdownText(note));
  }
  for (const StudyPart& part : document.parts) {
    AddPart(out, part, document.page);
  }
  for (const Table& table : document.tables) AddTable(out, table, "##");
  out += "## How to repeat it\n\n";
  for (const std::string& command : document.commands) {
    AddCommand(out, command);
  }
  out += MarkdownText(document.made_by) + "\n\n";
  if (document.samples_csv) AddTable(out, CsvColumnsTable(), "##");
  return out;
}

}  // namespace wiretoll
