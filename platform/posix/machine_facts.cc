// Of the machine, whatever stack its programs speak through.
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstring>
#include <ctime>
#include <optional>
#include <sstream>
#include <utility>

#include "platform/hypervisor.h"
#include "platform/posix/facts.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

constexpr const char* kOsRelease = "/etc/os-release";
constexpr const char* kCpuInfo = "/proc/cpuinfo";
constexpr const char* kStat = "/proc/stat";
constexpr const char* kLoad = "/proc/loadavg";

// The value of `key` in lines of "key<separator>value"; quotes around it go.
std::optional<std::string> FindValue(const std::string& text,
                                     const std::string& key, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t split = line.find(separator);
    if (split == std::string::npos) continue;
    const std::size_t key_end = line.find_last_not_of(" \t", split - 1);
    if (split == 0 || line.substr(0, key_end + 1) != key) continue;
    const std::size_t first = line.find_first_not_of(" \t\"'", split + 1);
    if (first == std::string::npos) return std::nullopt;
    return line.substr(first, line.find_last_not_of(" \t\"'") - first + 1);
  }
  return std::nullopt;
}

Fact FromLine(const char* name, const char* path, const std::string& key,
              char separator) {
  const Result<std::string> text = ReadText(path);
  if (!text.has_value()) return Unknown(name, ReasonOf(path, text.error()));
  const auto value = FindValue(text.value(), key, separator);
  if (!value) return Unknown(name, std::string{path} + ": no " + key);
  return Known(name, *value);
}

#if defined(__x86_64__) || defined(__i386__)

// CPUID leaf 1 has a bit for "under a hypervisor", leaf 0x40000000 its name.
Fact ReadHypervisor() {
  constexpr const char* kName = "hypervisor";
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) {
    return Unknown(kName, "CPUID has no leaf 1");
  }
  if ((c & (1U << 31)) == 0) return Known(kName, std::string{"none"});
  __cpuid(0x40000000U, a, b, c, d);
  std::array<char, 13> vendor{};
  std::memcpy(vendor.data(), &b, 4);
  std::memcpy(vendor.data() + 4, &c, 4);
  std::memcpy(vendor.data() + 8, &d, 4);
  return Known(kName, HypervisorName(vendor.data()));
}

#else

Fact ReadHypervisor() { return FromFile("hypervisor", "/sys/hypervisor/type"); }

#endif

Fact ReadMachineModel() {
  constexpr const char* kVendor = "/sys/class/dmi/id/sys_vendor";
  constexpr const char* kProduct = "/sys/class/dmi/id/product_name";
  const Result<std::string> vendor = ReadText(kVendor);
  const Result<std::string> product = ReadText(kProduct);
  if (!product.has_value()) {
    return Unknown("machine_model", ReasonOf(kProduct, product.error()));
  }
  if (!vendor.has_value()) return Known("machine_model", product.value());
  return Known("machine_model", vendor.value() + " " + product.value());
}

Fact ReadCpusOnline() {
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (cpus < 1) {
    return Unknown("cpus_online", ReasonOf("sysconf", LastError()));
  }
  return Known("cpus_online", std::int64_t{cpus});
}

Fact ReadMemory() {
  struct sysinfo info {};
  if (::sysinfo(&info) < 0) {
    return Unknown("memory_bytes", ReasonOf("sysinfo", LastError()));
  }
  return Known("memory_bytes", static_cast<std::int64_t>(info.totalram) *
                                   static_cast<std::int64_t>(info.mem_unit));
}

// The coarse clock advances once a timer interrupt: its resolution is the
// jiffy that delayed ACKs and retransmissions are rounded to.
Fact ReadTick() {
  constexpr const char* kName = "timer_tick_ns";
  constexpr std::int64_t kShortest = 100'000;
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0) {
    return Unknown(kName, ReasonOf("clock_getres", LastError()));
  }
  if (tick.tv_sec != 0 || tick.tv_nsec < kShortest) {
    return Unknown(kName, "the coarse clock of this system is no timer tick");
  }
  return Known(kName, std::int64_t{tick.tv_nsec});
}

Observed<double> ReadLoad() {
  const Result<std::string> text = ReadText(kLoad);
  if (!text.has_value()) {
    return Observed<double>::Not(ReasonOf(kLoad, text.error()));
  }
  std::istringstream words(text.value());
  double one_minute = 0;
  if (!(words >> one_minute)) {
    return Observed<double>::Not(std::string{kLoad} + ": no number");
  }
  return Observed<double>::Of(one_minute);
}

Fact LoadFact() {
  const Observed<double> load = ReadLoad();
  if (!load.value) return Unknown("load_1min", load.reason);
  return Known("load_1min", *load.value);
}

// The first line of /proc/stat, in ticks; see proc_stat(5).
struct CpuTicks {
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0,
               softirq = 0, steal = 0;
};

Outcome<CpuTicks> ReadCpuTicks() {
  const Result<std::string> text = ReadText(kStat);
  if (!text.has_value()) {
    return Failure{ExitCode::kNothingRan, ReasonOf(kStat, text.error())};
  }
  std::istringstream words(text.value());
  std::string label;
  CpuTicks t;
  words >> label >> t.user >> t.nice >> t.system >> t.idle >> t.iowait >>
      t.irq >> t.softirq >> t.steal;
  if (!words || label != "cpu" || t.user + t.system + t.idle == 0) {
    return Failure{ExitCode::kNothingRan,
                   std::string{kStat} + ": no CPU times in it"};
  }
  return t;
}

}  // namespace

std::string ShortDistribution() {
  const Result<std::string> text = ReadText(kOsRelease);
  if (!text.has_value()) return {};
  std::string name = FindValue(text.value(), "NAME", '=').value_or("");
  for (const char* common : {" GNU/Linux", " Linux"}) {
    if (name.ends_with(common)) name.resize(name.size() - std::strlen(common));
  }
  const auto version = FindValue(text.value(), "VERSION_ID", '=');
  return version ? name + " " + *version : name;
}

std::vector<Fact> ReadMachineFacts() {
  utsname name{};
  ::uname(&name);  // Fails only for a bad pointer.
  std::vector<Fact> facts;
  facts.push_back(FromLine("distribution", kOsRelease, "PRETTY_NAME", '='));
  facts.push_back(ReadHypervisor());
  facts.push_back(ReadMachineModel());
  facts.push_back(Known("machine", std::string{name.machine}));
  facts.push_back(FromLine("cpu_model", kCpuInfo, "model name", ':'));
  facts.push_back(ReadCpusOnline());
  facts.push_back(ReadMemory());
  facts.push_back(ReadTick());
  facts.push_back(LoadFact());
  facts.push_back(FromFile("clock_source",
                           "/sys/devices/system/clocksource/clocksource0/"
                           "current_clocksource"));
  facts.push_back(FromFile(
      "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  return facts;
}

HostActivity ReadHostActivity() {
  using Count = Observed<std::int64_t>;
  HostActivity activity{Count::Not(""), Count::Not(""), ReadLoad()};
  const Outcome<CpuTicks> ticks = ReadCpuTicks();
  if (!ticks.has_value()) {
    activity.steal_ns = Count::Not(ticks.error().message);
    activity.busy_ns = activity.steal_ns;
    return activity;
  }
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  const CpuTicks& t = ticks.value();
  activity.steal_ns = Count::Of(t.steal * tick_ns);
  activity.busy_ns =
      Count::Of((t.user + t.nice + t.system + t.irq + t.softirq) * tick_ns);
  return activity;
}

}  // namespace wiretoll
