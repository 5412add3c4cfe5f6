// Who takes part in a run: name, address, and the command that starts the
// agent there.
#ifndef WIRETOLL_HARNESS_RUN_HOSTS_H_
#define WIRETOLL_HARNESS_RUN_HOSTS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

struct Host {
  std::string name;
  std::string address;             // Numeric; where its data sockets bind.
  std::vector<std::string> agent;  // Program and arguments; never a shell.
};

struct HostsFile {
  std::vector<Host> hosts;  // In file order.
  RecordedLink link;        // What [path] says; kind "hosts".
};

// TOML:
//   [hosts.win11]
//   agent = ["ssh", "student@192.168.56.11", "wiretoll-agent.exe"]
//   address = "192.168.56.11"
//   [path]                      # optional, what is known of the line between
//   rate = "1gbit"
//   mtu = 1500
//   description = "host-only network of VirtualBox"
// kUsage names file, line, key and remedy.
Outcome<HostsFile> ParseHosts(const std::string& text, const std::string& file);
Outcome<HostsFile> LoadHosts(const std::string& path);

// The same as text, for `wiretoll lab up`. ParseHosts reads it back.
std::string WriteHosts(const HostsFile& hosts);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_HOSTS_H_
