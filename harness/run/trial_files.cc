#include "harness/run/trial_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>

#include "harness/samples/series.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerTime = 10s;
constexpr std::size_t kMostStemBytes = 160;
// More than an agent keeps of a capture.
constexpr std::size_t kMostFileBytes = std::size_t{320} << 20U;

}  // namespace

std::string TrialStem(const std::string& trial, std::int64_t order) {
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

Outcome<Reply> TrialFiles::AskFor(AgentLink& link, Request request) const {
  if (!link.alive()) {
    return Failure{ExitCode::kNothingRan, link.Trouble()};
  }
  const auto until = std::chrono::steady_clock::now() + kAnswerTime;
  return Ask(io_, link, std::move(request), until, cancel_);
}

Outcome<std::string> TrialFiles::Fetch(AgentLink& link, PartOf of) const {
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

Outcome<std::string> TrialFiles::FetchBoth(const TrialEnd& sender,
                                           const TrialEnd& receiver, PartOf of,
                                           std::string head) const {
  for (const TrialEnd* end : {&sender, &receiver}) {
    const auto lines = Fetch(*end->link, of);
    if (!lines.has_value()) {
      return Failure{lines.error().code, fmt::format("{}: {}", end->host->name,
                                                     lines.error().message)};
    }
    head += lines.value();
  }
  return head;
}

Outcome<std::string> TrialFiles::Write(const std::string& subfolder,
                                       const std::string& ending,
                                       const std::string& text) const {
  const std::string name = subfolder + "/" + stem_ + ending;
  const std::filesystem::path file = folder_ / name;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out) return name;
  // Half a file would be taken for a whole one.
  std::filesystem::remove(file, error);
  return Failure{
      ExitCode::kNothingRan,
      fmt::format("{}: cannot be written; is the disk full?", file.string())};
}

SeriesRecord KeepSeries(const TrialFiles& files, const TrialEnd& sender,
                        const TrialEnd& receiver) {
  const auto text =
      files.FetchBoth(sender, receiver, PartOf::kSeries, SeriesHead() + "\n");
  if (!text.has_value()) return {"", text.error().message};
  auto name = files.Write("series", ".csv", text.value());
  if (!name.has_value()) return {"", name.error().message};
  return {std::move(name).value(), ""};
}

}  // namespace wiretoll
