#include "harness/programs/account.h"

#include "harness/analysis/capture_figures.h"
#include "harness/analysis/replay.h"
#include "harness/analysis/udp_wire.h"
#include "harness/analysis/window_waits.h"
#include "harness/analysis/wire.h"
#include "harness/base/words.h"
#include "harness/capture/call_log.h"
#include "harness/capture/timeline.h"

namespace wiretoll {
namespace {

void ReadCapture(const std::filesystem::path& folder, CaptureRecord& record) {
  if (record.file.empty()) return;
  const auto timeline = ReadTimeline(folder / record.file, std::nullopt);
  if (!timeline.has_value()) {
    return AddClause(timeline.error().message, record.reason);
  }
  FillCaptureFigures(timeline.value(), record);
  FillWindowWaits(timeline.value(), record);
  if (record.calls.empty()) return;
  const auto calls = ReadCallLog(folder / record.calls);
  if (!calls.has_value())
    return AddClause(calls.error().message, record.reason);
  FillReplay(timeline.value(), calls.value(), record);
}

void AccountUdp(const std::filesystem::path& folder, int ip_version,
                Sample& sample) {
  if (sample.capture && !sample.capture->file.empty()) {
    CaptureRecord& record = *sample.capture;
    const auto filled = FillUdpCaptureFigures(folder / record.file, record);
    if (!filled.has_value()) AddClause(filled.error().message, record.reason);
    AddClause("a rule of sending is TCP's", record.reason);
  }
  sample.wire = AccountUdpWire(sample, ip_version);
}

}  // namespace

void AccountSample(const std::filesystem::path& folder, int ip_version,
                   Sample& sample) {
  if (sample.datagrams) return AccountUdp(folder, ip_version, sample);
  if (sample.capture) ReadCapture(folder, *sample.capture);
  sample.wire = AccountWire(*sample.sender, *sample.receiver, ip_version,
                            sample.capture ? &*sample.capture : nullptr);
}

}  // namespace wiretoll
