// What this process may do here.
#include <utility>

#include "harness/lab/commands.h"
#include "harness/lab/lab.h"

namespace wiretoll {
namespace {

// Empty: it works. Else why not.
std::string TryUnshare(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "unshare");
  flags.insert(flags.end(), {"--net", "--mount", "true"});
  const Outcome<std::string> done =
      RunCommand({std::move(flags), "", std::chrono::milliseconds(5000)});
  return done.has_value() ? std::string() : done.error().message;
}

std::string MissingProgram() {
  for (const char* name : {"ip", "tc", "ethtool", "sh"}) {
    const Outcome<std::string> found = FindProgram(name);
    if (!found.has_value()) return found.error().message;
  }
  return {};
}

}  // namespace

LabAbility ProbeLabAbility() {
  if (std::string missing = MissingProgram(); !missing.empty()) {
    return {LabMeans::kLoopback, std::move(missing)};
  }
  const std::string as_root = TryUnshare({});
  if (as_root.empty()) return {LabMeans::kRoot, {}};
  const std::string as_user = TryUnshare({"--user", "--map-root-user"});
  if (as_user.empty()) {
    return {LabMeans::kUserNamespace,
            "not root (" + as_root +
                "): the lab is made in a user namespace; run as root or with "
                "sudo for every setting"};
  }
  return {LabMeans::kLoopback,
          "network namespaces are not to be had: " + as_root + "; " + as_user +
              "; run as root or with sudo, or allow unprivileged user "
              "namespaces"};
}

std::vector<std::string> UserNamespaceCommand(std::vector<std::string> own) {
  // A /run of its own: the real one, where `ip netns` keeps its names, belongs
  // to root. The text is fixed; the program stands in "$@".
  std::vector<std::string> words{
      "unshare",
      "--user",
      "--map-root-user",
      "--net",
      "--mount",
      "--",
      "sh",
      "-c",
      "mount -t tmpfs -o mode=0755 tmpfs /run && exec \"$@\"",
      "wiretoll"};
  words.insert(words.end(), std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
  return words;
}

}  // namespace wiretoll
