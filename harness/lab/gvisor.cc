#include "harness/lab/gvisor.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/router.h"
#include "harness/lab/static_program.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::seconds;

constexpr seconds kFirstStart{20};

// In a mount namespace of its own: this runsc refuses to start where /proc/sys
// has more than it knows (Linux 6.18), and reads only these two of it. A number
// of its own for each sandbox, since one may still be ending.
constexpr const char* kStart = R"(set -e
here=$1
ip -force -batch "$here/batch" >/dev/null
map=$(cat /proc/sys/vm/max_map_count) low=$(cat /proc/sys/vm/mmap_min_addr)
mkdir -p "$here/sys"
mount -t tmpfs none "$here/sys"
mkdir "$here/sys/vm"
echo "$map" >"$here/sys/vm/max_map_count"
echo "$low" >"$here/sys/vm/mmap_min_addr"
mount --bind "$here/sys" /proc/sys
exec runsc --root "$here/state" --platform=ptrace --network=sandbox \
  --ignore-cgroups --gso=false --software-gso=false \
  run --bundle "$here/$2" "agent-$$"
)";

json Config(const LabHost& host, const std::vector<std::string>& words) {
  return {{"ociVersion", "1.0.0"},
          {"process",
           {{"terminal", false},
            {"user", {{"uid", 0}, {"gid", 0}}},
            {"args", words},
            {"env", {"PATH=/"}},
            {"cwd", "/"}}},
          {"root", {{"path", "../rootfs"}, {"readonly", true}}},
          {"hostname", host.name},
          {"mounts",
           {{{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}}}},
          {"linux",
           {{"namespaces",
             {{{"type", "pid"}},
              {{"type", "network"}, {"path", "/run/netns/" + host.netns}},
              {{"type", "ipc"}},
              {{"type", "uts"}},
              {{"type", "mount"}}}}}}};
}

Outcome<Done> Write(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (out.write(text.data(), std::ssize(text)).flush()) return Done{};
  return NothingRan(file.string() + ": cannot be written; is the disk full?");
}

Outcome<Done> WriteBundle(const LabSpec& spec, const Layout& layout,
                          std::size_t host, const fs::path& folder) {
  const LabHost& its = layout.hosts[host];
  const std::vector<std::pair<fs::path, std::string>> files{
      {folder / "start.sh", kStart},
      {folder / "batch", GvisorBatch(layout, host)},
      {folder / "serve/config.json", Config(its, {"/wiretoll-agent"}).dump()},
      {folder / "try/config.json",
       Config(its, {"/wiretoll-agent", "--version"}).dump()}};
  for (const auto& [file, text] : files) {
    Outcome<Done> written = Write(file, text);
    if (!written.has_value()) return written;
  }
  std::error_code error;
  fs::create_directories(folder / "rootfs", error);
  fs::copy_file(spec.agent, folder / "rootfs/wiretoll-agent",
                fs::copy_options::overwrite_existing, error);
  if (!error) return Done{};
  return NothingRan(folder.string() + ": " + error.message());
}

std::vector<std::string> StartWords(const LabHost& host, const fs::path& folder,
                                    const char* bundle) {
  std::vector<std::string> words = host.agent;
  words.insert(words.end(),
               {"unshare", "--mount", "sh", (folder / "start.sh").string(),
                folder.string(), bundle});
  return words;
}

std::string FirstLineOf(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

Outcome<Done> CheckGvisor(const LabSpec& spec) {
  for (const char* name : {"runsc", "unshare", "mount", "sh"}) {
    const Outcome<std::string> found = FindProgram(name);
    if (!found.has_value()) return found.error();
  }
  return CheckStatic(spec.agent);
}

std::string GvisorBatch(const Layout& layout, std::size_t host) {
  const std::string& own = layout.hosts[host].address;
  std::string batch = fmt::format("addr replace {}/24 dev {}\nlink set {} up\n",
                                  own, kHostInterface, kHostInterface);
  if (!layout.routed) return batch;
  return batch + fmt::format("route replace {} via {} dev {} src {}\n",
                             NetworkOf(layout, 1 - host), RouterAddress(host),
                             kHostInterface, own);
}

Outcome<PreparedGvisor> PrepareGvisor(const LabSpec& spec, const Layout& layout,
                                      std::size_t host,
                                      const fs::path& folder) {
  const Outcome<Done> written = WriteBundle(spec, layout, host, folder);
  if (!written.has_value()) return written.error();
  const LabHost& its = layout.hosts[host];
  const Outcome<CommandResult> tried =
      TryCommand({StartWords(its, folder, "try"), "", kFirstStart});
  if (!tried.has_value()) return tried.error();
  if (tried.value().exit_code != 0) {
    return NothingRan(fmt::format(
        "host {}: gVisor does not start here: {}; it needs root, ptrace and "
        "mounts: run as root on the machine itself, or leave gvisor out",
        its.name, FirstLineOf(tried.value().errors + tried.value().output)));
  }
  const Outcome<std::string> version = RunCommand({{"runsc", "--version"}});
  if (!version.has_value()) return version.error();
  return PreparedGvisor{
      "gVisor (" + FirstLineOf(version.value()) +
          ", ptrace, segmentation offload off) with the static agent alone; "
          "the line was checked before by this namespace's kernel",
      StartWords(its, folder, "serve")};
}

}  // namespace wiretoll
