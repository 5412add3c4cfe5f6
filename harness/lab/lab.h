// Hosts on this machine, and the link between them. Linux only.
#ifndef WIRETOLL_HARNESS_LAB_LAB_H_
#define WIRETOLL_HARNESS_LAB_LAB_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

struct LinkSpec {
  std::optional<BitsPerSecond> rate;  // Shaped as a true Ethernet; none: as
                                      // fast as the machine.
  Nanoseconds delay{0};               // Each way.
  double loss = 0;                    // Fraction of frames, each way.
  int mtu = 1500;
};

struct LabSpec {
  std::vector<std::string> kinds{"linux", "linux"};  // --lab LIST
  LinkSpec link;
  std::filesystem::path agent;  // wiretoll-agent to run in each host.
  std::filesystem::path self;   // The wiretoll program (delay line).
};

struct LabHost {
  std::string name;     // linux-1, linux-2
  std::string address;  // In the lab's own network.
  std::string netns;    // Name for `ip netns exec`; empty on loopback.
  std::vector<std::string> agent;  // The command that starts its agent.
};

// A lab that is up. Going out of scope takes it down: namespaces, delay line,
// state file; nothing that it did not make.
class Lab {
 public:
  // Removes what dead labs left, then builds. kNothingRan names the command
  // that failed and what it said; nothing is left behind then either.
  static Outcome<Lab> Up(const LabSpec& spec);

  Lab(Lab&&) noexcept;
  Lab& operator=(Lab&&) noexcept;
  ~Lab();

  [[nodiscard]] const std::vector<LabHost>& hosts() const;
  // What the link is and every setting made for it.
  [[nodiscard]] const RecordedLink& link() const;
  // Congestion control that trials set where a study does not say, because
  // the default differs from host to host.
  [[nodiscard]] const std::string& congestion() const;

  // Leaves it standing when this object goes (`wiretoll lab up`).
  void Keep();

 private:
  struct State;
  explicit Lab(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What this process may do here, best first.
enum class LabMeans { kRoot, kUserNamespace, kLoopback };
struct LabAbility {
  LabMeans means;
  std::string reason;  // Why not better, and the remedy.
};
LabAbility ProbeLabAbility();

// Two hosts on 127.0.0.1 and 127.0.0.2, for where namespaces are not to be
// had. Loopback is not a network, and its link says so.
struct LoopbackLab {
  std::vector<LabHost> hosts;
  RecordedLink link;
};
LoopbackLab MakeLoopbackLab(const LabSpec& spec);

struct LabStatus {
  std::string id;
  std::string owner;  // "pid 4711, alive", "kept", "dead"
  std::vector<LabHost> hosts;
  std::string link;
};

// Labs of this tool on this machine, dead ones too.
Outcome<std::vector<LabStatus>> ListLabs();
// Takes down one that was kept, or all of them (empty id); gives how many.
Outcome<int> TakeDown(const std::string& id);
// Removes what dead labs left; gives how many there were.
Outcome<int> RemoveDeadLabs();

// The delay line itself (`wiretoll lab-relay`, started by Lab): forwards
// frames between two TAPs until standard input closes. Prints "ready".
struct RelaySpec {
  std::string tap_a, tap_b;
  Nanoseconds delay{0};
  double loss = 0;
  std::uint64_t seed = 1;
};
Outcome<Done> RunRelay(const RelaySpec& spec);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_LAB_H_
