#include "bench/programs.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "harness/base/boost_process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

boost::filesystem::path Find(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  return bp::search_path(name);
}

std::vector<std::string> Arguments(const CommandLine& command) {
  return {command.begin() + 1, command.end()};
}

double PeakMib(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace

struct Background::State {
  bp::ipstream out;
  bp::child child;
};

Background::Background(const CommandLine& command)
    : state_(std::make_unique<State>()) {
  std::error_code error;
  state_->child =
      bp::child(bp::exe = Find(command.front()), bp::args = Arguments(command),
                bp::std_in<bp::null, bp::std_out> state_->out,
                bp::std_err > bp::null, error);
}

Background::~Background() {
  std::error_code gone;
  if (state_->child.running(gone)) state_->child.terminate(gone);
  state_->child.wait(gone);
}

std::string Background::Finish(std::chrono::seconds timeout) {
  std::error_code gone;
  const auto until = Clock::now() + timeout;
  while (state_->child.running(gone) && Clock::now() < until)
    std::this_thread::sleep_for(1ms);
  if (state_->child.running(gone)) state_->child.terminate(gone);
  std::ostringstream text;
  text << state_->out.rdbuf();
  return text.str();
}

std::string Output(const CommandLine& command) {
  Background program(command);
  return program.Finish(60s);
}

bool OnPath(const std::string& program) { return !Find(program).empty(); }

CommandLine Inside(const std::string& netns, int cpu,
                   const CommandLine& command) {
  CommandLine whole{
      "ip", "netns", "exec", netns, "taskset", "-c", std::to_string(cpu)};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

Cost Measure(const CommandLine& command) {
  Cost cost;
  std::error_code error;
  const auto begun = Clock::now();
  bp::child child(bp::exe = Find(command.front()),
                  bp::args = Arguments(command),
                  bp::std_in<bp::null, bp::std_out> bp::null,
                  bp::std_err > bp::null, error);
  if (error) return cost;
  while (child.running(error)) {
    cost.peak_mib = std::max(cost.peak_mib, PeakMib(child.id()));
    std::this_thread::sleep_for(2ms);
  }
  cost.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  cost.exit_code = child.exit_code();
  return cost;
}

}  // namespace wiretoll
