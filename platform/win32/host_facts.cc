#include "platform/host_facts.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "platform/hypervisor.h"
#include "platform/win32/facts.h"
#include "platform/win32/native.h"
#include "platform/win32/version.h"
#if defined(__x86_64__) || defined(_M_X64)
#include <intrin.h>
#endif

namespace wiretoll {
namespace {

constexpr const wchar_t* kCurrentVersion =
    L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
constexpr const wchar_t* kBios = L"HARDWARE\\DESCRIPTION\\System\\BIOS";
constexpr const wchar_t* kFirstCpu =
    L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
constexpr const wchar_t* kTcpip =
    L"SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters";
constexpr const wchar_t* kAfd =
    L"SYSTEM\\CurrentControlSet\\Services\\AFD\\Parameters";

// Registry values that are the fact. One that is not set leaves Windows its
// own default.
struct FactValue {
  const char* name;
  const wchar_t* key;
  const wchar_t* value;
};

constexpr std::array kFactValues = {
    FactValue{"kernel_build", kCurrentVersion, L"BuildLabEx"},
    FactValue{"edition", kCurrentVersion, L"EditionID"},
    FactValue{"cpu_model", kFirstCpu, L"ProcessorNameString"},
    FactValue{"tcp_1323_options", kTcpip, L"Tcp1323Opts"},
    FactValue{"tcp_sack_options", kTcpip, L"SackOpts"},
    FactValue{"tcp_timed_wait_delay_s", kTcpip, L"TcpTimedWaitDelay"},
    FactValue{"tcp_max_user_port", kTcpip, L"MaxUserPort"},
    FactValue{"disable_task_offload", kTcpip, L"DisableTaskOffload"},
    FactValue{"afd_default_receive_window_bytes", kAfd,
              L"DefaultReceiveWindow"},
    FactValue{"afd_default_send_window_bytes", kAfd, L"DefaultSendWindow"},
};

// FILETIME counts 100 ns.
std::int64_t ToNanoseconds(const FILETIME& file_time) {
  ULARGE_INTEGER ticks;
  ticks.LowPart = file_time.dwLowDateTime;
  ticks.HighPart = file_time.dwHighDateTime;
  return static_cast<std::int64_t>(ticks.QuadPart) * 100;
}

// Of the call that failed just now; not Winsock's.
std::string FailureOf(std::string_view call) {
  return ReasonOf(call, ErrorFrom(::GetLastError()));
}

Fact ReadDistribution(const WindowsVersion& version,
                      const std::optional<WineVersion>& wine) {
  constexpr const char* kName = "distribution";
  if (!wine) return Known(kName, NameOf(version));
  return Known(kName, wine->build.empty() ? NameOf(*wine) : wine->build);
}

// What carries Wine, whose TCP it is.
Fact ReadHostKernel(const std::optional<WineVersion>& wine) {
  constexpr const char* kName = "host_kernel";
  if (!wine) return Unknown(kName, "this is Windows itself, not Wine");
  if (wine->host_system.empty()) {
    return Unknown(kName, "this Wine does not tell what it runs on");
  }
  return Known(kName, wine->host_system + " " + wine->host_release);
}

#if defined(__x86_64__) || defined(_M_X64)

using CpuidAnswer = std::array<int, 4>;  // EAX, EBX, ECX, EDX.

CpuidAnswer Cpuid(std::uint32_t leaf) {
  CpuidAnswer answer{};
  __cpuid(answer.data(), static_cast<int>(leaf));
  return answer;
}

// CPUID leaf 1 has a bit for "under a hypervisor", leaf 0x40000000 its name.
// Hyper-V is also under the Windows that manages it, and under any Windows
// with virtualization-based security: that one may create partitions.
Fact ReadHypervisor() {
  constexpr const char* kName = "hypervisor";
  if ((static_cast<std::uint32_t>(Cpuid(1)[2]) & (1U << 31)) == 0) {
    return Known(kName, std::string{"none"});
  }
  const CpuidAnswer answer = Cpuid(0x40000000U);
  std::array<char, 13> signature{};
  std::memcpy(signature.data(), &answer[1], 12);
  const std::string name = HypervisorName(signature.data());
  const bool creates_partitions = (Cpuid(0x40000003U)[1] & 1) != 0;
  if (name == "Hyper-V" && creates_partitions) {
    return Known(kName, std::string{"none (this Windows is Hyper-V's root)"});
  }
  return Known(kName, name);
}

#else

Fact ReadHypervisor() {
  return Unknown("hypervisor", "only x86 CPUs are asked for it");
}

#endif

Fact ReadMachineModel() {
  const RegistryValue product{kBios, L"SystemProductName"};
  const std::string vendor = RegistryText({kBios, L"SystemManufacturer"});
  Fact model = FromRegistry("machine_model", product);
  const auto* text = std::get_if<std::string>(&model.value);
  if (text != nullptr && !vendor.empty()) model.value = vendor + " " + *text;
  return model;
}

Fact ReadMachine() {
  SYSTEM_INFO info{};
  ::GetNativeSystemInfo(&info);
  switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64:
      return Known("machine", std::string{"x86_64"});
    case PROCESSOR_ARCHITECTURE_ARM64:
      return Known("machine", std::string{"aarch64"});
    case PROCESSOR_ARCHITECTURE_INTEL:
      return Known("machine", std::string{"i686"});
    default:
      return Unknown("machine",
                     "GetNativeSystemInfo: an architecture without a name "
                     "here: " +
                         std::to_string(info.wProcessorArchitecture));
  }
}

Fact ReadCpusOnline() {
  const DWORD cpus = ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  if (cpus == 0) {
    return Unknown("cpus_online", FailureOf("GetActiveProcessorCount"));
  }
  return Known("cpus_online", std::int64_t{cpus});
}

Fact ReadMemory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0) {
    return Unknown("memory_bytes", FailureOf("GlobalMemoryStatusEx"));
  }
  return Known("memory_bytes", static_cast<std::int64_t>(status.ullTotalPhys));
}

// What the system's time advances by at each timer interrupt: a thread's CPU
// time is counted in these.
Fact ReadTick() {
  constexpr const char* kName = "timer_tick_ns";
  DWORD adjustment = 0;
  DWORD increment = 0;
  BOOL unused = FALSE;
  if (::GetSystemTimeAdjustment(&adjustment, &increment, &unused) == 0 ||
      increment == 0) {
    return Unknown(kName, FailureOf("GetSystemTimeAdjustment"));
  }
  return Known(kName, std::int64_t{increment} * 100);
}

// The timers' period while FineTimers live, as the system then has it.
Fact ReadFineTimer() {
  constexpr const char* kName = "fine_timer_ns";
  using Query = LONG(WINAPI*)(PULONG, PULONG, PULONG);
  const auto query = LookUp<Query>(L"ntdll.dll", "NtQueryTimerResolution");
  if (query == nullptr) {
    return Unknown(kName, "ntdll.dll has no NtQueryTimerResolution");
  }
  ULONG coarsest = 0;
  ULONG finest = 0;
  ULONG current = 0;
  const LONG status = query(&coarsest, &finest, &current);
  if (status != 0 || finest == 0) {
    return Unknown(kName, "NtQueryTimerResolution: failed");
  }
  return Known(kName, std::int64_t{finest} * 100);
}

Fact ReadClockFrequency() {
  LARGE_INTEGER frequency{};
  ::QueryPerformanceFrequency(&frequency);  // Never fails since Windows XP.
  return Known("clock_frequency_hz", std::int64_t{frequency.QuadPart});
}

Observed<double> ReadLoad() {
  return Observed<double>::Not("Windows keeps no load average");
}

}  // namespace

OsIdentity IdentifyOs() {
  OsIdentity identity;
  const WindowsVersion version = ReadWindowsVersion();
  if (const std::optional<WineVersion> wine = ReadWineVersion()) {
    identity.os = "wine";
    identity.stack = NameOf(*wine);
    identity.description =
        identity.stack + ", playing Windows " + KernelOf(version);
    return identity;
  }
  identity.os = "windows";
  identity.stack = NameOf(version);
  const std::string edition = RegistryText({kCurrentVersion, L"EditionID"});
  identity.description =
      edition.empty() ? identity.stack : identity.stack + ", " + edition;
  return identity;
}

std::vector<Fact> ReadHostFacts(const std::string& address) {
  const WindowsVersion version = ReadWindowsVersion();
  const std::optional<WineVersion> wine = ReadWineVersion();
  std::vector<Fact> facts;
  facts.push_back(Known("kernel", KernelOf(version)));
  facts.push_back(ReadDistribution(version, wine));
  facts.push_back(ReadHostKernel(wine));
  facts.push_back(ReadHypervisor());
  facts.push_back(ReadMachineModel());
  facts.push_back(ReadMachine());
  facts.push_back(ReadCpusOnline());
  facts.push_back(ReadMemory());
  facts.push_back(ReadTick());
  facts.push_back(ReadFineTimer());
  facts.push_back(
      Known("clock_source", std::string{"QueryPerformanceCounter"}));
  facts.push_back(ReadClockFrequency());
  facts.push_back(Unknown("load_1min", ReadLoad().reason));
  for (const FactValue& value : kFactValues) {
    facts.push_back(FromRegistry(value.name, {value.key, value.value}));
  }
  for (Fact& fact : ReadTcpSettings()) facts.push_back(std::move(fact));
  for (Fact& fact : ReadInterfaceFacts(address)) {
    facts.push_back(std::move(fact));
  }
  return facts;
}

HostActivity ReadHostActivity() {
  using Count = Observed<std::int64_t>;
  HostActivity activity{
      Count::Not("Windows does not tell what a hypervisor took away"),
      Count::Not(""), ReadLoad()};
  FILETIME idle{};
  FILETIME kernel{};
  FILETIME user{};
  if (::GetSystemTimes(&idle, &kernel, &user) == 0) {
    activity.busy_ns = Count::Not(FailureOf("GetSystemTimes"));
    return activity;
  }
  // Idle time is kernel time to Windows.
  activity.busy_ns = Count::Of(ToNanoseconds(kernel) + ToNanoseconds(user) -
                               ToNanoseconds(idle));
  return activity;
}

}  // namespace wiretoll
