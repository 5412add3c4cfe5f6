// From parsed JSON to our structs, with the path of the first thing wrong.
// Written once for two parsers: nlohmann-json (agent, run.json) and simdjson
// (samples.jsonl, which gets long).
#ifndef WIRETOLL_HARNESS_SAMPLES_DECODE_H_
#define WIRETOLL_HARNESS_SAMPLES_DECODE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/samples/fields.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Where a value stands, innermost last. Spelled only when something is wrong,
// so that reading a good file costs nothing for it.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view name;  // "[3]" for an element of a list.
};

// "sender.counters.rtt_ns", "hosts[1].name".
inline std::string SpellPath(const JsonPath& path) {
  const bool root = path.parent == nullptr;
  std::string text = root ? std::string() : SpellPath(*path.parent);
  if (!text.empty() && !path.name.starts_with('[')) text += '.';
  return text.append(path.name);
}

// Reads the members of one JSON object. After the first problem nothing more
// is read; `problem` then says where and what.
//
// Value, cheap to copy, is a parser's value: exists(), IsNull(), IsObject(),
// Integer(), Number(), Boolean(), Text() (each empty if of another type or
// out of range), Find(key), ForEachMember(f(key, value)).
template <class Value>
class ObjectReader {
 public:
  ObjectReader(Value object, const JsonPath& path, std::string& problem)
      : object_(std::move(object)), path_(path), problem_(problem) {
    if (!object_.IsObject()) {
      Say({path.parent, path.name}, "must be an object");
    }
  }

  [[nodiscard]] bool good() const { return problem_.empty(); }

  // Plain types are required; an optional is empty where null or absent.
  template <class T>
  void Read(std::string_view key, T& out) {
    if (const auto value = Required(key)) Take(key, *value, out);
  }
  template <class T>
  void Read(std::string_view key, std::optional<T>& out) {
    const auto value = Given(key);
    if (!value.has_value()) return;
    T taken{};
    Take(key, *value, taken);
    if (good()) out = std::move(taken);
  }
  void ReadSigned(std::string_view key, std::optional<std::int64_t>& out) {
    const auto value = Given(key);
    if (!value.has_value()) return;
    out = value->Integer();
    if (!out.has_value()) SayMember(key, "must be an integer");
  }
  // Null or absent is empty: nothing to say.
  void ReadReason(std::string_view key, std::string& out) {
    if (const auto value = Given(key)) Text(key, *value, out);
  }

  // `read` gets an ObjectReader of the member.
  template <class Function>
  void ReadObject(std::string_view key, const Function& read) {
    const auto value = Required(key);
    if (!value.has_value()) return;
    const JsonPath path{&path_, key};
    ObjectReader member(*value, path, problem_);
    if (good()) read(member);
  }

  // `read` gets each member's key and value. At most kMaxEntries.
  template <class Function>
  void ForEach(const Function& read) {
    std::size_t entries = 0;
    object_.ForEachMember([&](std::string_view key, const Value& value) {
      if (!good()) return;
      if (++entries > kMaxEntries) return SayMember(key, "one entry too many");
      if (key.size() > kMaxTextBytes) return SayMember("", "name is too long");
      read(key, value);
    });
  }

  // Null or absent is false.
  [[nodiscard]] bool HasValue(std::string_view key) {
    return Given(key).has_value();
  }

  void Text(std::string_view key, const Value& value, std::string& out) {
    const auto text = value.Text();
    if (!text.has_value()) return SayMember(key, "must be a text");
    if (text->size() > kMaxTextBytes) return SayMember(key, "is too long");
    out = *text;
  }
  void Count(std::string_view key, const Value& value, std::int64_t& out) {
    const auto number = value.Integer();
    if (!number.has_value()) return SayMember(key, "must be an integer");
    if (*number < 0) return SayMember(key, "must not be negative");
    out = *number;
  }

  void SayMember(std::string_view key, std::string_view what) {
    Say({&path_, key}, what);
  }

  // For what is read by other means.
  std::optional<Value> Required(std::string_view key) {
    if (!good()) return std::nullopt;
    Value value = object_.Find(key);
    if (value.exists()) return value;
    SayMember(key, "is missing");
    return std::nullopt;
  }
  [[nodiscard]] const JsonPath& path() const { return path_; }
  [[nodiscard]] std::string& problem() { return problem_; }

 private:
  // Empty where null or absent, or after a problem.
  std::optional<Value> Given(std::string_view key) {
    if (!good()) return std::nullopt;
    Value value = object_.Find(key);
    if (!value.exists() || value.IsNull()) return std::nullopt;
    return value;
  }

  void Take(std::string_view key, const Value& value, std::string& out) {
    Text(key, value, out);
  }
  void Take(std::string_view key, const Value& value, std::int64_t& out) {
    Count(key, value, out);
  }
  void Take(std::string_view key, const Value& value, bool& out) {
    if (const auto flag = value.Boolean()) {
      out = *flag;
    } else {
      SayMember(key, "must be true or false");
    }
  }
  void Take(std::string_view key, const Value& value, double& out) {
    if (const auto number = value.Number()) {
      out = *number;
    } else {
      SayMember(key, "must be a number");
    }
  }

  void Say(const JsonPath& where, std::string_view what) {
    if (!problem_.empty()) return;
    const std::string path = SpellPath(where);
    problem_ = path.empty() ? "the whole" : path;
    problem_.append(" ").append(what);
  }

  Value object_;
  const JsonPath& path_;
  std::string& problem_;
};

template <class Value>
void DecodeCounters(ObjectReader<Value>& reader, TcpCounters& out) {
  for (const CounterField& field : kCounterFields) {
    reader.Read(field.name, out.*field.member);
  }
  reader.ReadReason("reason", out.reason);
}

template <class Value>
void DecodeLatency(ObjectReader<Value>& reader, LatencySummary& out) {
  for (const auto& field : kLatencyFields) {
    reader.Read(field.name, out.*field.member);
  }
  reader.Read("mean_ns", out.mean_ns);
}

template <class Value>
void DecodeNotSent(ObjectReader<Value>& reader, NotSent& out) {
  for (const auto& field : kNotSentFields) {
    reader.Read(field.name, out.*field.member);
  }
  reader.ReadReason("first_other", out.first_other);
}

template <class Value>
void DecodeDelay(ObjectReader<Value>& reader, DelaySummary& out) {
  for (const auto& field : kDelayFields) {
    reader.Read(field.name, out.*field.member);
  }
  reader.Read("mean_ns", out.mean_ns);
}

template <class Value>
void DecodeDatagramReport(ObjectReader<Value>& reader, DatagramReport& out) {
  using Reader = ObjectReader<Value>;
  for (const DatagramCountField& field : kDatagramCounts) {
    reader.Read(field.name, out.*field.member);
  }
  reader.Read("jitter_mean_ns", out.jitter_mean_ns);
  reader.Read("jitter_rfc3550_ns", out.jitter_rfc3550_ns);
  if (reader.HasValue("not_sent")) {
    reader.ReadObject("not_sent", [&](Reader& not_sent) {
      DecodeNotSent(not_sent, out.not_sent.emplace());
    });
  }
  if (reader.HasValue("delay")) {
    reader.ReadObject("delay", [&](Reader& delay) {
      DecodeDelay(delay, out.delay.emplace());
    });
  }
  reader.ReadReason("ended", out.ended);
}

template <class Value>
void DecodeSummary(ObjectReader<Value>& reader, SeriesSummary& out) {
  for (const auto& field : kSeriesTotals) {
    reader.Read(field.name, out.*field.member);
  }
  for (const auto& field : kSeriesCounts) {
    reader.Read(field.name, out.*field.member);
  }
  reader.ReadReason("reason", out.reason);
}

template <class Value>
void DecodeDisturbance(ObjectReader<Value>& reader, Disturbance& out) {
  reader.Read("steal_ns", out.steal_ns);
  reader.ReadSigned("clock_step_ns", out.clock_step_ns);
  reader.Read("load", out.load);
  reader.Read("disturbed", out.disturbed);
  reader.ReadReason("reason", out.reason);
}

template <class Value>
OptionValue DecodeOptionValue(const Value& value) {
  if (const auto flag = value.Boolean()) return *flag;
  if (const auto number = value.Integer()) return *number;
  if (const auto text = value.Text()) return std::string(*text);
  return std::monostate{};
}

template <class Value>
void ReadOptionValue(ObjectReader<Value>& reader, std::string_view key,
                     OptionValue& out) {
  const auto value = reader.Required(key);
  if (!value.has_value()) return;
  out = DecodeOptionValue(*value);
  if (std::holds_alternative<std::monostate>(out) && !value->IsNull()) {
    reader.SayMember(key, "must be true, false, an integer, a text or null");
  } else if (const auto* text = std::get_if<std::string>(&out);
             text != nullptr && text->size() > kMaxTextBytes) {
    reader.SayMember(key, "is too long");
  }
}

template <class Value>
void DecodeOptions(ObjectReader<Value>& reader,
                   std::map<std::string, OptionReading>& out) {
  reader.ForEach([&](std::string_view name, const Value& value) {
    const JsonPath path{&reader.path(), name};
    ObjectReader<Value> option(value, path, reader.problem());
    OptionReading reading;
    ReadOptionValue(option, "requested", reading.requested);
    ReadOptionValue(option, "effective", reading.effective);
    option.ReadReason("reason", reading.reason);
    out.emplace(name, std::move(reading));
  });
}

template <class Value>
void DecodeTexts(ObjectReader<Value>& reader,
                 std::map<std::string, std::string>& out) {
  reader.ForEach([&](std::string_view key, const Value& value) {
    reader.Text(key, value, out[std::string(key)]);
  });
}

template <class Value>
void DecodeSizes(ObjectReader<Value>& reader, SizeBins& out) {
  reader.ForEach([&](std::string_view label, const Value& value) {
    const std::optional<std::size_t> bin = SizeBinFromLabel(label);
    if (!bin.has_value()) {
      return reader.SayMember(label, "is no range of sizes (1, 2-3, 4-7, ...)");
    }
    if (out.size() <= *bin) out.resize(*bin + 1);
    reader.Count(label, value, out[*bin]);
  });
}

// Left empty where there is none.
template <class Value, class Part, class Decode>
void ReadPart(ObjectReader<Value>& reader, std::string_view name,
              std::optional<Part>& out, Decode decode) {
  if (!reader.HasValue(name)) return;
  reader.ReadObject(
      name, [&](ObjectReader<Value>& part) { decode(part, out.emplace()); });
}

// In the order in which they are written: a parser that looks onward from the
// last field found then finds each at once.
template <class Value>
void DecodeEnd(ObjectReader<Value>& reader, bool receiver, EndReport& out) {
  using Reader = ObjectReader<Value>;
  for (const auto& field : kEndTexts) {
    reader.Read(field.name, out.*field.member);
  }
  for (const auto& field : kEndTotals) {
    reader.Read(field.name, out.*field.member);
  }
  for (const EndCountField& field : kEndCounts) {
    reader.Read(field.name, out.*field.member);
  }
  reader.Read("gap_mean_ns", out.gap_mean_ns);
  reader.Read("verified", out.verified);
  reader.ReadObject(receiver ? "read_sizes" : "write_sizes",
                    [&](Reader& sizes) { DecodeSizes(sizes, out.call_sizes); });
  ReadPart(reader, "latency", out.latency, DecodeLatency<Value>);
  ReadPart(reader, "datagrams", out.datagrams, DecodeDatagramReport<Value>);
  ReadPart(reader, "series", out.series, DecodeSummary<Value>);
  reader.ReadObject(
      "options", [&](Reader& options) { DecodeOptions(options, out.options); });
  reader.ReadObject("counters", [&](Reader& counters) {
    DecodeCounters(counters, out.counters);
  });
  reader.ReadObject("disturbance", [&](Reader& disturbance) {
    DecodeDisturbance(disturbance, out.disturbance);
  });
  if (reader.HasValue("why_null")) {
    reader.ReadObject("why_null",
                      [&](Reader& why) { DecodeTexts(why, out.why_null); });
  }
}

template <class Value>
void DecodeWire(ObjectReader<Value>& reader, Wire& out) {
  reader.Read("observer", out.observer);
  for (const WireField& field : kWireFields) {
    reader.Read(field.name, out.*field.member);
  }
  reader.ReadReason("agreement", out.agreement);
  reader.ReadReason("reason", out.reason);
}

template <class Value>
void DecodeFates(ObjectReader<Value>& reader, Datagrams& out) {
  for (const auto& field : kDatagramTotals) {
    reader.Read(field.name, out.*field.member);
  }
  for (const auto& field : kDatagramFates) {
    reader.Read(field.name, out.*field.member);
  }
  reader.ReadReason("reason", out.reason);
}

template <class Value>
void ReadInt(ObjectReader<Value>& reader, std::string_view key, int& out) {
  std::int64_t number = 0;
  reader.Read(key, number);
  if (!std::in_range<int>(number)) reader.SayMember(key, "is absurd");
  out = static_cast<int>(number);
}

template <class Value>
void DecodeFlow(ObjectReader<Value>& reader, TrialFlow& out) {
  reader.Read("group", out.group);
  reader.Read("topology", out.topology);
  ReadInt(reader, "flows", out.flows);
  ReadInt(reader, "index", out.index);
  reader.Read("overlap", out.overlap);
}

template <class Value>
void DecodeCapture(ObjectReader<Value>& reader, CaptureRecord& out) {
  for (const auto& field : kCaptureTexts) {
    reader.ReadReason(field.name, out.*field.member);
  }
  for (const CaptureField& field : kCaptureCounts) {
    reader.Read(field.name, out.*field.member);
  }
}

template <class Value>
void DecodeFactors(ObjectReader<Value>& reader, Sample& out) {
  reader.ForEach([&](std::string_view key, const Value& value) {
    if (const auto number = value.Integer()) {
      out.factors.emplace_back(key, *number);
      return;
    }
    std::string text;
    reader.Text(key, value, text);
    out.factors.emplace_back(key, std::move(text));
  });
}

template <class Value>
void DecodeOutcome(ObjectReader<Value>& reader, TrialOutcome& out) {
  std::string name;
  reader.Read("outcome", name);
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    if (kOutcomeNames[i] == name) {
      out = static_cast<TrialOutcome>(i);
      return;
    }
  }
  reader.SayMember("outcome", "must be ok, failed or skipped");
}

template <class Value>
void DecodeVersion(ObjectReader<Value>& reader, int expected) {
  std::int64_t version = 0;
  reader.Read("v", version);
  if (reader.good() && version != expected) {
    reader.SayMember("v",
                     "is of another version; use the wiretoll that wrote "
                     "it, or a newer one");
  }
}

template <class Value>
void DecodeIdentity(ObjectReader<Value>& reader, Sample& out) {
  using Reader = ObjectReader<Value>;
  DecodeVersion(reader, kSampleVersion);
  reader.Read("trial", out.trial);
  reader.Read("study", out.study);
  reader.Read("case", out.case_id);
  reader.ReadObject("factors",
                    [&](Reader& factors) { DecodeFactors(factors, out); });
  ReadInt(reader, "repeat", out.repeat);
  reader.Read("order", out.order);
  reader.Read("started", out.started);
}

template <class Value>
void DecodeDatagramsAndFlow(ObjectReader<Value>& reader, Sample& out) {
  using Reader = ObjectReader<Value>;
  if (reader.HasValue("datagrams")) {
    reader.ReadObject("datagrams", [&](Reader& datagrams) {
      DecodeFates(datagrams, out.datagrams.emplace());
    });
  }
  if (reader.HasValue("flow")) {
    reader.ReadObject(
        "flow", [&](Reader& flow) { DecodeFlow(flow, out.flow.emplace()); });
  }
}

template <class Value>
void DecodeSample(ObjectReader<Value>& reader, Sample& out) {
  using Reader = ObjectReader<Value>;
  DecodeIdentity(reader, out);
  DecodeOutcome(reader, out.outcome);
  reader.ReadReason("reason", out.reason);
  reader.Read("link", out.link);
  if (reader.HasValue("sender")) {
    reader.ReadObject("sender", [&](Reader& end) {
      DecodeEnd(end, false, out.sender.emplace());
    });
  }
  if (reader.HasValue("receiver")) {
    reader.ReadObject("receiver", [&](Reader& end) {
      DecodeEnd(end, true, out.receiver.emplace());
    });
  }
  if (reader.HasValue("wire")) {
    reader.ReadObject(
        "wire", [&](Reader& wire) { DecodeWire(wire, out.wire.emplace()); });
  }
  DecodeDatagramsAndFlow(reader, out);
  if (reader.HasValue("capture")) {
    reader.ReadObject("capture", [&](Reader& capture) {
      DecodeCapture(capture, out.capture.emplace());
    });
  }
  if (reader.HasValue("series")) {
    reader.ReadObject("series", [&](Reader& series) {
      series.ReadReason("file", out.series.emplace().file);
      series.ReadReason("reason", out.series->reason);
    });
  }
}

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_DECODE_H_
