// Filters: "write<=32,nagle=on,rcvbuf=2|unset".
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/study/factors.h"
#include "harness/study/reading.h"

namespace wiretoll {
namespace {

using std::string_view;

// Longer ones first, so that "<=" is not read as "<".
constexpr std::array<string_view, 6> kOperators{
    "!=", "<=", ">=", "=", "<", ">"};

struct Term {
  std::string name;
  std::string op;
  std::string value;
};

string_view Trim(string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Empty if there is no operator.
std::optional<Term> ReadTerm(string_view text) {
  const std::size_t at = text.find_first_of("!<=>");
  if (at == string_view::npos) return std::nullopt;
  for (const string_view op : kOperators) {
    if (!text.substr(at).starts_with(op)) continue;
    return Term{std::string(Trim(text.substr(0, at))), std::string(op),
                std::string(Trim(text.substr(at + op.size())))};
  }
  return std::nullopt;
}

Failure Bad(string_view part, string_view what) {
  return {ExitCode::kUsage, fmt::format("--filter: {}: {}", Quote(part), what)};
}

// A comma may also stand inside a value (pin=0,1): a part without an operator
// goes on with the value before it.
Outcome<std::vector<Term>> ReadTerms(const std::string& expression) {
  std::vector<Term> terms;
  if (Trim(expression).empty()) return terms;
  for (const string_view piece : Split(expression, ',')) {
    const string_view part = Trim(piece);
    if (std::optional<Term> term = ReadTerm(part)) {
      terms.push_back(*std::move(term));
    } else if (!terms.empty() && !part.empty()) {
      terms.back().value += fmt::format(",{}", part);
    } else {
      return Bad(part, "no comparison; write such as write<=32,nagle=on");
    }
  }
  return terms;
}

bool IsOrdering(string_view op) { return op != "=" && op != "!="; }

// The value that a case has, listed or by default; empty where the factor
// means nothing.
std::optional<FactorValue> ValueIn(const Factors& factors,
                                   const std::string& name) {
  if (const FactorValue* value = FindFactor(factors, name)) return *value;
  const FactorSpec& spec = *FindFactorSpec(name);
  const FactorValue* transport = FindFactor(factors, "transport");
  const bool udp = transport != nullptr && *transport == FactorValue{"udp"};
  const bool replies = FindFactor(factors, "request") != nullptr;
  if (name == "pattern") return replies ? "request-response" : "stream";
  if (!Applies(spec.scope, udp ? Transport::kUdp : Transport::kTcp,
               replies ? Pattern::kRequestResponse : Pattern::kStream)) {
    return std::nullopt;
  }
  return FallbackOf(spec);
}

bool Compare(double left, string_view op, double right) {
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

// The values of "2|unset". Of an ordering, one that has a place in it; 0 may
// stand there although no case has it.
Outcome<std::vector<FactorValue>> ReadValues(const FactorSpec& spec,
                                             const Term& term) {
  std::vector<FactorValue> values;
  for (const string_view choice : Split(term.value, '|')) {
    const string_view text = Trim(choice);
    const FactorValue raw{std::string(text)};
    if (!IsOrdering(term.op)) {
      const auto value = ParseFactor(spec, raw);
      if (!value.has_value()) return Bad(spec.name, value.error());
      values.push_back(value.value());
      continue;
    }
    const auto value =
        spec.kind != nullptr ? spec.kind->read(raw) : std::nullopt;
    if (!value.has_value() || !Magnitude(spec, *value).has_value()) {
      return Bad(spec.name, fmt::format("{} has no place in an order; use = "
                                        "or !=, or one of: {}",
                                        Quote(text), RangeOf(spec)));
    }
    values.push_back(*value);
  }
  if (IsOrdering(term.op) && values.size() > 1) {
    return Bad(spec.name, "alternatives go with = and != only");
  }
  return values;
}

}  // namespace

Outcome<Filter> Filter::Parse(const std::string& expression) {
  const auto terms = ReadTerms(expression);
  if (!terms.has_value()) return terms.error();
  Filter filter;
  for (const Term& term : terms.value()) {
    const FactorSpec* spec = FindFactorSpec(term.name);
    if (spec == nullptr) {
      return Bad(term.name, "unknown factor; factors are: " + FactorNames());
    }
    auto values = ReadValues(*spec, term);
    if (!values.has_value()) return values.error();
    filter.parts_.push_back({term.name, term.op, std::move(values).value()});
  }
  return filter;
}

bool Filter::Accepts(const Factors& factors) const {
  const auto holds = [&factors](const Part& part) {
    const auto value = ValueIn(factors, part.factor);
    if (!IsOrdering(part.op)) {
      const bool among =
          value.has_value() && std::ranges::count(part.values, *value) > 0;
      return among == (part.op == "=");
    }
    if (!value.has_value()) return false;
    const FactorSpec& spec = *FindFactorSpec(part.factor);
    const std::optional<double> left = Magnitude(spec, *value);
    const std::optional<double> right = Magnitude(spec, part.values.front());
    return left.has_value() && Compare(*left, part.op, *right);
  };
  return std::ranges::all_of(parts_, holds);
}

}  // namespace wiretoll
