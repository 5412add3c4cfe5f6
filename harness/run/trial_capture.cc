#include "harness/run/trial_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <utility>

#include "harness/base/words.h"
#include "harness/capture/call_log.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// An agent answers at once; a slow ssh is allowed for.
constexpr auto kAnswerTime = 10s;
constexpr std::size_t kMostStemBytes = 160;
// More than an agent keeps of a capture.
constexpr std::size_t kMostFileBytes = std::size_t{320} << 20U;

}  // namespace

std::string CaptureStem(const std::string& trial, std::int64_t order) {
  std::string stem = fmt::format("{:05}-{}", order, trial);
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) {
        return std::isalnum(c) == 0 && c != '-' && c != '+' && c != '_';
      },
      '-');
  if (stem.size() > kMostStemBytes) stem.resize(kMostStemBytes);
  return stem;
}

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
  const auto reply = AskFor(*here.link, std::move(request));
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
  const auto reply = AskFor(*link_, std::move(request));
  if (!reply.has_value()) return Miss(reply.error().message);
  if (!reply.value().captured) return Miss("the agent told of no capture");
  const CaptureEnd& captured = *reply.value().captured;
  const auto file = Fetch(*link_, PartOf::kCapture);
  if (!file.has_value()) return Miss(file.error().message);
  const std::string name = stem_ + ".pcapng";
  const auto written = Write(name, file.value());
  if (!written.has_value()) return Miss(written.error().message);
  record_.file = "captures/" + name;
  record_.frames = captured.frames;
  record_.dropped = captured.dropped;
  record_.partial = captured.partial;
}

void TrialCapture::FetchCalls(const TrialEnd& sender,
                              const TrialEnd& receiver) {
  std::string text = std::string(kCallLogHead) + "\n";
  for (const TrialEnd* end : {&sender, &receiver}) {
    const auto lines = Fetch(*end->link, PartOf::kCalls);
    if (!lines.has_value()) {
      return Miss(fmt::format("the list of calls: {}: {}", end->host->name,
                              lines.error().message));
    }
    text += lines.value();
  }
  const std::string name = stem_ + ".calls.csv";
  const auto written = Write(name, text);
  if (!written.has_value()) return Miss(written.error().message);
  record_.calls = "captures/" + name;
}

Outcome<std::string> TrialCapture::Fetch(AgentLink& link, PartOf of) {
  std::string whole;
  while (true) {
    Request request;
    request.verb = "part";
    request.part = {of, static_cast<std::int64_t>(whole.size())};
    auto reply = AskFor(link, std::move(request));
    if (!reply.has_value()) return reply.error();
    if (!reply.value().part) {
      return Failure{ExitCode::kNothingRan, "the agent sent no part of it"};
    }
    const Part& part = *reply.value().part;
    whole += part.data;
    if (part.left == 0) return whole;
    if (part.data.empty() || whole.size() > kMostFileBytes) {
      return Failure{ExitCode::kNothingRan,
                     fmt::format("the agent's parts do not end ({} bytes came)",
                                 whole.size())};
    }
  }
}

Outcome<Done> TrialCapture::Write(const std::string& name,
                                  const std::string& text) const {
  const fs::path file = folder_ / "captures" / name;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out) return Done{};
  fs::remove(file, error);  // Half a capture would be taken for a whole one.
  return Failure{
      ExitCode::kNothingRan,
      fmt::format("{}: cannot be written; is the disk full?", file.string())};
}

Outcome<Reply> TrialCapture::AskFor(AgentLink& link, Request request) {
  if (!link.alive()) {
    return Failure{ExitCode::kNothingRan, link.Trouble()};
  }
  const auto until = std::chrono::steady_clock::now() + kAnswerTime;
  return Ask(io_, link, std::move(request), until, cancel_);
}

void TrialCapture::Miss(const std::string& why) {
  AddClause(why, record_.reason);
}

}  // namespace wiretoll
