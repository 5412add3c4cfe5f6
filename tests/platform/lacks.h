// What an implementation of the seam cannot do, in one list.
#ifndef WIRETOLL_TESTS_PLATFORM_LACKS_H_
#define WIRETOLL_TESTS_PLATFORM_LACKS_H_

#include <gtest/gtest.h>

#include <string>

namespace wiretoll {

// Why the stack under test cannot pass the test that is running, and where it
// can be run; empty where it must pass.
std::string WhyItCannot();

}  // namespace wiretoll

// First line of a test that not every stack can pass.
#define WIRETOLL_SKIP_WHAT_IT_LACKS() \
  if (const std::string why = WhyItCannot(); !why.empty()) GTEST_SKIP() << why

#endif  // WIRETOLL_TESTS_PLATFORM_LACKS_H_
