#include "harness/lab/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/containers.h"
#include "harness/lab/wine.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr int kMostLabsOfOneProcess = 1000;
// For its server to end all that runs under it.
constexpr milliseconds kWineGrace{3000};

struct ProcessStat {
  char state = '?';
  std::int64_t started_ticks = 0;
};

// proc(5): the name stands in parentheses and may hold anything; the state is
// the first field after it, the start time the 20th.
std::optional<ProcessStat> ReadStat(std::int64_t pid) {
  const std::string text = ReadAll(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  const std::vector<std::string> words(
      (std::istream_iterator<std::string>(fields)), {});
  if (words.size() < 20 || words[0].empty()) return std::nullopt;
  return ProcessStat{words[0][0], std::strtoll(words[19].c_str(), nullptr, 10)};
}

std::string UserId() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    std::string uid;
    if (words >> key >> uid && key == "Uid:") return uid;
  }
  return "unknown";
}

// Makes it ours alone; fails where it belongs to somebody else.
bool PrepareFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || fs::is_symlink(folder, error)) return false;
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return false;
  const fs::path probe = folder / "write-test";
  const bool writable = std::ofstream(probe).put('\n').flush().good();
  fs::remove(probe, error);
  return writable;
}

std::vector<fs::path> FolderChoices() {
  std::vector<fs::path> choices{"/run/wiretoll"};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') {
    choices.push_back(fs::path(runtime) / "wiretoll");
  }
  choices.emplace_back("/tmp/wiretoll-" + UserId());
  return choices;
}

Outcome<fs::path> StateFolder() {
  for (const fs::path& folder : FolderChoices()) {
    if (PrepareFolder(folder)) return folder;
  }
  return NothingRan(
      "no folder for the lab's state: neither /run/wiretoll nor "
      "$XDG_RUNTIME_DIR/wiretoll nor /tmp/wiretoll-" +
      UserId() + " can be written; make one of them writable");
}

fs::path FileOf(const fs::path& folder, const std::string& id) {
  return folder / ("lab-" + id + ".json");
}

fs::path FolderOf(const fs::path& folder, const std::string& id) {
  return folder / ("lab-" + id + ".d");
}

json ToJson(const LabRecord& record) {
  json hosts = json::array();
  for (const LabHost& host : record.hosts) {
    hosts.push_back({{"name", host.name},
                     {"address", host.address},
                     {"netns", host.netns},
                     {"agent", host.agent}});
  }
  return {{"v", 1},
          {"id", record.id},
          {"kept", record.kept},
          {"namespaces", record.namespaces},
          {"hosts", std::move(hosts)},
          {"link", record.link},
          {"engine", record.engine},
          {"containers", record.containers},
          {"network", record.network}};
}

void FillFromJson(const json& from, LabRecord& record) {
  record.kept = from.at("kept").get<bool>();
  record.namespaces = from.at("namespaces").get<std::vector<std::string>>();
  record.link = from.at("link").get<std::string>();
  // Missing in what an earlier version wrote.
  using Words = std::vector<std::string>;
  record.engine = from.value("engine", Words());
  record.containers = from.value("containers", Words());
  record.network = from.value("network", std::string());
  for (const json& host : from.at("hosts")) {
    record.hosts.push_back({host.at("name").get<std::string>(),
                            host.at("address").get<std::string>(),
                            host.at("netns").get<std::string>(),
                            host.at("agent").get<std::vector<std::string>>()});
  }
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1) return std::nullopt;
  return number;
}

// "lab-4711-123456-2.json". Empty: no file of ours.
std::optional<LabRecord> FromFileName(std::string_view name) {
  if (!name.starts_with("lab-") || !name.ends_with(".json")) return {};
  name.remove_prefix(4);
  name.remove_suffix(5);
  LabRecord record;
  record.id = name;
  std::vector<std::int64_t> numbers;
  std::istringstream parts(record.id);
  for (std::string part; std::getline(parts, part, '-');) {
    const std::optional<std::int64_t> number = ParseNumber(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() < 2 || numbers.size() > 3) return std::nullopt;
  record.owner = {numbers[0], numbers[1]};
  return record;
}

bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

// The rule that keeps foreign namespaces safe, whatever a file says.
std::vector<std::string> OwnNamespaces(const LabRecord& record) {
  const std::string prefix = NamespacePrefix(record) + "-";
  std::vector<std::string> own;
  for (const std::string& name : record.namespaces) {
    if (name.starts_with(prefix) && IsPlain(name)) {
      own.push_back(name);
    }
  }
  return own;
}

std::vector<std::string> ProcessesInside(const std::string& netns) {
  const Outcome<std::string> pids =
      RunCommand({{"ip", "netns", "pids", netns}, "", milliseconds(10'000)});
  if (!pids.has_value()) return {};  // Gone meanwhile.
  std::istringstream words(pids.value());
  return {std::istream_iterator<std::string>(words), {}};
}

void EndProcessesInside(const std::string& netns, milliseconds grace) {
  std::vector<std::string> pids = ProcessesInside(netns);
  if (AnyWineServer(pids)) {
    EndWine(pids);
    grace = std::max(grace, kWineGrace);
  }
  const auto until = std::chrono::steady_clock::now() + grace;
  while (!pids.empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(20));
    pids = ProcessesInside(netns);
  }
  if (pids.empty()) return;
  std::vector<std::string> words{"sh", "-c", "kill -9 \"$@\"", "kill"};
  words.insert(words.end(), pids.begin(), pids.end());
  // One that ended meanwhile makes kill complain; what counts is the look at
  // the namespace afterwards.
  (void)TryCommand({std::move(words), "", milliseconds(10'000)});
}

}  // namespace

Outcome<LabOwner> ThisProcess() {
  std::error_code error;
  const std::string pid = fs::read_symlink("/proc/self", error).string();
  const std::int64_t number = std::strtoll(pid.c_str(), nullptr, 10);
  const std::optional<ProcessStat> stat = ReadStat(number);
  if (error || !stat) {
    return NothingRan("/proc cannot be read; a lab needs it mounted");
  }
  return LabOwner{number, stat->started_ticks};
}

bool IsAlive(const LabOwner& owner) {
  const std::optional<ProcessStat> stat = ReadStat(owner.pid);
  return stat && stat->started_ticks == owner.started_ticks &&
         stat->state != 'Z' && stat->state != 'X';
}

std::string NamespacePrefix(const LabRecord& record) {
  const auto dashes = std::count(record.id.begin(), record.id.end(), '-');
  std::string prefix = fmt::format("wiretoll-{}", record.owner.pid);
  // A third part numbers the owner's further labs.
  if (dashes == 2) {
    prefix += '.';
    prefix += record.id.substr(record.id.rfind('-') + 1);
  }
  return prefix;
}

Outcome<LabRecord> CreateRecord(const LabOwner& owner) {
  const Outcome<fs::path> folder = StateFolder();
  if (!folder.has_value()) return folder.error();
  LabRecord record;
  record.owner = owner;
  for (int number = 1; number <= kMostLabsOfOneProcess; ++number) {
    record.id = fmt::format("{}-{}", owner.pid, owner.started_ticks);
    if (number > 1) record.id += fmt::format("-{}", number);
    const fs::path file = FileOf(folder.value(), record.id);
    // "x": creates or fails, so that an id is taken by one thread only.
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> taken(
        std::fopen(file.c_str(), "wx"), &std::fclose);
    if (!taken) continue;
    if (Outcome<Done> written = WriteRecord(record); !written.has_value()) {
      return written.error();
    }
    return record;
  }
  return NothingRan("no new state file can be made in " +
                    folder.value().string());
}

Outcome<Done> WriteRecord(const LabRecord& record) {
  const Outcome<fs::path> folder = StateFolder();
  if (!folder.has_value()) return folder.error();
  const fs::path file = FileOf(folder.value(), record.id);
  const fs::path fresh = file.string() + ".new";
  const bool written =
      (std::ofstream(fresh)
       << ToJson(record).dump(1, ' ', false, json::error_handler_t::replace)
       << '\n')
          .flush()
          .good();
  std::error_code error;
  if (written) fs::rename(fresh, file, error);
  if (!written || error) {
    return NothingRan(file.string() + ": cannot be written; is the disk full?");
  }
  return Done{};
}

void RemoveRecord(const LabRecord& record) {
  const Outcome<fs::path> folder = StateFolder();
  if (!folder.has_value()) return;
  std::error_code ignored;
  fs::remove_all(FolderOf(folder.value(), record.id), ignored);
  fs::remove(FileOf(folder.value(), record.id), ignored);
}

Outcome<fs::path> LabFolder(const LabRecord& record) {
  const Outcome<fs::path> folder = StateFolder();
  if (!folder.has_value()) return folder.error();
  const fs::path own = FolderOf(folder.value(), record.id);
  std::error_code error;
  fs::create_directories(own, error);
  if (!error) return own;
  return NothingRan(own.string() + ": " + error.message());
}

Outcome<std::vector<LabRecord>> ReadRecords() {
  const Outcome<fs::path> folder = StateFolder();
  if (!folder.has_value()) return folder.error();
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder.value(), error), end;
       !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  std::vector<LabRecord> records;
  for (const fs::path& file : files) {
    std::optional<LabRecord> record = FromFileName(file.filename().string());
    if (!record) continue;
    try {
      FillFromJson(json::parse(ReadAll(file)), *record);
    } catch (const json::exception&) {
      // Torn by a kill before anything was made: the name says enough.
      record->namespaces.clear();
    }
    records.push_back(std::move(*record));
  }
  return records;
}

bool NamespaceExists(const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path("/run/netns") / name, ignored) ||
         fs::exists(fs::path("/var/run/netns") / name, ignored);
}

Outcome<Done> ClearAway(const LabRecord& record, milliseconds grace) {
  Outcome<Done> removed = RemoveContainers(record);
  if (!removed.has_value()) return removed;
  std::string batch;
  for (const std::string& name : OwnNamespaces(record)) {
    if (!NamespaceExists(name)) continue;
    EndProcessesInside(name, grace);
    batch += "netns del " + name + "\n";
  }
  // -force: one that another process removed just now must not keep the rest.
  std::string said;
  if (!batch.empty()) {
    const Outcome<CommandResult> deleted = TryCommand(
        {{"ip", "-force", "-batch", "-"}, batch, milliseconds(10'000)});
    said =
        deleted.has_value() ? deleted.value().errors : deleted.error().message;
  }
  for (const std::string& name : OwnNamespaces(record)) {
    if (NamespaceExists(name)) {
      return NothingRan(fmt::format(
          "network namespace {} cannot be removed: {}; remove it with: ip "
          "netns del {}",
          name, said, name));
    }
  }
  RemoveRecord(record);
  return Done{};
}

}  // namespace wiretoll
