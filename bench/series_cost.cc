// series-cost: what looking at a connection a thousand times a second costs it.
//
//   series-cost [ROUNDS]   100 rounds a size of write; prints Markdown
//
// One connection over loopback, as fast as it goes, is looked at at both ends
// for 200 ms and left alone for 200 ms, by turns; a round is one of each, and
// the one that begins changes from round to round. So what differs from
// connection to connection, and what drifts, is the same on both sides. Ten
// connections a size. Goal: 0.99 of the speed.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/agent/moment_sampler.h"
#include "harness/analysis/statistics.h"
#include "platform/clock.h"
#include "platform/process.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kPeriod = 1ms;
constexpr Nanoseconds kTurn = 200ms;
constexpr int kConnections = 10;
constexpr double kGoal = 0.99;

template <class T>
T Must(Result<T> result, const char* what) {
  if (!result.has_value()) {
    throw std::runtime_error(
        fmt::format("series-cost: {}: {}", what, result.error().message()));
  }
  return std::move(result).value();
}

// Writes of one size from one end to the other until it is destroyed.
class BusyConnection {
 public:
  explicit BusyConnection(std::size_t write) : data_(write) {
    Socket listener = Must(OpenTcp("127.0.0.1", {}), "open");
    Must(listener.Listen(), "listen");
    sender_.emplace(Must(OpenTcp("127.0.0.1", {}), "open"));
    Must(sender_->Connect(Must(listener.LocalEndpoint(), "address"), 5s),
         "connect");
    receiver_.emplace(std::move(Must(listener.Accept(5s), "accept").socket));
    reading_ = std::thread([this] { Read(); });
    writing_ = std::thread([this] { Write(); });
  }
  ~BusyConnection() {
    stop_ = true;
    writing_.join();
    reading_.join();
  }
  BusyConnection(const BusyConnection&) = delete;
  BusyConnection& operator=(const BusyConnection&) = delete;

  // Bytes that came in a turn.
  double Turn(bool watched) {
    const std::optional<Nanoseconds> period =
        watched ? std::optional(kPeriod) : std::nullopt;
    Watched& watch = turns_.emplace_back(period);
    watch.at_sender.Begin(*sender_);
    watch.at_receiver.Begin(*receiver_);
    watched_ = &watch;
    const std::int64_t before = came_;
    const SteadyTime begun = MonotonicNow();
    std::this_thread::sleep_for(kTurn);
    const Nanoseconds took = MonotonicNow() - begun;
    const std::int64_t came = came_ - before;
    watch.at_sender.End();
    watch.at_receiver.End();
    return static_cast<double>(came) / static_cast<double>(took.count());
  }

 private:
  // Both ends in one turn. Kept until the loops are gone, which may still be
  // asking the last one.
  struct Watched {
    explicit Watched(std::optional<Nanoseconds> period)
        : at_sender(period, kTurn), at_receiver(period, kTurn) {}
    MomentSampler at_sender;
    MomentSampler at_receiver;
  };

  // As an agent's loops: whoever is busy looks between two calls.
  void Write() {
    while (!stop_ && sender_->Send(data_).has_value()) {
      if (Watched* watched = watched_) watched->at_sender.LookIfDue();
    }
    static_cast<void>(sender_->ShutdownSend());
  }
  void Read() {
    std::vector<std::byte> room(std::size_t{128} * 1024);
    while (true) {
      const Result<Bytes> got = receiver_->Receive(room);
      if (!got.has_value() || got.value().count == 0) return;
      if (Watched* watched = watched_) watched->at_receiver.LookIfDue();
      came_.store(came_.load(std::memory_order_relaxed) + got.value().count,
                  std::memory_order_relaxed);
    }
  }

  const std::vector<std::byte> data_;
  std::optional<Socket> sender_;
  std::optional<Socket> receiver_;
  std::atomic<std::int64_t> came_{0};
  std::atomic<bool> stop_{false};
  std::deque<Watched> turns_;
  std::atomic<Watched*> watched_{nullptr};
  std::thread reading_;
  std::thread writing_;
};

struct Costs {
  std::vector<double> ratios;  // Watched over left alone, of each round.
  std::vector<double> alone;   // Bytes a nanosecond.
};

Costs Measure(std::size_t write, int rounds) {
  Costs costs;
  for (int connection = 0; connection < kConnections; ++connection) {
    BusyConnection busy(write);
    busy.Turn(false);  // Until the windows are open.
    for (int round = 0; round < rounds / kConnections; ++round) {
      const bool watched_first = round % 2 == 0;
      const double first = busy.Turn(watched_first);
      const double second = busy.Turn(!watched_first);
      const double alone = watched_first ? second : first;
      if (alone <= 0) continue;
      costs.ratios.push_back((watched_first ? first : second) / alone);
      costs.alone.push_back(alone);
    }
  }
  return costs;
}

std::string Verdict(const Estimate& ratio) {
  const bool reached = ratio.median >= kGoal;
  const bool sure = ratio.interval && (reached ? ratio.interval->low >= kGoal
                                               : ratio.interval->high < kGoal);
  return std::string(reached ? "yes" : "**no**") + (sure ? "" : ", not surely");
}

void Print(std::size_t write, Costs costs) {
  MedianIntervals intervals(1);
  const Estimate ratio = intervals.Of(costs.ratios);
  fmt::print("| {} B | {:.0f} MB/s | {:.4f} ({:.4f} to {:.4f}) | {} | {} |\n",
             write, SortedMedian(costs.alone) * 1e3, ratio.median,
             ratio.interval ? ratio.interval->low : 0,
             ratio.interval ? ratio.interval->high : 0, kGoal, Verdict(ratio));
}

int Main(int rounds) {
  static_cast<void>(PrepareProcess());
  fmt::print(
      "| writes of | left alone | looked at each ms, over that | goal | "
      "reached "
      "|\n|---:|---:|---|---:|---|\n");
  for (const std::size_t write : {64UL, 1448UL, 128UL * 1024}) {
    Print(write, Measure(write, rounds));
    std::fflush(stdout);
  }
  fmt::print(
      "\nMedians of {} rounds of twice {} ms over loopback, both ends looked "
      "at, with 95 % intervals of the rounds' own ratios.\n",
      rounds / kConnections * kConnections, kTurn / 1ms);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  try {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
    return wiretoll::Main(rounds < 10 ? 10 : rounds);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
