// Hosts that are containers: podman's or docker's, whichever is there. The
// image is built on the spot and holds nothing but the agent.
#ifndef WIRETOLL_HARNESS_LAB_CONTAINERS_H_
#define WIRETOLL_HARNESS_LAB_CONTAINERS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/build.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// How an engine is called on this machine.
struct ContainerEngine {
  std::string name;                      // "podman" or "docker"
  std::vector<std::string> words;        // What stands before its verb.
  std::vector<std::string> run_options;  // What `run` needs beyond that.
  std::string version;                   // As it says.
  std::string image;                     // Of the agent, built.
};

// Ways to call an engine, plainest first: what some machines need is not asked
// of all.
struct EngineTry {
  std::vector<std::string> options;
  std::vector<std::string> run_options;
};
std::vector<EngineTry> EngineTries(const std::string& name);

// The first engine and the first way in which the agent's image is built and
// the agent runs in it. WIRETOLL_CONTAINER_ENGINE, a name or path, is the only
// one tried where it is set. kUsage: that is neither. kNothingRan: none works,
// with what each said and the remedy.
Outcome<ContainerEngine> FindEngine(const LabSpec& spec);

// The commands, as pure words.
std::vector<std::string> NetworkWords(const ContainerEngine& engine,
                                      const std::string& network, int mtu);
std::vector<std::string> ContainerWords(const ContainerEngine& engine,
                                        const std::string& network,
                                        const LabHost& host,
                                        const std::string& container);

// One line that names the link as what it is.
std::string DescribeContainerLink(const LabSpec& spec,
                                  const std::string& engine);

// Makes network and containers, all written into the lab's record before, and
// shapes their line where one is asked for. Requires an empty lab with a
// layout. kNothingRan: an engine's command failed, or there is no right to
// shape.
Outcome<Done> MakeContainers(const LabSpec& spec, const ContainerEngine& engine,
                             StandingLab& lab);

// Removes what of the record is there. Only names that begin with the record's
// prefix. kNothingRan: one would not go.
Outcome<Done> RemoveContainers(const LabRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_CONTAINERS_H_
