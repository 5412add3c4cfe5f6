// Running gnuplot as a child that may be missing, fail or hang.
#ifndef WIRETOLL_REPORTS_GNUPLOT_H_
#define WIRETOLL_REPORTS_GNUPLOT_H_

#include <chrono>
#include <filesystem>
#include <string>

#include "harness/base/result.h"

namespace wiretoll {

// A folder of our own under the system's temporary one, for its owner only.
// Gone, with all that is in it, when the object is.
class ScratchFolder {
 public:
  // kNothingRan: names the place and the remedy.
  static Outcome<ScratchFolder> Make();
  explicit ScratchFolder(std::filesystem::path path) noexcept
      : path_(std::move(path)) {}
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs the gnuplot that PATH finds over `script` (a name inside `folder`, its
// working directory), without the user's settings, and waits at most `limit`.
// The failure says what is missing or what gnuplot complained of, and the
// remedy; the child and its children are gone in any case.
Outcome<Done> RunGnuplot(const std::filesystem::path& folder,
                         const std::string& script,
                         std::chrono::milliseconds limit);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_GNUPLOT_H_
