// [[claim]]: sentences that somebody published, checked against the matrix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/study/factors.h"
#include "harness/study/toml_reading.h"

namespace wiretoll {
namespace {

enum class FigureUnit { kNumber, kByteRate, kShare, kTime, kSize };

FigureUnit UnitOf(std::string_view metric) {
  if (metric.ends_with("throughput")) return FigureUnit::kByteRate;
  if (metric == "efficiency" || metric.ends_with("_share") ||
      metric == "loss" || metric == "duplicated" || metric == "reordered") {
    return FigureUnit::kShare;
  }
  if (metric == "elapsed" || metric == "jitter" ||
      metric.starts_with("latency") || metric.starts_with("delay_") ||
      metric.starts_with("rtt_") || metric.ends_with("_wait")) {
    return FigureUnit::kTime;
  }
  if (metric == "receive_buffer" || metric.starts_with("window_")) {
    return FigureUnit::kSize;
  }
  return FigureUnit::kNumber;
}

struct KindSpec {
  std::string_view name;
  ClaimKind kind;
  std::vector<std::string> keys;  // Beside those that every claim may have.
};

const std::vector<KindSpec>& Kinds() {
  static const std::vector<KindSpec> kinds{
      {"value", ClaimKind::kValue, {"value", "every"}},
      {"ratio", ClaimKind::kRatio, {"b", "ratio"}},
      {"levels-off", ClaimKind::kLevelsOff, {"across", "value"}},
      {"knee", ClaimKind::kKnee, {"across", "value"}},
      {"effect-larger",
       ClaimKind::kEffectLarger,
       {"across", "against", "ratio"}}};
  return kinds;
}

// What the host selectors may ask for; sample lines carry the same words.
const std::vector<std::string>& Systems() {
  static const std::vector<std::string> systems{"linux", "windows", "wine",
                                                "lwip",  "gvisor",  "ns3"};
  return systems;
}

bool IsOsKey(std::string_view key) {
  return key == "sender.os" || key == "receiver.os";
}

// What a selection may ask of the link that a run had, and the words for it,
// beside a rate, a time or a size where it is one.
struct LinkKey {
  std::string_view name;
  std::vector<std::string> words;
};

const std::vector<LinkKey>& LinkKeys() {
  static const std::vector<LinkKey> keys{
      {"link.kind", {"lab", "container", "hosts", "loopback"}},
      {"link.rate", {"unknown"}},
      {"link.delay", {"none", "some"}},
      {"link.loss", {"none", "some"}},
      {"link.mtu", {"unknown"}},
      {"link.router", {"none", "some"}}};
  return keys;
}

const LinkKey* FindLinkKey(std::string_view key) {
  const auto found = std::ranges::find(LinkKeys(), key, &LinkKey::name);
  return found == LinkKeys().end() ? nullptr : &*found;
}

// Not a factor: known only once a study runs somewhere.
bool IsPlaceKey(std::string_view key) {
  return IsOsKey(key) || key == "sender.host" || key == "receiver.host" ||
         FindLinkKey(key) != nullptr;
}

std::vector<std::string> PlaceKeys() {
  std::vector<std::string> keys{"sender.os", "receiver.os", "sender.host",
                                "receiver.host"};
  for (const LinkKey& key : LinkKeys()) keys.emplace_back(key.name);
  return keys;
}

// What is wrong with `name` as a value of a place key; empty if nothing.
std::string WrongPlace(std::string_view key, const std::string& name) {
  if (IsOsKey(key) && std::ranges::count(Systems(), name) == 0) {
    return Quote(name) + " is no system" + Hint(name, Systems());
  }
  const LinkKey* link = FindLinkKey(key);
  if (link == nullptr || std::ranges::count(link->words, name) > 0) return {};
  if (key == "link.rate") {
    if (ParseRate(name)) return {};
    return Quote(name) + " is no rate; write such as \"100mbit\"";
  }
  if (key == "link.mtu") {
    if (ParseBytes(name)) return {};
    return Quote(name) + " is no MTU; write such as 1500";
  }
  if (key == "link.delay" && ParseDuration(name)) return {};
  return Quote(name) + " is none of its values" + Hint(name, link->words) +
         (key == "link.delay" ? ", or a time each way such as \"5ms\"" : "");
}

Selection FactorsOf(const Selection& selection) {
  Selection factors = selection;
  std::erase_if(factors,
                [](const auto& item) { return IsPlaceKey(item.first); });
  return factors;
}

// Reads one claim; its keys are told apart by its id.
class ClaimReader {
 public:
  ClaimReader(const toml::table& table, const std::vector<Case>& cases,
              Complaint& complaint)
      : table_(table), cases_(cases), complaint_(complaint) {}

  Claim Read();

 private:
  void Note(const toml::node& node, std::string_view key,
            std::string_view what) {
    complaint_.Note(LineOf(node), path_ + std::string(key), what);
  }
  const KindSpec& ReadKind();
  void ReadMetric();
  Selection ReadSelection(std::string_view key);
  void AddSelected(const std::string& key, const toml::node& node,
                   const std::string& path, Selection& selection);
  std::optional<FactorValue> SelectedValue(const std::string& key,
                                           const toml::node& node,
                                           const std::string& path);
  void CheckNamesCells(const Selection& selection, std::string_view key);
  std::string ReadFactorName(std::string_view key, std::size_t least_values);
  void ReadCheck();
  std::optional<double> ReadFigure(std::string_view key);
  void ReadTolerance();

  const toml::table& table_;
  const std::vector<Case>& cases_;
  Complaint& complaint_;
  Claim claim_;
  std::string path_ = "claim.";  // "claim.1b." as soon as the id is known.
};

Claim ClaimReader::Read() {
  claim_.line = LineOf(table_);
  claim_.id = NeedText(table_, path_, "id", complaint_);
  path_ = fmt::format("claim.{}.", claim_.id);
  claim_.text = NeedText(table_, path_, "text", complaint_);
  const KindSpec& kind = ReadKind();
  std::vector<std::string> known{"id", "text",      "kind",     "metric",
                                 "a",  "tolerance", "at_least", "at_most"};
  known.insert(known.end(), kind.keys.begin(), kind.keys.end());
  RefuseUnknownKeys(table_, path_, known, complaint_);
  ReadMetric();
  claim_.a = ReadSelection("a");
  if (claim_.kind == ClaimKind::kRatio) claim_.b = ReadSelection("b");
  constexpr std::size_t kAnEffect = 2;
  constexpr std::size_t kACurve = 3;
  constexpr std::size_t kAKnee = 4;
  if (claim_.kind == ClaimKind::kLevelsOff) {
    claim_.across = ReadFactorName("across", kACurve);
  }
  if (claim_.kind == ClaimKind::kKnee) {
    claim_.across = ReadFactorName("across", kAKnee);
  }
  if (claim_.kind == ClaimKind::kEffectLarger) {
    claim_.across = ReadFactorName("across", kAnEffect);
    claim_.against = ReadFactorName("against", kAnEffect);
  }
  if (claim_.kind == ClaimKind::kValue) {
    claim_.every = ReadSwitch(table_, path_, "every", complaint_);
  }
  ReadCheck();
  ReadTolerance();
  return claim_;
}

// Of `value` and `ratio` the kind need not be said: `b` tells.
const KindSpec& ClaimReader::ReadKind() {
  std::string name = ReadText(table_, path_, "kind", complaint_);
  if (name.empty()) name = table_.contains("b") ? "ratio" : "value";
  const auto found = std::ranges::find(Kinds(), name, &KindSpec::name);
  if (found == Kinds().end()) {
    std::vector<std::string> names;
    for (const KindSpec& kind : Kinds()) names.emplace_back(kind.name);
    Note(*table_.get("kind"), "kind", "unknown" + Hint(name, names));
    return Kinds().front();
  }
  claim_.kind = found->kind;
  return *found;
}

void ClaimReader::ReadMetric() {
  claim_.metric = NeedText(table_, path_, "metric", complaint_);
  if (claim_.metric.empty()) return;
  const std::vector<std::string> names(kMetricNames.begin(),
                                       kMetricNames.end());
  if (std::ranges::count(names, claim_.metric) > 0) return;
  Note(*table_.get("metric"), "metric",
       "unknown metric" + Hint(claim_.metric, names));
}

// --- Selections

Selection ClaimReader::ReadSelection(std::string_view key) {
  Selection selection;
  const toml::node* node = table_.get(key);
  if (node == nullptr || !node->is_table()) {
    Note(node != nullptr ? *node : table_, key,
         "must be a selection of cells; add " + std::string(key) +
             " = { write = 32, \"sender.os\" = \"linux\" }");
    return selection;
  }
  for (const Entry& entry : InFileOrder(*node->as_table())) {
    const std::string name{entry.key->str()};
    const std::string path = fmt::format("{}{}.", path_, key);
    const toml::table* ends = entry.node->as_table();
    if (ends == nullptr ||
        (name != "sender" && name != "receiver" && name != "link")) {
      AddSelected(name, *entry.node, path, selection);
      continue;
    }
    // sender.os and link.rate without quotes are tables in a table.
    for (const Entry& end : InFileOrder(*ends)) {
      AddSelected(fmt::format("{}.{}", name, end.key->str()), *end.node, path,
                  selection);
    }
  }
  CheckNamesCells(selection, key);
  return selection;
}

void ClaimReader::AddSelected(const std::string& key, const toml::node& node,
                              const std::string& path, Selection& selection) {
  if (!IsPlaceKey(key) && FindFactorSpec(key) == nullptr) {
    std::vector<std::string> known = PlaceKeys();
    for (const FactorSpec& spec : FactorTable()) known.emplace_back(spec.name);
    complaint_.Note(LineOf(node), path + key, "unknown" + Hint(key, known));
    return;
  }
  std::vector<FactorValue>& values = selection[key];
  const auto add = [&](const toml::node& item) {
    const auto value = SelectedValue(key, item, path);
    if (value.has_value()) values.push_back(*value);
  };
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) add(item);
  } else {
    add(node);
  }
  if (!values.empty()) return;
  complaint_.Note(LineOf(node), path + key,
                  "selects nothing; name a value or leave the key out");
}

std::optional<FactorValue> ClaimReader::SelectedValue(const std::string& key,
                                                      const toml::node& node,
                                                      const std::string& path) {
  std::optional<FactorValue> raw = RawValue(node);
  const bool number = raw.has_value() && raw->index() == 0;
  if (!raw.has_value() || (number && IsPlaceKey(key) && key != "link.mtu")) {
    complaint_.Note(LineOf(node), path + key,
                    fmt::format("{} is no value of it", KindOf(node)));
    return std::nullopt;
  }
  if (IsPlaceKey(key)) {
    const std::string name = SpellFactor(*raw);
    const std::string wrong = WrongPlace(key, name);
    if (!wrong.empty()) complaint_.Note(LineOf(node), path + key, wrong);
    return name;
  }
  const auto value = ParseFactor(*FindFactorSpec(key), *raw);
  if (value.has_value()) return value.value();
  complaint_.Note(LineOf(node), path + key, value.error());
  return std::nullopt;
}

// Hosts are not known yet, factors are: each value has to be in the matrix,
// and all of them together have to name a cell.
void ClaimReader::CheckNamesCells(const Selection& selection,
                                  std::string_view key) {
  const Selection factors = FactorsOf(selection);
  const auto names_cell = [this](const Selection& part) {
    return std::ranges::any_of(
        cases_, [&](const Case& c) { return Matches(part, c.factors, {}); });
  };
  const toml::node& place = *table_.get(key);
  for (const auto& [name, values] : factors) {
    for (const FactorValue& value : values) {
      if (names_cell({{name, {value}}})) continue;
      Note(place, key,
           fmt::format("names no cell: no case has {} = {}; add it to "
                       "[factors] or select what is there",
                       name, SpellFactor(value)));
    }
  }
  if (names_cell(factors)) return;
  Note(place, key,
       "names no cell: no case has all of these values; select fewer");
}

// A factor that takes enough values in the cells of `a`.
std::string ClaimReader::ReadFactorName(std::string_view key,
                                        std::size_t least_values) {
  std::string name = NeedText(table_, path_, key, complaint_);
  const FactorSpec* spec = FindFactorSpec(name);
  if (name.empty()) return name;
  std::set<FactorValue> values;
  const Selection selected = FactorsOf(claim_.a);
  for (const Case& candidate : cases_) {
    const FactorValue* value = FindFactor(candidate.factors, name);
    if (value == nullptr || !Matches(selected, candidate.factors, {})) continue;
    // A curve has an axis: no place on it for "unset".
    const bool placed = Magnitude(*spec, *value).has_value();
    const bool curve =
        claim_.kind == ClaimKind::kLevelsOff || claim_.kind == ClaimKind::kKnee;
    if (placed || !curve) values.insert(*value);
  }
  if (values.size() < least_values) {
    Note(*table_.get(key), key,
         fmt::format("{} takes {} values in a; name a factor of {} or more",
                     Quote(name), values.size(), least_values));
  }
  return name;
}

// --- The check

// A number in the metric's unit, or a text that carries its unit: "11MB/s",
// "94%", "40ms", "64KiB".
std::optional<double> FigureFromText(FigureUnit unit, std::string text) {
  if (unit == FigureUnit::kByteRate && text.ends_with("/s")) {
    text.resize(text.size() - 2);
    const auto size = ParseBytes(text);
    if (size.has_value()) return static_cast<double>(size->count);
  }
  if (unit == FigureUnit::kSize) {
    const auto size = ParseBytes(text);
    if (size.has_value()) return static_cast<double>(size->count);
  }
  if (unit == FigureUnit::kShare) return ParsePercent(text);
  if (unit == FigureUnit::kTime) {
    const auto duration = ParseDuration(text);
    if (duration.has_value()) return static_cast<double>(duration->count());
  }
  return std::nullopt;
}

std::optional<double> ClaimReader::ReadFigure(std::string_view key) {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  const bool ratio = claim_.kind == ClaimKind::kRatio ||
                     claim_.kind == ClaimKind::kEffectLarger;
  FigureUnit unit = ratio ? FigureUnit::kNumber : UnitOf(claim_.metric);
  if (claim_.kind == ClaimKind::kKnee) unit = FigureUnit::kSize;
  std::optional<double> figure;
  if (node->is_number()) figure = node->value<double>();
  if (const auto* text = node->as_string()) {
    figure = FigureFromText(unit, text->get());
  }
  if (figure.has_value() && std::isfinite(*figure) && *figure >= 0) {
    return figure;
  }
  constexpr std::string_view kForms[] = {
      "a number from 0 up", "bytes/s, such as 11e6 or \"11MB/s\"",
      "a share, such as 0.94 or \"94%\"", "nanoseconds, or such as \"40ms\"",
      "bytes, such as 2304 or \"64KiB\""};
  Note(*node, key,
       fmt::format("must be {}", kForms[static_cast<std::size_t>(unit)]));
  return std::nullopt;
}

void ClaimReader::ReadCheck() {
  const bool ratio = claim_.kind == ClaimKind::kRatio ||
                     claim_.kind == ClaimKind::kEffectLarger;
  const std::string_view key = ratio ? "ratio" : "value";
  claim_.expected = ReadFigure(key);
  claim_.at_least = ReadFigure("at_least");
  claim_.at_most = ReadFigure("at_most");
  const bool bounded =
      claim_.at_least.has_value() || claim_.at_most.has_value();
  if (claim_.expected.has_value() == bounded) {
    Note(table_, key,
         bounded ? "stands beside bounds; keep one or the other"
                 : "missing; add it or at_least or at_most as the check");
  }
  if (claim_.at_least.has_value() && claim_.at_most.has_value() &&
      *claim_.at_least > *claim_.at_most) {
    Note(*table_.get("at_least"), "at_least",
         "is over at_most, which nothing can fulfil; swap them");
  }
}

void ClaimReader::ReadTolerance() {
  const toml::node* node = table_.get("tolerance");
  if (node == nullptr) return;
  std::optional<double> share;
  if (node->is_number()) share = node->value<double>();
  if (const auto* text = node->as_string()) share = ParsePercent(text->get());
  if (share.has_value() && *share >= 0 && *share <= 1) {
    claim_.tolerance = *share;
    return;
  }
  Note(*node, "tolerance", "must be a share from \"0%\" to \"100%\"");
}

}  // namespace

std::vector<Claim> ReadClaims(const toml::table& root,
                              const std::vector<Case>& cases,
                              Complaint& complaint) {
  constexpr std::size_t kMostClaims = 100;  // Each is held to every case.
  std::vector<Claim> claims;
  std::set<std::string> ids;
  for (const toml::table* table : ReadTables(root, "claim", complaint)) {
    if (claims.size() == kMostClaims) {
      complaint.Note(LineOf(*table), "claim",
                     fmt::format("more than {} claims; make two studies of it",
                                 kMostClaims));
      break;
    }
    claims.push_back(ClaimReader(*table, cases, complaint).Read());
    if (!ids.insert(claims.back().id).second) {
      complaint.Note(LineOf(*table), fmt::format("claim.{}", claims.back().id),
                     "two claims have this id; give each its own");
    }
  }
  return claims;
}

}  // namespace wiretoll
