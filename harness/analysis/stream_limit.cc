#include "harness/analysis/stream_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/theory/predict.h"

namespace wiretoll {
namespace {

constexpr double kLineIsFull = 0.9;
constexpr double kMostOfTheTime = 0.5;
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
  return CellLimit{StreamLimit::kLine,
                   fmt::format("the line, of which {} is in use",
                               PerCent(std::min(1.0, speed / *line)))};
}

std::optional<CellLimit> WaitLimitOf(const Cell& cell) {
  const double window =
      MedianFigure(cell, Metric::kWindowWaitShare).value_or(0);
  const double buffer =
      MedianFigure(cell, Metric::kSendBufferWaitShare).value_or(0);
  if (std::max(window, buffer) < kMostOfTheTime) return std::nullopt;
  if (window >= buffer) {
    return CellLimit{
        StreamLimit::kWindow,
        fmt::format("the receiver's window, in the way for {} of the time",
                    PerCent(std::min(1.0, window)))};
  }
  return CellLimit{
      StreamLimit::kSendBuffer,
      fmt::format("the sender's own buffer, in the way for {} of the time",
                  PerCent(std::min(1.0, buffer)))};
}

std::optional<CellLimit> CpuLimitOf(const Cell& cell, double speed) {
  const double sender = CpuShare(cell, Metric::kSenderCpu, speed);
  const double receiver = CpuShare(cell, Metric::kReceiverCpu, speed);
  if (std::max(sender, receiver) < kCpuIsFull) return std::nullopt;
  return CellLimit{
      StreamLimit::kProcessor,
      fmt::format("the {}'s CPU, of which its loop uses {}",
                  sender >= receiver ? "sender" : "receiver",
                  PerCent(std::min(1.0, std::max(sender, receiver))))};
}

std::optional<CellLimit> LossLimitOf(const Cell& cell) {
  const auto repeated = MedianFigure(cell, Metric::kRetransmissions);
  const auto segments = MedianFigure(cell, Metric::kDataSegments);
  if (!repeated || !segments || *segments <= 0) return std::nullopt;
  const double share = *repeated / *segments;
  if (share < kManyRepeated) return std::nullopt;
  return CellLimit{
      StreamLimit::kLoss,
      fmt::format("loss, for which {:.2g} % of the segments were sent again",
                  100 * share)};
}

}  // namespace

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
  if (!speed || cell.datagrams) return {StreamLimit::kUnknown, "not known"};
  if (auto line = LineLimitOf(cell, speed->median)) return *line;
  if (auto wait = WaitLimitOf(cell)) return *wait;
  if (auto cpu = CpuLimitOf(cell, speed->median)) return *cpu;
  if (auto loss = LossLimitOf(cell)) return *loss;
  if (!cell.figure(Metric::kWindowWaitShare)) {
    return {StreamLimit::kUnknown,
            "not known: " + (cell.why_missing.contains(Metric::kWindowWaitShare)
                                 ? cell.why_missing.at(Metric::kWindowWaitShare)
                                 : std::string("no counters"))};
  }
  return {StreamLimit::kOther,
          "neither line, window, buffer, CPU nor loss: the congestion window "
          "that was still growing, or a program"};
}

}  // namespace wiretoll
