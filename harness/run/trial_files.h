// What agents keep beside a trial's report, fetched and written into the run
// folder.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_FILES_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_FILES_H_

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

// A file's name of a trial: its place in the order and its id, without what
// file systems do not like.
std::string TrialStem(const std::string& trial, std::int64_t order);

// Of one trial, after it or around it.
class TrialFiles {
 public:
  // `stem`: the files' names without what follows the first dot.
  TrialFiles(boost::asio::io_context& io, std::filesystem::path folder,
             std::string stem, const std::function<bool()>& cancel)
      : io_(io),
        folder_(std::move(folder)),
        stem_(std::move(stem)),
        cancel_(cancel) {}

  // One question; an agent answers at once, a slow ssh is allowed for.
  Outcome<Reply> AskFor(AgentLink& link, Request request) const;
  // All of it, part by part.
  Outcome<std::string> Fetch(AgentLink& link, PartOf of) const;
  // The lines that both agents keep of it, the sender's first, behind `head`.
  // A failure names the host.
  Outcome<std::string> FetchBoth(const TrialEnd& sender,
                                 const TrialEnd& receiver, PartOf of,
                                 std::string head) const;
  // Writes SUBFOLDER/STEM`ending` whole, or not at all; gives that name.
  Outcome<std::string> Write(const std::string& subfolder,
                             const std::string& ending,
                             const std::string& text) const;

 private:
  boost::asio::io_context& io_;
  std::filesystem::path folder_;
  std::string stem_;
  const std::function<bool()>& cancel_;
};

// Fetches the time series of the trial that both agents ran last, and writes
// series/STEM.csv. What never ends a trial: the record says why there is none.
SeriesRecord KeepSeries(const TrialFiles& files, const TrialEnd& sender,
                        const TrialEnd& receiver);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_FILES_H_
