#include "harness/check/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace wiretoll {
namespace {

bool Holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool IsIpv6(const std::string& address) { return Holds(address, ":"); }

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// "7001-7099", or "7001" for one port.
std::string Ports(std::uint16_t first, std::uint16_t last, char to = '-') {
  return first == last ? fmt::format("{}", first)
                       : fmt::format("{}{}{}", first, to, last);
}

Remedy LinuxFirewall(const RemedyEnd& host, const CheckSpec& spec) {
  const std::string dash = Ports(spec.first_port, spec.last_port);
  const std::string colon = Ports(spec.first_port, spec.last_port, ':');
  return {
      fmt::format("let TCP in on ports {} at {}: one of these there, for "
                  "the firewall it has (ufw, firewalld, nft, iptables)",
                  dash, host.name),
      {fmt::format("sudo ufw allow {}/tcp", colon),
       fmt::format("sudo firewall-cmd --add-port={}/tcp", dash),
       fmt::format("sudo nft insert rule inet filter input tcp dport {} accept",
                   dash),
       fmt::format("sudo {} -I INPUT -p tcp --dport {} -j ACCEPT",
                   IsIpv6(host.address) ? "ip6tables" : "iptables", colon)}};
}

// Inbound and Allow are the cmdlet's defaults; so it fits a line.
Remedy WindowsFirewall(const RemedyEnd& host, const CheckSpec& spec) {
  const std::string ports = Ports(spec.first_port, spec.last_port);
  return {fmt::format("let TCP in on ports {} at {}: in a PowerShell of an "
                      "administrator there",
                      ports, host.name),
          {fmt::format("New-NetFirewallRule -DisplayName wiretoll -Protocol "
                       "TCP -LocalPort {}",
                       ports)}};
}

// Wine's sockets are its host's: what stands in the way there is Linux's.
Remedy Firewall(const RemedyEnd& host, const CheckSpec& spec) {
  if (host.os == "windows") return WindowsFirewall(host, spec);
  return LinuxFirewall(host, spec);
}

Remedy Route(const RemedyEnd& sender, const RemedyEnd& receiver) {
  const bool windows = sender.os == "windows";
  return {
      fmt::format("look at the way from {} to {}: are both in one network, "
                  "and is the address right? There",
                  sender.name, receiver.name),
      {fmt::format("{} {}",
                   windows ? "Find-NetRoute -RemoteIPAddress" : "ip route get",
                   receiver.address)}};
}

// Safe in a command that somebody copies; the name came from the host.
bool IsPlain(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view(" @._-").find(static_cast<char>(c)) !=
                      std::string_view::npos;
         });
}

bool IsSsh(const Host& host) {
  const std::string& program = host.agent.front();
  const std::string name = program.substr(program.find_last_of("/\\") + 1);
  return name == "ssh" || name == "ssh.exe";
}

// "student@192.168.56.11", of an ssh command that names a user.
std::string SshTarget(const Host& host) {
  const auto found =
      std::find_if(host.agent.begin(), host.agent.end(),
                   [](const std::string& word) { return Holds(word, "@"); });
  return found == host.agent.end() ? "USER@HOST" : *found;
}

struct SshHint {
  std::string_view sign;  // What ssh, or the shell behind it, says.
  std::string_view words;
  std::string_view command;  // Before the target; empty: none.
  std::string_view after;    // Behind the target.
};

constexpr std::array<SshHint, 9> kSshHints{{
    {"Permission denied",
     "ssh must let you in without asking, by a key (for an administrator of "
     "Windows it goes into %ProgramData%\\ssh\\administrators_authorized_keys)",
     "ssh-copy-id ", ""},
    {"Host key verification failed",
     "log in once by hand, to accept the host's key", "ssh ", ""},
    {"Connection refused",
     "no ssh server answers there; start it: sudo systemctl enable --now ssh "
     "(Debian), Start-Service sshd (Windows, as administrator); then try",
     "ssh ", ""},
    {"Connection timed out",
     "the host is off, elsewhere, or its firewall keeps ssh (port 22) out; "
     "try",
     "ssh ", ""},
    {"No route to host", "the host is off or in another network; try", "ssh ",
     ""},
    {"Could not resolve hostname",
     "write the host's address into the command instead of its name", "", ""},
    {"not found", "copy the agent there", "scp wiretoll-agent ", ":"},
    {"No such file", "copy the agent there", "scp wiretoll-agent ", ":"},
    {"gave no answer",
     "ssh may be asking for a password, which nobody here can give; log in "
     "once by hand, and put your key there",
     "ssh-copy-id ", ""},
}};

// "ip netns exec NAME " of an agent that is started by that, as a lab's is: its
// interface is nowhere else.
std::string WhereTheAgentIs(const Host& host) {
  const std::vector<std::string>& words = host.agent;
  for (std::size_t i = 1; i + 2 < words.size(); ++i) {
    const bool enters = words[i] == "netns" && words[i + 1] == "exec" &&
                        (words[i - 1] == "ip" || words[i - 1].ends_with("/ip"));
    if (enters && IsPlain(words[i + 2])) {
      return fmt::format("ip netns exec '{}' ", words[i + 2]);
    }
  }
  return {};
}

}  // namespace

std::vector<Remedy> AgentRemedies(const Host& host,
                                  const std::string& message) {
  if (!IsSsh(host)) return {};
  for (const SshHint& hint : kSshHints) {
    if (!Holds(message, hint.sign)) continue;
    Remedy remedy{std::string(hint.words), {}};
    if (!hint.command.empty()) {
      remedy.commands.push_back(
          fmt::format("{}{}{}", hint.command, SshTarget(host), hint.after));
    }
    return {remedy};
  }
  return {};
}

bool MayBeAFirewall(const std::string& message) {
  return Holds(message, "firewall") || Holds(message, "no connection");
}

std::vector<Remedy> ReachRemedies(const RemedyEnd& sender,
                                  const RemedyEnd& receiver,
                                  const CheckSpec& spec,
                                  const std::string& message) {
  if (IsIpv6(receiver.address) != IsIpv6(sender.address)) {
    return {{fmt::format("{} has an IPv4 address and {} an IPv6 one; give both "
                         "of one kind in {}",
                         IsIpv6(sender.address) ? receiver.name : sender.name,
                         IsIpv6(sender.address) ? sender.name : receiver.name,
                         spec.file),
             {}}};
  }
  if (IsLoopback(receiver.address) != IsLoopback(sender.address)) {
    const RemedyEnd& alone = IsLoopback(receiver.address) ? receiver : sender;
    return {{fmt::format("{} is loopback, which {} alone can reach; give the "
                         "address of its network in {}",
                         alone.address, alone.name, spec.file),
             {}}};
  }
  if (!MayBeAFirewall(message)) return {Route(sender, receiver)};
  return {Firewall(receiver, spec), Route(sender, receiver)};
}

std::vector<Remedy> SegmentRemedies(const RemedyEnd& sender,
                                    const RemedyEnd& receiver) {
  const bool windows = sender.os == "windows";
  const bool v6 = IsIpv6(receiver.address);
  // 1472 = 1500 - 20 (IPv4) - 8 (ICMP); 1452 = 1500 - 40 (IPv6) - 8.
  const int payload = v6 ? 1452 : 1472;
  return {{fmt::format("something between {} and {} drops full packets and "
                       "does not say so: give both interfaces the MTU of the "
                       "narrowest part (a tunnel, a VPN, a virtual switch), or "
                       "let ICMP pass. Whether 1500 bytes pass, {} tells by",
                       sender.name, receiver.name, sender.name),
           {windows ? fmt::format("ping -f -l {} {}", payload, receiver.address)
                    : fmt::format("ping -M do -s {} {}", payload,
                                  receiver.address)}}};
}

std::vector<Remedy> AddressRemedies(const RemedyEnd& host,
                                    const CheckSpec& spec,
                                    const std::string& message) {
  if (!Holds(message, "has no address")) return {};
  const char* const shows =
      host.os == "windows" ? "ipconfig" : "ip -br address";
  return {{fmt::format("write one of {}'s own addresses into {}; there, this "
                       "shows them",
                       host.name, spec.file),
           {shows}}};
}

Remedy CaptureOn(const HostCheck& host, const CheckReport& report) {
  const bool windows = host.hello && host.hello->os == "windows";
  Remedy remedy{fmt::format("counters have no times; a capture on {} has",
                            host.host.name),
                {}};
  if (!IsPlain(host.interface)) return remedy;
  const std::string ports = Ports(report.first_port, report.last_port);
  const std::string filter = report.first_port == report.last_port
                                 ? "tcp port " + ports
                                 : "tcp portrange " + ports;
  remedy.commands.push_back(
      windows
          ? fmt::format("dumpcap -i \"{}\" -f \"{}\" -w wiretoll.pcapng",
                        host.interface, filter)
          : fmt::format("sudo {}tcpdump -i '{}' -w wiretoll.pcap {}",
                        WhereTheAgentIs(host.host), host.interface, filter));
  return remedy;
}

}  // namespace wiretoll
