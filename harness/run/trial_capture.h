// The capture beside one trial, from the coordinator's side: begun on one of
// its hosts, ended, fetched, written into the run folder.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "harness/base/result.h"
#include "harness/run/trial.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// What never ends a trial: without a capture the kernels' counters remain, and
// the record says why there is none.
class TrialCapture {
 public:
  // `stem`: the files' names without what follows the first dot.
  TrialCapture(boost::asio::io_context& io, std::filesystem::path folder,
               std::string stem, const std::function<bool()>& cancel)
      : io_(io),
        folder_(std::move(folder)),
        stem_(std::move(stem)),
        cancel_(cancel) {}

  // At the sender's host, which sees what its writes became; else at the
  // receiver's. Live when it returns.
  void Begin(const TrialEnd& sender, const TrialEnd& receiver,
             const TrialSpec& spec, std::uint32_t snap_bytes);
  // After the trial, however it ended; links that died meanwhile cost their
  // part. Writes captures/STEM.pcapng and, of a trial that is `ok`,
  // captures/STEM.calls.csv.
  CaptureRecord End(const TrialEnd& sender, const TrialEnd& receiver, bool ok);

 private:
  bool BeginAt(const TrialEnd& here, const TrialEnd& there,
               const TrialSpec& spec, std::uint32_t snap_bytes);
  void FetchFrames();
  void FetchCalls(const TrialEnd& sender, const TrialEnd& receiver);
  // All of it, part by part.
  Outcome<std::string> Fetch(AgentLink& link, PartOf of);
  Outcome<Done> Write(const std::string& name, const std::string& text) const;
  Outcome<Reply> AskFor(AgentLink& link, Request request);
  void Miss(const std::string& why);

  boost::asio::io_context& io_;
  std::filesystem::path folder_;
  std::string stem_;
  const std::function<bool()>& cancel_;
  AgentLink* link_ = nullptr;  // Of the agent that captures.
  CaptureRecord record_;
};

// A file's name of a trial: its place in the order and its id, without what
// file systems do not like.
std::string CaptureStem(const std::string& trial, std::int64_t order);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_
