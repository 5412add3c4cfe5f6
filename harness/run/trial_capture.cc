#include "harness/run/trial_capture.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/words.h"
#include "harness/capture/call_log.h"

namespace wiretoll {
void TrialCapture::Begin(const TrialEnd& sender, const TrialEnd& receiver,
                         const TrialSpec& spec, std::uint32_t snap_bytes) {
  if (BeginAt(sender, receiver, spec, snap_bytes)) return;
  BeginAt(receiver, sender, spec, snap_bytes);
}

bool TrialCapture::BeginAt(const TrialEnd& here, const TrialEnd& there,
                           const TrialSpec& spec, std::uint32_t snap_bytes) {
  Request request;
  request.verb = "capture";
  request.capture = {here.host->address, there.host->address, spec.first_port,
                     spec.last_port, snap_bytes};
  const auto reply = files_.AskFor(*here.link, std::move(request));
  if (!reply.has_value() || !reply.value().capturing) {
    Miss(fmt::format("{}: {}", here.host->name,
                     reply.has_value() ? std::string("the agent did not say "
                                                     "where it captures")
                                       : reply.error().message));
    return false;
  }
  link_ = here.link;
  record_.host = here.host->name;
  record_.interface = *reply.value().capturing;
  record_.reason.clear();
  return true;
}

CaptureRecord TrialCapture::End(const TrialEnd& sender,
                                const TrialEnd& receiver, bool ok) {
  if (link_ == nullptr) return record_;
  FetchFrames();
  // An agent that had no part in the trial would give those of another.
  if (ok && !record_.file.empty()) FetchCalls(sender, receiver);
  return record_;
}

void TrialCapture::FetchFrames() {
  Request request;
  request.verb = "capture-end";
  const auto reply = files_.AskFor(*link_, std::move(request));
  if (!reply.has_value()) return Miss(reply.error().message);
  if (!reply.value().captured) return Miss("the agent told of no capture");
  const CaptureEnd& captured = *reply.value().captured;
  const auto file = files_.Fetch(*link_, PartOf::kCapture);
  if (!file.has_value()) return Miss(file.error().message);
  auto name = files_.Write("captures", ".pcapng", file.value());
  if (!name.has_value()) return Miss(name.error().message);
  record_.file = std::move(name).value();
  record_.frames = captured.frames;
  record_.dropped = captured.dropped;
  record_.partial = captured.partial;
}

void TrialCapture::FetchCalls(const TrialEnd& sender,
                              const TrialEnd& receiver) {
  const auto text = files_.FetchBoth(sender, receiver, PartOf::kCalls,
                                     std::string(kCallLogHead) + "\n");
  if (!text.has_value()) {
    return Miss("the list of calls: " + text.error().message);
  }
  auto name = files_.Write("captures", ".calls.csv", text.value());
  if (!name.has_value()) return Miss(name.error().message);
  record_.calls = std::move(name).value();
}

void TrialCapture::Miss(const std::string& why) {
  AddClause(why, record_.reason);
}

}  // namespace wiretoll
