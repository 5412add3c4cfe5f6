// The one place that says which version this is.
#ifndef WIRETOLL_HARNESS_BASE_VERSION_H_
#define WIRETOLL_HARNESS_BASE_VERSION_H_

namespace wiretoll {

// Set by the build from project(VERSION).
inline constexpr char kVersion[] = WIRETOLL_VERSION;

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_VERSION_H_
