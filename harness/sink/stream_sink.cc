// One TCP stream.
#include <fmt/format.h>

#include <utility>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"
#include "harness/sink/parts.h"
#include "platform/datagram.h"
#include "platform/tcp_counters.h"

namespace wiretoll {
namespace {

// Waiting for nothing costs a call; the bounds are looked at then, and after
// so many reads that gave something: a look at the clock is not free.
constexpr int kReadsBetweenLooks = 64;

class StreamTaker {
 public:
  StreamTaker(const SinkSpec& spec, const std::function<bool()>& stop)
      : spec_(spec),
        bounds_(spec, stop),
        room_(static_cast<std::size_t>(spec.read.count)) {}

  // Reads to the end, or to a bound.
  void Read(Socket& socket) {
    int reads = 0;
    while (ended_.empty()) {
      const Result<Bytes> got = socket.Receive(room_);
      if (!got.has_value() || got.value().count == 0) {
        End(got);
      } else {
        Take(got.value().count);
        const bool full = tally_.bytes >= spec_.most.count;
        if (!full && ++reads % kReadsBetweenLooks != 0) continue;
      }
      if (ended_.empty()) ended_ = bounds_.Over(tally_.bytes);
      if (!ended_.empty() && !over_) cut_ = true;
    }
  }

  void Fill(SteadyTime ended, SunkStream& stream) const {
    FillTally(tally_, stream.end);
    marks_.Fill(tally_.bytes, ended, stream.end);
    stream.ended = ended_;
    stream.whole = !cut_;
  }

 private:
  void Take(std::int64_t bytes) {
    tally_.Add(bytes);
    if (marks_.Due(tally_.bytes)) marks_.Mark(tally_.bytes, MonotonicNow());
  }
  void End(const Result<Bytes>& got) {
    if (got.has_value()) {
      over_ = true;
      ended_ = "end of stream";
    } else if (got.error() != boost::system::errc::operation_would_block) {
      ended_ = "the connection broke: " + got.error().message();
    }
  }

  const SinkSpec& spec_;
  const SinkBounds bounds_;
  LoopBuffer room_;
  Tally tally_;
  ArrivalMarks marks_{std::nullopt};
  std::string ended_;
  bool over_ = false;
  bool cut_ = false;
};

SunkStream TakeStream(AcceptedSocket accepted, const SinkSpec& spec,
                      const std::function<bool()>& stop) {
  Socket& socket = accepted.socket;
  SunkStream stream;
  stream.sender = accepted.peer;
  stream.started = UtcNow();
  const Result<Endpoint> local = socket.LocalEndpoint();
  if (local.has_value()) stream.local = local.value();
  BeginTcpCounters(socket);
  StreamTaker taker(spec, stop);
  const Result<Done> timed = SetReceiveTimeout(socket, kLook);
  if (!timed.has_value()) {
    stream.whole = false;
    stream.ended = "no time-out to be had: " + timed.error().message();
    return stream;
  }
  const CpuSpan cpu;
  taker.Read(socket);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();
  taker.Fill(ended, stream);
  FillCpu(cpu_used, stream.end);
  FillOptions(socket, spec, false, stream.end);
  stream.end.counters = ReadTcpCounters(socket);
  return stream;
}

}  // namespace

std::optional<SunkStream> TakeTcp(Socket& listener, const SinkSpec& spec,
                                  const std::function<bool()>& stop) {
  std::int64_t strangers = 0;
  auto accepted =
      AwaitNext(spec.wait, stop, [&]() -> std::optional<AcceptedSocket> {
        Result<AcceptedSocket> next = listener.Accept(kLook);
        if (!next.has_value()) return std::nullopt;
        if (spec.from.empty() || next.value().peer.address == spec.from) {
          return std::move(next).value();
        }
        ++strangers;
        return std::nullopt;
      });
  if (!accepted) return std::nullopt;
  SunkStream stream = TakeStream(*std::move(accepted), spec, stop);
  stream.strangers = strangers;
  return stream;
}

}  // namespace wiretoll
