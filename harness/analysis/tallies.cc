#include "harness/analysis/tallies.h"

#include <algorithm>
#include <string_view>

#include "harness/analysis/systems.h"
#include "harness/analysis/wire.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kUnset = -1;
// Reasons come from other machines; a report can show no more kinds anyway.
constexpr std::size_t kMostKinds = 1000;

// Runs of digits as one '#'.
std::string WithoutNumbers(std::string_view text) {
  std::string masked;
  bool in_number = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) masked += c;
    if (digit && !in_number) masked += '#';
    in_number = digit;
  }
  return masked;
}

std::optional<std::int64_t> Integer(const OptionValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

void KeepFirst(const std::optional<std::int64_t>& seen,
               std::optional<std::int64_t>& kept) {
  if (!kept) kept = seen;
}

void KeepLargest(const std::optional<std::int64_t>& seen,
                 std::optional<std::int64_t>& kept) {
  if (seen) kept = std::max(*seen, kept.value_or(*seen));
}

void KeepSmallest(const std::optional<std::int64_t>& seen,
                  std::optional<std::int64_t>& kept) {
  if (seen) kept = std::min(*seen, kept.value_or(*seen));
}

}  // namespace

void BufferTable::AddEnd(const EndReport& end, const std::string& buffer,
                         const TcpCounters* window) {
  const auto reading = end.options.find(buffer);
  if (reading == end.options.end()) return;
  const std::optional<std::int64_t> requested =
      Integer(reading->second.requested);
  BufferRow& row = rows_[{end.host, buffer, requested.value_or(kUnset)}];
  row.host = end.host;
  row.os = end.os;
  row.stack = end.stack;
  row.buffer = buffer;
  row.requested = requested ? std::to_string(*requested) : "unset";
  const std::optional<std::int64_t> effective =
      Integer(reading->second.effective);
  KeepSmallest(effective, row.effective_low);
  KeepLargest(effective, row.effective_high);
  if (row.note.empty()) row.note = reading->second.reason;
  if (window == nullptr) return;
  KeepFirst(window->peer_window_initial_bytes, row.initial_window);
  KeepLargest(window->peer_window_peak_bytes, row.peak_window);
  KeepFirst(window->mss_bytes, row.mss);
}

void BufferTable::Add(const Sample& sample) {
  if (sample.receiver) {
    // What the receiver advertises, its peer sees.
    AddEnd(*sample.receiver, "rcvbuf",
           sample.sender ? &sample.sender->counters : nullptr);
  }
  if (sample.sender) AddEnd(*sample.sender, "sndbuf", nullptr);
}

std::vector<BufferRow> BufferTable::Rows() const {
  std::vector<BufferRow> rows;
  for (const auto& [key, row] : rows_) rows.push_back(row);
  return rows;
}

void ProblemTable::Count(const Problem& problem) {
  const std::tuple key(problem.outcome, problem.disturbed,
                       WithoutNumbers(problem.reason));
  const auto known = problems_.find(key);
  if (known != problems_.end()) {
    ++known->second.trials;
    return;
  }
  if (problems_.size() < kMostKinds) {
    problems_.emplace(key, problem);
    return;
  }
  const std::string others = "other reasons";
  Problem& rest = problems_[{problem.outcome, problem.disturbed, others}];
  const int trials = rest.trials;
  if (trials == 0) rest = problem;
  rest.reason = others;
  rest.trials = trials + 1;
}

void ProblemTable::Add(const Sample& sample) {
  if (sample.outcome != TrialOutcome::kOk) {
    Count({sample.outcome, false, sample.reason, 1, sample.trial});
  }
  for (const auto* end : {&sample.sender, &sample.receiver}) {
    if (*end && (*end)->disturbance.disturbed) {
      Count(
          {sample.outcome, true, (*end)->disturbance.reason, 1, sample.trial});
      return;  // A trial is disturbed once.
    }
  }
}

std::vector<Problem> ProblemTable::Problems() const {
  std::vector<Problem> problems;
  for (const auto& [key, problem] : problems_) problems.push_back(problem);
  const auto order = [](const Problem& problem) {
    return std::tuple(problem.disturbed, problem.outcome, -problem.trials);
  };
  std::stable_sort(
      problems.begin(), problems.end(),
      [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  return problems;
}

namespace {

// Of a kind that is there, or while there is room for another.
void CountKind(const std::string& kind, std::map<std::string, int>& kinds) {
  if (kinds.size() < kMostKinds || kinds.contains(kind)) ++kinds[kind];
}

void AddEnds(const Wire& wire, Agreement& agreement) {
  CountKind(wire.observer, agreement.observers);
  const std::string& text = wire.agreement;
  constexpr std::string_view kDifferent = "different";
  if (text == "equal") {
    ++agreement.equal;
  } else if (text == "one observer") {
    ++agreement.one_observer;
  } else if (text.starts_with(kDifferent)) {
    ++agreement.different;
    std::string_view cause{text};
    cause.remove_prefix(kDifferent.size());
    while (cause.starts_with(':') || cause.starts_with(' ')) {
      cause.remove_prefix(1);
    }
    CountKind(cause.empty() ? "cause not known" : WithoutNumbers(cause),
              agreement.causes);
  }
}

void AddCapture(const Wire& wire, const CaptureRecord& capture,
                Agreement& agreement) {
  if (!capture.data_segments) {
    CountKind(WithoutNumbers(capture.reason.empty() ? "no reason was given"
                                                    : capture.reason),
              agreement.not_captured);
    return;
  }
  ++agreement.captured;
  const CaptureAgreement held = HoldAgainstCapture(wire, capture);
  switch (held.match) {
    case CaptureMatch::kEqual:
      ++agreement.capture_equal;
      break;
    case CaptureMatch::kDifferent:
      ++agreement.capture_different;
      CountKind(WithoutNumbers(held.words), agreement.capture_causes);
      break;
    case CaptureMatch::kPartial:
      ++agreement.capture_partial;
      break;
    case CaptureMatch::kNotHeld:
      break;
  }
}

}  // namespace

void AddAgreement(const Sample& sample, const RunRecord& record,
                  Agreement& agreement) {
  if (sample.wire) AddEnds(*sample.wire, agreement);
  if (!sample.capture) return;
  AddCapture(sample.wire.value_or(Wire{}), *sample.capture, agreement);
  if (!sample.sender || sample.capture->followed_rule.empty()) return;
  const EndReport& sender = *sample.sender;
  const std::string system =
      SystemOfHost(record, sender.host, sender.os, sender.stack);
  if (agreement.followed_rules.size() < kMostKinds ||
      agreement.followed_rules.contains(system)) {
    CountKind(sample.capture->followed_rule, agreement.followed_rules[system]);
  }
}

}  // namespace wiretoll
