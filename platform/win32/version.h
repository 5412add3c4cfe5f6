// Which Windows this is, or which Wine, and what to call it. Included by
// platform/win32/ and its tests only.
#ifndef WIRETOLL_PLATFORM_WIN32_VERSION_H_
#define WIRETOLL_PLATFORM_WIN32_VERSION_H_

#include <cstdint>
#include <optional>
#include <string>

namespace wiretoll {

struct WindowsVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t build = 0;
  std::optional<std::uint32_t> revision;  // "UBR": the updates.
  bool server = false;
  std::string feature_update;  // "23H2", "1909"; empty if not told.
  std::string product;         // "Windows Server 2022 Datacenter"; as told.
};

struct WineVersion {
  std::string version;       // "8.0"
  std::string build;         // "wine-8.0 (Debian 8.0~repack-4)"
  std::string host_system;   // "Linux"
  std::string host_release;  // "6.18.44-cloud-amd64"
};

// As the kernel and the registry tell it. Under Wine, what Wine plays.
WindowsVersion ReadWindowsVersion();

// Nothing on Windows itself.
std::optional<WineVersion> ReadWineVersion();

// "Windows 11 23H2 (22631.3447)", "Windows Server 2022 21H2 (20348.2340)".
std::string NameOf(const WindowsVersion& version);

// "Wine 8.0 on Linux 6.18": what runs is the host's TCP.
std::string NameOf(const WineVersion& version);

// "10.0.22631.3447"; the last part only where it is told.
std::string KernelOf(const WindowsVersion& version);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_VERSION_H_
