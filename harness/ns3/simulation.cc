#include "harness/ns3/simulation.h"

#include <fmt/format.h>

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <istream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/agent/line_reader.h"
#include "harness/ns3/agent_options.h"
#include "harness/ns3/simulate.h"
#include "platform/process.h"

namespace wiretoll {
namespace {

// This very program, whatever has become of its file.
constexpr const char* kSelf = "/proc/self/exe";

std::string Answer(Role role, std::optional<EndReport> end,
                   const TrialFailure& failure) {
  Reply reply;
  reply.end = std::move(end);
  if (!reply.end) {
    reply.error = failure.message;
    reply.skip = failure.skip;
  }
  return EncodeReply(reply, role) + "\n";
}

Outcome<TrialRequest> NextRequest(LineReader& lines) {
  std::string line;
  if (lines.Next(line) != LineRead::kLine)
    return Failure{ExitCode::kUsage, "a trial request is expected on a line"};
  auto request = DecodeRequest(line);
  if (!request.has_value()) return request.error();
  if (!request.value().trial)
    return Failure{ExitCode::kUsage, "this is no trial request"};
  return *std::move(request).value().trial;
}

// Never ends by itself: the process does, at the latest with its input.
void EndWithInput(LineReader& lines) {
  std::thread([&lines] {
    std::string line;
    while (lines.Next(line) != LineRead::kEnd) {
    }
    std::_Exit(static_cast<int>(ExitCode::kNothingRan));
  }).detach();
}

}  // namespace

std::shared_ptr<Simulation> Simulation::Start(boost::asio::io_context& io,
                                              const sim::WorldSpec& world,
                                              const SimulatedReplies& requests,
                                              Handler done) {
  std::shared_ptr<Simulation> simulation(new Simulation(io, std::move(done)));
  simulation->text_ = requests.sender + "\n" + requests.receiver + "\n";
  const std::string trouble = simulation->Launch(world);
  if (trouble.empty()) {
    simulation->Write();
    simulation->ReadLine();
  } else {
    boost::asio::post(io, [simulation, trouble] {
      simulation->Finish("the simulation cannot be started: " + trouble);
    });
  }
  return simulation;
}

Simulation::Simulation(boost::asio::io_context& io, Handler done)
    : in_(io), out_(io), buffer_(kMaxLineBytes), done_(std::move(done)) {}

Simulation::~Simulation() { End(); }

void Simulation::End() {
  done_ = nullptr;
  boost::system::error_code ignored;
  in_.close(ignored);
  out_.close(ignored);
  std::error_code gone;
  if (child_.running(gone)) child_.terminate(gone);
  if (child_.valid()) child_.wait(gone);
}

std::string Simulation::Launch(const sim::WorldSpec& world) {
  std::vector<std::string> arguments = {"simulate"};
  for (const std::string& argument : WorldArguments(world))
    arguments.push_back(argument);
  KeepFromChildren(std::intptr_t{in_.native_sink()});
  KeepFromChildren(std::intptr_t{out_.native_source()});
  std::error_code error;
  child_ = bp::child(bp::exe = kSelf, bp::args = arguments,
                     bp::std_in<in_, bp::std_out> out_, error);
  return error ? error.message() : std::string();
}

// Its input stays open: its end would be the simulation's.
void Simulation::Write() {
  boost::asio::async_write(
      in_, boost::asio::buffer(text_),
      [self = shared_from_this()](boost::system::error_code, std::size_t) {});
}

void Simulation::ReadLine() {
  boost::asio::async_read_until(
      out_, buffer_, '\n',
      [self = shared_from_this()](boost::system::error_code error,
                                  std::size_t) {
        if (!self->done_) return;
        if (error) {
          return self->Finish(std::string(
              "the simulation's process ended without a result (killed, out "
              "of memory, or an error of ns-3's; see its standard error)"));
        }
        std::istream stream(&self->buffer_);
        std::string line;
        std::getline(stream, line);
        self->Take(line);
      });
}

void Simulation::Take(const std::string& line) {
  if (replies_.sender.empty()) {
    replies_.sender = line;
    ReadLine();
    return;
  }
  replies_.receiver = line;
  Finish(replies_);
}

void Simulation::Finish(Result<SimulatedReplies, std::string> result) {
  if (!done_) return;
  const Handler done = std::exchange(done_, nullptr);
  done(std::move(result));
}

ExitCode RunSimulation(const sim::WorldSpec& world, std::FILE* in,
                       std::FILE* out) {
  // Outlives the thread that goes on reading.
  static LineReader lines(in, kMaxLineBytes);
  const auto sender = NextRequest(lines);
  const auto receiver = sender.has_value() ? NextRequest(lines) : sender;
  if (!receiver.has_value()) {
    std::fprintf(stderr, "wiretoll-agent-ns3: %s\n",
                 receiver.error().message.c_str());
    return receiver.error().code;
  }
  EndWithInput(lines);
  auto ran = SimulateTrial(world, sender.value(), receiver.value());
  std::string answers;
  if (ran.has_value()) {
    SimulatedEnds& ends = ran.value();
    answers = Answer(Role::kSender, std::move(ends.sender), {}) +
              Answer(Role::kReceiver, std::move(ends.receiver), {});
  } else {
    answers = Answer(Role::kSender, {}, ran.error()) +
              Answer(Role::kReceiver, {}, ran.error());
  }
  const bool written =
      std::fputs(answers.c_str(), out) >= 0 && std::fflush(out) == 0;
  return written ? ExitCode::kDone : ExitCode::kNothingRan;
}

}  // namespace wiretoll
