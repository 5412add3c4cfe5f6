#include <fmt/format.h>

#include <map>

#include "harness/base/words.h"
#include "reports/sentences.h"
#include "reports/table_parts.h"
#include "reports/tables.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

class CountRows {
 public:
  explicit CountRows(Table& table) : table_(table) {}
  void Add(const std::string& what, int trials, bool mark = false) {
    table_.rows.push_back({what, fmt::format("{}", trials)});
    table_.marked.push_back(mark);
  }
  void AddCauses(const std::map<std::string, int>& causes) {
    for (const auto& [cause, trials] : causes) {
      Add(fmt::format("· {}", Printable(cause)), trials);
    }
  }

 private:
  Table& table_;
};

void AddCaptures(const Agreement& seen, CountRows& rows) {
  if (seen.captured == 0) return;
  rows.Add("captured", seen.captured);
  rows.Add("the capture counts what the kernels count", seen.capture_equal);
  rows.Add("the capture counts otherwise", seen.capture_different,
           seen.capture_different > 0);
  rows.AddCauses(seen.capture_causes);
  rows.Add("the capture is not whole, and was not held against them",
           seen.capture_partial);
}

std::string CaptureSentence(const Agreement& seen) {
  if (seen.captured == 0) return {};
  const int held = seen.capture_equal + seen.capture_different;
  std::string text = fmt::format(
      " {} captured: in {} of {} the capture and the kernels counted the same "
      "segments",
      seen.captured == 1 ? "1 trial was"
                         : Count(seen.captured, "trial") + " were",
      seen.capture_equal, held);
  if (seen.capture_partial > 0) {
    text += fmt::format("; {} not whole",
                        seen.capture_partial == 1
                            ? "1 capture is"
                            : Count(seen.capture_partial, "capture") + " are");
  }
  return text + ".";
}

}  // namespace

Table AgreementTable(const Analysis& analysis) {
  const Agreement& seen = analysis.agreement;
  Table table;
  table.title = "Who counted the segments, and do they agree?";
  table.columns = {{"counts", false}, {"trials"}};
  table.empty = "No segment was counted, so there is nothing to compare.";
  CountRows rows(table);
  for (const auto& [observer, trials] : seen.observers) {
    rows.Add("counted by " + ObserverText(observer), trials);
  }
  table.sentence = ObserverSentence(seen) + CaptureSentence(seen);
  if (seen.equal + seen.different + seen.one_observer > 0) {
    rows.Add("equal at both ends", seen.equal);
    rows.Add("different", seen.different, seen.different > 0);
    rows.AddCauses(seen.causes);
    rows.Add("seen at one end only", seen.one_observer);
  }
  AddCaptures(seen, rows);
  Cut(table, "report.json");
  return table;
}

Table SendingRulesTable(const Analysis& analysis) {
  const Agreement& seen = analysis.agreement;
  Table table;
  table.title = "Which rule of sending each system followed";
  table.columns = {{"sender's system", false}, {"rule", false}, {"trials"}};
  for (const auto& [system, rules] : seen.followed_rules) {
    for (const auto& [rule, trials] : rules) {
      table.rows.push_back({Printable(system),
                            rule.empty() ? "not told apart" : Printable(rule),
                            fmt::format("{}", trials)});
    }
  }
  int told = 0;
  for (const auto& [system, rules] : seen.followed_rules) {
    for (const auto& [rule, trials] : rules) told += rule.empty() ? 0 : trials;
  }
  if (!table.rows.empty()) {
    table.sentence = fmt::format(
        "In {} of {} the packets tell which rule the sender followed.", told,
        Count(seen.captured, "captured trial"));
  }
  table.note =
      "By the packets alone: each rule is replayed over what the program wrote "
      "and when it was acknowledged, and held against the segments that were "
      "seen. At once: Nagle's rule is off. Classic: RFC 9293 3.7.4. Minshall: "
      "as Linux has it, a partial segment waits only for an earlier partial "
      "one.";
  Cut(table, "report.json");
  table.empty =
      seen.captured == 0
          ? "Not known: no trial was captured. `wiretoll run --capture` "
            "captures them."
          : "Not known: in no captured trial do the packets tell the rules "
            "apart.";
  return table;
}

}  // namespace wiretoll
