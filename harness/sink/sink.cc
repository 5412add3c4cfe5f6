#include "harness/sink/sink.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <atomic>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "harness/agent/trial_options.h"
#include "harness/sink/parts.h"
#include "platform/datagram.h"
#include "platform/host_facts.h"
#include "platform/options.h"

namespace wiretoll {
namespace {

using Take = std::optional<SunkStream> (*)(Socket&, const SinkSpec&,
                                           const std::function<bool()>&);

Failure Refused(const SinkSpec& spec, const char* protocol, const Error& why) {
  std::string remedy;
  if (why == boost::system::errc::address_in_use) {
    remedy = "; end what holds it, or choose another --port";
  } else if (why == boost::system::errc::address_not_available) {
    remedy = "; this host has no such address";
  } else if (why == boost::system::errc::invalid_argument) {
    remedy = "; --address takes a numeric address";
  } else if (why == boost::system::errc::permission_denied) {
    remedy = "; ports below 1024 need root";
  }
  return {ExitCode::kUsage,
          fmt::format("{} port {} on {}: {}{}", protocol, spec.port,
                      spec.address, why.message(), remedy)};
}

// Before anybody connects: what TCP may advertise is fixed then.
Result<Done> SetBuffer(const Socket& socket, const SinkSpec& spec) {
  if (!spec.rcvbuf) return Done{};
  return SetOption(socket, SocketOption::kRcvbuf, spec.rcvbuf->count);
}

Outcome<Socket> OpenListener(const SinkSpec& spec) {
  Result<Socket> opened = OpenTcp(spec.address, {spec.port, spec.port});
  if (!opened.has_value()) return Refused(spec, "TCP", opened.error());
  Result<Done> done = SetBuffer(opened.value(), spec);
  if (done.has_value()) done = opened.value().Listen();
  if (!done.has_value()) return Refused(spec, "TCP", done.error());
  return std::move(opened).value();
}

Outcome<Socket> OpenReceiver(const SinkSpec& spec) {
  Result<Socket> opened = OpenUdp(spec.address, {spec.port, spec.port});
  if (!opened.has_value()) return Refused(spec, "UDP", opened.error());
  Result<Done> done = SetBuffer(opened.value(), spec);
  if (done.has_value()) done = SetReceiveTimeout(opened.value(), kLook);
  if (!done.has_value()) return Refused(spec, "UDP", done.error());
  return std::move(opened).value();
}

// Streams of both kinds, until there were enough.
class Taking {
 public:
  Taking(const SinkSpec& spec, const SinkHooks& hooks)
      : spec_(spec), hooks_(hooks), stop_([this] { return Over(); }) {}

  void Serve(Socket& socket, Take take) {
    while (!Over()) {
      std::optional<SunkStream> sunk = take(socket, spec_, stop_);
      if (sunk) {
        Add(*sunk);
      } else if (!Over() && !Busy()) {
        return;
      }
    }
  }
  [[nodiscard]] int taken() const { return taken_; }

 private:
  [[nodiscard]] bool Over() const {
    return taken_ >= spec_.streams || (hooks_.stop && hooks_.stop());
  }
  // Somebody came to the other port within the time that we waited.
  [[nodiscard]] bool Busy() {
    const std::lock_guard lock(mutex_);
    return MonotonicNow() - last_ < spec_.wait;
  }
  void Add(const SunkStream& sunk) {
    const std::lock_guard lock(mutex_);
    last_ = MonotonicNow();
    if (taken_ >= spec_.streams) return;
    hooks_.sunk(sunk);
    ++taken_;
  }

  const SinkSpec& spec_;
  const SinkHooks& hooks_;
  const std::function<bool()> stop_;
  std::mutex mutex_;
  SteadyTime last_ = MonotonicNow();
  std::atomic<int> taken_{0};
};

}  // namespace

std::string SinkBounds::Over(std::int64_t bytes) const {
  if (bytes >= spec_.most.count) {
    return fmt::format("cut at {} bytes, the most that is taken (--bytes)",
                       bytes);
  }
  if (MonotonicNow() >= until_) {
    return fmt::format("cut after {}, the longest that is taken (--longest)",
                       FormatDuration(spec_.longest));
  }
  return stop_() ? "cut by you" : "";
}

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

void FillOptions(const Socket& socket, const SinkSpec& spec, bool udp,
                 EndReport& end) {
  Workload workload;
  workload.transport = udp ? Transport::kUdp : Transport::kTcp;
  workload.rcvbuf = spec.rcvbuf;
  const OsIdentity self = IdentifyOs();
  end.os = self.os;
  end.stack = self.stack;
  end.options = ReadTrialOptions(socket, Role::kReceiver, workload, self.os);
}

Outcome<int> RunSink(const SinkSpec& spec, const SinkHooks& hooks) {
  std::vector<std::pair<Socket, Take>> doors;
  if (spec.tcp) {
    Outcome<Socket> listener = OpenListener(spec);
    if (!listener.has_value()) return listener.error();
    doors.emplace_back(std::move(listener).value(), TakeTcp);
  }
  if (spec.udp) {
    Outcome<Socket> receiver = OpenReceiver(spec);
    if (!receiver.has_value()) return receiver.error();
    doors.emplace_back(std::move(receiver).value(), TakeUdp);
  }
  if (hooks.listening) hooks.listening();
  Taking taking(spec, hooks);
  std::vector<std::thread> threads;
  threads.reserve(doors.size());
  for (auto& [socket, take] : doors) {
    threads.emplace_back(
        [&taking, &door = socket, how = take] { taking.Serve(door, how); });
  }
  for (std::thread& thread : threads) thread.join();
  return taking.taken();
}

}  // namespace wiretoll
