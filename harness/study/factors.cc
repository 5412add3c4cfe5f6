#include "harness/study/factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "harness/base/units.h"
#include "harness/study/reading.h"

namespace wiretoll {
namespace {

using std::string_view;

std::optional<std::int64_t> ReadInteger(string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<double> NoMeasures(const FactorValue&) { return {}; }

std::vector<double> Itself(const FactorValue& value) {
  return {static_cast<double>(std::get<std::int64_t>(value))};
}

std::string SpellPlain(std::int64_t bound) { return std::to_string(bound); }

// Sizes: an integer is bytes, a text may carry a unit.

std::optional<FactorValue> ReadSize(const FactorValue& raw) {
  if (std::holds_alternative<std::int64_t>(raw)) return raw;
  const std::string& text = std::get<std::string>(raw);
  const std::optional<Bytes> size = ParseBytes(text);
  if (!size.has_value()) return std::nullopt;
  return size->count;
}

std::string SpellSizeBound(std::int64_t bound) {
  if (bound == 1) return "1 byte";
  if (bound % 1024 == 0) return FormatBytes(Bytes{bound});
  return fmt::format("{} bytes", bound);
}

constexpr ValueKind kSize{"size", "from {0} to {1}", ReadSize, Itself,
                          SpellSizeBound};

// Counts.

std::optional<FactorValue> ReadCount(const FactorValue& raw) {
  if (std::holds_alternative<std::int64_t>(raw)) return raw;
  const auto count = ReadInteger(std::get<std::string>(raw));
  if (!count.has_value()) return std::nullopt;
  return *count;
}

constexpr ValueKind kCount{"count", "from {0} to {1}", ReadCount, Itself,
                           SpellPlain};

// Durations carry their unit; a bare 0 needs none.

std::optional<FactorValue> ReadDuration(const FactorValue& raw) {
  const auto duration = ParseDuration(SpellFactor(raw));
  if (!duration.has_value()) return std::nullopt;
  return SpellDuration(*duration);
}

std::vector<double> DurationMeasures(const FactorValue& value) {
  const auto duration = ParseDuration(std::get<std::string>(value));
  return {static_cast<double>(duration.value_or(Nanoseconds{0}).count())};
}

std::string SpellDurationBound(std::int64_t bound) {
  return SpellDuration(Nanoseconds{bound});
}

constexpr ValueKind kDuration{
    "duration", "from {0} to {1}, with its unit, such as \"20us\"",
    ReadDuration, DurationMeasures, SpellDurationBound};

// Rates.

// In the largest unit that leaves a whole number.
std::string SpellRate(double bits) {
  constexpr std::array<std::pair<double, string_view>, 3> kUnits{
      {{1e9, "gbit"}, {1e6, "mbit"}, {1e3, "kbit"}}};
  for (const auto& [scale, unit] : kUnits) {
    const double count = bits / scale;
    if (count >= 1 && count == std::floor(count)) {
      return fmt::format("{:.0f}{}", count, unit);
    }
  }
  return fmt::format("{}bit", bits);
}

std::optional<FactorValue> ReadRate(const FactorValue& raw) {
  const auto rate = ParseRate(SpellFactor(raw));
  if (!rate.has_value()) return std::nullopt;
  return SpellRate(rate->value);
}

std::vector<double> RateMeasures(const FactorValue& value) {
  return {
      ParseRate(std::get<std::string>(value)).value_or(BitsPerSecond{}).value};
}

std::string SpellRateBound(std::int64_t bound) {
  return SpellRate(static_cast<double>(bound));
}

constexpr ValueKind kRate{"rate",
                          "from {0} to {1}, with its unit, such as \"10mbit\"",
                          ReadRate, RateMeasures, SpellRateBound};

// Names of congestion controls: whatever the host knows, so that only what
// could never be one is refused.

std::optional<FactorValue> ReadName(const FactorValue& raw) {
  constexpr std::size_t kLongest = 15;  // TCP_CA_NAME_MAX less its zero.
  const std::string name = SpellFactor(raw);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  if (!std::ranges::all_of(name, fits)) return std::nullopt;
  return name;
}

constexpr ValueKind kName{
    "name", "a name of 1 to 15 characters: a to z, 0 to 9, _ and -", ReadName,
    NoMeasures, SpellPlain};

// Lists of writes: "9+4+4+4".

constexpr std::size_t kMostWrites = 64;

std::optional<FactorValue> ReadWrites(const FactorValue& raw) {
  const std::string text = SpellFactor(raw);
  const std::vector<string_view> parts = Split(text, '+');
  if (parts.size() > kMostWrites) return std::nullopt;
  std::string canonical;
  for (const string_view part : parts) {
    // An integer of TOML may be negative: that is for the bounds to refuse.
    auto size = ReadInteger(part);
    if (const auto spelled = ParseBytes(part)) size = spelled->count;
    if (!size.has_value()) return std::nullopt;
    canonical += fmt::format("{}{}", canonical.empty() ? "" : "+", *size);
  }
  return canonical;
}

// Of canonical lists: of writes and of CPUs.
template <char separator>
std::vector<double> ListMeasures(const FactorValue& value) {
  std::vector<double> numbers;
  for (const string_view part :
       Split(std::get<std::string>(value), separator)) {
    numbers.push_back(static_cast<double>(ReadInteger(part).value_or(0)));
  }
  return numbers;
}

constexpr ValueKind kWrites{
    "list of writes",
    "up to 64 writes joined by +, such as \"1+1\", each from {0} to {1}",
    ReadWrites, ListMeasures<'+'>, SpellSizeBound};

// CPUs: "0" for both ends, "0,1" for the sender's and the receiver's.

std::optional<FactorValue> ReadCpus(const FactorValue& raw) {
  const std::string text = SpellFactor(raw);
  const std::vector<string_view> parts = Split(text, ',');
  if (parts.size() > 2) return std::nullopt;
  std::string canonical;
  for (const string_view part : parts) {
    const auto cpu = ReadInteger(part);
    if (!cpu.has_value()) return std::nullopt;
    canonical += fmt::format("{}{}", canonical.empty() ? "" : ",", *cpu);
  }
  return canonical;
}

constexpr ValueKind kCpus{
    "choice of CPUs",
    "\"0\" for both ends or \"0,1\" for sender and receiver, each from {0} to "
    "{1}",
    ReadCpus, ListMeasures<','>, SpellPlain};

// What the rows' setters have in common.

bool Is(const FactorValue& value, string_view word) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && *text == word;
}

Bytes Size(const FactorValue& value) {
  return Bytes{std::get<std::int64_t>(value)};
}

std::optional<Bytes> SizeIfSet(const FactorValue& value) {
  if (Is(value, "unset")) return std::nullopt;
  return Size(value);
}

std::vector<Bytes> Writes(const FactorValue& value) {
  std::vector<Bytes> writes;
  for (const double size : ListMeasures<'+'>(value)) {
    writes.push_back(Bytes{static_cast<std::int64_t>(size)});
  }
  return writes;
}

void SetRate(Workload& workload, const FactorValue& value) {
  workload.rate.reset();
  if (Is(value, "unset")) return;
  workload.rate = ParseRate(std::get<std::string>(value));
}

void SetDontFragment(Workload& workload, const FactorValue& value) {
  workload.dont_fragment.reset();
  if (Is(value, "unset")) return;
  workload.dont_fragment = Is(value, "on");
}

void SetCongestion(Workload& workload, const FactorValue& value) {
  workload.congestion.reset();
  if (Is(value, "unset")) return;
  workload.congestion = std::get<std::string>(value);
}

void SetQuickack(Workload& workload, const FactorValue& value) {
  workload.quickack = Is(value, "each")  ? Quickack::kEach
                      : Is(value, "on")  ? Quickack::kOn
                      : Is(value, "off") ? Quickack::kOff
                                         : Quickack::kUnset;
}

void SetCpus(Workload& workload, const FactorValue& value) {
  workload.sender_cpu.reset();
  workload.receiver_cpu.reset();
  if (Is(value, "unset")) return;
  const std::vector<double> cpus = ListMeasures<','>(value);
  workload.sender_cpu = static_cast<int>(cpus.front());
  workload.receiver_cpu = static_cast<int>(cpus.back());
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMostInOneCall = 1024;           // Datagrams.
constexpr std::int64_t kMinute = 60'000'000'000;        // ns
constexpr std::int64_t kFastestRate = 400'000'000'000;  // bit/s

constexpr std::array<string_view, 2> kTransports{"tcp", "udp"};
constexpr std::array<string_view, 2> kPatterns{"stream", "request-response"};
constexpr std::array<string_view, 2> kSwitch{"on", "off"};
constexpr std::array<string_view, 4> kQuickacks{"unset", "off", "on", "each"};
constexpr std::array<string_view, 1> kUnset{"unset"};
constexpr std::array<string_view, 3> kSwitchIfSet{"unset", "on", "off"};

constexpr std::array kTable{
    FactorSpec{.name = "transport",
               .meaning = "What carries the bytes; udp for streams only",
               .always_listed = true,
               .fallback = "tcp",
               .words = kTransports,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     w.transport =
                         Is(v, "udp") ? Transport::kUdp : Transport::kTcp;
                   }},
    FactorSpec{.name = "pattern",
               .meaning = "A stream one way, or request-response in rounds",
               .fallback = "stream",
               .words = kPatterns,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     w.pattern = Is(v, "stream") ? Pattern::kStream
                                                 : Pattern::kRequestResponse;
                   }},
    FactorSpec{
        .name = "write",
        .meaning =
            "Handed to one write call; over UDP the payload of a datagram",
        .scope = Scope::kStream,
        .always_listed = true,
        .fallback = "1448",
        .kind = &kSize,
        .low = 1,
        .high = 16 * kMiB,
        .set = [](Workload& w, const FactorValue& v) { w.write = Size(v); }},
    FactorSpec{.name = "block",
               .meaning = "Handed over at once, in as many writes as it takes; "
                          "unset: each write is a block",
               .scope = Scope::kStream,
               .fallback = "unset",
               .words = kUnset,
               .kind = &kSize,
               .low = 1,
               .high = 1024 * kMiB,
               .set = [](Workload& w,
                         const FactorValue& v) { w.block = SizeIfSet(v); }},
    FactorSpec{
        .name = "read",
        .meaning = "Room handed to one read call",
        .always_listed = true,
        .fallback = "65536",
        .kind = &kSize,
        .low = 1,
        .high = 16 * kMiB,
        .set = [](Workload& w, const FactorValue& v) { w.read = Size(v); }},
    FactorSpec{.name = "request",
               .meaning = "The client's message as a list of writes",
               .scope = Scope::kRequestResponse,
               .always_listed = true,
               .fallback = "1",
               .kind = &kWrites,
               .low = 1,
               .high = 16 * kMiB,
               .set = [](Workload& w,
                         const FactorValue& v) { w.request = Writes(v); }},
    FactorSpec{
        .name = "reply",
        .meaning = "The server's message as a list of writes",
        .scope = Scope::kRequestResponse,
        .always_listed = true,
        .fallback = "1",
        .kind = &kWrites,
        .low = 1,
        .high = 16 * kMiB,
        .set = [](Workload& w, const FactorValue& v) { w.reply = Writes(v); }},
    FactorSpec{.name = "nagle",
               .meaning = "Off is TCP_NODELAY",
               .scope = Scope::kTcp,
               .always_listed = true,
               .fallback = "on",
               .words = kSwitch,
               .set = [](Workload& w,
                         const FactorValue& v) { w.nagle = Is(v, "on"); }},
    FactorSpec{.name = "rcvbuf",
               .meaning = "SO_RCVBUF of the receiver; unset: the system's own, "
                          "which grows by itself",
               .always_listed = true,
               .fallback = "unset",
               .words = kUnset,
               .kind = &kSize,
               .low = 1,
               .high = 64 * kMiB,
               .set = [](Workload& w,
                         const FactorValue& v) { w.rcvbuf = SizeIfSet(v); }},
    FactorSpec{.name = "sndbuf",
               .meaning = "SO_SNDBUF of the sender; unset: the system's own, "
                          "which grows by itself",
               .fallback = "unset",
               .words = kUnset,
               .kind = &kSize,
               .low = 1,
               .high = 64 * kMiB,
               .set = [](Workload& w,
                         const FactorValue& v) { w.sndbuf = SizeIfSet(v); }},
    FactorSpec{.name = "gap",
               .meaning = "Pause after a block, or between rounds",
               .fallback = "0us",
               .kind = &kDuration,
               .low = 0,
               .high = kMinute,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     w.gap = *ParseDuration(std::get<std::string>(v));
                   }},
    FactorSpec{.name = "warmup",
               .meaning = "What comes later than this after the first byte is "
                          "steady state; slow start is left out so",
               .scope = Scope::kStream,
               .fallback = "0us",
               .kind = &kDuration,
               .low = 0,
               .high = kMinute,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     w.warmup = *ParseDuration(std::get<std::string>(v));
                   }},
    FactorSpec{.name = "rate",
               .meaning = "Writes are due at that pace",
               .scope = Scope::kStream,
               .fallback = "unset",
               .words = kUnset,
               .kind = &kRate,
               .low = 1'000,
               .high = kFastestRate,
               .set = SetRate},
    FactorSpec{.name = "congestion",
               .meaning = "The congestion control, by its name; a host without "
                          "it skips the trial",
               .scope = Scope::kTcp,
               .fallback = "unset",
               .words = kUnset,
               .kind = &kName,
               .set = SetCongestion},
    FactorSpec{
        .name = "quickack",
        .meaning = "TCP_QUICKACK of the receiver: once, or after each read",
        .scope = Scope::kTcp,
        .fallback = "unset",
        .words = kQuickacks,
        .set = SetQuickack},
    FactorSpec{
        .name = "cork",
        .meaning = "TCP_CORK of the sender",
        .scope = Scope::kTcp,
        .fallback = "off",
        .words = kSwitch,
        .set = [](Workload& w, const FactorValue& v) { w.cork = Is(v, "on"); }},
    FactorSpec{
        .name = "mss",
        .meaning = "TCP_MAXSEG of the sender",
        .scope = Scope::kTcp,
        .fallback = "unset",
        .words = kUnset,
        .kind = &kSize,
        .low = 88,  // Linux takes no less (TCP_MIN_MSS).
        .high = 65535,
        .set = [](Workload& w, const FactorValue& v) { w.mss = SizeIfSet(v); }},
    FactorSpec{.name = "dont_fragment",
               .meaning = "The IP header's bit; unset: the system's own",
               .scope = Scope::kUdp,
               .fallback = "unset",
               .words = kSwitchIfSet,
               .set = SetDontFragment},
    FactorSpec{
        .name = "batch",
        .meaning = "Datagrams handed to one call at most (sendmmsg, recvmmsg)",
        .scope = Scope::kUdp,
        .fallback = "1",
        .kind = &kCount,
        .low = 1,
        .high = kMostInOneCall,
        .set =
            [](Workload& w, const FactorValue& v) {
              w.batch = static_cast<int>(std::get<std::int64_t>(v));
            }},
    FactorSpec{
        .name = "pin",
        .meaning =
            "The CPU of both loops, or of the sender's and the receiver's",
        .fallback = "unset",
        .words = kUnset,
        .kind = &kCpus,
        .low = 0,
        .high = 4095,
        .set = SetCpus},
    FactorSpec{.name = "streams",
               .meaning = "Flows of one pair at once",
               .fallback = "1",
               .kind = &kCount,
               .low = 1,
               .high = 64,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     w.streams = static_cast<int>(std::get<std::int64_t>(v));
                   }},
    // An agent does not need to know it: see TopologyOf().
    FactorSpec{.name = "topology",
               .meaning = "Which pairs' flows run at once",
               .fallback = "pair",
               .words = kTopologyNames,
               .set = [](Workload&, const FactorValue&) {}},
    FactorSpec{.name = "messages",
               .meaning = "How many writes, datagrams or rounds a trial has, "
                          "where [stop] does not end it sooner",
               .fallback = "unset",
               .words = kUnset,
               .kind = &kCount,
               .low = 1,
               .high = 1'000'000'000,
               .set =
                   [](Workload& w, const FactorValue& v) {
                     if (const auto* count = std::get_if<std::int64_t>(&v))
                       w.stop_messages = *count;
                   }},
};

std::string QuoteWords(std::span<const string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const string_view joint = i == 0                  ? ""
                              : i + 1 == words.size() ? " or "
                                                      : ", ";
    text += fmt::format("{}\"{}\"", joint, words[i]);
  }
  return text;
}

// Integers stand bare, texts in quotes.
std::string Shown(const FactorValue& raw) {
  const auto* text = std::get_if<std::string>(&raw);
  return text != nullptr ? Quote(*text) : SpellFactor(raw);
}

}  // namespace

std::span<const FactorSpec> FactorTable() { return kTable; }

const FactorSpec* FindFactorSpec(string_view name) {
  const auto* row = std::ranges::find(kTable, name, &FactorSpec::name);
  return row == kTable.end() ? nullptr : row;
}

bool Applies(Scope scope, Transport transport, Pattern pattern) {
  switch (scope) {
    case Scope::kAlways:
      return true;
    case Scope::kStream:
      return pattern == Pattern::kStream;
    case Scope::kRequestResponse:
      return pattern == Pattern::kRequestResponse;
    case Scope::kTcp:
      return transport == Transport::kTcp;
    case Scope::kUdp:
      return transport == Transport::kUdp;
  }
  return false;
}

Result<FactorValue, std::string> ParseFactor(const FactorSpec& spec,
                                             const FactorValue& raw) {
  const auto* text = std::get_if<std::string>(&raw);
  if (text != nullptr && std::ranges::count(spec.words, *text) > 0) return raw;
  if (spec.kind == nullptr) {
    return fmt::format("{} is none of its values; {}, in quotes", Shown(raw),
                       RangeOf(spec));
  }
  const std::optional<FactorValue> value = spec.kind->read(raw);
  if (!value.has_value()) {
    return fmt::format("{} is no {}; {}", Shown(raw), spec.kind->noun,
                       RangeOf(spec));
  }
  for (const double number : spec.kind->measures(*value)) {
    const bool small = number < static_cast<double>(spec.low);
    if (!small && number <= static_cast<double>(spec.high)) continue;
    return fmt::format("{} is too {}; {}", Shown(raw),
                       small ? "small" : "large", RangeOf(spec));
  }
  return *value;
}

Topology TopologyOf(const Factors& factors) {
  const FactorValue* value = FindFactor(factors, "topology");
  if (value == nullptr) return Topology::kPair;
  const auto* found = std::ranges::find(kTopologyNames, SpellFactor(*value));
  return found == kTopologyNames.end()
             ? Topology::kPair
             : static_cast<Topology>(found - kTopologyNames.begin());
}

FactorValue FallbackOf(const FactorSpec& spec) {
  return ParseFactor(spec, std::string{spec.fallback}).value();
}

std::string RangeOf(const FactorSpec& spec) {
  std::string words = QuoteWords(spec.words);
  if (spec.kind == nullptr) return words;
  const std::string numbers = fmt::format(fmt::runtime(spec.kind->range),
                                          spec.kind->spell_bound(spec.low),
                                          spec.kind->spell_bound(spec.high));
  return words.empty() ? numbers : words + ", or " + numbers;
}

std::string FactorNames() {
  std::string names;
  for (const FactorSpec& spec : kTable) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", spec.name);
  }
  return names;
}

std::optional<double> Magnitude(const FactorSpec& spec,
                                const FactorValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const bool word =
      text != nullptr && std::ranges::count(spec.words, *text) > 0;
  if (word || spec.kind == nullptr) return std::nullopt;
  const std::vector<double> numbers = spec.kind->measures(value);
  if (numbers.size() != 1) return std::nullopt;
  return numbers.front();
}

}  // namespace wiretoll
