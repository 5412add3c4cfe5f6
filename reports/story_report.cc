#include "reports/story_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <system_error>

#include "harness/analysis/systems.h"
#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/files.h"
#include "reports/slides.h"
#include "reports/story_data.h"
#include "reports/story_pictures.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSentences = 120;

double Nanos(std::int64_t time_ns) { return static_cast<double>(time_ns); }

const Study* StudyOf(const std::vector<Study>& studies,
                     const std::string& name) {
  for (const Study& study : studies) {
    if (study.name == name) return &study;
  }
  return nullptr;
}

// The study as the run folder holds it; empty texts where it cannot be parsed.
Study StudyOfStory(const Story& story, const RunRecord& record) {
  std::vector<Study> studies;
  for (const RecordedStudy& recorded : record.studies) {
    auto study = ParseStudy(recorded.text, recorded.file);
    if (study.has_value()) studies.push_back(std::move(study).value());
  }
  const Study* study = StudyOf(studies, story.sample.study);
  if (study != nullptr) return *study;
  Study none;
  none.title = story.sample.study;
  return none;
}

std::string HostPair(const Sample& sample) {
  const auto host = [](const std::optional<EndReport>& end) {
    return end ? Printable(end->host) : std::string("not known");
  };
  return fmt::format("{} → {}", host(sample.sender), host(sample.receiver));
}

// --- Cards ------------------------------------------------------------------

void AddStallCards(const Story& story, const StoryData& data,
                   std::vector<Card>& cards) {
  if (story.stalls.empty()) {
    cards.push_back({"no stall", "between one data segment and the next"});
    return;
  }
  std::int64_t total = 0;
  const Stall* longest = &story.stalls.front();
  for (const Stall& stall : story.stalls) {
    total += stall.lasted_ns;
    if (stall.lasted_ns > longest->lasted_ns) longest = &stall;
  }
  const double share =
      data.end_ns > 0 ? std::min(1.0, Nanos(total) / Nanos(data.end_ns)) : 0;
  cards.push_back(
      {Percent(share),
       fmt::format(
           "of {} went by in {}", TimeText(Nanos(data.end_ns)),
           Count(static_cast<long long>(story.stalls.size()), "stall"))});
  cards.push_back(
      {TimeText(Nanos(longest->lasted_ns)),
       fmt::format("is the longest stall: {}", Printable(longest->words))});
}

void AddSegmentCard(const Story& story, const StoryData& data,
                    std::vector<Card>& cards) {
  long long again = 0;
  for (const Departure& left : data.departures) again += left.again ? 1 : 0;
  const auto segments = static_cast<long long>(data.departures.size());
  const auto writes = static_cast<long long>(story.calls.sender.calls.size()) +
                      story.calls.sender.left_out;
  const std::string sent_again =
      again == 0 ? "" : fmt::format(", {} of them sent again", again);
  cards.push_back(
      {Count(segments, "segment"),
       writes == 0
           ? fmt::format("carried {}{}", FormatBytes(Bytes{data.bytes}),
                         sent_again)
           : fmt::format("carried {} of {}{}", FormatBytes(Bytes{data.bytes}),
                         Count(writes, "write"), sent_again)});
}

void AddRuleCard(const Story& story, std::vector<Card>& cards) {
  if (!story.rule || story.rule->followed.empty()) return;
  cards.push_back({Capital(Printable(story.rule->followed)),
                   "is the rule of sending that the packets show"});
}

// --- Tables -----------------------------------------------------------------

Table StallsTable(const Story& story) {
  Table table;
  table.title = "Stalls";
  table.columns = {{"at"}, {"lasted"}, {"mechanism", false}, {"what", false}};
  for (const Stall& stall : story.stalls) {
    if (table.rows.size() == kMostRows) break;
    table.rows.push_back(
        {MomentText(stall.began_ns), TimeText(Nanos(stall.lasted_ns)),
         MechanismName(stall.mechanism), Printable(stall.words)});
    table.marked.push_back(stall.mechanism == Mechanism::kUnexplained);
  }
  const auto unexplained = std::count_if(
      story.stalls.begin(), story.stalls.end(), [](const Stall& stall) {
        return stall.mechanism == Mechanism::kUnexplained;
      });
  table.sentence =
      unexplained == 0
          ? "Each stall has a mechanism that explains it."
          : fmt::format(
                "{} of {} are unexplained.", unexplained,
                Count(static_cast<long long>(story.stalls.size()), "stall"));
  if (story.stalls.size() > kMostRows) {
    table.note = fmt::format(
        "{} of {} are shown; `wiretoll explain --format json` gives all.",
        kMostRows, story.stalls.size());
  }
  table.empty = "There was none.";
  return table;
}

Table RuleTable(const Story& story) {
  Table table;
  table.title = "Which rule of sending the packets show";
  table.columns = {{"rule", false},
                   {"segments it would make"},
                   {"ends where one was seen"},
                   {"agreement"}};
  table.empty = story.why_no_rule.empty()
                    ? "It was not looked for."
                    : Capital(Printable(story.why_no_rule));
  if (!table.empty.ends_with('.')) table.empty += '.';
  if (!story.rule) return table;
  for (const RuleFit& fit : story.rule->fits) {
    table.rows.push_back(
        {SendRuleName(fit.rule), fmt::format("{}", fit.segments),
         fmt::format("{}", fit.same_cuts), Percent(fit.agreement)});
  }
  table.sentence = Capital(Printable(story.rule->why));
  if (!table.sentence.empty() && !table.sentence.ends_with('.')) {
    table.sentence += '.';
  }
  table.note = fmt::format("{} seen, what was sent again left out.",
                           Count(story.rule->seen, "segment"));
  return table;
}

std::string OrNotKnown(const std::optional<std::int64_t>& value,
                       const char* unit) {
  return value ? fmt::format("{}{}", *value, unit) : "not known";
}

std::string OptionWords(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "on" : "off";
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return fmt::format("{}", *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Printable(*text);
  }
  return {};
}

void AddOptions(const char* which, const std::optional<EndReport>& end,
                Table& table) {
  if (!end) return;
  for (const auto& [name, reading] : end->options) {
    const std::string effective = OptionWords(reading.effective);
    const std::string asked = OptionWords(reading.requested);
    if (effective.empty() && asked.empty()) continue;
    table.rows.push_back(
        {fmt::format("{}'s {}", which, Printable(name)),
         fmt::format("{}{}", effective.empty() ? "not read back" : effective,
                     asked.empty() ? "" : fmt::format(" (asked: {})", asked))});
  }
}

void AddCapture(const Story& story, Table& table) {
  const auto& capture = story.sample.capture;
  table.rows.push_back({"times by", CapturedAt(story)});
  if (!capture) return;
  table.rows.push_back({"capture", Printable(capture->file)});
  table.rows.push_back(
      {"frames in it",
       fmt::format("{}, {} dropped by the kernel",
                   OrNotKnown(capture->frames, ""),
                   capture->dropped ? fmt::format("{}", *capture->dropped)
                                    : "not known how many")});
  if (!capture->partial.empty()) {
    table.rows.push_back({"not whole", Printable(capture->partial)});
  }
}

Table FactsTable(const Story& story, const StoryData& data) {
  Table table;
  table.title = "The trial";
  table.columns = {{"fact", false}, {"value", false}};
  table.rows = {{"trial", Printable(story.sample.trial)},
                {"started", Printable(story.sample.started)},
                {"from, to", StoryPair(story)},
                {"link", Printable(story.sample.link)}};
  for (const auto& [name, value] : story.sample.factors) {
    table.rows.push_back({Printable(name), FactorValueText(name, value)});
  }
  table.rows.push_back({"MSS", OrNotKnown(data.mss, " B")});
  table.rows.push_back(
      {"round trip", data.rtt_ns
                         ? fmt::format("{}, {}", TimeText(Nanos(*data.rtt_ns)),
                                       data.rtt_source)
                         : "not known"});
  AddOptions("sender", story.sample.sender, table);
  AddOptions("receiver", story.sample.receiver, table);
  AddCapture(story, table);
  return table;
}

// --- The page ---------------------------------------------------------------

void AddSentences(const Story& story, Document& document) {
  for (const std::string& line : story.words) {
    if (document.story.size() == kMostSentences) break;
    document.story.push_back(Printable(line));
  }
  if (story.words.size() > kMostSentences) {
    document.story_note = fmt::format(
        "{} of {} sentences; `wiretoll explain --format text` gives all.",
        kMostSentences, story.words.size());
  }
}

void PutHeading(const Story& story, const Study& study, const RunRecord& run,
                Document& document) {
  Analysis source;
  source.runs = {run};
  if (IsSynthetic(source.runs)) document.banner = kSyntheticData;
  document.tags = SourceTags(source);
  document.tags.push_back(CapturedAt(story));
  document.title =
      fmt::format("One trial: {}, {}", Printable(story.sample.case_id),
                  HostPair(story.sample));
  document.question =
      fmt::format("What happened in it, at which time, and why?{}{}",
                  study.question.empty() ? "" : " The study asks: ",
                  Printable(study.question));
}

std::string SlideName(const Story& story, const Picture& picture) {
  return fmt::format("{}-{}.svg", StoryFileStem(story.sample), picture.kind);
}

}  // namespace

std::string StoryFileStem(const Sample& sample) {
  // The capture's own name, so that both stand together in the mind.
  const std::string file =
      sample.capture ? fs::path(sample.capture->file).stem().string() : "";
  constexpr std::size_t kLongest = 150;  // Names of files end at 255 bytes.
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  std::string stem = file.empty() ? sample.trial : file;
  for (char& c : stem) {
    if (kPlain.find(c) == std::string_view::npos) c = '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, "trial");
  if (stem.size() > kLongest) stem.resize(kLongest);
  return stem;
}

Document StoryDocument(const Story& story, const StoryRun& run) {
  const StoryData data = DataOf(story);
  const Study study = StudyOfStory(story, run.record);
  Document document;
  PutHeading(story, study, run.record, document);
  AddStallCards(story, data, document.cards);
  AddSegmentCard(story, data, document.cards);
  AddRuleCard(story, document.cards);
  AddSentences(story, document);
  StudyPart part;
  part.pictures = StoryPictures(story);
  part.tables = {StallsTable(story), RuleTable(story), FactsTable(story, data)};
  part.source = Printable(study.source);
  document.parts.push_back(std::move(part));
  for (const std::string& note : story.notes) {
    document.notes.push_back(Printable(note));
  }
  if (!run.record.command.empty()) {
    document.commands.push_back(ShellCommand(run.record.command));
  }
  document.commands.push_back(ShellCommand(
      {"wiretoll", "explain", run.folder.string(), story.sample.trial}));
  document.made_by =
      fmt::format("wiretoll {}; measured {}; seed {}.",
                  Printable(run.record.wiretoll_version),
                  Printable(run.record.started), run.record.seed);
  document.page.clear();
  document.samples_csv = false;
  return document;
}

Outcome<WrittenReport> WriteStory(const Story& story, const StoryRun& run,
                                  const fs::path& out,
                                  std::chrono::milliseconds picture_limit) {
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return CannotWrite(out, error.message());
  Document document = StoryDocument(story, run);
  WrittenReport written;
  const auto warning = DrawPictures(document, picture_limit);
  if (warning.has_value()) written.warnings.push_back(*warning);
  std::vector<std::pair<std::string, std::string>> files{
      {StoryFileStem(story.sample) + ".html", {}}};
  for (const Picture& picture : document.parts.front().pictures) {
    std::string slide = SlideSvg(picture);
    if (slide.empty()) continue;
    files.emplace_back(SlideName(story, picture), std::move(slide));
    document.beside.push_back(files.back().first);
  }
  if (document.beside.empty()) document.beside.emplace_back("nothing");
  files.front().second = HtmlPage(document);
  for (const auto& [name, text] : files) {
    const auto outcome = WriteWholeFile(
        out / name, [&text = text](std::ostream& file) -> Outcome<Done> {
          file << text;
          return Done{};
        });
    if (!outcome.has_value()) return outcome.error();
    written.files.push_back(out / name);
  }
  return written;
}

}  // namespace wiretoll
