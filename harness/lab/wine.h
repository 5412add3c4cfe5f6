// Hosts that are Wine. The sockets of a program under Wine are not its own but
// those of Wine's server, in the network namespace where that was started. So
// each host has a server of its own, started in its namespace, and with it a
// prefix of its own: the folder that is a Windows to Wine.
#ifndef WIRETOLL_HARNESS_LAB_WINE_H_
#define WIRETOLL_HARNESS_LAB_WINE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/commands.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// Full paths.
struct WineTools {
  std::string wine;
  std::string server;
  std::string agent;
};

// kNothingRan: one is missing; names the remedy.
Outcome<WineTools> FindWine(const LabSpec& spec);

struct StartedWine {
  std::string prefix;
  std::vector<std::string> agent;  // What follows `ip netns exec NS`.
  // Ends this Wine when it goes, or when this process dies of whatever cause.
  BackgroundProcess keeper;
};

// Starts Wine inside the namespace of `host`, with the first prefix of the
// user's cache folder that no other lab uses; makes it (15 s, 700 MB) where
// there is none. kNothingRan: the namespace has a way out, the server is not
// in it, or Wine failed, with what it said.
Outcome<StartedWine> StartWine(const LabHost& host, const LabSpec& spec);

// "lab-wine PREFIX WINE SERVER", inside the namespace and holding the prefix's
// lock: brings Wine up, prints "ready", and ends it with its standard input.
Outcome<Done> WineVerb(const std::vector<std::string>& words);

// Has the servers among these processes end all that runs under them.
void EndWine(const std::vector<std::string>& pids);
// True if one of these processes is such a server.
bool AnyWineServer(const std::vector<std::string>& pids);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_WINE_H_
