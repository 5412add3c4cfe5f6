#include "harness/run/crew.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "harness/base/version.h"
#include "harness/base/words.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// ssh to a sleepy virtual machine takes its time; a local agent a few
// milliseconds.
constexpr auto kTimeToStart = 20s;
constexpr auto kTimeForFacts = 10s;
constexpr int kStartsBeforeGivingUp = 3;

// Figures of two versions do not mean the same thing.
std::string VersionTrouble(const Hello& hello) {
  if (hello.version == kVersion) return {};
  return fmt::format(
      "its agent is version {}, this wiretoll is {}: copy the wiretoll-agent "
      "of this version to the host",
      hello.version, kVersion);
}

// A word of a command, so that it can be typed again and cannot harm.
std::string CommandWord(const std::string& word) {
  const bool plain =
      !word.empty() &&
      std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("@%+=:,./_-").find(static_cast<char>(c)) !=
                   std::string_view::npos;
      });
  return plain ? word : QuoteBytes(word, 200);
}

// What to do about a host whose agent did not come up.
std::string HowToTry(const Host& host, const std::string& said) {
  // A hosts file outlives its lab.
  if (said.find("Cannot open network namespace \"wiretoll-") !=
      std::string::npos) {
    return "; its lab no longer stands: `wiretoll lab up > FILE` makes one, "
           "with "
           "a hosts file of its own";
  }
  std::vector<std::string> words;
  for (const std::string& word : host.agent) words.push_back(CommandWord(word));
  return fmt::format(
      "; its command must start wiretoll-agent, which this would show: {} "
      "--version",
      fmt::join(words, " "));
}

}  // namespace

Crew::Crew(boost::asio::io_context& io, const std::vector<Host>& hosts,
           HandleGuard guard, std::function<bool()> cancelled, Waiting waiting)
    : io_(io),
      guard_(std::move(guard)),
      cancelled_(std::move(cancelled)),
      waiting_(std::move(waiting)) {
  for (const Host& host : hosts) {
    order_.push_back(host.name);
    members_[host.name].host = host;
  }
}

Outcome<Reply> Crew::AskMember(Member& member, Request request,
                               std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  if (waiting_.begins)
    waiting_.begins(fmt::format("the agent of host {}", member.host.name),
                    until);
  auto reply = Ask(io_, *member.link, std::move(request), until, cancelled_);
  if (waiting_.ends) waiting_.ends();
  return reply;
}

Outcome<Hello> Crew::Start(Member& member) {
  member.link = std::make_unique<AgentLink>(io_, member.host.agent, guard_);
  Request request;
  request.verb = "hello";
  auto reply = AskMember(member, std::move(request), kTimeToStart);
  std::string trouble;
  if (!reply.has_value()) {
    trouble =
        reply.error().message + HowToTry(member.host, reply.error().message);
  } else if (!reply.value().hello) {
    trouble = "the agent's greeting holds no version";
  } else {
    member.greeting = reply.value().hello;
    trouble = VersionTrouble(*member.greeting);
  }
  if (trouble.empty()) {
    member.failed_starts = 0;
    member.trouble.clear();
    return *reply.value().hello;
  }
  ++member.failed_starts;
  member.trouble = trouble;
  member.link.reset();
  return Failure{ExitCode::kNothingRan, trouble};
}

RecordedHost Crew::Introduce(Member& member) {
  RecordedHost recorded;
  recorded.name = member.host.name;
  recorded.address = member.host.address;
  recorded.agent = member.host.agent;
  const auto hello = Start(member);
  if (!hello.has_value()) return recorded;
  recorded.os = hello.value().os;
  recorded.stack = hello.value().stack;
  recorded.description = hello.value().description;
  recorded.agent_version = hello.value().version;
  Request request;
  request.verb = "facts";
  request.address = member.host.address;
  const auto reply = AskMember(member, std::move(request), kTimeForFacts);
  if (reply.has_value() && reply.value().facts) {
    recorded.facts = *reply.value().facts;
  }
  return recorded;
}

std::vector<RecordedHost> Crew::Muster() {
  std::vector<RecordedHost> recorded;
  for (const std::string& name : order_) {
    if (cancelled_ && cancelled_()) break;
    recorded.push_back(Introduce(members_.at(name)));
  }
  return recorded;
}

AgentLink* Crew::Get(const std::string& name) {
  Member& member = members_.at(name);
  if (member.link && member.link->alive()) return member.link.get();
  if (member.failed_starts >= kStartsBeforeGivingUp) return nullptr;
  if (!Start(member).has_value()) return nullptr;
  return member.link.get();
}

const Host& Crew::host(const std::string& name) const {
  return members_.at(name).host;
}

const std::string& Crew::trouble(const std::string& name) const {
  return members_.at(name).trouble;
}

const std::optional<Hello>& Crew::greeting(const std::string& name) const {
  return members_.at(name).greeting;
}

}  // namespace wiretoll
