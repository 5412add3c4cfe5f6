#include <array>
#include <string>
#include <utility>

#include "platform/win32/facts.h"
#include "platform/win32/version.h"
#include "platform/win32/wmi.h"

namespace wiretoll {
namespace {

// How a property of MSFT_NetTCPSetting becomes a fact.
enum class Kind { kSwitch, kCount, kMilliseconds, kAutotuning, kCongestion };

struct Setting {
  const char* name;
  const wchar_t* property;
  Kind kind;
};

// As Get-NetTCPSetting shows them. "Internet" is the template that Windows
// takes for every connection unless transport filters say otherwise.
constexpr const wchar_t* kTcpQuery =
    L"SELECT * FROM MSFT_NetTCPSetting WHERE SettingName = 'Internet'";
constexpr std::array kTcpSettings = {
    Setting{"tcp_congestion_control", L"CongestionProvider", Kind::kCongestion},
    Setting{"tcp_autotuning_level", L"AutoTuningLevelLocal", Kind::kAutotuning},
    Setting{"tcp_timestamps", L"Timestamps", Kind::kCount},
    Setting{"tcp_ecn", L"EcnCapability", Kind::kCount},
    Setting{"tcp_window_scaling_heuristics", L"ScalingHeuristics",
            Kind::kSwitch},
    Setting{"tcp_delayed_ack_timeout_ns", L"DelayedAckTimeout",
            Kind::kMilliseconds},
    Setting{"tcp_delayed_ack_frequency", L"DelayedAckFrequency", Kind::kCount},
    Setting{"tcp_initial_window_segments", L"InitialCongestionWindow",
            Kind::kCount},
    Setting{"tcp_initial_rto_ns", L"InitialRto", Kind::kMilliseconds},
    Setting{"tcp_min_rto_ns", L"MinRto", Kind::kMilliseconds},
};

constexpr const wchar_t* kOffloadQuery =
    L"SELECT * FROM MSFT_NetOffloadGlobalSetting";
constexpr std::array kOffloadSettings = {
    Setting{"rsc_global", L"ReceiveSegmentCoalescing", Kind::kSwitch},
    Setting{"rss_global", L"ReceiveSideScaling", Kind::kSwitch},
    Setting{"task_offload_global", L"TaskOffload", Kind::kSwitch},
};

std::string AutotuningName(std::int64_t level) {
  constexpr std::array kNames = {"disabled", "highlyrestricted", "restricted",
                                 "normal", "experimental"};
  const auto index = static_cast<std::size_t>(level);
  return index < kNames.size() ? kNames.at(index) : std::to_string(level);
}

// The class's documentation names 0, 2 and 3. Today's Windows answers 5 where
// it says that CUBIC is in use.
std::string CongestionName(std::int64_t provider) {
  switch (provider) {
    case 0:
      return "default";
    case 2:
      return "ctcp";
    case 3:
      return "dctcp";
    case 5:
      return "cubic";
    default:
      return "provider-" + std::to_string(provider);
  }
}

Fact::Value Convert(Kind kind, std::int64_t number) {
  switch (kind) {
    case Kind::kSwitch:
      return number != 0;
    case Kind::kCount:
      return number;
    case Kind::kMilliseconds:
      return number * 1'000'000;
    case Kind::kAutotuning:
      return AutotuningName(number);
    case Kind::kCongestion:
      return CongestionName(number);
  }
  return {};
}

Fact ToFact(const Setting& setting, const WmiRow& row) {
  const auto found = row.find(setting.property);
  if (found == row.end()) {
    return Unknown(setting.name, "this Windows has no property " +
                                     Utf8(setting.property) + " in WMI");
  }
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr) {
    return Unknown(setting.name,
                   "WMI has no number as " + Utf8(setting.property));
  }
  return Known(setting.name, Convert(setting.kind, *number));
}

template <std::size_t kCount>
void AddSettings(const wchar_t* query,
                 const std::array<Setting, kCount>& settings,
                 std::vector<Fact>& facts) {
  WmiQuery wmi{L"ROOT\\StandardCimv2", query, {}};
  for (const Setting& setting : settings) {
    wmi.properties.emplace_back(setting.property);
  }
  const Outcome<WmiRow> row = AskWmi(wmi);
  for (const Setting& setting : settings) {
    facts.push_back(row.has_value()
                        ? ToFact(setting, row.value())
                        : Unknown(setting.name, row.error().message));
  }
}

template <std::size_t kCount>
void AddUnknown(const std::array<Setting, kCount>& settings,
                std::vector<Fact>& facts) {
  for (const Setting& setting : settings) {
    facts.push_back(Unknown(setting.name,
                            "Wine has no TCP of its own: the settings are "
                            "those of the host's kernel"));
  }
}

}  // namespace

std::vector<Fact> ReadTcpSettings() {
  std::vector<Fact> facts;
  if (ReadWineVersion()) {
    AddUnknown(kTcpSettings, facts);
    AddUnknown(kOffloadSettings, facts);
    return facts;
  }
  AddSettings(kTcpQuery, kTcpSettings, facts);
  AddSettings(kOffloadQuery, kOffloadSettings, facts);
  return facts;
}

}  // namespace wiretoll
