#include "platform/win32/version.h"

#include <cctype>
#include <sstream>
#include <vector>

#include "platform/win32/facts.h"
#include "platform/win32/native.h"

namespace wiretoll {
namespace {

constexpr const wchar_t* kWindowsVersionKey =
    L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";

// The registry says "Windows 10" of Windows 11 too.
constexpr std::uint32_t kFirstBuildOf11 = 22'000;

// GetVersionEx() answers what a program's manifest says that it knows;
// RtlGetVersion() the truth.
RTL_OSVERSIONINFOEXW AskKernel() {
  using RtlGetVersion = LONG(WINAPI*)(RTL_OSVERSIONINFOEXW*);
  RTL_OSVERSIONINFOEXW info{};
  info.dwOSVersionInfoSize = sizeof info;
  const auto ask = LookUp<RtlGetVersion>(L"ntdll.dll", "RtlGetVersion");
  if (ask != nullptr) ask(&info);
  return info;
}

std::optional<std::uint32_t> ReadRevision() {
  const Result<Fact::Value> read = ReadRegistry({kWindowsVersionKey, L"UBR"});
  if (!read.has_value()) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(&read.value());
  if (number == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// "Windows Server 2022" of "Windows Server 2022 Datacenter".
std::string ServerName(const std::string& product) {
  std::istringstream words(product);
  std::string windows;
  std::string server;
  std::string year;
  words >> windows >> server >> year;
  const std::string name = "Windows Server";
  const bool dated =
      !year.empty() && std::isdigit(static_cast<unsigned char>(year[0])) != 0;
  return dated && server == "Server" ? name + " " + year : name;
}

std::string ClientName(const WindowsVersion& version) {
  if (version.major == 10) {
    return version.build >= kFirstBuildOf11 ? "Windows 11" : "Windows 10";
  }
  if (version.major == 6 && version.minor == 3) return "Windows 8.1";
  if (version.major == 6 && version.minor == 2) return "Windows 8";
  if (version.major == 6 && version.minor == 1) return "Windows 7";
  return "Windows " + std::to_string(version.major) + "." +
         std::to_string(version.minor);
}

// "6.18" of "6.18.44-cloud-amd64"; all of it where it begins otherwise.
std::string MajorMinor(const std::string& release) {
  const std::size_t first_dot = release.find('.');
  const std::size_t end = release.find_first_not_of(
      "0123456789", first_dot == std::string::npos ? 0 : first_dot + 1);
  return release.substr(0, end);
}

}  // namespace

WindowsVersion ReadWindowsVersion() {
  const RTL_OSVERSIONINFOEXW info = AskKernel();
  WindowsVersion version;
  version.major = info.dwMajorVersion;
  version.minor = info.dwMinorVersion;
  version.build = info.dwBuildNumber;
  version.revision = ReadRevision();
  version.server = info.wProductType != VER_NT_WORKSTATION;
  version.feature_update =
      RegistryText({kWindowsVersionKey, L"DisplayVersion"});
  // Before 20H2 it had another name.
  if (version.feature_update.empty()) {
    version.feature_update = RegistryText({kWindowsVersionKey, L"ReleaseId"});
  }
  version.product = RegistryText({kWindowsVersionKey, L"ProductName"});
  return version;
}

std::optional<WineVersion> ReadWineVersion() {
  using Tell = const char*(__cdecl*)();
  using TellHost = void(__cdecl*)(const char**, const char**);
  constexpr const wchar_t* kLibrary = L"ntdll.dll";
  const auto version = LookUp<Tell>(kLibrary, "wine_get_version");
  if (version == nullptr) return std::nullopt;
  WineVersion wine;
  wine.version = version();
  if (const auto build = LookUp<Tell>(kLibrary, "wine_get_build_id")) {
    wine.build = build();
  }
  if (const auto host = LookUp<TellHost>(kLibrary, "wine_get_host_version")) {
    const char* system = "";
    const char* release = "";
    host(&system, &release);
    wine.host_system = system;
    wine.host_release = release;
  }
  return wine;
}

std::string NameOf(const WindowsVersion& version) {
  std::string name =
      version.server ? ServerName(version.product) : ClientName(version);
  if (!version.feature_update.empty()) name += " " + version.feature_update;
  name += " (" + std::to_string(version.build);
  if (version.revision) name += "." + std::to_string(*version.revision);
  return name + ")";
}

std::string NameOf(const WineVersion& version) {
  const std::string name = "Wine " + version.version;
  if (version.host_system.empty()) return name;
  return name + " on " + version.host_system + " " +
         MajorMinor(version.host_release);
}

std::string KernelOf(const WindowsVersion& version) {
  std::string kernel = std::to_string(version.major) + "." +
                       std::to_string(version.minor) + "." +
                       std::to_string(version.build);
  if (version.revision) kernel += "." + std::to_string(*version.revision);
  return kernel;
}

}  // namespace wiretoll
