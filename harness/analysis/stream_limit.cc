#include "harness/analysis/stream_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/units.h"
#include "harness/theory/windows.h"

namespace wiretoll {
namespace {

constexpr double kLineIsFull = 0.9;
constexpr double kMostOfTheTime = 0.5;
constexpr double kSomeOfTheTime = 0.1;
// Of a send buffer as Linux counts it: measured at 0.49 to 0.79 where it was
// the limit, and at 0.26 and less where it was larger than the path.
constexpr double kDataOfBuffer = 0.4;
constexpr double kCpuIsFull = 0.8;
constexpr double kManyRepeated = 0.002;

std::optional<double> MedianFigure(const Cell& cell, Metric metric) {
  const auto& figure = cell.figure(metric);
  if (!figure) return std::nullopt;
  return figure->median;
}

std::string PerCent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

// Of a CPU, at the end whose bytes cost `ns_a_byte`.
double CpuShare(const Cell& cell, Metric cost, double speed) {
  return MedianFigure(cell, cost).value_or(0) * speed * 1e-9;
}

std::optional<CellLimit> LineLimitOf(const Cell& cell, double speed) {
  const auto line = BoundOf(cell).line;
  if (!line || speed < kLineIsFull * *line) return std::nullopt;
  return CellLimit{StreamLimit::kLine, "the line",
                   fmt::format("the line, of which {} is in use",
                               PerCent(std::min(1.0, speed / *line)))};
}

std::optional<CellLimit> WaitLimitOf(const Cell& cell) {
  const double window =
      MedianFigure(cell, Metric::kWindowWaitShare).value_or(0);
  const double buffer =
      MedianFigure(cell, Metric::kSendBufferWaitShare).value_or(0);
  const double longer = std::max(window, buffer);
  if (longer < kMostOfTheTime) return std::nullopt;
  const bool peer = window >= buffer;
  const std::string name = peer ? "the receiver's window" : "the send buffer";
  return CellLimit{peer ? StreamLimit::kWindow : StreamLimit::kSendBuffer, name,
                   fmt::format("{}, in the way for {} of the time", name,
                               PerCent(std::min(1.0, longer)))};
}

// Linux's count of its own buffer's time falls short of what it is: a fifth
// was measured where a small one held the sender back all along. Then what is
// in flight fills the part of it that is data.
std::optional<CellLimit> FullBufferLimitOf(const Cell& cell, double speed) {
  const double waited =
      MedianFigure(cell, Metric::kSendBufferWaitShare).value_or(0);
  const auto share = InFlightShareOf(cell, speed);
  if (!share || *share < kDataOfBuffer || waited < kSomeOfTheTime) {
    return std::nullopt;
  }
  return CellLimit{
      StreamLimit::kSendBuffer, "the send buffer",
      fmt::format("the send buffer, of which {} are data in flight, as much as "
                  "its bookkeeping leaves, in the way for {} of the time",
                  PerCent(std::min(1.0, *share)), PerCent(waited))};
}

std::optional<CellLimit> CpuLimitOf(const Cell& cell, double speed) {
  const double sender = CpuShare(cell, Metric::kSenderCpu, speed);
  const double receiver = CpuShare(cell, Metric::kReceiverCpu, speed);
  const double busier = std::max(sender, receiver);
  if (busier < kCpuIsFull) return std::nullopt;
  const std::string name =
      fmt::format("the {}'s CPU", sender >= receiver ? "sender" : "receiver");
  return CellLimit{StreamLimit::kProcessor, name,
                   fmt::format("{}, of which its loop uses {}", name,
                               PerCent(std::min(1.0, busier)))};
}

// Controls that take each loss for congestion.
bool HeedsEachLoss(const Cell& cell) {
  const FactorValue* control = FindFactor(cell.factors, "congestion");
  if (control == nullptr) return false;
  const std::string name = SpellFactor(*control);
  return name == "reno" || name == "cubic";
}

// What losses leave, where the theory of it applies.
std::optional<double> LeftByLoss(const Cell& cell, double loss) {
  const auto rtt = MedianFigure(cell, Metric::kRttMin);
  if (!HeedsEachLoss(cell) || !rtt || *rtt < 1 || !cell.theory ||
      cell.theory->mss < 1 || !(loss > 0) || loss >= 1) {
    return std::nullopt;
  }
  return RateUnderLoss(Bytes{cell.theory->mss}, Nanoseconds(std::llround(*rtt)),
                       loss);
}

std::optional<CellLimit> LossLimitOf(const Cell& cell, double speed) {
  const auto repeated = MedianFigure(cell, Metric::kRetransmissions);
  const auto segments = MedianFigure(cell, Metric::kDataSegments);
  if (!repeated || !segments || *segments <= 0) return std::nullopt;
  const double share = *repeated / *segments;
  const auto left = LeftByLoss(cell, share);
  // Half as much again is what the model may be off by; cubic gets more.
  const bool explains = left && speed >= *left / 2;
  if (share < kManyRepeated && !explains) return std::nullopt;
  std::string words = fmt::format(
      "loss, for which {:.2g} % of the segments were sent again", 100 * share);
  if (explains) {
    words += fmt::format(
        " (a control that halves its window for each is left {} MB/s)",
        FormatNumber(*left * 1e-6));
  }
  return CellLimit{StreamLimit::kLoss, "loss", std::move(words)};
}

}  // namespace

std::optional<double> InFlightShareOf(const Cell& cell, double speed) {
  const auto loaded = MedianFigure(cell, Metric::kRttP50);
  const auto rtt = loaded ? loaded : MedianFigure(cell, Metric::kRttMin);
  const auto buffer = MedianFigure(cell, Metric::kSendBuffer);
  if (!rtt || !buffer || !(*buffer > 0)) return std::nullopt;
  return speed * *rtt * 1e-9 / *buffer;
}

std::optional<Estimate> SpeedOf(const Cell& cell) {
  const auto& steady = cell.figure(Metric::kSteadyThroughput);
  return steady ? steady : cell.figure(Metric::kThroughput);
}

std::optional<double> CellBound::least() const {
  if (window && line) return std::min(*window, *line);
  return window ? window : line;
}

CellBound BoundOf(const Cell& cell) {
  CellBound bound;
  const auto window = MedianFigure(cell, Metric::kWindowPeak);
  const auto rtt = MedianFigure(cell, Metric::kRttMin);
  if (window && rtt && *rtt > 0) bound.window = *window / *rtt * 1e9;
  if (cell.theory) bound.line = cell.theory->best_throughput;
  return bound;
}

CellLimit LimitOf(const Cell& cell) {
  const std::optional<Estimate> speed = SpeedOf(cell);
  if (!speed || cell.datagrams)
    return {StreamLimit::kUnknown, "not known", "not known"};
  if (auto line = LineLimitOf(cell, speed->median)) return *line;
  if (auto wait = WaitLimitOf(cell)) return *wait;
  if (auto full = FullBufferLimitOf(cell, speed->median)) return *full;
  if (auto cpu = CpuLimitOf(cell, speed->median)) return *cpu;
  if (auto loss = LossLimitOf(cell, speed->median)) return *loss;
  if (!cell.figure(Metric::kWindowWaitShare)) {
    const auto why = cell.why_missing.find(Metric::kWindowWaitShare);
    return {StreamLimit::kUnknown, "not known",
            "not known: " + (why == cell.why_missing.end()
                                 ? std::string("no counters")
                                 : why->second)};
  }
  return {StreamLimit::kOther, "something else",
          "none of line, window, buffer, CPU and loss: a congestion window "
          "that was still growing, a program, or what stands between the "
          "hosts"};
}

}  // namespace wiretoll
