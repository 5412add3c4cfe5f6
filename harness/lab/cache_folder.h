// Where a lab keeps what took long to make or to fetch.
#ifndef WIRETOLL_HARNESS_LAB_CACHE_FOLDER_H_
#define WIRETOLL_HARNESS_LAB_CACHE_FOLDER_H_

#include <filesystem>
#include <string>

#include "harness/base/result.h"

namespace wiretoll {

// XDG_CACHE_HOME/wiretoll or ~/.cache/wiretoll, made where it is not there.
// kNothingRan: neither is named, or it cannot be made; `what` goes there,
// "Wine's prefixes (700 MB each)".
Outcome<std::filesystem::path> CacheFolder(const std::string& what);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_CACHE_FOLDER_H_
