#include "harness/run/agent_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <istream>
#include <thread>
#include <utility>

#include "harness/base/boost_process.h"
#include "harness/base/words.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// What an agent says on standard error is kept to this much, for messages.
constexpr std::size_t kKeptErrorText = 2000;
// Trials at once may leave each other's answers waiting, two apiece.
constexpr std::size_t kMostLinesWaiting = 1'000;
// Between closing an agent's input and killing it.
constexpr auto kTimeToEnd = 1s;
// A write that fails may show the agent's end before its output does.
constexpr auto kTimeToBeSeenEnding = 2s;

// A line that does not decode, from whoever was started as an agent.
std::string WhatAnswered(const std::string& line,
                         const std::string& complaint) {
  if (DecodeRequest(line).has_value())
    return "what answered is no wiretoll-agent: it repeats what it is told";
  if (line.starts_with('{')) return complaint;  // Another version's, maybe.
  return fmt::format("what answered is no wiretoll-agent: it said {}",
                     QuoteBytes(line));
}

std::string LastLines(const std::string& text) {
  std::string kept = text;
  while (!kept.empty() && std::isspace(static_cast<unsigned char>(kept.back())))
    kept.pop_back();
  kept.erase(std::remove(kept.begin(), kept.end(), '\r'), kept.end());
  // It goes to a terminal, which must not obey it.
  std::replace_if(
      kept.begin(), kept.end(),
      [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return kept;
}

}  // namespace

// Shared with the handlers under way, so that a link can go while they are.
struct AgentLink::State : std::enable_shared_from_this<AgentLink::State> {
  explicit State(boost::asio::io_context& context)
      : io(context),
        work(boost::asio::make_work_guard(context)),
        in(context),
        out(context),
        err(context),
        reads_no_more(context),
        buffer(kMaxLineBytes) {}

  void Start(const std::vector<std::string>& command, const HandleGuard& guard);
  void ReadLine();
  void ReadError();
  void Write();
  void AwaitEnd();
  void Fail(const std::string& reason);
  void End();

  boost::asio::io_context& io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  bp::async_pipe in, out, err;
  boost::asio::steady_timer reads_no_more;
  boost::asio::streambuf buffer;
  std::array<char, 512> error_buffer{};
  std::string error_text;
  struct Line {
    std::string text;
    std::optional<std::int64_t> id;  // Once somebody has asked for it.
  };
  std::deque<Line> lines;
  std::deque<std::string> to_write;
  bp::child child;
  bool started = false;
  bool alive = true;
  bool closing = false;
  std::string trouble;
};

void AgentLink::State::Start(const std::vector<std::string>& command,
                             const HandleGuard& guard) {
  const std::string& name = command.front();
  const bool is_path = name.find_first_of("/\\") != std::string::npos;
  const boost::filesystem::path program =
      is_path ? boost::filesystem::path(name) : bp::search_path(name);
  if (program.empty())
    return Fail(fmt::format("no program \"{}\" on this machine's PATH", name));
  const std::vector<std::string> arguments(command.begin() + 1, command.end());
  std::error_code error;
  for (bp::async_pipe* pipe : {&in, &out, &err}) {
    guard(std::intptr_t{pipe->native_source()});
    guard(std::intptr_t{pipe->native_sink()});
  }
  child = bp::child(bp::exe = program, bp::args = arguments,
                    bp::std_in<in, bp::std_out> out, bp::std_err > err, error);
  if (error)
    return Fail(fmt::format("cannot start \"{}\": {}", name, error.message()));
  started = true;
  ReadLine();
  ReadError();
}

void AgentLink::State::ReadLine() {
  boost::asio::async_read_until(
      out, buffer, '\n',
      [self = shared_from_this()](boost::system::error_code error,
                                  std::size_t) {
        if (self->closing) return;
        if (error == boost::asio::error::not_found)
          return self->Fail("the agent sent a line that does not end");
        if (error) return self->Fail("the agent ended");
        std::istream stream(&self->buffer);
        std::string line;
        std::getline(stream, line);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (self->lines.size() >= kMostLinesWaiting)
          return self->Fail("the agent says more than it was asked");
        self->lines.push_back({std::move(line), std::nullopt});
        self->ReadLine();
      });
}

void AgentLink::State::ReadError() {
  err.async_read_some(
      boost::asio::buffer(error_buffer),
      [self = shared_from_this()](boost::system::error_code error,
                                  std::size_t size) {
        if (error || self->closing) return;
        self->error_text.append(self->error_buffer.data(), size);
        if (self->error_text.size() > kKeptErrorText) {
          self->error_text.erase(0, self->error_text.size() - kKeptErrorText);
        }
        self->ReadError();
      });
}

void AgentLink::State::Write() {
  boost::asio::async_write(in, boost::asio::buffer(to_write.front()),
                           [self = shared_from_this()](
                               boost::system::error_code error, std::size_t) {
                             if (self->closing) return;
                             if (error) return self->AwaitEnd();
                             self->to_write.pop_front();
                             if (!self->to_write.empty()) self->Write();
                           });
}

void AgentLink::State::Fail(const std::string& reason) {
  if (!alive) return;
  alive = false;
  trouble = reason;
}

// Its input is torn. Where the agent has ended, its output says so in a moment,
// and that is the whole of it; what else waits for its answers waits till then.
void AgentLink::State::AwaitEnd() {
  reads_no_more.expires_after(kTimeToBeSeenEnding);
  reads_no_more.async_wait(
      [self = shared_from_this()](boost::system::error_code) {
        if (!self->closing) self->Fail("the agent reads no more");
      });
}

void AgentLink::State::End() {
  // What it said last may still be in the pipe.
  if (!alive)
    PumpUntil(io, std::chrono::steady_clock::now() + 20ms,
              [] { return false; });
  closing = true;
  boost::system::error_code ignored;
  in.close(ignored);
  reads_no_more.cancel();
  if (started) {
    std::error_code gone;
    const auto until = std::chrono::steady_clock::now() + kTimeToEnd;
    while (alive && child.running(gone) &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
    }
    if (child.running(gone)) child.terminate(gone);
    child.wait(gone);
  }
  out.close(ignored);
  err.close(ignored);
}

AgentLink::AgentLink(boost::asio::io_context& io,
                     const std::vector<std::string>& command,
                     const HandleGuard& guard)
    : state_(std::make_shared<State>(io)) {
  state_->Start(command, guard);
}

AgentLink::~AgentLink() { state_->End(); }

bool AgentLink::alive() const { return state_->alive; }

std::string AgentLink::Trouble() const {
  const std::string said = LastLines(state_->error_text);
  if (said.empty()) return state_->trouble;
  return fmt::format("{}; it said: {}", state_->trouble, said);
}

void AgentLink::Kill(const std::string& reason) {
  state_->Fail(reason);
  std::error_code gone;
  if (state_->started) state_->child.terminate(gone);
}

void AgentLink::Send(const Request& request) {
  if (!state_->alive) return;
  state_->to_write.push_back(EncodeRequest(request) + "\n");
  if (state_->to_write.size() == 1) state_->Write();
}

bool AgentLink::HasLine() const { return !state_->lines.empty(); }

std::optional<std::string> AgentLink::TakeLine() {
  if (state_->lines.empty()) return std::nullopt;
  std::string line = std::move(state_->lines.front().text);
  state_->lines.pop_front();
  return line;
}

std::optional<std::string> AgentLink::TakeLineFor(std::int64_t id) {
  auto& lines = state_->lines;
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    if (!line->id) line->id = IdOf(line->text);
    if (*line->id != id && *line->id != 0) continue;
    std::string text = std::move(line->text);
    lines.erase(line);
    return text;
  }
  return std::nullopt;
}

void AgentLink::ForgetAnswers() {
  std::erase_if(state_->lines, [](const State::Line& line) {
    return line.id.value_or(IdOf(line.text)) != 0;
  });
}

namespace {

// What the agent said last, once it is gone: that may come a moment later.
std::optional<std::string> LastLine(boost::asio::io_context& io,
                                    AgentLink& link) {
  PumpUntil(io, std::chrono::steady_clock::now() + 50ms, [] { return false; });
  return link.TakeLine();
}

Failure GiveUp(AgentLink& link, const std::string& why) {
  link.Kill(why);
  return {ExitCode::kNothingRan, why};
}

// `patience`: how long the whole wait until then is, for the message.
Outcome<std::string> AwaitLine(boost::asio::io_context& io, AgentLink& link,
                               SteadyTime until, std::chrono::seconds patience,
                               const std::function<bool()>& cancel) {
  const bool came = PumpUntil(io, until, [&] {
    return link.HasLine() || !link.alive() || (cancel && cancel());
  });
  if (!came) {
    return GiveUp(link, fmt::format("the agent gave no answer within {} s",
                                    patience / 1s));
  }
  const bool ended = !link.HasLine() && !link.alive();
  auto line = ended ? LastLine(io, link) : link.TakeLine();
  if (line) return std::move(*line);
  if (ended) return Failure{ExitCode::kNothingRan, link.Trouble()};
  return GiveUp(link, "stopped");
}

}  // namespace

Outcome<Reply> Ask(boost::asio::io_context& io, AgentLink& link,
                   Request request, SteadyTime until,
                   const std::function<bool()>& cancel) {
  const auto patience = std::chrono::round<std::chrono::seconds>(
      until - std::chrono::steady_clock::now());
  request.id = link.NextId();
  link.Send(request);
  while (true) {
    const auto line = AwaitLine(io, link, until, patience, cancel);
    if (!line.has_value()) return line.error();
    auto reply = DecodeReply(line.value(), Role::kSender);
    if (!reply.has_value())
      return GiveUp(link, WhatAnswered(line.value(), reply.error().message));
    if (reply.value().id != request.id) continue;  // Of a trial given up.
    if (reply.value().error)
      return Failure{ExitCode::kNothingRan, *reply.value().error};
    return reply;
  }
}

}  // namespace wiretoll
