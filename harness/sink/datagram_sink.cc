// One stream of datagrams: from the first of a sender to its last.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"
#include "harness/sink/numbered.h"
#include "harness/sink/parts.h"
#include "platform/datagram.h"

namespace wiretoll {
namespace {

// ttcp ends with a few datagrams of 4 bytes, behind larger ones.
constexpr std::int64_t kTtcpEndBytes = 4;

std::int64_t WallSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class DatagramTaker {
 public:
  DatagramTaker(Socket& socket, const SinkSpec& spec,
                const std::function<bool()>& stop)
      : socket_(socket),
        spec_(spec),
        stop_(stop),
        // A larger datagram is cut, and its length told all the same.
        room_(static_cast<std::size_t>(
            std::max(spec.read.count, std::int64_t{64}))) {}

  std::optional<SunkStream> Run() {
    const auto first =
        AwaitNext(spec_.wait, stop_, [this] { return NextFromAllowed(); });
    if (!first) return std::nullopt;
    drops_before_ = Drops();
    stream_.udp = true;
    stream_.sender = sender_ = first->sender;
    stream_.started = UtcNow();
    const Result<Endpoint> local = socket_.LocalEndpoint();
    if (local.has_value()) stream_.local = local.value();
    const CpuSpan cpu;
    Take(first->datagram);
    Follow();
    FillCpu(cpu.Elapsed(), stream_.end);
    SunkStream stream = Finish();
    LetRestGo();
    return stream;
  }

 private:
  std::optional<DatagramFrom> Next() {
    Result<DatagramFrom> next = ReceiveDatagramFrom(socket_, room_);
    if (!next.has_value()) return std::nullopt;  // Time-out, or old ICMP news.
    return std::move(next).value();
  }
  std::optional<DatagramFrom> NextFromAllowed() {
    std::optional<DatagramFrom> next = Next();
    if (!next || spec_.from.empty() || next->sender.address == spec_.from) {
      return next;
    }
    ++stream_.strangers;
    return std::nullopt;
  }

  void Follow() {
    const SinkBounds bounds(spec_, stop_);
    while (stream_.ended.empty()) {
      const auto next = Next();
      if (next && next->sender == stream_.sender) {
        Take(next->datagram);
      } else if (next) {
        ++stream_.strangers;
      } else if (MonotonicNow() - last_ >= spec_.quiet) {
        stream_.ended =
            fmt::format("nothing came for {}", FormatDuration(spec_.quiet));
        break;
      }
      if (!stream_.ended.empty()) break;
      stream_.ended = bounds.Over(tally_.bytes);
      stream_.whole = stream_.ended.empty();
    }
  }

  // The last datagram comes several times: it must not open a stream.
  void LetRestGo() {
    const SteadyTime until = MonotonicNow() + spec_.quiet;
    while (!stop_() && MonotonicNow() < until) {
      const auto next = Next();
      if (!next || next->sender != sender_) return;
    }
  }

  void Take(const Datagram& datagram) {
    const std::int64_t length = datagram.length.value_or(datagram.kept).count;
    if (length <= kTtcpEndBytes && largest_ > kTtcpEndBytes) {
      stream_.ended = "the end mark of ttcp came";
      return;
    }
    last_ = MonotonicNow();
    largest_ = std::max(largest_, length);
    cut_ += datagram.cut;
    if (length > 0) tally_.Add(length);
    ++received_;
    if (marks_.Due(tally_.bytes)) marks_.Mark(tally_.bytes, last_);
    const auto kept = static_cast<std::size_t>(datagram.kept.count);
    if (!numbers_.Add({room_.data(), kept})) {
      stream_.ended = "the sender's last datagram came";
    }
  }

  [[nodiscard]] std::optional<std::int64_t> Drops() const {
    return ReadUdpCounters(socket_).receive_buffer_drops;
  }

  SunkStream Finish() {
    EndReport& end = stream_.end;
    FillTally(tally_, end);
    marks_.Fill(tally_.bytes, last_, end);
    FillOptions(socket_, spec_, true, end);
    DatagramReport& datagrams = end.datagrams.emplace();
    datagrams.received = received_;
    datagrams.cut = cut_;
    datagrams.strangers = stream_.strangers;
    datagrams.ended = stream_.ended;
    const auto drops = Drops();
    if (drops && drops_before_) {
      datagrams.receive_buffer_drops = *drops - *drops_before_;
    } else {
      end.why_null["datagrams.receive_buffer_drops"] =
          ReadUdpCounters(socket_).reason;
    }
    stream_.numbered = numbers_.Numbers();
    return std::move(stream_);
  }

  Socket& socket_;
  const SinkSpec& spec_;
  const std::function<bool()>& stop_;
  LoopBuffer room_;
  SunkStream stream_;
  Endpoint sender_;
  Tally tally_;
  ArrivalMarks marks_{std::nullopt};
  NumberWatch numbers_{WallSeconds()};
  std::optional<std::int64_t> drops_before_;
  std::int64_t received_ = 0;
  std::int64_t largest_ = 0;
  std::int64_t cut_ = 0;
  SteadyTime last_{};
};

}  // namespace

std::optional<SunkStream> TakeUdp(Socket& socket, const SinkSpec& spec,
                                  const std::function<bool()>& stop) {
  return DatagramTaker(socket, spec, stop).Run();
}

}  // namespace wiretoll
