// The factors a study may name: one table, one row a factor.
#ifndef WIRETOLL_HARNESS_STUDY_FACTORS_H_
#define WIRETOLL_HARNESS_STUDY_FACTORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/study/study.h"

namespace wiretoll {

// The cases in which a factor means something.
enum class Scope { kAlways, kStream, kRequestResponse, kTcp, kUdp };

// How the values of one kind are read, spelled and measured.
struct ValueKind {
  std::string_view noun;   // "size": for "'x' is no size".
  std::string_view range;  // For people, {0} and {1} being the bounds.
  // The canonical value of what a study or a filter says; empty if it is none
  // of this kind. Bounds are not looked at.
  std::optional<FactorValue> (*read)(const FactorValue& raw);
  // The numbers in a canonical value, each of which has to lie within the
  // bounds: bytes, nanoseconds, bits a second, CPUs, streams. One number makes
  // values comparable.
  std::vector<double> (*measures)(const FactorValue& value);
  std::string (*spell_bound)(std::int64_t bound);
};

struct FactorSpec {
  std::string_view name = {};
  std::string_view meaning = {};  // For people, a line or two.
  Scope scope = Scope::kAlways;
  // Listed in every case that it means something in, also where the study
  // does not name it.
  bool always_listed = false;
  std::string_view fallback = {};  // Its default, as a study would write it.
  std::span<const std::string_view> words = {};  // Values that are plain words.
  const ValueKind* kind = nullptr;               // All other values, if any.
  std::int64_t low = 0;   // Bounds, both included, in the
  std::int64_t high = 0;  // unit of kind->measures.
  void (*set)(Workload& workload, const FactorValue& value) = nullptr;
};

// In canonical order, which orders the factors of a case and its id.
std::span<const FactorSpec> FactorTable();

// nullptr if there is no such factor.
const FactorSpec* FindFactorSpec(std::string_view name);

bool Applies(Scope scope, Transport transport, Pattern pattern);

// The canonical value of `raw` (an integer or a text, as TOML has them), or
// what is wrong with it and the remedy: "0 is too small; from 1 byte to
// 16 MiB".
Result<FactorValue, std::string> ParseFactor(const FactorSpec& spec,
                                             const FactorValue& raw);

// What factor "topology" says; a pair where it is not named.
Topology TopologyOf(const Factors& factors);

// Its default, canonical.
FactorValue FallbackOf(const FactorSpec& spec);

// What it may be, for people: "\"unset\", or from 1 byte to 64 MiB".
std::string RangeOf(const FactorSpec& spec);

// "transport, pattern, write, ...".
std::string FactorNames();

// What orders values of a factor: bytes, nanoseconds, bits a second. Empty
// for words ("unset", "on") and for lists of more than one number.
std::optional<double> Magnitude(const FactorSpec& spec,
                                const FactorValue& value);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_STUDY_FACTORS_H_
