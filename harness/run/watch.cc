#include "harness/run/watch.h"

#include <chrono>
#include <csignal>

namespace wiretoll {
namespace {

// Progress shows what takes over two seconds within them; it looks this often.
constexpr auto kTick = std::chrono::milliseconds(400);

}  // namespace

Watch::Watch(boost::asio::io_context& io, Progress& progress)
    : progress_(progress), signals_(io, SIGINT, SIGTERM), ticker_(io) {
#ifdef SIGHUP  // POSIX: the terminal is gone.
  signals_.add(SIGHUP);
#endif
  signals_.async_wait([this](boost::system::error_code error, int) {
    if (!error) interrupted_ = true;
  });
  KeepTicking();
}

Crew::Waiting Watch::Waiting() {
  return {[this](const std::string& what, SteadyTime until) {
            progress_.Wait(what, until);
          },
          [this] { progress_.WaitIsOver(); }};
}

void Watch::KeepTicking() {
  ticker_.expires_after(kTick);
  ticker_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    progress_.Tick();
    KeepTicking();
  });
}

}  // namespace wiretoll
