#include "harness/ns3/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <istream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "harness/base/words.h"

namespace wiretoll {

Outcome<MeetingEndpoint> MeetingPlace(const std::filesystem::path& folder,
                                      const std::string& address) {
  const std::filesystem::path place = folder / (address + ".sock");
  try {
    return MeetingEndpoint(place.string());
  } catch (const std::system_error&) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: too long for the name of a socket (some "
                               "100 bytes); give --meet a shorter folder",
                               place.string())};
  }
}

std::string EncodeGreeting(const Greeting& greeting) {
  return nlohmann::json{{"from", greeting.from},
                        {"port", greeting.port},
                        {"to_port", greeting.to_port},
                        {"world", greeting.world}}
      .dump();
}

Outcome<Greeting> DecodeGreeting(const std::string& line) {
  try {
    const auto json = nlohmann::json::parse(line);
    return Greeting{json.at("from").get<std::string>(),
                    json.at("port").get<std::uint16_t>(),
                    json.at("to_port").get<std::uint16_t>(),
                    json.at("world").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception&) {
    return Failure{
        ExitCode::kUsage,
        "what came to the meeting is no sender: it said " + QuoteBytes(line)};
  }
}

std::optional<std::string> WhyNotMet(const Greeting& greeting,
                                     const TrialRequest& receiver,
                                     std::uint16_t port,
                                     const std::vector<std::string>& world) {
  const bool announced = greeting.from == receiver.peer_address &&
                         greeting.port == receiver.peer_port &&
                         greeting.to_port == port;
  if (!announced) {
    return fmt::format(
        "{} waits at port {} for {}:{}, and {}:{} came to port "
        "{}",
        receiver.local_address, port, receiver.peer_address, receiver.peer_port,
        greeting.from, greeting.port, greeting.to_port);
  }
  if (greeting.world == world) return std::nullopt;
  return fmt::format(
      "the two agents of this simulation were started with different links: "
      "the sender's with {}, the receiver's with {}",
      fmt::join(greeting.world, " "), fmt::join(world, " "));
}

MeetingLines::MeetingLines(MeetingSocket socket)
    : socket_(std::move(socket)), buffer_(kMaxLineBytes) {}

void MeetingLines::Read(LineHandler handler) {
  boost::asio::async_read_until(
      socket_, buffer_, '\n',
      [self = shared_from_this(), handler = std::move(handler)](
          boost::system::error_code error, std::size_t) {
        if (self->closed_) return;
        if (error) return handler(std::nullopt);
        std::istream stream(&self->buffer_);
        std::string line;
        std::getline(stream, line);
        handler(std::move(line));
      });
}

void MeetingLines::Write(const std::string& line) {
  const auto text = std::make_shared<std::string>(line + "\n");
  // That it could not be written, the next read says.
  boost::asio::async_write(socket_, boost::asio::buffer(*text),
                           [self = shared_from_this(), text](
                               boost::system::error_code, std::size_t) {});
}

void MeetingLines::Close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace wiretoll
