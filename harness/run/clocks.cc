#include "harness/run/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Coordinator = std::chrono::steady_clock;

constexpr int kExchanges = 5;
constexpr auto kClockPatience = 2s;  // For one answer.

Outcome<ClockExchange> AskClock(boost::asio::io_context& io, AgentLink& link,
                                const std::function<bool()>& cancel) {
  Request request;
  request.verb = "clock";
  ClockExchange exchange;
  const auto asked = Coordinator::now();
  auto reply =
      Ask(io, link, std::move(request), asked + kClockPatience, cancel);
  const auto answered = Coordinator::now();
  if (!reply.has_value()) return reply.error();
  if (!reply.value().clock) {
    return Failure{ExitCode::kNothingRan, "the agent told no time"};
  }
  exchange.asked = asked.time_since_epoch();
  exchange.answered = answered.time_since_epoch();
  exchange.reading = *reply.value().clock;
  return exchange;
}

// Adds exchanges until there are kExchanges. What went wrong; empty: nothing.
std::string AskOn(boost::asio::io_context& io, AgentLink& link,
                  const std::function<bool()>& cancel,
                  std::vector<ClockExchange>& exchanges) {
  while (exchanges.size() < kExchanges) {
    auto exchange = AskClock(io, link, cancel);
    if (!exchange.has_value()) return exchange.error().message;
    exchanges.push_back(std::move(exchange).value());
  }
  return {};
}

Failure CannotTell(const char* role, const std::string& why) {
  return {ExitCode::kNothingRan,
          fmt::format("the {}'s clock is not known: {}", role, why)};
}

}  // namespace

ClockOffsetSeen TightestOffset(const std::vector<ClockExchange>& exchanges) {
  const auto tightest = std::min_element(
      exchanges.begin(), exchanges.end(), [](const auto& a, const auto& b) {
        return a.answered - a.asked < b.answered - b.asked;
      });
  const Nanoseconds round = tightest->answered - tightest->asked;
  const Nanoseconds middle = tightest->asked + round / 2;
  // Rounded up, so that the truth lies within.
  return {tightest->reading.monotonic - middle, (round + 1ns) / 2};
}

SenderClock Between(const ClockOffsetSeen& sender,
                    const ClockOffsetSeen& receiver) {
  return {sender.offset - receiver.offset, sender.error + receiver.error};
}

Outcome<SenderClock> CompareClocks(boost::asio::io_context& io,
                                   AgentLink& sender, AgentLink& receiver,
                                   const std::function<bool()>& cancel) {
  auto first = AskClock(io, sender, cancel);
  if (!first.has_value()) return CannotTell("sender", first.error().message);
  auto second = AskClock(io, receiver, cancel);
  if (!second.has_value()) {
    return CannotTell("receiver", second.error().message);
  }
  const std::string& identity = first.value().reading.identity;
  if (!identity.empty() && identity == second.value().reading.identity) {
    return SenderClock{};
  }
  std::vector<ClockExchange> senders{first.value()};
  std::vector<ClockExchange> receivers{second.value()};
  if (auto why = AskOn(io, sender, cancel, senders); !why.empty()) {
    return CannotTell("sender", why);
  }
  if (auto why = AskOn(io, receiver, cancel, receivers); !why.empty()) {
    return CannotTell("receiver", why);
  }
  return Between(TightestOffset(senders), TightestOffset(receivers));
}

}  // namespace wiretoll
