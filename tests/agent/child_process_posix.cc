#include "tests/agent/child_process.h"

// Boost 1.88 and later keep the interface used here under v1/.
#if __has_include(<boost/process/v1/child.hpp>)
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/io.hpp>
#include <boost/process/v1/pipe.hpp>
namespace bp = boost::process::v1;
#else
#include <boost/process.hpp>
namespace bp = boost::process;
#endif

#include <system_error>
#include <thread>

namespace wiretoll {

struct ChildProcess::Pipes {
  bp::opstream in;
  bp::ipstream out;
  bp::child child;
};

ChildProcess::ChildProcess(const std::string& program)
    : pipes_(std::make_unique<Pipes>()) {
  pipes_->child =
      bp::child(program, bp::std_in<pipes_->in, bp::std_out> pipes_->out);
}

ChildProcess::~ChildProcess() {
  std::error_code ignored;
  if (pipes_->child.running(ignored)) pipes_->child.terminate(ignored);
}

void ChildProcess::Write(std::string_view bytes) {
  pipes_->in << bytes << std::flush;
}

void ChildProcess::CloseInput() {
  pipes_->in.close();
  pipes_->in.pipe().close();
}

std::optional<std::string> ChildProcess::ReadLine() {
  std::string line;
  if (!std::getline(pipes_->out, line)) return std::nullopt;
  return line;
}

std::optional<int> ChildProcess::WaitForEnd(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (pipes_->child.running()) {
    if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return pipes_->child.exit_code();
}

}  // namespace wiretoll
