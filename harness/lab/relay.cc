// What a lab starts in a process of its own, inside one of its namespaces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/lab.h"
#include "harness/lab/wine.h"
#include "platform/clock.h"
#include "platform/socket.h"
#include "platform/tap.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

// 9000 bytes of MTU, Ethernet header and two VLAN tags fit.
constexpr std::size_t kMostFrame = 9216;
constexpr std::int64_t kMostQueued = 64 << 20;
// Frames taken from one side before the other gets its turn.
constexpr int kTurn = 32;

// Independent of the standard library at hand, so that a seed means the same
// losses everywhere.
class Lossy {
 public:
  Lossy(double fraction, std::uint64_t seed)
      : fraction_(fraction), random_(seed) {}
  bool LosesNext() {
    if (fraction_ <= 0) return false;
    return static_cast<double>(random_() >> 11) * 0x1p-53 < fraction_;
  }

 private:
  double fraction_;
  std::mt19937_64 random_;
};

struct Frame {
  SteadyTime due;
  std::vector<std::byte> bytes;
};

// One direction. A fixed delay makes the order of arrival the order of due
// times, so a plain queue is sorted and nothing is ever reordered.
class Direction {
 public:
  Direction(Tap& from, Tap& to, const RelaySpec& spec, std::uint64_t stream)
      : from_(from),
        to_(to),
        delay_(spec.delay),
        loss_(spec.loss, spec.seed * 2 + stream) {}

  void TakeIn() {
    for (int taken = 0; taken < kTurn; ++taken) {
      const Result<Bytes> read = from_.Read(buffer_);
      if (!read.has_value() || read.value().count == 0) return;
      if (loss_.LosesNext()) continue;
      if (queued_ + read.value().count > kMostQueued) {
        ++overflowed_;
        continue;
      }
      queued_ += read.value().count;
      queue_.push_back(
          {MonotonicNow() + delay_,
           {buffer_.begin(), buffer_.begin() + read.value().count}});
    }
  }

  void LetOut() {
    while (!queue_.empty() && queue_.front().due <= MonotonicNow()) {
      const std::vector<std::byte>& frame = queue_.front().bytes;
      if (!to_.Write(frame).has_value()) ++refused_;
      queued_ -= static_cast<std::int64_t>(frame.size());
      queue_.pop_front();
    }
  }

  SteadyTime NextDue(SteadyTime latest) const {
    return queue_.empty() ? latest : std::min(latest, queue_.front().due);
  }

  void ReportDrops(const std::string& name) const {
    if (overflowed_ + refused_ == 0) return;
    fmt::print(stderr,
               "lab-relay: from {}: {} frames dropped with {} MiB queued, {} "
               "refused by the interface\n",
               name, overflowed_, kMostQueued >> 20, refused_);
  }

 private:
  Tap& from_;
  Tap& to_;
  Nanoseconds delay_;
  Lossy loss_;
  std::array<std::byte, kMostFrame> buffer_;
  std::deque<Frame> queue_;
  std::int64_t queued_ = 0;
  std::int64_t overflowed_ = 0;
  std::int64_t refused_ = 0;
};

Outcome<Tap> MakeTap(const std::string& name) {
  Result<Tap> tap = Tap::Create(name);
  if (tap.has_value()) return std::move(tap.value());
  return NothingRan(fmt::format(
      "TAP {}: {}; the delay line needs /dev/net/tun and the right to make "
      "interfaces",
      name, tap.error().message()));
}

// Numbers are written by Lab and nobody else, so one message serves.
template <class Number>
bool Parse(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

Failure NotForPeople(const std::string& usage) {
  return {ExitCode::kUsage, usage + " is for a lab's own use"};
}

bool ReadOption(const std::string& name, const std::string& value,
                RelaySpec& spec) {
  if (name == "--tap-a") return !(spec.tap_a = value).empty();
  if (name == "--tap-b") return !(spec.tap_b = value).empty();
  if (name == "--loss") return Parse(value, spec.loss);
  if (name == "--seed") return Parse(value, spec.seed);
  std::int64_t delay = 0;
  if (name != "--delay-ns" || !Parse(value, delay)) return false;
  spec.delay = Nanoseconds{delay};
  return true;
}

Outcome<Done> RelayVerb(const std::vector<std::string>& words) {
  RelaySpec spec;
  for (std::size_t name = 1; name < words.size(); name += 2) {
    if (name + 1 == words.size() ||
        !ReadOption(words[name], words[name + 1], spec)) {
      return NotForPeople(
          "lab-relay --tap-a NAME --tap-b NAME --delay-ns N --loss FRACTION "
          "--seed N");
    }
  }
  return RunRelay(spec);
}

// A connection attempt to a port where nobody listens is answered by a reset:
// one round trip, and any host answers without a program of ours. Shorter than
// a second beyond the delay, so that no repeated SYN is ever measured.
Outcome<Done> PrintRoundTrip(const std::string& from, const Endpoint& to,
                             milliseconds timeout) {
  Result<Socket> socket = OpenTcp(from, {});
  if (!socket.has_value())
    return NothingRan(from + ": " + socket.error().message());
  const SteadyTime start = MonotonicNow();
  const Result<Done> connected = socket.value().Connect(to, timeout);
  const Nanoseconds elapsed = MonotonicNow() - start;
  if (connected.error() == boost::system::errc::connection_refused) {
    fmt::print("{}\n", elapsed.count());
  }
  return Done{};
}

Outcome<Done> RoundTripVerb(const std::vector<std::string>& words) {
  constexpr std::uint16_t kDiscard = 9;  // RFC 863; nobody serves it here.
  std::int64_t asked = 0;
  int count = 0;
  if (words.size() != 5 || !Parse(words[3], asked) || !Parse(words[4], count)) {
    return NotForPeople("lab-rtt FROM TO ASKED_NS COUNT");
  }
  const milliseconds timeout =
      std::chrono::ceil<milliseconds>(Nanoseconds{asked}) + milliseconds(500);
  for (int ping = 0; ping < count; ++ping) {
    Outcome<Done> done =
        PrintRoundTrip(words[1], {words[2], kDiscard}, timeout);
    if (!done.has_value()) return done;
  }
  return Done{};
}

}  // namespace

Outcome<Done> RunRelay(const RelaySpec& spec) {
  Outcome<Tap> a = MakeTap(spec.tap_a);
  if (!a.has_value()) return a.error();
  Outcome<Tap> b = MakeTap(spec.tap_b);
  if (!b.has_value()) return b.error();
  fmt::print("ready\n");
  std::fflush(stdout);

  const FineTimers fine;
  Direction there(a.value(), b.value(), spec, 0);
  Direction back(b.value(), a.value(), spec, 1);
  const auto next_due = [&] {
    return back.NextDue(
        there.NextDue(MonotonicNow() + std::chrono::seconds(1)));
  };
  while (WaitReadable(a.value(), b.value(), next_due())) {
    there.LetOut();
    back.LetOut();
    there.TakeIn();
    back.TakeIn();
  }
  there.ReportDrops(spec.tap_a);
  back.ReportDrops(spec.tap_b);
  return Done{};
}

std::optional<ExitCode> RunLabHelper(
    const std::vector<std::string>& arguments) {
  const std::string_view verb =
      arguments.empty() ? std::string_view() : arguments.front();
  using Verb = Outcome<Done> (*)(const std::vector<std::string>&);
  static constexpr std::array<std::pair<std::string_view, Verb>, 3> kVerbs{
      {{"lab-relay", &RelayVerb},
       {"lab-rtt", &RoundTripVerb},
       {"lab-wine", &WineVerb}}};
  const auto found =
      std::find_if(kVerbs.begin(), kVerbs.end(),
                   [&](const auto& one) { return one.first == verb; });
  if (found == kVerbs.end()) return std::nullopt;
  Outcome<Done> done = found->second(arguments);
  if (done.has_value()) return ExitCode::kDone;
  fmt::print(stderr, "{}: {}\n", verb, done.error().message);
  return done.error().code;
}

}  // namespace wiretoll
