// A network namespace of the test's own, gone with its process.
#ifndef WIRETOLL_TESTS_PLATFORM_PRIVATE_NETWORK_H_
#define WIRETOLL_TESTS_PLATFORM_PRIVATE_NETWORK_H_

#include <string>

namespace wiretoll {

// Moves this process to a network namespace of its own, once. Empty if that
// worked, else why not.
std::string EnterPrivateNetwork();

// Runs a shell command there; true if it succeeded.
bool Shell(const std::string& command);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_PLATFORM_PRIVATE_NETWORK_H_
