// [factors] and [stop]: the cross product of the one, bounded by the other.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "harness/study/factors.h"
#include "harness/study/toml_reading.h"

namespace wiretoll {
namespace {

constexpr std::size_t kMostCells = 100'000;
constexpr Nanoseconds kLongestTrial = std::chrono::hours{1};

struct NamedFactor {
  const FactorSpec* spec = nullptr;
  std::vector<FactorValue> values;
  int line = 0;
};

// [stop], as written: the same for all cases.
struct Stop {
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> messages;
  std::optional<std::int64_t> nanoseconds;
  std::optional<std::int64_t> reads;
  std::optional<std::int64_t> blocks;
  int line = 1;
};

// --- [factors]

void AddValue(const toml::node& node, NamedFactor& factor,
              Complaint& complaint) {
  const std::string key = fmt::format("factors.{}", factor.spec->name);
  const std::optional<FactorValue> raw = RawValue(node);
  if (!raw.has_value()) {
    complaint.Note(LineOf(node), key,
                   fmt::format("{} is no value of it; {}", KindOf(node),
                               RangeOf(*factor.spec)));
    return;
  }
  const auto value = ParseFactor(*factor.spec, *raw);
  if (!value.has_value()) {
    complaint.Note(LineOf(node), key, value.error());
    return;
  }
  if (std::ranges::count(factor.values, value.value()) > 0) {
    complaint.Note(LineOf(node), key,
                   fmt::format("{} stands there twice; name each value once",
                               SpellFactor(value.value())));
  }
  factor.values.push_back(value.value());
}

NamedFactor ReadFactor(const FactorSpec& spec, const Entry& entry,
                       Complaint& complaint) {
  NamedFactor factor{&spec, {}, LineOf(*entry.key)};
  const toml::array* list = entry.node->as_array();
  if (list == nullptr) {
    complaint.Note(LineOf(*entry.node), fmt::format("factors.{}", spec.name),
                   fmt::format("{}; write a list, [...], also of one value",
                               KindOf(*entry.node)));
    return factor;
  }
  if (list->empty()) {
    complaint.Note(
        factor.line, fmt::format("factors.{}", spec.name),
        fmt::format("empty list; {}, or leave the factor out", RangeOf(spec)));
  }
  for (const toml::node& node : *list) AddValue(node, factor, complaint);
  return factor;
}

// In file order: the first factor named is the slowest to change.
std::vector<NamedFactor> ReadFactors(const toml::table& table,
                                     Complaint& complaint) {
  std::vector<std::string> known;
  for (const FactorSpec& spec : FactorTable()) known.emplace_back(spec.name);
  RefuseUnknownKeys(table, "factors.", known, complaint);
  std::vector<NamedFactor> factors;
  for (const Entry& entry : InFileOrder(table)) {
    const FactorSpec* spec = FindFactorSpec(entry.key->str());
    if (spec != nullptr) {
      factors.push_back(ReadFactor(*spec, entry, complaint));
    }
  }
  return factors;
}

// Empty if there are more than kMostCells.
std::optional<std::size_t> CountCells(const std::vector<NamedFactor>& factors) {
  std::size_t cells = 1;
  for (const NamedFactor& factor : factors) {
    cells *= std::max<std::size_t>(1, factor.values.size());
    if (cells > kMostCells) return std::nullopt;
  }
  return cells;
}

// --- [stop]

// An integer of at least 1 or what `spelled` makes of a text.
std::optional<std::int64_t> ReadLimit(const toml::table& table,
                                      std::string_view key,
                                      std::int64_t largest,
                                      Complaint& complaint) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  std::optional<std::int64_t> limit;
  if (const auto* number = node->as_integer()) limit = number->get();
  if (const auto* text = node->as_string(); text != nullptr && key == "bytes") {
    if (const auto size = ParseBytes(text->get())) limit = size->count;
  }
  if (limit.has_value() && *limit >= 1 && *limit <= largest) return limit;
  complaint.Note(
      LineOf(*node), fmt::format("stop.{}", key),
      fmt::format("must be {} from 1 to {}",
                  key == "bytes" ? "a size, such as \"1MiB\"," : "an integer",
                  largest));
  return std::nullopt;
}

// A number of seconds, or a duration with its unit.
std::optional<std::int64_t> ReadSeconds(const toml::table& table,
                                        Complaint& complaint) {
  const toml::node* node = table.get("seconds");
  if (node == nullptr) return std::nullopt;
  double nanoseconds = 0;
  if (const auto seconds =
          node->is_number() ? node->value<double>() : std::nullopt) {
    nanoseconds = *seconds * 1e9;
  } else if (const auto* text = node->as_string()) {
    const auto duration = ParseDuration(text->get());
    nanoseconds =
        static_cast<double>(duration.value_or(Nanoseconds{0}).count());
  }
  const auto longest = static_cast<double>(kLongestTrial.count());
  if (nanoseconds >= 1e6 && nanoseconds <= longest) {
    return static_cast<std::int64_t>(nanoseconds);
  }
  complaint.Note(LineOf(*node), "stop.seconds",
                 "must be a number of seconds, or a duration such as "
                 "\"100ms\", from 1ms to 3600s");
  return std::nullopt;
}

Stop ReadStop(const toml::table& table, Complaint& complaint) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  constexpr std::int64_t kMostCalls = 1'000'000'000'000;
  constexpr std::int64_t kMostReads = 1'000'000'000;
  RefuseUnknownKeys(table, "stop.",
                    {"bytes", "messages", "seconds", "reads", "blocks"},
                    complaint);
  return {ReadLimit(table, "bytes", kMostBytes, complaint),
          ReadLimit(table, "messages", kMostCalls, complaint),
          ReadSeconds(table, complaint),
          ReadLimit(table, "reads", kMostReads, complaint),
          ReadLimit(table, "blocks", kMostReads, complaint),
          LineOf(table)};
}

// What a case hands over at once, of which a trial does whole ones: a block, or
// the writes of a request.
std::int64_t UnitBytes(const Workload& workload) {
  if (workload.pattern == Pattern::kStream) return BlockOf(workload).count;
  std::int64_t sum = 0;
  for (const Bytes part : workload.request) sum += part.count;
  return sum;
}

std::int64_t CeilDivide(std::int64_t value, std::int64_t by) {
  return value / by + (value % by == 0 ? 0 : 1);
}

// What so many reads can take: their room, or a datagram each. At most 10^9 x
// 16 MiB: no overflow.
std::int64_t BytesOfReads(std::int64_t reads, const Workload& workload) {
  const bool udp = workload.transport == Transport::kUdp;
  return reads * (udp ? workload.write : workload.read).count;
}

// The least that the study's stops allow a stream. At most 10^9 x 1 GiB.
std::optional<std::int64_t> LeastBytes(const Stop& stop,
                                       const Workload& workload) {
  std::optional<std::int64_t> least = stop.bytes;
  const auto take = [&](std::int64_t bytes) {
    least = std::min(least.value_or(bytes), bytes);
  };
  if (stop.reads.has_value()) take(BytesOfReads(*stop.reads, workload));
  if (stop.blocks.has_value()) take(*stop.blocks * UnitBytes(workload));
  return least;
}

// A stop in bytes is rounded up to whole blocks or messages, so that every call
// hands over the size that the case names.
void ApplyStop(const Stop& stop, Workload& workload) {
  const bool stream = workload.pattern == Pattern::kStream;
  const std::optional<std::int64_t> bytes =
      stream ? LeastBytes(stop, workload) : stop.bytes;
  // What the case says of itself is a stop like any other.
  const auto sooner = [&](std::int64_t messages) {
    workload.stop_messages =
        std::min(workload.stop_messages.value_or(messages), messages);
  };
  if (stop.messages.has_value()) sooner(*stop.messages);
  if (bytes.has_value()) {
    const std::int64_t size = UnitBytes(workload);
    const std::int64_t units = CeilDivide(*bytes, size);
    if (stream) {
      workload.stop_bytes = Bytes{units * size};
    } else {
      sooner(units);
    }
  }
  if (stop.nanoseconds.has_value()) {
    workload.stop_time = Nanoseconds{*stop.nanoseconds};
  }
}

// The shortest a case can take by what it was told to wait, in nanoseconds;
// infinite if nothing ends it.
double ShortestTime(const Workload& workload) {
  double shortest = std::numeric_limits<double>::infinity();
  if (workload.stop_time.has_value()) {
    shortest = static_cast<double>(workload.stop_time->count());
  }
  const auto size = static_cast<double>(UnitBytes(workload));
  const auto take = [&](double units) {
    double time = (units - 1) * static_cast<double>(workload.gap.count());
    if (workload.rate.has_value()) {
      time = std::max(time, units * size * 8e9 / workload.rate->value);
    }
    shortest = std::min(shortest, std::max(0.0, time));
  };
  if (workload.stop_messages.has_value()) {
    const bool stream = workload.pattern == Pattern::kStream;
    take(static_cast<double>(*workload.stop_messages) /
         static_cast<double>(stream ? WritesInBlock(workload) : 1));
  }
  if (workload.stop_bytes.has_value()) {
    take(static_cast<double>(workload.stop_bytes->count) / size);
  }
  return shortest;
}

// --- The cases

// Makes cases out of one choice of value a factor.
class CaseMaker {
 public:
  CaseMaker(const std::vector<NamedFactor>& named, bool verify);

  // `choice`: an index into the values of each named factor. The id is a key
  // still.
  Case Make(const std::vector<std::size_t>& choice);

  // The first named factor that meant nothing in any case made, if any.
  [[nodiscard]] const NamedFactor* Unused() const;

 private:
  // A factor of the table, with its place among the named ones.
  struct Row {
    const FactorSpec* spec;
    FactorValue fallback;
    const NamedFactor* named = nullptr;  // Borrowed; nullptr if not named.
    std::size_t place = 0;
    bool used = false;
  };

  bool verify_;
  std::vector<Row> rows_;  // In the order of the table.
};

CaseMaker::CaseMaker(const std::vector<NamedFactor>& named, bool verify)
    : verify_(verify) {
  for (const FactorSpec& spec : FactorTable()) {
    Row row{&spec, FallbackOf(spec)};
    const auto found = std::ranges::find(named, &spec, &NamedFactor::spec);
    if (found != named.end()) {
      row.named = &*found;
      row.place = static_cast<std::size_t>(found - named.begin());
    }
    rows_.push_back(std::move(row));
  }
}

// What tells a case from all others, before it is made fit for an id: no name
// or value holds a line break.
std::string KeyPart(std::string_view name, const FactorValue& value) {
  return fmt::format("\n{}\n{}", name, SpellFactor(value));
}

// Lower-kebab: "write-1-pin-0-1".
std::string IdFromKey(std::string key) {
  if (key.empty()) return "case";
  const auto odd = [](char c) {
    return (c < 'a' || c > 'z') && (c < '0' || c > '9');
  };
  std::ranges::replace_if(key, odd, '-');
  return key.substr(1);
}

Case CaseMaker::Make(const std::vector<std::size_t>& choice) {
  Case made;
  Workload& workload = made.workload;
  workload.verify = verify_;
  // transport and pattern lead the table, so they are set before they are
  // asked for.
  for (Row& row : rows_) {
    const FactorSpec& spec = *row.spec;
    if (!Applies(spec.scope, workload.transport, workload.pattern)) continue;
    const FactorValue& value = row.named != nullptr
                                   ? row.named->values[choice[row.place]]
                                   : row.fallback;
    spec.set(workload, value);
    row.used = true;
    if (row.named != nullptr || spec.always_listed) {
      made.factors.emplace_back(spec.name, value);
    }
    if (row.named != nullptr && row.named->values.size() > 1) {
      made.id += KeyPart(spec.name, value);
    }
  }
  made.topology = TopologyOf(made.factors);
  return made;
}

const NamedFactor* CaseMaker::Unused() const {
  for (const Row& row : rows_) {
    if (row.named != nullptr && !row.used) return row.named;
  }
  return nullptr;
}

// The next choice, the last factor fastest; false after the last one.
bool Advance(const std::vector<NamedFactor>& named,
             std::vector<std::size_t>& choice) {
  for (std::size_t i = named.size(); i-- > 0;) {
    if (++choice[i] < named[i].values.size()) return true;
    choice[i] = 0;
  }
  return false;
}

// Names of congestion controls may bring two keys to the same id.
std::string MakeUnique(const std::string& id,
                       std::unordered_set<std::string>& ids) {
  std::string unique = id;
  for (int number = 2; !ids.insert(unique).second; ++number) {
    unique = fmt::format("{}-{}", id, number);
  }
  return unique;
}

void CheckEnds(const Case& made, const Stop& stop, Complaint& complaint) {
  const double shortest = ShortestTime(made.workload);
  if (shortest <= static_cast<double>(kLongestTrial.count())) return;
  const bool never = shortest > 1e300;
  complaint.Note(
      stop.line, "stop",
      never ? fmt::format("case {} could never end; give bytes, messages or "
                          "seconds",
                          made.id)
            : fmt::format("case {} would take {:.0f} s at least; give less, "
                          "or seconds (up to 3600)",
                          made.id, shortest / 1e9));
}

void CheckPacing(const Case& made, const std::vector<NamedFactor>& named,
                 Complaint& complaint) {
  if (!made.workload.rate.has_value() || made.workload.gap.count() == 0) {
    return;
  }
  const auto rate = std::ranges::find_if(
      named, [](const NamedFactor& f) { return f.spec->name == "rate"; });
  complaint.Note(rate->line, "factors.rate",
                 fmt::format("case {} has a gap too, and only one of them can "
                             "pace its writes; make two studies of it",
                             made.id));
}

// A datagram that is lost would leave both ends waiting.
void CheckTransport(const Case& made, const std::vector<NamedFactor>& named,
                    Complaint& complaint) {
  if (made.workload.transport != Transport::kUdp ||
      made.workload.pattern != Pattern::kRequestResponse) {
    return;
  }
  const auto pattern = std::ranges::find_if(
      named, [](const NamedFactor& f) { return f.spec->name == "pattern"; });
  complaint.Note(pattern->line, "factors.pattern",
                 fmt::format("case {} is a request-response over UDP, and only "
                             "TCP has those; make two studies of it",
                             made.id));
}

std::vector<Case> MakeCases(const std::vector<NamedFactor>& named,
                            const Stop& stop, bool verify,
                            Complaint& complaint) {
  std::vector<Case> cases;
  std::unordered_set<std::string> ids;
  std::unordered_set<std::string> keys;
  CaseMaker maker(named, verify);
  std::vector<std::size_t> choice(named.size(), 0);
  do {
    Case made = maker.Make(choice);
    // A factor that means nothing in a case makes doubles: merged.
    if (!keys.insert(made.id).second) continue;
    made.id = MakeUnique(IdFromKey(std::move(made.id)), ids);
    ApplyStop(stop, made.workload);
    CheckEnds(made, stop, complaint);
    CheckPacing(made, named, complaint);
    CheckTransport(made, named, complaint);
    cases.push_back(std::move(made));
  } while (Advance(named, choice));
  if (const NamedFactor* unused = maker.Unused()) {
    complaint.Note(unused->line, fmt::format("factors.{}", unused->spec->name),
                   "means nothing in any case of this transport and pattern; "
                   "leave it out, or name the transport or pattern it is "
                   "for");
  }
  return cases;
}

const toml::table* NeedTable(const toml::table& root, std::string_view key,
                             std::string_view remedy, Complaint& complaint) {
  const toml::node* node = root.get(key);
  if (node == nullptr) {
    complaint.Note(1, key, fmt::format("missing; {}", remedy));
    return nullptr;
  }
  const toml::table* table = node->as_table();
  if (table == nullptr || table->empty()) {
    complaint.Note(
        LineOf(*node), key,
        fmt::format("{}; {}", table == nullptr ? KindOf(*node) : "empty",
                    remedy));
    return nullptr;
  }
  return table;
}

}  // namespace

Matrix ReadMatrix(const toml::table& root, bool verify, Complaint& complaint) {
  const toml::table* factors = NeedTable(
      root, "factors", "add [factors] with lists such as write = [1, 1448]",
      complaint);
  const toml::table* limits = NeedTable(
      root, "stop", "add [stop] with bytes, messages or seconds", complaint);
  if (factors == nullptr || limits == nullptr) return {};
  const std::vector<NamedFactor> named = ReadFactors(*factors, complaint);
  const Stop stop = ReadStop(*limits, complaint);
  if (!CountCells(named).has_value()) {
    complaint.Note(
        LineOf(*factors), "factors",
        fmt::format("more than {} cells; name fewer values", kMostCells));
  }
  if (complaint.any()) return {};
  Matrix matrix;
  matrix.cases = MakeCases(named, stop, verify, complaint);
  for (const FactorSpec& spec : FactorTable()) {
    const auto found = std::ranges::find(named, &spec, &NamedFactor::spec);
    if (found != named.end() && found->values.size() > 1) {
      matrix.varying.emplace_back(spec.name);
    }
  }
  return matrix;
}

}  // namespace wiretoll
