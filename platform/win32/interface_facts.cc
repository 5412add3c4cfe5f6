#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "platform/win32/facts.h"
#include "platform/win32/native.h"
// Last: it lacks what the headers above bring.
#include <iphlpapi.h>

namespace wiretoll {
namespace {

// Network adapters by their setup class, each a subkey "0000", "0001", ...
constexpr const wchar_t* kAdapterClass =
    L"SYSTEM\\CurrentControlSet\\Control\\Class\\"
    L"{4d36e972-e325-11ce-bfc1-08002be10318}";
constexpr const wchar_t* kInterfaces =
    L"SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces\\";

// TCP's settings of one interface; not set means Windows' default.
struct InterfaceValue {
  const char* name;
  const wchar_t* value;
};

constexpr std::array kInterfaceValues = {
    InterfaceValue{"tcp_ack_frequency", L"TcpAckFrequency"},
    InterfaceValue{"tcp_nodelay", L"TCPNoDelay"},
    InterfaceValue{"tcp_delayed_ack_ticks", L"TcpDelAckTicks"},
};

// A standardized keyword of a driver (NDIS), and the bit that answers us.
struct Keyword {
  const char* name;
  const wchar_t* value;
  std::int64_t bit;
};

constexpr std::int64_t kAnyBit = -1;

constexpr std::array kKeywords = {
    Keyword{"tso", L"*LsoV2IPv4", kAnyBit},
    Keyword{"rsc", L"*RscIPv4", kAnyBit},
    // 1: sending, 2: receiving, 3: both.
    Keyword{"tx_checksum_offload", L"*TCPChecksumOffloadIPv4", 1},
    Keyword{"rx_checksum_offload", L"*TCPChecksumOffloadIPv4", 2},
    Keyword{"rss", L"*RSS", kAnyBit},
    Keyword{"interrupt_moderation", L"*InterruptModeration", kAnyBit},
};

// What is told of an interface; the names come with a reason where it is not.
constexpr std::array kLinkNames = {"interface", "driver", "driver_version",
                                   "speed_mbit", "mtu_bytes"};

struct Adapter {
  std::wstring guid;  // "{...}": its name in the registry.
  std::string name;   // "Ethernet 2"
  std::string description;
  std::uint64_t bits_per_second = 0;
  std::uint32_t mtu_bytes = 0;
  bool loopback = false;
};

bool Carries(const sockaddr& candidate, const std::string& address) {
  std::array<std::byte, sizeof(in6_addr)> wanted{};
  if (::inet_pton(candidate.sa_family, address.c_str(), wanted.data()) != 1) {
    return false;
  }
  const bool is_v4 = candidate.sa_family == AF_INET;
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(candidate);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(candidate);
  const void* bits = is_v4 ? static_cast<const void*>(&v4.sin_addr)
                           : static_cast<const void*>(&v6.sin6_addr);
  return std::memcmp(bits, wanted.data(),
                     is_v4 ? sizeof(in_addr) : sizeof(in6_addr)) == 0;
}

bool Carries(const IP_ADAPTER_ADDRESSES& adapter, const std::string& address) {
  for (const auto* unicast = adapter.FirstUnicastAddress; unicast != nullptr;
       unicast = unicast->Next) {
    if (Carries(*unicast->Address.lpSockaddr, address)) return true;
  }
  return false;
}

Adapter Describe(const IP_ADAPTER_ADDRESSES& native) {
  Adapter adapter;
  const std::string guid = native.AdapterName;
  adapter.guid.assign(guid.begin(), guid.end());  // ASCII.
  adapter.name = Utf8(native.FriendlyName);
  adapter.description = Utf8(native.Description);
  adapter.bits_per_second = native.TransmitLinkSpeed;
  adapter.mtu_bytes = native.Mtu;
  adapter.loopback = native.IfType == IF_TYPE_SOFTWARE_LOOPBACK;
  return adapter;
}

// Storage of the list; the entries point into it.
Result<std::vector<std::max_align_t>> ListAdapters() {
  constexpr ULONG kFlags = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST |
                           GAA_FLAG_SKIP_DNS_SERVER;
  constexpr int kAttempts = 4;  // The list may grow between two calls.
  ULONG size = 32 * 1024;
  std::vector<std::max_align_t> room;
  ULONG status = ERROR_BUFFER_OVERFLOW;
  for (int i = 0; i < kAttempts && status == ERROR_BUFFER_OVERFLOW; ++i) {
    room.resize(size / sizeof(std::max_align_t) + 1);
    status = ::GetAdaptersAddresses(
        AF_UNSPEC, kFlags, nullptr,
        reinterpret_cast<IP_ADAPTER_ADDRESSES*>(room.data()), &size);
  }
  if (status != NO_ERROR) return ErrorFrom(status);
  return room;
}

Outcome<Adapter> FindAdapter(const std::string& address) {
  const Result<std::vector<std::max_align_t>> listed = ListAdapters();
  if (!listed.has_value()) {
    return Failure{ExitCode::kNothingRan,
                   ReasonOf("GetAdaptersAddresses", listed.error())};
  }
  for (const auto* adapter =
           reinterpret_cast<const IP_ADAPTER_ADDRESSES*>(listed.value().data());
       adapter != nullptr; adapter = adapter->Next) {
    if (Carries(*adapter, address)) return Describe(*adapter);
  }
  return Failure{ExitCode::kNothingRan, "no interface carries " + address};
}

// The driver's key of the adapter in the registry; empty if it has none.
std::wstring FindDriverKey(const Adapter& adapter) {
  constexpr int kMost = 1000;  // Keys that are gone leave gaps.
  for (int i = 0; i < kMost; ++i) {
    const std::wstring digits = std::to_wstring(i);
    const std::wstring key = std::wstring(kAdapterClass) + L"\\" +
                             std::wstring(4 - digits.size(), L'0') + digits;
    if (RegistryText({key, L"NetCfgInstanceId"}) == Utf8(adapter.guid)) {
      return key;
    }
  }
  return {};
}

Fact ReadSpeed(const Adapter& adapter) {
  constexpr const char* kName = "speed_mbit";
  constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  if (adapter.loopback) {
    return Unknown(kName, "loopback has no line, hence no speed of its own");
  }
  if (adapter.bits_per_second == 0 || adapter.bits_per_second == kUnknown) {
    return Unknown(
        kName, "the driver of " + adapter.name + " does not know its speed");
  }
  return Known(kName,
               static_cast<std::int64_t>(adapter.bits_per_second / 1'000'000));
}

Fact ReadMtu(const Adapter& adapter) {
  constexpr const char* kName = "mtu_bytes";
  if (adapter.mtu_bytes == 0 || adapter.mtu_bytes == ~std::uint32_t{0}) {
    return Unknown(kName, adapter.name + " has no limit of its own");
  }
  return Known(kName, std::int64_t{adapter.mtu_bytes});
}

Fact ReadKeyword(const Keyword& keyword, const Adapter& adapter,
                 const std::wstring& driver_key) {
  if (driver_key.empty()) {
    return Unknown(keyword.name, adapter.name + " has no driver with settings");
  }
  Fact fact = FromRegistry(keyword.name, {driver_key, keyword.value});
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    fact.value = (*number & keyword.bit) != 0;
  }
  return fact;
}

std::vector<Fact> AllUnknown(const std::string& reason) {
  std::vector<Fact> facts;
  for (const char* name : kLinkNames) facts.push_back(Unknown(name, reason));
  for (const InterfaceValue& value : kInterfaceValues) {
    facts.push_back(Unknown(value.name, reason));
  }
  for (const Keyword& keyword : kKeywords) {
    facts.push_back(Unknown(keyword.name, reason));
  }
  return facts;
}

Fact ReadDriverVersion(const Adapter& adapter, const std::wstring& driver_key) {
  if (driver_key.empty()) {
    return Unknown("driver_version",
                   adapter.name + " has no driver with settings");
  }
  return FromRegistry("driver_version", {driver_key, L"DriverVersion"});
}

}  // namespace

std::vector<Fact> ReadInterfaceFacts(const std::string& address) {
  const Outcome<Adapter> found = FindAdapter(address);
  if (!found.has_value()) return AllUnknown(found.error().message);
  const Adapter& adapter = found.value();
  const std::wstring driver_key = FindDriverKey(adapter);

  std::vector<Fact> facts;
  facts.push_back(Known("interface", adapter.name));
  facts.push_back(Known("driver", adapter.description));
  facts.push_back(ReadDriverVersion(adapter, driver_key));
  facts.push_back(ReadSpeed(adapter));
  facts.push_back(ReadMtu(adapter));
  for (const InterfaceValue& value : kInterfaceValues) {
    facts.push_back(
        FromRegistry(value.name, {kInterfaces + adapter.guid, value.value}));
  }
  for (const Keyword& keyword : kKeywords) {
    facts.push_back(ReadKeyword(keyword, adapter, driver_key));
  }
  return facts;
}

}  // namespace wiretoll
