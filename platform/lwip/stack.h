// The lwIP stack inside this process, and its one interface.
#ifndef WIRETOLL_PLATFORM_LWIP_STACK_H_
#define WIRETOLL_PLATFORM_LWIP_STACK_H_

#include <string>

#include "harness/base/result.h"

namespace wiretoll {

struct StackSpec {
  std::string tap;      // A TAP that is there or can be made; the stack's only
                        // interface.
  std::string address;  // IPv4, of that interface.
  std::string netmask = "255.255.255.0";
  std::string gateway;  // Empty: what is not on the net cannot be reached.
  std::string mac;      // "02:77:00:00:00:02"
  int mtu = 1500;       // Bytes, 576 (RFC 1122 3.3.3) to 9000.
};

// Once a process, before any socket. kUsage: what in `spec` is no address;
// kNothingRan: the TAP is not to be had; with the remedy.
Outcome<Done> StartStack(const StackSpec& spec);

// Brings the stack up on loopback alone, where StartStack() was not called:
// 127.0.0.1 and ::1. Whoever opens a socket calls it.
void EnsureStack();

// The TAP's name; empty on loopback alone.
std::string StackInterface();

// Bytes; of the stack's interface.
int StackMtu();

// Whether a socket may be bound to `address`, which lwIP itself never asks.
// Brings the stack up as EnsureStack() does.
bool IsStackAddress(const std::string& address);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_LWIP_STACK_H_
