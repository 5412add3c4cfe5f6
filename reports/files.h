// Files of a report: whole or not there.
#ifndef WIRETOLL_REPORTS_FILES_H_
#define WIRETOLL_REPORTS_FILES_H_

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include "harness/base/result.h"

namespace wiretoll {

// kNothingRan: "PATH cannot be written: WHY".
Failure CannotWrite(const std::filesystem::path& path, const std::string& why);

using FileFiller = std::function<Outcome<Done>(std::ostream&)>;

// Replaces the file. Takes away what it made where the disk did not take all
// of it: half a page would pass for a whole one. kNothingRan: names the path.
// A failure of `fill` is given on.
Outcome<Done> WriteWholeFile(const std::filesystem::path& path,
                             const FileFiller& fill);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_FILES_H_
