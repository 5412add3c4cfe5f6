#include "reports/gnuplot.h"

#include <fmt/format.h>

#include <fstream>
#include <random>
#include <thread>

#include "harness/base/boost_process.h"
#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr const char* kErrors = "errors.txt";

std::string RandomName() {
  std::random_device random;
  return fmt::format("wiretoll-report-{:08x}{:08x}", random(), random());
}

// What gnuplot wrote on standard error: its first lines carry the cause.
std::string FirstErrors(const fs::path& folder) {
  constexpr std::size_t kLongest = 300;
  std::ifstream file(folder / kErrors, std::ios::binary);
  std::string text(4 * kLongest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t first = text.find_first_not_of(" \r\n");
  if (first == std::string::npos) return "it said nothing";
  return Shorten(Printable(text.substr(first)), kLongest);
}

// True if the child ended by itself before `limit`. Polls: wait_for() of this
// interface is documented as unreliable.
bool EndsWithin(bp::child& child, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::error_code ignored;
  while (child.running(ignored)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Failure CannotPlot(const std::string& what) {
  return {ExitCode::kNothingRan, what};
}

}  // namespace

Outcome<ScratchFolder> ScratchFolder::Make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  constexpr int kAttempts = 8;
  for (int i = 0; i < kAttempts && !error; ++i) {
    const fs::path path = parent / RandomName();
    // False where the name is taken, be it by a link: not ours, try another.
    if (!fs::create_directory(path, error) || error) continue;
    fs::permissions(path, fs::perms::owner_all, error);
    return ScratchFolder(path);
  }
  return CannotPlot(fmt::format(
      "no temporary folder in {}: {}; set TMPDIR to a folder that can be "
      "written",
      parent.string(), error ? error.message() : "every name was taken"));
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Outcome<Done> RunGnuplot(const fs::path& folder, const std::string& script,
                         std::chrono::milliseconds limit) {
  const auto program = bp::search_path("gnuplot");
  if (program.empty()) {
    return CannotPlot(
        "gnuplot was not found on PATH; install it (Debian: apt install "
        "gnuplot-nox) and make the report again");
  }
  std::error_code error;
  bp::group group;
  bp::child child(program, bp::args = {"-d", script.c_str()},
                  bp::start_dir = folder.string(),
                  bp::std_in<bp::null, bp::std_out> bp::null,
                  bp::std_err > (folder / kErrors).string(), group, error);
  if (error) {
    return CannotPlot(fmt::format("{} could not be started: {}",
                                  program.string(), error.message()));
  }
  if (!EndsWithin(child, limit)) {
    std::error_code ignored;
    group.terminate(ignored);
    child.wait(ignored);
    return CannotPlot(fmt::format(
        "{} did not end within {} s and was stopped; see that `gnuplot "
        "--version` answers, then make the report again",
        program.string(),
        FormatNumber(std::chrono::duration<double>(limit).count())));
  }
  if (child.exit_code() != 0) {
    return CannotPlot(fmt::format(
        "{} ended with status {}: {}; wiretoll needs gnuplot 5.2 or later "
        "with its svg terminal",
        program.string(), child.exit_code(), FirstErrors(folder)));
  }
  return Done{};
}

}  // namespace wiretoll
