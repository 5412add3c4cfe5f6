#include "harness/lab/guest.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>

#include "harness/lab/cache_folder.h"
#include "harness/lab/router.h"
#include "harness/lab/static_program.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Without KVM a boot takes 3 to 10 s on a machine with other work. What is
// waited here is for both accelerators, one after the other.
constexpr seconds kBootTimeout{90};

// The first program in the guest. Its agent reads the end of its input as long
// as nobody has the port open outside, ends, and is started again.
constexpr const char* kInit = R"init(#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do
  [ -e "$module" ] && { $b insmod "$module" || $b echo "wiretoll: $module does not load"; }
done
. /lab.sh
for name in /sys/class/virtio-ports/*/name; do
  [ "$($b cat "$name" 2>/dev/null)" = wiretoll ] && port=/dev/$($b basename "$($b dirname "$name")")
done
[ -n "$port" ] || { $b echo "wiretoll: no virtio port: virtio_console is missing"; $b poweroff -f; }
[ -e "/sys/class/net/$interface" ] || { $b echo "wiretoll: no interface: virtio_net is missing"; $b poweroff -f; }
exec 3<>"$port"
$b echo "wiretoll: the guest is ready"
while :; do
  /bin/wiretoll-agent <&3 >&3 2>/dev/ttyS0
  $b usleep 200000
done
)init";

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

Outcome<Done> WriteText(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (out.write(text.data(), std::ssize(text)).flush()) return Done{};
  return NothingRan(file.string() + ": cannot be written; is the disk full?");
}

Outcome<Done> CopyInto(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) return Done{};
  return NothingRan(fmt::format("{}: cannot be copied to {}: {}", from.string(),
                                to.string(), error.message()));
}

// What the guest's root holds, as a folder.
Outcome<Done> FillRoot(const fs::path& root, const LabSpec& spec,
                       const GuestTools& tools, const GuestKernel& kernel,
                       const std::string& script) {
  std::error_code error;
  for (const char* name : {"bin", "modules", "proc", "sys", "dev"}) {
    fs::create_directories(root / name, error);
    if (error) return NothingRan(root.string() + ": " + error.message());
  }
  std::vector<std::pair<fs::path, fs::path>> copies{
      {tools.busybox, root / "bin/busybox"},
      {spec.agent, root / "bin/wiretoll-agent"}};
  int number = 10;  // Of two digits, so that the shell has them in order.
  for (const fs::path& module : kernel.modules) {
    copies.emplace_back(
        module, root / "modules" /
                    fmt::format("{}-{}", number++, module.filename().string()));
  }
  for (const auto& [from, to] : copies) {
    Outcome<Done> copied = CopyInto(from, to);
    if (!copied.has_value()) return copied;
  }
  Outcome<Done> written = WriteText(root / "lab.sh", script);
  if (written.has_value()) written = WriteText(root / "init", kInit);
  if (!written.has_value()) return written;
  fs::permissions(root / "init", fs::perms::owner_all, error);
  return Done{};
}

Outcome<Done> PackRoot(const fs::path& root, const fs::path& archive) {
  const Outcome<std::string> packed = RunCommand(
      {{"sh", "-c",
        R"(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 >"$2")", "sh",
        root.string(), archive.string()},
       "",
       seconds(30)});
  if (!packed.has_value()) return packed.error();
  std::error_code ignored;
  fs::remove_all(root, ignored);
  return Done{};
}

// Offloads are off at the device, so that the guest never has them: else TCP
// would hand over packets of many segments, which a shaper charges wrongly.
constexpr const char* kNoOffloads =
    "csum=off,gso=off,guest_csum=off,guest_tso4=off,guest_tso6=off,"
    "guest_ecn=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ecn=off,"
    "host_ufo=off";

// The accelerator is GuestVerb()'s.
std::vector<std::string> QemuWords(const GuestTools& tools,
                                   const GuestKernel& kernel,
                                   const fs::path& folder,
                                   const std::string& mac) {
  const auto file = [&](const char* name) { return (folder / name).string(); };
  return {tools.qemu,
          "-nodefaults",
          "-no-user-config",
          "-no-reboot",
          "-display",
          "none",
          "-M",
          "pc",
          "-smp",
          "1",
          "-m",
          "256",
          "-kernel",
          kernel.image.string(),
          "-initrd",
          file("initrd"),
          "-append",
          "console=ttyS0 quiet panic=-1",
          "-serial",
          "file:" + file("console.log"),
          "-device",
          "virtio-serial-pci",
          "-chardev",
          "socket,id=agent,server=on,wait=off,path=" + file("port"),
          "-device",
          "virtserialport,chardev=agent,name=wiretoll",
          "-netdev",
          fmt::format("tap,id=line,ifname={},script=no,downscript=no",
                      kStackInterface),
          "-device",
          fmt::format("virtio-net-pci,netdev=line,romfile=,mac={},{}", mac,
                      kNoOffloads)};
}

// A machine may have /dev/kvm and yet boot nothing by it: that is found out
// once a kernel of its own, and remembered there.
fs::path NoKvmMark(const fs::path& cache) {
  std::string kernel = ReadAll("/proc/sys/kernel/osrelease");
  while (!kernel.empty() && kernel.back() == '\n') kernel.pop_back();
  return cache / ("kvm-boots-nothing-on-" + kernel);
}

std::string Accelerators(const fs::path& mark) {
  std::error_code ignored;
  const bool usable = std::ifstream("/dev/kvm").good() &&
                      std::ofstream("/dev/kvm", std::ios::app).good() &&
                      !fs::exists(mark, ignored);
  return usable ? "kvm,tcg" : "tcg";
}

// The console outlives the lab where the guest did not come up.
Failure KeepConsole(const Failure& failure, const LabHost& host,
                    const fs::path& folder, const fs::path& cache) {
  const fs::path kept = cache / (host.name + ".console.log");
  std::error_code error;
  fs::copy_file(folder / "console.log", kept,
                fs::copy_options::overwrite_existing, error);
  // What was started is long, and QEMU's affair.
  const std::string said = "; it said: ";
  const std::size_t words = failure.message.find(said);
  Failure told = failure;
  told.message = fmt::format(
      "host {} ({}) did not boot: {}", host.name, host.kind,
      words == std::string::npos ? failure.message
                                 : failure.message.substr(words + said.size()));
  if (!error) told.message += "; its console is kept: " + kept.string();
  return told;
}

std::string Describe(const GuestKernel& kernel, const std::string& by) {
  return fmt::format(
      "{} in QEMU ({}), 1 CPU, 256 MiB, virtio without offloads, on a TAP that "
      "a bridge joins to the line; the line was checked before by this "
      "namespace's kernel",
      kernel.origin,
      by == "kvm" ? "KVM" : "TCG: every instruction is translated, no KVM");
}

Outcome<Done> MakeInitrd(const LabSpec& spec, const GuestTools& tools,
                         const GuestKernel& kernel, const fs::path& folder,
                         const std::string& script) {
  const fs::path root = folder / "root";
  Outcome<Done> filled = FillRoot(root, spec, tools, kernel, script);
  return filled.has_value() ? PackRoot(root, folder / "initrd") : filled;
}

std::vector<std::string> KeeperWords(const LabSpec& spec, const LabHost& host,
                                     const fs::path& folder,
                                     const std::string& accelerators,
                                     const std::vector<std::string>& qemu) {
  // A session of its own, so that Ctrl-C reaches us and not the machine.
  std::vector<std::string> words{"setsid"};
  words.insert(words.end(), host.agent.begin(), host.agent.end());
  words.insert(words.end(), {fs::absolute(spec.self).string(), "lab-guest",
                             folder.string(), accelerators});
  words.insert(words.end(), qemu.begin(), qemu.end());
  return words;
}

}  // namespace

Outcome<GuestTools> FindGuestTools(const LabSpec& spec) {
  const Outcome<std::string> qemu = FindProgram("qemu-system-x86_64");
  if (!qemu.has_value()) return qemu.error();
  const Outcome<std::string> busybox = FindProgram("busybox");
  if (!busybox.has_value()) return busybox.error();
  if (!IsStatic(busybox.value())) {
    return NothingRan(busybox.value() +
                      " is not static, and a guest has no libraries: apt-get "
                      "install busybox-static");
  }
  for (const char* name : {"cpio", "setsid", "sh"}) {
    const Outcome<std::string> found = FindProgram(name);
    if (!found.has_value()) return found.error();
  }
  if (auto fit = CheckStatic(spec.agent); !fit.has_value()) return fit.error();
  return GuestTools{qemu.value(), busybox.value()};
}

std::string GuestScript(const Layout& layout, std::size_t host,
                        const std::vector<KernelFile>& files) {
  const std::string& own = layout.hosts[host].address;
  std::string text = fmt::format("interface={}\n", kHostInterface);
  for (const KernelFile& file : files) {
    if (file.value.empty()) continue;
    text += fmt::format("$b echo {} >{} || $b echo 'wiretoll: {} is not set'\n",
                        Quoted(file.value), file.path, file.setting);
  }
  text += fmt::format(
      "$b ip link set lo up\n"
      "$b ip link set eth0 name {0}\n"
      "$b ip link set {0} mtu {1} qlen 10000\n"
      "$b ip link set {0} up\n"
      "$b ip addr add {2}/24 dev {0}\n",
      kHostInterface, layout.mtu, own);
  if (layout.routed) {
    return text + fmt::format(
                      "$b arp -i {0} -s {2} {3}\n"
                      "$b ip route add {1} via {2} dev {0} src {4}\n",
                      kHostInterface, NetworkOf(layout, 1 - host),
                      RouterAddress(host), RouterMac(host), own);
  }
  for (std::size_t other = 0; other < layout.hosts.size(); ++other) {
    if (other == host) continue;
    text += fmt::format("$b arp -i {} -s {} {}\n", kHostInterface,
                        layout.hosts[other].address, HostMac(other));
  }
  return text;
}

Outcome<StartedGuest> StartGuest(const LabSpec& spec, const Layout& layout,
                                 std::size_t host, const GuestKernel& kernel,
                                 const fs::path& folder) {
  const Outcome<GuestTools> tools = FindGuestTools(spec);
  if (!tools.has_value()) return tools.error();
  const Outcome<fs::path> cache = CacheFolder("guests' consoles");
  if (!cache.has_value()) return cache.error();
  Outcome<Done> packed = MakeInitrd(spec, tools.value(), kernel, folder,
                                    GuestScript(layout, host, HostFiles(spec)));
  if (!packed.has_value()) return packed.error();
  const LabHost& its = layout.hosts[host];
  const fs::path mark = NoKvmMark(cache.value());
  const std::string asked = Accelerators(mark);
  Outcome<BackgroundProcess> keeper = BackgroundProcess::Start(
      KeeperWords(spec, its, folder, asked,
                  QemuWords(tools.value(), kernel, folder, HostMac(host))),
      "ready", kBootTimeout);
  if (!keeper.has_value())
    return KeepConsole(keeper.error(), its, folder, cache.value());
  const std::string by = ReadAll(folder / "accelerator");
  if (asked != "tcg" && by == "tcg") (void)WriteText(mark, "");
  return StartedGuest{Describe(kernel, by),
                      {fs::absolute(spec.self).string(), "lab-guest-port",
                       (folder / "port").string()},
                      std::move(keeper.value())};
}

}  // namespace wiretoll
