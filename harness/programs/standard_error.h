// Standard error, for text that must be seen at once.
#ifndef WIRETOLL_HARNESS_PROGRAMS_STANDARD_ERROR_H_
#define WIRETOLL_HARNESS_PROGRAMS_STANDARD_ERROR_H_

#include <cstdio>
#include <string>

namespace wiretoll {

inline void WriteError(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_STANDARD_ERROR_H_
