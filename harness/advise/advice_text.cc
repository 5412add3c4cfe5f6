#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "harness/advise/describe_advice.h"
#include "harness/base/terminal_text.h"
#include "harness/base/words.h"

namespace wiretoll {
namespace {

using terminal::Paragraph;
using terminal::Printable;
using terminal::Row;
using terminal::Table;

std::string Spell(Nanoseconds time) { return FormatDuration(time); }

std::string SpellNs(std::int64_t ns) { return FormatDuration(Nanoseconds{ns}); }

// In the aim's unit.
std::string Value(Aim aim, double value) {
  if (aim == Aim::kThroughput)
    return value > 0 ? FormatByteRate(value) : std::string("nothing");
  return FormatDuration(Nanoseconds{std::llround(value)});
}

std::string SpellFigure(Aim aim, const RepeatedFigure& figure) {
  std::string text = Value(aim, figure.median);
  if (figure.low && *figure.high > *figure.low)
    text += fmt::format(" [{} - {}]", Value(aim, *figure.low),
                        Value(aim, *figure.high));
  return text;
}

// --- What was measured -------------------------------------------------------

std::string SpellRounds(const LatencySummary& rounds) {
  return fmt::format("{} (least {}, 99 % within {})", SpellNs(rounds.p50_ns),
                     SpellNs(rounds.min_ns), SpellNs(rounds.p99_ns));
}

void AddRtt(const Evidence& e, std::vector<Row>& rows) {
  if (e.first_rtt) {
    rows.push_back({"round trip", SpellRounds(*e.first_rtt)});
  } else if (const auto base = BaseRtt(e)) {
    rows.push_back({"round trip", Spell(*base) + ", the least of the trials"});
  }
  if (e.subject.handshake)
    rows.push_back({"in the handshake", Spell(*e.subject.handshake)});
  const auto base = BaseRtt(e);
  if (!e.loaded_rtt || !base) return;
  const double rise =
      static_cast<double>(e.loaded_rtt->p50_ns) /
      static_cast<double>(std::max<std::int64_t>(1, base->count()));
  rows.push_back({"beside a stream",
                  fmt::format("{}; {} times as long",
                              SpellRounds(*e.loaded_rtt), FormatNumber(rise))});
}

void AddLine(const Evidence& e, std::vector<Row>& rows) {
  if (!e.line) {
    rows.push_back(
        {"line", "not known" + (e.why_no_line.empty() ? std::string()
                                                      : ": " + e.why_no_line)});
    return;
  }
  rows.push_back(
      {"line",
       fmt::format("{}{}, {}: {} of payload", FormatBitRate(e.line->rate),
                   e.line->at_least ? " or more" : "", e.line->how,
                   FormatByteRate(*LineCapacity(e)))});
  if (const auto bdp = BdpOf(e)) {
    constexpr Bytes kLong{10240};
    rows.push_back(
        {"line x round trip",
         fmt::format("{} B{}: what has to be on the way to fill the line",
                     GroupDigits(bdp->count),
                     *bdp < kLong ? "" : " (" + FormatBytes(*bdp) + ")")});
  }
}

std::string PercentOf(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

// What the sender's kernel says of where its time went.
std::string Waits(const SubjectFigures& s) {
  if (!s.window_share) {
    return s.why_no_counters.empty() ? "not told"
                                     : "not told: " + s.why_no_counters;
  }
  return fmt::format(
      "{} by the peer's window, {} by the send buffer, of its "
      "busy time",
      PercentOf(*s.window_share), PercentOf(s.sndbuf_share.value_or(0)));
}

void AddSpeeds(const Evidence& e, std::vector<Row>& rows) {
  const RepeatedFigure& speed = *e.subject.bytes_per_second;
  rows.push_back(
      {"throughput", fmt::format("{}, {}", SpellFigure(Aim::kThroughput, speed),
                                 Count(speed.repeats, "trial"))});
  if (e.streams_bytes_per_second) {
    rows.push_back({fmt::format("{} at once", e.streams),
                    FormatByteRate(*e.streams_bytes_per_second) + " together"});
  }
  if (e.large_bytes_per_second) {
    rows.push_back(
        {"large buffers", fmt::format("{} with {} at each end",
                                      FormatByteRate(*e.large_bytes_per_second),
                                      FormatBytes(*e.large_buffers))});
  }
}

void AddWindows(const SubjectFigures& s, std::vector<Row>& rows) {
  rows.push_back({"sender held", Waits(s)});
  if (s.peak_window) {
    rows.push_back(
        {"largest window",
         fmt::format("{} B, shift count {}", GroupDigits(s.peak_window->count),
                     s.window_scale ? GroupDigits(*s.window_scale)
                                    : std::string("?"))});
  }
  if (s.flight) {
    rows.push_back(
        {"congestion window",
         fmt::format("{} B at the end, {}", GroupDigits(s.flight->count),
                     s.congestion.value_or("?"))});
  }
}

std::string SpellPathMtu(const Evidence& e) {
  const std::int64_t path = *e.subject.path_mtu;
  const auto mtu = NumberFact(e.sender, "mtu_bytes");
  std::string text = GroupDigits(path) + " bytes";
  if (mtu && *mtu > path) {
    text += fmt::format(", discovered: the interface of {} has {}",
                        e.sender.name, GroupDigits(*mtu));
  }
  return text;
}

void AddSubject(const Evidence& e, std::vector<Row>& rows) {
  const SubjectFigures& s = e.subject;
  if (s.latency) rows.push_back({"a round", SpellRounds(*s.latency)});
  if (!s.bytes_per_second) return;
  AddSpeeds(e, rows);
  AddWindows(s, rows);
  if (s.retransmitted_segments) {
    rows.push_back(
        {"sent again", fmt::format("{} of {} data segments",
                                   GroupDigits(*s.retransmitted_segments),
                                   GroupDigits(s.data_segments.value_or(0)))});
  }
  if (s.sender_cpu && s.receiver_cpu) {
    rows.push_back({"on a CPU", fmt::format("the sender's loop {}, the "
                                            "receiver's {} of its time",
                                            PercentOf(*s.sender_cpu),
                                            PercentOf(*s.receiver_cpu))});
  }
  if (s.path_mtu) rows.push_back({"path MTU", SpellPathMtu(e)});
}

std::string MeasuredText(const Evidence& e) {
  std::vector<Row> rows{{"MEASURED", ""}};
  AddRtt(e, rows);
  AddLine(e, rows);
  AddSubject(e, rows);
  return Table(rows) + "\n";
}

// --- What hosts are set to ---------------------------------------------------

// Those that bear on a stream's speed, of whichever system.
constexpr std::array<std::string_view, 33> kSettings = {
    "tcp_rmem",
    "tcp_wmem",
    "rmem_max",
    "wmem_max",
    "tcp_window_scaling",
    "tcp_moderate_rcvbuf",
    "tcp_congestion_control",
    "tcp_available_congestion_control",
    "tcp_timestamps",
    "tcp_sack",
    "tcp_autocorking",
    "tcp_slow_start_after_idle",
    "tcp_mtu_probing",
    "tcp_autotuning_level",
    "tcp_window_scaling_heuristics",
    "tcp_initial_window_segments",
    "tcp_1323_options",
    "tcp_sack_options",
    "interface",
    "speed_mbit",
    "mtu_bytes",
    "qdisc",
    "tx_queue_frames",
    "tso",
    "gso",
    "gro",
    "rsc",
    "rss",
    "rsc_global",
    "rss_global",
    "tx_checksum_offload",
    "rx_checksum_offload",
    "cpus_online"};

const RecordedFact* Find(const PairHost& host, std::string_view name) {
  const auto found =
      std::find_if(host.facts.begin(), host.facts.end(),
                   [&](const RecordedFact& fact) { return fact.name == name; });
  return found == host.facts.end() ? nullptr : &*found;
}

std::string SpellFact(const RecordedFact* fact, const PairHost& host) {
  if (fact == nullptr) return "-";
  if (const auto* flag = std::get_if<bool>(&fact->value))
    return *flag ? "on" : "off";
  if (const auto* number = std::get_if<std::int64_t>(&fact->value))
    return fmt::format("{}", *number);
  if (fact->number) return FormatNumber(*fact->number);
  return TextFact(host, fact->name).value_or("?");
}

std::string SettingsText(const Evidence& e) {
  std::vector<Row> rows{
      {"SETTING", Printable(e.sender.name), Printable(e.receiver.name)}};
  for (const std::string_view name : kSettings) {
    const RecordedFact* ours = Find(e.sender, name);
    const RecordedFact* theirs = Find(e.receiver, name);
    if (ours == nullptr && theirs == nullptr) continue;
    rows.push_back({std::string(name), Printable(SpellFact(ours, e.sender)),
                    Printable(SpellFact(theirs, e.receiver))});
  }
  return rows.size() == 1 ? std::string() : Table(rows) + "\n";
}

// Why a "?" stands in the table.
std::string UnreadText(const PairHost& host) {
  std::string text;
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const std::string_view name : kSettings) {
    const RecordedFact* fact = Find(host, name);
    const bool known =
        fact == nullptr || fact->number || fact->value != OptionValue{};
    if (known) continue;
    const auto same = std::find_if(
        by_reason.begin(), by_reason.end(),
        [&](const auto& one) { return one.first == fact->reason; });
    if (same == by_reason.end()) {
      by_reason.emplace_back(fact->reason, std::string(name));
    } else {
      same->second += ", " + std::string(name);
    }
  }
  for (const auto& [reason, names] : by_reason) {
    text += Paragraph(
        "- ", Printable(fmt::format("{}, {}: {}", host.name, names, reason)));
  }
  if (!host.why_no_facts.empty())
    text += Paragraph("- ", Printable(host.name + ": " + host.why_no_facts));
  return text;
}

std::string NotesText(const Evidence& e) {
  std::string text = UnreadText(e.sender) + UnreadText(e.receiver);
  for (const std::string& note : e.notes)
    text += Paragraph("- ", Printable(note));
  return text.empty() ? text : text + "\n";
}

// --- The limit and the way out -----------------------------------------------

std::string FindingText(const Finding& finding, const char* head) {
  std::string text =
      Paragraph(fmt::format("{}: ", head),
                Printable(fmt::format("{} ({}, {})", finding.headline,
                                      NameOf(finding.limit),
                                      NameOf(finding.confidence))));
  for (const std::string& sentence : finding.evidence)
    text += Paragraph("- ", Printable(sentence));
  return text + "\n";
}

std::string Commands(const std::string& indent,
                     const std::vector<std::string>& commands) {
  std::string text;
  for (const std::string& command : commands)
    text += indent + Printable(command) + "\n";
  return text;
}

std::string ChangeText(std::size_t number, const SettingChange& change) {
  const std::string left = fmt::format("{}. ", number);
  const std::string indent(left.size(), ' ');
  const bool program = change.now.empty();
  std::string text = Paragraph(
      left, Printable(fmt::format(
                "on {}{}: {}", change.host,
                program          ? ""
                : change.windows ? ", as administrator (not run by wiretoll)"
                                 : ", as root",
                change.words)));
  text += Commands(indent + "  ", change.now);
  if (!change.line.empty()) {
    text += Paragraph(indent, fmt::format("to keep it, in {}:", change.file));
    text += Commands(indent + "  ", {change.line});
  }
  if (!change.undo.empty()) {
    text += Paragraph(indent, "to undo it:");
    text += Commands(indent + "  ", change.undo);
  }
  if (!change.why_no_undo.empty())
    text += Paragraph(indent, Printable(change.why_no_undo));
  if (!change.gain.empty())
    text += Paragraph(indent, Printable("gain: " + change.gain));
  return text + "\n";
}

std::string ChangesText(const Advice& advice) {
  std::string text;
  std::size_t number = 0;
  for (const auto& changes : advice.changes) {
    for (const SettingChange& change : changes)
      text += ChangeText(++number, change);
  }
  if (number > 0) return "TO CHANGE (wiretoll changes nothing)\n" + text;
  const Finding& first = advice.findings.front();
  if (first.limit == Limit::kLine)
    return Paragraph("", "NOTHING IS WRONG: the line is the limit") + "\n";
  return Paragraph("", "NOTHING TO CHANGE is known to help") + "\n";
}

std::string VerifiedText(const Verification& v) {
  if (!v.not_done.empty()) return Paragraph("VERIFIED: ", "not: " + v.not_done);
  std::string text =
      "VERIFIED in this lab, by blocks of one trial without and "
      "one with the change\n";
  std::vector<Row> rows{{"", "BEFORE", "AFTER", "AFTER / BEFORE"}};
  constexpr std::array kAims = {"throughput", "a round",
                                "round trip beside a stream"};
  std::string ratio = "-";
  if (v.ratio) {
    ratio = FormatNumber(v.ratio->median);
    if (v.ratio->low)
      ratio += fmt::format(" [{} - {}]", FormatNumber(*v.ratio->low),
                           FormatNumber(*v.ratio->high));
  }
  rows.push_back({kAims.at(static_cast<std::size_t>(v.aim)),
                  v.before ? SpellFigure(v.aim, *v.before) : "-",
                  v.after ? SpellFigure(v.aim, *v.after) : "-", ratio});
  text += Table(rows);
  for (const SettingChange& change : v.changes) {
    const std::string what = change.instead || change.now.empty()
                                 ? change.words
                                 : change.now.front();
    text += Paragraph(
        "- ", Printable(fmt::format("made on {}: {}", change.host, what)));
    if (change.to)
      text += Paragraph("- ", "theory gave " + Value(change.aim, *change.to));
  }
  if (v.troubles.empty()) text += Paragraph("- ", "all of it was undone");
  for (const std::string& trouble : v.troubles)
    text += Paragraph("- ", Printable("failed: " + trouble));
  return text;
}

std::string HeadText(const Evidence& e) {
  return Paragraph("",
                   Printable(fmt::format(
                       "{} to {}{}: {}", e.sender.name, e.receiver.name,
                       e.link.empty() ? "" : ", " + e.link, e.subject.name))) +
         "\n";
}

std::string RateOrRound(const Evidence& e) {
  if (e.subject.bytes_per_second)
    return FormatByteRate(e.subject.bytes_per_second->median);
  return e.subject.latency ? SpellNs(e.subject.latency->p50_ns) : "-";
}

}  // namespace

std::string AdviceText(const Advice& advice) {
  const Evidence& e = advice.evidence;
  std::string text = HeadText(e);
  text += FindingText(advice.findings.front(), "THE LIMIT");
  for (std::size_t i = 1; i < advice.findings.size(); ++i)
    text += FindingText(advice.findings[i], "ALSO");
  text += ChangesText(advice);
  if (advice.verification) text += VerifiedText(*advice.verification) + "\n";
  text += MeasuredText(e) + SettingsText(e) + NotesText(e);
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

std::string RecordedText(const std::vector<RecordedCell>& cells) {
  if (cells.empty())
    return "no cell of TCP trials that both ends reported on\n";
  if (cells.size() == 1) return AdviceText(cells.front().advice);
  std::vector<Row> rows{{"CASE", "FROM", "TO", "MEDIAN", "LIMIT", ""}};
  for (const RecordedCell& cell : cells) {
    const Finding& first = cell.advice.findings.front();
    rows.push_back(
        {Printable(cell.case_id), Printable(cell.advice.evidence.sender.name),
         Printable(cell.advice.evidence.receiver.name),
         RateOrRound(cell.advice.evidence), std::string(NameOf(first.limit)),
         std::string(NameOf(first.confidence))});
  }
  return Table(rows) +
         Paragraph("",
                   "\n--filter and --pair leave one of them, which is then "
                   "told in full");
}

}  // namespace wiretoll
