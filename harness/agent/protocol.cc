#include "harness/agent/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "harness/agent/base64.h"
#include "harness/agent/json_fields.h"
#include "harness/agent/workload_json.h"

namespace wiretoll {
namespace {

using nlohmann::json;

constexpr Bounds kId{0, std::numeric_limits<std::int64_t>::max()};
constexpr Bounds kPort{1, 65535};
constexpr Bounds kPortOrNone{0, 65535};
constexpr Bounds kDeadlineMs{1, std::int64_t{24} * 3600 * 1000};
constexpr std::size_t kMaxAddressBytes = 45;  // RFC 4291 2.2, form 3.
constexpr std::size_t kMaxTrialNameBytes = 512;
constexpr std::size_t kMaxWordsBytes = std::size_t{16} * 1024;
constexpr std::size_t kMaxFacts = 1000;

constexpr std::array<std::pair<std::string_view, Role>, 2> kRoles{
    {{"sender", Role::kSender}, {"receiver", Role::kReceiver}}};
constexpr std::array<std::pair<std::string_view, PartOf>, 3> kParts{
    {{"capture", PartOf::kCapture},
     {"calls", PartOf::kCalls},
     {"series", PartOf::kSeries}}};
constexpr std::array<std::string_view, 10> kVerbs{
    "hello", "facts", "clock",   "trial",       "go",
    "sent",  "abort", "capture", "capture-end", "part"};
constexpr Bounds kSeriesNs{kShortestSeriesPeriod.count(),
                           kLongestSeriesPeriod.count()};
constexpr Bounds kAmount{0, std::numeric_limits<std::int64_t>::max()};
constexpr Bounds kSnapBytes{1, 65535};
// Between two hosts' monotonic clocks: 31 years of one's being up.
constexpr std::int64_t kMostApartNs = 1'000'000'000'000'000'000;
constexpr Bounds kClockOffset{-kMostApartNs, kMostApartNs};
constexpr Bounds kClockError{0, kMostApartNs};

// Bytes that are no UTF-8 (a strange NIC name, say) become U+FFFD: a reply
// must not fail for them.
std::string Line(const json& out) {
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Only what could be a numeric address; the system judges the rest. Nothing
// else is let through to messages or look-ups.
bool LooksNumeric(const std::string& address) {
  const bool charset = address.find_first_not_of("0123456789abcdefABCDEF.:") ==
                       std::string::npos;
  return charset && address.find_first_of(".:") != std::string::npos;
}

std::string AddressIn(FieldReader& fields, const char* name) {
  std::string address = fields.Text(name, kMaxAddressBytes);
  if (fields.ok() && !LooksNumeric(address)) {
    fields.Fail(
        fmt::format("field \"{}\" is no numeric IPv4 or IPv6 address", name));
  }
  return address;
}

std::uint16_t PortIn(FieldReader& fields, const char* name, Bounds bounds) {
  return static_cast<std::uint16_t>(fields.Integer(name, bounds));
}

void CheckRange(FieldReader& fields, std::uint16_t first, std::uint16_t last) {
  const bool any = first == 0 && last == 0;
  const bool range = first != 0 && first <= last;
  if (!any && !range) {
    fields.Fail(
        "fields \"first_port\" and \"last_port\" are no range of ports (0 and "
        "0 leave the choice to the system)");
  }
}

void CheckPorts(FieldReader& fields, const TrialRequest& trial) {
  CheckRange(fields, trial.first_port, trial.last_port);
  if ((trial.peer_port == 0) != (trial.role == Role::kSender)) {
    fields.Fail(
        "field \"peer_port\" must be 0 for a sender (\"go\" tells it) and the "
        "sender's port for a receiver");
  }
}

void FinishInto(FieldReader& outer, FieldReader& inner) {
  if (const auto wrong = inner.Finish()) outer.Fail(*wrong);
}

std::optional<SenderClock> SenderClockIn(FieldReader& outer) {
  const json* value = outer.Any("sender_clock");
  if (value == nullptr || value->is_null()) return std::nullopt;
  FieldReader fields(*value, "field \"sender_clock\"");
  SenderClock clock;
  clock.offset = Nanoseconds(fields.Integer("offset_ns", kClockOffset));
  clock.error = Nanoseconds(fields.Integer("error_ns", kClockError));
  FinishInto(outer, fields);
  return clock;
}

json ToJson(const std::optional<SenderClock>& clock) {
  if (!clock) return nullptr;
  return {{"offset_ns", clock->offset.count()},
          {"error_ns", clock->error.count()}};
}

TrialRequest TrialIn(FieldReader& fields) {
  TrialRequest trial;
  trial.trial = fields.Text("trial", kMaxTrialNameBytes);
  trial.role = fields.Choice("role", kRoles);
  trial.local_address = AddressIn(fields, "local_address");
  trial.peer_address = AddressIn(fields, "peer_address");
  trial.peer_port = PortIn(fields, "peer_port", kPortOrNone);
  trial.first_port = PortIn(fields, "first_port", kPortOrNone);
  trial.last_port = PortIn(fields, "last_port", kPortOrNone);
  trial.payload_seed = fields.Unsigned("payload_seed");
  trial.deadline =
      std::chrono::milliseconds(fields.Integer("deadline_ms", kDeadlineMs));
  trial.log_calls = fields.Flag("log_calls");
  if (const auto period = fields.MaybeInteger("series_ns", kSeriesNs)) {
    trial.series = Nanoseconds(*period);
  }
  trial.sender_clock = SenderClockIn(fields);
  trial.group = fields.Text("group", kMaxTrialNameBytes);
  CheckPorts(fields, trial);
  if (const json* workload = fields.Any("workload")) {
    Outcome<Workload> read = WorkloadFromJson(*workload);
    if (read.has_value()) {
      trial.workload = std::move(read).value();
    } else {
      fields.Fail(read.error().message);
    }
  }
  return trial;
}

json ToJson(const TrialRequest& trial, json out) {
  out["trial"] = trial.trial;
  out["role"] = trial.role == Role::kSender ? "sender" : "receiver";
  out["local_address"] = trial.local_address;
  out["peer_address"] = trial.peer_address;
  out["peer_port"] = trial.peer_port;
  out["first_port"] = trial.first_port;
  out["last_port"] = trial.last_port;
  out["payload_seed"] = trial.payload_seed;
  out["deadline_ms"] = trial.deadline.count();
  out["log_calls"] = trial.log_calls;
  out["series_ns"] = trial.series ? json(trial.series->count()) : json(nullptr);
  out["sender_clock"] = ToJson(trial.sender_clock);
  out["group"] = trial.group;
  out["workload"] = WorkloadToJson(trial.workload);
  return out;
}

CaptureRequest CaptureIn(FieldReader& fields) {
  CaptureRequest capture;
  capture.local_address = AddressIn(fields, "local_address");
  capture.peer_address = AddressIn(fields, "peer_address");
  capture.first_port = PortIn(fields, "first_port", kPortOrNone);
  capture.last_port = PortIn(fields, "last_port", kPortOrNone);
  capture.snap_bytes =
      static_cast<std::uint32_t>(fields.Integer("snap_bytes", kSnapBytes));
  CheckRange(fields, capture.first_port, capture.last_port);
  return capture;
}

json ToJson(const CaptureRequest& capture, json out) {
  out["local_address"] = capture.local_address;
  out["peer_address"] = capture.peer_address;
  out["first_port"] = capture.first_port;
  out["last_port"] = capture.last_port;
  out["snap_bytes"] = capture.snap_bytes;
  return out;
}

json ToJson(const CaptureEnd& captured) {
  return {{"frames", captured.frames},
          {"dropped", captured.dropped ? json(*captured.dropped) : json()},
          {"bytes", captured.bytes},
          {"partial", captured.partial}};
}

json ToJson(const Part& part) {
  return {{"data", EncodeBase64(part.data)}, {"left", part.left}};
}

json ToJson(const Hello& hello) {
  return {{"version", hello.version},
          {"os", hello.os},
          {"stack", hello.stack},
          {"description", hello.description}};
}

json ToJson(const RecordedFact& fact) {
  json value = nullptr;
  if (const auto* flag = std::get_if<bool>(&fact.value)) value = *flag;
  if (const auto* count = std::get_if<std::int64_t>(&fact.value))
    value = *count;
  if (const auto* text = std::get_if<std::string>(&fact.value)) value = *text;
  if (fact.number) value = *fact.number;
  json out{{"name", fact.name}, {"value", value}};
  if (!fact.reason.empty()) out["reason"] = fact.reason;
  return out;
}

Hello HelloFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "hello");
  Hello hello;
  hello.version = fields.Text("version", kMaxWordsBytes);
  hello.os = fields.Text("os", kMaxWordsBytes);
  hello.stack = fields.Text("stack", kMaxWordsBytes);
  hello.description = fields.Text("description", kMaxWordsBytes);
  if (const auto wrong = fields.Finish()) outer.Fail(*wrong);
  return hello;
}

void TakeFactValue(const json& value, RecordedFact& fact, FieldReader& fields) {
  if (value.is_boolean()) {
    fact.value = value.get<bool>();
  } else if (value.is_number_float()) {
    fact.number = value.get<double>();
  } else if (value.is_number()) {
    fact.value = value.get<std::int64_t>();
  } else if (value.is_string()) {
    fact.value = value.get<std::string>();
  } else if (!value.is_null()) {
    fields.Fail("field \"value\" is neither a number nor text nor a switch");
  }
}

RecordedFact FactFrom(FieldReader& outer, const json& item) {
  FieldReader fields(item, "fact");
  RecordedFact fact;
  fact.name = fields.Text("name", kMaxWordsBytes);
  if (const json* value = fields.Any("value")) {
    TakeFactValue(*value, fact, fields);
  }
  if (fields.IfThere("reason") != nullptr) {
    fact.reason = fields.Text("reason", kMaxWordsBytes);
  }
  if (const auto wrong = fields.Finish()) outer.Fail(*wrong);
  return fact;
}

std::vector<RecordedFact> FactsFrom(FieldReader& outer, const json& value) {
  std::vector<RecordedFact> facts;
  if (!value.is_array() || value.size() > kMaxFacts) {
    outer.Fail(
        fmt::format("field \"facts\" is no list of at most {}", kMaxFacts));
    return facts;
  }
  for (const json& item : value) facts.push_back(FactFrom(outer, item));
  return facts;
}

ClockReading ClockFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "clock");
  ClockReading clock;
  clock.wall = Nanoseconds(fields.Integer("wall_ns", kAmount));
  clock.monotonic = Nanoseconds(fields.Integer("monotonic_ns", kAmount));
  clock.identity = fields.Text("identity", kMaxWordsBytes);
  FinishInto(outer, fields);
  return clock;
}

json ToJson(const ClockReading& clock) {
  return {{"wall_ns", clock.wall.count()},
          {"monotonic_ns", clock.monotonic.count()},
          {"identity", clock.identity}};
}

std::string CapturingFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "capturing");
  std::string interface = fields.Text("interface", kMaxTrialNameBytes);
  FinishInto(outer, fields);
  return interface;
}

CaptureEnd CapturedFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "captured");
  CaptureEnd captured;
  captured.frames = fields.Integer("frames", kAmount);
  captured.dropped = fields.MaybeInteger("dropped", kAmount);
  captured.bytes = fields.Integer("bytes", kAmount);
  captured.partial = fields.Text("partial", kMaxWordsBytes);
  FinishInto(outer, fields);
  return captured;
}

Part PartFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "part");
  Part part;
  auto data = DecodeBase64(fields.Text("data", kMaxLineBytes));
  part.left = fields.Integer("left", kAmount);
  if (!data || data->size() > kPartBytes) {
    fields.Fail(fmt::format("field \"data\" is no base64 of at most {} bytes",
                            kPartBytes));
  } else {
    part.data = std::move(*data);
  }
  FinishInto(outer, fields);
  return part;
}

// What a capture's requests are answered with. False: none of it is there.
bool TakeCaptureOk(FieldReader& fields, Reply& reply) {
  if (const json* capturing = fields.IfThere("capturing")) {
    reply.capturing = CapturingFrom(fields, *capturing);
  } else if (const json* captured = fields.IfThere("captured")) {
    reply.captured = CapturedFrom(fields, *captured);
  } else if (const json* part = fields.IfThere("part")) {
    reply.part = PartFrom(fields, *part);
  } else {
    return false;
  }
  return true;
}

void TakeOk(const json& value, Role role, Reply& reply, FieldReader& outer) {
  FieldReader fields(value, "ok");
  const bool capture = TakeCaptureOk(fields, reply);
  if (capture) return FinishInto(outer, fields);
  if (const json* hello = fields.IfThere("agent")) {
    reply.hello = HelloFrom(fields, *hello);
  } else if (const json* facts = fields.IfThere("facts")) {
    reply.facts = FactsFrom(fields, *facts);
  } else if (const json* clock = fields.IfThere("clock")) {
    reply.clock = ClockFrom(fields, *clock);
  } else if (const json* end = fields.Any("end")) {
    Outcome<EndReport> read = EndReportFromJson(*end, role == Role::kReceiver);
    if (read.has_value()) {
      reply.end = std::move(read).value();
    } else {
      fields.Fail(read.error().message);
    }
  }
  FinishInto(outer, fields);
}

void TakeReady(const json& value, Reply& reply, FieldReader& outer) {
  FieldReader fields(value, "ready");
  reply.ready_port = PortIn(fields, "port", kPort);
  FinishInto(outer, fields);
}

void TakeAnswer(Role role, Reply& reply, FieldReader& fields) {
  if (const json* ok = fields.IfThere("ok")) {
    TakeOk(*ok, role, reply, fields);
  } else if (const json* ready = fields.IfThere("ready")) {
    TakeReady(*ready, reply, fields);
  } else {
    reply.error = fields.Text("error", kMaxWordsBytes);
    reply.skip = fields.Flag("skip");
  }
}

// No JSON gives a null, which no reader of fields takes for an object.
json Parse(const std::string& line) {
  json parsed = json::parse(line, nullptr, false);
  return parsed.is_discarded() ? json(nullptr) : parsed;
}

// Before anything else: the fields of another version mean other things.
void CheckVersion(FieldReader& fields) {
  const std::int64_t version =
      fields.Integer("v", {0, std::numeric_limits<std::int64_t>::max()});
  if (fields.ok() && version != kProtocolVersion) {
    fields.Fail(fmt::format(
        "speaks protocol version {}, this program speaks {}; install the same "
        "wiretoll on both hosts",
        version, kProtocolVersion));
  }
}

void TakeVerb(Request& request, FieldReader& fields) {
  request.verb = fields.Text("do", kMaxWordsBytes);
  if (!fields.ok()) return;
  if (std::find(kVerbs.begin(), kVerbs.end(), request.verb) == kVerbs.end()) {
    fields.Fail(fmt::format("verb \"{}\" is unknown",
                            request.verb.substr(0, kMaxAddressBytes)));
  } else if (request.verb == "facts") {
    request.address = AddressIn(fields, "address");
  } else if (request.verb == "trial") {
    request.trial = TrialIn(fields);
  } else if (request.verb == "go") {
    request.port = PortIn(fields, "port", kPort);
  } else if (request.verb == "sent") {
    request.sent.datagrams = fields.Integer("datagrams", kAmount);
    request.sent.bytes = fields.Integer("bytes", kAmount);
  } else if (request.verb == "capture") {
    request.capture = CaptureIn(fields);
  } else if (request.verb == "part") {
    request.part.of = fields.Choice("of", kParts);
    request.part.offset = fields.Integer("offset", kAmount);
  }
}

}  // namespace

std::string EncodeRequest(const Request& request) {
  json out{{"v", kProtocolVersion}, {"id", request.id}, {"do", request.verb}};
  if (request.verb == "facts") out["address"] = request.address;
  if (request.verb == "go") out["port"] = request.port;
  if (request.verb == "sent") {
    out["datagrams"] = request.sent.datagrams;
    out["bytes"] = request.sent.bytes;
  }
  if (request.trial) out = ToJson(*request.trial, std::move(out));
  if (request.verb == "capture") out = ToJson(request.capture, std::move(out));
  if (request.verb == "part") {
    out["of"] = kParts[static_cast<std::size_t>(request.part.of)].first;
    out["offset"] = request.part.offset;
  }
  return Line(out);
}

std::string EncodeReply(const Reply& reply, Role role) {
  json out{{"v", kProtocolVersion}, {"id", reply.id}};
  if (reply.error) {
    out["error"] = *reply.error;
    out["skip"] = reply.skip;
  } else if (reply.ready_port) {
    out["ready"]["port"] = *reply.ready_port;
  } else if (reply.hello) {
    out["ok"]["agent"] = ToJson(*reply.hello);
  } else if (reply.facts) {
    json facts = json::array();
    for (const RecordedFact& fact : *reply.facts) facts.push_back(ToJson(fact));
    out["ok"]["facts"] = std::move(facts);
  } else if (reply.clock) {
    out["ok"]["clock"] = ToJson(*reply.clock);
  } else if (reply.end) {
    out["ok"]["end"] = ToJson(*reply.end, role == Role::kReceiver);
  } else if (reply.capturing) {
    out["ok"]["capturing"]["interface"] = *reply.capturing;
  } else if (reply.captured) {
    out["ok"]["captured"] = ToJson(*reply.captured);
  } else if (reply.part) {
    out["ok"]["part"] = ToJson(*reply.part);
  }
  return Line(out);
}

Outcome<Request> DecodeRequest(const std::string& line) {
  const json parsed = Parse(line);
  FieldReader fields(parsed, "request");
  Request request;
  CheckVersion(fields);
  request.id = fields.Integer("id", kId);
  if (fields.ok()) TakeVerb(request, fields);
  if (const auto wrong = fields.Finish()) return Failure{.message = *wrong};
  return request;
}

Outcome<Reply> DecodeReply(const std::string& line, Role role) {
  const json parsed = Parse(line);
  FieldReader fields(parsed, "reply");
  Reply reply;
  CheckVersion(fields);
  reply.id = fields.Integer("id", kId);
  if (fields.ok()) TakeAnswer(role, reply, fields);
  if (const auto wrong = fields.Finish()) return Failure{.message = *wrong};
  return reply;
}

std::int64_t IdOf(const std::string& line) {
  const json parsed = Parse(line);
  FieldReader fields(parsed, "");
  const std::int64_t id = fields.Integer("id", kId);
  return fields.ok() ? id : 0;
}

}  // namespace wiretoll
