#include <algorithm>

#include "harness/study/study.h"

namespace wiretoll {

Bytes BlockOf(const Workload& workload) {
  return workload.block.value_or(workload.write);
}

std::int64_t WritesInBlock(const Workload& workload) {
  const std::int64_t write = std::max<std::int64_t>(1, workload.write.count);
  const std::int64_t block = BlockOf(workload).count;
  return std::max<std::int64_t>(1, (block + write - 1) / write);
}

bool HasFlowsAtOnce(const Case& the_case) {
  return the_case.topology != Topology::kPair || the_case.workload.streams > 1;
}

std::string SpellFactor(const FactorValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*number);
  }
  return std::get<std::string>(value);
}

const FactorValue* FindFactor(const Factors& factors, const std::string& name) {
  for (const auto& [key, value] : factors) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool Matches(const Selection& selection, const Factors& factors,
             const std::map<std::string, std::string>& extra) {
  const auto holds = [&](const Selection::value_type& wanted) {
    const auto& [key, values] = wanted;
    if (const auto named = extra.find(key); named != extra.end()) {
      return std::ranges::count(values, FactorValue{named->second}) > 0;
    }
    const FactorValue* value = FindFactor(factors, key);
    return value != nullptr && std::ranges::count(values, *value) > 0;
  };
  return std::ranges::all_of(selection, holds);
}

}  // namespace wiretoll
