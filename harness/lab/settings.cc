#include "harness/lab/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "harness/lab/commands.h"

namespace wiretoll {
namespace {

constexpr std::chrono::milliseconds kSettingTimeout{10'000};

// Reads "PATH VALUE" lines, "-" standing for no value; answers "PATH VALUE"
// with what the file says afterwards. A text of fixed words: names and values
// come through standard input only. cat, because files under /proc/sys give
// nothing after the first byte to a shell that reads byte by byte.
constexpr const char* kWriteAndReadBack =
    "while read -r file value; do\n"
    "  test \"$value\" = - || printf '%s\\n' \"$value\" >\"$file\"\n"
    "  back=$(cat \"$file\") && printf '%s %s\\n' \"$file\" \"$back\"\n"
    "done\n"
    "exit 0\n";

// Blanks and tabs between numbers are all the same.
std::string Squeezed(const std::string& text) {
  std::istringstream words(text);
  std::string squeezed;
  for (std::string word; words >> word;) {
    squeezed += (squeezed.empty() ? "" : " ") + word;
  }
  return squeezed;
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string Verdict(const KernelFile& file, const Settings& seen,
                    const std::string& complaint) {
  const auto found = seen.find(file.path);
  if (found == seen.end()) return "not there: " + file.path;
  if (file.value.empty() || found->second == Squeezed(file.value)) {
    return found->second;
  }
  return fmt::format("not set: {} asked, {} in force{}", file.value,
                     found->second,
                     complaint.empty() ? "" : ": " + FirstLine(complaint));
}

Settings ParseAnswers(const std::string& output) {
  Settings seen;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    seen[line.substr(0, blank)] = Squeezed(line.substr(blank));
  }
  return seen;
}

// `ethtool -k` says "tx-checksumming: off" or "...: off [fixed]".
Settings ParseFeatures(const std::string& text) {
  Settings features;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream value(line.substr(colon + 1));
    std::string word;
    if (value >> word) features[Squeezed(line.substr(0, colon))] = word;
  }
  return features;
}

Outcome<CommandResult> Ethtool(const Port& port,
                               std::vector<std::string> words) {
  const Outcome<std::string> ethtool = FindProgram("ethtool");
  if (!ethtool.has_value()) return ethtool.error();
  words.insert(words.begin(),
               {"ip", "netns", "exec", port.netns, ethtool.value()});
  return TryCommand({std::move(words), "", kSettingTimeout});
}

}  // namespace

Outcome<Done> ApplyFiles(const std::string& netns,
                         const std::vector<KernelFile>& files, Settings& into) {
  std::string input;
  for (const KernelFile& file : files) {
    input += fmt::format("{} {}\n", file.path,
                         file.value.empty() ? "-" : file.value);
  }
  const Outcome<std::string> shell = FindProgram("sh");
  if (!shell.has_value()) return shell.error();
  const Outcome<CommandResult> done = TryCommand(
      {{"ip", "netns", "exec", netns, shell.value(), "-c", kWriteAndReadBack},
       input,
       kSettingTimeout});
  if (!done.has_value()) return done.error();
  const CommandResult& said = done.value();
  if (said.exit_code != 0) {
    return Failure{
        ExitCode::kNothingRan,
        fmt::format("ip netns exec {}: {}", netns, FirstLine(said.errors))};
  }
  const Settings seen = ParseAnswers(said.output);
  for (const KernelFile& file : files) {
    Merge({{file.setting, Verdict(file, seen, said.errors)}},
          netns + " " + file.path, into);
  }
  return Done{};
}

std::vector<KernelFile> HostFiles(const LabSpec& spec) {
  const std::string ipv4 = "/proc/sys/net/ipv4/";
  std::vector<KernelFile> files{
      // Trials must not teach each other what the path is like.
      {"tcp_no_metrics_save", ipv4 + "tcp_no_metrics_save", "1"},
      // Neighbour discovery and MLD would be frames that nobody sent.
      {"ipv6_disabled", "/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"},
      {"tcp_autocorking", ipv4 + "tcp_autocorking", ""},
      {"tcp_limit_output_bytes", ipv4 + "tcp_limit_output_bytes", ""},
  };
  for (const auto& [name, value] : spec.sysctls) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '.', '/');
    path.insert(0, "/proc/sys/");
    // One that stands above is set there, and recorded under one name.
    const auto same =
        std::find_if(files.begin(), files.end(),
                     [&](const KernelFile& file) { return file.path == path; });
    if (same == files.end()) {
      files.push_back({name, path, value});
    } else {
      same->value = value;
    }
  }
  return files;
}

KernelFile SteeringFile(const Port& port) {
  return {"rps_cpus",
          fmt::format("/sys/class/net/{}/queues/rx-0/rps_cpus", port.interface),
          "1"};
}

KernelFile ForwardingFile() {
  return {"router ip_forward", "/proc/sys/net/ipv4/ip_forward", "1"};
}

Outcome<Settings> SwitchOffloadsOff(const Port& port) {
  // Some of these do not exist on some interfaces: then ethtool complains and
  // does the rest, and the look afterwards is what counts.
  const Outcome<CommandResult> set =
      Ethtool(port, {"-K", port.interface, "tso", "off", "gso", "off", "gro",
                     "off", "tx", "off"});
  if (!set.has_value()) return set.error();
  Outcome<Settings> settings = ReadOffloads(port);
  if (!settings.has_value()) return settings;
  for (const auto& [name, value] : settings.value()) {
    if (value != "on") continue;
    return Failure{
        ExitCode::kNothingRan,
        fmt::format("{} of {} in {} stays on, so frames could not be counted; "
                    "ethtool said: {}",
                    name, port.interface, port.netns,
                    FirstLine(set.value().errors))};
  }
  return settings;
}

Outcome<Settings> ReadOffloads(const Port& port) {
  const Outcome<CommandResult> shown = Ethtool(port, {"-k", port.interface});
  if (!shown.has_value()) return shown.error();
  if (shown.value().exit_code != 0) {
    return Failure{ExitCode::kNothingRan,
                   fmt::format("ethtool -k {} in {}: {}", port.interface,
                               port.netns, FirstLine(shown.value().errors))};
  }
  const Settings features = ParseFeatures(shown.value().output);
  static constexpr std::array<std::pair<const char*, const char*>, 4> kOffloads{
      {{"tso", "tcp-segmentation-offload"},
       {"gso", "generic-segmentation-offload"},
       {"gro", "generic-receive-offload"},
       {"tx_checksum", "tx-checksumming"}}};
  Settings settings;
  for (const auto& [name, feature] : kOffloads) {
    const auto found = features.find(feature);
    settings[name] = found == features.end() ? "not there" : found->second;
  }
  return settings;
}

void Merge(const Settings& from, const std::string& where, Settings& into) {
  for (const auto& [name, value] : from) {
    const auto [there, is_new] = into.try_emplace(name, value);
    if (!is_new && there->second != value) {
      into[fmt::format("{} ({})", name, where)] = value;
    }
  }
}

Outcome<std::string> ChooseCongestion() {
  std::ifstream available(
      "/proc/sys/net/ipv4/tcp_available_congestion_control");
  for (std::string name; available >> name;) {
    if (name == "cubic") return name;
  }
  std::string own;
  if (std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> own) {
    return own;
  }
  return Failure{ExitCode::kNothingRan,
                 "/proc/sys/net/ipv4/tcp_congestion_control cannot be read; a "
                 "lab needs /proc mounted"};
}

}  // namespace wiretoll
