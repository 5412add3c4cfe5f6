#include "harness/advise/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <utility>

#include "harness/base/words.h"
#include "harness/theory/predict.h"
#include "harness/theory/windows.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kMostWindow = std::int64_t{64} << 20;
constexpr Bytes kLargeCall{65536};

bool IsWindows(const PairHost& host) { return host.os == "windows"; }

// gVisor and lwIP have no such settings, Wine has its host's.
bool IsLinux(const PairHost& host) {
  return host.os == "linux" || host.os == "wine";
}

// Interface names come from hosts: one that a shell might read otherwise is
// left for the reader to fill in.
std::string InterfaceOf(const PairHost& host) {
  const std::string name = TextFact(host, "interface").value_or("");
  const bool plain =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
               c == ' ';
      });
  return plain ? name : "INTERFACE";
}

SettingChange On(const PairHost& host, std::string words) {
  SettingChange change;
  change.host = host.name;
  change.windows = IsWindows(host);
  change.words = std::move(words);
  return change;
}

SettingChange InProgram(const PairHost& host, std::string words,
                        const Workload& instead) {
  SettingChange change = On(host, std::move(words));
  change.windows = false;
  change.instead = instead;
  return change;
}

// --- Linux's commands --------------------------------------------------------

std::string SysctlCommand(const std::string& name, const std::string& value) {
  const bool blank = value.find(' ') != std::string::npos;
  return fmt::format("sysctl -w {}={}{}{}", name, blank ? "\"" : "", value,
                     blank ? "\"" : "");
}

// `fact`: where the host's own value stands.
SettingChange Sysctl(const PairHost& host, const std::string& name,
                     const std::string& fact, const std::string& value,
                     std::string words) {
  SettingChange change = On(host, std::move(words));
  change.now = {SysctlCommand(name, value)};
  change.file = kSysctlFile;
  change.line = name + " = " + value;
  auto before = TextFact(host, fact);
  if (!before) {
    if (const auto number = NumberFact(host, fact))
      before = fmt::format("{}", *number);
  }
  if (before) {
    change.undo = {SysctlCommand(name, *before)};
  } else {
    change.why_no_undo = fmt::format(
        "what {} is now could not be read; on {}, note it before: sysctl {}",
        name, host.name, name);
  }
  return change;
}

// A route to the peer alone, by the way that it has now, with an attribute.
SettingChange Route(const PairHost& host, const PairHost& peer,
                    const std::string& attribute, std::string words) {
  const bool v6 = peer.address.find(':') != std::string::npos;
  const std::string ip = v6 ? "ip -6" : "ip";
  const std::string to = fmt::format("{}/{}", peer.address, v6 ? 128 : 32);
  SettingChange change = On(host, std::move(words));
  change.now = {fmt::format(
      "{} route replace {} $({} route get {} | grep -oE '(via|dev) [^ ]+') {}",
      ip, to, ip, peer.address, attribute)};
  change.undo = {fmt::format("{} route del {}", ip, to)};
  return change;
}

// "4096 131072 6291456" with another end, and a middle that is no larger.
std::string WithLargest(const PairHost& host, const std::string& fact,
                        std::int64_t largest) {
  std::istringstream words(TextFact(host, fact).value_or(""));
  std::int64_t least = 4096;
  std::int64_t middle = fact == "tcp_rmem" ? 131072 : 16384;
  words >> least >> middle;
  return fmt::format("{} {} {}", least, std::min(middle, largest), largest);
}

// --- What it would gain ------------------------------------------------------

double NowOf(const Evidence& e) {
  return e.subject.bytes_per_second ? e.subject.bytes_per_second->median : 0;
}

std::optional<double> KnownCapacity(const Evidence& e) {
  if (!e.line || e.line->at_least) return std::nullopt;
  return LineCapacity(e);
}

std::string SpellNow(double speed) {
  return speed > 0 ? FormatByteRate(speed) : std::string("nothing");
}

// What the path would carry if nothing but the line and that window bound it.
void AddGain(const Evidence& e, const std::optional<Bytes>& window,
             SettingChange& change) {
  const auto capacity = KnownCapacity(e);
  const auto rtt = BaseRtt(e);
  std::optional<double> by_window;
  if (window && rtt && rtt->count() > 0) by_window = WindowLimit(*window, *rtt);
  if (!capacity && !by_window) return;
  change.from = NowOf(e);
  const bool line = capacity && (!by_window || *capacity <= *by_window);
  change.to = line ? *capacity : *by_window;
  const std::string bound =
      line ? "the line x efficiency"
           : fmt::format("{} / {}, W/RTT{}", FormatBytes(*window),
                         FormatDuration(*rtt),
                         capacity ? "" : ", if the line carries it");
  change.gain = fmt::format("{} now, {} by theory ({})", SpellNow(*change.from),
                            FormatByteRate(*change.to), bound);
}

Bytes PowerOfTwo(double bytes) {
  const auto least =
      static_cast<std::uint64_t>(std::max(1.0, std::ceil(bytes)));
  return Bytes{std::min<std::int64_t>(
      kMostWindow, static_cast<std::int64_t>(std::bit_ceil(least)))};
}

std::optional<Bytes> WindowOf(const std::optional<std::int64_t>& buffer) {
  if (!buffer) return std::nullopt;
  return LinuxWindowOf(Bytes{*buffer});
}

// --- The receive window ------------------------------------------------------

bool Asked(const std::optional<OptionReading>& option) {
  return option && option->requested != OptionValue{};
}

std::optional<std::int64_t> Whole(const OptionValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// The agent says so of what it reads back.
bool Clamped(const OptionReading& option) {
  return option.reason.find("clamped") != std::string::npos &&
         Whole(option.requested).has_value();
}

// A buffer that a program asked for: let the system choose, or ask for more.
void AddProgramBuffer(const Evidence& e, bool receiver,
                      std::vector<SettingChange>& changes) {
  const PairHost& host = receiver ? e.receiver : e.sender;
  const OptionReading& option =
      receiver ? *e.subject.rcvbuf : *e.subject.sndbuf;
  Workload instead = e.subject.workload;
  (receiver ? instead.rcvbuf : instead.sndbuf).reset();
  const char* const name = receiver ? "SO_RCVBUF" : "SO_SNDBUF";
  const char* const fact = receiver ? "tcp_rmem" : "tcp_wmem";
  const auto largest = LargestOf(host, fact);
  SettingChange leave = InProgram(
      host,
      fmt::format(
          "in the program: do not set {}; the system then grows the "
          "buffer by itself{}",
          name,
          largest ? fmt::format(", up to {} ({})", GroupDigits(*largest), fact)
                  : std::string()),
      instead);
  AddGain(e, receiver ? WindowOf(largest) : std::nullopt, leave);
  changes.push_back(std::move(leave));
  if (!Clamped(option) || !IsLinux(host)) return;
  const std::string limit = receiver ? "rmem_max" : "wmem_max";
  changes.push_back(Sysctl(
      host, "net.core." + limit, limit,
      std::to_string(*Whole(option.requested)),
      fmt::format("{} was clamped: net.core.{} bounds what a program gets",
                  name, limit)));
  AddGain(
      e,
      receiver ? std::optional(Bytes{*Whole(option.requested)}) : std::nullopt,
      changes.back());
}

void AddAutotuning(const Evidence& e, const PairHost& host,
                   std::vector<SettingChange>& changes) {
  const auto level = TextFact(host, "tcp_autotuning_level");
  if (level != "normal") {
    SettingChange change =
        On(host,
           "let Windows grow the receive window by itself; it is "
           "held down now");
    change.now = {"netsh int tcp set global autotuninglevel=normal",
                  "Set-NetTCPSetting -SettingName Internet "
                  "-AutoTuningLevelLocal Normal"};
    if (level) {
      change.undo = {"netsh int tcp set global autotuninglevel=" + *level};
    } else {
      change.why_no_undo =
          "the level now could not be read; note it before: netsh int tcp "
          "show global";
    }
    AddGain(e, WindowToAimAt(e), change);
    changes.push_back(std::move(change));
  }
  if (OnOffFact(host, "tcp_window_scaling_heuristics") == true) {
    SettingChange change =
        On(host,
           "Windows' scaling heuristics restrict the window on "
           "networks that they take for unfit");
    change.now = {"netsh int tcp set heuristics disabled",
                  "Set-NetTCPSetting -SettingName Internet -ScalingHeuristics "
                  "Disabled"};
    change.undo = {"netsh int tcp set heuristics enabled"};
    AddGain(e, WindowToAimAt(e), change);
    changes.push_back(std::move(change));
  }
}

void AddLargerBuffer(const Evidence& e, const PairHost& host,
                     const std::string& fact, std::int64_t to,
                     std::vector<SettingChange>& changes) {
  const auto largest = LargestOf(host, fact);
  if (largest && *largest >= to) return;
  const bool receives = fact == "tcp_rmem";
  changes.push_back(
      Sysctl(host, "net.ipv4." + fact, fact, WithLargest(host, fact, to),
             fmt::format("let Linux grow {} buffers to {}{}; connections made "
                         "from then on have it",
                         receives ? "receive" : "send", FormatBytes(Bytes{to}),
                         receives ? ", half of which is window" : "")));
  AddGain(e, receives ? std::optional(Bytes{to / 2}) : std::nullopt,
          changes.back());
}

std::vector<SettingChange> ForReceiveWindow(const Evidence& e) {
  std::vector<SettingChange> changes;
  const PairHost& host = e.receiver;
  if (Asked(e.subject.rcvbuf)) {
    AddProgramBuffer(e, true, changes);
    return changes;
  }
  if (IsWindows(host)) AddAutotuning(e, host, changes);
  if (!IsLinux(host)) return changes;
  if (OnOffFact(host, "tcp_moderate_rcvbuf") == false) {
    changes.push_back(Sysctl(host, "net.ipv4.tcp_moderate_rcvbuf",
                             "tcp_moderate_rcvbuf", "1",
                             "let Linux grow receive buffers by itself"));
    AddGain(e, WindowOf(LargestOf(host, "tcp_rmem")), changes.back());
  }
  AddLargerBuffer(e, host, "tcp_rmem", 2 * WindowToAimAt(e).count, changes);
  return changes;
}

std::vector<SettingChange> ForWindowScaling(const Evidence& e) {
  std::vector<SettingChange> changes;
  for (const PairHost* host : {&e.sender, &e.receiver}) {
    if (IsWindows(*host)) {
      if (TextFact(*host, "tcp_autotuning_level") == "disabled")
        AddAutotuning(e, *host, changes);
      continue;
    }
    if (OnOffFact(*host, "tcp_window_scaling") != false) continue;
    changes.push_back(Sysctl(
        *host, "net.ipv4.tcp_window_scaling", "tcp_window_scaling", "1",
        "offer the window scale option (RFC 7323 2); both ends have to"));
    AddGain(e, WindowOf(LargestOf(e.receiver, "tcp_rmem")), changes.back());
  }
  return changes;
}

// --- The send buffer ---------------------------------------------------------

std::vector<SettingChange> ForSendBuffer(const Evidence& e) {
  std::vector<SettingChange> changes;
  const PairHost& host = e.sender;
  if (Asked(e.subject.sndbuf)) {
    AddProgramBuffer(e, false, changes);
  } else if (IsWindows(host)) {
    SettingChange change =
        On(host,
           "let Windows size send buffers by itself (dynamic send "
           "buffering); a program that sets SO_SNDBUF has it off");
    change.now = {"netsh winsock set autotuning on"};
    change.undo = {"netsh winsock set autotuning off"};
    AddGain(e, std::nullopt, change);
    changes.push_back(std::move(change));
  } else if (IsLinux(host)) {
    // Beside its payload each packet counts its bookkeeping.
    AddLargerBuffer(e, host, "tcp_wmem", 2 * WindowToAimAt(e).count, changes);
  }
  return changes;
}

// --- The path ----------------------------------------------------------------

bool Offers(const PairHost& host, const std::string& congestion) {
  std::istringstream words(
      TextFact(host, "tcp_available_congestion_control").value_or(""));
  for (std::string word; words >> word;) {
    if (word == congestion) return true;
  }
  return false;
}

// A sender that goes by what it measures, not by loss alone.
void AddBbr(const Evidence& e, const std::string& why,
            std::vector<SettingChange>& changes) {
  const PairHost& host = e.sender;
  if (e.subject.congestion == "bbr") return;
  if (IsWindows(host)) {
    SettingChange change = On(host, why + " (Windows 11 has BBR2)");
    change.now = {
        "netsh int tcp set supplemental template=internet "
        "congestionprovider=bbr2"};
    change.undo = {
        "netsh int tcp set supplemental template=internet "
        "congestionprovider=" +
        TextFact(host, "tcp_congestion_control").value_or("cubic")};
    changes.push_back(std::move(change));
  } else if (IsLinux(host)) {
    Workload instead = e.subject.workload;
    instead.congestion = "bbr";
    if (TextFact(host, "tcp_congestion_control") == "bbr") {
      changes.push_back(InProgram(
          host,
          fmt::format(
              "in the program: it asks for {} where the host has bbr, {}",
              e.subject.congestion.value_or("another"), why),
          instead));
      return;
    }
    SettingChange change = Sysctl(host, "net.ipv4.tcp_congestion_control",
                                  "tcp_congestion_control", "bbr", why);
    if (!Offers(host, "bbr"))
      change.now.insert(change.now.begin(), "modprobe tcp_bbr");
    // A lab's trials choose for themselves, and so may a program.
    change.instead = instead;
    changes.push_back(std::move(change));
  }
}

std::vector<SettingChange> ForLoss(const Evidence& e) {
  std::vector<SettingChange> changes;
  for (const PairHost* host : {&e.sender, &e.receiver}) {
    if (OnOffFact(*host, "tcp_sack") != false) continue;
    changes.push_back(
        Sysctl(*host, "net.ipv4.tcp_sack", "tcp_sack", "1",
               "selective acknowledgments (RFC 2018): several losses in a "
               "window cost one round trip then, not one each"));
  }
  AddBbr(e,
         "a congestion control that does not take every loss for congestion; "
         "it is unfair to others where there is congestion",
         changes);
  for (SettingChange& change : changes) {
    const std::optional<Bytes> window = e.subject.peak_window;
    if (change.words.find("selective") == std::string::npos)
      AddGain(e, window, change);
  }
  return changes;
}

void AddLatencyGain(const Evidence& e, double to_ns, const std::string& theory,
                    SettingChange& change) {
  change.aim = Aim::kLoadedRtt;
  const auto loaded = LoadedRtt(e);
  if (!loaded) return;
  change.from = static_cast<double>(loaded->count());
  change.to = to_ns;
  change.gain =
      fmt::format("a round trip beside a stream of {} now, {} by theory ({})",
                  FormatDuration(*loaded),
                  FormatDuration(Nanoseconds{std::llround(to_ns)}), theory);
}

// A shaper of our own, a little slower than the line: the queue is ours then,
// and is kept short.
SettingChange OwnQueue(const Evidence& e) {
  const std::string interface = InterfaceOf(e.sender);
  SettingChange change = On(
      e.sender,
      "send a little slower than the line, through a queue that is kept short: "
      "the line's own then stays empty (here, or on the router that sends into "
      "the line)");
  const double rate = e.line ? 0.95 * e.line->rate.value : 0;
  change.now = {
      fmt::format("tc qdisc replace dev {} root cake bandwidth {}kbit",
                  interface, std::llround(rate / 1e3))};
  change.lab_safe = false;
  const std::string before = TextFact(e.sender, "qdisc").value_or("");
  if (before == "noqueue" || before == "mq") {
    change.undo = {fmt::format("tc qdisc del dev {} root", interface)};
  } else if (before == "fq_codel" || before == "fq" || before == "pfifo_fast") {
    change.undo = {
        fmt::format("tc qdisc replace dev {} root {}", interface, before)};
  } else {
    change.why_no_undo = fmt::format(
        "how {} was set cannot be told; note it before: tc qdisc show dev {}",
        before.empty() ? "the queue" : before, interface);
  }
  return change;
}

// Below some 20 segments a window makes TCP falter.
constexpr Bytes kLeastBound{32768};
constexpr Bytes kBbrsLeast{65536};

// As much on the way as the line needs; nothing if that is no less than now.
void AddWindowBound(const Evidence& e, Bytes bdp,
                    std::vector<SettingChange>& changes) {
  const Bytes window =
      std::max(kLeastBound, PowerOfTwo(2 * static_cast<double>(bdp.count)));
  const double filled =
      std::max(static_cast<double>(BaseRtt(e)->count()),
               static_cast<double>(window.count) / *LineCapacity(e) * 1e9);
  const auto loaded = LoadedRtt(e);
  if (!loaded || filled > 0.8 * static_cast<double>(loaded->count())) return;
  changes.push_back(Sysctl(
      e.receiver, "net.ipv4.tcp_rmem", "tcp_rmem",
      WithLargest(e.receiver, "tcp_rmem", 2 * window.count),
      "let no connection have more on the way than the line needs; every "
      "connection has that bound then, also one from far away"));
  AddLatencyGain(e, filled, "window / line", changes.back());
}

std::vector<SettingChange> ForQueue(const Evidence& e) {
  std::vector<SettingChange> changes;
  const auto base = BaseRtt(e);
  if (!base) return changes;
  const auto rtt = static_cast<double>(base->count());
  const auto bdp = BdpOf(e);
  // On a shorter path it has more on the way than that, to be efficient.
  if (bdp && *bdp >= kBbrsLeast) {
    AddBbr(e,
           "a congestion control that goes by the line's rate and shortest "
           "round trip, and does not fill the queue",
           changes);
  }
  // Two bandwidth-delay products in flight are BBR's own bound.
  if (!changes.empty())
    AddLatencyGain(e, 2 * rtt, "two BDP in flight at most", changes.back());
  if (IsLinux(e.sender)) {
    changes.push_back(OwnQueue(e));
    AddLatencyGain(e, rtt + 5e6, "the round trip and cake's target, 5 ms",
                   changes.back());
  }
  if (IsLinux(e.receiver) && bdp) AddWindowBound(e, *bdp, changes);
  return changes;
}

std::vector<SettingChange> ForPathMtu(const Evidence& e) {
  std::vector<SettingChange> changes;
  const PairHost& host = e.sender;
  const auto mtu = e.largest_passed;
  const auto before = NumberFact(host, "mtu_bytes");
  if (mtu && IsWindows(host)) {
    SettingChange change =
        On(host, "send no packets that the path does not pass");
    change.now = {fmt::format(
        "netsh interface ipv4 set subinterface \"{}\" mtu={} store=persistent",
        InterfaceOf(host), *mtu)};
    if (before) {
      change.undo = {
          fmt::format("netsh interface ipv4 set subinterface \"{}\" mtu={} "
                      "store=persistent",
                      InterfaceOf(host), *before)};
    }
    changes.push_back(std::move(change));
  }
  if (!IsLinux(host)) return changes;
  if (mtu) {
    changes.push_back(
        Route(host, e.receiver, fmt::format("mtu {}", *mtu),
              fmt::format("send {} no packets that the path does not pass, and "
                          "take none: its MSS follows",
                          e.receiver.name)));
  }
  changes.push_back(
      Sysctl(host, "net.ipv4.tcp_mtu_probing", "tcp_mtu_probing", "1",
             "let TCP find the largest segment that passes by itself once it "
             "meets a black hole (RFC 4821); each connection stalls a few "
             "timeouts first"));
  for (SettingChange& change : changes)
    AddGain(e, e.subject.peak_window, change);
  return changes;
}

// --- Time --------------------------------------------------------------------

// What `bytes` take: as long as now, less the round trips that are saved.
void AddFewerRounds(const Evidence& e, int saved, SettingChange& change) {
  const auto rtt = BaseRtt(e);
  if (!rtt || !e.subject.bytes || !e.subject.elapsed) return;
  const double before = static_cast<double>(e.subject.elapsed->count());
  const double after =
      std::max(static_cast<double>(rtt->count()) / 2,
               before - saved * static_cast<double>(rtt->count()));
  change.from = NowOf(e);
  change.to = static_cast<double>(*e.subject.bytes) * 1e9 / after;
  if (const auto capacity = KnownCapacity(e))
    change.to = std::min(*change.to, *capacity);
  change.gain =
      fmt::format("{} now, {} by theory ({} of {} fewer)",
                  FormatByteRate(*change.from), FormatByteRate(*change.to),
                  Count(saved, "round trip"), FormatDuration(*rtt));
}

std::vector<SettingChange> ForSlowStart(const Evidence& e) {
  std::vector<SettingChange> changes;
  const Bytes mss = SegmentOf(e);
  const std::int64_t bytes = e.subject.bytes.value_or(0);
  const auto bdp = BdpOf(e);
  const std::int64_t most = bdp ? std::min(bytes, 2 * bdp->count) : bytes;
  // RFC 6928 has ten; content networks send some 30 to 100.
  const std::int64_t segments =
      std::clamp<std::int64_t>((most + mss.count - 1) / mss.count, 10, 100);
  const int before = SlowStartRounds(bytes, mss);
  const int after = SlowStartRounds(
      bytes, Bytes{std::max(mss.count, segments * mss.count / 10)});
  if (before > after && IsLinux(e.sender)) {
    changes.push_back(Route(
        e.sender, e.receiver, fmt::format("initcwnd {}", segments),
        fmt::format("begin with {} segments instead of 10, to {} alone; more "
                    "than the path's queues take is lost at once",
                    segments, e.receiver.name)));
    AddFewerRounds(e, before - after, changes.back());
  }
  if (before > after && IsWindows(e.sender)) {
    SettingChange change =
        On(e.sender, fmt::format("begin with {} segments", segments));
    change.now = {fmt::format(
        "netsh int tcp set supplemental template=internet icw={}", segments)};
    change.undo = {fmt::format(
        "netsh int tcp set supplemental template=internet icw={}",
        NumberFact(e.sender, "tcp_initial_window_segments").value_or(10))};
    AddFewerRounds(e, before - after, change);
    changes.push_back(std::move(change));
  }
  SettingChange keep;
  keep.host = e.sender.name;
  keep.words =
      "in the program: keep one connection for several transfers; its window "
      "stays open (on Linux with net.ipv4.tcp_slow_start_after_idle=0, also "
      "after a pause)";
  changes.push_back(std::move(keep));
  return changes;
}

// --- The programs ------------------------------------------------------------

void AddRoundGain(const Evidence& e, SettingChange& change) {
  change.aim = Aim::kRound;
  const auto rtt = BaseRtt(e);
  if (!rtt || !e.subject.latency) return;
  change.from = static_cast<double>(e.subject.latency->p50_ns);
  change.to = static_cast<double>(rtt->count());
  change.gain =
      fmt::format("{} a round now, {} by theory (the path's round trip)",
                  FormatDuration(Nanoseconds{e.subject.latency->p50_ns}),
                  FormatDuration(*rtt));
}

std::vector<SettingChange> ForNagle(const Evidence& e) {
  std::vector<SettingChange> changes;
  Workload off = e.subject.workload;
  off.nagle = false;
  changes.push_back(InProgram(
      e.sender,
      "in the program: set TCP_NODELAY; or hand over a message in one write "
      "(writev, WSASend with several buffers)",
      off));
  if (IsLinux(e.receiver)) {
    changes.push_back(Route(
        e.receiver, e.sender, "quickack 1",
        fmt::format("where the program cannot be changed: acknowledge what {} "
                    "sends at once",
                    e.sender.name)));
  } else if (IsWindows(e.receiver)) {
    SettingChange change =
        On(e.receiver,
           "where the program cannot be changed: acknowledge every "
           "segment at once; GUID is the interface's, and it takes "
           "a restart");
    const std::string key =
        "HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\"
        "Interfaces\\GUID";
    change.now = {"Set-ItemProperty " + key +
                  " -Name TcpAckFrequency -Type DWord -Value 1"};
    change.undo = {"Remove-ItemProperty " + key + " -Name TcpAckFrequency"};
    changes.push_back(std::move(change));
  }
  for (SettingChange& change : changes) AddRoundGain(e, change);
  return changes;
}

std::vector<SettingChange> ForSlowWriter(const Evidence& e) {
  Workload instead = e.subject.workload;
  instead.gap = Nanoseconds{0};
  instead.rate.reset();
  instead.write = std::max(instead.write, kLargeCall);
  instead.block.reset();
  SettingChange change = InProgram(
      e.sender,
      "in the program: have the next bytes ready, and write them without a "
      "pause, 64 KiB or more a call. No setting of a host makes up for it",
      instead);
  AddGain(e, e.subject.peak_window, change);
  return {change};
}

std::vector<SettingChange> ForSlowReader(const Evidence& e) {
  Workload instead = e.subject.workload;
  instead.read = kLargeCall;
  SettingChange change = InProgram(
      e.receiver,
      "in the program: give a read room for 64 KiB, and read again at once. A "
      "larger buffer only delays the moment when it is full",
      instead);
  AddGain(e, e.subject.peak_window, change);
  return {change};
}

// --- The CPU -----------------------------------------------------------------

void AddLargerCalls(const Evidence& e, std::vector<SettingChange>& changes) {
  constexpr double kSmall = 16384;
  const SubjectFigures& s = e.subject;
  const bool small_writes = s.bytes_a_write && *s.bytes_a_write < kSmall;
  const bool small_room = s.workload.read < Bytes{16384};
  if (!small_writes && !small_room) return;
  Workload instead = s.workload;
  instead.write = std::max(instead.write, kLargeCall);
  instead.read = std::max(instead.read, kLargeCall);
  instead.block.reset();
  changes.push_back(InProgram(
      small_writes ? e.sender : e.receiver,
      "in the program: hand over 64 KiB a call; each call costs about as much "
      "as a kilobyte",
      instead));
}

// Work that the card, or the layer above it, does for TCP.
void AddOffloads(const PairHost& host, std::vector<SettingChange>& changes) {
  if (IsWindows(host)) {
    const std::string name = InterfaceOf(host);
    for (const auto& [fact, noun] :
         {std::pair<const char*, const char*>{"rss", "Rss"}, {"rsc", "Rsc"}}) {
      if (OnOffFact(host, fact) != false) continue;
      SettingChange change = On(host, fmt::format("let the card spread or join "
                                                  "segments ({})",
                                                  noun));
      change.now = {
          fmt::format("Enable-NetAdapter{} -Name \"{}\"", noun, name)};
      change.undo = {
          fmt::format("Disable-NetAdapter{} -Name \"{}\"", noun, name)};
      changes.push_back(std::move(change));
    }
    return;
  }
  std::string on;
  std::string off;
  for (const char* name : {"tso", "gso", "gro"}) {
    if (OnOffFact(host, name) != false) continue;
    on += fmt::format(" {} on", name);
    off += fmt::format(" {} off", name);
  }
  if (on.empty()) return;
  SettingChange change =
      On(host,
         "let many segments pass the stack as one (a lab has that "
         "off so that its counts are those of the wire)");
  change.now = {fmt::format("ethtool -K {}{}", InterfaceOf(host), on)};
  change.undo = {fmt::format("ethtool -K {}{}", InterfaceOf(host), off)};
  changes.push_back(std::move(change));
}

std::vector<SettingChange> ForCpu(const Evidence& e) {
  std::vector<SettingChange> changes;
  AddLargerCalls(e, changes);
  AddOffloads(e.sender, changes);
  AddOffloads(e.receiver, changes);
  const bool more = e.streams_bytes_per_second &&
                    *e.streams_bytes_per_second > 1.2 * NowOf(e);
  if (more) {
    SettingChange change;
    change.host = e.sender.name;
    change.words = fmt::format(
        "in the program: several connections, each with its own thread; {} at "
        "once move {} here",
        e.streams, FormatByteRate(*e.streams_bytes_per_second));
    change.from = NowOf(e);
    change.to = *e.streams_bytes_per_second;
    change.gain =
        fmt::format("{} now, {} as measured", FormatByteRate(*change.from),
                    FormatByteRate(*change.to));
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

Bytes WindowToAimAt(const Evidence& e) {
  const auto bdp = BdpOf(e);
  const double by_line =
      bdp && !e.line->at_least ? 2 * static_cast<double>(bdp->count) : 0;
  const double by_now =
      e.subject.peak_window
          ? 4 * static_cast<double>(e.subject.peak_window->count)
          : 262144;
  return PowerOfTwo(std::max(by_line, by_now));
}

std::vector<SettingChange> ChangesFor(const Finding& finding,
                                      const Evidence& e) {
  switch (finding.limit) {
    case Limit::kPathMtu:
      return ForPathMtu(e);
    case Limit::kNagleDelayedAck:
      return ForNagle(e);
    case Limit::kSlowWriter:
      return ForSlowWriter(e);
    case Limit::kQueue:
      return ForQueue(e);
    case Limit::kSlowReader:
      return ForSlowReader(e);
    case Limit::kWindowScaling:
      return ForWindowScaling(e);
    case Limit::kReceiveWindow:
      return ForReceiveWindow(e);
    case Limit::kSendBuffer:
      return ForSendBuffer(e);
    case Limit::kCpu:
      return ForCpu(e);
    case Limit::kLoss:
      return ForLoss(e);
    case Limit::kSlowStart:
      return ForSlowStart(e);
    case Limit::kRoundTrip:
    case Limit::kLine:
    case Limit::kUnknown:
      return {};
  }
  return {};
}

}  // namespace wiretoll
