#include "harness/lab/guest_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "harness/lab/cache_folder.h"
#include "harness/lab/commands.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds kFetchTimeout{180};
constexpr seconds kUnpackTimeout{60};
constexpr const char* kArchitecture = "amd64";
// Of the newest, in case a list still names one that the server has no more.
constexpr std::size_t kMostTries = 3;

// In the order in which they need each other; what a kernel has built in is no
// file. BBR, so that a trial may ask for it.
constexpr std::array<std::string_view, 10> kModules{"virtio_ring",
                                                    "virtio",
                                                    "virtio_pci_modern_dev",
                                                    "virtio_pci_legacy_dev",
                                                    "virtio_pci",
                                                    "failover",
                                                    "net_failover",
                                                    "virtio_net",
                                                    "virtio_console",
                                                    "tcp_bbr"};

bool IsSeries(const std::string& which) {
  const std::size_t dot = which.find('.');
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
  };
  return dot != std::string::npos &&
         digits(std::string_view(which).substr(0, dot)) &&
         digits(std::string_view(which).substr(dot + 1));
}

// "virtio_net" of ".../virtio_net.ko.xz"; nothing for what is no module.
std::optional<std::string> ModuleName(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t end = name.find(".ko");
  if (end == std::string::npos) return std::nullopt;
  std::string plain = name.substr(0, end);
  std::replace(plain.begin(), plain.end(), '-', '_');
  return plain;
}

std::map<std::string, fs::path> ModuleFiles(const fs::path& root) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error), end;
       !error && entry != end; entry.increment(error)) {
    if (auto name = ModuleName(entry->path())) files[*name] = entry->path();
  }
  return files;
}

// Plain into `target`: a guest's insmod knows no compression.
Outcome<Done> CopyPlain(const fs::path& module, const fs::path& target) {
  const std::string ending = module.extension().string();
  const char* unpacker = ending == ".xz"    ? "xz"
                         : ending == ".zst" ? "zstd"
                         : ending == ".gz"  ? "gzip"
                                            : nullptr;
  if (unpacker != nullptr) {
    const Outcome<std::string> done =
        RunCommand({{"sh", "-c", R"("$1" -dc "$2" >"$3")", "sh", unpacker,
                     module.string(), target.string()},
                    "",
                    kUnpackTimeout});
    if (!done.has_value()) return done.error();
    return Done{};
  }
  std::error_code error;
  fs::copy_file(module, target, fs::copy_options::overwrite_existing, error);
  if (!error) return Done{};
  return NothingRan(target.string() + ": " + error.message());
}

Outcome<Done> TakeModules(const fs::path& root, const fs::path& target) {
  const auto files = ModuleFiles(root);
  std::error_code error;
  fs::create_directories(target, error);
  if (error) return NothingRan(target.string() + ": " + error.message());
  for (const std::string_view name : kModules) {
    const auto found = files.find(std::string(name));
    if (found == files.end()) continue;
    Outcome<Done> copied =
        CopyPlain(found->second, target / fmt::format("{}.ko", name));
    if (!copied.has_value()) return copied;
  }
  return Done{};
}

std::vector<fs::path> ModulesIn(const fs::path& folder) {
  std::vector<fs::path> modules;
  std::error_code ignored;
  for (const std::string_view name : kModules) {
    fs::path file = folder / fmt::format("{}.ko", name);
    if (fs::exists(file, ignored)) modules.push_back(std::move(file));
  }
  return modules;
}

std::vector<fs::path> FilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<fs::path> FindImage(const fs::path& boot) {
  for (const fs::path& file : FilesIn(boot)) {
    if (file.filename().string().starts_with("vmlinuz-")) return file;
  }
  return std::nullopt;
}

std::optional<fs::path> FetchedPackage(const fs::path& folder) {
  for (const fs::path& file : FilesIn(folder)) {
    if (file.extension() == ".deb") return file;
  }
  return std::nullopt;
}

Failure NotFetched(const std::string& series, const std::string& said) {
  return NothingRan(fmt::format(
      "guest:{0}: no kernel linux-image-{0}.*-cloud-{1} could be fetched{2}; "
      "as "
      "root: apt-get update, and for a series that this Debian does not have "
      "its backports or security archive in /etc/apt/sources.list.d; or name "
      "an image of your own: guest:/boot/vmlinuz-...",
      series, kArchitecture, said.empty() ? "" : ": " + said));
}

// The package's name. apt-get writes into the folder it stands in.
Outcome<std::string> Fetch(const std::string& series, const fs::path& into) {
  const Outcome<std::string> names =
      RunCommand({{"apt-cache", "pkgnames", "linux-image-" + series + "."},
                  "",
                  kUnpackTimeout});
  if (!names.has_value()) return names.error();
  std::vector<std::string> packages = CloudKernels(names.value(), series);
  if (packages.size() > kMostTries) packages.resize(kMostTries);
  std::string said;
  for (const std::string& package : packages) {
    const Outcome<CommandResult> fetched =
        TryCommand({{"sh", "-c", R"(cd "$1" && exec apt-get -q download "$2")",
                     "sh", into.string(), package},
                    "",
                    kFetchTimeout});
    if (!fetched.has_value()) return fetched.error();
    if (fetched.value().exit_code == 0) return package;
    said = fetched.value().errors;
  }
  return NotFetched(series, said);
}

Outcome<Done> Unpack(const fs::path& package, const fs::path& scratch,
                     const fs::path& target) {
  const Outcome<std::string> unpacked = RunCommand(
      {{"dpkg-deb", "-x", package.string(), (scratch / "x").string()},
       "",
       kUnpackTimeout});
  if (!unpacked.has_value()) return unpacked.error();
  const auto image = FindImage(scratch / "x/boot");
  if (!image)
    return NothingRan(package.string() + ": no boot/vmlinuz-* in this package");
  std::error_code error;
  fs::copy_file(*image, target / "vmlinuz",
                fs::copy_options::overwrite_existing, error);
  if (error) return NothingRan(target.string() + ": " + error.message());
  return TakeModules(scratch / "x", target / "modules");
}

// Whole or not there: "origin" is written last.
Outcome<Done> MakeCached(const std::string& series, const fs::path& target) {
  const fs::path scratch = target / "scratch";
  std::error_code error;
  fs::remove_all(target, error);
  fs::create_directories(scratch, error);
  if (error) return NothingRan(scratch.string() + ": " + error.message());
  const Outcome<std::string> package = Fetch(series, scratch);
  if (!package.has_value()) return package.error();
  const auto file = FetchedPackage(scratch);
  if (!file) return NotFetched(series, "apt-get left no package");
  Outcome<Done> unpacked = Unpack(*file, scratch, target);
  if (!unpacked.has_value()) return unpacked;
  fs::remove_all(scratch, error);
  if (std::ofstream(target / "origin")
          .write(package.value().data(), std::ssize(package.value())))
    return Done{};
  return NothingRan((target / "origin").string() +
                    ": cannot be written; is the disk full?");
}

Outcome<GuestKernel> DebianKernel(
    const std::string& series,
    const std::function<void(const std::string&)>& say) {
  const Outcome<fs::path> cache = CacheFolder("guests' kernels (15 MB each)");
  if (!cache.has_value()) return cache.error();
  const fs::path target = cache.value() / "kernels" / series;
  std::error_code ignored;
  if (!fs::exists(target / "origin", ignored)) {
    if (say) {
      say(fmt::format(
          "fetching a Debian kernel {}, once (27 MB, unpacked and never "
          "installed): {}",
          series, target.string()));
    }
    Outcome<Done> made = MakeCached(series, target);
    if (!made.has_value()) {
      fs::remove_all(target, ignored);
      return made.error();
    }
  }
  return GuestKernel{target / "vmlinuz", ModulesIn(target / "modules"),
                     ReadAll(target / "origin")};
}

// Modules of a person's own image are unpacked anew each time: it may have been
// built again.
Outcome<GuestKernel> OwnKernel(const fs::path& image) {
  std::error_code error;
  const fs::path whole = fs::canonical(image, error);
  const fs::path root = whole.parent_path().parent_path() / "lib/modules";
  GuestKernel kernel{whole, {}, whole.string()};
  const std::string name = whole.filename().string();
  const std::size_t dash = name.find('-');
  const fs::path own =
      dash == std::string::npos ? root : root / name.substr(dash + 1);
  if (!fs::is_directory(own, error)) return kernel;
  const Outcome<fs::path> cache = CacheFolder("guests' kernels (15 MB each)");
  if (!cache.has_value()) return cache.error();
  const fs::path target = cache.value() / "kernels/own" / name;
  fs::remove_all(target, error);
  Outcome<Done> taken = TakeModules(own, target);
  if (!taken.has_value()) return taken.error();
  kernel.modules = ModulesIn(target);
  return kernel;
}

// By what is between the digits, and digits as numbers: 6.12.9 before 6.12.10.
std::vector<std::int64_t> Numbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    std::int64_t number = 0;
    for (; i < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[i])) != 0;
         ++i) {
      number = number * 10 + (text[i] - '0');
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<std::string> CloudKernels(const std::string& names,
                                      std::string_view series) {
  const std::string start = fmt::format("linux-image-{}.", series);
  const std::string end = fmt::format("-cloud-{}", kArchitecture);
  std::vector<std::string> kernels;
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) {
    if (name.starts_with(start) && name.ends_with(end)) kernels.push_back(name);
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const std::string& a, const std::string& b) {
              return Numbers(a) > Numbers(b);
            });
  return kernels;
}

Outcome<GuestKernel> FindGuestKernel(
    const std::string& which,
    const std::function<void(const std::string&)>& say) {
  if (IsSeries(which)) return DebianKernel(which, say);
  std::error_code ignored;
  if (fs::is_regular_file(which, ignored)) return OwnKernel(which);
  return Failure{
      ExitCode::kUsage,
      fmt::format("guest:{}: neither a series of kernels, as 6.1 is, "
                  "nor an image that is there",
                  which)};
}

}  // namespace wiretoll
