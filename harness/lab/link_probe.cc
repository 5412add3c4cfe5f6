// The two ends of a measurement of a line, each a process in its host.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/lab/commands.h"
#include "harness/lab/link_check.h"
#include "platform/clock.h"
#include "platform/datagram.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

// Of a lab's hosts before anybody else is in them.
constexpr std::uint16_t kProbePort = 7098;
constexpr std::size_t kNumberBytes = 8;
constexpr int kMostNumbers = 4'000'000;
// A saturating source looks at the clock this often.
constexpr std::int64_t kLook = 16;

// What the sink asks for, as text in one datagram.
struct BurstRequest {
  std::int64_t payload = 0;
  std::int64_t count = 0;
  std::int64_t per_second = 0;  // 0: as fast as the line takes it.
  std::int64_t most_ms = 0;     // No longer than that.
};

std::string Spell(const BurstRequest& request) {
  return fmt::format("burst {} {} {} {}", request.payload, request.count,
                     request.per_second, request.most_ms);
}

std::optional<BurstRequest> ReadRequest(const std::string& text) {
  std::istringstream words(text);
  std::string verb;
  BurstRequest request;
  words >> verb >> request.payload >> request.count >> request.per_second >>
      request.most_ms;
  const bool sane =
      request.payload >= static_cast<std::int64_t>(kNumberBytes) &&
      request.payload <= kMostDatagramBytes && request.count > 0 &&
      request.count <= kMostNumbers && request.most_ms > 0 &&
      request.most_ms <= 10'000;
  if (!words || verb != "burst" || !sane) return std::nullopt;
  return request;
}

void PutNumber(std::int64_t number, std::vector<std::byte>& datagram) {
  std::memcpy(datagram.data(), &number, kNumberBytes);  // To this machine.
}

Outcome<Socket> OpenProbe(const std::string& from, const std::string& to) {
  Result<Socket> socket = OpenUdp(from, {kProbePort, kProbePort});
  if (!socket.has_value())
    return NothingRan(from + ": " + socket.error().message());
  const Result<Done> connected =
      socket.value().Connect({to, kProbePort}, milliseconds(1000));
  if (!connected.has_value())
    return NothingRan(to + ": " + connected.error().message());
  return std::move(socket).value();
}

// A datagram as text; empty if none came in time, or what came was an error.
std::string ReceiveText(Socket& socket) {
  std::array<std::byte, 2048> buffer{};
  const Result<Datagram> got = ReceiveDatagram(socket, buffer);
  if (!got.has_value()) return {};
  return {reinterpret_cast<const char*>(buffer.data()),
          static_cast<std::size_t>(got.value().kept.count)};
}

std::optional<BurstRequest> AwaitRequest(Socket& socket,
                                         milliseconds patience) {
  const SteadyTime until = MonotonicNow() + patience;
  while (MonotonicNow() < until) {
    if (!SetReceiveTimeout(socket, milliseconds(50)).has_value()) break;
    if (auto request = ReadRequest(ReceiveText(socket))) return request;
  }
  return std::nullopt;
}

void SendBurst(Socket& socket, const BurstRequest& request) {
  std::vector<std::byte> datagram(static_cast<std::size_t>(request.payload));
  const SteadyTime start = MonotonicNow();
  const SteadyTime until = start + milliseconds(request.most_ms);
  for (std::int64_t number = 0; number < request.count; ++number) {
    if (request.per_second > 0) {
      // Once a millisecond, all that is due by then: sleeps instead of spins.
      const Nanoseconds due{number * 1'000'000'000 / request.per_second};
      WaitUntil(start + std::chrono::floor<milliseconds>(due));
    }
    if (number % kLook == 0 && MonotonicNow() > until) return;
    PutNumber(number, datagram);
    (void)socket.Send(datagram);  // What is not sent is missed over there.
  }
}

// What came, in order of arrival.
struct Arrival {
  std::int64_t number;
  SteadyTime at;
};

struct SinkOrder {
  BurstRequest request;
  std::int64_t skip = 0;     // The rate is that from this number on.
  milliseconds patience{0};  // For the first datagram.
  milliseconds quiet{0};     // After it: this long without one is the end.
};

constexpr std::int64_t kSilence = -1;
constexpr std::int64_t kSomethingElse = -2;

// The number of a datagram of ours. An error that is not silence is the answer
// to a request that came when the source had ended.
std::int64_t ReceiveNumber(Socket& socket, std::vector<std::byte>& buffer) {
  const Result<Datagram> got = ReceiveDatagram(socket, buffer);
  if (got.error() == boost::system::errc::operation_would_block)
    return kSilence;
  if (!got.has_value() ||
      got.value().kept.count < static_cast<std::int64_t>(kNumberBytes))
    return kSomethingElse;
  std::int64_t number = 0;
  std::memcpy(&number, buffer.data(), kNumberBytes);
  return number >= 0 && number < kMostNumbers ? number : kSomethingElse;
}

// Asks again and again: the line may lose what asks.
std::optional<Arrival> AwaitFirst(Socket& socket, const SinkOrder& order,
                                  std::vector<std::byte>& buffer) {
  const std::string text = Spell(order.request);
  const SteadyTime until = MonotonicNow() + order.patience;
  (void)SetReceiveTimeout(socket, milliseconds(10));
  while (MonotonicNow() < until) {
    (void)socket.Send(std::as_bytes(std::span(text)));
    const std::int64_t number = ReceiveNumber(socket, buffer);
    if (number >= 0) return Arrival{number, MonotonicNow()};
  }
  return std::nullopt;
}

std::vector<Arrival> Collect(Socket& socket, const SinkOrder& order) {
  std::vector<std::byte> buffer(
      static_cast<std::size_t>(order.request.payload) + 1);
  std::vector<Arrival> arrivals;
  if (const auto first = AwaitFirst(socket, order, buffer))
    arrivals.push_back(*first);
  if (arrivals.empty()) return arrivals;
  (void)SetReceiveTimeout(socket, order.quiet);
  // However a line may repeat what was sent.
  const SteadyTime until = MonotonicNow() + order.patience +
                           2 * milliseconds(order.request.most_ms) +
                           2 * order.quiet;
  while (MonotonicNow() < until) {
    const std::int64_t number = ReceiveNumber(socket, buffer);
    if (number == kSilence) break;
    if (number >= 0) arrivals.push_back({number, MonotonicNow()});
  }
  return arrivals;
}

ShareCount CountShares(const std::vector<Arrival>& arrivals,
                       std::int64_t sent) {
  ShareCount count;
  count.sent = sent;
  std::vector<bool> seen(kMostNumbers);
  for (const Arrival& arrival : arrivals) {
    const auto index = static_cast<std::size_t>(arrival.number);
    seen[index] ? ++count.twice : ++count.came;
    seen[index] = true;
  }
  // From the end: what came later than each.
  std::int64_t least_later = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = arrivals.size(); i-- > 0;) {
    if (arrivals[i].number > least_later) ++count.ahead;
    least_later = std::min(least_later, arrivals[i].number);
  }
  return count;
}

// From the first arrival that is past the shaper's credit to the last: numbers
// and not arrivals, so that a loss behind the shaper does not slow it.
void PrintPace(const std::vector<Arrival>& arrivals, std::int64_t skip) {
  const auto first =
      std::find_if(arrivals.begin(), arrivals.end(),
                   [&](const Arrival& one) { return one.number >= skip; });
  if (first == arrivals.end()) {
    fmt::print("0 0\n");
    return;
  }
  const Arrival& last = arrivals.back();
  const Nanoseconds took = last.at - first->at;
  fmt::print("{} {}\n", last.number - first->number, took.count());
}

std::optional<SinkOrder> ReadOrder(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t word = 3; word < words.size(); ++word)
    text += words[word] + " ";
  std::istringstream numbers(text);
  SinkOrder order;
  std::int64_t patience_ms = 0;
  std::int64_t quiet_ms = 0;
  BurstRequest& request = order.request;
  numbers >> request.payload >> request.count >> request.per_second >>
      request.most_ms >> order.skip >> patience_ms >> quiet_ms;
  order.patience = milliseconds(patience_ms);
  order.quiet = milliseconds(std::max<std::int64_t>(quiet_ms, 1));
  if (!numbers || !ReadRequest(Spell(request))) return std::nullopt;
  return order;
}

Failure OwnUse(const std::string& usage) {
  return {ExitCode::kUsage, usage + " is for a lab's own use"};
}

}  // namespace

Outcome<Done> BurstSourceVerb(const std::vector<std::string>& words) {
  if (words.size() != 4) return OwnUse("lab-source FROM TO PATIENCE_MS");
  Outcome<Socket> socket = OpenProbe(words[1], words[2]);
  if (!socket.has_value()) return socket.error();
  fmt::print("ready\n");
  std::fflush(stdout);
  const auto request =
      AwaitRequest(socket.value(),
                   milliseconds(std::strtoll(words[3].c_str(), nullptr, 10)));
  if (request) SendBurst(socket.value(), *request);
  return Done{};
}

Outcome<Done> BurstSinkVerb(const std::vector<std::string>& words) {
  const std::optional<SinkOrder> order =
      words.size() == 10 ? ReadOrder(words) : std::nullopt;
  if (!order) {
    return OwnUse(
        "lab-sink FROM TO PAYLOAD COUNT PER_SECOND MOST_MS SKIP PATIENCE_MS "
        "QUIET_MS");
  }
  Outcome<Socket> socket = OpenProbe(words[1], words[2]);
  if (!socket.has_value()) return socket.error();
  const std::vector<Arrival> arrivals = Collect(socket.value(), *order);
  const ShareCount count = CountShares(arrivals, order->request.count);
  const UdpCounters counters = ReadUdpCounters(socket.value());
  fmt::print("{} {} {} {}\n", count.came, count.twice, count.ahead,
             counters.receive_buffer_drops.value_or(0));
  PrintPace(arrivals, order->skip);
  return Done{};
}

}  // namespace wiretoll
