#include "reports/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

// As the last call that failed left it.
std::string WhyNot(int error) {
  return error != 0 ? std::generic_category().message(error)
                    : std::string("the system does not say why");
}

}  // namespace

Failure CannotWrite(const fs::path& path, const std::string& why) {
  return {ExitCode::kNothingRan,
          fmt::format("{} cannot be written: {}", path.string(), why)};
}

Outcome<Done> WriteWholeFile(const fs::path& path, const FileFiller& fill) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return CannotWrite(path, WhyNot(errno));
  const Outcome<Done> filled = fill(out);
  out.close();
  if (out && filled.has_value()) return Done{};
  const Failure failure =
      filled.has_value() ? CannotWrite(path, WhyNot(errno)) : filled.error();
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) fs::remove(path, ignored);
  return failure;
}

}  // namespace wiretoll
