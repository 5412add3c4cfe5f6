#include "harness/agent/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

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
constexpr std::array<std::string_view, 6> kVerbs{"hello", "facts", "clock",
                                                 "trial", "go",    "abort"};

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

void CheckPorts(FieldReader& fields, const TrialRequest& trial) {
  const bool any = trial.first_port == 0 && trial.last_port == 0;
  const bool range =
      trial.first_port != 0 && trial.first_port <= trial.last_port;
  if (!any && !range) {
    fields.Fail(
        "fields \"first_port\" and \"last_port\" are no range of ports (0 and "
        "0 leave the choice to the system)");
  }
  if ((trial.peer_port == 0) != (trial.role == Role::kSender)) {
    fields.Fail(
        "field \"peer_port\" must be 0 for a sender (\"go\" tells it) and the "
        "sender's port for a receiver");
  }
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
  out["workload"] = WorkloadToJson(trial.workload);
  return out;
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

Nanoseconds ClockFrom(FieldReader& outer, const json& value) {
  FieldReader fields(value, "clock");
  const Nanoseconds wall{
      fields.Integer("wall_ns", {0, std::numeric_limits<std::int64_t>::max()})};
  if (const auto wrong = fields.Finish()) outer.Fail(*wrong);
  return wall;
}

void TakeOk(const json& value, Role role, Reply& reply, FieldReader& outer) {
  FieldReader fields(value, "ok");
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
  if (const auto wrong = fields.Finish()) outer.Fail(*wrong);
}

void TakeReady(const json& value, Reply& reply, FieldReader& outer) {
  FieldReader fields(value, "ready");
  reply.ready_port = PortIn(fields, "port", kPort);
  if (const auto wrong = fields.Finish()) outer.Fail(*wrong);
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
  }
}

}  // namespace

std::string EncodeRequest(const Request& request) {
  json out{{"v", kProtocolVersion}, {"id", request.id}, {"do", request.verb}};
  if (request.verb == "facts") out["address"] = request.address;
  if (request.verb == "go") out["port"] = request.port;
  if (request.trial) out = ToJson(*request.trial, std::move(out));
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
    out["ok"]["clock"]["wall_ns"] = reply.clock->count();
  } else if (reply.end) {
    out["ok"]["end"] = ToJson(*reply.end, role == Role::kReceiver);
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
