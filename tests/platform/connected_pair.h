// Loopback TCP built on the seam itself, for tests that must hold no OS code.
#ifndef WIRETOLL_TESTS_PLATFORM_CONNECTED_PAIR_H_
#define WIRETOLL_TESTS_PLATFORM_CONNECTED_PAIR_H_

#include <chrono>
#include <string>

#include "platform/socket.h"

namespace wiretoll {

inline constexpr const char* kLoopback = "127.0.0.1";

// Longer than anything here should take on a busy machine.
inline constexpr std::chrono::milliseconds kPatience{20'000};

struct SocketPair {
  Socket near;  // Connected.
  Socket far;   // Accepted.
};

// Throws if the system does not let us.
Socket ListeningSocket(const std::string& address = kLoopback,
                       PortRange ports = {});
SocketPair ConnectedPair(const std::string& address = kLoopback);

// Waits until the peer has acknowledged all. False: it did not within
// kPatience, or this system does not tell.
bool AllAcknowledged(const Socket& socket);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_PLATFORM_CONNECTED_PAIR_H_
