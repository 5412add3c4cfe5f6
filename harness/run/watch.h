// Whoever watches a run or a check: sees that time passes, and may stop it.
#ifndef WIRETOLL_HARNESS_RUN_WATCH_H_
#define WIRETOLL_HARNESS_RUN_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "harness/run/crew.h"
#include "harness/run/progress.h"

namespace wiretoll {

// Takes SIGINT, SIGTERM and SIGHUP from construction on, and moves `progress`
// on, whatever `io` is run for. Both outlive it.
class Watch {
 public:
  Watch(boost::asio::io_context& io, Progress& progress);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] bool interrupted() const { return interrupted_; }
  // Shows whom a Crew waits for. Not beyond this object's life.
  [[nodiscard]] Crew::Waiting Waiting();

 private:
  void KeepTicking();

  Progress& progress_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  bool interrupted_ = false;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_WATCH_H_
