#include "harness/ns3/simulated_trial.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/ns3/agent_options.h"
#include "harness/ns3/meeting.h"
#include "harness/ns3/simulation.h"
#include "platform/process.h"

namespace wiretoll {
namespace {

std::string TrialLine(const TrialRequest& trial) {
  Request request;
  request.verb = "trial";
  request.trial = trial;
  return EncodeRequest(request);
}

Reply ErrorOf(const std::string& error) {
  Reply reply;
  reply.error = error;
  return reply;
}

std::string Place(const std::string& address, std::uint16_t port) {
  return fmt::format("{}:{}", address, port);
}

class SimulatedSender : public SimulatedTrial {
 public:
  SimulatedSender(const SimulatedGround& ground, const TrialRequest& request,
                  Tell tell)
      : SimulatedTrial(ground, request, std::move(tell)) {}

  void Begin(std::uint16_t port) override {
    port_ = port;
    SayReady(port);
  }

  void Go(std::uint16_t port) override;

 private:
  void Greet(MeetingSocket socket);
  void TakeRequest(const std::optional<std::string>& line);
  void Watch();
  void TakeReplies(const Result<SimulatedReplies, std::string>& replies);
  void Leave() override;
  void AtDeadline() override;

  std::shared_ptr<SimulatedSender> Self() {
    return std::static_pointer_cast<SimulatedSender>(shared_from_this());
  }

  std::uint16_t port_ = 0;
  std::uint16_t to_port_ = 0;  // 0: not told yet.
  std::shared_ptr<MeetingLines> lines_;
  std::shared_ptr<Simulation> simulation_;
  std::string reply_;  // Ours, once it is there.
};

class SimulatedReceiver : public SimulatedTrial {
 public:
  SimulatedReceiver(const SimulatedGround& ground, const TrialRequest& request,
                    Tell tell)
      : SimulatedTrial(ground, request, std::move(tell)),
        acceptor_(ground.io) {}

  void Begin(std::uint16_t port) override;
  void Sent() override;

 private:
  Outcome<Done> Open();
  void Accept();
  void TakeGreeting(const std::shared_ptr<MeetingLines>& lines,
                    const std::optional<std::string>& line);
  void TakeReply(const std::optional<std::string>& line);
  void Leave() override;
  void AtDeadline() override;
  // Over UDP the end is told, not seen.
  [[nodiscard]] bool AwaitsWord() const {
    return request_.workload.transport == Transport::kUdp && !told_;
  }

  std::shared_ptr<SimulatedReceiver> Self() {
    return std::static_pointer_cast<SimulatedReceiver>(shared_from_this());
  }

  std::uint16_t port_ = 0;
  MeetingAcceptor acceptor_;
  std::filesystem::path place_;  // Of our socket; empty: there is none.
  std::shared_ptr<MeetingLines> lines_;
  bool told_ = false;
  std::string reply_;
};

void SimulatedSender::Go(std::uint16_t port) {
  if (ended() || to_port_ != 0) return;
  to_port_ = port;
  const auto place = MeetingPlace(ground_.folder, request_.peer_address);
  if (!place.has_value()) return Break(place.error().message);
  MeetingSocket socket(ground_.io);
  boost::system::error_code error;
  socket.connect(place.value(), error);
  if (error) {
    return Break(fmt::format(
        "connect {}: {}: {}; does that host's agent run, with the same --meet?",
        Place(request_.peer_address, port), place.value().path(),
        error.message()));
  }
  KeepFromChildren(std::intptr_t{socket.native_handle()});
  Greet(std::move(socket));
}

void SimulatedSender::Greet(MeetingSocket socket) {
  lines_ = std::make_shared<MeetingLines>(std::move(socket));
  lines_->Write(EncodeGreeting({request_.local_address, port_, to_port_,
                                WorldArguments(ground_.world)}));
  lines_->Read([self = Self()](const std::optional<std::string>& line) {
    self->TakeRequest(line);
  });
}

void SimulatedSender::TakeRequest(const std::optional<std::string>& line) {
  if (!line) {
    return Break(fmt::format("the receiver's agent ({}) went away",
                             request_.peer_address));
  }
  const auto request = DecodeRequest(*line);
  if (!request.has_value() || !request.value().trial) {
    const auto refused = DecodeReply(*line, Role::kReceiver);
    return Break(refused.has_value() && refused.value().error
                     ? *refused.value().error
                     : request.error().message);
  }
  simulation_ = Simulation::Start(
      ground_.io, ground_.world, {TrialLine(request_), *line},
      [self = Self()](const auto& replies) { self->TakeReplies(replies); });
  Watch();
}

// Nothing more comes: the receiver goes away, with its reply or too early.
void SimulatedSender::Watch() {
  lines_->Read([self = Self()](const std::optional<std::string>&) {
    if (!self->reply_.empty()) return self->ConcludeWith(self->reply_);
    self->Break(
        fmt::format("the receiver's agent ({}) went away in mid-trial; the "
                    "simulation was ended",
                    self->request_.peer_address));
  });
}

void SimulatedSender::TakeReplies(
    const Result<SimulatedReplies, std::string>& replies) {
  if (!replies.has_value()) {
    const Reply error = ErrorOf(replies.error());
    reply_ = EncodeReply(error, Role::kSender);
    lines_->Write(reply_);
    return;
  }
  reply_ = replies.value().sender;
  lines_->Write(replies.value().receiver);
}

void SimulatedSender::Leave() {
  if (simulation_) simulation_->End();
  if (lines_) lines_->Close();
}

void SimulatedSender::AtDeadline() {
  if (to_port_ == 0) {
    return Break("no word where the receiver listens within " +
                 DeadlineWords());
  }
  Break(fmt::format(
      "the simulation did not end within {}, by the clock on the wall; it was "
      "ended: simulate less, or at a lower rate",
      DeadlineWords()));
}

void SimulatedReceiver::Begin(std::uint16_t port) {
  port_ = port;
  const auto opened = Open();
  if (!opened.has_value()) return Break(opened.error().message);
  Accept();
  SayReady(port);
}

Outcome<Done> SimulatedReceiver::Open() {
  const auto place = MeetingPlace(ground_.folder, request_.local_address);
  if (!place.has_value()) return place.error();
  const std::filesystem::path path = place.value().path();
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  // What an agent left that was killed.
  std::filesystem::remove(path, ignored);
  try {
    acceptor_.open();
    KeepFromChildren(std::intptr_t{acceptor_.native_handle()});
    acceptor_.bind(place.value());
    place_ = path;
    acceptor_.listen();
  } catch (const std::system_error& error) {
    return Failure{ExitCode::kNothingRan,
                   fmt::format("listen at {}: {}; --meet must be a folder that "
                               "can be written to",
                               path.string(), error.code().message())};
  }
  return Done{};
}

void SimulatedReceiver::Accept() {
  acceptor_.async_accept(
      [self = Self()](boost::system::error_code error, MeetingSocket socket) {
        if (self->ended() || !self->acceptor_.is_open()) return;
        if (error) return self->Break("accept: " + error.message());
        KeepFromChildren(std::intptr_t{socket.native_handle()});
        auto lines = std::make_shared<MeetingLines>(std::move(socket));
        lines->Read([self, lines](const std::optional<std::string>& line) {
          self->TakeGreeting(lines, line);
        });
        self->Accept();
      });
}

// Whoever is not the one that was announced is told so, and waited on no more.
void SimulatedReceiver::TakeGreeting(const std::shared_ptr<MeetingLines>& lines,
                                     const std::optional<std::string>& line) {
  if (!line || ended() || lines_) return lines->Close();
  const auto greeting = DecodeGreeting(*line);
  const std::optional<std::string> why_not =
      greeting.has_value() ? WhyNotMet(greeting.value(), request_, port_,
                                       WorldArguments(ground_.world))
                           : greeting.error().message;
  if (why_not) {
    lines->Write(EncodeReply(ErrorOf(*why_not), Role::kReceiver));
    return;
  }
  lines_ = lines;
  lines_->Write(TrialLine(request_));
  lines_->Read([self = Self()](const std::optional<std::string>& reply) {
    self->TakeReply(reply);
  });
}

void SimulatedReceiver::TakeReply(const std::optional<std::string>& line) {
  if (!line) {
    return Break(fmt::format(
        "the sender's agent ({}) went away in mid-trial, and the simulation "
        "with it",
        request_.peer_address));
  }
  reply_ = *line;
  lines_->Close();
  if (!AwaitsWord()) ConcludeWith(reply_);
}

void SimulatedReceiver::Sent() {
  told_ = true;
  if (!reply_.empty()) ConcludeWith(reply_);
}

void SimulatedReceiver::Leave() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  if (lines_) lines_->Close();
  std::error_code gone;
  if (!place_.empty()) std::filesystem::remove(place_, gone);
}

void SimulatedReceiver::AtDeadline() {
  if (!reply_.empty()) return ConcludeWith(reply_);
  if (!lines_) {
    return Break(fmt::format("no sender came from {} within {}",
                             Place(request_.peer_address, request_.peer_port),
                             DeadlineWords()));
  }
  Break(fmt::format("the sender's simulation did not end within {}",
                    DeadlineWords()));
}

}  // namespace

SimulatedTrial::SimulatedTrial(const SimulatedGround& ground,
                               TrialRequest request, Tell tell)
    : ground_(ground),
      request_(std::move(request)),
      tell_(std::move(tell)),
      deadline_(ground.io, request_.deadline) {}

void SimulatedTrial::Break(const std::string& error) {
  Conclude(ErrorOf(error));
}

void SimulatedTrial::SayReady(std::uint16_t port) {
  deadline_.async_wait(
      [weak = weak_from_this()](boost::system::error_code error) {
        const auto self = weak.lock();
        if (!error && self && !self->ended()) self->AtDeadline();
      });
  Reply reply;
  reply.ready_port = port;
  tell_(std::move(reply));
}

void SimulatedTrial::Conclude(Reply reply) {
  if (ended()) return;
  const Tell tell = std::exchange(tell_, nullptr);
  deadline_.cancel();
  Leave();
  tell(std::move(reply));
}

void SimulatedTrial::ConcludeWith(const std::string& line) {
  auto reply = DecodeReply(line, request_.role);
  Conclude(reply.has_value() ? std::move(reply).value()
                             : ErrorOf(reply.error().message));
}

std::string SimulatedTrial::DeadlineWords() const {
  const std::chrono::duration<double> seconds = request_.deadline;
  return fmt::format("{} s", seconds.count());
}

std::shared_ptr<SimulatedTrial> MakeSimulatedTrial(
    const SimulatedGround& ground, const TrialRequest& request,
    SimulatedTrial::Tell tell) {
  if (request.role == Role::kSender)
    return std::make_shared<SimulatedSender>(ground, request, std::move(tell));
  return std::make_shared<SimulatedReceiver>(ground, request, std::move(tell));
}

}  // namespace wiretoll
