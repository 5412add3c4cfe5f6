#include "harness/agent/capture_job.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "platform/clock.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20ms;
// After a trial a FIN and its ACK may still be under way.
constexpr auto kLonger = 30ms;
constexpr int kMostRounds = 10;
// Of the agent's memory. Two million headers, a minute of 32 bytes a segment
// at 10 Mbit/s.
constexpr std::size_t kMostFileBytes = std::size_t{256} << 20U;

std::string CannotCapture(const Error& error, const std::string& address) {
  using namespace boost::system;
  if (error == errc::operation_not_permitted ||
      error == errc::permission_denied) {
    return "no right to capture; run the agent as root, or once, on that "
           "host: setcap cap_net_raw+ep PATH/OF/wiretoll-agent";
  }
  if (error == errc::operation_not_supported) {
    return "this system's agent does not capture; capture there with "
           "Wireshark or pktmon, and look with wiretoll observe FILE";
  }
  if (error == errc::address_not_available) {
    return fmt::format("no interface of this host carries {}", address);
  }
  if (error == errc::protocol_not_supported) {
    return fmt::format(
        "the interface of {} is no Ethernet; capture there with tcpdump, and "
        "look with wiretoll observe FILE",
        address);
  }
  return "the capture did not start: " + error.message();
}

}  // namespace

Result<std::unique_ptr<CaptureJob>, std::string> CaptureJob::Start(
    const CaptureRequest& request, Nanoseconds wall) {
  Result<PacketCapture> opened = PacketCapture::Open(
      {request.local_address, request.peer_address, request.first_port,
       request.last_port, request.snap_bytes});
  if (!opened.has_value()) {
    return CannotCapture(opened.error(), request.local_address);
  }
  return std::unique_ptr<CaptureJob>(
      new CaptureJob(std::move(opened).value(), request, wall));
}

CaptureJob::CaptureJob(PacketCapture capture, const CaptureRequest& request,
                       Nanoseconds wall)
    : capture_(std::move(capture)),
      wall_(wall),
      writer_({capture_.interface_name(), kLinkEthernet, request.snap_bytes}),
      thread_([this] { Run(); }) {}

CaptureJob::~CaptureJob() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
}

void CaptureJob::Run() {
  while (!ending_ && trouble_.empty()) ReadSome(kPatience);
  Drain();
}

// What the kernel still holds, and what is still to come.
void CaptureJob::Drain() {
  for (int round = 0; round < kMostRounds && trouble_.empty(); ++round) {
    if (!ReadSome(kLonger)) return;
  }
}

// True if frames came.
bool CaptureJob::ReadSome(std::chrono::milliseconds patience) {
  const auto got = capture_.Read(
      patience, [this](const PassingFrame& frame) { Keep(frame); });
  if (!got.has_value()) trouble_ = got.error().message();
  return got.has_value() && got.value() > 0;
}

void CaptureJob::Keep(const PassingFrame& frame) {
  if (writer_.pending().size() > kMostFileBytes) {
    ++left_out_;
    return;
  }
  writer_.Add((frame.time.time_since_epoch() + wall_).count(), frame.bytes,
              frame.original_bytes);
  ++end_.frames;
}

CaptureEnd CaptureJob::End() {
  ending_ = true;
  thread_.join();
  const Result<CaptureCounts> counts = capture_.Counts();
  PcapngWriter::Statistics statistics;
  statistics.time_ns = (MonotonicNow().time_since_epoch() + wall_).count();
  if (counts.has_value()) {
    end_.dropped = counts.value().dropped;
    statistics.received = end_.frames + counts.value().dropped;
    statistics.dropped = counts.value().dropped;
  }
  end_.partial = WhatIsMissing(end_);
  statistics.comment = end_.partial;
  writer_.Finish(statistics);
  file_ = writer_.Take();
  end_.bytes = static_cast<std::int64_t>(file_.size());
  return end_;
}

std::string CaptureJob::WhatIsMissing(const CaptureEnd& end) const {
  if (!trouble_.empty()) return "the capture broke off: " + trouble_;
  if (left_out_ > 0) {
    return fmt::format("{} frames beyond {} MiB of file were left out",
                       left_out_, kMostFileBytes >> 20U);
  }
  if (end.dropped.value_or(0) > 0) {
    return fmt::format(
        "the kernel dropped {} frames: the host was too busy to take them",
        *end.dropped);
  }
  return {};
}

}  // namespace wiretoll
