#include "harness/analysis/systems.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wiretoll {
namespace {

struct Family {
  std::string_view os;
  std::string_view name;
  std::string_view caution;  // After the name; empty where there is none.
};

constexpr std::array<Family, 6> kFamilies{{
    {"linux", "Linux", ""},
    {"windows", "Windows", ""},
    {"wine", "Wine", "not Windows"},
    {"ns3", "ns-3", "simulated"},
    {"lwip", "lwIP", ""},
    {"gvisor", "gVisor", ""},
}};

const Family* FamilyOf(const std::string& os) {
  const auto* found =
      std::find_if(kFamilies.begin(), kFamilies.end(),
                   [&](const Family& family) { return family.os == os; });
  return found == kFamilies.end() ? nullptr : found;
}

// Linux is known by its distribution, the others by what carries their TCP: a
// Wine's description speaks of the Windows that it plays.
const std::string& WordsOf(const SystemWords& system) {
  const bool described = system.os == "linux" && !system.description.empty();
  return described ? system.description : system.stack;
}

}  // namespace

std::string FamilyName(const std::string& os) {
  if (const Family* family = FamilyOf(os)) return std::string(family->name);
  return os.empty() ? "unknown system" : os;
}

std::string SystemName(const std::string& os) {
  const Family* family = FamilyOf(os);
  if (family == nullptr || family->caution.empty()) return FamilyName(os);
  return FamilyName(os) + " (" + std::string(family->caution) + ")";
}

std::string SystemText(const SystemWords& system) {
  const std::string& words = WordsOf(system);
  if (words.empty()) return SystemName(system.os);
  const std::string family = FamilyName(system.os);
  // "Windows 11" over Wine does not begin with "Wine"; "Debian 12, Linux 6"
  // names Linux further on.
  const bool named = system.os == "linux"
                         ? words.find(family) != std::string::npos
                         : words.starts_with(family);
  if (!named) return SystemName(system.os) + ", " + words;
  return system.os == "ns3" ? words + " (simulated)" : words;
}

bool IsSynthetic(const std::vector<RunRecord>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const RunRecord& run) {
    return !run.synthetic.empty() || run.link.kind == "synthetic";
  });
}

std::string SystemOfHost(const RunRecord& record, const std::string& host,
                         const std::string& os, const std::string& stack) {
  const auto found = std::find_if(record.hosts.begin(), record.hosts.end(),
                                  [&](const RecordedHost& recorded) {
                                    return recorded.name == host &&
                                           recorded.os == os &&
                                           recorded.stack == stack;
                                  });
  return SystemText(
      {os, stack, found == record.hosts.end() ? "" : found->description});
}

}  // namespace wiretoll
