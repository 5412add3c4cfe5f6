#include "harness/samples/sample.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/samples/decode.h"
#include "harness/samples/fields.h"
#include "harness/samples/json_value.h"

namespace wiretoll {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What is written must be readable again: no text over the cap. Cut between
// characters of UTF-8, not inside one.
std::string Capped(const std::string& text) {
  if (text.size() <= kMaxTextBytes) return text;
  constexpr std::string_view kCut = "...";
  constexpr unsigned char kContinuation = 0x80;
  constexpr unsigned char kContinuationMask = 0xC0;
  std::size_t end = kMaxTextBytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) &
                     kContinuationMask) == kContinuation) {
    --end;
  }
  return text.substr(0, end).append(kCut);
}

template <class Json>
Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(Capped(text));
}

template <class Json>
Json CountOrNull(const std::optional<std::int64_t>& count) {
  return count.has_value() ? Json(*count) : Json(nullptr);
}

template <class Json>
Json EncodeOptionValue(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Capped(*text);
  }
  return nullptr;
}

template <class Json>
Json EncodeOptions(const std::map<std::string, OptionReading>& options) {
  Json json = Json::object();
  for (const auto& [name, reading] : options) {
    Json& option = json[Capped(name)];
    option["requested"] = EncodeOptionValue<Json>(reading.requested);
    option["effective"] = EncodeOptionValue<Json>(reading.effective);
    const bool seen =
        !std::holds_alternative<std::monostate>(reading.effective);
    if (!reading.reason.empty()) {
      option["reason"] = Capped(reading.reason);
    } else if (!seen) {
      option["reason"] = "not observed";
    }
  }
  return json;
}

// Fields that may be empty, with one reason for all that are.
template <class Json, class Struct, class Fields>
bool EncodeCounts(const Struct& from, const Fields& fields, Json& json) {
  bool complete = true;
  for (const auto& field : fields) {
    json[std::string(field.name)] = CountOrNull<Json>(from.*field.member);
    complete = complete && (from.*field.member).has_value();
  }
  return complete;
}

template <class Json>
Json ReasonFor(bool complete, const std::string& reason) {
  if (!complete && reason.empty()) return "not observed";
  return TextOrNull<Json>(reason);
}

template <class Json>
Json EncodeCounters(const TcpCounters& counters) {
  Json json = Json::object();
  const bool complete = EncodeCounts(counters, kCounterFields, json);
  json["reason"] = ReasonFor<Json>(complete, counters.reason);
  return json;
}

template <class Json>
Json EncodeDisturbance(const Disturbance& disturbance) {
  Json json = Json::object();
  const bool has_load =
      disturbance.load.has_value() && std::isfinite(*disturbance.load);
  json["steal_ns"] = CountOrNull<Json>(disturbance.steal_ns);
  json["clock_step_ns"] = CountOrNull<Json>(disturbance.clock_step_ns);
  json["load"] = has_load ? Json(*disturbance.load) : Json(nullptr);
  json["disturbed"] = disturbance.disturbed;
  const bool complete = has_load && disturbance.steal_ns.has_value() &&
                        disturbance.clock_step_ns.has_value();
  json["reason"] = ReasonFor<Json>(complete, disturbance.reason);
  return json;
}

template <class Json>
Json EncodeLatency(const LatencySummary& latency) {
  Json json = Json::object();
  for (const auto& field : kLatencyFields) {
    json[std::string(field.name)] = latency.*field.member;
  }
  json["mean_ns"] = latency.mean_ns;
  return json;
}

template <class Json>
Json EncodeNotSent(const NotSent& not_sent) {
  Json json = Json::object();
  for (const auto& field : kNotSentFields) {
    json[std::string(field.name)] = not_sent.*field.member;
  }
  if (!not_sent.first_other.empty()) {
    json["first_other"] = Capped(not_sent.first_other);
  }
  return json;
}

template <class Json>
Json EncodeDelay(const DelaySummary& delay) {
  Json json = Json::object();
  for (const auto& field : kDelayFields) {
    json[std::string(field.name)] = delay.*field.member;
  }
  json["mean_ns"] = delay.mean_ns;
  return json;
}

template <class Json>
Json EncodeSizes(const SizeBins& sizes) {
  Json json = Json::object();
  for (std::size_t bin = 0; bin < sizes.size() && bin < kMostBins; ++bin) {
    if (sizes[bin] != 0) json[SizeBinLabel(bin)] = sizes[bin];
  }
  return json;
}

// Writes the fields of one end that may be empty, each with its own reason.
template <class Json>
class EndWriter {
 public:
  EndWriter(const EndReport& end, bool receiver, Json& json)
      : end_(end), receiver_(receiver), json_(&json) {
    for (const auto& [field, reason] : end.why_null) {
      why_null_[Capped(field)] = Capped(reason);
    }
  }

  // Left out where it is the other end's business.
  template <class T>
  void Write(std::string_view name, const std::optional<T>& value, Owner owner,
             std::string_view why_empty) {
    const std::string key(name);
    if (value.has_value()) {
      (*json_)[key] = *value;
      return;
    }
    const std::string path = prefix_ + key;
    if (!IsOurs(owner) && !end_.why_null.contains(path)) return;
    (*json_)[key] = nullptr;
    if (!why_null_.contains(path)) why_null_[path] = why_empty;
  }

  // What `write` writes stands in a member of that name.
  template <class Function>
  void Inside(const std::string& name, const Function& write) {
    Json inner = Json::object();
    Json* const outer = std::exchange(json_, &inner);
    prefix_ = name + '.';
    write(inner);
    prefix_.clear();
    json_ = outer;
    (*json_)[name] = std::move(inner);
  }

  void WriteReasons() {
    if (!why_null_.empty()) (*json_)["why_null"] = std::move(why_null_);
  }

 private:
  [[nodiscard]] bool IsOurs(Owner owner) const {
    if (owner == Owner::kBoth) return true;
    if (owner == Owner::kTcpSender && end_.datagrams) return false;
    return receiver_ == (owner == Owner::kReceiver);
  }

  const EndReport& end_;
  bool receiver_;
  Json* json_;
  std::string prefix_;
  Json why_null_ = Json::object();
};

template <class Json, class Value, class Encode>
std::optional<Json> Encoded(const std::optional<Value>& value, Encode encode) {
  if (!value.has_value()) return std::nullopt;
  return encode(*value);
}

template <class Json>
void WriteDatagrams(const DatagramReport& report, EndWriter<Json>& writer,
                    Json& json) {
  for (const DatagramCountField& field : kDatagramCounts) {
    writer.Write(field.name, report.*field.member, field.owner,
                 field.why_empty);
  }
  writer.Write("jitter_mean_ns", report.jitter_mean_ns, Owner::kReceiver,
               "not observed");
  writer.Write("jitter_rfc3550_ns", report.jitter_rfc3550_ns, Owner::kReceiver,
               "not observed");
  writer.Write("not_sent", Encoded<Json>(report.not_sent, EncodeNotSent<Json>),
               Owner::kSender, "not observed");
  writer.Write("delay", Encoded<Json>(report.delay, EncodeDelay<Json>),
               Owner::kReceiver, "not observed");
  if (!report.ended.empty()) json["ended"] = Capped(report.ended);
}

template <class Json>
Json EncodeSummary(const SeriesSummary& series) {
  Json json = Json::object();
  for (const auto& field : kSeriesTotals) {
    json[std::string(field.name)] = series.*field.member;
  }
  const bool complete = EncodeCounts(series, kSeriesCounts, json);
  json["reason"] = ReasonFor<Json>(complete, series.reason);
  return json;
}

template <class Json>
Json EncodeEnd(const EndReport& end, bool receiver) {
  Json json = Json::object();
  EndWriter<Json> writer(end, receiver, json);
  for (const auto& field : kEndTexts) {
    json[std::string(field.name)] = Capped(end.*field.member);
  }
  for (const auto& field : kEndTotals) {
    json[std::string(field.name)] = end.*field.member;
  }
  for (const EndCountField& field : kEndCounts) {
    writer.Write(field.name, end.*field.member, field.owner, field.why_empty);
  }
  writer.Write("gap_mean_ns", end.gap_mean_ns, Owner::kSender,
               "no gap was asked for");
  writer.Write("verified", end.verified, Owner::kReceiver,
               "verification was not asked for");
  json[receiver ? "read_sizes" : "write_sizes"] =
      EncodeSizes<Json>(end.call_sizes);
  writer.Write("latency", Encoded<Json>(end.latency, EncodeLatency<Json>),
               Owner::kSender, "no request-response");
  if (end.datagrams.has_value()) {
    writer.Inside("datagrams", [&](Json& inner) {
      WriteDatagrams(*end.datagrams, writer, inner);
    });
  }
  if (end.series) json["series"] = EncodeSummary<Json>(*end.series);
  json["options"] = EncodeOptions<Json>(end.options);
  json["counters"] = EncodeCounters<Json>(end.counters);
  json["disturbance"] = EncodeDisturbance<Json>(end.disturbance);
  writer.WriteReasons();
  return json;
}

template <class Json>
Json EncodeWire(const Wire& wire) {
  Json json = Json::object();
  json["observer"] = Capped(wire.observer);
  const bool complete = EncodeCounts(wire, kWireFields, json);
  json["agreement"] = TextOrNull<Json>(wire.agreement);
  json["reason"] = ReasonFor<Json>(complete, wire.reason);
  return json;
}

template <class Json>
Json EncodeFates(const Datagrams& datagrams) {
  Json json = Json::object();
  for (const auto& field : kDatagramTotals) {
    json[std::string(field.name)] = datagrams.*field.member;
  }
  const bool complete = EncodeCounts(datagrams, kDatagramFates, json);
  json["reason"] = ReasonFor<Json>(complete, datagrams.reason);
  return json;
}

template <class Json>
Json EncodeFlow(const TrialFlow& flow) {
  Json json = Json::object();
  json["group"] = Capped(flow.group);
  json["topology"] = Capped(flow.topology);
  json["flows"] = flow.flows;
  json["index"] = flow.index;
  const bool known = flow.overlap.has_value() && std::isfinite(*flow.overlap);
  json["overlap"] = known ? Json(*flow.overlap) : Json(nullptr);
  return json;
}

template <class Json>
Json EncodeCapture(const CaptureRecord& capture) {
  Json json = Json::object();
  for (const auto& field : kCaptureTexts) {
    json[std::string(field.name)] = TextOrNull<Json>(capture.*field.member);
  }
  EncodeCounts(capture, kCaptureCounts, json);
  return json;
}

template <class Json>
Json EncodeFactors(const Sample& sample) {
  Json json = Json::object();
  for (const auto& [name, value] : sample.factors) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      json[Capped(name)] = *number;
    } else {
      json[Capped(name)] = Capped(std::get<std::string>(value));
    }
  }
  return json;
}

// Texts that are no UTF-8 (a host name in some old code page) become
// replacement characters rather than a file nobody can read.
std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void WriteIdentity(const Sample& sample, OrderedJson& json) {
  json["v"] = kSampleVersion;
  json["trial"] = Capped(sample.trial);
  json["study"] = Capped(sample.study);
  json["case"] = Capped(sample.case_id);
  json["factors"] = EncodeFactors<OrderedJson>(sample);
  json["repeat"] = sample.repeat;
  json["order"] = sample.order;
  json["started"] = Capped(sample.started);
  json["outcome"] = kOutcomeNames[static_cast<std::size_t>(sample.outcome)];
  json["reason"] = TextOrNull<OrderedJson>(sample.reason);
  json["link"] = Capped(sample.link);
}

}  // namespace

std::string SizeBinLabel(std::size_t bin) {
  const std::uint64_t low = std::uint64_t{1} << bin;
  if (bin == 0) return "1";
  return std::to_string(low).append("-").append(std::to_string(2 * low - 1));
}

std::optional<std::size_t> SizeBinFromLabel(std::string_view label) {
  std::uint64_t low = 0;
  const char* end = label.data() + label.size();
  const auto [stop, error] = std::from_chars(label.data(), end, low);
  if (error != std::errc{} || !std::has_single_bit(low)) return std::nullopt;
  const auto bin = static_cast<std::size_t>(std::countr_zero(low));
  if (bin >= kMostBins || SizeBinLabel(bin) != label) return std::nullopt;
  return bin;
}

nlohmann::json ToJson(const EndReport& end, bool receiver) {
  return EncodeEnd<nlohmann::json>(end, receiver);
}

Outcome<EndReport> EndReportFromJson(const nlohmann::json& json,
                                     bool receiver) {
  EndReport end;
  std::string problem;
  const JsonPath root;
  ObjectReader<JsonValue> reader(JsonValue(json), root, problem);
  DecodeEnd(reader, receiver, end);
  if (!problem.empty()) {
    return Failure{ExitCode::kNothingRan, "end report: " + problem};
  }
  return end;
}

std::string ToLine(const Sample& sample) {
  OrderedJson json = OrderedJson::object();
  WriteIdentity(sample, json);
  json["sender"] = nullptr;
  json["receiver"] = nullptr;
  json["wire"] = nullptr;
  if (sample.sender)
    json["sender"] = EncodeEnd<OrderedJson>(*sample.sender, false);
  if (sample.receiver) {
    json["receiver"] = EncodeEnd<OrderedJson>(*sample.receiver, true);
  }
  if (sample.wire) json["wire"] = EncodeWire<OrderedJson>(*sample.wire);
  // Left out where there is nothing to say, unlike the three above.
  if (sample.datagrams) {
    json["datagrams"] = EncodeFates<OrderedJson>(*sample.datagrams);
  }
  if (sample.flow) json["flow"] = EncodeFlow<OrderedJson>(*sample.flow);
  if (sample.capture) {
    json["capture"] = EncodeCapture<OrderedJson>(*sample.capture);
  }
  if (sample.series) {
    json["series"]["file"] = TextOrNull<OrderedJson>(sample.series->file);
    json["series"]["reason"] = TextOrNull<OrderedJson>(sample.series->reason);
  }
  return Dump(json);
}

}  // namespace wiretoll
