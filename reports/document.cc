#include "reports/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "harness/analysis/systems.h"
#include "reports/contrast.h"
#include "reports/flow_sets.h"
#include "reports/matrix.h"
#include "reports/pictures.h"
#include "reports/predictions.h"
#include "reports/selection.h"
#include "reports/sentences.h"
#include "reports/size_tables.h"
#include "reports/tables.h"
#include "reports/text.h"
#include "reports/window_view.h"
#include "reports/window_words.h"

namespace wiretoll {
namespace {

void AddOnce(std::vector<std::string>& tags, const std::string& tag) {
  if (std::find(tags.begin(), tags.end(), tag) == tags.end()) {
    tags.push_back(tag);
  }
}

void AddLinkTag(const RecordedLink& link, std::vector<std::string>& tags) {
  const std::string what = Printable(link.description);
  if (link.kind == "loopback") {
    AddOnce(tags, "loopback is not a network");
  } else if (link.kind == "lab") {
    const bool said = what.starts_with("emulated");
    AddOnce(tags, said           ? what
                  : what.empty() ? "emulated link"
                                 : fmt::format("emulated link: {}", what));
  } else if (link.kind == "synthetic") {
    AddOnce(tags, "synthetic samples: nothing was measured");
  } else if (!what.empty()) {
    AddOnce(tags, what);
  }
}

void AddHostTag(const std::string& os, std::vector<std::string>& tags) {
  if (os == "wine") {
    AddOnce(tags, "Wine is not Windows: Win32 code over Linux's TCP");
  } else if (os == "ns3") {
    AddOnce(tags, "ns-3: a simulated stack, not a host's own");
  } else if (os == "lwip" || os == "gvisor") {
    AddOnce(tags, SystemName(os) + ": a stack in user space");
  }
}

// A kernel whose every instruction is translated counts as any other, and its
// times are the translator's.
void AddMachineTag(const RecordedHost& host, std::vector<std::string>& tags) {
  const auto translated =
      std::find_if(host.facts.begin(), host.facts.end(), [](const auto& fact) {
        return fact.name == "hypervisor" &&
               fact.value == OptionValue(std::string("QEMU TCG"));
      });
  if (translated == host.facts.end()) return;
  AddOnce(tags, fmt::format("{} in QEMU without KVM: its counts are its own, "
                            "its speed and CPU time are the emulator's",
                            Printable(host.stack)));
}

// What was emulated stands first of all.
std::vector<std::string> Tags(const Analysis& analysis) {
  std::vector<std::string> tags;
  for (const RunRecord& run : analysis.runs) AddLinkTag(run.link, tags);
  for (const RunRecord& run : analysis.runs) {
    for (const RecordedHost& host : run.hosts) {
      AddHostTag(host.os, tags);
      AddMachineTag(host, tags);
    }
  }
  for (const Cell& cell : analysis.cells) {
    AddHostTag(cell.sender_os, tags);
    AddHostTag(cell.receiver_os, tags);
  }
  return tags;
}

// In every table: figures are copied out of them alone.
void SayLoopback(const StudyView& view, StudyPart& part) {
  const bool loopback = std::any_of(
      view.groups.begin(), view.groups.end(), [&](const Group& group) {
        const std::size_t run = group.first->run;
        return view.analysis->runs[run].link.kind == "loopback";
      });
  if (!loopback) return;
  const auto say = [](std::vector<Table>& tables) {
    for (Table& table : tables) {
      table.note += table.note.empty() ? "" : " ";
      table.note += "Measured over loopback, which is not a network.";
    }
  };
  say(part.tables);
  for (Section& section : part.contrasts) {
    say(section.tables);
    say(section.details);
  }
}

// Of a study without sizes or datagrams there are none, rather than empty ones.
void AddSizeTables(const StudyView& view, StudyPart& part) {
  for (Table& table : std::array{KneesTable(view), DatagramsTable(view)}) {
    if (!table.rows.empty()) part.tables.push_back(std::move(table));
  }
}

StudyPart MakePart(const StudyView& view) {
  StudyPart part;
  if (view.study < view.analysis->studies.size()) {
    const Study& study = view.analysis->studies[view.study];
    part.title = Printable(study.title.empty() ? study.name : study.title);
    part.question = Printable(study.question);
    part.source = Printable(study.source);
  }
  if (auto matrix = MatrixSection(view)) {
    part.contrasts.push_back(*std::move(matrix));
  }
  for (Section& section : ContrastSections(view)) {
    part.contrasts.push_back(std::move(section));
  }
  part.pictures = StudyPictures(view);
  if (!view.latency.empty()) part.tables.push_back(LatencyTable(view));
  if (view.latency.empty() || !view.facets.empty()) {
    part.tables.push_back(CasesTable(view));
  }
  AddSizeTables(view, part);
  if (IsWindowStudy(view))
    part.tables.insert(part.tables.begin(),
                       WindowsTable(view, WindowCurves(view)));
  Table flows = FlowsTable(view);
  if (!flows.rows.empty()) part.tables.push_back(std::move(flows));
  part.tables.push_back(PairsTable(view));
  part.tables.push_back(PredictionsTable(view));
  part.tables.push_back(RulesTable(view));
  SayLoopback(view, part);
  return part;
}

void AddHeading(const Analysis& analysis, Document& document) {
  if (analysis.studies.size() == 1 && !document.parts.empty()) {
    document.title = document.parts[0].title;
    document.question = document.parts[0].question;
    // Not said twice.
    document.parts[0].title.clear();
    document.parts[0].question.clear();
    return;
  }
  document.title =
      analysis.studies.empty()
          ? "Nothing was measured"
          : Count(static_cast<long long>(analysis.studies.size()), "study");
  if (analysis.studies.size() > 1) {
    document.title = fmt::format("{} studies", analysis.studies.size());
  }
}

std::vector<std::string> Commands(const Analysis& analysis) {
  std::vector<std::string> commands;
  for (const RunRecord& run : analysis.runs) {
    if (!run.command.empty()) commands.push_back(ShellCommand(run.command));
  }
  return commands;
}

std::string MadeBy(const Analysis& analysis) {
  std::set<std::string> versions;
  std::string started, seeds;
  for (const RunRecord& run : analysis.runs) {
    versions.insert(Printable(run.wiretoll_version));
    started += (started.empty() ? "" : ", ") + Printable(run.started);
    seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", run.seed);
  }
  return fmt::format(
      "wiretoll {}; measured {}; seed {}; {} complete.",
      fmt::join(versions, ", "), started.empty() ? "never" : started,
      seeds.empty() ? "none" : seeds, Count(analysis.blocks, "block"));
}

}  // namespace

std::vector<std::string> SourceTags(const Analysis& analysis) {
  return Tags(analysis);
}

Document MakeDocument(const Analysis& analysis) {
  Document document;
  if (IsSynthetic(analysis.runs)) document.banner = kSyntheticData;
  document.tags = Tags(analysis);
  std::vector<StudyView> views;
  for (std::size_t i = 0; i < analysis.studies.size(); ++i) {
    views.push_back(ViewStudy(analysis, i));
  }
  document.cards = AnswerCards(analysis, views);
  for (const StudyView& view : views) document.parts.push_back(MakePart(view));
  AddHeading(analysis, document);
  document.tables = {BuffersTable(analysis),      AgreementTable(analysis),
                     SendingRulesTable(analysis), HostsTable(analysis),
                     LinksTable(analysis),        ProblemsTable(analysis),
                     ClaimsTable(analysis)};
  for (const std::string& note : analysis.notes) {
    document.notes.push_back(Printable(note));
  }
  document.commands = Commands(analysis);
  document.made_by = MadeBy(analysis);
  document.beside = {"report.md", "samples.csv (a row a trial)",
                     "report.json (all figures)"};
  if (HasPredictions(analysis)) {
    document.beside.emplace_back("predictions.csv (a row a prediction)");
  }
  if (!KneesToTell(analysis).empty()) {
    document.beside.emplace_back("knees.csv (a row a curve and pair)");
  }
  if (!analysis.contrasts.empty()) {
    document.beside.emplace_back("directions.csv (a row a case and direction)");
  }
  return document;
}

}  // namespace wiretoll
