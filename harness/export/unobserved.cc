#include "harness/export/unobserved.h"

#include "harness/samples/fields.h"
#include "harness/study/study.h"

namespace wiretoll {
namespace {

constexpr std::string_view kNotObserved = "not observed";

std::string_view Or(std::string_view reason, std::string_view otherwise) {
  return reason.empty() ? otherwise : reason;
}

// Those of `fields` that are empty, of which one reason tells.
template <class Struct, class Fields>
void AddEmpty(std::string_view part, const Struct& from, const Fields& fields,
              std::vector<Unobserved>& out) {
  for (const auto& field : fields) {
    if ((from.*field.member).has_value()) continue;
    out.push_back({part, field.name, Or(from.reason, kNotObserved)});
  }
}

template <class T>
void AddIfEmpty(Unobserved field, const std::optional<T>& value,
                std::vector<Unobserved>& out) {
  if (!value.has_value()) out.push_back(field);
}

bool IsRequestResponse(const Sample& sample) {
  const FactorValue* pattern = FindFactor(sample.factors, "pattern");
  return pattern != nullptr && SpellFactor(*pattern) == "request-response";
}

std::string_view WhyNoRate(const EndReport& receiver) {
  const auto reason = receiver.why_null.find("elapsed_ns");
  if (!receiver.elapsed_ns.has_value() && reason != receiver.why_null.end()) {
    return reason->second;
  }
  return "one read took all that came: there is no time to divide by";
}

Goodput RateOf(const EndReport& receiver,
               std::optional<double> line_bits_per_s) {
  // A shaper's burst and the clock allow for a little, as in reports.
  constexpr double kSlack = 1.05;
  constexpr double kBitsNsPerByteS = 8e9;
  const std::int64_t timed =
      receiver.bytes - receiver.first_read_bytes.value_or(0);
  if (timed <= 0 || receiver.elapsed_ns.value_or(0) <= 0) {
    return {std::nullopt, WhyNoRate(receiver)};
  }
  const double rate = static_cast<double>(timed) /
                      static_cast<double>(*receiver.elapsed_ns) *
                      kBitsNsPerByteS;
  if (line_bits_per_s.has_value() && rate > kSlack * *line_bits_per_s) {
    return {std::nullopt,
            "it came faster than the line carries: out of buffers, in too "
            "short a time to tell a rate"};
  }
  return {rate, {}};
}

void ListCapture(const CaptureRecord& capture, std::vector<Unobserved>& out) {
  AddEmpty("capture.", capture, kCaptureCounts, out);
  if (capture.file.empty()) {
    out.push_back({"capture.", "file", Or(capture.reason, kNotObserved)});
  }
}

}  // namespace

Goodput GoodputOf(const Sample& sample, std::optional<double> line_bits_per_s) {
  if (sample.outcome != TrialOutcome::kOk) {
    return {std::nullopt, Or(sample.reason, kNotObserved)};
  }
  if (!sample.receiver.has_value()) {
    return {std::nullopt, "the receiver did not report"};
  }
  if (IsRequestResponse(sample)) {
    return {std::nullopt, "a request-response is timed by its rounds: latency"};
  }
  return RateOf(*sample.receiver, line_bits_per_s);
}

void ListUnobserved(const EndReport& end, std::vector<Unobserved>& out) {
  out.clear();
  for (const auto& [field, reason] : end.why_null) {
    out.push_back({"", field, Or(reason, kNotObserved)});
  }
  AddEmpty("counters.", end.counters, kCounterFields, out);
  if (end.series.has_value()) {
    AddEmpty("series.", *end.series, kSeriesCounts, out);
  }
  const Disturbance& disturbance = end.disturbance;
  const std::string_view why = disturbance.disturbed
                                   ? kNotObserved
                                   : Or(disturbance.reason, kNotObserved);
  AddIfEmpty({"disturbance.", "steal_ns", why}, disturbance.steal_ns, out);
  AddIfEmpty({"disturbance.", "clock_step_ns", why}, disturbance.clock_step_ns,
             out);
  AddIfEmpty({"disturbance.", "load", why}, disturbance.load, out);
}

void ListUnobserved(const Sample& sample, const Goodput& goodput,
                    std::vector<Unobserved>& out) {
  out.clear();
  const std::string_view why = Or(sample.reason, kNotObserved);
  AddIfEmpty({"", "sender", why}, sample.sender, out);
  AddIfEmpty({"", "receiver", why}, sample.receiver, out);
  AddIfEmpty({"", "wire", why}, sample.wire, out);
  AddIfEmpty({"", "goodput_bits_per_s", goodput.reason}, goodput.bits_per_s,
             out);
  if (sample.wire.has_value()) {
    AddEmpty("wire.", *sample.wire, kWireFields, out);
  }
  if (sample.datagrams.has_value()) {
    AddEmpty("datagrams.", *sample.datagrams, kDatagramFates, out);
  }
  if (sample.capture.has_value()) ListCapture(*sample.capture, out);
  if (sample.series.has_value() && sample.series->file.empty()) {
    out.push_back({"series.", "file", Or(sample.series->reason, kNotObserved)});
  }
}

}  // namespace wiretoll
