// What a lab starts in a process of its own, inside one of its namespaces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/delay_line.h"
#include "harness/lab/guest.h"
#include "harness/lab/lab.h"
#include "harness/lab/link_check.h"
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

struct Frame {
  SteadyTime due;
  std::int64_t number = 0;  // In order of arrival.
  std::vector<std::byte> bytes;
};

// For a heap whose top is due first; equal ones in order of arrival.
bool IsDueLater(const Frame& a, const Frame& b) {
  return a.due != b.due ? a.due > b.due : a.number > b.number;
}

struct Tally {
  std::int64_t frames = 0;
  std::int64_t lost = 0;
  std::int64_t duplicated = 0;
  std::int64_t ahead = 0;
  std::int64_t overtaken = 0;   // Left after one that had come later.
  std::int64_t overflowed = 0;  // No room; no mishap that was asked for.
  std::int64_t refused = 0;     // By the interface, likewise.
};

// One direction.
class Direction {
 public:
  Direction(Tap& from, Tap& to, const RelaySpec& spec, std::uint64_t stream)
      : from_(from), to_(to), fates_(spec.link, spec.seed, stream) {}

  void TakeIn() {
    for (int taken = 0; taken < kTurn; ++taken) {
      const Result<Bytes> read = from_.Read(buffer_);
      if (!read.has_value() || read.value().count == 0) return;
      Decide({buffer_.data(), static_cast<std::size_t>(read.value().count)});
    }
  }

  void LetOut() {
    while (!queue_.empty() && queue_.front().due <= MonotonicNow()) {
      std::pop_heap(queue_.begin(), queue_.end(), IsDueLater);
      const Frame& frame = queue_.back();
      if (!to_.Write(frame.bytes).has_value()) ++tally_.refused;
      if (frame.number < newest_out_) ++tally_.overtaken;
      newest_out_ = std::max(newest_out_, frame.number);
      queued_ -= static_cast<std::int64_t>(frame.bytes.size());
      queue_.pop_back();
    }
  }

  SteadyTime NextDue(SteadyTime latest) const {
    return queue_.empty() ? latest : std::min(latest, queue_.front().due);
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void Decide(std::span<const std::byte> bytes) {
    ++tally_.frames;
    const FrameFate fate = fates_.Next();
    if (fate.lost) {
      ++tally_.lost;
      return;
    }
    const SteadyTime due = MonotonicNow() + fate.delay;
    if (fate.ahead) ++tally_.ahead;
    Queue(due, bytes);
    if (!fate.duplicated) return;
    ++tally_.duplicated;
    Queue(due, bytes);
  }

  void Queue(SteadyTime due, std::span<const std::byte> bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (queued_ + size > kMostQueued) {
      ++tally_.overflowed;
      return;
    }
    queued_ += size;
    queue_.push_back({due, tally_.frames, {bytes.begin(), bytes.end()}});
    std::push_heap(queue_.begin(), queue_.end(), IsDueLater);
  }

  Tap& from_;
  Tap& to_;
  FrameFates fates_;
  std::array<std::byte, kMostFrame> buffer_;
  std::vector<Frame> queue_;  // A heap by IsDueLater().
  std::int64_t queued_ = 0;   // Bytes.
  std::int64_t newest_out_ = 0;
  Tally tally_;
};

// Silent where a plain delay dropped nothing.
void TellWhatWasDone(const std::string& name, const Tally& tally) {
  if (tally.lost + tally.duplicated + tally.overtaken > 0) {
    fmt::print(stderr,
               "lab-relay: from {}: of {} frames {} lost, {} duplicated, {} "
               "sent ahead; {} were overtaken\n",
               name, tally.frames, tally.lost, tally.duplicated, tally.ahead,
               tally.overtaken);
  }
  if (tally.overflowed + tally.refused > 0) {
    fmt::print(stderr,
               "lab-relay: from {}: {} frames dropped with {} MiB queued, {} "
               "refused by the interface\n",
               name, tally.overflowed, kMostQueued >> 20, tally.refused);
  }
}

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

bool ReadTime(const std::string& text, Nanoseconds& time) {
  std::int64_t count = 0;
  if (!Parse(text, count)) return false;
  time = Nanoseconds{count};
  return true;
}

bool ReadOption(const std::string& name, const std::string& value,
                RelaySpec& spec) {
  if (name == "--tap-a") return !(spec.tap_a = value).empty();
  if (name == "--tap-b") return !(spec.tap_b = value).empty();
  if (name == "--loss") return Parse(value, spec.link.loss);
  if (name == "--duplicate") return Parse(value, spec.link.duplicate);
  if (name == "--reorder") return Parse(value, spec.link.reorder);
  if (name == "--seed") return Parse(value, spec.seed);
  if (name == "--delay-ns") return ReadTime(value, spec.link.delay);
  return name == "--jitter-ns" && ReadTime(value, spec.link.jitter);
}

Outcome<Done> RelayVerb(const std::vector<std::string>& words) {
  RelaySpec spec;
  for (std::size_t name = 1; name < words.size(); name += 2) {
    if (name + 1 == words.size() ||
        !ReadOption(words[name], words[name + 1], spec)) {
      return NotForPeople(
          "lab-relay --tap-a NAME --tap-b NAME --delay-ns N --jitter-ns N "
          "--loss FRACTION --duplicate FRACTION --reorder FRACTION --seed N");
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
  TellWhatWasDone(spec.tap_a, there.tally());
  TellWhatWasDone(spec.tap_b, back.tally());
  return Done{};
}

std::optional<ExitCode> RunLabHelper(
    const std::vector<std::string>& arguments) {
  const std::string_view verb =
      arguments.empty() ? std::string_view() : arguments.front();
  using Verb = Outcome<Done> (*)(const std::vector<std::string>&);
  static constexpr std::array<std::pair<std::string_view, Verb>, 7> kVerbs{
      {{"lab-relay", &RelayVerb},
       {"lab-rtt", &RoundTripVerb},
       {"lab-source", &BurstSourceVerb},
       {"lab-sink", &BurstSinkVerb},
       {"lab-wine", &WineVerb},
       {"lab-guest", &GuestVerb},
       {"lab-guest-port", &GuestPortVerb}}};
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
