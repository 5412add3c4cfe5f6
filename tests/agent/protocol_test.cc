#include "harness/agent/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/agent/workload_json.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

// Every field differs from its default, so that a field that is not carried
// shows.
Workload FullWorkload() {
  Workload workload;
  workload.transport = Transport::kUdp;
  workload.pattern = Pattern::kRequestResponse;
  workload.write = Bytes{1};
  workload.read = Bytes{16 << 20};
  workload.request = {Bytes{9}, Bytes{4}};
  workload.reply = {Bytes{1}};
  workload.nagle = false;
  workload.rcvbuf = Bytes{2};
  workload.sndbuf = Bytes{64 << 20};
  workload.gap = 20us;
  workload.warmup = 1500ms;
  workload.rate = BitsPerSecond{1.5e6};
  workload.congestion = "cubic";
  workload.quickack = Quickack::kEach;
  workload.cork = true;
  workload.mss = Bytes{536};
  workload.sender_cpu = 0;
  workload.receiver_cpu = 1;
  workload.streams = 4;
  workload.verify = true;
  workload.block = Bytes{10'000};
  workload.dont_fragment = false;
  workload.batch = 64;
  workload.stop_bytes = Bytes{1'000'000'000'000};
  workload.stop_messages = 7;
  workload.stop_time = 2s;
  return workload;
}

Request TrialOf(Role role) {
  Request request;
  request.id = 3;
  request.verb = "trial";
  request.trial.emplace();
  request.trial->trial = "t-1 \"quoted\"";
  request.trial->role = role;
  request.trial->workload = FullWorkload();
  request.trial->local_address = "10.0.0.1";
  request.trial->peer_address = "fd00::2";
  request.trial->peer_port = role == Role::kReceiver ? 40000 : 0;
  request.trial->first_port = 7001;
  request.trial->last_port = 7099;
  request.trial->payload_seed = ~std::uint64_t{0};
  request.trial->deadline = 1234ms;
  request.trial->sender_clock = SenderClock{-5ns, 3ns};
  request.trial->group = "g";
  request.trial->series = 1ms;
  return request;
}

// What a request says after it was changed as text would be.
std::string Wrong(const std::function<void(json&)>& change) {
  json line = json::parse(EncodeRequest(TrialOf(Role::kReceiver)));
  change(line);
  const Outcome<Request> decoded = DecodeRequest(line.dump());
  return decoded.has_value() ? "taken" : decoded.error().message;
}

std::string WrongWorkload(const std::string& field, const json& value) {
  return Wrong([&](json& line) { line["workload"][field] = value; });
}

TEST(ProtocolTest, WorkloadComesBackWhole) {
  const json there = WorkloadToJson(FullWorkload());
  const Outcome<Workload> back = WorkloadFromJson(there);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(WorkloadToJson(back.value()), there);
  EXPECT_EQ(back.value().request, (std::vector{Bytes{9}, Bytes{4}}));
  EXPECT_EQ(back.value().quickack, Quickack::kEach);
  EXPECT_EQ(back.value().stop_time, Nanoseconds(2s));
  EXPECT_EQ(back.value().rate, BitsPerSecond{1.5e6});
  EXPECT_EQ(back.value().sender_cpu, 0);
  EXPECT_EQ(back.value().block, Bytes{10'000});
  EXPECT_EQ(back.value().dont_fragment, false);
  EXPECT_EQ(back.value().batch, 64);
  EXPECT_EQ(back.value().warmup, Nanoseconds(1500ms));
}

TEST(ProtocolTest, EmptyFieldsOfAWorkloadComeBackEmpty) {
  Workload workload;
  workload.stop_messages = 1;
  const Outcome<Workload> back = WorkloadFromJson(WorkloadToJson(workload));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_FALSE(back.value().rcvbuf || back.value().sndbuf ||
               back.value().congestion || back.value().rate ||
               back.value().mss || back.value().stop_bytes ||
               back.value().stop_time || back.value().sender_cpu ||
               back.value().block || back.value().dont_fragment);
}

TEST(ProtocolTest, TrialRequestsComeBackWhole) {
  for (const Role role : {Role::kSender, Role::kReceiver}) {
    const std::string line = EncodeRequest(TrialOf(role));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Outcome<Request> back = DecodeRequest(line);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(EncodeRequest(back.value()), line);
    EXPECT_EQ(back.value().trial->payload_seed, ~std::uint64_t{0});
    EXPECT_EQ(back.value().trial->role, role);
    EXPECT_EQ(back.value().trial->deadline, 1234ms);
    EXPECT_EQ(back.value().trial->sender_clock->offset, -5ns);
    EXPECT_EQ(back.value().trial->sender_clock->error, 3ns);
    EXPECT_EQ(back.value().trial->group, "g");
  }
}

TEST(ProtocolTest, OtherRequestsComeBackWhole) {
  Request facts;
  facts.id = 1;
  facts.verb = "facts";
  facts.address = "10.0.0.1";
  Request go;
  go.id = 2;
  go.verb = "go";
  go.port = 65535;
  EXPECT_EQ(DecodeRequest(EncodeRequest(facts)).value().address, "10.0.0.1");
  EXPECT_EQ(DecodeRequest(EncodeRequest(go)).value().port, 65535);
  Request sent;
  sent.id = 3;
  sent.verb = "sent";
  sent.sent = {7, 700};
  const Request sent_back = DecodeRequest(EncodeRequest(sent)).value();
  EXPECT_EQ(sent_back.sent.datagrams, 7);
  EXPECT_EQ(sent_back.sent.bytes, 700);
  for (const char* verb : {"hello", "clock", "abort"}) {
    Request request;
    request.verb = verb;
    EXPECT_EQ(DecodeRequest(EncodeRequest(request)).value().verb, verb);
  }
}

TEST(ProtocolTest, EveryFieldOfARequestIsNeededAndNoOtherTaken) {
  const json whole = json::parse(EncodeRequest(TrialOf(Role::kReceiver)));
  for (const auto& [name, value] : whole.items()) {
    const std::string field = name;
    EXPECT_THAT(Wrong([&](json& line) { line.erase(field); }),
                HasSubstr("\"" + field + "\""));
  }
  for (const auto& [name, value] : whole["workload"].items()) {
    const std::string field = name;
    EXPECT_THAT(Wrong([&](json& line) { line["workload"].erase(field); }),
                HasSubstr("field \"" + field + "\" is missing"));
  }
  EXPECT_THAT(Wrong([](json& line) { line["extra"] = 1; }),
              HasSubstr("field \"extra\" is unknown"));
  EXPECT_THAT(WrongWorkload("extra", 1),
              HasSubstr("field \"extra\" is unknown"));
}

TEST(ProtocolTest, WrongTypesAreNamed) {
  const json whole = json::parse(EncodeRequest(TrialOf(Role::kReceiver)));
  for (const auto& [name, value] : whole["workload"].items()) {
    EXPECT_THAT(WrongWorkload(name, json::object()),
                HasSubstr("field \"" + name + "\""));
  }
  EXPECT_THAT(WrongWorkload("write", 1.5), HasSubstr("no integer"));
  EXPECT_THAT(WrongWorkload("write", "1"), HasSubstr("no integer"));
  EXPECT_THAT(WrongWorkload("write", true), HasSubstr("no integer"));
  EXPECT_THAT(WrongWorkload("write", ~std::uint64_t{0}),
              HasSubstr("no integer"));
  EXPECT_THAT(WrongWorkload("nagle", 1), HasSubstr("true nor false"));
  EXPECT_THAT(WrongWorkload("pattern", "burst"), HasSubstr("\"burst\""));
}

TEST(ProtocolTest, ValuesOutOfRangeAreNamed) {
  for (const std::int64_t size :
       {std::int64_t{-1}, std::int64_t{0}, (std::int64_t{16} << 20) + 1}) {
    EXPECT_THAT(WrongWorkload("write", size), HasSubstr("\"write\""));
    EXPECT_THAT(WrongWorkload("read", size), HasSubstr("\"read\""));
    EXPECT_THAT(WrongWorkload("request", {size}), HasSubstr("\"request\""));
  }
  for (const std::int64_t size :
       {std::int64_t{0}, (std::int64_t{64} << 20) + 1}) {
    EXPECT_THAT(WrongWorkload("rcvbuf", size), HasSubstr("\"rcvbuf\""));
    EXPECT_THAT(WrongWorkload("sndbuf", size), HasSubstr("\"sndbuf\""));
  }
  EXPECT_THAT(WrongWorkload("gap_ns", -1), HasSubstr("\"gap_ns\""));
  EXPECT_THAT(WrongWorkload("rate_bits_per_second", 0), HasSubstr("\"rate"));
  for (const std::int64_t size :
       {std::int64_t{0}, (std::int64_t{1} << 30) + 1}) {
    EXPECT_THAT(WrongWorkload("block", size), HasSubstr("\"block\""));
  }
  EXPECT_THAT(WrongWorkload("batch", 0), HasSubstr("\"batch\""));
  EXPECT_THAT(WrongWorkload("batch", 1025), HasSubstr("\"batch\""));
  EXPECT_THAT(WrongWorkload("dont_fragment", 1), HasSubstr("true nor false"));
  EXPECT_EQ(WrongWorkload("dont_fragment", nullptr), "taken");
  EXPECT_THAT(WrongWorkload("streams", 0), HasSubstr("\"streams\""));
  EXPECT_THAT(WrongWorkload("stop_messages", 0), HasSubstr("\"stop_messages"));
  EXPECT_THAT(WrongWorkload("request", json(65, 1)), HasSubstr("at most 64"));
  EXPECT_EQ(WrongWorkload("request", json(64, 1)), "taken");
  EXPECT_THAT(WrongWorkload("congestion", std::string(65, 'x')),
              HasSubstr("65 bytes"));
}

TEST(ProtocolTest, WorkloadThatCannotWorkIsRefused) {
  EXPECT_THAT(WrongWorkload("request", json::array()),
              HasSubstr("needs sizes"));
  EXPECT_THAT(Wrong([](json& line) {
                for (const char* stop :
                     {"stop_bytes", "stop_messages", "stop_time_ns"}) {
                  line["workload"][stop] = nullptr;
                }
              }),
              HasSubstr("never stop"));
}

TEST(ProtocolTest, PortsAreChecked) {
  const auto with = [](const char* field, const json& value) {
    return Wrong([&](json& line) { line[field] = value; });
  };
  EXPECT_THAT(with("peer_port", 0), HasSubstr("\"peer_port\""));
  EXPECT_THAT(with("peer_port", 65536), HasSubstr("\"peer_port\""));
  EXPECT_THAT(with("first_port", 0), HasSubstr("no range"));
  EXPECT_THAT(with("first_port", 7100), HasSubstr("no range"));
  EXPECT_THAT(with("last_port", -1), HasSubstr("\"last_port\""));
  EXPECT_THAT(Wrong([](json& line) { line["role"] = "sender"; }),
              HasSubstr("\"peer_port\" must be 0"));
}

TEST(ProtocolTest, ClocksGroupsAndNoticesAreChecked) {
  const auto with = [](const char* field, const json& value) {
    return Wrong([&](json& line) { line[field] = value; });
  };
  EXPECT_EQ(with("sender_clock", nullptr), "taken");
  EXPECT_THAT(with("sender_clock", 5), HasSubstr("\"sender_clock\""));
  EXPECT_THAT(with("sender_clock", json::object()), HasSubstr("\"offset_ns\""));
  EXPECT_THAT(with("sender_clock", {{"offset_ns", 0}}),
              HasSubstr("\"error_ns\""));
  EXPECT_THAT(with("sender_clock", {{"offset_ns", 0}, {"error_ns", -1}}),
              HasSubstr("\"error_ns\" is -1"));
  EXPECT_THAT(with("sender_clock",
                   {{"offset_ns", 2'000'000'000'000'000'000}, {"error_ns", 0}}),
              HasSubstr("\"offset_ns\""));
  EXPECT_THAT(
      with("sender_clock", {{"offset_ns", 0}, {"error_ns", 0}, {"x", 0}}),
      HasSubstr("\"x\" is unknown"));
  EXPECT_EQ(with("group", ""), "taken");
  EXPECT_THAT(with("group", std::string(513, 'g')), HasSubstr("513 bytes"));
  EXPECT_THAT(with("group", 1), HasSubstr("\"group\""));
  for (const char* line :
       {R"({"v":1,"id":1,"do":"sent"})",
        R"({"v":1,"id":1,"do":"sent","datagrams":1})",
        R"({"v":1,"id":1,"do":"sent","datagrams":-1,"bytes":0})",
        R"({"v":1,"id":1,"do":"sent","datagrams":1.5,"bytes":0})",
        R"({"v":1,"id":1,"do":"sent","datagrams":1,"bytes":"1"})",
        R"({"v":1,"id":1,"do":"sent","datagrams":1,"bytes":1,"port":1})"}) {
    EXPECT_FALSE(DecodeRequest(line).has_value()) << line;
  }
}

TEST(ProtocolTest, OnlyNumericAddressesAreTaken) {
  for (const char* address :
       {"", "localhost", "10.0.0.1; reboot", "example.org", "abc", "12",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd"}) {
    EXPECT_THAT(Wrong([&](json& line) { line["local_address"] = address; }),
                HasSubstr("\"local_address\""))
        << address;
  }
}

TEST(ProtocolTest, OtherVersionsVerbsAndNoJsonAreRefused) {
  const auto wrong = [](const std::string& line) {
    const Outcome<Request> decoded = DecodeRequest(line);
    return decoded.has_value() ? "taken" : decoded.error().message;
  };
  EXPECT_THAT(wrong(R"({"v":2,"id":1,"do":"hello"})"), HasSubstr("version 2"));
  EXPECT_THAT(wrong(R"({"id":1,"do":"hello"})"), HasSubstr("\"v\""));
  EXPECT_THAT(wrong(R"({"v":1,"do":"hello"})"), HasSubstr("\"id\""));
  EXPECT_THAT(wrong(R"({"v":1,"id":-1,"do":"hello"})"), HasSubstr("\"id\""));
  EXPECT_THAT(wrong(R"({"v":1,"id":1,"do":"dance"})"), HasSubstr("\"dance\""));
  EXPECT_THAT(wrong(R"({"v":1,"id":1,"do":"hello","port":1})"),
              HasSubstr("\"port\""));
  EXPECT_THAT(wrong(R"({"v":1,"id":1,"do":"go","port":0})"),
              HasSubstr("\"port\""));
  for (const char* line : {"", "x", "[]", "1", "null", "{", "\xff"}) {
    EXPECT_THAT(wrong(line), HasSubstr("no JSON object")) << line;
  }
  EXPECT_THAT(wrong(std::string(200'000, '[')), HasSubstr("no JSON object"));
}

TEST(ProtocolTest, IdOfABadLineIsFoundWhereItCanBe) {
  EXPECT_EQ(IdOf(R"({"v":9,"id":42})"), 42);
  EXPECT_EQ(IdOf(R"({"v":9,"id":"42"})"), 0);
  EXPECT_EQ(IdOf("garbage"), 0);
}

TEST(ProtocolTest, RepliesComeBackWhole) {
  Reply hello;
  hello.id = 1;
  hello.hello = Hello{"0.1.0", "linux", "Linux 6.1", "Debian 12"};
  const Reply hello_back =
      DecodeReply(EncodeReply(hello, Role::kSender), Role::kSender).value();
  ASSERT_TRUE(hello_back.hello);
  EXPECT_EQ(hello_back.hello->description, "Debian 12");

  Reply clock;
  clock.clock = ClockReading{Nanoseconds{1'700'000'000'123'456'789},
                             Nanoseconds{17}, "boot time:[1]"};
  const Reply clock_back =
      DecodeReply(EncodeReply(clock, Role::kSender), Role::kSender).value();
  ASSERT_TRUE(clock_back.clock);
  EXPECT_EQ(clock_back.clock->wall, Nanoseconds{1'700'000'000'123'456'789});
  EXPECT_EQ(clock_back.clock->monotonic, Nanoseconds{17});
  EXPECT_EQ(clock_back.clock->identity, "boot time:[1]");

  Reply ready;
  ready.ready_port = 7001;
  EXPECT_EQ(DecodeReply(EncodeReply(ready, Role::kSender), Role::kSender)
                .value()
                .ready_port,
            7001);

  Reply error;
  error.error = "no";
  error.skip = true;
  const Reply error_back =
      DecodeReply(EncodeReply(error, Role::kSender), Role::kSender).value();
  EXPECT_EQ(error_back.error, "no");
  EXPECT_TRUE(error_back.skip);
}

TEST(ProtocolTest, FactsOfEveryKindComeBack) {
  Reply reply;
  reply.facts =
      std::vector<RecordedFact>{{"sack", true, {}, ""},
                                {"mtu_bytes", std::int64_t{1500}, {}, ""},
                                {"kernel", std::string("6.1"), {}, ""},
                                {"load", {}, 0.5, ""},
                                {"nic", {}, {}, "no such file"}};
  const Reply back =
      DecodeReply(EncodeReply(reply, Role::kSender), Role::kSender).value();
  ASSERT_TRUE(back.facts);
  ASSERT_EQ(back.facts->size(), 5U);
  EXPECT_EQ(back.facts->at(0).value, OptionValue(true));
  EXPECT_EQ(back.facts->at(1).value, OptionValue(std::int64_t{1500}));
  EXPECT_EQ(back.facts->at(2).value, OptionValue(std::string("6.1")));
  EXPECT_EQ(back.facts->at(3).number, 0.5);
  EXPECT_EQ(back.facts->at(4).value, OptionValue());
  EXPECT_EQ(back.facts->at(4).reason, "no such file");
}

TEST(ProtocolTest, EndReportComesBackForItsRole) {
  Reply reply;
  reply.end.emplace();
  reply.end->bytes = 1000;
  reply.end->calls = 10;
  reply.end->call_sizes = {0, 0, 10};
  for (const Role role : {Role::kSender, Role::kReceiver}) {
    const Outcome<Reply> back = DecodeReply(EncodeReply(reply, role), role);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(back.value().end->bytes, 1000);
    EXPECT_EQ(back.value().end->call_sizes, (SizeBins{0, 0, 10}));
  }
}

TEST(ProtocolTest, TextThatIsNoUtf8DoesNotBreakAReply) {
  Reply reply;
  reply.error = "bad \xff byte";
  const Outcome<Reply> back =
      DecodeReply(EncodeReply(reply, Role::kSender), Role::kSender);
  ASSERT_TRUE(back.has_value());
  EXPECT_THAT(*back.value().error, HasSubstr("bad "));
}

TEST(ProtocolTest, RepliesThatDoNotCheckOutAreRefused) {
  for (const char* line :
       {R"({"v":1,"id":1})", R"({"v":1,"id":1,"error":5,"skip":false})",
        R"({"v":1,"id":1,"error":"x"})", R"({"v":1,"id":1,"ok":{}})",
        R"({"v":1,"id":1,"ready":{"port":0}})",
        R"({"v":1,"id":1,"ready":{"port":1},"ok":{}})",
        R"({"v":1,"id":1,"ok":{"end":{}}})",
        R"({"v":1,"id":1,"ok":{"agent":{"version":"1"}}})",
        R"({"v":1,"id":1,"ok":{"facts":[{"name":"x"}]}})", "hello"}) {
    EXPECT_FALSE(DecodeReply(line, Role::kSender).has_value()) << line;
  }
}

}  // namespace
}  // namespace wiretoll
