#include "harness/lab/cache_folder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "harness/lab/commands.h"

namespace wiretoll {

namespace fs = std::filesystem;

Outcome<fs::path> CacheFolder(const std::string& what) {
  fs::path folder;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && cache[0] == '/') {
    folder = fs::path(cache) / "wiretoll";
  } else if (home != nullptr && home[0] == '/') {
    folder = fs::path(home) / ".cache" / "wiretoll";
  } else {
    return NothingRan("no folder for " + what +
                      ": set XDG_CACHE_HOME or HOME to a full path");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return folder;
  return NothingRan(fmt::format(
      "{}: cannot be made: {}; {} go there, or into the folder that "
      "XDG_CACHE_HOME names",
      folder.string(), error.message(), what));
}

}  // namespace wiretoll
