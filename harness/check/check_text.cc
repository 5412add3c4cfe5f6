#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "harness/base/terminal_text.h"
#include "harness/base/words.h"
#include "harness/check/describe.h"
#include "harness/check/remedies.h"

namespace wiretoll {
namespace {

using terminal::Paragraph;
using terminal::Printable;
using terminal::Row;
using terminal::Table;

// --- Hosts ------------------------------------------------------------------

bool HoldsWord(std::string text, const std::string& word) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text.find(word) != std::string::npos;
}

// The kind of system is named whatever its description says: Wine above all.
std::string SystemOf(const HostCheck& host) {
  if (!host.hello) return "?";
  const Hello& hello = *host.hello;
  const bool named = HoldsWord(hello.description, hello.os);
  return Printable(named ? hello.description
                         : hello.os + ": " + hello.description);
}

std::string ClockOf(const HostCheck& host) {
  if (!host.clock.value) return "?";
  const auto [ahead, within] = *host.clock.value;
  const Nanoseconds off = ahead < Nanoseconds{0} ? -ahead : ahead;
  if (off <= within) return "same, +-" + FormatDuration(within);
  return fmt::format("{} {}, +-{}", FormatDuration(off),
                     ahead.count() > 0 ? "ahead" : "behind",
                     FormatDuration(within));
}

std::string NumberOr(const Observed<std::int64_t>& seen) {
  return seen.value ? fmt::format("{}", *seen.value) : std::string("?");
}

std::string HostTable(const CheckReport& report) {
  std::vector<Row> rows{{"HOST", "AGENT", "SYSTEM", "ADDRESS", "MTU", "CLOCK"}};
  for (const HostCheck& host : report.hosts) {
    rows.push_back({Printable(host.host.name),
                    host.hello ? Printable(host.hello->version) : "none",
                    SystemOf(host), host.host.address, NumberOr(host.mtu_bytes),
                    ClockOf(host)});
  }
  return Table(rows);
}

std::string Names(const Sights& sights, bool seen) {
  std::vector<std::string_view> names;
  for (const Sight& sight : sights.seen) {
    if (sight.seen == seen) names.push_back(sight.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string InWords(const Sights& sights) {
  if (!sights.tried) return "?";
  std::string words = Names(sights, true);
  const std::string unseen = Names(sights, false);
  if (unseen.empty()) return words;
  if (!words.empty()) words += "; ";
  return words += "not: " + unseen;
}

std::string OffloadsOf(const HostCheck& host) {
  std::vector<std::string> words;
  for (const Offload& offload : host.offloads) {
    if (offload.on.value == false) continue;
    // "tx_checksum_offload" is "tx checksum" here.
    std::string name = offload.name.substr(0, offload.name.find("_offload"));
    std::replace(name.begin(), name.end(), '_', ' ');
    words.push_back(offload.on.value ? name : name + "?");
  }
  const bool none_told = std::none_of(
      host.offloads.begin(), host.offloads.end(),
      [](const Offload& offload) { return offload.on.value.has_value(); });
  if (none_told) return "?";
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string SightTable(const CheckReport& report) {
  std::vector<Row> rows{
      {"HOST", "COUNTS WHEN IT SENDS", "WHEN IT RECEIVES", "OFFLOADS ON"}};
  for (const HostCheck& host : report.hosts) {
    if (!host.sends.tried && !host.receives.tried) continue;
    rows.push_back({Printable(host.host.name), InWords(host.sends),
                    InWords(host.receives), OffloadsOf(host)});
  }
  return rows.size() == 1 ? std::string() : Table(rows) + "\n";
}

// --- Pairs ------------------------------------------------------------------

std::string YesOrNo(const std::optional<bool>& answer) {
  return !answer ? "?" : *answer ? "yes" : "no";
}

std::string WhoCounts(const PairCheck& pair) {
  if (!pair.sender_counts || !pair.receiver_counts) return "?";
  if (*pair.sender_counts) return *pair.receiver_counts ? "both" : "sender";
  return *pair.receiver_counts ? "receiver" : "nobody";
}

// Of a host that cannot be used there is nothing to tell pair by pair.
bool IsShown(const PairCheck& pair, const CheckReport& report) {
  if (pair.reaches) return true;
  return std::none_of(
      report.hosts.begin(), report.hosts.end(), [&](const HostCheck& host) {
        return !host.problems.empty() && (host.host.name == pair.sender ||
                                          host.host.name == pair.receiver);
      });
}

std::string PairTable(const CheckReport& report) {
  std::vector<Row> rows{{"FROM", "TO", "REACHES", "ROUND TRIP", "64 KIB WHOLE",
                         "PATH MTU", "SEGMENTS COUNTED BY"}};
  for (const PairCheck& pair : report.pairs) {
    if (!IsShown(pair, report)) continue;
    const auto& rounds = pair.round_trip.value;
    rows.push_back({Printable(pair.sender), Printable(pair.receiver),
                    YesOrNo(pair.reaches),
                    rounds ? FormatDuration(Nanoseconds{rounds->p50_ns}) : "?",
                    YesOrNo(pair.full_segments), NumberOr(pair.path_mtu_bytes),
                    WhoCounts(pair)});
  }
  return rows.size() == 1 ? std::string() : Table(rows) + "\n";
}

// --- What else --------------------------------------------------------------

// Why a "?" or a "not" stands in a table, once for each reason.
class Remarks {
 public:
  void Add(const std::string& whose, const std::string& words) {
    if (words.empty()) return;
    const auto [at, first] = names_.try_emplace(words);
    if (first) order_.push_back(words);
    std::vector<std::string>& names = at->second;
    if (std::count(names.begin(), names.end(), whose) == 0)
      names.push_back(whose);
  }

  [[nodiscard]] std::string Text() const {
    std::string text;
    for (const std::string& words : order_) {
      text += Paragraph(
          "- ", Printable(fmt::format(
                    "{}: {}", fmt::join(names_.at(words), "; "), words)));
    }
    return text.empty() ? text : text + "\n";
  }

 private:
  std::map<std::string, std::vector<std::string>> names_;  // By words.
  std::vector<std::string> order_;
};

void AddRemarks(const HostCheck& host, Remarks& remarks) {
  const std::string& name = host.host.name;
  if (host.hello && host.problems.empty()) {
    if (!host.mtu_bytes.value)
      remarks.Add(name + ", MTU", host.mtu_bytes.reason);
    if (!host.clock.value) remarks.Add(name + ", clock", host.clock.reason);
    for (const Offload& offload : host.offloads) {
      if (!offload.on.value)
        remarks.Add(name + ", offloads", offload.on.reason);
    }
    remarks.Add(name + " as sender", host.sends.reason);
    remarks.Add(name + " as receiver", host.receives.reason);
    remarks.Add(name + ", run --capture", host.captures == true
                                              ? "it can capture here"
                                              : host.why_no_captures);
  }
  if (!host.problems.empty())
    remarks.Add(name, "no pair with it could be tried to the end");
  for (const std::string& note : host.notes) remarks.Add(name, note);
}

void AddRemarks(const PairCheck& pair, const CheckReport& report,
                Remarks& remarks) {
  const std::string name = pair.sender + " to " + pair.receiver;
  if (!pair.not_tried.empty() && IsShown(pair, report))
    remarks.Add(name, "not tried: " + pair.not_tried);
  if (pair.full_segments == true && !pair.path_mtu_bytes.value)
    remarks.Add(name + ", path MTU", pair.path_mtu_bytes.reason);
  for (const std::string& note : pair.notes) remarks.Add(name, note);
}

std::string RemarksText(const CheckReport& report) {
  Remarks remarks;
  for (const HostCheck& host : report.hosts) AddRemarks(host, remarks);
  for (const PairCheck& pair : report.pairs) AddRemarks(pair, report, remarks);
  return remarks.Text();
}

std::string ProblemsText(const CheckReport& report) {
  std::string text;
  std::map<std::string, std::size_t> told;  // Remedy to the problem's number.
  std::size_t number = 0;
  for (const CheckProblem& problem : ProblemsOf(report)) {
    const std::string left = fmt::format("{}. ", ++number);
    const std::string indent(left.size(), ' ');
    text += Paragraph(left, Printable(problem.what));
    for (const Remedy& remedy : problem.remedies) {
      const auto [at, first] = told.emplace(remedy.words, number);
      if (!first) {
        text += Paragraph(indent + "-> ",
                          fmt::format("see what is under {}", at->second));
        continue;
      }
      text +=
          Paragraph(indent + "-> ", Printable(remedy.words) +
                                        (remedy.commands.empty() ? "" : ":"));
      for (const std::string& command : remedy.commands)
        text += indent + "   " + Printable(command) + "\n";
    }
    text += "\n";
  }
  return text;
}

bool SeesAll(const Sights& sights) {
  return std::all_of(sights.seen.begin(), sights.seen.end(),
                     [](const Sight& sight) { return sight.seen; });
}

// Who counts all there is to count needs no capture to be measured.
std::string CapturesText(const CheckReport& report) {
  std::string text;
  for (const HostCheck& host : report.hosts) {
    if (SeesAll(host.sends) && SeesAll(host.receives)) continue;
    const Remedy capture = CaptureOn(host, report);
    if (capture.commands.empty()) continue;
    text += Paragraph("- ", Printable(capture.words) + ":");
    for (const std::string& command : capture.commands)
      text += "  " + Printable(command) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

std::string Verdict(const CheckReport& report) {
  const auto problems = static_cast<long long>(ProblemsOf(report).size());
  const ExitCode code = CodeOf(report);
  if (report.interrupted) return "stopped before everything was checked";
  if (code == ExitCode::kNothingRan)
    return "no agent answered; nothing more could be checked";
  if (code == ExitCode::kDone) {
    return fmt::format("all is well; to measure: wiretoll run --hosts {}",
                       report.file);
  }
  return Count(problems, "problem");
}

}  // namespace

std::string CheckText(const CheckReport& report) {
  const bool one_port = report.first_port == report.last_port;
  const std::string head = fmt::format(
      "{} of {}, data {} {}",
      Count(static_cast<long long>(report.hosts.size()), "host"), report.file,
      one_port ? "port" : "ports",
      one_port ? fmt::format("{}", report.first_port)
               : fmt::format("{}-{}", report.first_port, report.last_port));
  std::string text = Paragraph("", Printable(head)) + "\n";
  text += HostTable(report) + "\n" + PairTable(report) + SightTable(report);
  text += RemarksText(report) + CapturesText(report) + ProblemsText(report);
  return text + Paragraph("", Printable(Verdict(report)));
}

}  // namespace wiretoll
