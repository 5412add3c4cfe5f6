// An agent that greets like ours and then misbehaves in one chosen way:
//   fake_agent MODE
// The modes are those of tests/run/run_test.cc and tests/check/check_test.cc.
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include "harness/agent/protocol.h"
#include "harness/base/version.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

void Say(const std::string& line) { std::cout << line << std::endl; }

void SayReply(std::int64_t id, const std::string& mode) {
  Reply reply;
  reply.id = id;
  reply.hello = Hello{mode == "other-version" ? "0.0.1" : kVersion, "linux",
                      "Linux 0.0", "a fake"};
  if (mode == "wine") reply.hello->os = "wine";
  std::string line = EncodeReply(reply, Role::kSender);
  if (mode == "other-protocol")
    line.replace(line.find("\"v\":1"), 5, "\"v\":9");
  Say(line);
}

// Longer than any test waits; the coordinator has to end us.
void Hang() { std::this_thread::sleep_for(120s); }

// What these do wrong shows only once a first trial was taken.
bool TakesOneTrial(const std::string& mode) {
  return mode == "dies-later" || mode == "wine" || mode == "an-hour-ahead" ||
         mode == "no-clock" || mode == "dies-at-clock";
}

int Misbehave(std::int64_t id, const std::string& mode) {
  const std::string head = "{\"v\":1,\"id\":" + std::to_string(id);
  if (mode == "dies" || mode == "dies-later") {
    std::cerr << "out of luck\n";
    return 7;
  }
  if (mode == "hangs") Hang();
  if (mode == "stops") std::raise(SIGSTOP);
  if (mode == "garbage") Say("Segmentation fault (core dumped)");
  if (mode == "endless-line") std::cout << std::string(1 << 20, 'x');
  if (mode == "wrong-types") Say(head + ",\"ready\":{\"port\":\"many\"}}");
  if (mode == "absurd-port") Say(head + ",\"ready\":{\"port\":99999}}");
  if (mode == "other-port") Say(head + ",\"ready\":{\"port\":22}}");
  if (mode == "half-report") Say(head + ",\"ok\":{\"end\":{\"calls\":1}}}");
  if (mode == "other-id") Say("{\"v\":1,\"id\":999,\"ready\":{\"port\":7001}}");
  if (mode == "skips")
    Say(head + ",\"error\":\"no such option here\",\"skip\":true}");
  if (TakesOneTrial(mode))
    Say(head + ",\"error\":\"no more trials\",\"skip\":false}");
  std::cout.flush();
  return -1;
}

int TellTime(std::int64_t id, const std::string& mode) {
  if (mode == "dies-at-clock") return 7;
  Reply reply;
  reply.id = id;
  if (mode == "no-clock") {
    reply.error = "this host has no clock";
  } else {
    const auto ahead = mode == "an-hour-ahead" ? 1h : 0h;
    reply.clock.emplace();
    reply.clock->wall =
        std::chrono::system_clock::now().time_since_epoch() + ahead;
  }
  Say(EncodeReply(reply, Role::kSender));
  return -1;
}

// Ready, as a receiver that then waits; "abort" ends it.
void SayReady(std::int64_t id) {
  Reply reply;
  reply.id = id;
  reply.ready_port = 7001;
  Say(EncodeReply(reply, Role::kReceiver));
}

// The exit code, or -1 to go on. `trials`: how many were asked for before.
int Answer(const Request& asked, const std::string& mode, int& trials) {
  if (asked.verb == "clock") return TellTime(asked.id, mode);
  if (asked.verb == "trial" && (++trials > 1 || !TakesOneTrial(mode)))
    return Misbehave(asked.id, mode);
  if (asked.verb == "trial") SayReady(asked.id);
  if (asked.verb == "hello") SayReply(asked.id, mode);
  Reply reply;
  reply.id = asked.id;
  if (asked.verb == "facts") reply.facts.emplace();
  if (asked.verb == "abort") reply.error = "aborted";
  if (asked.verb == "capture") reply.error = "this host has no eyes";
  if (reply.facts || reply.error) Say(EncodeReply(reply, Role::kSender));
  return -1;
}

int Main(const std::string& mode) {
  if (mode == "never-greets") Hang();
  int trials = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = DecodeRequest(line);
    if (!request.has_value()) return 3;
    const int code = Answer(request.value(), mode, trials);
    if (code >= 0) return code;
  }
  return 0;
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  return wiretoll::Main(argc > 1 ? argv[1] : "");
}
