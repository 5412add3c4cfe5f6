#include "harness/agent/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/agent/datagram_header.h"
#include "harness/agent/disturbance.h"
#include "harness/agent/trial_options.h"
#include "harness/agent/write_plan.h"
#include "harness/base/words.h"
#include "platform/clock.h"
#include "platform/cpu_time.h"
#include "platform/datagram.h"
#include "platform/lone_thread.h"
#include "platform/tcp_counters.h"
#include "platform/tcp_moment.h"

namespace wiretoll {
namespace {

std::string Spell(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
            : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

// What a firewall does to a connection; any other error is of another making.
bool MayBeAFirewall(const Error& error) {
  using namespace boost::system;
  return error == errc::timed_out || error == errc::connection_refused ||
         error == errc::host_unreachable || error == errc::network_unreachable;
}

// How often a receiver of datagrams looks whether it is done.
constexpr std::chrono::milliseconds kReceiveTimeout{20};

// Of packets of 1280 bytes, which every path of IPv6 passes (RFC 8200 5), over
// IPv6 with timestamps.
constexpr int kSafeMss = 1208;

TrialFailure Skip(std::string reason) {
  return {.message = std::move(reason), .skip = true};
}

class TrialRun {
 public:
  TrialRun(const TrialRequest& request, const OsIdentity& self,
           TrialControl& control, TrialRecords& records,
           const std::function<void(std::uint16_t)>& ready)
      : request_(request),
        self_(self),
        control_(control),
        records_(records),
        ready_(ready) {}

  TrialOutcomeAtEnd Run();

 private:
  TrialOutcomeAtEnd Send(Socket& socket);
  TrialOutcomeAtEnd Receive(Socket& listener);
  TrialOutcomeAtEnd Serve(Socket socket);
  TrialOutcomeAtEnd SendDatagrams(Socket& socket);
  TrialOutcomeAtEnd ReceiveDatagrams(Socket& socket);
  TrialOutcomeAtEnd Loop(Socket& socket);

  bool Udp() const { return request_.workload.transport == Transport::kUdp; }
  std::optional<TrialFailure> Unable() const;
  std::optional<std::string> UnableOverUdp() const;
  Result<Socket, TrialFailure> OpenReady() const;
  Result<Socket, TrialFailure> Open() const;
  std::optional<TrialFailure> Ready(const Socket& socket);
  std::optional<TrialFailure> Pin() const;
  std::optional<TrialFailure> Connect(Socket& socket, std::uint16_t port);
  Result<Socket, TrialFailure> AcceptPeer(Socket& listener);
  std::optional<TrialFailure> Drain(Socket& socket);
  TrialFailure WithPath(TrialFailure failure, const Socket& socket) const;
  void AddWindows(TcpCounters& counters);
  void AddRoundTrips(EndReport& report) const;
  EndReport Finish(EndReport report);

  TrialFailure OpenFailure(const Error& error) const;
  TrialFailure ConnectFailure(const Endpoint& peer, const Error& error) const;
  TrialFailure NoPeer(const Error& error) const;
  TrialFailure CutShort(const std::string& late) const;
  std::string PortsInWords() const;

  const TrialRequest& request_;
  const OsIdentity& self_;
  TrialControl& control_;
  TrialRecords& records_;
  const std::function<void(std::uint16_t)>& ready_;
  std::unique_ptr<TrialLoop> loop_;
  HostLook before_;
  std::map<std::string, OptionReading> options_;
  TcpMoment stood_;  // As the connection stood, before the first byte.
  std::optional<std::int64_t> connect_ns_;
  std::int64_t strangers_ = 0;
  std::string last_stranger_;
};

TrialOutcomeAtEnd TrialRun::Run() {
  if (const auto unable = Unable()) return *unable;
  Result<Socket, TrialFailure> opened = OpenReady();
  if (!opened.has_value()) return opened.error();
  Socket socket = std::move(opened).value();
  if (const auto unpinned = Pin()) return *unpinned;
  loop_ = MakeTrialLoop(request_, records_.calls);
  before_ = LookAtHost();
  if (request_.role == Role::kSender) {
    return Udp() ? SendDatagrams(socket) : Send(socket);
  }
  return Udp() ? ReceiveDatagrams(socket) : Receive(socket);
}

TrialOutcomeAtEnd TrialRun::Send(Socket& socket) {
  if (const auto unready = Ready(socket)) return *unready;
  const std::optional<std::uint16_t> port = control_.AwaitGo();
  if (!port) return CutShort("no word where the receiver listens");
  const SocketGuard guard(control_, socket);
  if (const auto apart = Connect(socket, *port)) return *apart;
  const auto unset =
      SetConnectedOptions(socket, request_.role, request_.workload);
  if (unset) return Skip(*unset);
  BeginTcpCounters(socket);
  stood_ = ReadTcpMoment(socket);
  options_ =
      ReadTrialOptions(socket, request_.role, request_.workload, self_.os);
  // A system that tells of no window now will not tell later.
  if (stood_.peer_window_bytes) control_.BeginSampling();
  const Sampling sampling(records_.moments, socket,
                          control_.TakeLooksOf(&records_.moments));
  TrialOutcomeAtEnd ran = Loop(socket);
  if (!ran.has_value()) return WithPath(ran.error(), socket);
  if (const auto undrained = Drain(socket)) {
    return WithPath(*undrained, socket);
  }
  records_.moments.End();
  ran.value().counters = ReadTcpCounters(socket);
  AddWindows(ran.value().counters);
  AddRoundTrips(ran.value());
  return Finish(std::move(ran).value());
}

TrialOutcomeAtEnd TrialRun::Receive(Socket& listener) {
  if (const auto unready = Ready(listener)) return *unready;
  Result<Socket, TrialFailure> accepted = AcceptPeer(listener);
  if (!accepted.has_value()) return accepted.error();
  TrialOutcomeAtEnd served = Serve(std::move(accepted).value());
  if (!served.has_value()) return served;
  return Finish(std::move(served).value());
}

// The socket closes with the last line, which is what the sender waits for.
TrialOutcomeAtEnd TrialRun::Serve(Socket socket) {
  BeginTcpCounters(socket);
  const SocketGuard guard(control_, socket);
  const Workload& workload = request_.workload;
  const auto unset = SetConnectedOptions(socket, request_.role, workload);
  if (unset) return Skip(*unset);
  options_ = ReadTrialOptions(socket, request_.role, workload, self_.os);
  const Sampling sampling(records_.moments, socket,
                          control_.TakeLooksOf(&records_.moments));
  TrialOutcomeAtEnd ran = Loop(socket);
  if (!ran.has_value()) return ran;
  records_.moments.End();
  TcpCounters& counters = ran.value().counters;
  counters = ReadTcpCounters(socket);
  AddClause("peer_window_*: only the sending end looks for them",
            counters.reason);
  // At once, though other flows' threads may still hold the handle.
  if (!request_.group.empty()) static_cast<void>(socket.ShutdownSend());
  return ran;
}

// Nothing is waited for: a datagram has no acknowledgment, a flow no end.
TrialOutcomeAtEnd TrialRun::SendDatagrams(Socket& socket) {
  const Result<Done> tells = TellOfLocalDrops(socket);
  if (const auto unready = Ready(socket)) return *unready;
  const std::optional<std::uint16_t> port = control_.AwaitGo();
  if (!port) return CutShort("no word where the receiver is");
  const SocketGuard guard(control_, socket);
  if (const auto apart = Connect(socket, *port)) return *apart;
  options_ =
      ReadTrialOptions(socket, request_.role, request_.workload, self_.os);
  TrialOutcomeAtEnd ran = Loop(socket);
  if (!ran.has_value()) return ran;
  if (!tells.has_value()) {
    ran.value().why_null["datagrams.not_sent.no_buffers"] =
        "this system does not tell of what its own queues dropped: " +
        tells.error().message();
  }
  return Finish(std::move(ran).value());
}

TrialOutcomeAtEnd TrialRun::ReceiveDatagrams(Socket& socket) {
  const SocketGuard guard(control_, socket);
  if (const auto apart = Connect(socket, request_.peer_port)) return *apart;
  Result<StrangerTrap> trap = StrangerTrap::Set(socket);
  const Result<Done> timed = SetReceiveTimeout(socket, kReceiveTimeout);
  if (!timed.has_value()) return OpenFailure(timed.error());
  options_ =
      ReadTrialOptions(socket, request_.role, request_.workload, self_.os);
  if (const auto unready = Ready(socket)) return *unready;
  TrialOutcomeAtEnd ran = Loop(socket);
  if (!ran.has_value()) return ran;
  EndReport& report = ran.value();
  const UdpCounters counters = ReadUdpCounters(socket);
  report.datagrams->receive_buffer_drops = counters.receive_buffer_drops;
  if (!counters.receive_buffer_drops) {
    report.why_null["datagrams.receive_buffer_drops"] = counters.reason;
  }
  if (trap.has_value()) {
    report.datagrams->strangers = trap.value().Count();
  } else {
    report.why_null["datagrams.strangers"] =
        "not to be caught on this system: " + trap.error().message();
  }
  return Finish(std::move(report));
}

TrialOutcomeAtEnd TrialRun::Loop(Socket& socket) {
  std::optional<TrialOutcomeAtEnd> ran;
  RunAlone([&] { ran.emplace(loop_->Run(socket, control_)); });
  return std::move(*ran);
}

std::optional<TrialFailure> TrialRun::Unable() const {
  const Workload& workload = request_.workload;
  if (workload.streams != 1) {
    return Skip("a trial is one stream; several are trials of one group");
  }
  if (Udp()) {
    const auto reason = UnableOverUdp();
    return reason ? std::optional(Skip(*reason)) : std::nullopt;
  }
  if (workload.batch > 1) return Skip("batch is for UDP; over TCP leave it 1");
  if (workload.dont_fragment) {
    return Skip("dont_fragment is for UDP; over TCP leave it unset");
  }
  return std::nullopt;
}

std::optional<std::string> TrialRun::UnableOverUdp() const {
  const Workload& workload = request_.workload;
  if (workload.pattern != Pattern::kStream) {
    return "over UDP only streams are measured";
  }
  if (workload.write.count > kMostDatagramBytes) {
    return fmt::format(
        "a datagram carries at most {} bytes, and write is {}; choose a "
        "smaller write, with block for the whole",
        kMostDatagramBytes, workload.write.count);
  }
  if (PlannedWrites(workload).value_or(0) > kMostDatagrams) {
    return fmt::format("a trial numbers at most {} datagrams; stop it earlier",
                       kMostDatagrams);
  }
  if (workload.batch > 1 && !HasDatagramBatches()) {
    return "this system has no call for several datagrams; leave batch 1";
  }
  return std::nullopt;
}

// With its options set and, at the receiver, listening. Two agents on one host
// may be given the same port at the same moment; the loser takes another.
Result<Socket, TrialFailure> TrialRun::OpenReady() const {
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    Result<Socket, TrialFailure> opened = Open();
    if (!opened.has_value()) return opened;
    Socket& socket = opened.value();
    const auto unset =
        SetTrialOptions(socket, request_.role, request_.workload);
    if (unset) return Skip(*unset);
    if (request_.role == Role::kSender || Udp()) return opened;
    const Result<Done> listening = socket.Listen();
    if (listening.has_value()) return opened;
    const bool taken = listening.error() == boost::system::errc::address_in_use;
    if (!taken || attempt == kAttempts) return OpenFailure(listening.error());
  }
}

Result<Socket, TrialFailure> TrialRun::Open() const {
  const bool receiver = request_.role == Role::kReceiver;
  const PortRange ports =
      receiver ? PortRange{request_.first_port, request_.last_port}
               : PortRange{};
  Result<Socket> opened = Udp() ? OpenUdp(request_.local_address, ports)
                                : OpenTcp(request_.local_address, ports);
  if (!opened.has_value()) return OpenFailure(opened.error());
  return std::move(opened).value();
}

std::optional<TrialFailure> TrialRun::Ready(const Socket& socket) {
  const Result<Endpoint> local = socket.LocalEndpoint();
  if (!local.has_value()) return OpenFailure(local.error());
  ready_(local.value().port);
  return std::nullopt;
}

std::optional<TrialFailure> TrialRun::Pin() const {
  const Workload& workload = request_.workload;
  const std::optional<int> cpu = request_.role == Role::kSender
                                     ? workload.sender_cpu
                                     : workload.receiver_cpu;
  if (!cpu) return std::nullopt;
  const Result<Done> pinned = PinThread(*cpu);
  if (pinned.has_value()) return std::nullopt;
  return Skip(fmt::format("the loop cannot be kept on CPU {} of this host: {}",
                          *cpu, pinned.error().message()));
}

std::optional<TrialFailure> TrialRun::Connect(Socket& socket,
                                              std::uint16_t port) {
  const Endpoint peer{request_.peer_address, port};
  const SteadyTime began = MonotonicNow();
  const Result<Done> connected = socket.Connect(peer, control_.Remaining());
  if (!connected.has_value()) return ConnectFailure(peer, connected.error());
  connect_ns_ = Nanoseconds{MonotonicNow() - began}.count();
  // An interrupted connect may look like one that succeeded.
  if (control_.cut() != Cut::kNone) return CutShort("no connection");
  return std::nullopt;
}

Result<Socket, TrialFailure> TrialRun::AcceptPeer(Socket& listener) {
  const SocketGuard guard(control_, listener);
  const Endpoint announced{request_.peer_address, request_.peer_port};
  // Ends with the deadline, however many strangers come: it interrupts the
  // listener.
  while (true) {
    Result<AcceptedSocket> accepted = listener.Accept(control_.Remaining());
    if (!accepted.has_value()) return NoPeer(accepted.error());
    if (accepted.value().peer == announced) {
      return std::move(accepted.value().socket);
    }
    ++strangers_;
    last_stranger_ = Spell(accepted.value().peer);
  }
}

// The receiver closes once it has read the end of our stream, so its end of
// stream says that all has been read and the counters are final.
std::optional<TrialFailure> TrialRun::Drain(Socket& socket) {
  std::array<std::byte, 64> room{};
  const Result<Bytes> got = socket.Receive(room);
  const Result<Bytes> unacknowledged = socket.UnacknowledgedBytes();
  const std::string left =
      unacknowledged.has_value()
          ? fmt::format("{} bytes unacknowledged", unacknowledged.value().count)
          : "how much was unacknowledged is not known";
  if (!got.has_value() || control_.cut() != Cut::kNone) {
    return Explain({"the receiver did not close",
                    "wait for the receiver to read all", left},
                   control_, got.error());
  }
  if (got.value().count > 0) {
    return TrialFailure{.message =
                            "the receiver sent bytes that were not asked for"};
  }
  if (unacknowledged.has_value() && unacknowledged.value().count > 0) {
    return TrialFailure{.message = "the receiver closed early: " + left};
  }
  return std::nullopt;
}

// What the kernel's repeating in vain says of the path: small packets made the
// connection, and no large one came through since (RFC 2923 2.1).
TrialFailure TrialRun::WithPath(TrialFailure failure,
                                const Socket& socket) const {
  constexpr std::int64_t kInVain = 3;
  const TcpMoment now = ReadTcpMoment(socket);
  if (!now.acked_bytes || !now.mss_bytes) return failure;
  const bool full_one_waits =
      now.in_flight_bytes.value_or(0) >= *now.mss_bytes &&
      *now.acked_bytes < *now.mss_bytes;
  if (!full_one_waits || now.retransmitted_segments.value_or(0) < kInVain) {
    return failure;
  }
  failure.message += fmt::format(
      "; the connection stood, but no segment of {} bytes came through, though "
      "sent {} times: is there a smaller MTU on the way that nobody tells of "
      "(a path MTU black hole)? Try mss = {}, or net.ipv4.tcp_mtu_probing=1 "
      "at a Linux sender",
      *now.mss_bytes, *now.retransmitted_segments + 1, kSafeMss);
  return failure;
}

void TrialRun::AddWindows(TcpCounters& counters) {
  counters.peer_window_initial_bytes = stood_.peer_window_bytes;
  for (const auto& seen :
       {stood_.peer_window_bytes, control_.EndSampling(),
        records_.moments.PeakWindow(), counters.peer_window_bytes}) {
    counters.peer_window_peak_bytes =
        std::max(counters.peer_window_peak_bytes, seen);
  }
}

void TrialRun::AddRoundTrips(EndReport& report) const {
  report.connect_ns = connect_ns_;
  report.rtt_handshake_ns = stood_.rtt_ns;
  report.rtt_min_ns = report.counters.min_rtt_ns;
  const auto times = records_.moments.RoundTrips(request_.workload.warmup);
  if (!times.empty()) {
    report.rtt_median_ns = times[times.size() / 2];
    report.rtt_p99_ns = times[times.size() * 99 / 100];
  } else if (records_.moments.on()) {
    for (const char* field : {"rtt_median_ns", "rtt_p99_ns"}) {
      report.why_null[field] =
          "no moment of steady state had bytes in flight and a round trip";
    }
  }
}

EndReport TrialRun::Finish(EndReport report) {
  report.os = self_.os;
  report.stack = self_.stack;
  report.strangers_refused = strangers_;
  report.options = std::move(options_);
  if (!Udp()) report.series = records_.moments.Summary();
  if (Udp()) report.counters.reason = "UDP has no connection to count for";
  report.disturbance = Compare(before_, LookAtHost());
  return report;
}

TrialFailure TrialRun::OpenFailure(const Error& error) const {
  if (error == boost::system::errc::address_in_use &&
      request_.role == Role::kReceiver && request_.first_port != 0) {
    const bool one = request_.first_port == request_.last_port;
    return {.message = fmt::format(
                "every data port of {} from {} to {} is in use; end what holds "
                "{} or choose another range",
                request_.local_address, request_.first_port, request_.last_port,
                one ? "it" : "them")};
  }
  if (error == boost::system::errc::address_not_available) {
    return {.message = fmt::format(
                "this host has no address {}; is the hosts file right?",
                request_.local_address)};
  }
  return {.message = fmt::format("open a socket on {}: {}",
                                 request_.local_address, error.message())};
}

TrialFailure TrialRun::ConnectFailure(const Endpoint& peer,
                                      const Error& error) const {
  if (control_.cut() == Cut::kAborted) return {.message = "aborted"};
  // The deadline interrupts the socket, whose error then is our own making.
  const Error why = control_.cut() == Cut::kDeadline
                        ? make_error_code(boost::system::errc::timed_out)
                        : error;
  return {.message = fmt::format("connect {}: {}{}", Spell(peer), why.message(),
                                 MayBeAFirewall(why)
                                     ? fmt::format(" (is a firewall in the "
                                                   "way?{})",
                                                   PortsInWords())
                                     : std::string())};
}

TrialFailure TrialRun::NoPeer(const Error& error) const {
  if (control_.cut() == Cut::kNone && error != boost::system::errc::timed_out) {
    return {.message = "accept: " + error.message()};
  }
  std::string late =
      fmt::format("no connection from {}",
                  Spell({request_.peer_address, request_.peer_port}));
  if (strangers_ > 0) {
    late += fmt::format(" but {} from others, {} the last,", strangers_,
                        last_stranger_);
  }
  return CutShort(late);
}

TrialFailure TrialRun::CutShort(const std::string& late) const {
  if (control_.cut() == Cut::kAborted) return {.message = "aborted"};
  return {.message =
              fmt::format("{} within {}", late, DeadlineInWords(control_))};
}

std::string TrialRun::PortsInWords() const {
  if (request_.first_port == 0) return {};
  if (request_.first_port == request_.last_port)
    return fmt::format(" the data port is {}", request_.first_port);
  return fmt::format(" data ports are {}-{}", request_.first_port,
                     request_.last_port);
}

}  // namespace

TrialOutcomeAtEnd RunTrial(const TrialRequest& request, const OsIdentity& self,
                           TrialControl& control, TrialRecords& records,
                           const std::function<void(std::uint16_t)>& ready) {
  return TrialRun(request, self, control, records, ready).Run();
}

}  // namespace wiretoll
