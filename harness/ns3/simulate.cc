#include "harness/ns3/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cmath>
#include <exception>
#include <memory>

#include "harness/base/words.h"
#include "harness/ns3/agent_options.h"
#include "harness/ns3/datagram_programs.h"
#include "harness/ns3/ends.h"
#include "harness/ns3/programs.h"

namespace wiretoll {
namespace {

// Of IP and UDP; ns-3's IP header has no options here.
constexpr std::int64_t kLargestDatagram = 65535 - 20 - 8;

bool Udp(const TrialRequest& request) {
  return request.workload.transport == Transport::kUdp;
}

std::optional<std::string> WhyNotTcp(const Workload& workload) {
  if (workload.cork) return "ns-3 has no option cork; leave it off";
  if (workload.batch > 1) return "batch is for UDP; over TCP leave it 1";
  if (workload.dont_fragment)
    return "dont_fragment is for UDP; over TCP leave it unset";
  if (workload.quickack == Quickack::kOn) {
    return "ns-3 has no quick-ACK mode that it leaves again; quickack each is "
           "an ACK for each segment (DelAckCount 1), off is the delayed ACK "
           "of ns-3's default";
  }
  if (!workload.congestion) return std::nullopt;
  const std::vector<std::string> names = sim::CongestionNames();
  if (std::ranges::find(names, *workload.congestion) != names.end())
    return std::nullopt;
  return fmt::format(
      "{} has no congestion control \"{}\" that can be used here; there is {}",
      SimulatedStack(), *workload.congestion, fmt::join(names, ", "));
}

std::optional<std::string> WhyNotUdp(const Workload& workload) {
  if (workload.pattern != Pattern::kStream)
    return "over UDP only streams are simulated";
  if (workload.write.count > kLargestDatagram) {
    return fmt::format(
        "a datagram carries at most {} bytes, and write is {}; choose a "
        "smaller write, with block for the whole",
        kLargestDatagram, workload.write.count);
  }
  if (PlannedWrites(workload).value_or(0) > kMostDatagrams) {
    return fmt::format("a trial numbers at most {} datagrams; stop it earlier",
                       kMostDatagrams);
  }
  if (workload.batch > 1)
    return "ns-3 has no call for several datagrams; leave batch 1";
  if (workload.dont_fragment)
    return "dont_fragment is not simulated; leave it unset";
  if (workload.sndbuf)
    return "ns-3 has no send buffer for UDP; leave sndbuf unset";
  const bool paced = workload.gap.count() > 0 || workload.rate;
  if (!paced && !PlannedWrites(workload)) {
    return "a simulated call takes no time, so that datagrams without gap or "
           "rate must be stopped by bytes or messages, not by time";
  }
  return std::nullopt;
}

sim::TcpSpec TcpSpecOf(const TrialRequest& sender) {
  const Workload& workload = sender.workload;
  sim::TcpSpec spec;
  spec.no_delay = !workload.nagle;
  if (workload.mss) spec.segment_bytes = workload.mss->count;
  if (workload.sndbuf) spec.sndbuf_bytes = workload.sndbuf->count;
  if (workload.rcvbuf) spec.rcvbuf_bytes = workload.rcvbuf->count;
  if (workload.quickack == Quickack::kEach) spec.delayed_ack_count = 1;
  spec.congestion = workload.congestion.value_or("");
  spec.sender_read_bytes = spec.receiver_read_bytes = workload.read.count;
  spec.carry_bytes = workload.verify;
  return spec;
}

std::unique_ptr<TrialProgram> ProgramOf(const TrialRequest& request) {
  const bool sender = request.role == Role::kSender;
  if (request.workload.pattern == Pattern::kRequestResponse) {
    if (sender) return std::make_unique<SimulatedClient>(request);
    return std::make_unique<SimulatedServer>(request);
  }
  if (sender) return std::make_unique<SimulatedStreamSender>(request);
  return std::make_unique<SimulatedStreamReceiver>(request);
}

TrialFailure NotToEnd(const std::string& what, const sim::WorldSpec& world,
                      const std::string& progress) {
  return {.message =
              fmt::format("{} within {} s of simulated time: {}", what,
                          static_cast<double>(world.limit_ns) / 1e9, progress)};
}

// A host that follows RFC 9293 3.8.6.2.1 goes on after a while; ns-3 cannot.
void AddStandstill(const sim::TcpResult& result, TrialFailure& failure) {
  const std::int64_t window = result.receiver.rcvbuf_bytes;
  const std::int64_t segment = result.sender.segment_bytes;
  if (!result.connect_ns || window >= 2 * segment) return;
  failure.skip = true;
  failure.message = fmt::format(
      "ns-3's transfer stands still with an rcvbuf of {} bytes: its sender "
      "waits for a window that takes a whole segment ({} bytes) and never "
      "gives that up; choose an rcvbuf of two segments at least, or a smaller "
      "mss",
      window, segment);
}

Result<SimulatedEnds, TrialFailure> SimulateConnection(
    const sim::WorldSpec& world, const TrialRequest& sender,
    const TrialRequest& receiver) {
  const auto sending = ProgramOf(sender);
  const auto receiving = ProgramOf(receiver);
  const sim::TcpResult result =
      sim::SimulateTcp(world, TcpSpecOf(sender), *sending, *receiving);
  SimulatedEnds ends{sending->Report(), receiving->Report()};
  if (!result.error.empty()) {
    TrialFailure failure =
        NotToEnd(result.error, world,
                 Progress(ends.receiver.bytes, PlannedBytes(sender.workload),
                          "had come"));
    AddStandstill(result, failure);
    return failure;
  }
  FillTcpEnds(world, sender.workload, result, ends);
  return ends;
}

Result<SimulatedEnds, TrialFailure> SimulateDatagrams(
    const sim::WorldSpec& world, const TrialRequest& sender,
    const TrialRequest& receiver) {
  SimulatedDatagramSender sending(sender);
  SimulatedDatagramReceiver receiving(receiver, sending);
  sim::UdpSpec spec;
  if (sender.workload.rcvbuf) spec.rcvbuf_bytes = sender.workload.rcvbuf->count;
  spec.kept_bytes = receiving.shown_bytes();
  const sim::UdpResult result =
      sim::SimulateUdp(world, spec, sending, receiving);
  SimulatedEnds ends{sending.Report(), receiving.Report()};
  if (!result.error.empty()) {
    return NotToEnd(
        result.error, world,
        fmt::format("{} had been sent", Count(sending.sent(), "datagram")));
  }
  FillUdpEnds(world, sender.workload, result, ends);
  return ends;
}

}  // namespace

std::string SimulatedStack() { return "ns-3 " + sim::Version(); }

std::optional<std::string> WhyNotSimulated(const TrialRequest& request) {
  const Workload& workload = request.workload;
  for (const std::string& address :
       {request.local_address, request.peer_address}) {
    boost::system::error_code error;
    const auto parsed = boost::asio::ip::make_address(address, error);
    if (!error && !parsed.is_v4())
      return "the simulated hosts speak IPv4 only; " + address + " is IPv6";
  }
  if (!request.group.empty() || workload.streams != 1) {
    return "flows at once are not simulated; one pair and one stream are";
  }
  if (workload.sender_cpu || workload.receiver_cpu)
    return "no CPU is simulated; leave sender_cpu and receiver_cpu out";
  if (request.series)
    return "no time series is taken of a simulated connection";
  return Udp(request) ? WhyNotUdp(workload) : WhyNotTcp(workload);
}

Result<SimulatedEnds, TrialFailure> SimulateTrial(
    sim::WorldSpec world, const TrialRequest& sender,
    const TrialRequest& receiver) {
  world.sender_address = sender.local_address;
  world.receiver_address = receiver.local_address;
  world.limit_ns = Nanoseconds(sender.deadline).count();
  constexpr std::uint64_t kRuns = std::uint64_t{1} << 31;
  if (world.rng_run == kRunOfEachTrial)
    world.rng_run = 1 + sender.payload_seed % kRuns;
  try {
    return Udp(sender) ? SimulateDatagrams(world, sender, receiver)
                       : SimulateConnection(world, sender, receiver);
  } catch (const std::exception& exception) {
    return TrialFailure{.message = fmt::format("ns-3: {}", exception.what())};
  }
}

}  // namespace wiretoll
