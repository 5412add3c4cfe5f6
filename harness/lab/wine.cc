#include "harness/lab/wine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/lab/cache_folder.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMostPrefixes = 32;
constexpr int kTakenCode = 75;  // Any that flock(1) has no meaning for.
// Another lab's look whether a prefix is taken holds the lock for a moment.
constexpr int kPatience = 2;
// A prefix takes 10 s on an idle machine.
constexpr seconds kMakeTimeout{180};
constexpr seconds kCommandTimeout{120};

// --- The coordinator's side -------------------------------------------------

// Debian's `wine` says at each start that the 32-bit half is missing.
Outcome<std::string> FindWineProgram() {
  for (const char* name : {"/usr/lib/wine/wine64", "wine", "wine64"}) {
    Outcome<std::string> found = FindProgram(name);
    if (found.has_value()) return found;
  }
  return FindProgram("wine");
}

// `patience`: seconds to wait for whoever holds the lock.
std::vector<std::string> Locked(const std::string& prefix, int patience,
                                std::vector<std::string> words) {
  words.insert(words.begin(), {"flock", "--wait", std::to_string(patience),
                               "--no-fork", "--conflict-exit-code",
                               std::to_string(kTakenCode), prefix + ".lock"});
  return words;
}

Outcome<bool> IsTaken(const std::string& prefix) {
  const Outcome<CommandResult> tried =
      TryCommand({Locked(prefix, 0, {"true"}), "", seconds(10)});
  if (!tried.has_value()) return tried.error();
  const CommandResult& result = tried.value();
  if (result.exit_code == 0 || result.exit_code == kTakenCode)
    return result.exit_code == kTakenCode;
  return NothingRan(fmt::format(
      "{}.lock: cannot be locked: {}; let XDG_CACHE_HOME name another folder",
      prefix, result.errors));
}

std::vector<std::string> WineEnvironment(const std::string& prefix) {
  return {"env",
          "-u",
          "DISPLAY",
          "-u",
          "WAYLAND_DISPLAY",
          "WINEDEBUG=-all",
          "WINEPREFIX=" + prefix};
}

std::vector<std::string> KeeperWords(const LabHost& host, const LabSpec& spec,
                                     const WineTools& tools,
                                     const std::string& prefix) {
  // A session of its own, so that Ctrl-C reaches us and not Wine.
  std::vector<std::string> words{"setsid"};
  words.insert(words.end(), host.agent.begin(), host.agent.end());
  for (std::string& word : WineEnvironment(prefix)) {
    words.push_back(std::move(word));
  }
  // Else a prefix in the making asks for a download of Mono and Gecko.
  words.emplace_back("WINEDLLOVERRIDES=mscoree,mshtml=");
  for (std::string& word : Locked(prefix, kPatience,
                                  {fs::absolute(spec.self).string(), "lab-wine",
                                   prefix, tools.wine, tools.server})) {
    words.push_back(std::move(word));
  }
  return words;
}

Outcome<StartedWine> StartWith(const LabHost& host, const LabSpec& spec,
                               const WineTools& tools,
                               const std::string& prefix) {
  std::error_code ignored;
  if (spec.say && !fs::exists(fs::path(prefix) / "ready", ignored)) {
    spec.say(fmt::format(
        "making a prefix for Wine, once, in about 15 s (700 MB): {}", prefix));
  }
  Outcome<BackgroundProcess> keeper = BackgroundProcess::Start(
      KeeperWords(host, spec, tools, prefix), "ready", kMakeTimeout);
  if (!keeper.has_value()) return keeper.error();
  std::vector<std::string> agent = WineEnvironment(prefix);
  agent.push_back(tools.wine);
  agent.push_back(tools.agent);
  return StartedWine{prefix, std::move(agent), std::move(keeper.value())};
}

// --- The keeper's side ------------------------------------------------------

Outcome<Done> CheckNoWayOut() {
  for (const char* family : {"-4", "-6"}) {
    const Outcome<std::string> routes =
        RunCommand({{"ip", family, "route", "show", "table", "all", "default"},
                    "",
                    seconds(10)});
    if (!routes.has_value()) return routes.error();
    if (routes.value().empty()) continue;
    return NothingRan("Wine is not started where there is a way out: " +
                      routes.value());
  }
  return Done{};
}

// Services inherit the output of the first program and keep it open, so it
// goes into a file. The text is fixed; the rest stands in "$@".
Outcome<Done> Quietly(const std::string& log, std::vector<std::string> words) {
  const std::string spelled = SpellCommand(words);
  words.insert(
      words.begin(),
      {"sh", "-c", R"(log=$1; shift; exec "$@" >"$log" 2>&1 </dev/null)", "sh",
       log});
  const Outcome<CommandResult> done =
      TryCommand({std::move(words), "", kCommandTimeout});
  if (!done.has_value()) return done.error();
  if (done.value().exit_code == 0) return Done{};
  return NothingRan(fmt::format("{}: exit code {}: {}", spelled,
                                done.value().exit_code, ReadAll(log)));
}

bool IsWineServer(const fs::path& process) {
  return ReadAll(process / "comm").starts_with("wineserver");
}

bool Serves(const fs::path& process, const std::string& prefix) {
  const std::string wanted = "WINEPREFIX=" + prefix + '\0';
  return ('\0' + ReadAll(process / "environ")).find('\0' + wanted) !=
         std::string::npos;
}

struct WineUp {
  std::string prefix;
  std::string wine;
  std::string server;
  [[nodiscard]] std::string log() const { return prefix + ".log"; }
};

// The prefix has a server, and it is in our own namespace: the one thing that
// keeps what Wine sends inside the lab.
Outcome<Done> CheckServer(const WineUp& up) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/ns/net", error);
  int here = 0;
  for (fs::directory_iterator entry("/proc", error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path& process = entry->path();
    if (!IsWineServer(process) || !Serves(process, up.prefix)) continue;
    std::error_code gone;
    if (fs::read_symlink(process / "ns/net", gone) != own || gone) {
      return NothingRan(fmt::format(
          "{}: its Wine server (process {}) is outside the lab, and so would "
          "be what Wine sends; end it: WINEPREFIX={} wineserver -k",
          up.prefix, process.filename().string(), up.prefix));
    }
    ++here;
  }
  if (!error && here > 0) return Done{};
  return NothingRan(fmt::format(
      "{}: no Wine server came up in the lab; is one running elsewhere? End "
      "it: WINEPREFIX={} wineserver -k. The server said: {}",
      up.prefix, up.prefix, ReadAll(up.log())));
}

// Without an end: a lab that is kept may be idle for long. What the server
// gives as its exit code where another one is there is no matter: what counts
// is who serves now.
Outcome<Done> StartServer(const WineUp& up) {
  (void)Quietly(up.log(), {up.server, "-p"});
  return CheckServer(up);
}

void StopServer(const WineUp& up) {
  (void)Quietly(up.log(), {up.server, "-k"});
  (void)Quietly(up.log(), {up.server, "-w"});
}

// Whole or not there: what a killed one left is made anew. The server is
// stopped in between, which has it write down its registry.
Outcome<Done> MakePrefix(const WineUp& up) {
  const fs::path ready = fs::path(up.prefix) / "ready";
  std::error_code error;
  if (fs::exists(ready, error)) return Done{};
  fs::remove_all(up.prefix, error);
  fs::create_directories(up.prefix, error);
  if (error)
    return NothingRan(up.prefix + ": cannot be made: " + error.message());
  if (auto server = StartServer(up); !server.has_value()) return server;
  auto made = Quietly(up.log(), {up.wine, "wineboot", "--init"});
  // What a fresh prefix plays is Windows 7.
  if (made.has_value()) {
    made = Quietly(up.log(), {up.wine, "winecfg", "-v", "win10"});
  }
  StopServer(up);
  if (!made.has_value()) return made;
  if (std::ofstream(ready).put('\n').flush().good()) return Done{};
  return NothingRan(ready.string() + ": cannot be written; is the disk full?");
}

Outcome<Done> BringUp(const WineUp& up) {
  if (auto closed = CheckNoWayOut(); !closed.has_value()) return closed;
  if (auto made = MakePrefix(up); !made.has_value()) return made;
  if (auto server = StartServer(up); !server.has_value()) return server;
  // Starts the services now: else they would inherit an agent's pipes.
  Outcome<Done> booted = Quietly(up.log(), {up.wine, "wineboot"});
  if (booted.has_value()) return CheckServer(up);
  StopServer(up);
  return booted;
}

}  // namespace

Outcome<WineTools> FindWine(const LabSpec& spec) {
  const Outcome<std::string> wine = FindWineProgram();
  if (!wine.has_value()) return wine.error();
  const Outcome<std::string> server = FindProgram("wineserver");
  if (!server.has_value()) return server.error();
  for (const char* name : {"flock", "setsid"}) {
    const Outcome<std::string> found = FindProgram(name);
    if (!found.has_value()) return found.error();
  }
  const std::string self = fs::absolute(spec.self).string();
  if (const auto found = FindProgram(self); !found.has_value()) {
    return NothingRan("a Wine host needs the wiretoll program, and '" +
                      spec.self.string() + "' is none");
  }
  std::error_code ignored;
  if (fs::is_regular_file(spec.windows_agent, ignored)) {
    return WineTools{wine.value(), server.value(),
                     fs::absolute(spec.windows_agent).string()};
  }
  return NothingRan(fmt::format(
      "a Wine host needs the agent for Windows, and '{}' is not there; build "
      "it with: ./dev windows, or let WIRETOLL_WINDOWS_AGENT name it",
      spec.windows_agent.string()));
}

Outcome<StartedWine> StartWine(const LabHost& host, const LabSpec& spec) {
  const Outcome<WineTools> tools = FindWine(spec);
  if (!tools.has_value()) return tools.error();
  const Outcome<fs::path> folder = CacheFolder("Wine's prefixes (700 MB each)");
  if (!folder.has_value()) return folder.error();
  for (int number = 1; number <= kMostPrefixes; ++number) {
    const std::string prefix =
        (folder.value() / fmt::format("wine-{}", number)).string();
    const Outcome<bool> taken = IsTaken(prefix);
    if (!taken.has_value()) return taken.error();
    if (taken.value()) continue;
    Outcome<StartedWine> started = StartWith(host, spec, tools.value(), prefix);
    if (started.has_value()) return started;
    // Another lab may have come first; else it is Wine that failed.
    const Outcome<bool> now = IsTaken(prefix);
    if (!now.has_value() || !now.value()) return started.error();
  }
  return NothingRan(fmt::format("{}: all {} prefixes are in use by other labs",
                                folder.value().string(), kMostPrefixes));
}

Outcome<Done> WineVerb(const std::vector<std::string>& words) {
  if (words.size() != 4) {
    return Failure{ExitCode::kUsage,
                   "a lab's own: lab-wine PREFIX WINE SERVER"};
  }
  const WineUp up{words[1], words[2], words[3]};
  if (auto is_up = BringUp(up); !is_up.has_value()) return is_up;
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  StopServer(up);
  return Done{};
}

bool AnyWineServer(const std::vector<std::string>& pids) {
  return std::any_of(pids.begin(), pids.end(), [](const std::string& pid) {
    return IsWineServer(fs::path("/proc") / pid);
  });
}

// SIGINT is what `wineserver -k` sends: it ends all under the server and writes
// the registry. Of these processes, which are a lab's, whatever prefix theirs.
void EndWine(const std::vector<std::string>& pids) {
  std::vector<std::string> words{"sh", "-c", "kill -INT \"$@\"", "kill"};
  for (const std::string& pid : pids) {
    if (IsWineServer(fs::path("/proc") / pid)) words.push_back(pid);
  }
  if (words.size() > 4) (void)TryCommand({std::move(words), "", seconds(10)});
}

}  // namespace wiretoll
