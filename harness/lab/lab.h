// Hosts on this machine, and the link between them. Linux only.
#ifndef WIRETOLL_HARNESS_LAB_LAB_H_
#define WIRETOLL_HARNESS_LAB_LAB_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

// Between two hosts, each on a network and a line of its own.
struct RouterSpec {
  // Of the second host's line; else both have LinkSpec::rate. An empty rate
  // that is given: as fast as the machine.
  bool far_given = false;
  std::optional<BitsPerSecond> far_rate;
  // What the router sends either way; none: what the line takes.
  std::optional<BitsPerSecond> rate;
  // Of what waits for a line, counted as on it; none: what the line carries
  // in 100 ms, 30 full frames or more. What finds no room is dropped.
  std::optional<Bytes> queue;
  // The largest packet it passes on, as a tunnel behind it would; none: any.
  std::optional<int> mtu;
  // False: it drops what is too large without telling the sender, so that
  // path MTU discovery (RFC 1191) finds nothing: a black hole (RFC 2923).
  bool icmp = true;
};

struct LinkSpec {
  std::optional<BitsPerSecond> rate;  // Shaped as a true Ethernet; none: as
                                      // fast as the machine.
  Nanoseconds delay{0};               // Each way; at most 10 s.
  double loss = 0;                    // Fraction of frames, each way.
  int mtu = 1500;                     // 68 (RFC 791) to 9000 bytes.
  // Uniform, either way about the delay and at most as much: frames overtake
  // each other where it is more than what lies between them.
  Nanoseconds jitter{0};
  double duplicate = 0;  // Fraction of frames that pass twice, each way.
  // Fraction of frames, each way, that do not wait for the delay but pass at
  // once, ahead of those that do. Needs a delay.
  double reorder = 0;
  // Delay, loss and the like are then those of the second host's line.
  std::optional<RouterSpec> router = std::nullopt;
};

struct LabSpec {
  std::vector<std::string> kinds{"linux", "linux"};  // --lab LIST
  LinkSpec link;
  std::filesystem::path agent;  // wiretoll-agent to run in each Linux host.
  std::filesystem::path windows_agent;  // The one for Windows, for Wine hosts.
  std::filesystem::path lwip_agent;     // wiretoll-agent-lwip, for lwIP hosts.
  std::filesystem::path ns3_agent;  // wiretoll-agent-ns3, for simulated ones.
  std::filesystem::path self;       // The wiretoll program, for RunLabHelper();
                                    // needed for delay, loss and Wine only.
  // Told, a line without its end, what takes long; may be empty.
  std::function<void(const std::string&)> say;
  std::uint64_t seed = 1;  // Of what our own relay does to frames.
  bool own_relay = false;  // Even where the kernel has netem.
  // Measures the line before anything uses it; those frames are in the counts
  // of its interfaces.
  bool check_line = true;
  // Beyond what a lab sets anyway, in every host: "net.ipv4.tcp_autocorking".
  std::map<std::string, std::string> sysctls;
  std::optional<int> initcwnd;  // Segments, as an attribute of the route.
  bool route_quickack = false;  // Likewise.
  // Likewise; where a host cannot choose (Wine, lwIP) the lab sets it itself.
  std::optional<std::string> route_congestion;
};

// The line as it was measured before anything used it.
struct LinkCheck {
  std::string summary;  // One line, measured against asked.
  // Each a sentence: what misses what was asked for by more than the tolerance
  // (harness/lab/link_check.h), by how much, and what to do.
  std::vector<std::string> warnings;
};

struct LabHost {
  std::string name;     // linux-1, linux-2, wine, lwip, guest-6.1, container-1
  std::string address;  // In the lab's own network.
  // Name for `ip netns exec`; empty on loopback, and of a container without
  // root.
  std::string netns;
  std::vector<std::string> agent;  // The command that starts its agent.
  std::string kind = "linux";      // As in LabSpec::kinds.
};

// True if one of the hosts is Wine, which needs network namespaces: its
// sockets belong to a server that other Wine programs would share.
bool HasWine(const LabSpec& spec);

// True if one of the hosts is lwIP, which needs a TAP in a network namespace.
bool HasLwip(const LabSpec& spec);

// True if one of its hosts is simulated; both are then, and the line is, which
// needs neither namespaces nor root.
bool HasSimulation(const LabSpec& spec);

// True if one of the hosts is gVisor, which needs a namespace and root.
bool HasGvisor(const LabSpec& spec);

// True if one of the hosts is a guest with a kernel of its own, which needs the
// same.
bool HasGuest(const LabSpec& spec);

// True if its hosts are containers, which need an engine and no namespaces of
// ours.
bool HasContainers(const LabSpec& spec);

// A lab that is up. Going out of scope takes it down: namespaces, containers,
// delay line, state file; nothing that it did not make.
class Lab {
 public:
  // Removes what dead labs left, then builds. kUsage: the spec asks for what
  // no lab can be. kNothingRan names the command that failed and what it said;
  // nothing is left behind then either.
  static Outcome<Lab> Up(const LabSpec& spec);

  Lab(Lab&&) noexcept;
  Lab& operator=(Lab&&) noexcept;
  ~Lab();

  [[nodiscard]] const std::vector<LabHost>& hosts() const;
  // What the link is, every setting made for it, and under "... asked" and
  // "... measured" what it was seen to do.
  [[nodiscard]] const RecordedLink& link() const;
  // Empty where LabSpec::check_line said so.
  [[nodiscard]] const LinkCheck& check() const;
  // Why the line no longer carries anything; empty as long as all is well.
  [[nodiscard]] std::string Trouble();
  // Congestion control that trials set where a study does not say, because
  // the default differs from host to host. Empty where a host cannot set it
  // (Wine, lwIP): there it is an attribute of every other host's route.
  [[nodiscard]] const std::string& congestion() const;

  // Runs `command` by a shell inside a host, as root. kNothingRan: no such host
  // or namespace, it ended with another code than 0, or not within 10 s; with
  // what it said.
  Outcome<Done> RunIn(const std::string& host, const std::string& command);

  // Leaves it standing when this object goes (`wiretoll lab up`).
  // kNothingRan: could not be recorded; it goes down with this object then.
  Outcome<Done> Keep();

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

// For kUserNamespace: the command that runs `own` (this very program and its
// arguments) where it may do all that root may. A lab made there is gone when
// it ends, and is seen from nowhere else.
std::vector<std::string> UserNamespaceCommand(std::vector<std::string> own);

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
// Takes down one that was kept, or all of them and the dead ones (empty id);
// gives how many. Labs of running programs are left alone. kUsage: no such id.
Outcome<std::vector<std::string>> TakeDown(const std::string& id);
// Removes what dead labs left; gives how many there were.
Outcome<int> RemoveDeadLabs();

// The delay line itself: forwards frames between two TAPs that it makes until
// standard input closes, and does to them what `link` says, its rate and MTU
// left out. Prints "ready" once both are there, and at its end, on standard
// error, how many frames it lost, duplicated and reordered each way.
struct RelaySpec {
  std::string tap_a, tap_b;
  LinkSpec link;
  std::uint64_t seed = 1;  // The same seed does the same to the same frames.
};
Outcome<Done> RunRelay(const RelaySpec& spec);

// The verbs by which a lab starts its own program (LabSpec::self) anew, inside
// a namespace: "lab-relay", "lab-wine", "lab-guest" and more. Empty if
// `arguments` (without the program's name) begin with none; else they have been
// run, and this is the exit code. Whatever main() `self` has must begin with
// this.
std::optional<ExitCode> RunLabHelper(const std::vector<std::string>& arguments);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_LAB_H_
