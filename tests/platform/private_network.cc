#include "tests/platform/private_network.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace wiretoll {
namespace {

// Commands started from here keep their rights only as root of the namespace.
std::string BecomeRoot(uid_t user, gid_t group) {
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream groups("/proc/self/gid_map");
  groups << "0 " << group << " 1" << std::flush;
  std::ofstream users("/proc/self/uid_map");
  users << "0 " << user << " 1" << std::flush;
  return users && groups
             ? ""
             : "no user namespace with a root to be had: run as root";
}

std::string Enter() {
  if (::unshare(CLONE_NEWNET) == 0) return {};
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    return BecomeRoot(user, group);
  }
  return std::string{"no network namespace to be had: "} +
         std::strerror(errno) +
         "; run as root, or set user.max_user_namespaces above 0";
}

}  // namespace

std::string EnterPrivateNetwork() {
  static const std::string kWhyNot = Enter();
  return kWhyNot;
}

bool Shell(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

}  // namespace wiretoll
